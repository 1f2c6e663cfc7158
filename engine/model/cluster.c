/* SPDX-License-Identifier: MIT */
#include "model/cluster_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* -- creation -------------------------------------------------------------- */

static int allocate(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	size_t jobs = (size_t) s->job.rows + 1;

	c->part = calloc((size_t) s->partition.rows + 1, sizeof(*c->part));
	c->resv_nodes = calloc((size_t) s->reservation.rows + 1, sizeof(*c->resv_nodes));
	c->license = calloc((size_t) s->license.rows + 1, sizeof(*c->license));
	c->running = calloc(jobs, sizeof(*c->running));
	c->run_at = calloc(jobs, sizeof(*c->run_at));
	c->stage = calloc(jobs, sizeof(*c->stage));
	c->held = calloc(jobs, sizeof(*c->held));
	c->want = calloc(jobs, sizeof(*c->want));
	c->plan_starts = calloc(jobs, sizeof(*c->plan_starts));
	c->plan_notes = calloc(jobs, sizeof(*c->plan_notes));
	c->plan_queue = calloc(jobs, sizeof(*c->plan_queue));
	c->features = sl_features_create(c->snap, &c->effort, NULL);
	if (!c->features || !c->part || !c->resv_nodes || !c->license || !c->running || !c->run_at || !c->stage ||
	    !c->held || !c->want || !c->plan_starts || !c->plan_notes || !c->plan_queue)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	return 0;
}

struct sl_cluster *sl_cluster_create(const struct sl_snapshot *snap, struct sl_error *err)
{
	struct sl_cluster *c = calloc(1, sizeof(*c));

	if (!c) {
		sl_fail(err, SL_ENOMEM, "cluster: out of memory");
		return NULL;
	}
	c->snap = snap;
	c->now = snap->meta.now[0];
	c->shelf.most = SL_SHELF_BYTES;
	if (allocate(c, err) < 0 || cluster_build_tenants(c, err) < 0 || cluster_build_nodes(c, err) < 0 ||
	    cluster_build_running(c, err) < 0 || cluster_blocks(c, true, EVERYTHING, SL_NONE, err) < 0 || cluster_build_specials(c, err) < 0 ||
	    cluster_build_queue(c, err) < 0) {
		sl_cluster_destroy(c);
		return NULL;
	}
	return c;
}

static void free_held(struct held *h)
{
	if (!h)
		return;
	if (h->charged)
		free(h->place);
	free(h->own_bookings);
	free(h);
}

void sl_cluster_destroy(struct sl_cluster *c)
{
	if (!c)
		return;
	for (uint32_t p = 0; c->part && p < c->snap->partition.rows; p++) {
		sl_nodeset_free(&c->part[p].nodes);
		sl_nodeset_free(&c->part[p].usable);
	}
	for (uint32_t r = 0; c->resv_nodes && r < c->snap->reservation.rows; r++)
		sl_nodeset_free(&c->resv_nodes[r]);
	for (uint32_t i = 0; i < c->enclaves; i++)
		cluster_enclave_free(c->enclave[i]);
	for (uint32_t l = 0; c->license && l < c->snap->license.rows; l++)
		sl_tally_free(&c->license[l]);
	for (uint32_t j = 0; c->held && j < c->snap->job.rows; j++)
		free_held(c->held[j]);
	cluster_wants_free(c);
	cluster_confinements_free(c);
	sl_features_destroy(c->features);
	sl_usage_destroy(c->own_usage);
	sl_history_destroy(c->own_history);
	cluster_loans_free(c);
	sl_timeline_destroy(c->tl);
	sl_timeline_destroy(c->empty);
	cluster_tree_free(c);
	cluster_scoring_free(c);
	free(c->component);
	sl_nodeset_free(&c->unusable);
	sl_nodeset_free(&c->lost);
	sl_nodeset_free(&c->sleepers);
	sl_nodeset_free(&c->scratch);
	free(c->block);
	free(c->kept);
	free(c->part);
	free(c->resv_nodes);
	free(c->enclave);
	free(c->tenant);
	free(c->tenancy);
	free(c->license);
	free(c->running);
	free(c->run_at);
	free(c->stage);
	free(c->held);
	free(c->lingering);
	free(c->plan_starts);
	free(c->plan_notes);
	free(c->plan_queue);
	free(c->spare_plan);
	free(c->want);
	free(c->kind);
	free(c->kind_of);
	free(c->rows);
	free(c->alloc);
	free(c->queue);
	free(c->least);
	free(c);
}

/* -- queries --------------------------------------------------------------- */

