/* SPDX-License-Identifier: MIT */
/*
 * workload.c - which source a name means.
 */
#include "workload/private.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/columns.h"
#include "workload/json.h"
#include "workload/sacct_columns.h"
#include "workload/trace.h"

static const struct generator {
	const char *name;
	bool colon;		/* "name:..." is one too */
	int (*make)(struct sl_store *s, const char *name, struct sl_error *err);
} generators[] = {
	{ "esp", true, sl_workload_make_esp },
	{ "esp-gpu", true, sl_workload_make_esp },
	{ "esp-gpu-rand", true, sl_workload_make_esp },
	{ "auction", true, sl_workload_make_auction },
	{ "synthetic", true, sl_workload_make_synthetic },
};

static const struct generator *find_generator(const char *name)
{
	size_t n = strcspn(name, ":");

	for (size_t i = 0; i < sizeof(generators) / sizeof(generators[0]); i++)
		if (strlen(generators[i].name) == n && !strncmp(generators[i].name, name, n))
			return &generators[i];
	return NULL;
}

bool sl_workload_is_file(const char *name)
{
	return !find_generator(name) && !access(name, F_OK);
}

enum format { FORMAT_SWF, FORMAT_JSON, FORMAT_SACCT, FORMAT_TRACE, FORMAT_PBS, FORMAT_EVENTS, FORMAT_NONE };

/* "-dt 10.50 -e submit_batch_job | -sim-walltime 84805.00 --uid=...": the Slurm simulator's. */
static bool is_simulator_event(const char *line)
{
	return !strncmp(line, "-dt", 3) && strstr(line, " -e ") && strchr(line, '|');
}

/* The first line of what sacct -P prints: at least two of its columns, or a job's number. */
static bool is_sacct_header(const char *line)
{
	char separator[SL_COLUMNS_SEPARATOR];
	int names;

	if (!sl_columns_separator(line, separator))
		return !strncasecmp(line, "JobID", 5);
	names = sl_sacct_count_names(line, separator);
	return names > 1 || (names && !strncasecmp(line, "JobID", 5));
}

/* "1234|alice|phys|2024-01-01T00:00:00|...": what sacct -P prints with --noheader. */
static bool is_sacct_row(const char *line)
{
	int bars = 0;

	if (*line < '0' || *line > '9' || strpbrk(line, ";"))
		return false;
	for (const char *p = line; (p = strchr(p, '|')) != NULL; p++)
		bars++;
	return bars >= 3;
}

/* SWF is comments, and lines that begin with a number. */
static bool is_swf(const char *line)
{
	size_t n = strspn(line, "0123456789.+-");

	return *line == ';' || (n && (!line[n] || strchr(" \t", line[n])));
}

static int fail_format(const char *path, uint64_t number, const char *line, struct sl_error *err)
{
	if (is_sacct_row(line))
		return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": rows of sacct without a line that names the columns: expected what this "
			       "prints: %s", path, number, sl_sacct_command);
	return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": \"%.60s\" begins no workload that is known: expected SWF, JSON (of a snapshot, of "
		       "sacct --json, of Batsim), %s, or what \"schedlua workload --sacct-command\" prints", path, number, line,
		       sl_trace_names());
}

/* What kind of file it is, from its first line that says anything. */
static int find_format(const char *path, struct sl_error *err)
{
	struct sl_lines *l = sl_lines_open(path, err);
	int64_t n = 0;
	char *line;
	int format = FORMAT_NONE, first;

	if (!l || sl_lines_must_be_file(l, err) || (first = sl_lines_first(l, err)) < 0) {
		sl_lines_close(l);
		return -1;
	}
	if (first == '{')		/* all of it may stand in one line */
		format = FORMAT_JSON;
	while (format == FORMAT_NONE && (n = sl_lines_next(l, &line, err)) > 0) {
		line += strspn(line, " \t");
		if (sl_trace_is_header(line))
			format = FORMAT_TRACE;
		else if (sl_trace_is_pbs(line))
			format = FORMAT_PBS;
		else if (is_simulator_event(line))
			format = FORMAT_EVENTS;
		else if (is_sacct_header(line))
			format = FORMAT_SACCT;
		else if (*line && is_swf(line))
			format = FORMAT_SWF;
		else if (*line)
			format = fail_format(path, sl_lines_number(l), line, err);
	}
	sl_lines_close(l);
	if (n < 0)
		return -1;
	if (format == FORMAT_NONE)
		return sl_fail(err, SL_EFORMAT, "%s: an empty file", path);
	return format;
}

static int fill_store(struct sl_store *s, const char *name, const struct generator *g, int format, json_t *root,
		      struct sl_error *err)
{
	if (g)
		return g->make(s, name, err);
	if (root)
		return sl_json_is_batsim(root) ? sl_workload_read_batsim(s, name, root, err) :
						 sl_workload_read_sacct_json(s, name, root, err);
	if (format == FORMAT_SACCT)
		return sl_workload_read_sacct(s, name, err);
	if (format == FORMAT_TRACE)
		return sl_workload_read_trace(s, name, err);
	if (format == FORMAT_EVENTS)
		return sl_workload_read_events(s, name, err);
	if (format == FORMAT_PBS)
		return sl_workload_read_pbs(s, name, err);
	return sl_workload_read_swf(s, name, err);
}

/* What became of its jobs, where none is left to be scheduled: the reason of most. */
static int no_job_left(const struct sl_workload *w, struct sl_error *err)
{
	const struct sl_issue_count *most = &w->issue[0];

	for (int i = 1; i < SL_ISSUES; i++)
		if (i != SL_ISSUE_NOTES && w->issue[i].count > most->count)
			most = &w->issue[i];
	if (!w->rows_read)
		return sl_fail(err, SL_EFORMAT, "%s: no job that has run", w->name);
	return sl_fail(err, SL_EFORMAT, "%s: no job is left of %" PRIu64 ": %" PRIu64 " %s (%s)", w->name, w->rows_read,
		       most->count, sl_issue_words((enum sl_issue) (most - w->issue)), most->example);
}

struct sl_workload *sl_workload_load(const char *name, const struct sl_workload_options *opt, struct sl_error *err)
{
	static const struct sl_workload_options none = { 0 };
	const struct generator *g = find_generator(name);
	struct sl_workload *w = NULL;
	struct sl_store *s;
	json_t *root = NULL;
	int format = FORMAT_NONE;

	opt = opt ? opt : &none;
	if (!g && !sl_workload_is_file(name)) {
		sl_fail(err, SL_ENOENT, "workload \"%s\": no such file, and none of esp, esp-gpu, esp-gpu-rand, "
			"auction:I.1 ... auction:V.3, synthetic", name);
		return NULL;
	}
	if (!g && (format = find_format(name, err)) < 0)
		return NULL;
	if (format == FORMAT_JSON && !(root = sl_json_parse_file(name, err)))
		return NULL;
	if (root && !sl_json_is_sacct(root) && !sl_json_is_batsim(root)) {
		w = sl_workload_read_json(name, root, opt, err);
	} else {
		s = sl_store_create(name, opt, err);
		if (s && fill_store(s, name, g, format, root, err) == 0)
			w = sl_store_finish(s, err);
		sl_store_destroy(s);
	}
	json_decref(root);
	if (w && !w->snap.job.rows) {
		no_job_left(w, err);
		sl_workload_destroy(w);
		w = NULL;
	}
	return w;
}
