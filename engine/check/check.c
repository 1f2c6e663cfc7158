/* SPDX-License-Identifier: MIT */
/*
 * check.c - the plan against the snapshot: rows, jobs, nodes and times.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/search.h"

/* -- looking things up --------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return SL_ORDER(x->key, y->key) ?: SL_ORDER(x->row, y->row);
}

static uint32_t find_key(const struct key *keys, uint32_t count, uint64_t key)
{
	uint32_t lo = SL_FIRST(i, 0, count, keys[i].key < key);

	return lo < count && keys[lo].key == key ? keys[lo].row : SL_NONE;
}

static bool in_runs(const struct check *c, struct sl_range list, uint32_t node)
{
	const struct sl_run_view *run = &c->snap->run;

	for (uint32_t i = list.first; i < list.first + list.count; i++)
		if (run->first[i] <= node && node <= run->last[i])
			return true;
	return false;
}

/* A byte for each node: 1 if the list has it. */
static uint8_t *node_map(const struct check *c, struct sl_range list)
{
	const struct sl_run_view *run = &c->snap->run;
	uint8_t *map = calloc(c->snap->node.rows + 1, 1);

	for (uint32_t i = list.first; map && i < list.first + list.count; i++)
		memset(map + run->first[i], 1, run->last[i] - run->first[i] + 1);
	return map;
}

static int map_test(struct check *c, uint8_t **map, struct sl_range list, uint32_t node)
{
	if (!*map && !(*map = node_map(c, list)))
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	return (*map)[node];
}

int check_member(struct check *c, uint32_t partition, uint32_t node)
{
	return map_test(c, &c->member[partition], c->snap->partition.nodes[partition], node);
}

int check_reserved(struct check *c, uint32_t resv, uint32_t node)
{
	return map_test(c, &c->reserved[resv], c->snap->reservation.nodes[resv], node);
}

uint32_t check_resv_cores(struct check *c, uint32_t resv, uint32_t node)
{
	uint32_t cores = c->snap->reservation.cores[resv], others;
	struct sl_range parts = c->snap->reservation.parts[resv];

	for (uint32_t i = parts.first; i < parts.first + parts.count && c->snap->alloc.node[i] <= node; i++)
		if (c->snap->alloc.node[i] == node)
			return c->snap->alloc.cores[i] < c->snap->node.cores[node] ? c->snap->alloc.cores[i] :
				c->snap->node.cores[node];
	if (!c->resv_nodes[resv])
		for (uint32_t n = 0; n < c->snap->node.rows; n++)
			c->resv_nodes[resv] += check_reserved(c, resv, n) > 0;
	others = c->resv_nodes[resv] - 1;
	cores = cores > others ? cores - others : 1;
	return cores < c->snap->node.cores[node] ? cores : c->snap->node.cores[node];
}

uint32_t check_sharing(const struct check *c, uint32_t job, uint32_t partition)
{
	uint32_t n = partition == SL_NONE ? 1 : c->snap->partition.oversubscribe[partition];

	if (n > 1 && ((c->snap->partition.flags[partition] & SL_PART_FORCE) ||
		      (c->snap->job.flags[job] & SL_JOBF_OVERSUBSCRIBE)))
		return n;
	return 1;
}

uint32_t check_reservation(const struct check *c, uint32_t job)
{
	const char *names = check_str(c, c->snap->job.reservation[job]);

	while (*names) {
		size_t n = strcspn(names, ",");

		for (uint32_t r = 0; r < c->snap->reservation.rows; r++) {
			const char *name = check_str(c, c->snap->reservation.name[r]);

			if (n && strlen(name) == n && !memcmp(name, names, n))
				return r;
		}
		names += n + (names[n] == ',');
	}
	return SL_NONE;
}

bool check_core_spec(const struct check *c, uint32_t job)
{
	return c->snap->job.core_spec[job] || (c->snap->job.asks[job] & SL_ASKS_SPEC_CORES);
}

/* -- what is held -------------------------------------------------------- */

/* More than any node has, and little enough to be added up. */
#define MOST_MEMORY (INT64_C(1) << 42)