const struct sl_snapshot *sl_cluster_snapshot(const struct sl_cluster *c)
{
	return c->snap;
}

int64_t sl_cluster_now(const struct sl_cluster *c)
{
	return c->now;
}

uint64_t sl_cluster_effort(const struct sl_cluster *c)
{
	return c->effort.spent;
}

void sl_cluster_stop_at(struct sl_cluster *c, const volatile sig_atomic_t *stop)
{
	c->effort.stop = stop;
}

void sl_cluster_set_origin(struct sl_cluster *c, int64_t origin)
{
	c->origin = origin;
}

int64_t sl_cluster_origin(const struct sl_cluster *c)
{
	return c->origin;
}

struct sl_timeline *sl_cluster_timeline(struct sl_cluster *c)
{
	return c->tl;
}

int64_t cluster_impatient_at(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t since = job->eligible_time[j] > job->submit_time[j] ? job->eligible_time[j] : job->submit_time[j];

	return job->switches[j] ? sl_later(since, job->switch_wait[j] > 0 ? job->switch_wait[j] : 0) : INT64_MIN;
}

int64_t sl_cluster_next_impatient(const struct sl_cluster *c)
{
	int64_t next = INT64_MAX;
	uint32_t count;
	const struct sl_entry *e = sl_cluster_queue(c, &count);

	for (uint32_t i = 0; i < count; i++) {
		int64_t t = cluster_impatient_at(c, e[i].job);

		if (t > c->now && t < next)
			next = t;
	}
	return next;
}

const struct sl_entry *sl_cluster_queue(const struct sl_cluster *c, uint32_t *count)
{
	*count = c->queued;
	return c->queue;
}

const uint32_t *sl_cluster_running(const struct sl_cluster *c, uint32_t *count)
{
	*count = c->runs;
	return c->running;
}

uint32_t sl_cluster_state(const struct sl_cluster *c, uint32_t job)
{
	if (c->stage[job] == STAGE_ENDED)
		return SL_JOB_COMPLETE;
	if (c->stage[job] == STAGE_RUNNING && c->snap->job.state[job] == SL_JOB_PENDING)
		return SL_JOB_RUNNING;
	return c->snap->job.state[job];
}

const struct sl_place *sl_cluster_places(const struct sl_cluster *c, uint32_t job, uint32_t *count)
{
	bool runs = job < c->snap->job.rows && c->stage[job] == STAGE_RUNNING;

	*count = runs ? c->held[job]->count : 0;
	return runs ? c->held[job]->place : NULL;
}

int64_t sl_cluster_end(const struct sl_cluster *c, uint32_t job)
{
	bool runs = job < c->snap->job.rows && c->stage[job] == STAGE_RUNNING;

	return runs ? c->held[job]->end : 0;
}

const struct sl_nodeset *sl_cluster_partition_nodes(const struct sl_cluster *c, uint32_t partition)
{
	return partition < c->snap->partition.rows ? &c->part[partition].nodes : NULL;
}

const struct sl_nodeset *sl_cluster_usable_nodes(const struct sl_cluster *c, uint32_t partition)
{
	return partition < c->snap->partition.rows ? &c->part[partition].usable : NULL;
}

void sl_cluster_free(const struct sl_cluster *c, uint32_t node, struct sl_resources *there)
{
	if (node < c->snap->node.rows)
		sl_timeline_free(c->tl, node, c->now, sl_later(c->now, 1), there);
	else
		memset(there, 0, sizeof(*there));
}

void sl_cluster_totals(const struct sl_cluster *c, struct sl_totals *t)
{
	struct sl_free_now f;

	sl_timeline_free_now(c->tl, &f);
	*t = (struct sl_totals) {
		.nodes = c->snap->node.rows,
		.usable_nodes = c->snap->node.rows - sl_nodeset_count(&c->unusable),
		.idle_nodes = f.idle_nodes, .cores = c->cores, .free_cores = f.cores,
		.queued = c->queued, .running = c->runs,
	};
	sl_timeline_free_gres(c->tl, t->free_gres);
}

static bool in_a_marked_partition(const struct sl_cluster *c, const uint8_t *marks, uint32_t node)
{
	for (uint32_t p = 0; p < c->snap->partition.rows; p++)
		if ((!marks || marks[p]) && sl_nodeset_contains(&c->part[p].nodes, node))
			return true;
	return false;
}

