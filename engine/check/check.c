/* SPDX-License-Identifier: MIT */
/* check.c - checking the rows of a plan against the snapshot: job, nodes and times. */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/search.h"

/* -- lookups --------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return SL_ORDER(x->key, y->key) ?: SL_ORDER(x->row, y->row);
}

void check_sort_keys(struct key *keys, uint32_t count)
{
	qsort(keys, count, sizeof(*keys), by_key);
}

uint32_t check_find_key(const struct key *keys, uint32_t count, uint64_t key)
{
	uint32_t lo = SL_FIRST(i, 0, count, keys[i].key < key);

	return lo < count && keys[lo].key == key ? keys[lo].row : SL_NONE;
}

uint32_t check_find_job(const struct check *c, uint32_t id)
{
	return check_find_key(c->jobs, c->snap->job.rows, id);
}

bool check_in_runs(const struct check *c, struct sl_range list, uint32_t node)
{
	const struct sl_run_view *run = &c->snap->run;

	for (uint32_t i = list.first; i < list.first + list.count; i++)
		if (run->first[i] <= node && node <= run->last[i])
			return true;
	return false;
}

/* A byte per node: 1 if it is in the list. */
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

/* 1 + the cores of the reservation on the node according to the snapshot; 0: unknown. */
static uint32_t said_of(struct check *c, uint32_t resv, uint32_t node)
{
	struct sl_range parts = c->snap->reservation.parts[resv];

	if (!parts.count)
		return 0;
	if (!c->resv_parts[resv]) {
		c->resv_parts[resv] = calloc(c->snap->node.rows + 1, sizeof(uint32_t));
		for (uint32_t i = parts.first + parts.count; c->resv_parts[resv] && i-- > parts.first;)
			c->resv_parts[resv][c->snap->alloc.node[i]] = c->snap->alloc.cores[i] < UINT32_MAX ?
				c->snap->alloc.cores[i] + 1 : UINT32_MAX;
	}
	return c->resv_parts[resv] ? c->resv_parts[resv][node] : 0;
}

uint32_t check_resv_cores(struct check *c, uint32_t resv, uint32_t node)
{
	uint32_t cores = c->snap->reservation.cores[resv], others, said = said_of(c, resv, node);

	if (said)
		return said - 1 < c->snap->node.cores[node] ? said - 1 : c->snap->node.cores[node];
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

/* -- bills of what holds nodes --------------------------------------------- */

/* More than any node has, and small enough to be summed. */
#define MOST_MEMORY (INT64_C(1) << 42)

int check_add_bill(struct check *c, const struct bill *b)
{
	if (sl_grow(&c->bill, &c->room, c->bills + UINT64_C(1), sizeof(*c->bill), c->err))
		return -1;
	c->bill[c->bills] = *b;
	if (b->memory < 0)
		c->bill[c->bills].memory = 0;
	else if (b->memory > MOST_MEMORY)
		c->bill[c->bills].memory = MOST_MEMORY;
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
		int64_t until;

		if (!holds_nodes(c, j))
			continue;
		own = check_reservation(c, j);
		until = check_holds_until(c, j);
		for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++) {
			struct bill b = {
				.start = INT64_MIN, .end = check_end(c, j), .memory = s->alloc.memory[a],
				.kind = s->alloc_gres.kind + s->alloc.gres[a].first,
				.count = s->alloc_gres.count + s->alloc.gres[a].first,
				.of = s->alloc_gres.of + s->alloc.gres[a].first,
				.devices = s->alloc_gres.devices + s->alloc.gres[a].first,
				.kinds = s->alloc.gres[a].count, .node = s->alloc.node[a],
				.cores = idle ? 0 : check_core_spec(c, j) ? s->node.cores[s->alloc.node[a]] :
					s->alloc.cores[a], .job = j, .row = SL_NONE,
				.partition = s->job.partition[j], .resv = own,
			};

			if (until > c->held_until[b.node])
				c->held_until[b.node] = until;
			if (check_add_bill(c, &b) < 0)
				return -1;
		}
	}
	return 0;
}

/* Add an empty bill on each node of a partial reservation, so that the sweep stops when it begins and ends. */
static int mark_partial_reservations(struct check *c)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t r = 0; r < s->reservation.rows; r++) {
		if (!s->reservation.cores[r])
			continue;
		for (uint32_t n = 0; n < s->node.rows; n++) {
			struct bill b = { .start = s->reservation.start_time[r],
				.end = s->reservation.end_time[r], .node = n, .job = SL_NONE, .row = SL_NONE,
				.partition = SL_NONE, .resv = SL_NONE };
			int in = check_reserved(c, r, n);

			if (in < 0 || (in && check_add_bill(c, &b) < 0))
				return -1;
		}
	}
	return 0;
}