static int add_bill(struct check *c, const struct bill *b)
{
	if (sl_grow(&c->bill, &c->room, c->bills + UINT64_C(1), sizeof(*c->bill), c->err))
		return -1;
	c->bill[c->bills] = *b;
	if (b->memory < 0)
		c->bill[c->bills].memory = 0;
	else if (b->memory > MOST_MEMORY)
		c->bill[c->bills].memory = MOST_MEMORY;
	if (b->start <= c->now && b->end > c->now) {
		c->in_use[b->node] += b->cores;
		c->jobs_there[b->node] += b->job != SL_NONE;
	}
	c->bills++;
	return 0;
}

static bool holds_nodes(const struct check *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;

	return job->state[j] == SL_JOB_RUNNING || job->state[j] == SL_JOB_SUSPENDED ||
		(job->flags[j] & SL_JOBF_COMPLETING);
}

static int bill_running(struct check *c)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t j = 0; j < s->job.rows; j++) {
		struct sl_range alloc = s->job.alloc[j];
		bool idle = s->job.state[j] == SL_JOB_SUSPENDED && !s->job.priority[j];
		uint32_t own;

		if (!holds_nodes(c, j))
			continue;
		own = check_reservation(c, j);
		for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++) {
			struct bill b = {
				.start = INT64_MIN, .end = check_holds_until(c, j), .memory = s->alloc.memory[a],
				.kind = s->alloc_gres.kind + s->alloc.gres[a].first,
				.count = s->alloc_gres.count + s->alloc.gres[a].first,
				.of = s->alloc_gres.of + s->alloc.gres[a].first,
				.devices = s->alloc_gres.devices + s->alloc.gres[a].first,
				.kinds = s->alloc.gres[a].count, .node = s->alloc.node[a],
				.cores = idle ? 0 : check_core_spec(c, j) ? s->node.cores[s->alloc.node[a]] :
					s->alloc.cores[a], .job = j,
				.partition = s->job.partition[j], .resv = own,
			};

			if (b.end > c->held_until[b.node])
				c->held_until[b.node] = b.end;
			if (add_bill(c, &b) < 0)
				return -1;
		}
	}
	return 0;
}

/* A bill of nothing on each node of a partial reservation, so that the sweep looks at the instants
 * at which it begins and ends. */
static int mark_partial_reservations(struct check *c)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t r = 0; r < s->reservation.rows; r++) {
		if (!s->reservation.cores[r])
			continue;
		for (uint32_t n = 0; n < s->node.rows; n++) {
			struct bill b = { .start = s->reservation.start_time[r],
				.end = s->reservation.end_time[r], .node = n, .job = SL_NONE,
				.partition = SL_NONE, .resv = SL_NONE };
			int in = check_reserved(c, r, n);

			if (in < 0 || (in && add_bill(c, &b) < 0))
				return -1;
		}
	}
	return 0;
}

/* -- one row of the plan ------------------------------------------------- */

/* May the job have this node from r->at to r->until: is it in the partition, usable, not another
 * user's, and reserved for nobody else? */
static int check_place(struct check *c, const struct row *r, uint32_t node)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_reservation_view *resv = &s->reservation;
	const char *name = check_str(c, s->node.name[node]);
	uint32_t id = s->job.id[r->job], state = s->node.state[node], own = r->resv;
	int in;

	if ((in = check_available(c, r, node)) <= 0)
		return in < 0 ? -1 : sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s is not in partition %s", id,
					     name, check_str(c, s->partition.name[r->partition]));
	if (state & SL_NODE_UNUSABLE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s is %s", id, name,
			       state & SL_NODE_DOWN ? "down" : "drained");
	if (check_free_of_jobs(c, r, node) < 0)
		return -1;
	if (s->node.owner[node] != SL_NONE && s->node.owner[node] != s->job.uid[r->job]) {
		int64_t free = check_later(c->now, SL_OVERDUE_S);

		if (c->held_until[node] > free)
			free = c->held_until[node];
		if (r->at < free)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s belongs to user %" PRIu32, id,
				       name, s->node.owner[node]);
	}
	if (own != SL_NONE && !(resv->flags[own] & (SL_RESV_FLEX | SL_RESV_ANY_NODES)) && (in = check_reserved(c, own, node)) <= 0)
		return in < 0 ? -1 : sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s is not in reservation %s",
					     id, name, check_str(c, resv->name[own]));
	for (uint32_t q = 0; q < resv->rows; q++) {
		bool passes = own != SL_NONE && ((resv->flags[own] & SL_RESV_MAINT) ||
			((resv->flags[own] & SL_RESV_OVERLAP) && !(resv->flags[q] & SL_RESV_MAINT)));

		if (q == own || passes || (resv->cores[q] && r->until == r->may_until) || resv->start_time[q] >= r->may_until ||
		    resv->end_time[q] <= r->at || resv->end_time[q] <= resv->start_time[q])
			continue;
		if ((in = check_reserved(c, q, node)) < 0)
			return -1;
		if (in)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s is reserved (%s) from %" PRId64
				       " to %" PRId64 ", the job has it from %" PRId64 " to %" PRId64, id, name,
				       check_str(c, resv->name[q]), resv->start_time[q], resv->end_time[q], r->at,
				       r->until);
	}
	return 0;
}