void sl_cluster_supply(const struct sl_cluster *c, const uint8_t *marks, struct sl_supply *supply)
{
	const struct sl_node_view *node = &c->snap->node;

	*supply = (struct sl_supply) { 0 };
	for (uint32_t n = 0; n < node->rows; n++) {
		struct sl_range gres = node->gres[n];

		if (sl_nodeset_contains(&c->unusable, n) || !in_a_marked_partition(c, marks, n))
			continue;
		supply->nodes++;
		supply->cores += node->cores[n];
		supply->cpus += (uint64_t) node->cores[n] * (node->threads[n] ? node->threads[n] : 1);
		supply->memory += node->memory[n] > 0 ? (uint64_t) node->memory[n] : 0;
		for (uint32_t g = gres.first; g < gres.first + gres.count; g++) {
			uint32_t kind = c->snap->node_gres.kind[g];

			if (kind >= SL_MAX_GRES || !c->snap->node_gres.count[g] || c->snap->node_gres.no_consume[g])
				continue;
			supply->gres[kind] += c->snap->node_gres.count[g];
			supply->gres_nodes[kind]++;
		}
	}
}

/* -- changes --------------------------------------------------------------- */

static void forget_enclaves(struct sl_cluster *c)
{
	for (uint32_t i = 0; i < c->enclaves; i++)
		c->enclave[i]->dirty = true;
}

/* Count the licences of a running job (sign 1), or undo that (-1). */
static int count_licenses(struct sl_cluster *c, uint32_t job, const struct held *h, int64_t t0, int64_t t1, int sign,
			  struct sl_error *err)
{
	return c->snap->job.flags[job] & SL_JOBF_COMPLETING ? 0 : cluster_count_licenses(c, h->licenses, t0, t1, sign, err);
}

/* The earliest *due* of all jobs that hold nodes. */
static int64_t find_first_end(const struct sl_cluster *c)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < c->runs; i++)
		if (c->held[c->running[i]]->due < first)
			first = c->held[c->running[i]]->due;
	for (uint32_t i = 0; i < c->lingers; i++)
		if (c->held[c->lingering[i]]->due < first)
			first = c->held[c->lingering[i]]->due;
	return first;
}

static int prolong_job(struct sl_cluster *c, uint32_t job, struct sl_error *err)
{
	struct held *h = c->held[job];
	int64_t end = h->due > c->now ? h->end : cluster_expect_end(c, job, h->due), booked = h->end;
	bool counts = c->stage[job] == STAGE_RUNNING;

	if (end == booked)
		return 0;
	if (cluster_release(c, job, h, err) < 0 ||
	    (counts && booked > c->now && count_licenses(c, job, h, c->now, booked, -1, err) < 0) ||
	    cluster_hold(c, job, h, c->now, end, err) < 0)
		return -1;
	return counts ? count_licenses(c, job, h, c->now, end, 1, err) : 0;
}

/* Jobs past their end still hold their nodes: book them for longer. */
static int prolong_overdue(struct sl_cluster *c, struct sl_error *err)
{
	if (c->now < c->first_end)
		return 0;
	c->first_end = find_first_end(c);	/* the former first job may have ended */
	if (c->now < c->first_end)
		return 0;
	if (cluster_blocks(c, false, EVERYTHING, SL_NONE, err) < 0)
		return -1;
	for (uint32_t i = 0; i < c->runs; i++)
		if (prolong_job(c, c->running[i], err) < 0)
			return -1;
	for (uint32_t i = 0; i < c->lingers; i++)
		if (prolong_job(c, c->lingering[i], err) < 0)
			return -1;
	c->first_end = find_first_end(c);
	return cluster_blocks(c, true, EVERYTHING, SL_NONE, err);
}

int sl_cluster_advance(struct sl_cluster *c, int64_t now, struct sl_error *err)
{
	if (now < c->now)
		return sl_fail(err, SL_EINVAL, "time %" PRId64 " is before %" PRId64, now, c->now);
	if (now == c->now)
		return 0;
	if (cluster_specials_lift(c, err) < 0 || sl_timeline_advance(c->tl, now, err) < 0)
		return -1;
	c->now = now;
	for (uint32_t l = 0; l < c->snap->license.rows; l++)
		sl_tally_advance(&c->license[l], now);
	forget_enclaves(c);
	if (prolong_overdue(c, err) < 0)
		return -1;
	return cluster_specials_place(c, err);
}

static int enqueue(struct sl_cluster *c, uint32_t job, uint32_t partition, struct sl_error *err)
{
	if (sl_grow(&c->queue, &c->queue_room, c->queued + UINT64_C(1), sizeof(*c->queue), err) ||
	    sl_grow(&c->least, &c->least_room, c->queued + UINT64_C(1), sizeof(*c->least), err))
		return -1;
	c->least[c->queued] = (struct least) { .kind = LEAST_NOT_ASKED };
	c->queue[c->queued++] = (struct sl_entry) { .job = job, .partition = partition };
	return 0;
}

