/* SPDX-License-Identifier: MIT */
/*
 * workload/store.c - drafts of jobs, and the image made of them.
 *
 * Jobs stay drafts (about 100 bytes) until all are there.  Then the machine's small
 * tables are laid out by an ordinary builder and copied, and the columns of jobs
 * are written straight into the image.  What no draft says is not written where it
 * is zero, and costs no memory.
 */
#include "workload/private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "image/map.h"
#include "workload/demand.h"
#include "workload/tiers.h"

#define YEAR_S (INT64_C(365) * 86400)	/* what Slurm plans with for a job without an end */

struct sl_store {
	struct sl_workload_options opt;
	struct sl_tiers tiers;
	uint32_t high, low, preempts, checkpoint;	/* their words, sl_store_str() */
	double factor;			/* of estimates, see sl_estimate_parse() */
	int64_t unlimited_s;
	char *name;
	struct sl_builder *builder;	/* of the machine */
	struct sl_snapshot machine;
	bool opened;
	uint32_t select_flags;
	uint32_t partition;		/* the default one */
	int64_t origin, last_submit;
	uint64_t rows_read;
	struct sl_draft *job;
	uint32_t jobs, room;
	char *text;			/* strings, the first empty */
	uint32_t text_size, text_room;
	struct sl_map by_text;		/* -> offset in text */
	struct sl_issue_count issue[SL_ISSUES];
	struct sl_notes notes;
	struct sl_reals reals;
	struct sl_error err;		/* the first failure */
};

/* -- the store ------------------------------------------------------------ */

void sl_store_note(struct sl_store *s, enum sl_issue issue, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sl_issue_vnote(&s->issue[issue], line, fmt, ap);
	va_end(ap);
}

static void name_tiers(struct sl_store *s)
{
	char says[32];

	if (!s->tiers.by)
		return;
	snprintf(says, sizeof(says), "checkpoint=%" PRIu32, s->tiers.checkpoint);
	s->high = sl_store_str(s, "high");
	s->low = sl_store_str(s, "low");
	s->preempts = sl_store_str(s, "QOS=low");
	s->checkpoint = s->tiers.checkpoint ? sl_store_str(s, says) : 0;
}

struct sl_store *sl_store_create(const char *name, const struct sl_workload_options *opt, struct sl_error *err)
{
	struct sl_store *s = calloc(1, sizeof(*s));

	if (!s)
		goto nomem;
	s->opt = *opt;
	s->origin = SL_WORKLOAD_ORIGIN;
	s->last_submit = INT64_MIN;
	s->text_room = 4096;
	s->text_size = 1;
	s->name = strdup(name);
	s->text = calloc(1, s->text_room);
	if (!s->name || !s->text)
		goto nomem;
	if (sl_estimate_parse(opt->estimate, &s->factor, err) < 0 || sl_tiers_parse(&s->tiers, opt->tiers, err) < 0)
		goto error;
	name_tiers(s);
	s->unlimited_s = YEAR_S;
	if (opt->unlimited && (!sl_scan_span(opt->unlimited, &s->unlimited_s) || s->unlimited_s <= 0 ||
			       s->unlimited_s > SL_WORKLOAD_MAX_SECONDS)) {
		sl_fail(err, SL_EINVAL, "unlimited \"%s\": expected a time such as 30d or 7-00:00:00", opt->unlimited);
		goto error;
	}
	s->builder = sl_builder_create(&sl_snapshot_schema, err);
	if (!s->builder)
		goto error;
	return s;
nomem:
	sl_fail(err, SL_ENOMEM, "%s: no memory", name);
error:
	sl_store_destroy(s);
	return NULL;
}

void sl_store_destroy(struct sl_store *s)
{
	if (!s)
		return;
	sl_builder_destroy(s->builder);
	free(s->name);
	free(s->job);
	free(s->text);
	sl_map_free(&s->by_text);
	sl_notes_free(&s->notes);
	sl_reals_free(&s->reals);
	free(s);
}

struct sl_reals *sl_store_reals(struct sl_store *s)
{
	return s->opt.as_it_was ? &s->reals : NULL;
}

const struct sl_workload_options *sl_store_options(const struct sl_store *s)
{
	return &s->opt;
}

int64_t sl_store_unlimited(const struct sl_store *s)
{
	return s->unlimited_s;
}

struct sl_builder *sl_store_builder(struct sl_store *s)
{
	return s->builder;
}