/* The places as a list of nodes: in rising order, on the machine, with all nodes that are required
 * and none that is excluded. */
static int check_places(struct check *c, const struct row *r)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_plan_place_view *place = &c->plan->place;
	uint32_t id = s->job.id[r->job], last = SL_NONE, required = 0, wanted = 0;
	struct sl_range req = s->job.req_nodes[r->job], exc = s->job.exc_nodes[r->job];

	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		uint32_t node = place->node[i];

		if (node >= s->node.rows)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": there is no node row %" PRIu32, id, node);
		if (last != SL_NONE && node <= last)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s comes twice or out of order", id,
				       check_str(c, s->node.name[node]));
		last = node;
		if (in_runs(c, exc, node))
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s is excluded", id,
				       check_str(c, s->node.name[node]));
		required += in_runs(c, req, node);
		if (check_place(c, r, node) < 0)
			return -1;
	}
	for (uint32_t n = 0; req.count && n < s->node.rows; n++)
		wanted += in_runs(c, req, n);
	if (required < wanted && !r->native)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " of the %" PRIu32
			       " nodes it requires", id, required, wanted);
	return 0;
}

/* How long the last of its nodes boots. */
static int64_t find_boots(const struct check *c, const struct row *r)
{
	int64_t longest = 0;

	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		uint32_t node = c->plan->place.node[i];
		int64_t boots = node < c->snap->node.rows ? check_boots(c, node, r->at) : 0;

		longest = boots > longest ? boots : longest;
	}
	return longest;
}

/* When it starts and how long it may run. */
static int check_times(struct check *c, struct row *r, const struct ask *a, int64_t shortened, int64_t expected)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_reservation_view *resv = &s->reservation;
	uint32_t id = s->job.id[r->job], own = r->resv;
	int64_t limit = shortened ? shortened : a->time_limit, end;

	if (r->at < c->now || r->at < s->job.begin_time[r->job])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": starts at %" PRId64 ", before %s %" PRId64, id,
			       r->at, r->at < c->now ? "the present," : "its begin time,",
			       r->at < c->now ? c->now : s->job.begin_time[r->job]);
	if (limit > a->time_limit || limit < a->time_floor || limit < 0)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": gets %" PRId64 " s, may get %" PRId64 " to %"
			       PRId64 " s", id, limit, a->time_floor, a->time_limit);
	end = check_later(r->at, limit);
	if (s->job.deadline[r->job] && end > s->job.deadline[r->job])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": would end at %" PRId64 ", after its deadline %"
			       PRId64, id, end, s->job.deadline[r->job]);
	if (own != SL_NONE && !(resv->flags[own] & SL_RESV_FLEX)) {
		if (r->at < resv->start_time[own] || r->at >= resv->end_time[own])
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": starts at %" PRId64 ", reservation %s"
				       " is from %" PRId64 " to %" PRId64, id, r->at, check_str(c, resv->name[own]),
				       resv->start_time[own], resv->end_time[own]);
		if (end > resv->end_time[own])
			end = resv->end_time[own];
	}
	end = check_later(end, own == SL_NONE ? find_boots(c, r) : 0);
	r->until = r->may_until = end;
	if (!expected)
		return 0;
	if (expected < 0 || expected >= limit || own != SL_NONE || s->job.licenses[r->job].count)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is booked for %" PRId64 " s of its %" PRId64
			       ": expected less than those, and neither licences nor a reservation", id, expected, limit);
	r->until = check_later(check_later(r->at, find_boots(c, r)), expected);
	return 0;
}

