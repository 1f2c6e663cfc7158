/* SPDX-License-Identifier: MIT */
/* cluster_enclave.c - enclaves: timelines of reservations, of jobs that share cores, and of tenants. */
#include "model/cluster_private.h"

#include <stdlib.h>

#include "base/grow.h"

/* The largest weight of a node. */
static uint32_t most_weight(const struct sl_cluster *c)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < c->kinds; k++)
		most = c->kind[k].weight > most ? c->kind[k].weight : most;
	return most;
}

/* The kind of a node in an enclave.  If n jobs may share a core, the node has n times its cores.  In the enclave of a
 * flexible reservation, nodes outside the reservation have a higher weight, so that the reservation's nodes come first. */
static struct sl_node_kind kind_within(const struct sl_cluster *c, const struct enclave *en, uint32_t n, uint32_t most)
{
	struct sl_node_kind kind = c->kind[c->kind_of[n]];

	if (en->shared)
		kind.capacity.cores *= (int32_t) c->rows[n];
	if (en->flexible && !sl_nodeset_contains(&c->resv_nodes[en->resv], n))
		kind.weight = kind.weight < UINT32_MAX - most ? kind.weight + most + 1 : UINT32_MAX;
	return kind;
}

static struct sl_timeline *new_timeline(struct sl_cluster *c, const struct enclave *en, struct sl_error *err)
{
	uint32_t nodes = c->snap->node.rows, most = most_weight(c), *kind_of;
	struct sl_node_kind *kind;
	struct sl_timeline *tl = NULL;

	if (!en->shared && !en->flexible)
		return cluster_new_timeline(c, err);
	kind_of = malloc((nodes + 1) * sizeof(*kind_of));
	kind = malloc((nodes + 1) * sizeof(*kind));
	for (uint32_t n = 0; kind_of && kind && n < nodes; n++) {
		kind_of[n] = n;
		kind[n] = kind_within(c, en, n, most);
	}
	if (kind_of && kind)
		tl = sl_timeline_create(nodes, kind_of, kind, nodes, c->now, err);
	else
		sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	if (tl)
		cluster_share(c, tl);
	free(kind_of);
	free(kind);
	return tl;
}

void cluster_enclave_free(struct enclave *en)
{
	if (!en)
		return;
	sl_timeline_destroy(en->tl);
	sl_nodeset_free(&en->nodes);
	free(en);
}

/* In the enclave of a partial reservation, book the cores of a node that the reservation does not have.  Other jobs on the
 * node are assumed to use these cores first. */
static int enclave_node(struct sl_cluster *c, struct enclave *en, uint32_t n, int32_t *spare, struct sl_error *err)
{
	struct sl_resources rest = { .cores = 0 };
	uint32_t left_over = c->snap->node.cores[n] - cluster_resv_cores(c, en->resv, n);

	rest.cores = (int32_t) (left_over * (en->shared ? c->rows[n] : 1));
	*spare = rest.cores;
	sl_nodeset_clear(&c->scratch);
	if (rest.cores <= 0 || sl_nodeset_add(&c->scratch, n, n, err) < 0)
		return rest.cores <= 0 ? 0 : -1;
	return sl_timeline_book(en->tl, &c->scratch, &rest, c->now, SL_FOREVER, err);
}

