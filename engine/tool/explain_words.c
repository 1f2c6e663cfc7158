/* SPDX-License-Identifier: MIT */
/* explain_words.c - see explain_words.h */
#include "tool/explain_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/text.h"
#include "tool/member.h"

static void print_because(const json_t *event, const char *whose, FILE *out)
{
	char *copy = strdup(sl_member_text(event, "because"));

	if (copy && *copy)
		fprintf(out, " (%s%s)", whose, sl_plain(copy));
	free(copy);
}

void sl_explain_loan(const json_t *event, FILE *out)
{
	json_t *from = json_object_get(event, "borrowed_from"), *name;
	size_t i;

	json_array_foreach(from, i, name)
		fprintf(out, "%s%s", i ? "," : ", borrowing nodes of partition ", json_string_value(name) ? json_string_value(name) : "");
	if (json_array_size(from))
		fprintf(out, " through partition %s", sl_member_text(event, "through"));
	print_because(event, "", out);
}

void sl_explain_stop(const json_t *event, bool done, FILE *out)
{
	json_int_t preemptor = sl_member_integer(event, "preemptor");
	char at[SL_TEXT_SIZE];

	if (!strcmp(sl_member_text(event, "event"), "stop")) {
		fprintf(out, "%s%s for ", done ? "" : "was to be ", json_is_true(json_object_get(event, "moves")) ? "moved" : "stopped");
		if (preemptor)
			fprintf(out, "job %lld, at a cost of %.4g", (long long) preemptor, json_number_value(json_object_get(event, "cost")));
		else
			fprintf(out, "a job that you may not see, or that is gone");
		print_because(event, "for that one the plan ", out);
	} else if (json_is_true(json_object_get(event, "release"))) {
		fprintf(out, "its place is held no longer");
	} else {
		fprintf(out, "its place is held until %s at most", sl_text_time(at, sl_member_integer(event, "held_until")));
		print_because(event, "the plan ", out);
	}
}