static int bill_row(struct check *c, const struct row *r)
{
	const struct sl_plan_image *p = c->plan;

	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		struct bill b = {
			.start = r->at, .end = r->until, .memory = p->place.memory[i],
			.kind = p->place_gres.kind + p->place.gres[i].first,
			.count = p->place_gres.count + p->place.gres[i].first, .kinds = p->place.gres[i].count,
			.of = p->place_gres.of + p->place.gres[i].first,
			.devices = p->place_gres.devices + p->place.gres[i].first,
			.node = p->place.node[i], .job = r->job, .cores = check_core_spec(c, r->job) && !r->native ?
				c->snap->node.cores[p->place.node[i]] : p->place.cores[i],
			.partition = r->through == SL_NONE ? r->partition : r->through,
			.resv = r->resv, .planned = true, .native = r->native,
		};

		for (uint32_t k = 0; k < b.kinds; k++)
			if (b.kind[k] >= c->snap->gres_kind.rows)
				return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: there is no gres kind %"
					       PRIu32, c->snap->job.id[r->job],
					       check_str(c, c->snap->node.name[b.node]), b.kind[k]);
		if (add_bill(c, &b) < 0)
			return -1;
	}
	return 0;
}

/* May the job start in the reservation that the plan says? */
static bool is_way(const struct check *c, const struct row *r)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range ways;
	uint32_t q = find_key(c->queue, s->queue.rows, (uint64_t) r->job << 32 | r->partition);

	if (q == SL_NONE)
		return false;
	ways = s->queue.ways[q];
	for (uint32_t i = ways.first; i < ways.first + ways.count; i++)
		if (s->way.reservation[i] == r->way)
			return true;
	return false;
}

static int check_row(struct check *c, struct row *r, uint32_t id, int64_t shortened, int64_t expected)
{
	const struct sl_snapshot *s = c->snap;
	struct ask a;
	uint32_t own;

	if (r->partition >= s->partition.rows)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": there is no partition row %" PRIu32, id,
			       r->partition);
	if (find_key(c->queue, s->queue.rows, (uint64_t) r->job << 32 | r->partition) == SL_NONE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is not queued in partition %s", id,
			       check_str(c, s->partition.name[r->partition]));
	if (!(s->partition.flags[r->partition] & SL_PART_UP))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": partition %s is down", id,
			       check_str(c, s->partition.name[r->partition]));
	if (r->shape > s->job.shapes[r->job].count)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " alternatives, not %" PRIu32, id,
			       s->job.shapes[r->job].count, r->shape);
	if (r->shape && s->shape.refused[s->job.shapes[r->job].first + r->shape - 1])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": its alternative %" PRIu32 " is refused", id, r->shape);
	if (r->way != SL_NONE && !is_way(c, r))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": reservation row %" PRIu32 " is none of its ways", id,
			       r->way);
	own = r->way != SL_NONE ? r->way : check_reservation(c, r->job);
	if (own == SL_NONE && *check_str(c, s->job.reservation[r->job]))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": there is no reservation %s", id,
			       check_str(c, s->job.reservation[r->job]));
	r->resv = own;
	check_ask(c, r->job, r->partition, r->shape, &a);
	if (check_times(c, r, &a, shortened, expected) < 0 || check_loan(c, r) < 0 || check_places(c, r) < 0 ||
	    check_any_license(c, r) < 0 || bill_row(c, r) < 0)
		return -1;
	return check_layout(c, r, &a);
}

/* -- the whole plan ------------------------------------------------------ */

static uint32_t find_job(const struct check *c, uint32_t id)
{
	return find_key(c->jobs, c->snap->job.rows, id);
}

