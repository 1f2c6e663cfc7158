/* SPDX-License-Identifier: MIT */
/*
 * pool_critical.c - the rule CRITICAL on a pool: what lua/policies/critical.lua does, function by function, and in doubles where that
 * has Lua's numbers: all integers in it are small enough.  Resources are the cores, memory if the node has some, and blocks.
 *
 * What a job takes of each is worked out once.
 */
#include "sim/pool_private.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"
#include "model/request.h"

#define WEEK (7 * 86400)
#define DEEPEST 3
#define RESOURCES 3			/* cores, memory, blocks */

/* What a job takes: of share[], the first *resources* of its machine count. */
struct pool_share {
	bool is_known;
	double share[RESOURCES], nodes, most, seconds, busy;
};

struct pool_critical {
	const struct pool_share *s;
	double load, size;
	bool critical;
	uint32_t at;			/* in the queue, and in p->row */
};

/* How long each resource is wanted: [0]; and its chains. */
struct load {
	double of[DEEPEST + 1];
};

void pool_free_critical(struct sl_pool *p)
{
	free(p->share_of);
	free(p->criticals);
	free(p->waits);
}

/* -- the machine -------------------------------------------------------------- */

bool pool_suits_critical(const struct sl_pool *p)
{
	struct sl_supply supply;

	sl_cluster_supply(p->c, NULL, &supply);
	for (unsigned i = 0; i < SL_MAX_GRES; i++)
		if (supply.gres[i])
			return false;
	return supply.nodes == 1;
}

static unsigned count_resources(const struct sl_supply *supply)
{
	return supply->memory ? 3 : 2;
}

/* -- what a job takes ---------------------------------------------------------- */

static double unless_none(uint32_t n)
{
	return n == SL_NONE ? 0 : n;
}

/* share_of() and nodes_of() of the policy. */
static void work_out_share(const struct sl_snapshot *snap, const struct sl_supply *supply, uint32_t job, struct pool_share *s)
{
	const struct sl_job_view *j = &snap->job;
	struct sl_ask a = sl_request_read(snap, job, 0);
	double cpus = (double) sl_ask_cpus(&a), min_nodes = j->min_nodes[job], node_cpus = (double) supply->cpus / (double) supply->nodes;
	double per_node = fmax(fmax(unless_none(j->ntasks_per_node[job]) * j->cpus_per_task[job], unless_none(j->pn_min_cpus[job])),
			       min_nodes > 1 ? cpus / min_nodes : 0);
	double memory, nodes = fmax(fmax(min_nodes, cpus / node_cpus), per_node > 0 ? cpus / per_node : 0);
	unsigned last = count_resources(supply) - 1;
	bool whole;

	memory = supply->memory ? (double) j->memory_per_node[job] * (double) supply->nodes / (double) supply->memory : 0;
	whole = (j->flags[job] & SL_JOBF_EXCLUSIVE) || per_node >= node_cpus || memory >= 1;
	s->nodes = nodes;
	for (unsigned i = 0; i < RESOURCES; i++)
		s->share[i] = whole ? nodes / (double) supply->nodes : 0;
	s->share[0] = fmax(s->share[0], cpus / (double) supply->cpus);
	s->share[last] = j->flags[job] & SL_JOBF_CONTIGUOUS ? nodes / (double) supply->nodes : 0;
	if (last > 1) {
		memory = (double) j->memory_per_node[job] * nodes;
		if (memory == 0)
			memory = (double) j->memory_per_cpu[job] * cpus;
		s->share[1] = fmax(s->share[1], memory / (double) supply->memory);
	}
}

