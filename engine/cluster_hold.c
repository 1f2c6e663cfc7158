/* SPDX-License-Identifier: MIT */
/*
 * cluster_hold.c - what jobs and reservations hold, booked in timelines.
 */
#include "cluster_private.h"

#include <stdlib.h>
#include <string.h>

/* -- running jobs -------------------------------------------------------- */

/* What a job's i-th place costs in timelines. */
void cluster_charge(const struct sl_cluster *c, uint32_t j, const struct held *h, uint32_t i, struct sl_resources *r)
{
	const struct sl_place *place = &h->place[i];
	uint32_t p = c->snap->job.partition[j], share = cluster_sharing(c, j, p), cores = place->cores;
	uint32_t fold = c->fold ? c->fold[place->node] : 1;

	*r = (struct sl_resources) { .memory = place->memory };
	memcpy(r->gres, place->gres, sizeof(r->gres));
	if (h->charged) {
		r->cores = (int32_t) cores;
		return;
	}
	/* `scontrol suspend` sets the priority to 0. */
	if (c->snap->job.state[j] == SL_JOB_SUSPENDED && !c->snap->job.priority[j])
		cores = 0;
	if (cores > SL_MAX_NODE_CORES)
		cores = SL_MAX_NODE_CORES;
	r->cores = (int32_t) (((uint64_t) cores * fold + share - 1) / share);
	if (!(c->snap->meta.select_flags[0] & SL_SELECT_MEMORY) || r->memory < 0)
		r->memory = 0;
	if (c->part[p].cap_kind != SL_NONE && share == 1)
		r->gres[c->part[p].cap_kind] = cores < UINT16_MAX ? (uint16_t) cores : UINT16_MAX;
}

/* A booking in pieces: all of it; or, on main, for jobs in a partial reservation,
 * the cores only outside its time, within which they are covered by its own. */
struct piece {
	struct sl_resources r;
	int64_t t0, t1;
};

static uint32_t cut(const struct sl_cluster *c, uint32_t resv, const struct sl_resources *r, int64_t t0, int64_t t1,
		    struct piece piece[3])
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	struct sl_resources cores = { .cores = r->cores };
	uint32_t n = 0;

	piece[n++] = (struct piece) { *r, t0, t1 };
	if (resv == SL_NONE || !v->cores[resv] || v->end_time[resv] <= t0 || v->start_time[resv] >= t1)
		return n;
	piece[0].r.cores = 0;
	if (v->start_time[resv] > t0)
		piece[n++] = (struct piece) { cores, t0, v->start_time[resv] };
	if (v->end_time[resv] < t1)
		piece[n++] = (struct piece) { cores, v->end_time[resv], t1 };
	return n;
}

static bool nothing(const struct sl_resources *r)
{
	static const struct sl_resources none;

	return sl_resources_equal(r, &none);
}

