/* SPDX-License-Identifier: MIT */
/* check/plan.c - checking a whole plan: its rows one by one, then their sums. */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"

/* -- the rows ------------------------------------------------------------ */

static void read_rows(struct check *c)
{
	const struct sl_plan_start_view *start = &c->plan->start;
	const struct sl_plan_reserve_view *reserve = &c->plan->reserve;

	for (uint32_t i = 0; i < start->rows; i++)
		c->row[c->rows++] = (struct row) {
			.job = check_find_job(c, start->job[i]), .partition = start->partition[i], .shape = start->shape[i],
			.native = start->native[i], .way = start->reservation[i], .license = start->license[i], .start = true,
			.at = c->now, .places = start->places[i], .through = start->through[i], .lenders = start->lenders[i],
			.shortened = start->time_limit[i], .expected = start->expected[i], .blocks = start->blocks[i] };
	for (uint32_t i = 0; i < reserve->rows; i++)
		c->row[c->rows++] = (struct row) {
			.job = check_find_job(c, reserve->job[i]), .partition = reserve->partition[i], .shape = reserve->shape[i],
			.native = reserve->native[i], .way = reserve->reservation[i], .license = reserve->license[i],
			.at = reserve->start_time[i], .places = reserve->places[i], .through = reserve->through[i],
			.lenders = reserve->lenders[i], .shortened = reserve->time_limit[i], .expected = reserve->expected[i],
			.blocks = reserve->blocks[i] };
}

/* Check that the job is in the snapshot and not planned too often. */
static int check_job(struct check *c, uint32_t i)
{
	const struct sl_plan_start_view *start = &c->plan->start;
	const struct sl_job_view *job = &c->snap->job;
	const struct row *r = &c->row[i];
	uint32_t j = r->job, tasks;

	if (j == SL_NONE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is not in the snapshot",
			       r->start ? start->job[i] : c->plan->reserve.job[i - start->rows]);
	tasks = job->array_pending[j] ? job->array_pending[j] : 1;
	c->bookings[j]++;
	c->starts[j] += r->start;
	if (r->start && start->stamp[i] != job->stamp[j])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has stamp %" PRId64 ", in the snapshot %" PRId64, job->id[j],
			       start->stamp[i], job->stamp[j]);
	if (c->bookings[j] - c->starts[j] > 1)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is reserved twice", job->id[j]);
	if (c->bookings[j] > tasks)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is planned %" PRIu32 " times, it stands for %"
			       PRIu32 " task%s", job->id[j], c->bookings[j], tasks, tasks == 1 ? "" : "s");
	return 0;
}

static int check_rows(struct check *c)
{
	for (uint32_t i = 0; i < c->rows; i++)
		if (!c->row[i].out && check_job(c, i) < 0 && check_refuse(c, i) < 0)
			return -1;
	for (uint32_t i = 0; i < c->rows; i++)
		if (!c->row[i].out && check_row(c, &c->row[i]) < 0 && check_refuse(c, i) < 0)
			return -1;
	return 0;
}

/* -- arrays -------------------------------------------------------------- */

static bool runs(const struct sl_job_view *job, uint32_t j)
{
	return job->state[j] == SL_JOB_RUNNING || job->state[j] == SL_JOB_SUSPENDED;
}

static bool is_throttled(const struct sl_job_view *job, uint32_t j)
{
	return job->array_max_running[j] && job->array_job_id[j] != SL_NONE;
}

/* List the running tasks of arrays, sorted by array.  Returns their number, or -1. */
static int64_t list_running(struct check *c, struct key *key)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t n = 0;

	for (uint32_t j = 0; j < job->rows; j++)
		if (runs(job, j) && job->array_job_id[j] != SL_NONE)
			key[n++] = (struct key) { job->array_job_id[j], j };
	check_sort_keys(key, n);
	return n;
}