int sl_cluster_submit(struct sl_cluster *c, uint32_t job, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t before = c->queued;
	struct sl_range parts;

	if (job >= s->job.rows)
		return sl_fail(err, SL_EINVAL, "submit: there is no job row %" PRIu32, job);
	if (c->stage[job] != STAGE_NONE && c->stage[job] != STAGE_ENDED)
		return sl_fail(err, SL_EINVAL, "submit: job %" PRIu32 " is %s already", s->job.id[job],
			       c->stage[job] == STAGE_QUEUED ? "queued" : "running");
	parts = s->job.partitions[job];
	if (!parts.count && s->job.partition[job] == SL_NONE)
		return sl_fail(err, SL_EINVAL, "submit: job %" PRIu32 " has no partition", s->job.id[job]);
	if (!parts.count && enqueue(c, job, s->job.partition[job], err) < 0)
		return -1;
	for (uint32_t i = parts.first; i < parts.first + parts.count; i++)
		if (enqueue(c, job, s->job_partition.partition[i], err) < 0) {
			c->queued = before;
			return -1;
		}
	c->stage[job] = STAGE_QUEUED;
	return 0;
}

/* Wants and loans depend on which nodes are up. */
static void forget_wants(struct sl_cluster *c)
{
	memset(c->least, 0, c->queued * sizeof(*c->least));
	cluster_wants_free(c);
	cluster_loans_free(c);
	c->loan = NULL;
	c->loans = 0;
}

int sl_cluster_set_down(struct sl_cluster *c, const struct sl_nodeset *down, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;

	if (cluster_specials_lift(c, err) < 0 || cluster_blocks(c, false, EVERYTHING, SL_NONE, err) < 0 ||
	    sl_nodeset_copy(&c->unusable, down, err) < 0)
		return -1;
	for (uint32_t p = 0; p < s->partition.rows; p++)
		if (sl_nodeset_copy(&c->part[p].usable, &c->part[p].nodes, err) < 0 ||
		    sl_nodeset_subtract(&c->part[p].usable, down, err) < 0)
			return -1;
	c->cores = 0;
	for (uint32_t n = 0; n < s->node.rows; n++)
		c->cores += sl_nodeset_contains(down, n) ? 0 : s->node.cores[n];
	forget_wants(c);
	forget_enclaves(c);
	return cluster_blocks(c, true, EVERYTHING, SL_NONE, err) < 0 ? -1 : cluster_specials_place(c, err);
}

void sl_cluster_sort(struct sl_cluster *c, int (*compare)(const void *, const void *, void *), void *arg)
{
	qsort_r(c->queue, c->queued, sizeof(*c->queue), compare, arg);
	memset(c->least, 0, c->queued * sizeof(*c->least));
}

static void dequeue(struct sl_cluster *c, uint32_t job)
{
	uint32_t to = 0;

	while (to < c->queued && c->queue[to].job != job)
		to++;
	for (uint32_t i = to; i < c->queued; i++)
		if (c->queue[i].job != job) {
			c->least[to] = c->least[i];
			c->queue[to++] = c->queue[i];
		}
	c->queued = to;
}

static struct held *make_held(struct sl_cluster *c, uint32_t job, const struct sl_place *places, uint32_t count,
			      struct sl_error *err)
{
	struct held *h = calloc(1, sizeof(*h));

	if (h)
		h->place = malloc(((size_t) count + 1) * sizeof(*h->place));
	if (!h || !h->place) {
		free(h);
		sl_fail(err, SL_ENOMEM, "cluster: out of memory");
		return NULL;
	}
	h->charged = true;
	h->count = count;
	h->resv = cluster_reservation(c, job);
	h->tenant = cluster_tenant(c, job, c->snap->job.partition[job]);
	memcpy(h->place, places, count * sizeof(*places));
	cluster_hold_whole(c, job, h);
	return h;
}

static int take_licenses(struct sl_cluster *c, uint32_t job, struct held *h, int64_t end, struct sl_error *err)
{
	const struct sl_license_view *lic = &c->snap->license;

	h->licenses = sl_cluster_choose_licenses(c, job, c->now, end < SL_FOREVER ? end - c->now : SL_FOREVER);
	for (uint32_t l = 0; l < lic->rows; l++) {
		uint32_t n = sl_cluster_licenses(c, h->licenses, l);

		if (n && !cluster_brings_licenses(c, h->resv) && n > sl_cluster_licenses_left(c, l, c->now, end))
			return sl_fail(err, SL_EBUSY, "start: job %" PRIu32 ": %" PRIu32 " of license %s are not free",
				       c->snap->job.id[job], n, cluster_str(c, lic->name[l]));
	}
	return count_licenses(c, job, h, c->now, end, 1, err);
}

