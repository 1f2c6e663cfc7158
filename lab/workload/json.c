/* SPDX-License-Identifier: MIT */
/*
 * workload/json.c - a workload as the JSON form of a snapshot.
 *
 * Jobs have every field that jobs of a snapshot have, and beside them "runtime_s"
 * (needed) and "estimate_s" (what the user asked for; else time_limit).  Times are
 * as in snapshots; those that lie before meta.now are counted from there, so that
 * people can write "submit_time": 60.  Nodes and partitions may be left out where a
 * machine is named, and are replaced where they are not.
 */
#include "workload/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/lines.h"
#include "base/order.h"
#include "image/json_tree.h"
#include "image/map.h"
#include "workload/demand.h"
#include "image/shapes.h"

#define MOST_BYTES ((size_t) 1 << 30)	/* of text; what is made of it is several times as large */

struct reader {
	const char *path;
	const struct sl_workload_options *opt;
	double factor;
	json_t *root, *jobs;
	int64_t origin;
	struct sl_workload *w;
	struct sl_error *err;
};

static int64_t take_int(json_t *job, const char *key, int64_t missing)
{
	json_t *v = json_object_get(job, key);
	int64_t n = json_is_integer(v) ? json_integer_value(v) : v ? -1 : missing;

	json_object_del(job, key);
	return n;
}

static int64_t get_int(const json_t *job, const char *key, int64_t missing)
{
	const json_t *v = json_object_get(job, key);

	return json_is_integer(v) ? json_integer_value(v) : missing;
}

static int set_int(json_t *job, const char *key, int64_t n)
{
	return json_object_set_new(job, key, json_integer(n));
}

/* -- times ------------------------------------------------------------------ */

/* Make a job's times absolute, and its walltime what the scheduler is to see. */
static int set_times(struct reader *r, size_t i, json_t *job)
{
	static const char *const when[] = { "submit_time", "eligible_time", "begin_time", "deadline" };
	int64_t runtime = take_int(job, "runtime_s", 0), estimate = take_int(job, "estimate_s", 0), limit, t, wanted;
	const json_t *state = json_object_get(job, "state");

	if (state && (!json_is_string(state) || strcmp(json_string_value(state), "PENDING")))
		return sl_fail(r->err, SL_EINVAL, "%s: jobs[%zu].state: expected PENDING, or nothing", r->path, i);
	if (runtime <= 0 || runtime > SL_WORKLOAD_MAX_SECONDS)
		return sl_fail(r->err, SL_EINVAL, "%s: jobs[%zu].runtime_s: expected seconds from 1 on", r->path, i);
	if (estimate < 0 || estimate > SL_WORKLOAD_MAX_SECONDS)
		return sl_fail(r->err, SL_EINVAL, "%s: jobs[%zu].estimate_s: expected seconds", r->path, i);
	for (size_t k = 0; k < sizeof(when) / sizeof(when[0]); k++) {
		t = get_int(job, when[k], k ? 0 : r->origin);
		if (t < 0)
			return sl_fail(r->err, SL_EINVAL, "%s: jobs[%zu].%s: negative", r->path, i, when[k]);
		if ((!k || t) && t < r->origin)
			t += r->origin;
		if ((!k || t) && set_int(job, when[k], t) < 0)
			return sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->path);
	}
	limit = get_int(job, "time_limit", 0);
	if (!estimate)
		estimate = limit > 0 && limit <= SL_WORKLOAD_MAX_SECONDS ? limit : 0;
	if (!estimate)
		sl_issue_note(&r->w->issue[SL_ISSUE_NO_ESTIMATE], 0, "jobs[%zu]", i);
	else if (runtime > estimate)
		sl_issue_note(&r->w->issue[SL_ISSUE_OVERRUN], 0, "jobs[%zu] ran %" PRId64 " s of %" PRId64, i,
			      runtime, estimate);
	wanted = runtime;
	limit = sl_workload_walltime(r->factor, r->opt->overrun, &runtime, estimate);
	if (set_int(job, "time_limit", limit) < 0 || set_int(job, "runtime_s", runtime) < 0 ||
	    set_int(job, "wanted_s", wanted) < 0 ||
	    set_int(job, "estimate_s", estimate) < 0)
		return sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->path);
	return 0;
}