int sl_store_machine(struct sl_store *s, struct sl_error *err)
{
	return sl_machine_from_options(s->builder, &s->opt, &s->select_flags, &s->notes, err);
}

int sl_store_set_machine(struct sl_store *s, const char *text, struct sl_error *err)
{
	return sl_machine_parse(s->builder, text, &s->select_flags, err);
}

const struct sl_snapshot *sl_store_snapshot(struct sl_store *s, struct sl_error *err)
{
	struct sl_meta_row meta = sl_meta_row();
	const void *bytes;
	size_t size;

	if (s->opened)
		return &s->machine;
	meta.now = s->origin;
	meta.source = sl_builder_str(s->builder, "sim");
	meta.cluster = sl_builder_str(s->builder, "sim");
	meta.select_flags = s->select_flags;
	meta.seed = (int64_t) s->opt.seed;
	meta.kill_wait = 0;		/* a simulated job ends with its limit */
	sl_builder_append(s->builder, SL_T_META, &meta);
	if (sl_builder_finish(s->builder, &bytes, &size, err) < 0 ||
	    sl_snapshot_open(&s->machine, bytes, size, err) < 0)
		return NULL;
	for (uint32_t i = s->machine.partition.rows; i-- > 0;)
		if (s->machine.partition.flags[i] & SL_PART_DEFAULT)
			s->partition = i;
	s->opened = true;
	return &s->machine;
}

void sl_store_set_origin(struct sl_store *s, int64_t seconds)
{
	s->origin = seconds;
}

void sl_store_fail_memory(struct sl_store *s)
{
	if (!s->err.code)
		sl_fail(&s->err, SL_ENOMEM, "%s: no memory", s->name);
}

int sl_store_failed(const struct sl_store *s, struct sl_error *err)
{
	return s->err.code ? sl_fail(err, s->err.code, "%s", s->err.text) : 0;
}

uint32_t sl_store_str(struct sl_store *s, const char *text)
{
	uint64_t hash;
	uint32_t str = s->text_size;
	size_t n = text ? strlen(text) : 0;

	if (!n)
		return 0;
	hash = sl_hash_bytes(SL_HASH, text, n++);
	SL_MAP_EACH(&s->by_text, hash, at)
		if (!strcmp(s->text + at.value, text))
			return at.value;
	if (n > SL_IMAGE_MAX_SIZE - str || sl_grow(&s->text, &s->text_room, str + n, 1, NULL) ||
	    sl_map_put(&s->by_text, hash, str, NULL)) {
		sl_store_fail_memory(s);
		return 0;
	}
	memcpy(s->text + str, text, n);
	s->text_size += n;
	return str;
}

uint64_t sl_store_noted(const struct sl_store *s, enum sl_issue issue)
{
	return s->issue[issue].count;
}

struct sl_notes *sl_store_notes(struct sl_store *s)
{
	return &s->notes;
}

uint32_t sl_store_jobs(const struct sl_store *s)
{
	return s->jobs;
}

void sl_store_count_row(struct sl_store *s)
{
	s->rows_read++;
}

/* Can a draft become a job?  If not, an issue is counted. */
static bool is_job(struct sl_store *s, const struct sl_draft *j)
{
	if (j->submit_s < 0) {
		sl_store_note(s, SL_ISSUE_NEGATIVE, j->line, "submitted at %" PRId64, j->submit_s);
		return false;
	}
	if (j->submit_s > SL_WORKLOAD_MAX_SECONDS || j->runtime_s > SL_WORKLOAD_MAX_SECONDS ||
	    j->estimate_s > SL_WORKLOAD_MAX_SECONDS) {
		sl_store_note(s, SL_ISSUE_FIELDS, j->line, "a time beyond 2^32 s");
		return false;
	}
	if (j->runtime_s <= 0) {
		sl_store_note(s, SL_ISSUE_NO_RUNTIME, j->line, "ran %" PRId64 " s", j->runtime_s);
		return false;
	}
	if (!j->tasks) {
		sl_store_note(s, SL_ISSUE_NO_CORES, j->line, "no processor");
		return false;
	}
	if (j->submit_s < s->last_submit && j->line)
		sl_store_note(s, SL_ISSUE_BACKWARDS, j->line, "%" PRId64 " after %" PRId64, j->submit_s,
			      s->last_submit);
	return true;
}