/* How often a job may stand in a plan. */
static int count_row(struct check *c, uint32_t j, bool start)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t tasks = job->array_pending[j] ? job->array_pending[j] : 1;

	c->bookings[j]++;
	c->starts[j] += start;
	if (c->bookings[j] - c->starts[j] > 1)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is reserved twice", job->id[j]);
	if (c->bookings[j] > tasks)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is planned %" PRIu32 " times, it stands for %"
			       PRIu32 " task%s", job->id[j], c->bookings[j], tasks, tasks == 1 ? "" : "s");
	return 0;
}

static int check_start(struct check *c, uint32_t i, struct row *r)
{
	const struct sl_plan_start_view *start = &c->plan->start;

	*r = (struct row) { .job = find_job(c, start->job[i]), .partition = start->partition[i],
		.shape = start->shape[i], .native = start->native[i], .way = start->reservation[i], .license = start->license[i], .start = true, .at = c->now,
		.places = start->places[i], .through = start->through[i], .lenders = start->lenders[i] };
	if (r->job == SL_NONE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is not in the snapshot", start->job[i]);
	if (start->stamp[i] != c->snap->job.stamp[r->job])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has stamp %" PRId64 ", in the snapshot %" PRId64,
			       start->job[i], start->stamp[i], c->snap->job.stamp[r->job]);
	if (count_row(c, r->job, true) < 0)
		return -1;
	return check_row(c, r, start->job[i], start->time_limit[i], start->expected[i]);
}

static int check_reserve(struct check *c, uint32_t i, struct row *r)
{
	const struct sl_plan_reserve_view *reserve = &c->plan->reserve;

	*r = (struct row) { .job = find_job(c, reserve->job[i]), .partition = reserve->partition[i],
		.shape = reserve->shape[i], .native = reserve->native[i], .way = reserve->reservation[i],
		.license = reserve->license[i], .at = reserve->start_time[i], .places = reserve->places[i], .through = reserve->through[i], .lenders = reserve->lenders[i] };
	if (r->job == SL_NONE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is not in the snapshot", reserve->job[i]);
	if (count_row(c, r->job, false) < 0)
		return -1;
	return check_row(c, r, reserve->job[i], reserve->time_limit[i], reserve->expected[i]);
}

/* Tasks of an array that run, and those that the plan starts. */
static int check_throttles(struct check *c)
{
	const struct sl_job_view *job = &c->snap->job;

	for (uint32_t j = 0; j < job->rows; j++) {
		uint32_t tasks = 0;

		if (!c->starts[j] || !job->array_max_running[j] || job->array_job_id[j] == SL_NONE)
			continue;
		for (uint32_t k = 0; k < job->rows; k++)
			if (job->array_job_id[k] == job->array_job_id[j])
				tasks += c->starts[k] + (job->state[k] == SL_JOB_RUNNING ||
							 job->state[k] == SL_JOB_SUSPENDED);
		if (tasks > job->array_max_running[j])
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": %" PRIu32 " tasks of array %" PRIu32
				       " would run, %" PRIu32 " may", job->id[j], tasks, job->array_job_id[j],
				       job->array_max_running[j]);
	}
	return 0;
}

/* Where a component of a heterogeneous job is started, so are all that wait. */
static int check_het_jobs(struct check *c)
{
	const struct sl_job_view *job = &c->snap->job;

	for (uint32_t j = 0; j < job->rows; j++) {
		uint32_t het = job->het_job_id[j];

		if (!c->starts[j] || het == SL_NONE || !het)
			continue;
		for (uint32_t k = 0; k < job->rows; k++)
			if (job->het_job_id[k] == het && job->state[k] == SL_JOB_PENDING && !c->starts[k])
				return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is started without job %" PRIu32
					       ", which is of the same heterogeneous job", job->id[j], job->id[k]);
	}
	return 0;
}

