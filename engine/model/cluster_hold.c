/* SPDX-License-Identifier: MIT */
/* cluster_hold.c - booking what jobs and reservations hold. */
#include "model/cluster_private.h"
#include "model/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* -- running jobs -------------------------------------------------------- */

/* True if the job was suspended with `scontrol suspend`, which sets its priority to 0. */
static bool sleeps(const struct sl_cluster *c, uint32_t j)
{
	return c->snap->job.state[j] == SL_JOB_SUSPENDED && !c->snap->job.priority[j];
}

bool cluster_shares(const struct sl_cluster *c, uint32_t j)
{
	return c->rows && cluster_sharing(c, j, c->snap->job.partition[j]) > 1 && !sleeps(c, j);
}

void cluster_hold_whole(const struct sl_cluster *c, uint32_t j, struct held *h)
{
	if (!sl_request_core_spec(c->snap, j))
		return;
	for (uint32_t i = 0; i < h->count; i++)
		h->place[i].cores = c->snap->node.cores[h->place[i].node];
}

void cluster_count_place(const struct sl_cluster *c, uint32_t j, const struct held *h, uint32_t i, bool shared,
			 struct sl_resources *r)
{
	const struct sl_place *place = &h->place[i];
	uint32_t p = c->snap->job.partition[j], cores = place->cores;

	*r = (struct sl_resources) { .memory = place->memory };
	if (!shared && cluster_shares(c, j)) {
		r->memory = 0;
		return;
	}
	memcpy(r->gres, place->gres, sizeof(r->gres));
	if (h->charged) {
		r->cores = (int32_t) cores;
		return;
	}
	if (sleeps(c, j))
		cores = 0;
	if (cores > SL_MAX_NODE_CORES)
		cores = SL_MAX_NODE_CORES;
	r->cores = (int32_t) cores;
	if (!(c->snap->meta.select_flags[0] & SL_SELECT_MEMORY) || r->memory < 0)
		r->memory = 0;
	if (p != SL_NONE && c->part[p].cap_kind != SL_NONE && cluster_sharing(c, j, p) == 1)
		r->gres[c->part[p].cap_kind] = cores < UINT16_MAX ? (uint16_t) cores : UINT16_MAX;
}

static bool is_nothing(const struct sl_resources *r)
{
	static const struct sl_resources none;

	return sl_resources_equal(r, &none);
}

static bool same_amounts(const struct sl_place *a, const struct sl_place *b)
{
	return a->cores == b->cores && a->memory == b->memory && !memcmp(a->gres, b->gres, sizeof(a->gres));
}

/* Collect neighbouring places with equal amounts, from place *i* on, in c->scratch; returns the next place. */
static uint32_t gather_alike(struct sl_cluster *c, uint32_t j, const struct held *h, uint32_t i, struct sl_resources *r,
			     struct sl_error *err)
{
	const struct sl_place *place = h->place;
	struct sl_resources next;

	sl_nodeset_clear(&c->scratch);
	cluster_count_place(c, j, h, i, false, r);
	do {
		uint32_t first = i;

		for (i++; i < h->count && place[i].node == place[i - 1].node + 1 && same_amounts(&place[i], &place[first]);)
			i++;
		if (sl_nodeset_add(&c->scratch, place[first].node, place[i - 1].node, err) < 0)
			return SL_NONE;
		if (i < h->count)
			cluster_count_place(c, j, h, i, false, &next);
	} while (i < h->count && sl_resources_equal(r, &next));
	return i;
}

static int append_booking(struct node_booking **list, uint32_t *count, const struct node_booking *b,
			  struct sl_error *err)
{
	if (sl_grow_list(list, *count, sizeof(**list), err))
		return -1;
	(*list)[(*count)++] = *b;
	return 0;
}

int cluster_book_available(struct sl_cluster *c, struct sl_timeline *tl, uint32_t node, const struct sl_resources *r,
			   int64_t t0, int64_t t1, struct node_booking **list, uint32_t *count, struct sl_error *err)
{
	for (int64_t t = t0 > c->now ? t0 : c->now, next; t < t1; t = next) {
		struct node_booking b = { .node = node, .r = *r, .t0 = t };
		struct sl_resources there;

		next = sl_timeline_next_on(tl, node, t);
		if (next > t1)
			next = t1;
		b.t1 = next;
		sl_timeline_unbooked(tl, node, t, next, &there);
		sl_resources_min(&b.r, &there);
		if (is_nothing(&b.r))
			continue;
		sl_nodeset_clear(&c->scratch);
		if (sl_nodeset_add(&c->scratch, node, node, err) < 0 ||
		    sl_timeline_book(tl, &c->scratch, &b.r, b.t0, b.t1, err) < 0 ||
		    (list && append_booking(list, count, &b, err) < 0))
			return -1;
	}
	return 0;
}