int sl_store_add(struct sl_store *s, const struct sl_draft *job)
{
	if (s->err.code)
		return 1;
	if (!is_job(s, job))
		return 0;
	if (s->jobs == SL_WORKLOAD_MAX_JOBS) {
		sl_fail(&s->err, SL_ELIMIT, "%s: more than %u jobs", s->name, SL_WORKLOAD_MAX_JOBS);
		return 1;
	}
	if (sl_grow(&s->job, &s->room, s->jobs + UINT64_C(1), sizeof(*s->job), NULL)) {
		sl_store_fail_memory(s);
		return 1;
	}
	s->last_submit = job->submit_s;
	s->job[s->jobs++] = *job;
	return s->opt.jobs && s->jobs >= s->opt.jobs && !s->opt.from && !s->opt.to && !s->opt.skip;
}

/* -- making the workload --------------------------------------------------- */

struct numbered {
	uint32_t id, place;		/* in the order */
};

static int by_id(const void *va, const void *vb)
{
	const struct numbered *a = va, *b = vb;

	return SL_ORDER(a->id, b->id) ?: SL_ORDER(a->place, b->place);
}

/* Take the id from all but the first job that has it, in the order given. */
static int drop_duplicates(struct sl_store *s, const uint32_t *order, uint32_t *most)
{
	struct numbered *n = malloc(s->jobs * sizeof(*n));
	uint8_t *twice = calloc(s->jobs, 1);

	for (uint32_t k = 0; n && k < s->jobs; k++)
		n[k] = (struct numbered) { s->job[order[k]].id, k };
	if (n && twice) {
		qsort(n, s->jobs, sizeof(*n), by_id);
		*most = n[s->jobs - 1].id;
		for (uint32_t i = 1; i < s->jobs; i++)
			twice[n[i].place] = n[i].id && n[i].id == n[i - 1].id;
		for (uint32_t k = 0; k < s->jobs; k++) {
			struct sl_draft *j = &s->job[order[k]];

			if (!twice[k])
				continue;
			sl_store_note(s, SL_ISSUE_DUPLICATE, j->line, "job %" PRIu32, j->id);
			j->id = 0;
		}
	}
	free(n);
	free(twice);
	return n && twice ? 0 : -1;
}

/* Number the jobs that have no id, or one that another has, in the order given. */
static int number_jobs(struct sl_store *s, const uint32_t *order)
{
	bool rising = true;
	uint32_t last = 0;
	uint64_t next;

	for (uint32_t i = 0; i < s->jobs && rising; i++) {
		rising = s->job[i].id > last;
		last = s->job[i].id;
	}
	if (rising || !s->jobs)
		return 0;
	if (drop_duplicates(s, order, &last) < 0)
		return -1;
	next = (uint64_t) last + 1;
	for (uint32_t k = 0; k < s->jobs; k++) {
		if (s->job[order[k]].id)
			continue;
		if (next >= SL_NONE)
			next = 1;
		s->job[order[k]].id = next++;
	}
	return 0;
}

static int by_submit(const void *a, const void *b, void *arg)
{
	const struct sl_draft *job = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return SL_ORDER(job[x].submit_s, job[y].submit_s) ?: SL_ORDER(x, y);
}

/* Rows in the order of submission. */
static uint32_t *order_by_submission(struct sl_store *s)
{
	uint32_t *order = malloc((s->jobs + 1) * sizeof(*order));
	bool sorted = true;

	for (uint32_t i = 0; order && i < s->jobs; i++) {
		order[i] = i;
		sorted = sorted && (!i || s->job[i - 1].submit_s <= s->job[i].submit_s);
	}
	if (order && !sorted)
		qsort_r(order, s->jobs, sizeof(*order), by_submit, s->job);
	return order;
}

static int same_gres(const struct sl_job_gres_row *g, const struct sl_draft *j, uint32_t base)
{
	return g->type == (j->gpu_type ? base + j->gpu_type : 0) && g->count == j->gpus && g->per == j->gpus_per;
}

/* The row of this request for GPUs: jobs that ask for the same share one.  -1: no memory. */
static int64_t find_gres(struct sl_job_gres_row **gres, uint32_t *n, const struct sl_draft *j, uint32_t base)
{
	for (uint32_t i = *n; i-- > 0;)
		if (same_gres(&(*gres)[i], j, base))
			return i;
	if (sl_grow_list(gres, *n, sizeof(**gres), NULL))
		return -1;
	(*gres)[*n] = (struct sl_job_gres_row) {
		.type = j->gpu_type ? base + j->gpu_type : 0, .count = j->gpus, .per = j->gpus_per,
	};
	return (*n)++;
}