struct key {			/* of sorting */
	int64_t submit;
	size_t at;
};

static int by_submit(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return SL_ORDER(x->submit, y->submit) ?: SL_ORDER(x->at, y->at);
}

/* Bring the jobs into the order of submission. */
static int sort_jobs(struct reader *r)
{
	size_t n = json_array_size(r->jobs);
	struct key *key = malloc((n + 1) * sizeof(*key));
	json_t *sorted = json_array();

	if (!key || !sorted)
		goto error;
	for (size_t i = 0; i < n; i++) {
		key[i] = (struct key) { get_int(json_array_get(r->jobs, i), "submit_time", 0), i };
		if (i && key[i].submit < key[i - 1].submit)
			sl_issue_note(&r->w->issue[SL_ISSUE_BACKWARDS], 0, "jobs[%zu]", i);
	}
	qsort(key, n, sizeof(*key), by_submit);
	for (size_t i = 0; i < n; i++)
		if (json_array_append(sorted, json_array_get(r->jobs, key[i].at)) < 0)
			goto error;
	if (json_object_set_new(r->root, "jobs", sorted) < 0) {
		sorted = NULL;
		goto error;
	}
	r->jobs = sorted;
	free(key);
	return 0;
error:
	free(key);
	json_decref(sorted);
	return sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->path);
}

/* -- from the tree to an image ----------------------------------------------- */

/* Take the extras out of the jobs and put them where they belong. */
static int take_extras(struct reader *r)
{
	size_t n = json_array_size(r->jobs), i;
	json_t *job;

	free(r->w->runtime_s);
	free(r->w->estimate_s);
	free(r->w->wanted_s);
	r->w->wanted_s = malloc((n + 1) * sizeof(int64_t));
	r->w->runtime_s = malloc((n + 1) * sizeof(int64_t));
	r->w->estimate_s = malloc((n + 1) * sizeof(int64_t));
	if (!r->w->runtime_s || !r->w->estimate_s || !r->w->wanted_s)
		return sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->path);
	json_array_foreach(r->jobs, i, job) {
		r->w->runtime_s[i] = take_int(job, "runtime_s", 0);
		r->w->estimate_s[i] = take_int(job, "estimate_s", 0);
		r->w->wanted_s[i] = take_int(job, "wanted_s", 0);
	}
	return 0;
}

/* Jobs without a partition go to the default one.  The clock begins at the first
 * submission. */
static void finish_jobs(struct sl_builder *b, int64_t origin)
{
	struct sl_partition_row part;
	struct sl_meta_row meta;
	struct sl_job_row job;
	uint32_t usual = 0;

	for (uint32_t i = sl_builder_rows(b, SL_T_PARTITION); i-- > 0;)
		if (!sl_builder_row(b, SL_T_PARTITION, i, &part) && (part.flags & SL_PART_DEFAULT))
			usual = i;
	for (uint32_t i = 0; !sl_builder_row(b, SL_T_JOB, i, &job); i++) {
		if (job.partition == SL_NONE)
			job.partition = usual;
		if (!job.eligible_time)
			job.eligible_time = job.submit_time;
		sl_builder_update(b, SL_T_JOB, i, &job);
		if (!i)
			origin = job.submit_time;
	}
	if (!sl_builder_row(b, SL_T_META, 0, &meta)) {
		meta.now = origin;
		sl_builder_update(b, SL_T_META, 0, &meta);
	}
}