/* -- one row of the plan ------------------------------------------------- */

/* Check that the node is in the partition, usable, not another user's, and not reserved for others. */
int check_may_have(struct check *c, const struct row *r, uint32_t node)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_reservation_view *resv = &s->reservation;
	const char *name = check_str(c, s->node.name[node]);
	uint32_t state = s->node.state[node], own = r->resv;
	int in;

	if ((in = check_available(c, r, node)) <= 0)
		return in < 0 ? -1 : check_fail(c, r, "node %s is not in partition %s", name,
						check_str(c, s->partition.name[r->partition]));
	if (state & SL_NODE_UNUSABLE)
		return check_fail(c, r, "node %s is %s", name, state & SL_NODE_DOWN ? "down" : "drained");
	if (check_free_of_jobs(c, r, node) < 0)
		return -1;
	if (s->node.owner[node] != SL_NONE && s->node.owner[node] != s->job.uid[r->job]) {
		int64_t free = sl_sum_signed(c->now, SL_OVERDUE_S);

		if (c->held_until[node] > free)
			free = c->held_until[node];
		if (r->at < free)
			return check_fail(c, r, "node %s belongs to user %" PRIu32, name, s->node.owner[node]);
	}
	if (own != SL_NONE && !(resv->flags[own] & (SL_RESV_FLEX | SL_RESV_ANY_NODES)) && (in = check_reserved(c, own, node)) <= 0)
		return in < 0 ? -1 : check_fail(c, r, "node %s is not in reservation %s", name,
						check_str(c, resv->name[own]));
	for (uint32_t q = 0; q < resv->rows; q++) {
		bool passes = own != SL_NONE && ((resv->flags[own] & SL_RESV_MAINT) ||
			((resv->flags[own] & SL_RESV_OVERLAP) && !(resv->flags[q] & SL_RESV_MAINT)));

		if (q == own || passes || (resv->cores[q] && r->until == r->may_until) || resv->start_time[q] >= r->may_until ||
		    resv->end_time[q] <= r->at || resv->end_time[q] <= resv->start_time[q])
			continue;
		if ((in = check_reserved(c, q, node)) < 0)
			return -1;
		if (in)
			return check_fail(c, r, "node %s is reserved (%s) from %" PRId64 " to %" PRId64 ", the job has it from %"
					  PRId64 " to %" PRId64, name, check_str(c, resv->name[q]), resv->start_time[q],
					  resv->end_time[q], r->at, r->until);
	}
	return 0;
}

/* Check that no block which applies to the row keeps the node free during its booking. */
static int check_blocks(struct check *c, const struct row *r, uint32_t node)
{
	const struct sl_plan_block_view *b = &c->plan->block;
	const struct sl_plan_node_run_view *run = &c->plan->node_run;

	for (uint32_t k = 0; k < r->blocks && k < b->rows; k++) {
		uint32_t end = b->nodes[k].first + b->nodes[k].count, i;

		if (b->start_time[k] >= r->until || b->end_time[k] <= r->at)
			continue;
		i = SL_FIRST(at, b->nodes[k].first, end, run->last[at] < node);
		if (i < end && node >= run->first[i])
			return check_fail(c, r, "node %s is kept free from %" PRId64 " to %" PRId64 ", the job has it from %" PRId64
					  " to %" PRId64, check_str(c, c->snap->node.name[node]), b->start_time[k],
					  b->end_time[k], r->at, r->until);
	}
	return 0;
}

int check_block_order(struct check *c)
{
	const struct sl_plan_block_view *b = &c->plan->block;
	const struct sl_plan_node_run_view *run = &c->plan->node_run;

	for (uint32_t k = 0; k < b->rows; k++)
		for (uint32_t i = b->nodes[k].first; i < b->nodes[k].first + b->nodes[k].count; i++)
			if (run->first[i] > run->last[i] || (i > b->nodes[k].first && run->first[i] <= run->last[i - 1]))
				return sl_fail(c->err, SL_EINVAL, "block %" PRIu32 ": node row %" PRIu32 " comes twice or out of order", k,
					       run->first[i]);
	return 0;
}