/* A row of examine(). */
static const struct pool_share *share_of(struct sl_pool *p, const struct sl_supply *supply, uint32_t job)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(p->c);
	struct pool_share *s = &p->share_of[job];
	int64_t limit = snap->job.time_limit[job];

	if (s->is_known)
		return s;
	work_out_share(snap, supply, job, s);
	s->most = s->share[0];
	for (unsigned i = 1; i < count_resources(supply); i++)
		s->most = fmax(s->most, s->share[i]);
	s->seconds = limit == SL_UNLIMITED || limit > WEEK ? WEEK : (double) limit;
	s->busy = s->most <= 1 ? s->seconds * fmax(snap->job.array_pending[job], 1) : 0;
	s->is_known = true;
	return s;
}

/* -- the order ------------------------------------------------------------------- */

/* measure() of the rows that *waits*, if it is not NULL, says: those of which twice that is no less than *oldest*. */
static void measure(const struct pool_critical *row, uint32_t rows, unsigned resources, const double *waits, double oldest,
		    struct load *load)
{
	for (unsigned n = 0; n < resources; n++) {
		load[n] = (struct load) { { 0 } };
		for (uint32_t i = 0; i < rows; i++) {
			double share = row[i].s->share[n], busy = row[i].s->busy;

			if (waits && 2 * waits[i] < oldest)
				continue;
			load[n].of[0] += share * busy;
			for (int k = DEEPEST; k >= 1 && share * (k + 1) > 1; k--)
				load[n].of[k] += busy / k;
		}
	}
}

static double load_of(const struct pool_share *s, unsigned resources, const struct load *load)
{
	double most = s->seconds;

	for (unsigned n = 0; n < resources; n++) {
		if (n > 0 && s->share[n] > 0 && s->share[n] >= s->share[0])
			most = fmax(most, load[n].of[0]);
		for (int k = DEEPEST; k >= 1 && s->share[n] * (k + 1) > 1; k--)
			most = fmax(most, load[n].of[k]);
	}
	return most;
}

static int smallest_first(const void *va, const void *vb)
{
	const struct pool_critical *a = va, *b = vb;

	return SL_ORDER(a->size, b->size) ?: SL_ORDER(a->at, b->at);
}

static int critical_first(const void *va, const void *vb)
{
	const struct pool_critical *a = va, *b = vb;

	if (a->critical != b->critical)
		return a->critical ? -1 : 1;
	if (!a->critical)
		return smallest_first(a, b);
	return SL_ORDER(b->load, a->load) ?: SL_ORDER(b->s->nodes, a->s->nodes) ?: SL_ORDER(a->s->seconds, b->s->seconds) ?:
		SL_ORDER(a->at, b->at);
}

static void rank(struct pool_critical *row, uint32_t rows, unsigned resources, double threshold)
{
	struct load load[RESOURCES];

	measure(row, rows, resources, NULL, 0, load);
	for (uint32_t i = 0; i < rows; i++) {
		row[i].load = load_of(row[i].s, resources, load);
		row[i].critical = row[i].load >= threshold * load[0].of[0];
		row[i].size = row[i].s->most * row[i].s->seconds;
	}
	qsort(row, rows, sizeof(*row), critical_first);
}

/* -- who is overdue ---------------------------------------------------------------- */

static int by_value(const void *va, const void *vb)
{
	const double *a = va, *b = vb;

	return SL_ORDER(*a, *b);
}

/* long_wait(): the rows are in their order, which is that of the sums. */
static double long_wait(struct sl_pool *p, const struct sl_entry *entry, uint32_t rows, unsigned resources)
{
	const struct sl_job_view *job = &sl_cluster_snapshot(p->c)->job;
	int64_t now = sl_cluster_now(p->c);
	double oldest = 0, backlog = 0;
	struct load load[RESOURCES];

	for (uint32_t i = 0; i < rows; i++) {
		int64_t waited = now - job->submit_time[entry[p->criticals[i].at].job];

		p->waits[i] = waited > 0 ? (double) waited : 0;
		oldest = fmax(oldest, p->waits[i]);
	}
	measure(p->criticals, rows, resources, p->waits, oldest, load);
	for (unsigned n = 0; n < resources; n++)
		backlog = fmax(backlog, load[n].of[0]);
	qsort(p->waits, rows, sizeof(*p->waits), by_value);
	return fmax(1, ceil(p->critical.patience * (backlog + p->waits[(rows + 1) / 2 - 1])));
}