/* Write to a column that is not zero already. */
#define PUT(column, value) do {						\
	__typeof__(*(column)) v_ = (value);				\
	if ((column)[row] != v_)					\
		memcpy((void *) (uintptr_t) &(column)[row], &v_, sizeof(v_));	\
} while (0)

#define UPPER_PRIORITY 1000	/* beside 1 of all others */

/* The name by which the tiers are made. */
static const char *tier_name(const struct sl_store *s, const struct sl_draft *j)
{
	const struct sl_snapshot *m = &s->machine;
	uint32_t partition = j->partition == SL_NONE ? s->partition : j->partition;

	if (s->tiers.by == SL_TIER_PARTITION)
		return partition < m->partition.rows ? sl_snapshot_str(m, m->partition.name[partition]) : "";
	return s->text + (s->tiers.by == SL_TIER_QOS ? j->qos : s->tiers.by == SL_TIER_ACCOUNT ? j->account : j->user);
}

static void write_tier(struct sl_store *s, const struct sl_job_view *v, uint32_t row, const struct sl_draft *j, uint32_t base)
{
	if (sl_tiers_is_upper(&s->tiers, tier_name(s, j), j->id, s->opt.seed)) {
		PUT(v->qos, base + s->high);
		PUT(v->flags, j->flags | SL_JOBF_MAY_PREEMPT);
		PUT(v->preempts, base + s->preempts);
		PUT(v->priority, (int64_t) UPPER_PRIORITY);
		return;
	}
	PUT(v->qos, base + s->low);
	PUT(v->flags, j->flags | SL_JOBF_REQUEUE);
	PUT(v->preempt_mode, s->tiers.mode);
	PUT(v->grace_time, s->tiers.grace_s);
	PUT(v->comment, s->checkpoint ? base + s->checkpoint : 0);
}

static void write_job(struct sl_store *s, struct sl_workload *w, const struct sl_job_view *v, uint32_t row,
		      const struct sl_draft *j, uint32_t base)
{
	int64_t runtime = j->runtime_s;
	uint64_t cpus = (uint64_t) j->tasks * j->cpus_per_task;

	if (!j->estimate_s)
		sl_store_note(s, SL_ISSUE_NO_ESTIMATE, j->line, "job %" PRIu32, j->id);
	else if (j->runtime_s > j->estimate_s)
		sl_store_note(s, SL_ISSUE_OVERRUN, j->line, "ran %" PRId64 " s of %" PRId64, j->runtime_s,
			      j->estimate_s);
	PUT(v->time_limit, sl_workload_walltime(s->factor, s->opt.overrun, &runtime, j->estimate_s));
	w->runtime_s[row] = runtime;
	w->wanted_s[row] = j->runtime_s;
	w->estimate_s[row] = j->estimate_s;
	PUT(v->id, j->id);
	PUT(v->user, j->user ? base + j->user : 0);
	PUT(v->account, j->account ? base + j->account : 0);
	PUT(v->qos, j->qos ? base + j->qos : 0);
	PUT(v->name, j->name ? base + j->name : 0);
	PUT(v->uid, j->uid);
	PUT(v->partition, j->partition == SL_NONE ? s->partition : j->partition);
	PUT(v->flags, j->flags);
	PUT(v->submit_time, s->origin + j->submit_s);
	PUT(v->eligible_time, s->origin + j->submit_s);
	PUT(v->min_nodes, j->min_nodes);
	PUT(v->max_nodes, j->max_nodes);
	PUT(v->min_cpus, cpus < SL_NONE ? (uint32_t) cpus : SL_NONE - 1);
	PUT(v->num_tasks, j->tasks);
	PUT(v->cpus_per_task, j->cpus_per_task);
	PUT(v->ntasks_per_node, j->ntasks_per_node);
	PUT(v->segment, j->segment);
	PUT(v->memory_per_cpu, j->memory_per_cpu);
	if (s->tiers.by)
		write_tier(s, v, row, j, base);
}

/* The rows of job_gres that jobs need; by draft, which one (SL_NONE: none). */
static uint32_t *gather_gres(struct sl_store *s, struct sl_job_gres_row **gres, uint32_t *n, uint32_t base)
{
	uint32_t *which = NULL;

	for (uint32_t i = 0; i < s->jobs; i++) {
		int64_t at;

		if (!s->job[i].gpus)
			continue;
		if (!which) {
			which = malloc(s->jobs * sizeof(*which));
			if (!which)
				return NULL;
			memset(which, 0xff, s->jobs * sizeof(*which));
		}
		at = find_gres(gres, n, &s->job[i], base);
		if (at < 0) {
			free(which);
			return NULL;
		}
		which[i] = at;
	}
	return which ? which : calloc(1, sizeof(*which));
}

