/* SPDX-License-Identifier: MIT */
/*
 * workload/swf.c - the Standard Workload Format, version 2.2, both ways.
 *
 * Feitelson, Talby, Jones, "Standards for Parallel Workloads"; the Parallel
 * Workloads Archive has the definition.  A row has 18 numbers, -1 where nothing is
 * known; comments begin with ';', those at the top are the header.
 *
 *	1 job	2 submit	3 wait		4 runtime	5 processors	6 cpu time
 *	7 memory	8 processors asked for	9 time asked for	10 memory asked for
 *	11 status	12 user	13 group	14 application	15 queue	16 partition
 *	17 preceding job	18 think time
 *
 * Fields 5 and 8: those that the job had, where they are known, else those it asked
 * for (the other way round on demand).  Status 2, 3 and 4 mark parts of a job that
 * has a row of its own as well.  The precedence of field 17 is not kept: a replayed
 * job comes when it came.
 */
#include "workload/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/map.h"
#include "base/number.h"

#define FIELDS 18
#define RUNTIME 3
#define ASKED_TIME 8

struct header {
	int64_t max_procs, max_nodes;
	bool seen_job;
	struct sl_store *s;
	uint32_t *queue;		/* names by number */
	uint32_t queues;
};

/* -- reading --------------------------------------------------------------- */

static void header_number(struct header *h, const char *value, uint64_t line, int64_t *out)
{
	const char *p = value;
	int64_t n;

	if (sl_scan_int(&p, &n) && n > 0 && n < SL_NONE)
		*out = n;
	else if (!sl_scan_int(&value, &n) || n != -1)
		sl_store_note(h->s, SL_ISSUE_HEADER, line, "not a number from 1 on");
}

/* "Queue: 3 normal" */
static void header_queue(struct header *h, const char *value, uint64_t line)
{
	uint32_t had = h->queues;
	int64_t n;
	char name[64];

	if (!sl_scan_int(&value, &n) || n < 0 || n > 65535) {
		sl_store_note(h->s, SL_ISSUE_HEADER, line, "not a queue");
		return;
	}
	value += strspn(value, " \t");
	snprintf(name, sizeof(name), "%.*s", (int) strcspn(value, " \t"), value);
	if (sl_grow(&h->queue, &h->queues, n + UINT64_C(1), sizeof(*h->queue), NULL)) {
		sl_store_fail_memory(h->s);
		return;
	}
	memset(h->queue + had, 0, (h->queues - had) * sizeof(*h->queue));
	h->queue[n] = sl_store_str(h->s, name);
}

/* "; Key: value".  What is not of use here is left alone. */
static void header_line(struct header *h, const char *line, uint64_t number)
{
	size_t n;
	const char *value;
	int64_t start = 0;

	line += strspn(line, "; \t");
	n = strcspn(line, ":");
	if (h->seen_job || !line[n])
		return;
	value = line + n + 1;
	value += strspn(value, " \t");
	if (n == 8 && !strncasecmp(line, "MaxProcs", n))
		header_number(h, value, number, &h->max_procs);
	else if (n == 8 && !strncasecmp(line, "MaxNodes", n))
		header_number(h, value, number, &h->max_nodes);
	else if (n == 5 && !strncasecmp(line, "Queue", n))
		header_queue(h, value, number);
	else if (n == 13 && !strncasecmp(line, "UnixStartTime", n)) {
		header_number(h, value, number, &start);
		if (start > 0)
			sl_store_set_origin(h->s, start);
	}
}

/* Returns how many numbers the row has; more than 18 are not looked at. */
static int row_fields(const char *line, int64_t *field)
{
	int n = 0;

	for (; n < FIELDS; n++) {
		line += strspn(line, " \t");
		if (!(n == RUNTIME || n == ASKED_TIME ? sl_scan_seconds : sl_scan_int)(&line, &field[n]) || (*line && *line != ' ' && *line != '\t'))
			break;
	}
	return n;
}

static uint32_t numbered_name(struct sl_store *s, char letter, int64_t n)
{
	char name[24];

	if (n < 0)
		return 0;
	snprintf(name, sizeof(name), "%c%" PRId64, letter, n);
	return sl_store_str(s, name);
}