/* Book in the enclave what running jobs hold there, and block the nodes that they do not share with jobs of the enclave. */
static int enclave_running(struct sl_cluster *c, struct enclave *en, int32_t *spare, struct sl_error *err)
{
	for (uint32_t j = 0; j < c->snap->job.rows; j++) {
		const struct held *h = c->held[j];

		if (h && en->tenant && !en->partial && !cluster_goes_to_job(c, en->tenant, j, h))
			continue;	/* its nodes are blocked for that time: see enclave_strangers() */
		for (uint32_t i = 0; h && i < h->count; i++) {
			uint32_t n = h->place[i].node;
			struct sl_resources r;

			if (!sl_nodeset_contains(&en->nodes, n))
				continue;
			cluster_count_place(c, j, h, i, en->shared, &r);
			if (r.cores && en->shared && !cluster_shares(c, j))
				continue;
			if (en->partial && h->resv != en->resv) {
				int32_t elsewhere = r.cores < spare[n] ? r.cores : spare[n];

				spare[n] -= elsewhere > 0 ? elsewhere : 0;
				r.cores -= elsewhere > 0 ? elsewhere : 0;
			}
			if (cluster_book_available(c, en->tl, n, &r, c->now, h->end, NULL, NULL, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Block the nodes on which jobs run that share no cores: jobs of this enclave do, and Slurm does not put both on one node. */
static int enclave_unshared(struct sl_cluster *c, struct enclave *en, struct sl_error *err)
{
	for (uint32_t j = 0; j < c->snap->job.rows; j++) {
		const struct held *h = cluster_shares(c, j) ? NULL : c->held[j];

		for (uint32_t i = 0; h && i < h->count; i++) {
			struct block b = { .node = h->place[i].node, .t0 = c->now, .t1 = h->end };
			struct sl_resources r;

			cluster_count_place(c, j, h, i, false, &r);
			if (r.cores && sl_nodeset_contains(&en->nodes, b.node) &&
			    cluster_change_block(c, en->tl, &b, true, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Find until when jobs that are not of this tenant run on each node. */
static void find_strangers(const struct sl_cluster *c, const struct enclave *en, int64_t *until)
{
	for (uint32_t j = 0; j < c->snap->job.rows; j++) {
		const struct held *h = c->held[j];

		if (!h || cluster_goes_to_job(c, en->tenant, j, h))
			continue;
		for (uint32_t i = 0; i < h->count; i++)
			if (h->end > until[h->place[i].node])
				until[h->place[i].node] = h->end;
	}
}

/* Block nodes of the enclave while jobs run there that are not the tenant's. */
static int enclave_strangers(struct sl_cluster *c, struct enclave *en, struct sl_error *err)
{
	int64_t *until = calloc((size_t) c->snap->node.rows + 1, sizeof(*until));
	int rc = until ? 0 : sl_fail(err, SL_ENOMEM, "cluster: out of memory");

	if (!rc)
		find_strangers(c, en, until);
	for (uint32_t n = 0; !rc && n < c->snap->node.rows; n++) {
		struct block b = { .node = n, .t0 = c->now, .t1 = until[n] };

		if (until[n] > c->now && sl_nodeset_contains(&en->nodes, n))
			rc = cluster_change_block(c, en->tl, &b, true, err);
	}
	free(until);
	return rc;
}

/* Other tenants' nodes were blocked by enclave_strangers(). */
static bool is_closed_to(const struct sl_cluster *c, const struct block *b, const struct enclave *en)
{
	return b->kind == BUT_SHARING ? !en->shared : b->kind == BUT_TENANT ? !en->tenant :
		b->kind == BUT_OWNER ? !cluster_goes_to_owner(c, en->tenant, b->who) : true;
}

static int enclave_others(struct sl_cluster *c, struct enclave *en, struct sl_error *err)
{
	const struct sl_reservation_view *v = &c->snap->reservation;

	for (uint32_t r = 0; r < v->rows; r++) {
		if (v->end_time[r] <= c->now || v->end_time[r] <= v->start_time[r] || !c->resv_nodes[r].count)
			continue;
		/* Two reservations with known cores have no core in common, unless one of them may overlap or is for
		 * maintenance.  In all other cases a reservation of parts of these nodes is treated as one of whole nodes,
		 * for jobs of another reservation: that is safe, and such reservations are rare. */
		if (cluster_is_confined(en) && v->parts[r].count && v->parts[en->resv].count &&
		    !((v->flags[r] | v->flags[en->resv]) & (SL_RESV_OVERLAP | SL_RESV_MAINT)))
			continue;
		if (v->cores[r] && !cluster_is_confined(en))
			continue;	/* see cluster_keep_cores() */
		if (cluster_keeps_out(c, r, en->resv) || (v->cores[r] && r != en->resv))
			if (sl_timeline_block(en->tl, &c->resv_nodes[r], v->start_time[r], v->end_time[r], err) < 0)
				return -1;
	}
	for (uint32_t i = 0; i < c->blocks; i++)
		if (is_closed_to(c, &c->block[i], en) && cluster_change_block(c, en->tl, &c->block[i], true, err) < 0)
			return -1;
	return c->unusable.count ? sl_timeline_block(en->tl, &c->unusable, c->now, SL_FOREVER, err) : 0;
}

/* Book and block in the enclave's timeline everything that holds its nodes. */
static int fill_enclave(struct sl_cluster *c, struct enclave *en, int32_t *spare, struct sl_error *err)
{
	struct node_booking *kept = NULL;
	uint32_t kepts = 0;
	int rc = 0;

	for (uint32_t n = sl_nodeset_next(&en->nodes, 0); en->partial && !rc && n < SL_MAX_NODES;
	     n = sl_nodeset_next(&en->nodes, n + 1))
		rc = enclave_node(c, en, n, &spare[n], err);
	if (!rc)
		rc = enclave_running(c, en, spare, err);
	if (!rc && !cluster_is_confined(en) && c->has_partial)
		rc = cluster_keep_cores(c, en->tl, en->resv, en->shared, &kept, &kepts, err);
	if (!rc && en->shared)
		rc = enclave_unshared(c, en, err);
	if (!rc && en->tenant)
		rc = enclave_strangers(c, en, err);
	free(kept);
	return rc ? rc : enclave_others(c, en, err);
}

struct sl_timeline *cluster_enclave_timeline(struct sl_cluster *c, struct enclave *en, struct sl_error *err)
{
	int32_t *spare;
	int rc = -1;

	if (en->tl && !en->dirty)
		return en->tl;
	spare = calloc((size_t) c->snap->node.rows + 1, sizeof(*spare));
	sl_timeline_destroy(en->tl);
	en->tl = NULL;
	if (!spare)
		sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	else
		en->tl = new_timeline(c, en, err);
	if (en->tl)
		rc = fill_enclave(c, en, spare, err);
	free(spare);
	if (rc < 0) {
		sl_timeline_destroy(en->tl);
		en->tl = NULL;
	}
	en->dirty = false;
	return en->tl;
}

/* Set the enclave's nodes: those of its reservation, or those on which jobs may share cores, or all. */
static int enclave_nodes(struct sl_cluster *c, struct enclave *en, struct sl_error *err)
{
	if (cluster_is_confined(en))
		return sl_nodeset_copy(&en->nodes, &c->resv_nodes[en->resv], err);
	for (uint32_t n = 0; n < c->snap->node.rows; n++)
		if ((!en->shared || c->rows[n] > 1) && sl_nodeset_add(&en->nodes, n, n, err) < 0)
			return -1;
	return 0;
}

struct enclave *cluster_enclave(struct sl_cluster *c, const struct enclave *like, struct sl_error *err)
{
	struct enclave *en;

	for (uint32_t i = 0; i < c->enclaves; i++)
		if (c->enclave[i]->resv == like->resv && c->enclave[i]->shared == like->shared &&
		    c->enclave[i]->tenant == like->tenant)
			return c->enclave[i];
	if (sl_grow_list(&c->enclave, c->enclaves, sizeof(*c->enclave), err))
		return NULL;
	en = calloc(1, sizeof(*en));
	if (!en) {
		sl_fail(err, SL_ENOMEM, "cluster: out of memory");
		return NULL;
	}
	*en = (struct enclave) { .resv = like->resv, .number = c->enclaves, .shared = like->shared, .tenant = like->tenant };
	en->flexible = en->resv != SL_NONE && c->snap->reservation.flags[en->resv] & SL_RESV_FLEX;
	if (enclave_nodes(c, en, err) < 0) {
		cluster_enclave_free(en);
		return NULL;
	}
	en->partial = en->resv != SL_NONE && c->snap->reservation.cores[en->resv] && !en->flexible;
	c->has_flexible |= en->flexible;
	c->enclave[c->enclaves++] = en;
	return en;
}