static void write_gres(struct sl_job_gres_view *v, const struct sl_job_gres_row *gres, uint32_t n, uint32_t gpu)
{
	for (uint32_t row = 0; row < n; row++) {
		PUT(v->name, gpu);
		PUT(v->type, gres[row].type);
		PUT(v->count, gres[row].count);
		PUT(v->per, gres[row].per);
	}
}

/* Lay everything out in w->bytes.  w->runtime_s and w->estimate_s have room. */
static int write_image(struct sl_store *s, struct sl_workload *w, const uint32_t *order, struct sl_error *err)
{
	const struct sl_snapshot *machine = sl_store_snapshot(s, err);
	uint32_t rows[SL_SNAPSHOT_TABLES], n = 0, *which = NULL, base, gpu;
	struct sl_job_gres_row *gres = NULL;
	struct sl_snapshot view;
	size_t pool;
	int rc = -1;

	if (!machine)
		return -1;
	gpu = sl_store_str(s, "gpu");
	base = (uint32_t) (machine->image.size - (machine->image.pool - (const char *) machine->image.base)) - 1;
	which = gather_gres(s, &gres, &n, base);
	if (!which)
		sl_store_fail_memory(s);
	if (sl_store_failed(s, err))
		goto error;
	sl_store_count_rows(machine, rows);
	rows[SL_T_JOB] = s->jobs;
	rows[SL_T_JOB_GRES] = n;
	pool = base + s->text_size;
	if (sl_image_measure(&sl_snapshot_schema, rows, pool, &w->size, err) < 0)
		goto error;
	w->bytes = sl_image_map(w->size);
	if (!w->bytes) {
		sl_fail(err, SL_ENOMEM, "%s: no memory for %zu bytes", s->name, w->size);
		goto error;
	}
	sl_image_lay_out(&sl_snapshot_schema, w->bytes, rows, pool, &view);
	sl_store_copy_tables(machine, &view, rows);
	memcpy((char *) w->bytes + w->size - pool, machine->image.pool, base + 1);
	memcpy((char *) w->bytes + w->size - pool + base, s->text, s->text_size);
	if (s->jobs)
		*(int64_t *) (uintptr_t) view.meta.now = s->origin + s->job[order[0]].submit_s;
	sl_store_fill_defaults(&view.job);
	write_gres(&view.job_gres, gres, n, base + gpu);
	for (uint32_t row = 0; row < s->jobs; row++) {
		const struct sl_draft *j = &s->job[order[row]];

		write_job(s, w, &view.job, row, j, base);
		if (j->gpus)
			((struct sl_range *) (uintptr_t) view.job.gres)[row] =
				(struct sl_range) { which[order[row]], 1 };
	}
	rc = 0;
error:
	free(which);
	free(gres);
	return rc;
}

/* Drop the jobs that the machine cannot hold.  Returns how many, or -1. */
static int64_t drop_too_large(struct sl_store *s, const struct sl_workload *w, const uint32_t *order,
			      struct sl_error *err)
{
	struct sl_machine m;
	struct sl_demand d;
	uint32_t kept = 0;
	int64_t dropped = 0;

	if (sl_machine_open(&m, &w->snap, err) < 0)
		return -1;
	for (uint32_t row = 0; row < w->snap.job.rows; row++) {
		struct sl_draft *j = &s->job[order[row]];

		sl_job_demand(&m, row, &d);
		if (d.nodes != SL_NONE)
			continue;
		sl_store_note(s, SL_ISSUE_TOO_LARGE, j->line, "job %" PRIu32 " asks for %" PRIu64 " cores", j->id,
			      d.cores);
		j->tasks = 0;
		dropped++;
	}
	for (uint32_t i = 0; dropped && i < s->jobs; i++)
		if (s->job[i].tasks)
			s->job[kept++] = s->job[i];
	if (dropped)
		s->jobs = kept;
	sl_machine_close(&m);
	return dropped;
}