/* protect().  0, or -1 with *err. */
static int protect(struct sl_pool *p, const struct sl_entry *entry, uint32_t rows, unsigned resources, struct sl_error *err)
{
	const struct sl_critical_rule *c = &p->critical;
	const struct pool_guard guard = { c->guard_wait, c->guard_stretch, c->guard_jobs };
	struct pool_guard overdue = { .jobs = 1 };
	int reserved = pool_guard(p, entry, rows, &guard, err);

	if (reserved || c->patience == 0)
		return reserved < 0 ? -1 : 0;
	overdue.wait = long_wait(p, entry, rows, resources);
	return pool_guard(p, entry, rows, &overdue, err) < 0 ? -1 : 0;
}

/* -- who starts ------------------------------------------------------------------------ */

/* start_until_reserved(): how many rows are left, which are moved to the front; or -1 with *err. */
static int64_t start_until_reserved(struct sl_pool *p, const struct sl_entry *entry, uint32_t rows, struct sl_error *err)
{
	uint32_t left = 0;
	bool reserved = false;
	int rc;

	for (uint32_t i = 0; i < rows; i++) {
		struct pool_row *r = &p->row[p->criticals[i].at];

		if (!r->is_open)
			continue;
		if (reserved) {
			p->criticals[left++] = p->criticals[i];
			continue;
		}
		rc = pool_try_start(p, entry, r, err);
		if (!rc) {
			rc = pool_reserve_within(p, r, HUGE_VAL, err);
			reserved = true;
		}
		if (rc < 0)
			return -1;
	}
	return left;
}

/* A row for each entry of the queue.  0, or -1 with *err. */
static int make_rows(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, const struct sl_supply *supply,
		     struct sl_error *err)
{
	if (!p->share_of && !(p->share_of = calloc(sl_cluster_snapshot(p->c)->job.rows + 1u, sizeof(*p->share_of))))
		return sl_fail(err, SL_ENOMEM, "simulator: out of memory");
	if (sl_grow(&p->row, &p->row_room, queued, sizeof(*p->row), err) < 0 ||
	    sl_grow(&p->waits, &p->waits_room, queued, sizeof(*p->waits), err) < 0 ||
	    sl_grow(&p->criticals, &p->criticals_room, queued, sizeof(*p->criticals), err) < 0)
		return -1;
	for (uint32_t i = 0; i < queued; i++) {
		pool_read_row(p, entry, i, &p->row[i]);
		p->criticals[i] = (struct pool_critical) { .s = share_of(p, supply, entry[i].job), .at = i };
	}
	return 0;
}

int pool_decide_critical(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err)
{
	struct sl_supply supply;
	unsigned resources;
	int64_t left;

	p->refused = 0;
	if (!pool_has_room_for_one(p, queued))
		return 0;
	sl_cluster_supply(p->c, NULL, &supply);
	resources = count_resources(&supply);
	if (make_rows(p, entry, queued, &supply, err) < 0 || pool_lay_out_steps(p, err) < 0)
		return -1;
	rank(p->criticals, queued, resources, p->critical.threshold);
	if (protect(p, entry, queued, resources, err) < 0)
		return -1;
	left = start_until_reserved(p, entry, queued, err);
	if (left < 0)
		return -1;
	if (p->critical.fills_small)
		qsort(p->criticals, (size_t) left, sizeof(*p->criticals), smallest_first);
	for (uint32_t i = 0; i < left && p->free > 0; i++)
		if (pool_try_start(p, entry, &p->row[p->criticals[i].at], err) < 0)
			return -1;
	return 0;
}