/* Reasons of jobs that stay pending, and orders: about jobs of the snapshot that are not started. */
static int check_unbooked(struct check *c)
{
	const struct sl_plan_image *p = c->plan;

	for (uint32_t i = 0; i < p->pending.rows; i++) {
		uint32_t j = find_job(c, p->pending.job[i]);

		if (j == SL_NONE)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": stays pending, but is not in the snapshot",
				       p->pending.job[i]);
		if (c->starts[j] >= (c->snap->job.array_pending[j] ? c->snap->job.array_pending[j] : 1))
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is started and stays pending",
				       p->pending.job[i]);
	}
	for (uint32_t i = 0; i < p->action.rows; i++) {
		uint32_t j = find_job(c, p->action.job[i]);

		if (j == SL_NONE || p->action.stamp[i] != c->snap->job.stamp[j])
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is to be changed (%s), but %s",
				       p->action.job[i], sl_action_word(p->action.verb[i]),
				       j == SL_NONE ? "is not in the snapshot" : "has another stamp there");
	}
	return 0;
}

static int index_snapshot(struct check *c)
{
	const struct sl_snapshot *s = c->snap;

	c->jobs = calloc(s->job.rows + 1, sizeof(*c->jobs));
	c->queue = calloc(s->queue.rows + 1, sizeof(*c->queue));
	c->member = calloc(s->partition.rows + 1, sizeof(*c->member));
	c->reserved = calloc(s->reservation.rows + 1, sizeof(*c->reserved));
	c->resv_nodes = calloc(s->reservation.rows + 1, sizeof(*c->resv_nodes));
	c->held_until = calloc(s->node.rows + 1, sizeof(*c->held_until));
	c->in_use = calloc(s->node.rows + 1, sizeof(*c->in_use));
	c->hung = calloc(s->node.rows + 1, sizeof(*c->hung));
	c->jobs_there = calloc(s->node.rows + 1, sizeof(*c->jobs_there));
	c->starts = calloc(s->job.rows + 1, sizeof(*c->starts));
	c->bookings = calloc(s->job.rows + 1, sizeof(*c->bookings));
	if (!c->jobs || !c->queue || !c->member || !c->reserved || !c->resv_nodes || !c->held_until || !c->in_use ||
	    !c->hung || !c->jobs_there || !c->starts || !c->bookings)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	for (uint32_t j = 0; j < s->job.rows; j++)
		c->jobs[j] = (struct key) { s->job.id[j], j };
	qsort(c->jobs, s->job.rows, sizeof(*c->jobs), by_key);
	for (uint32_t i = 0; i < s->queue.rows; i++)
		c->queue[i] = (struct key) { (uint64_t) s->queue.job[i] << 32 | s->queue.partition[i], i };
	qsort(c->queue, s->queue.rows, sizeof(*c->queue), by_key);
	check_find_hung(c);
	return 0;
}

static int check_all(struct check *c)
{
	const struct sl_plan_image *p = c->plan;
	uint32_t rows = 0;
	struct row *row;
	int rc = -1;

	if (p->meta.sequence[0] != c->snap->meta.sequence[0] || p->meta.now[0] != c->now)
		return sl_fail(c->err, SL_EINVAL, "the plan answers snapshot %" PRId64 " of %" PRId64 ", not %" PRId64
			       " of %" PRId64, p->meta.sequence[0], p->meta.now[0], c->snap->meta.sequence[0], c->now);
	row = calloc((size_t) p->start.rows + p->reserve.rows + 1, sizeof(*row));
	if (!row)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	if (index_snapshot(c) < 0 || check_preemptors(c) < 0 || bill_running(c) < 0 || mark_partial_reservations(c) < 0)
		goto done;
	for (uint32_t i = 0; i < p->start.rows; i++)
		if (check_start(c, i, &row[rows++]) < 0)
			goto done;
	for (uint32_t i = 0; i < p->reserve.rows; i++)
		if (check_reserve(c, i, &row[rows++]) < 0)
			goto done;
	if (check_throttles(c) < 0 || check_het_jobs(c) < 0 || check_unbooked(c) < 0 || check_nodes(c) < 0 || check_licenses(c, row, rows) < 0)
		goto done;
	rc = 0;
done:
	free(row);
	return rc;
}