/* Refuse starts of an array, key[0..n), beyond its throttle. */
static int check_array(struct check *c, const struct key *key, uint32_t n, uint32_t running)
{
	const struct sl_job_view *job = &c->snap->job;

	for (uint32_t i = 0; i < n; i++) {
		struct row *r = &c->row[key[i].row];
		uint32_t most = job->array_max_running[r->job];

		if (r->out || running++ < most || !is_throttled(job, r->job))
			continue;
		sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": %" PRIu32 " tasks of array %" PRIu32 " would run, %" PRIu32 " may",
			job->id[r->job], running, job->array_job_id[r->job], most);
		running--;
		if (check_refuse(c, key[i].row) < 0)
			return -1;
	}
	return 0;
}

/* Count running and started tasks of each array. */
static int check_throttles(struct check *c)
{
	const struct sl_job_view *job = &c->snap->job;
	struct key *running = calloc((size_t) job->rows + 1, sizeof(*running));
	struct key *starts = calloc((size_t) c->rows + 1, sizeof(*starts));
	uint32_t runs_n = 0, n = 0;
	int rc = running && starts ? 0 : sl_fail(c->err, SL_ENOMEM, "check: out of memory");

	if (!rc)
		runs_n = (uint32_t) list_running(c, running);
	for (uint32_t i = 0; !rc && i < c->rows; i++)
		if (c->row[i].start && !c->row[i].out && job->array_job_id[c->row[i].job] != SL_NONE)
			starts[n++] = (struct key) { job->array_job_id[c->row[i].job], i };
	if (!rc)
		check_sort_keys(starts, n);
	for (uint32_t i = 0, next; !rc && i < n; i = next) {
		uint64_t array = starts[i].key;
		uint32_t at = SL_FIRST(k, 0, runs_n, running[k].key < array), end = SL_FIRST(k, 0, runs_n, running[k].key <= array);

		for (next = i; next < n && starts[next].key == array; next++)
			;
		rc = check_array(c, starts + i, next - i, end - at);
	}
	free(running);
	free(starts);
	return rc;
}

/* -- heterogeneous jobs -------------------------------------------------- */

/* Check that of the pending components, key[0..n), all start or none. */
static int check_het_job(struct check *c, const struct key *key, uint32_t n)
{
	const uint32_t *id = c->snap->job.id;
	uint32_t started = SL_NONE, left = SL_NONE, i;

	for (uint32_t k = n; k-- > 0;)
		*(c->starts[key[k].row] ? &started : &left) = key[k].row;
	if (started == SL_NONE || left == SL_NONE)
		return 0;
	sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is started without job %" PRIu32 ", which is of the same heterogeneous job",
		id[started], id[left]);
	for (i = 0; c->row[i].job != started || !c->row[i].start || c->row[i].out; i++)
		;
	return check_refuse(c, i);
}

/* If the plan starts one component of a heterogeneous job, it has to start all of its components that are pending. */
static int check_het_jobs(struct check *c)
{
	const struct sl_job_view *job = &c->snap->job;
	struct key *key = calloc((size_t) job->rows + 1, sizeof(*key));
	uint32_t n = 0;
	int rc = key ? 0 : sl_fail(c->err, SL_ENOMEM, "check: out of memory");

	for (uint32_t j = 0; !rc && j < job->rows; j++)
		if (job->het_job_id[j] && job->het_job_id[j] != SL_NONE && job->state[j] == SL_JOB_PENDING)
			key[n++] = (struct key) { job->het_job_id[j], j };
	if (!rc)
		check_sort_keys(key, n);
	for (uint32_t i = 0, next; !rc && i < n; i = next) {
		for (next = i; next < n && key[next].key == key[i].key; next++)
			;
		rc = check_het_job(c, key + i, next - i);
	}
	free(key);
	return rc;
}

/* -- reasons and actions ------------------------------------------------------ */

