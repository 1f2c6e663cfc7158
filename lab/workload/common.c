/* SPDX-License-Identifier: MIT */
/*
 * workload/common.c - what all sources have in common: estimates, what is wrong with a
 * source, and the parameters of those that are generators.
 */
#include "workload/private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- estimates ------------------------------------------------------------- */

int sl_estimate_parse(const char *text, double *factor, struct sl_error *err)
{
	char *end;

	*factor = -1;
	if (!text || !strcmp(text, "user"))
		return 0;
	*factor = 0;
	if (!strcmp(text, "exact"))
		return 0;
	if (*text == 'x') {
		*factor = strtod(text + 1, &end);
		if (end > text + 1 && !*end && *factor >= 1 && *factor <= 1e6)
			return 0;
	}
	return sl_fail(err, SL_EINVAL, "estimate \"%s\": expected exact, user, or x and a factor from 1 on, as in x2.5",
		       text);
}

int64_t sl_workload_walltime(double factor, enum sl_overrun overrun, int64_t *runtime, int64_t estimate)
{
	double product;

	if (estimate > 0 && *runtime > estimate && overrun == SL_OVERRUN_RAISES)
		estimate = *runtime;
	else if (estimate > 0 && *runtime > estimate && overrun == SL_OVERRUN_ENDS)
		*runtime = estimate;
	if (factor < 0)
		return estimate > 0 ? estimate : *runtime;
	if (factor == 0)
		return *runtime;
	product = ceil((double) *runtime * factor);
	return product < (double) SL_WORKLOAD_MAX_SECONDS ? (int64_t) product : SL_WORKLOAD_MAX_SECONDS;
}

/* -- windows --------------------------------------------------------------- */

static int parse_bound(const char *name, const char *text, int64_t origin, int64_t *seconds, struct sl_error *err)
{
	if (sl_scan_span(text, seconds) && *seconds <= SL_WORKLOAD_MAX_SECONDS)
		return 0;
	if (!sl_scan_time(text, seconds))
		return sl_fail(err, SL_EINVAL, "%s \"%s\": expected a time after the log's beginning (30d, 12h, 7-00:00:00) or "
			       "a date (2024-01-31, 2024-01-31T12:00:00)", name, text);
	*seconds -= origin;
	return 0;
}

int sl_window_parse(const struct sl_workload_options *opt, int64_t origin, int64_t *from, int64_t *to,
		    struct sl_error *err)
{
	*from = 0;
	*to = INT64_MAX;
	if ((opt->from && parse_bound("from", opt->from, origin, from, err) < 0) ||
	    (opt->to && parse_bound("to", opt->to, origin, to, err) < 0))
		return -1;
	return *from < *to ? 0 : sl_fail(err, SL_EINVAL, "from \"%s\", to \"%s\": expected the former to be the earlier",
					 opt->from ? opt->from : "", opt->to);
}

/* -- issues ---------------------------------------------------------------- */

static const struct {
	const char *words;
	bool strict;		/* a failure in strict mode */
} issues[SL_ISSUES] = {
	[SL_ISSUE_FIELDS] = { "rows that are no jobs, skipped", true },
	[SL_ISSUE_NEGATIVE] = { "jobs submitted before the origin, skipped", true },
	[SL_ISSUE_BACKWARDS] = { "jobs submitted before the row above, sorted", true },
	[SL_ISSUE_NO_RUNTIME] = { "jobs that did not run, skipped", false },
	[SL_ISSUE_NO_CORES] = { "jobs without processors, skipped", false },
	[SL_ISSUE_TOO_LARGE] = { "jobs larger than the machine, skipped", true },
	[SL_ISSUE_OVERRUN] = { "jobs that ran longer than they asked for", false },
	[SL_ISSUE_NO_ESTIMATE] = { "jobs that asked for no time, the runtime is taken", false },
	[SL_ISSUE_UNLIMITED] = { "jobs without a time limit, that of their partition, of --unlimited, or 365 days is taken", false },
	[SL_ISSUE_HEADER] = { "header lines that cannot be used", false },
	[SL_ISSUE_DUPLICATE] = { "job ids used twice, numbered anew", true },
	[SL_ISSUE_STEP] = { "steps and parts of jobs, skipped", false },
	[SL_ISSUE_STATE] = { "jobs that have not ended, skipped", false },
	[SL_ISSUE_MODEL] = { "requests that are not modelled, left out", false },
	[SL_ISSUE_NOTES] = { "notes on what is not used, or read otherwise", false },
};