static int64_t choose_procs(const struct sl_store *s, const int64_t *f)
{
	int64_t had = f[4], asked = f[7];

	if (sl_store_options(s)->requested_procs)
		return asked > 0 ? asked : had;
	return had > 0 ? had : asked;
}

/* Returns 1 when no more rows are wanted. */
static int add_row(struct header *h, const int64_t *f, uint64_t line)
{
	struct sl_store *s = h->s;
	struct sl_draft j = sl_draft();
	int64_t procs = choose_procs(s, f);

	if (f[10] >= 2 && f[10] <= 4) {
		sl_store_note(s, SL_ISSUE_STEP, line, "status %" PRId64, f[10]);
		return 0;
	}
	if (f[0] < 0 || f[0] >= SL_NONE || procs >= SL_NONE) {
		sl_store_note(s, SL_ISSUE_FIELDS, line, "job %" PRId64 " of %" PRId64 " processors", f[0], procs);
		return 0;
	}
	j.line = line;
	j.id = f[0];
	j.submit_s = f[1];
	j.runtime_s = f[3];
	j.estimate_s = f[8] > 0 ? f[8] : 0;
	j.tasks = procs > 0 ? procs : 0;
	if (f[9] > 0 && f[9] / 1024 < SL_NONE - 1)
		j.memory_per_cpu = (f[9] + 1023) / 1024;
	j.user = numbered_name(s, 'u', f[11]);
	j.uid = f[11] >= 0 && f[11] < SL_NONE ? f[11] : SL_NONE;
	j.account = numbered_name(s, 'g', f[12]);
	j.name = numbered_name(s, 'a', f[13]);
	if (f[14] >= 0 && f[14] < h->queues && h->queue[f[14]])
		j.qos = h->queue[f[14]];
	else
		j.qos = numbered_name(s, 'q', f[14]);
	if (sl_store_reals(s) && f[2] >= 0 && j.runtime_s > 0)
		sl_reals_add(sl_store_reals(s), &j, INT64_MIN, j.submit_s + f[2], 0, 0, "");
	return sl_store_add(s, &j);
}

static int read_rows(struct header *h, struct sl_lines *l, struct sl_error *err)
{
	int64_t field[FIELDS], n;
	char *line;
	int fields;

	while ((n = sl_lines_next(l, &line, err)) > 0) {
		line += strspn(line, " \t");
		if (*line == ';')
			header_line(h, line, sl_lines_number(l));
		if (*line == ';' || !*line)
			continue;
		h->seen_job = true;
		sl_store_count_row(h->s);
		fields = row_fields(line, field);
		if (fields < FIELDS) {
			sl_store_note(h->s, SL_ISSUE_FIELDS, sl_lines_number(l), "%d numbers, expected %d", fields,
				      FIELDS);
			continue;
		}
		if (add_row(h, field, sl_lines_number(l)))
			return 0;
	}
	return n < 0 ? -1 : 0;
}

int sl_workload_read_swf(struct sl_store *s, const char *path, struct sl_error *err)
{
	struct header h = { .s = s };
	struct sl_lines *l = sl_lines_open(path, err);
	int machine, rc = -1;

	if (sl_store_reals(s))
		sl_store_reals(s)->lacks = SL_REAL_ALL;
	if (!l || read_rows(&h, l, err) < 0 || sl_store_failed(s, err) < 0)
		goto error;
	if (!sl_store_jobs(s) && sl_store_noted(s, SL_ISSUE_NO_RUNTIME)) {
		sl_fail(err, SL_EFORMAT, "%s: no job in %" PRIu64 " lines: %" PRIu64 " did not run, expected runtimes above 0", path,
			sl_lines_number(l), sl_store_noted(s, SL_ISSUE_NO_RUNTIME));
		goto error;
	}
	if (!sl_store_jobs(s)) {
		sl_fail(err, SL_EFORMAT, "%s: no job in %" PRIu64 " lines: is this a workload in SWF?", path,
			sl_lines_number(l));
		goto error;
	}
	machine = sl_store_machine(s, err);
	if (machine < 0)
		goto error;
	if (!machine && h.max_procs <= 0 && h.max_nodes <= 0) {
		sl_fail(err, SL_EINVAL, "%s: its header has no MaxProcs: say how many processors, or which machine",
			path);
		goto error;
	}
	if (!machine && sl_machine_pool(sl_store_builder(s), h.max_procs > 0 ? h.max_procs : h.max_nodes, err) < 0)
		goto error;
	rc = 0;
error:
	free(h.queue);
	sl_lines_close(l);
	return rc;
}