/* If a job's places are not entirely free, book what is.  This happens in inconsistent snapshots, and for jobs that were
 * resumed where others had started. */
static int hold_available(struct sl_cluster *c, uint32_t j, struct held *h, int64_t t0, int64_t t1,
			  struct sl_error *err)
{
	free(h->own_bookings);
	h->own_bookings = NULL;
	h->own_count = 0;
	h->clamped = true;
	for (uint32_t i = 0; i < h->count; i++) {
		struct sl_resources r;

		cluster_count_place(c, j, h, i, false, &r);
		if (cluster_book_available(c, c->tl, h->place[i].node, &r, t0, t1, &h->own_bookings, &h->own_count, err) < 0)
			return -1;
	}
	return 0;
}

/* Book all that a job holds, or nothing. */
int cluster_hold_strictly(struct sl_cluster *c, uint32_t j, struct held *h, int64_t t0, int64_t t1,
			  struct sl_error *err)
{
	uint32_t mark = sl_timeline_mark(c->tl), next;
	struct sl_resources r;

	for (uint32_t i = 0; i < h->count; i = next) {
		next = gather_alike(c, j, h, i, &r, err);
		if (next == SL_NONE || (!is_nothing(&r) && sl_timeline_book(c->tl, &c->scratch, &r, t0, t1, err) < 0)) {
			sl_timeline_rollback(c->tl, mark);
			return -1;
		}
	}
	sl_timeline_release(c->tl, mark);
	h->end = t1;
	h->clamped = false;
	return 0;
}

int cluster_hold(struct sl_cluster *c, uint32_t j, struct held *h, int64_t t0, int64_t t1, struct sl_error *err)
{
	struct sl_error why;

	if (!cluster_hold_strictly(c, j, h, t0, t1, &why))
		return 0;
	if (why.code != SL_EBUSY) {
		if (err)
			*err = why;
		return -1;
	}
	h->end = t1;
	return hold_available(c, j, h, t0, t1, err);
}

int cluster_unbook_on_node(struct sl_cluster *c, const struct node_booking *b, struct sl_error *err)
{
	sl_nodeset_clear(&c->scratch);
	if (b->t1 <= c->now)
		return 0;
	if (sl_nodeset_add(&c->scratch, b->node, b->node, err) < 0)
		return -1;
	return sl_timeline_unbook(c->tl, &c->scratch, &b->r, b->t0, b->t1, err);
}

/* Undo from now on what is booked for a job. */
int cluster_release(struct sl_cluster *c, uint32_t j, struct held *h, struct sl_error *err)
{
	struct sl_resources r;
	uint32_t next;

	if (h->end <= c->now)
		return 0;
	for (uint32_t i = 0; h->clamped && i < h->own_count; i++)
		if (cluster_unbook_on_node(c, &h->own_bookings[i], err) < 0)
			return -1;
	for (uint32_t i = 0; !h->clamped && i < h->count; i = next) {
		next = gather_alike(c, j, h, i, &r, err);
		if (next == SL_NONE || (!is_nothing(&r) && sl_timeline_unbook(c->tl, &c->scratch, &r, c->now, h->end, err) < 0))
			return -1;
	}
	return 0;
}

/* -- specials ------------------------------------------------------------ */

int cluster_change_block(struct sl_cluster *c, struct sl_timeline *tl, const struct block *b, bool place,
			 struct sl_error *err)
{
	sl_nodeset_clear(&c->scratch);
	if (b->t1 <= c->now)
		return 0;
	if (sl_nodeset_add(&c->scratch, b->node, b->node, err) < 0)
		return -1;
	if (place)
		return sl_timeline_block(tl, &c->scratch, b->t0, b->t1, err);
	return sl_timeline_unblock(tl, &c->scratch, b->t0, b->t1, err);
}

static int add_block(struct sl_cluster *c, struct block b, struct sl_error *err)
{
	b.t0 = c->now;
	if (sl_grow(&c->block, &c->blocks_room, c->blocks + UINT64_C(1), sizeof(*c->block), err))
		return -1;
	if (cluster_change_block(c, c->tl, &b, true, err) < 0)
		return -1;
	c->block[c->blocks++] = b;
	return 0;
}