static int add_machine(struct reader *r, struct sl_builder *b)
{
	struct sl_meta_row meta;
	uint32_t flags = 0;
	int machine = sl_machine_from_options(b, r->opt, &flags, &r->w->notes, r->err);

	if (machine < 0)
		return -1;
	for (uint32_t i = 0; i < r->w->notes.count; i++)
		sl_issue_note(&r->w->issue[SL_ISSUE_NOTES], 0, "%s", r->w->notes.text[i]);
	if (!machine && !sl_builder_rows(b, SL_T_NODE))
		return sl_fail(r->err, SL_EINVAL, "%s: has no nodes: name a machine", r->path);
	if (!machine && !sl_builder_rows(b, SL_T_PARTITION))
		sl_machine_add_all(b);
	if (!sl_builder_row(b, SL_T_META, 0, &meta)) {
		meta.select_flags = machine ? flags : meta.select_flags;
		meta.source = sl_builder_str(b, "sim");
		meta.kill_wait = 0;	/* a simulated job ends with its limit */
		if (r->opt->seed)
			meta.seed = (int64_t) r->opt->seed;
		sl_builder_update(b, SL_T_META, 0, &meta);
	}
	return 0;
}

static int make_image(struct reader *r)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, r->err);
	const void *bytes;
	int rc = -1;

	if (!b || sl_builder_from_tree(b, r->path, r->root, r->err) < 0 || add_machine(r, b) < 0)
		goto error;
	sl_shapes_fill(b);
	finish_jobs(b, r->origin);
	if (sl_builder_finish(b, &bytes, &r->w->size, r->err) < 0)
		goto error;
	r->w->bytes = sl_image_map(r->w->size);
	if (!r->w->bytes) {
		sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->path);
		goto error;
	}
	memcpy(r->w->bytes, bytes, r->w->size);
	rc = sl_snapshot_open(&r->w->snap, r->w->bytes, r->w->size, r->err);
	if (rc < 0)
		sl_fail_in(r->err, "%s", r->path);
error:
	sl_builder_destroy(b);
	return rc;
}

/* Rows of jobs that the machine cannot hold leave the tree; how many, or -1. */
static int64_t drop_too_large(struct reader *r)
{
	int64_t *const column[] = { r->w->runtime_s, r->w->estimate_s, r->w->wanted_s };
	struct sl_machine m;
	struct sl_demand d;
	int64_t dropped = 0;

	if (sl_machine_open(&m, &r->w->snap, r->err) < 0)
		return -1;
	for (uint32_t row = r->w->snap.job.rows; row-- > 0;) {
		if (sl_job_could_run(&m, row))
			continue;
		sl_job_demand(&m, row, &d);
		sl_issue_note(&r->w->issue[SL_ISSUE_TOO_LARGE], 0, "job %" PRIu32 " asks for %" PRIu64 " cores",
			      r->w->snap.job.id[row], d.cores);
		json_array_remove(r->jobs, row);
		for (size_t k = 0; k < sizeof(column) / sizeof(column[0]); k++)
			memmove(column[k] + row, column[k] + row + 1,
				(r->w->snap.job.rows - dropped - row - 1) * sizeof(int64_t));
		dropped++;
	}
	sl_machine_close(&m);
	return dropped;
}

/* -- the file ---------------------------------------------------------------- */

json_t *sl_json_parse_file(const char *path, struct sl_error *err)
{
	json_t *root;
	char *text;
	size_t size;

	if (sl_lines_whole(path, MOST_BYTES, &text, &size, err) < 0)
		return NULL;
	root = sl_json_tree(path, text, size, err);
	free(text);
	return root;
}