/* Book the job on the main timeline.  Blocks that do not apply to it are lifted meanwhile. */
static int book_start(struct sl_cluster *c, uint32_t job, struct held *h, int64_t end, struct sl_error *err)
{
	bool inside = h->resv != SL_NONE;
	int rc;

	if (c->unbooked) {
		h->end = end;
		h->clamped = true;	/* nothing is booked */
		return 0;
	}
	if (inside && cluster_blocks(c, false, NOT_IN_THE_WAY, h->resv, err) < 0)
		return -1;
	rc = cluster_hold_strictly(c, job, h, c->now, end, err);
	if (inside && cluster_blocks(c, true, NOT_IN_THE_WAY, h->resv, rc < 0 ? NULL : err) < 0)
		return -1;
	return rc;
}

static void add_running(struct sl_cluster *c, uint32_t job, struct held *h)
{
	c->held[job] = h;
	c->run_at[job] = c->runs;
	c->running[c->runs++] = job;
}

static void remove_running(struct sl_cluster *c, uint32_t job)
{
	c->held[job] = NULL;
	c->running[c->run_at[job]] = c->running[--c->runs];
	c->run_at[c->running[c->run_at[job]]] = c->run_at[job];
}

int sl_cluster_start(struct sl_cluster *c, uint32_t job, const struct sl_place *places, uint32_t count, int64_t end,
		     struct sl_error *err)
{
	struct held *h;
	int rc;

	if (job >= c->snap->job.rows || c->stage[job] != STAGE_QUEUED)
		return sl_fail(err, SL_EINVAL, "start: job row %" PRIu32 " is not queued", job);
	if (end <= c->now)
		return sl_fail(err, SL_EINVAL, "start: job %" PRIu32 " would end at %" PRId64 ", it is %" PRId64,
			       c->snap->job.id[job], end, c->now);
	for (uint32_t i = 0; i < count; i++)
		if (places[i].node >= c->snap->node.rows)
			return sl_fail(err, SL_EINVAL, "start: there is no node row %" PRIu32, places[i].node);
	h = make_held(c, job, places, count, err);
	if (!h)
		return -1;
	rc = take_licenses(c, job, h, end, err);
	if (!rc && cluster_specials_lift(c, err) < 0)
		rc = -1;
	if (!rc) {
		rc = book_start(c, job, h, end, err);
		if (rc < 0)
			count_licenses(c, job, h, c->now, end, -1, NULL);
		else
			add_running(c, job, h);		/* specials depend on *held* */
		if (cluster_specials_place(c, rc < 0 ? NULL : err) < 0)
			rc = -1;
	}
	if (rc < 0) {
		if (c->held[job])
			remove_running(c, job);
		free_held(h);
		return -1;
	}
	h->start = c->now;
	h->due = end;
	if (end < c->first_end)
		c->first_end = end;
	dequeue(c, job);
	c->stage[job] = STAGE_RUNNING;
	forget_enclaves(c);
	return 0;
}

bool sl_cluster_unbook(struct sl_cluster *c)
{
	c->unbooked = !c->has_specials;
	return c->unbooked;
}

int sl_cluster_rebook(struct sl_cluster *c, struct sl_error *err)
{
	c->unbooked = false;
	for (uint32_t i = 0; i < c->runs; i++) {
		struct held *h = c->held[c->running[i]];

		if (h->clamped && !h->own_count && cluster_hold(c, c->running[i], h, c->now, h->end, err) < 0)
			return -1;
	}
	return 0;
}

int sl_cluster_finish(struct sl_cluster *c, uint32_t job, struct sl_error *err)
{
	struct held *h;

	if (job >= c->snap->job.rows || c->stage[job] != STAGE_RUNNING)
		return sl_fail(err, SL_EINVAL, "finish: job row %" PRIu32 " is not running", job);
	h = c->held[job];
	if (cluster_specials_lift(c, err) < 0 || cluster_release(c, job, h, err) < 0)
		return -1;
	if (count_licenses(c, job, h, c->now, h->end, -1, err) < 0)
		return -1;
	remove_running(c, job);
	c->stage[job] = STAGE_ENDED;
	free_held(h);
	cluster_want_free(c, job);	/* otherwise memory would grow with the number of simulated jobs */
	forget_enclaves(c);
	return cluster_specials_place(c, err);
}