/* Check the list of nodes: ascending, existing, with all required nodes and no excluded one. */
static int check_places(struct check *c, const struct row *r)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_plan_place_view *place = &c->plan->place;
	uint32_t last = SL_NONE, required = 0, wanted = 0;
	struct sl_range req = s->job.req_nodes[r->job], exc = s->job.exc_nodes[r->job];

	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		uint32_t node = place->node[i];

		if (node >= s->node.rows)
			return check_fail(c, r, "there is no node row %" PRIu32, node);
		if (last != SL_NONE && node <= last)
			return check_fail(c, r, "node %s comes twice or out of order", check_str(c, s->node.name[node]));
		last = node;
		if (check_in_runs(c, exc, node))
			return check_fail(c, r, "node %s is excluded", check_str(c, s->node.name[node]));
		required += check_in_runs(c, req, node);
		if (check_may_have(c, r, node) < 0 || check_blocks(c, r, node) < 0)
			return -1;
	}
	for (uint32_t n = 0; req.count && n < s->node.rows; n++)
		wanted += check_in_runs(c, req, n);
	if (required < wanted && !r->native)
		return check_fail(c, r, "has %" PRIu32 " of the %" PRIu32 " nodes it requires", required, wanted);
	return 0;
}

/* The longest boot time of its nodes. */
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

/* Check when it starts and how long it may run. */
static int check_times(struct check *c, struct row *r, const struct ask *a)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_reservation_view *resv = &s->reservation;
	uint32_t own = r->resv;
	int64_t limit = r->shortened ? r->shortened : a->time_limit, expected = r->expected, end;

	if (r->at < c->now || r->at < s->job.begin_time[r->job])
		return check_fail(c, r, "starts at %" PRId64 ", before %s %" PRId64, r->at,
				  r->at < c->now ? "the present," : "its begin time,",
				  r->at < c->now ? c->now : s->job.begin_time[r->job]);
	if (limit > a->time_limit || limit < a->time_floor || limit < 0)
		return check_fail(c, r, "gets %" PRId64 " s, may get %" PRId64 " to %" PRId64 " s", limit, a->time_floor,
				  a->time_limit);
	end = sl_sum_signed(r->at, limit);
	if (s->job.deadline[r->job] && end > s->job.deadline[r->job])
		return check_fail(c, r, "would end at %" PRId64 ", after its deadline %" PRId64, end,
				  s->job.deadline[r->job]);
	if (own != SL_NONE && !(resv->flags[own] & SL_RESV_FLEX)) {
		if (r->at < resv->start_time[own] || r->at >= resv->end_time[own])
			return check_fail(c, r, "starts at %" PRId64 ", reservation %s is from %" PRId64 " to %" PRId64,
					  r->at, check_str(c, resv->name[own]), resv->start_time[own], resv->end_time[own]);
		if (end > resv->end_time[own])
			end = resv->end_time[own];
	}
	r->boots = own == SL_NONE ? find_boots(c, r) : 0;
	end = sl_sum_signed(end, r->boots);
	r->until = r->may_until = end;
	if (!expected)
		return 0;
	if (expected < 0 || expected >= limit || own != SL_NONE || s->job.licenses[r->job].count)
		return check_fail(c, r, "is booked for %" PRId64 " s of its %" PRId64 ": expected less than those, and neither licences "
				  "nor a reservation", expected, limit);
	r->until = sl_sum_signed(sl_sum_signed(r->at, r->boots), expected);
	return 0;
}

static int bill_row(struct check *c, struct row *r)
{
	const struct sl_plan_image *p = c->plan;

	r->bills = (struct sl_range) { c->bills, 0 };
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
			.resv = r->resv, .row = (uint32_t) (r - c->row), .planned = true, .native = r->native,
		};

		for (uint32_t k = 0; k < b.kinds; k++)
			if (b.kind[k] >= c->snap->gres_kind.rows)
				return check_fail_at(c, r, b.node, "there is no gres kind %" PRIu32, b.kind[k]);
		if (check_add_bill(c, &b) < 0)
			return -1;
		r->bills.count++;
	}
	return 0;
}

bool check_is_way(const struct check *c, const struct row *r)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range ways;
	uint32_t q = check_find_key(c->queue, s->queue.rows, (uint64_t) r->job << 32 | r->partition);

	if (q == SL_NONE)
		return false;
	ways = s->queue.ways[q];
	for (uint32_t i = ways.first; i < ways.first + ways.count; i++)
		if (s->way.reservation[i] == r->way)
			return true;
	return false;
}