/* Keep the jobs of the window that the options say; they are in the order of submission. */
static int keep_window(struct reader *r)
{
	json_t *kept = json_array(), *job;
	uint32_t left = r->opt->jobs ? r->opt->jobs : UINT32_MAX, skip = r->opt->skip;
	int64_t from, to;
	size_t i;

	if (!kept || sl_window_parse(r->opt, r->origin, &from, &to, r->err) < 0) {
		json_decref(kept);
		return kept ? -1 : sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->path);
	}
	json_array_foreach(r->jobs, i, job) {
		int64_t submit = get_int(job, "submit_time", 0) - r->origin;

		if (submit < from || submit >= to || (skip && skip--) || !left)
			continue;
		left--;
		json_array_append(kept, job);
	}
	r->jobs = kept;
	if (json_object_set_new(r->root, "jobs", kept) < 0)
		return sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->path);
	return json_array_size(kept) ? 0 : sl_fail(r->err, SL_EINVAL, "%s: no job is left: expected a window (from, to, skip) "
						   "that has some of its %" PRIu64 " jobs", r->path, r->w->rows_read);
}

static int prepare_jobs(struct reader *r)
{
	json_t *job;
	size_t i;

	if (!json_is_object(r->root))
		return sl_fail(r->err, SL_EFORMAT, "%s: expected an object", r->path);
	r->origin = get_int(json_object_get(r->root, "meta"), "now", 0);
	if (r->origin <= 0)
		r->origin = SL_WORKLOAD_ORIGIN;
	json_object_del(r->root, "queue");
	if (r->opt->machine || r->opt->procs) {
		json_object_del(r->root, "nodes");
		json_object_del(r->root, "partitions");
		json_object_del(r->root, "gres_kinds");
	}
	r->jobs = json_object_get(r->root, "jobs");
	if (!json_array_size(r->jobs))
		return sl_fail(r->err, SL_EFORMAT, "%s: has no jobs", r->path);
	if (json_array_size(r->jobs) > SL_WORKLOAD_MAX_JOBS)
		return sl_fail(r->err, SL_ELIMIT, "%s: more than %u jobs", r->path, SL_WORKLOAD_MAX_JOBS);
	r->w->rows_read = json_array_size(r->jobs);
	json_array_foreach(r->jobs, i, job) {
		if (!json_is_object(job))
			return sl_fail(r->err, SL_EINVAL, "%s: jobs[%zu]: expected an object", r->path, i);
		if (set_times(r, i, job) < 0)
			return -1;
	}
	return sort_jobs(r) < 0 || keep_window(r) < 0 || take_extras(r) < 0 ? -1 : 0;
}

struct sl_workload *sl_workload_read_json(const char *path, json_t *root, const struct sl_workload_options *opt,
					  struct sl_error *err)
{
	struct reader r = { .path = path, .root = root, .opt = opt, .err = err, .w = calloc(1, sizeof(*r.w)) };
	int64_t dropped;

	if (!r.w || !(r.w->name = strdup(path))) {
		sl_fail(err, SL_ENOMEM, "%s: no memory", path);
		goto error;
	}
	if (opt->tiers) {
		sl_fail(err, SL_EINVAL, "%s: tiers are not made of jobs that say themselves who may stop them (preempts, preempt_mode)", path);
		goto error;
	}
	if (sl_estimate_parse(opt->estimate, &r.factor, err) < 0)
		goto error;
	if (prepare_jobs(&r) < 0 || make_image(&r) < 0)
		goto error;
	dropped = drop_too_large(&r);
	if (dropped < 0)
		goto error;
	if (dropped) {
		sl_image_unmap(r.w->bytes, r.w->size);
		r.w->bytes = NULL;
		if (make_image(&r) < 0)
			goto error;
	}
	r.w->origin_s = r.origin;
	r.w->outstays = opt->overrun == SL_OVERRUN_STAYS;
	if (opt->strict && sl_issues_judge(path, r.w->issue, err) < 0)
		goto error;
	return r.w;
error:
	sl_workload_destroy(r.w);
	return NULL;
}

int sl_workload_write_json(const struct sl_workload *w, FILE *out, struct sl_error *err)
{
	const struct sl_extra extra[] = {
		{ SL_T_JOB, "runtime_s", w->wanted_s ? w->wanted_s : w->runtime_s }, { SL_T_JOB, "estimate_s", w->estimate_s },
	};

	return sl_image_to_json_with(&w->snap.image, &w->snap, extra, 2, out, err);
}