const char *sl_issue_words(enum sl_issue issue)
{
	return issues[issue].words;
}

static void put_lines(const struct sl_issue_count *c, char *text, size_t size)
{
	size_t n = 0;

	*text = 0;
	for (uint64_t i = 0; i < c->count && i < SL_ISSUE_LINES && c->line[i] && n < size; i++)
		n += snprintf(text + n, size - n, "%s%" PRIu64, i ? ", " : c->count > 1 ? "lines " : "line ",
			      c->line[i]);
	if (*text && c->count > SL_ISSUE_LINES && n < size)
		snprintf(text + n, size - n, ", ...");
}

void sl_workload_print_issues(const struct sl_workload *w, const char *prefix, FILE *out)
{
	struct sl_issue_count issue[SL_ISSUES];

	memcpy(issue, w->issue, sizeof(issue));
	issue[SL_ISSUE_NOTES].count = 0;	/* the notes say them one by one */
	sl_notes_print(&w->notes, prefix, out);
	sl_issues_print(w->name, issue, prefix, out);
}

void sl_issues_print(const char *name, const struct sl_issue_count issue[SL_ISSUES], const char *prefix, FILE *out)
{
	char lines[160];

	for (int i = 0; i < SL_ISSUES; i++) {
		const struct sl_issue_count *c = &issue[i];

		if (!c->count)
			continue;
		put_lines(c, lines, sizeof(lines));
		fprintf(out, "%s%s: %" PRIu64 " %s (%s%s%s)\n", prefix, name, c->count, issues[i].words, lines,
			*lines ? ": " : "", c->example);
	}
}

int sl_issues_judge(const char *name, const struct sl_issue_count *issue, struct sl_error *err)
{
	char lines[160];

	for (int i = 0; i < SL_ISSUES; i++) {
		if (!issue[i].count || !issues[i].strict)
			continue;
		put_lines(&issue[i], lines, sizeof(lines));
		/* without the part after the comma ("skipped"), since nothing is done about them */
		return sl_fail(err, SL_EINVAL, "%s: %" PRIu64 " %.*s (%s%s%s)", name, issue[i].count,
			       (int) strcspn(issues[i].words, ","), issues[i].words, lines, *lines ? ": " : "", issue[i].example);
	}
	return 0;
}

/* -- parameters of generators ---------------------------------------------- */

static int unknown_param(const char *name, const char *text, size_t n, const struct sl_param *param,
			 uint32_t params, struct sl_error *err)
{
	char known[256] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < params && at < sizeof(known); i++)
		at += snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", param[i].key);
	return sl_fail(err, SL_EINVAL, "%s: \"%.*s\": expected KEY=NUMBER with KEY one of %s", name, (int) n, text,
		       known);
}

static int set_param(const char *name, const char *text, size_t n, const struct sl_param *param, uint32_t params,
		     struct sl_error *err)
{
	const char *eq = memchr(text, '=', n);
	char number[32], *end;
	size_t digits;
	double v;

	for (uint32_t i = 0; eq && i < params; i++) {
		if (strlen(param[i].key) != (size_t) (eq - text) || strncmp(param[i].key, text, eq - text))
			continue;
		digits = text + n - eq - 1;
		if (digits >= sizeof(number))
			break;
		memcpy(number, eq + 1, digits);
		number[digits] = 0;
		v = strtod(number, &end);
		if (!digits || *end || !(v >= param[i].min && v <= param[i].max))
			return sl_fail(err, SL_EINVAL, "%s: %s=%s: expected a number from %g to %g", name,
				       param[i].key, number, param[i].min, param[i].max);
		*param[i].value = v;
		return 0;
	}
	return unknown_param(name, text, n, param, params, err);
}

int sl_params_parse(const char *name, const char *text, const struct sl_param *param, uint32_t params,
		    struct sl_error *err)
{
	while (text && *text) {
		size_t n = strcspn(text, ",");

		if (set_param(name, text, n, param, params, err) < 0)
			return -1;
		text += n + (text[n] == ',');
	}
	return 0;
}

void sl_issue_vnote(struct sl_issue_count *issue, uint64_t line, const char *fmt, va_list ap)
{
	if (issue->count < SL_ISSUE_LINES)
		issue->line[issue->count] = line;
	if (!issue->count++)
		vsnprintf(issue->example, sizeof(issue->example), fmt, ap);
}

void sl_issue_note(struct sl_issue_count *issue, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sl_issue_vnote(issue, line, fmt, ap);
	va_end(ap);
}