static void free_check(struct check *c)
{
	for (uint32_t p = 0; c->member && p < c->snap->partition.rows; p++)
		free(c->member[p]);
	for (uint32_t r = 0; c->reserved && r < c->snap->reservation.rows; r++)
		free(c->reserved[r]);
	free(c->jobs);
	free(c->queue);
	free(c->member);
	free(c->reserved);
	free(c->resv_nodes);
	free(c->held_until);
	free(c->preemptor);
	free(c->in_use);
	free(c->hung);
	free(c->jobs_there);
	free(c->starts);
	free(c->bookings);
	free(c->bill);
}

int sl_check_plan(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_error *err)
{
	struct check c = { .snap = snap, .plan = plan, .err = err, .now = snap->meta.now[0],
			   .names_devices = check_names_devices(plan) };
	int rc = check_all(&c);

	free_check(&c);
	return rc;
}

/* -- a whole schedule ---------------------------------------------------- */

static bool asks_for_partition(const struct sl_snapshot *s, uint32_t job, uint32_t partition)
{
	struct sl_range list = s->job.partitions[job];

	for (uint32_t i = list.first; i < list.first + list.count; i++)
		if (s->job_partition.partition[i] == partition)
			return true;
	return !list.count && s->job.partition[job] == partition;
}

/* Did it run after its submission and begin time, within its limit, until its deadline? */
static int check_run_times(struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t id = job->id[r->job];

	if (r->at < job->submit_time[r->job] || r->at < job->begin_time[r->job])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": starts at %" PRId64 ", before %s %" PRId64, id,
			       r->at, r->at < job->submit_time[r->job] ? "its submission," : "its begin time,",
			       r->at < job->submit_time[r->job] ? job->submit_time[r->job] : job->begin_time[r->job]);
	if (r->until <= r->at || r->until - r->at > a->time_limit)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": runs for %" PRId64 " s, its limit is %" PRId64
			       " s", id, r->until - r->at, a->time_limit);
	if (job->deadline[r->job] && r->until > job->deadline[r->job])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": ends at %" PRId64 ", after its deadline %" PRId64,
			       id, r->until, job->deadline[r->job]);
	return 0;
}

static int check_run(struct check *c, uint32_t i, int64_t end, struct row *r)
{
	const struct sl_plan_reserve_view *reserve = &c->plan->reserve;
	uint32_t id = reserve->job[i];
	struct ask a;

	*r = (struct row) { .job = find_job(c, id), .partition = reserve->partition[i], .shape = reserve->shape[i],
		.native = reserve->native[i], .way = reserve->reservation[i], .license = SL_NONE, .at = reserve->start_time[i], .until = end, .may_until = end,
		.places = reserve->places[i], .through = reserve->through[i], .lenders = reserve->lenders[i] };
	if (r->job == SL_NONE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is not in the snapshot", id);
	if (r->partition >= c->snap->partition.rows || !asks_for_partition(c->snap, r->job, r->partition))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": ran in a partition that it did not ask for", id);
	if (count_row(c, r->job, false) < 0)
		return -1;
	r->resv = check_reservation(c, r->job);
	check_ask(c, r->job, r->partition, r->shape, &a);
	if (check_run_times(c, r, &a) < 0 || check_loan(c, r) < 0 || check_places(c, r) < 0 || bill_row(c, r) < 0)
		return -1;
	return check_layout(c, r, &a);
}

int sl_check_schedule(const struct sl_snapshot *snap, const struct sl_plan_image *schedule, const int64_t *end,
		      struct sl_error *err)
{
	struct check c = { .snap = snap, .plan = schedule, .err = err, .now = snap->meta.now[0],
			   .names_devices = check_names_devices(schedule) };
	uint32_t rows = schedule->reserve.rows;
	struct row *row = calloc((size_t) rows + 1, sizeof(*row));
	int rc = row ? index_snapshot(&c) : sl_fail(err, SL_ENOMEM, "check: out of memory");

	if (!rc && (bill_running(&c) < 0 || mark_partial_reservations(&c) < 0))
		rc = -1;
	for (uint32_t i = 0; !rc && i < rows; i++)
		rc = check_run(&c, i, end[i], &row[i]);
	if (!rc && (check_nodes(&c) < 0 || check_licenses(&c, row, rows) < 0))
		rc = -1;
	free(row);
	free_check(&c);
	return rc;
}