static int check_reason(struct check *c, uint32_t i)
{
	uint32_t id = c->plan->pending.job[i], j = check_find_job(c, id);

	if (j == SL_NONE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": stays pending, but is not in the snapshot", id);
	if (c->starts[j] >= (c->snap->job.array_pending[j] ? c->snap->job.array_pending[j] : 1))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is started and stays pending", id);
	return 0;
}

static int check_action(struct check *c, uint32_t i)
{
	const struct sl_plan_action_view *a = &c->plan->action;
	uint32_t j = check_find_job(c, a->job[i]);

	if (j != SL_NONE && a->stamp[i] == c->snap->job.stamp[j])
		return 0;
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is to be changed (%s), but %s", a->job[i],
		       sl_action_word(a->verb[i]), j == SL_NONE ? "is not in the snapshot" : "has another stamp there");
}

/* Check that reasons and actions refer to jobs of the snapshot, and reasons to jobs that are not started. */
static int check_words(struct check *c)
{
	const struct sl_plan_image *p = c->plan;

	for (uint32_t i = 0; i < p->pending.rows; i++)
		if (check_reason(c, i) < 0 && check_refuse_words(c, SL_P_PENDING, i, p->pending.job[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < p->action.rows; i++)
		if (check_action(c, i) < 0 && check_refuse_words(c, SL_P_ACTION, i, p->action.job[i]) < 0)
			return -1;
	return 0;
}

/* Check the sums on all nodes and of all licences.  A refused row no longer preempts; the running jobs that it would have
 * preempted hold their nodes for longer, so the remaining rows are checked again. */
static int check_held(struct check *c)
{
	bool preempts = c->preemptees || c->plan->stop.rows;
	uint32_t before;

	do {
		before = c->cuts ? c->cuts->count : 0;
		if (check_nodes(c) < 0 || check_licenses(c) < 0 || check_het_jobs(c) < 0 ||
		    (c->plan->stop.rows && check_needed(c) < 0))
			return -1;
	} while (preempts && c->cuts && c->cuts->count > before);
	return 0;
}

/* -- the whole plan ------------------------------------------------------------ */

static int check_all(struct check *c)
{
	const struct sl_plan_image *p = c->plan;

	if (p->meta.sequence[0] != c->snap->meta.sequence[0] || p->meta.now[0] != c->now)
		return sl_fail(c->err, SL_EINVAL, "the plan answers snapshot %" PRId64 " of %" PRId64 ", not %" PRId64
			       " of %" PRId64, p->meta.sequence[0], p->meta.now[0], c->snap->meta.sequence[0], c->now);
	c->row = calloc((size_t) p->start.rows + p->reserve.rows + 1, sizeof(*c->row));
	if (!c->row)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	if (check_block_order(c) < 0 || check_begin(c) < 0)
		return -1;
	read_rows(c);
	if (check_list_hets(c) < 0 || check_rows(c) < 0 || ((p->hold.rows || p->stop.rows) && check_stops(c) < 0) ||
	    ((c->snap->held.rows || p->hold.rows) && check_bill_holds(c) < 0) || check_throttles(c) < 0 || check_held(c) < 0)
		return -1;
	return p->shortage.rows && check_shortages(c) < 0 ? -1 : check_words(c);
}

static int check(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_cuts *cuts,
		 struct sl_error *err)
{
	struct sl_error said;
	struct check c = { .snap = snap, .plan = plan, .err = err ? err : &said, .now = snap->meta.now[0], .cuts = cuts,
			   .names_devices = check_names_devices(plan) };
	int rc = check_all(&c);

	if (!rc && cuts)
		check_find_waiting(&c);
	if (cuts)
		cuts->bookings += c.looked_at;
	check_end_all(&c);
	return rc;
}

int sl_check_plan(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_error *err)
{
	return check(snap, plan, NULL, err);
}

int sl_check_rows(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_cuts *cuts,
		  struct sl_error *err)
{
	return check(snap, plan, cuts, err);
}