/* Keep the jobs of the window that the options say, in their order. */
static int keep_window(struct sl_store *s, struct sl_error *err)
{
	uint32_t *order = order_by_submission(s), first, end;
	struct sl_draft *kept;
	int64_t zero, from, to;

	if (!order)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", s->name);
	zero = s->origin || !s->jobs ? 0 : s->job[order[0]].submit_s;
	if (sl_window_parse(&s->opt, s->origin + zero, &from, &to, err) < 0) {
		free(order);
		return -1;
	}
	for (first = 0; first < s->jobs && s->job[order[first]].submit_s - zero < from; first++)
		;
	for (end = first; end < s->jobs && s->job[order[end]].submit_s - zero < to; end++)
		;
	first = s->opt.skip < end - first ? first + s->opt.skip : end;
	if (s->opt.jobs && end - first > s->opt.jobs)
		end = first + s->opt.jobs;
	kept = malloc((end - first + 1) * sizeof(*kept));
	for (uint32_t i = first; kept && i < end; i++)
		kept[i - first] = s->job[order[i]];
	free(order);
	if (!kept)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", s->name);
	free(s->job);
	s->job = kept;
	s->jobs = s->room = end - first;
	return s->jobs ? 0 : sl_fail(err, SL_EINVAL, "%s: no job is left: expected a window (from, to, skip) that has some of "
				     "its %" PRIu64 " rows", s->name, s->rows_read);
}

static int make_image(struct sl_store *s, struct sl_workload *w, bool *again, struct sl_error *err)
{
	uint32_t *order = order_by_submission(s);
	int64_t dropped = -1;

	if (!order || (!*again && number_jobs(s, order) < 0)) {
		free(order);
		return sl_fail(err, SL_ENOMEM, "%s: no memory", s->name);
	}
	if (write_image(s, w, order, err) == 0 && sl_snapshot_open(&w->snap, w->bytes, w->size, err) == 0)
		dropped = drop_too_large(s, w, order, err);
	if (dropped && w->bytes) {
		sl_image_unmap(w->bytes, w->size);
		w->bytes = NULL;
	}
	*again = dropped > 0;
	if (!dropped && s->opt.as_it_was && sl_reals_fill(&s->reals, w, s->job, order, s->origin, err) < 0)
		dropped = -1;
	free(order);
	return dropped < 0 ? -1 : 0;
}

struct sl_workload *sl_store_finish(struct sl_store *s, struct sl_error *err)
{
	struct sl_workload *w = calloc(1, sizeof(*w));
	bool again = false;

	if (!w)
		sl_store_fail_memory(s);
	if (sl_store_failed(s, err))
		goto error;
	if (s->opt.as_it_was && sl_reals_settle(&s->reals, s->name, s->job, s->jobs, err) < 0)
		goto error;
	if ((s->opt.from || s->opt.to || s->opt.skip) && keep_window(s, err) < 0)
		goto error;
	w->runtime_s = malloc((s->jobs + 1) * sizeof(*w->runtime_s));
	w->estimate_s = malloc((s->jobs + 1) * sizeof(*w->estimate_s));
	w->wanted_s = malloc((s->jobs + 1) * sizeof(*w->wanted_s));
	w->outstays = s->opt.overrun == SL_OVERRUN_STAYS;
	w->exempt_s = s->tiers.exempt_s;
	w->name = strdup(s->name);
	if (!w->runtime_s || !w->estimate_s || !w->wanted_s || !w->name) {
		sl_fail(err, SL_ENOMEM, "%s: no memory", s->name);
		goto error;
	}
	do {
		s->issue[SL_ISSUE_NO_ESTIMATE].count = s->issue[SL_ISSUE_OVERRUN].count = 0;
		if (make_image(s, w, &again, err) < 0)
			goto error;
	} while (again);
	for (uint32_t i = 0; i < s->notes.count; i++)
		sl_store_note(s, SL_ISSUE_NOTES, 0, "%s", s->notes.text[i]);
	memcpy(w->issue, s->issue, sizeof(w->issue));
	sl_notes_move(&w->notes, &s->notes);
	w->origin_s = s->origin ? s->origin : w->snap.meta.now[0];
	w->rows_read = s->rows_read;
	if (s->opt.strict && sl_issues_judge(s->name, w->issue, err) < 0)
		goto error;
	return w;
error:
	sl_workload_destroy(w);
	return NULL;
}

void sl_workload_destroy(struct sl_workload *w)
{
	if (!w)
		return;
	free(w->runtime_s);
	free(w->wanted_s);
	free(w->estimate_s);
	free(w->arrival_s);
	sl_real_free(w->real, w->snap.job.rows);
	free(w->name);
	sl_notes_free(&w->notes);
	sl_image_unmap(w->bytes, w->size);
	free(w);
}