static int book_pieces(struct sl_cluster *c, const struct sl_nodeset *nodes, uint32_t resv,
		       const struct sl_resources *r, int64_t t0, int64_t t1, bool undo, struct sl_error *err)
{
	struct piece piece[3];
	uint32_t n = cut(c, resv, r, t0, t1, piece);

	for (uint32_t i = 0; i < n; i++) {
		int rc;

		if (nothing(&piece[i].r))
			continue;
		if (undo)
			rc = sl_timeline_unbook(c->tl, nodes, &piece[i].r, piece[i].t0, piece[i].t1, err);
		else
			rc = sl_timeline_book(c->tl, nodes, &piece[i].r, piece[i].t0, piece[i].t1, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* What is booked for a place: all that it costs, or what there was of that. */
static void booked(const struct sl_cluster *c, uint32_t j, const struct held *h, uint32_t i, struct sl_resources *r)
{
	if (h->clamped)
		*r = h->clamped[i];
	else
		cluster_charge(c, j, h, i, r);
}

/* Neighbouring places that cost the same, from *i on; returns where they end. */
static uint32_t alike(struct sl_cluster *c, uint32_t j, const struct held *h, uint32_t i, struct sl_resources *r,
		      struct sl_error *err)
{
	struct sl_resources next;

	sl_nodeset_clear(&c->scratch);
	booked(c, j, h, i, r);
	do {
		if (sl_nodeset_add(&c->scratch, h->place[i].node, h->place[i].node, err) < 0)
			return SL_NONE;
		if (++i < h->count)
			booked(c, j, h, i, &next);
	} while (i < h->count && sl_resources_equal(r, &next));
	return i;
}

/* Places that are not all free: book what there is.  Only a snapshot that
 * contradicts itself, or shares cores in a way that is not modelled, has them. */
static int hold_clamped(struct sl_cluster *c, uint32_t j, struct held *h, int64_t t0, int64_t t1, struct sl_error *err)
{
	struct sl_resources *clamped = calloc((size_t) h->count + 1, sizeof(*clamped)), free_there;

	if (!clamped)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	free(h->clamped);
	h->clamped = NULL;
	for (uint32_t i = 0; i < h->count; i++) {
		uint32_t node = h->place[i].node;

		cluster_charge(c, j, h, i, &clamped[i]);
		sl_timeline_unbooked(c->tl, node, t0, t1, &free_there);
		sl_resources_min(&clamped[i], &free_there);
		sl_nodeset_clear(&c->scratch);
		if (sl_nodeset_add(&c->scratch, node, node, err) < 0 ||
		    book_pieces(c, &c->scratch, h->resv, &clamped[i], t0, t1, false, err) < 0) {
			free(clamped);
			return -1;
		}
	}
	h->clamped = clamped;
	return 0;
}

/* Book all that a job holds; wholly or not at all. */
int cluster_hold_strictly(struct sl_cluster *c, uint32_t j, struct held *h, int64_t t0, int64_t t1,
			  struct sl_error *err)
{
	uint32_t mark = sl_timeline_mark(c->tl), next;
	struct sl_resources r;

	for (uint32_t i = 0; i < h->count; i = next) {
		next = alike(c, j, h, i, &r, err);
		if (next == SL_NONE || book_pieces(c, &c->scratch, h->resv, &r, t0, t1, false, err) < 0) {
			sl_timeline_rollback(c->tl, mark);
			return -1;
		}
	}
	sl_timeline_release(c->tl, mark);
	h->end = t1;
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
	return hold_clamped(c, j, h, t0, t1, err);
}

/* Give back from now on what is booked for a job. */
int cluster_release(struct sl_cluster *c, uint32_t j, struct held *h, struct sl_error *err)
{
	struct sl_resources r;
	uint32_t next;

	for (uint32_t i = 0; h->end > c->now && i < h->count; i = next) {
		next = alike(c, j, h, i, &r, err);
		if (next == SL_NONE || book_pieces(c, &c->scratch, h->resv, &r, c->now, h->end, true, err) < 0)
			return -1;
	}
	return 0;
}

/* -- specials ------------------------------------------------------------ */

static struct special *add_special(struct sl_cluster *c, int64_t t0, int64_t t1, struct sl_error *err)
{
	if (c->specials == c->specials_room) {
		uint32_t room = c->specials_room ? c->specials_room * 2 : 16;
		struct special *p = realloc(c->special, room * sizeof(*p));

		if (!p) {
			sl_fail(err, SL_ENOMEM, "cluster: out of memory");
			return NULL;
		}
		memset(p + c->specials_room, 0, (room - c->specials_room) * sizeof(*p));
		c->special = p;
		c->specials_room = room;
	}
	c->special[c->specials].t0 = t0;
	c->special[c->specials].t1 = t1;
	memset(&c->special[c->specials].each, 0, sizeof(c->special[c->specials].each));
	sl_nodeset_clear(&c->special[c->specials].nodes);
	return &c->special[c->specials];
}

/* Nodes first..last to *sp, carried out and remembered. */
static int place_special(struct sl_cluster *c, struct special *sp, uint32_t node, struct sl_error *err)
{
	int rc = sl_nodeset_add(&sp->nodes, node, node, err);

	if (!rc && sp->each.cores)
		rc = sl_timeline_book(c->tl, &sp->nodes, &sp->each, sp->t0, sp->t1, err);
	else if (!rc)
		rc = sl_timeline_block(c->tl, &sp->nodes, sp->t0, sp->t1, err);
	if (!rc)
		c->specials++;
	return rc;
}

/* Until when jobs run on a node. */
static void find_ends(const struct sl_cluster *c, int64_t *until)
{
	for (uint32_t i = 0; i < c->snap->job.rows; i++) {
		const struct held *h = c->held[i];

		for (uint32_t k = 0; h && k < h->count; k++)
			if (h->end > until[h->place[k].node])
				until[h->place[k].node] = h->end;
	}
}

static int place_blocks(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	int64_t soon = cluster_later(c->now, SL_OVERDUE_S), *until = malloc((s->node.rows + 1) * sizeof(*until));
	int rc = until ? 0 : sl_fail(err, SL_ENOMEM, "cluster: out of memory");

	for (uint32_t n = 0; !rc && n < s->node.rows; n++)
		until[n] = soon;
	if (!rc)
		find_ends(c, until);
	for (uint32_t n = 0; !rc && n < s->node.rows; n++) {
		bool owned = s->node.owner[n] != SL_NONE;
		struct special *sp;

		if (!owned && !(s->node.state[n] & SL_NODE_COMPLETING))
			continue;
		sp = add_special(c, c->now, owned ? until[n] : soon, err);
		rc = sp ? place_special(c, sp, n, err) : -1;
	}
	free(until);
	return rc;
}

static int place_partial(struct sl_cluster *c, uint32_t resv, struct sl_error *err)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	const struct sl_nodeset *set = &c->resv_nodes[resv];
	int64_t t0 = v->start_time[resv] > c->now ? v->start_time[resv] : c->now, t1 = v->end_time[resv];

	for (uint32_t n = sl_nodeset_next(set, 0); t0 < t1 && n < SL_MAX_NODES; n = sl_nodeset_next(set, n + 1)) {
		struct special *sp = add_special(c, t0, t1, err);
		struct sl_resources there;
		int32_t cores = (int32_t) (cluster_resv_cores(c, resv, n) * (c->fold ? c->fold[n] : 1));

		if (!sp)
			return -1;
		/* Nothing is free beneath a block, and nothing need be kept. */
		sl_timeline_free(c->tl, n, t0, t1, &there);
		sp->each.cores = cores < there.cores ? cores : there.cores;
		if (sp->each.cores > 0 && place_special(c, sp, n, err) < 0)
			return -1;
	}
	return 0;
}

/* Undo what the function below has done. */
int cluster_specials_lift(struct sl_cluster *c, struct sl_error *err)
{
	while (c->specials) {
		struct special *sp = &c->special[c->specials - 1];
		int rc = 0;

		if (sp->t1 > c->now && sp->each.cores)
			rc = sl_timeline_unbook(c->tl, &sp->nodes, &sp->each, sp->t0, sp->t1, err);
		else if (sp->t1 > c->now)
			rc = sl_timeline_unblock(c->tl, &sp->nodes, sp->t0, sp->t1, err);
		if (rc < 0)
			return -1;
		c->specials--;
	}
	return 0;
}

int cluster_specials_place(struct sl_cluster *c, struct sl_error *err)
{
	if (!c->has_specials)
		return 0;
	for (uint32_t r = 0; r < c->snap->reservation.rows; r++)
		if (c->snap->reservation.cores[r] && place_partial(c, r, err) < 0)
			return -1;
	return place_blocks(c, err);
}

/* -- enclaves ------------------------------------------------------------ */

void cluster_enclave_free(struct enclave *en)
{
	if (!en)
		return;
	sl_timeline_destroy(en->tl);
	sl_nodeset_free(&en->nodes);
	free(en);
}

/* What a node's own reservation leaves over is not there for its jobs: of a partial
 * one, the cores of others are taken to lie in that part as far as it goes. */
static int enclave_node(struct sl_cluster *c, struct enclave *en, uint32_t n, int32_t *spare, struct sl_error *err)
{
	struct sl_resources rest = { .cores = 0 };
	int32_t fold = c->fold ? (int32_t) c->fold[n] : 1;

	rest.cores = c->kind[c->kind_of[n]].capacity.cores - (int32_t) cluster_resv_cores(c, en->resv, n) * fold;
	*spare = rest.cores;
	sl_nodeset_clear(&c->scratch);
	if (rest.cores <= 0 || sl_nodeset_add(&c->scratch, n, n, err) < 0)
		return rest.cores <= 0 ? 0 : -1;
	return sl_timeline_book(en->tl, &c->scratch, &rest, c->now, SL_FOREVER, err);
}

static int enclave_running(struct sl_cluster *c, struct enclave *en, int32_t *spare, struct sl_error *err)
{
	for (uint32_t j = 0; j < c->snap->job.rows; j++) {
		const struct held *h = c->held[j];

		for (uint32_t i = 0; h && i < h->count; i++) {
			uint32_t n = h->place[i].node;
			struct sl_resources r, there;

			if (!sl_nodeset_contains(&en->nodes, n))
				continue;
			booked(c, j, h, i, &r);
			if (en->partial && h->resv != en->resv) {
				int32_t elsewhere = r.cores < spare[n] ? r.cores : spare[n];

				spare[n] -= elsewhere > 0 ? elsewhere : 0;
				r.cores -= elsewhere > 0 ? elsewhere : 0;
			}
			sl_timeline_unbooked(en->tl, n, c->now, h->end, &there);
			sl_resources_min(&r, &there);
			sl_nodeset_clear(&c->scratch);
			if (sl_nodeset_add(&c->scratch, n, n, err) < 0 || (!nothing(&r) &&
			    sl_timeline_book(en->tl, &c->scratch, &r, c->now, h->end, err) < 0))
				return -1;
		}
	}
	return 0;
}

static int enclave_others(struct sl_cluster *c, struct enclave *en, struct sl_error *err)
{
	const struct sl_reservation_view *v = &c->snap->reservation;

	for (uint32_t r = 0; r < v->rows; r++) {
		if (v->end_time[r] <= c->now || v->end_time[r] <= v->start_time[r] || !c->resv_nodes[r].count)
			continue;
		/* Others that hold parts of these nodes are rare enough to be taken for whole. */
		if (cluster_keeps_out(c, r, en->resv) || (v->cores[r] && r != en->resv))
			if (sl_timeline_block(en->tl, &c->resv_nodes[r], v->start_time[r], v->end_time[r], err) < 0)
				return -1;
	}
	for (uint32_t i = 0; i < c->specials; i++)
		if (!c->special[i].each.cores &&
		    sl_timeline_block(en->tl, &c->special[i].nodes, c->special[i].t0, c->special[i].t1, err) < 0)
			return -1;
	return c->unusable.count ? sl_timeline_block(en->tl, &c->unusable, c->now, SL_FOREVER, err) : 0;
}

struct sl_timeline *cluster_enclave_timeline(struct sl_cluster *c, struct enclave *en, struct sl_error *err)
{
	int32_t *spare;
	int rc = 0;

	if (en->tl && !en->dirty)
		return en->tl;
	spare = calloc((size_t) c->snap->node.rows + 1, sizeof(*spare));
	sl_timeline_destroy(en->tl);
	en->tl = spare ? sl_timeline_create(c->snap->node.rows, c->kind_of, c->kind, c->kinds, c->now, err) : NULL;
	for (uint32_t n = sl_nodeset_next(&en->nodes, 0); en->tl && en->partial && !rc && n < SL_MAX_NODES;
	     n = sl_nodeset_next(&en->nodes, n + 1))
		rc = enclave_node(c, en, n, &spare[n], err);
	if (!en->tl || rc < 0 || enclave_running(c, en, spare, err) < 0 || enclave_others(c, en, err) < 0) {
		if (!spare)
			sl_fail(err, SL_ENOMEM, "cluster: out of memory");
		free(spare);
		sl_timeline_destroy(en->tl);
		en->tl = NULL;
		return NULL;
	}
	free(spare);
	en->dirty = false;
	return en->tl;
}

struct enclave *cluster_enclave(struct sl_cluster *c, uint32_t resv, struct sl_error *err)
{
	struct enclave *en = c->enclave[resv];

	if (en)
		return en;
	en = calloc(1, sizeof(*en));
	if (!en || sl_nodeset_copy(&en->nodes, &c->resv_nodes[resv], err) < 0) {
		free(en);
		sl_fail(err, SL_ENOMEM, "cluster: out of memory");
		return NULL;
	}
	en->resv = resv;
	en->partial = c->snap->reservation.cores[resv] != 0;
	c->enclave[resv] = en;
	return en;
}