/* -- writing ---------------------------------------------------------------- */

/* "u12" -> 12; other names are numbered from 1 on as they come. */
struct numbers {
	uint32_t *str;		/* offsets that have a number: their index + 1 */
	uint32_t count, room;
	struct sl_map by_str;	/* -> index */
};

static int64_t number_of(struct numbers *t, const struct sl_snapshot *s, uint32_t str, char letter)
{
	const char *text = sl_snapshot_str(s, str), *p = text + 1;
	int64_t n;

	if (!*text)
		return -1;
	if (*text == letter && *p >= '0' && *p <= '9' && sl_scan_int(&p, &n) && !*p)
		return n;
	SL_MAP_EACH(&t->by_str, sl_hash_number(SL_HASH, str), at)
		if (t->str[at.value] == str)
			return at.value + INT64_C(1);
	if (sl_grow(&t->str, &t->room, t->count + UINT64_C(1), sizeof(*t->str), NULL) ||
	    sl_map_put(&t->by_str, sl_hash_number(SL_HASH, str), t->count, NULL))
		return -1;
	t->str[t->count++] = str;
	return t->count;
}

static void free_numbers(struct numbers *t)
{
	free(t->str);
	sl_map_free(&t->by_str);
}

static void write_header(const struct sl_workload *w, FILE *out)
{
	const struct sl_snapshot *s = &w->snap;
	uint64_t cores = 0;

	for (uint32_t i = 0; i < s->node.rows; i++)
		cores += s->node.cores[i];
	fprintf(out, "; Version: 2.2\n; Computer: %s\n; MaxJobs: %" PRIu32 "\n; MaxRecords: %" PRIu32 "\n",
		sl_snapshot_str(s, s->meta.cluster[0]), s->job.rows, s->job.rows);
	fprintf(out, "; UnixStartTime: %" PRId64 "\n; MaxNodes: %" PRIu32 "\n; MaxProcs: %" PRIu64 "\n",
		w->origin_s, s->node.rows, cores);
	fprintf(out, "; Note: written by schedlua from %s\n", w->name);
}

int sl_workload_write_swf(const struct sl_workload *w, const struct sl_swf_run *run, FILE *out, struct sl_error *err)
{
	const struct sl_job_view *j = &w->snap.job;
	struct numbers users = { 0 }, groups = { 0 }, apps = { 0 }, queues = { 0 };

	write_header(w, out);
	for (uint32_t i = 0; i < j->rows; i++) {
		struct sl_swf_run r = { true, -1, w->wanted_s ? w->wanted_s[i] : w->runtime_s[i], j->min_cpus[i], 1 };
		int64_t estimate = w->estimate_s[i] > 0 ? w->estimate_s[i] : -1;
		int64_t memory = j->memory_per_cpu[i] > 0 ? sl_product_signed(j->memory_per_cpu[i], 1024) : -1;

		if (run)
			r = run[i];
		if (!r.ended)
			continue;
		fprintf(out, "%" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu32 " -1 -1 %" PRIu32 " %" PRId64
			" %" PRId64 " %" PRIu32, j->id[i], j->submit_time[i] - w->origin_s, r.wait_s, r.runtime_s, r.procs,
			j->min_cpus[i], estimate, memory, r.status);
		fprintf(out, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " -1 -1 -1\n",
			number_of(&users, &w->snap, j->user[i], 'u'),
			number_of(&groups, &w->snap, j->account[i], 'g'),
			number_of(&apps, &w->snap, j->name[i], 'a'),
			number_of(&queues, &w->snap, j->qos[i], 'q'));
	}
	free_numbers(&users);
	free_numbers(&groups);
	free_numbers(&apps);
	free_numbers(&queues);
	if (fflush(out) || ferror(out))
		return sl_fail(err, SL_EIO, "writing %s as SWF failed", w->name);
	return 0;
}
