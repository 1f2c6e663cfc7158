/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asked_line.c - see asked_line.h */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/escape.h"
#include "plugin/request/asked_line.h"

#define MOST_SECONDS (INT64_C(1) << 37)
#define MOST_TEXT 4096		/* slurmctld refuses texts of more than 1,024 bytes, and writes some of its own */

/* Bits of the field of flags. */
#define STARTED 1u
#define SHAPED 2u
#define TASKS_SET 4u

/* The numbers that stand behind the flags, in their order. */
static const size_t numbers[] = {
#define AT(field) offsetof(struct sl_asked, field)
	AT(limit_then), AT(nodes_then), AT(cpus_then), AT(time_limit), AT(min_nodes), AT(max_nodes), AT(num_tasks),
	AT(min_cpus), AT(max_cpus), AT(pn_min_cpus), AT(cpus_per_task), AT(ntasks_per_node),
#undef AT
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* -- what can be ------------------------------------------------------------- */

/* True for a number of something, or that none was said. */
static bool is_count(uint32_t n)
{
	return n <= SL_ASKED_UNSAID;
}

/* True for a limit of at least that much, or that there is none. */
static bool is_limit(uint32_t most, uint32_t least)
{
	return !most || most == SL_ASKED_UNSAID || (most >= least && most < SL_ASKED_UNSAID);
}

static bool is_possible_size(const struct sl_asked *a)
{
	return a->min_nodes < SL_ASKED_UNSAID && is_limit(a->max_nodes, a->min_nodes) &&
		a->min_cpus < SL_ASKED_UNSAID && is_limit(a->max_cpus, a->min_cpus) && is_count(a->num_tasks) &&
		is_count(a->pn_min_cpus) && a->cpus_per_task <= UINT16_MAX && a->ntasks_per_node <= UINT16_MAX &&
		a->nodes_then < SL_ASKED_UNSAID && a->cpus_then < SL_ASKED_UNSAID;
}

bool sl_asked_is_possible(const struct sl_asked *a)
{
	int i;

	for (i = 0; i < SL_ASKED_TRES; i++)
		if (a->tres[i] && (strlen(a->tres[i]) > MOST_TEXT || sl_text_is_unsafe(a->tres[i])))
			return false;
	/* (a limit of 0 minutes slurmctld takes for none, and says so) */
	return a->job_id && a->job_id < SL_ASKED_UNSAID && a->user_id < SL_ASKED_UNSAID && a->submitted > 0 &&
		a->restarts <= UINT16_MAX && a->time_limit && a->limit_then != SL_ASKED_UNSAID && is_possible_size(a);
}

/* -- writing, reading ---------------------------------------------------------- */

void sl_asked_write(FILE *f, const struct sl_asked *a)
{
	size_t i;

	fprintf(f, "%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRIu32 "\t%u", a->job_id, a->user_id, a->submitted, a->restarts,
		(a->started ? STARTED : 0) | (a->shaped ? SHAPED : 0) | (a->tasks_set ? TASKS_SET : 0));
	for (i = 0; i < NUMBERS; i++)
		fprintf(f, "\t%" PRIu32, *(const uint32_t *) ((const char *) a + numbers[i]));
	for (i = 0; i < SL_ASKED_TRES; i++) {
		fputs(a->tres[i] ? "\t=" : "\t-", f);
		if (a->tres[i])
			sl_escape_put(f, a->tres[i], "\t");
	}
	fputc('\n', f);
}

/* The next field, if it is a number of digits alone. */
static bool read_number(char **rest, int64_t most, int64_t *n)
{
	const char *at = strsep(rest, "\t");

	if (!at || !*at)
		return false;
	for (*n = 0; *at; at++) {
		if (*at < '0' || *at > '9' || (*n = *n * 10 + (*at - '0')) > most)
			return false;
	}
	return true;
}

static bool read_u32(char **rest, uint32_t *n)
{
	int64_t v;

	if (!read_number(rest, UINT32_MAX, &v))
		return false;
	*n = (uint32_t) v;
	return true;
}

/* "-": none, "=text". */
static bool read_text(char **rest, char **text)
{
	char *at = strsep(rest, "\t");

	if (!at)
		return false;
	*text = at[0] == '=' ? at + 1 : NULL;
	return *text ? sl_unescape(*text, "\t") : !strcmp(at, "-");
}

bool sl_asked_read(char *line, struct sl_asked *a)
{
	uint32_t flags = 0;
	size_t i;

	*a = (struct sl_asked) { 0 };
	if (!read_u32(&line, &a->job_id) || !read_u32(&line, &a->user_id) ||
	    !read_number(&line, MOST_SECONDS, &a->submitted) || !read_u32(&line, &a->restarts) ||
	    !read_u32(&line, &flags) || flags > (STARTED | SHAPED | TASKS_SET))
		return false;
	a->started = flags & STARTED;
	a->shaped = flags & SHAPED;
	a->tasks_set = flags & TASKS_SET;
	for (i = 0; i < NUMBERS; i++)
		if (!read_u32(&line, (uint32_t *) ((char *) a + numbers[i])))
			return false;
	for (i = 0; i < SL_ASKED_TRES; i++)
		if (!read_text(&line, &a->tres[i]))
			return false;
	return !line && sl_asked_is_possible(a);
}