/* Until when jobs run on each node; *shared*: only jobs that share cores. */
static void find_ends(const struct sl_cluster *c, bool shared, int64_t *until)
{
	for (uint32_t i = 0; i < c->snap->job.rows; i++) {
		const struct held *h = shared && !cluster_shares(c, i) ? NULL : c->held[i];

		for (uint32_t k = 0; h && k < h->count; k++)
			if (h->end > until[h->place[k].node])
				until[h->place[k].node] = h->end;
	}
}

/* Block the nodes of tenants for other jobs. */
static int block_tenants(struct sl_cluster *c, const uint32_t *rows, uint32_t count, struct sl_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct held *h = c->held[rows[i]];

		for (uint32_t k = 0; h->tenant && k < h->count; k++) {
			struct block b = { .node = h->place[k].node, .kind = BUT_TENANT, .who = h->tenant, .t1 = h->end };

			if (add_block(c, b, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Until when completing jobs are expected on each node; INT64_MIN: none. */
static void find_completing(const struct sl_cluster *c, int64_t *until)
{
	for (uint32_t i = 0; i < c->snap->job.rows; i++) {
		const struct held *h = c->snap->job.flags[i] & SL_JOBF_COMPLETING ? c->held[i] : NULL;

		for (uint32_t k = 0; h && k < h->count; k++)
			if (h->end > until[h->place[k].node])
				until[h->place[k].node] = h->end;
	}
}

/* Block nodes that are completing, being powered down or rebooted.  *jobs_end*: [node]. */
static int block_busy(struct sl_cluster *c, const int64_t *jobs_end, struct sl_error *err)
{
	const uint32_t *state = c->snap->node.state;
	int64_t *until = malloc((c->snap->node.rows + 1) * sizeof(*until));
	int64_t unknown = sl_later(c->now, c->snap->meta.kill_wait[0]);
	int rc = until ? 0 : sl_fail(err, SL_ENOMEM, "cluster: out of memory");

	for (uint32_t n = 0; !rc && n < c->snap->node.rows; n++)
		until[n] = INT64_MIN;
	if (!rc)
		find_completing(c, until);
	for (uint32_t n = 0; !rc && n < c->snap->node.rows; n++) {
		int64_t power = c->reboots ? cluster_powerless_until(c, n, jobs_end[n]) : INT64_MIN;

		if (state[n] & SL_NODE_COMPLETING)
			rc = add_block(c, (struct block) { n, FOR_ALL, .t1 = until[n] > INT64_MIN ? until[n] : unknown }, err);
		if (!rc && power > c->now)
			rc = add_block(c, (struct block) { n, FOR_ALL, .t1 = power }, err);
	}
	free(until);
	return rc;
}

/* Block nodes of one user, busy nodes, nodes with shared cores, and nodes of tenants. */
static int place_blocks(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	int64_t soon = sl_later(c->now, SL_OVERDUE_S), *until = malloc((s->node.rows + 1) * sizeof(*until));
	int rc = until ? 0 : sl_fail(err, SL_ENOMEM, "cluster: out of memory");

	for (uint32_t n = 0; !rc && n < s->node.rows; n++)
		until[n] = soon;
	if (!rc)
		find_ends(c, false, until);
	for (uint32_t n = 0; !rc && n < s->node.rows; n++)
		if (s->node.owner[n] != SL_NONE)
			rc = add_block(c, (struct block) { n, BUT_OWNER, s->node.owner[n], .t1 = until[n] }, err);
	if (!rc && c->has_busy)
		rc = block_busy(c, until, err);
	for (uint32_t n = 0; !rc && n < s->node.rows; n++)
		until[n] = c->now;
	if (!rc && c->rows)
		find_ends(c, true, until);
	for (uint32_t n = 0; !rc && n < s->node.rows; n++)
		if (until[n] > c->now)
			rc = add_block(c, (struct block) { n, BUT_SHARING, .t1 = until[n] }, err);
	free(until);
	if (rc || !c->tenants)
		return rc;
	return block_tenants(c, c->running, c->runs, err) < 0 ? -1 : block_tenants(c, c->lingering, c->lingers, err);
}

/* Cores of a node that a job of a reservation holds until its end. */
struct inside {
	uint32_t node;
	int32_t cores;
	int64_t end;
};

static int by_node_and_end(const void *x, const void *y)
{
	const struct inside *a = x, *b = y;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* A reservation whose cores are kept from others, and the timeline on which that is booked. */
struct keeping {
	uint32_t resv;
	struct sl_timeline *tl;
	bool shared;
	struct node_booking **list;
	uint32_t *count;
	struct inside *in;		/* held by its jobs; sorted by node, then end */
	uint32_t ins;
};

static int add_inside(const struct sl_cluster *c, struct keeping *k, const uint32_t *rows, uint32_t count, struct sl_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct held *h = c->held[rows[i]];

		for (uint32_t p = 0; h->resv == k->resv && h->end > c->now && p < h->count; p++) {
			struct sl_resources r;

			cluster_count_place(c, rows[i], h, p, k->shared, &r);
			if (sl_grow_list(&k->in, k->ins, sizeof(*k->in), err))
				return -1;
			k->in[k->ins++] = (struct inside) { h->place[p].node, r.cores, h->end };
		}
	}
	return 0;
}

/* Keep the node's cores that the reservation's jobs do not hold.  The cores of these jobs are booked for them, wherever
 * they are, and perhaps for longer than the reservation lasts.  *at: index in *in* of the first of its jobs on that node. */
static int keep_on_node(struct sl_cluster *c, const struct keeping *k, uint32_t node, uint32_t at, struct sl_error *err)
{
	int32_t all = (int32_t) (cluster_resv_cores(c, k->resv, node) * (k->shared ? c->rows[node] : 1)), used = 0;
	int64_t from = c->snap->reservation.start_time[k->resv], end = c->snap->reservation.end_time[k->resv];
	uint32_t last = at;

	for (; last < k->ins && k->in[last].node == node; last++)
		used += k->in[last].cores;
	for (; from < end; used -= k->in[at++].cores) {
		struct sl_resources rest = { .cores = all > used ? all - used : 0 };
		int64_t until = at < last && k->in[at].end < end ? k->in[at].end : end;

		if (until > from && cluster_book_available(c, k->tl, node, &rest, from, until, k->list, k->count, err) < 0)
			return -1;
		from = until > from ? until : from;
		if (at == last)
			break;
	}
	return 0;
}

static int keep_nodes(struct sl_cluster *c, struct keeping *k, struct sl_error *err)
{
	const struct sl_nodeset *set = &c->resv_nodes[k->resv];
	uint32_t at = 0;

	if (add_inside(c, k, c->running, c->runs, err) < 0 || add_inside(c, k, c->lingering, c->lingers, err) < 0)
		return -1;
	if (k->ins)
		qsort(k->in, k->ins, sizeof(*k->in), by_node_and_end);
	for (uint32_t n = sl_nodeset_next(set, 0); n < SL_MAX_NODES; n = sl_nodeset_next(set, n + 1)) {
		while (at < k->ins && k->in[at].node < n)
			at++;
		if (keep_on_node(c, k, n, at, err) < 0)
			return -1;
	}
	return 0;
}

int cluster_keep_cores(struct sl_cluster *c, struct sl_timeline *tl, uint32_t own, bool shared,
		       struct node_booking **list, uint32_t *count, struct sl_error *err)
{
	int rc = 0;

	for (uint32_t r = 0; rc >= 0 && r < c->snap->reservation.rows; r++) {
		struct keeping k = { .resv = r, .tl = tl, .shared = shared, .list = list, .count = count };

		if (c->snap->reservation.cores[r] && r != own)
			rc = keep_nodes(c, &k, err);
		free(k.in);
	}
	return rc;
}

/* Undo cluster_specials_place(). */
int cluster_specials_lift(struct sl_cluster *c, struct sl_error *err)
{
	for (; c->blocks; c->blocks--)
		if (cluster_change_block(c, c->tl, &c->block[c->blocks - 1], false, err) < 0)
			return -1;
	for (; c->kepts; c->kepts--)
		if (cluster_unbook_on_node(c, &c->kept[c->kepts - 1], err) < 0)
			return -1;
	return 0;
}

int cluster_specials_place(struct sl_cluster *c, struct sl_error *err)
{
	if (!c->has_specials)
		return 0;
	if (c->has_partial) {
		/* cores cannot be booked under a block, so blocks are lifted meanwhile */
		c->kepts = 0;
		if (cluster_blocks(c, false, EVERYTHING, SL_NONE, err) < 0 ||
		    cluster_keep_cores(c, c->tl, SL_NONE, false, &c->kept, &c->kepts, err) < 0 ||
		    cluster_blocks(c, true, EVERYTHING, SL_NONE, err) < 0)
			return -1;
	}
	return place_blocks(c, err);
}
