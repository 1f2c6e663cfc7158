/* SPDX-License-Identifier: MIT */
/*
 * left_out.c - which jobs take too long to plan, remembered from one cycle to the next.
 *
 * As policies' own memory they travel in the plan and in the next snapshot (image/remember.h), so that a
 * decision is a function of the snapshot: a list of numbers, the id of a job and until when it is left out, by turns.
 */
#include "script/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/value.h"

/* No list of partitions has that name: parentheses are in no name of Slurm's. */
#define GROUP "(engine)"
#define KEY "left_out"

#define MOST_TEXT (SL_PLAN_LEFT_OUT_MAX * 32 + 8)

void sl_script_recall_left_out(struct sl_script *s, struct sl_plan *p)
{
	struct sl_value_reader r = { .at = sl_remember_get(s->x.remember, GROUP, KEY) };
	enum sl_value_token token;
	int64_t id = 0;
	bool odd = true;

	if (!r.at)
		return;
	while ((token = sl_value_next(&r)) != SL_VALUE_END && token != SL_VALUE_BAD) {
		if (token != SL_VALUE_INTEGER)
			continue;
		if (odd)
			id = r.integer;
		else if (id > 0 && id <= UINT32_MAX)
			sl_plan_leave_out(p, (uint32_t) id, r.integer);
		odd = !odd;
	}
}

void sl_script_remember_left_out(struct sl_script *s, const struct sl_plan *p)
{
	uint32_t count;
	const struct sl_left_out *l = sl_plan_left_out(p, &count);
	char *text = count ? malloc(MOST_TEXT) : NULL;
	size_t n = 0;

	for (uint32_t i = 0; text && i < count; i++)
		n += (size_t) snprintf(text + n, MOST_TEXT - n, "%c%" PRIu32 ",%" PRId64, i ? ',' : '{', l[i].id,
				       l[i].until);
	if (text)
		snprintf(text + n, MOST_TEXT - n, "}");
	/* where there is no room for it, they are tried again: that is a loss of time, and bounded */
	sl_remember_set(s->x.remember, GROUP, KEY, text, NULL);
	free(text);
}