int check_row(struct check *c, struct row *r)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t own;
	struct ask a;

	if (r->partition >= s->partition.rows)
		return check_fail(c, r, "there is no partition row %" PRIu32, r->partition);
	if (check_find_key(c->queue, s->queue.rows, (uint64_t) r->job << 32 | r->partition) == SL_NONE)
		return check_fail(c, r, "is not queued in partition %s", check_str(c, s->partition.name[r->partition]));
	if (!(s->partition.flags[r->partition] & SL_PART_UP))
		return check_fail(c, r, "partition %s is down", check_str(c, s->partition.name[r->partition]));
	if (r->shape > s->job.shapes[r->job].count)
		return check_fail(c, r, "has %" PRIu32 " alternatives, not %" PRIu32, s->job.shapes[r->job].count, r->shape);
	if (r->shape && s->shape.refused[s->job.shapes[r->job].first + r->shape - 1])
		return check_fail(c, r, "its alternative %" PRIu32 " is refused", r->shape);
	if (r->way != SL_NONE && !check_is_way(c, r))
		return check_fail(c, r, "reservation row %" PRIu32 " is none of its ways", r->way);
	if (!r->start && s->job.flags[r->job] & SL_JOBF_NO_RESERVE)
		return check_fail(c, r, "no nodes are kept free for it");
	own = r->way != SL_NONE ? r->way : check_reservation(c, r->job);
	if (own == SL_NONE && *check_str(c, s->job.reservation[r->job]))
		return check_fail(c, r, "there is no reservation %s", check_str(c, s->job.reservation[r->job]));
	r->resv = own;
	check_ask(c, r->job, r->partition, r->shape, &a);
	if (check_times(c, r, &a) < 0 || check_loan(c, r) < 0 || check_places(c, r) < 0 ||
	    check_any_license(c, r) < 0 || bill_row(c, r) < 0)
		return -1;
	return check_layout(c, r, &a);
}

int check_run_row(struct check *c, struct row *r, const struct ask *a)
{
	return check_loan(c, r) < 0 || check_places(c, r) < 0 || bill_row(c, r) < 0 ? -1 : check_layout(c, r, a);
}

/* -- beginning and end --------------------------------------------------- */

static int index_snapshot(struct check *c)
{
	const struct sl_snapshot *s = c->snap;

	c->jobs = calloc(s->job.rows + 1, sizeof(*c->jobs));
	c->queue = calloc(s->queue.rows + 1, sizeof(*c->queue));
	c->member = calloc(s->partition.rows + 1, sizeof(*c->member));
	c->reserved = calloc(s->reservation.rows + 1, sizeof(*c->reserved));
	c->resv_nodes = calloc(s->reservation.rows + 1, sizeof(*c->resv_nodes));
	c->resv_parts = calloc(s->reservation.rows + 1, sizeof(*c->resv_parts));
	c->held_until = calloc(s->node.rows + 1, sizeof(*c->held_until));
	c->hung = calloc(s->node.rows + 1, sizeof(*c->hung));
	c->starts = calloc(s->job.rows + 1, sizeof(*c->starts));
	c->bookings = calloc(s->job.rows + 1, sizeof(*c->bookings));
	c->queued = calloc(s->job.rows + 1, sizeof(*c->queued));
	if (!c->jobs || !c->queue || !c->member || !c->reserved || !c->resv_nodes || !c->resv_parts || !c->held_until ||
	    !c->hung || !c->starts || !c->bookings || !c->queued)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	for (uint32_t j = 0; j < s->job.rows; j++)
		c->jobs[j] = (struct key) { s->job.id[j], j };
	check_sort_keys(c->jobs, s->job.rows);
	for (uint32_t i = 0; i < s->queue.rows; i++)
		c->queued[s->queue.job[i]] = true;
	for (uint32_t i = 0; i < s->queue.rows; i++)
		c->queue[i] = (struct key) { (uint64_t) s->queue.job[i] << 32 | s->queue.partition[i], i };
	check_sort_keys(c->queue, s->queue.rows);
	check_find_hung(c);
	return 0;
}

int check_begin(struct check *c)
{
	return index_snapshot(c) < 0 || check_preemptors(c) < 0 || bill_running(c) < 0 ? -1 : mark_partial_reservations(c);
}

void check_end_all(struct check *c)
{
	for (uint32_t p = 0; c->member && p < c->snap->partition.rows; p++)
		free(c->member[p]);
	for (uint32_t r = 0; c->reserved && r < c->snap->reservation.rows; r++)
		free(c->reserved[r]);
	for (uint32_t r = 0; c->resv_parts && r < c->snap->reservation.rows; r++)
		free(c->resv_parts[r]);
	free(c->resv_parts);
	free(c->jobs);
	free(c->queue);
	free(c->member);
	free(c->reserved);
	free(c->resv_nodes);
	free(c->held_until);
	check_end_preemptors(c);
	free(c->hung);
	free(c->starts);
	free(c->bookings);
	free(c->queued);
	free(c->bill);
	free(c->stop_of);
	free(c->stop_row);
	free(c->gang);
	free(c->circle);
	free(c->held_count);
	free(c->hold_count);
	free(c->row);
	free(c->het);
}
