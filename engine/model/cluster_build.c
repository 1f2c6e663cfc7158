/* SPDX-License-Identifier: MIT */
/* cluster_build.c - building a cluster from the rows of a snapshot. */
#include "model/cluster_private.h"
#include "model/devices.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* Stands for unknown memory of a node. */
#define MEMORY_UNKNOWN (INT64_C(1) << 50)

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
}

/* -- lookups --------------------------------------------------------------- */

int cluster_nodes(const struct sl_cluster *c, struct sl_range list, struct sl_nodeset *out, struct sl_error *err)
{
	const struct sl_run_view *run = &c->snap->run;

	sl_nodeset_clear(out);
	for (uint32_t i = list.first; i < list.first + list.count; i++)
		if (sl_nodeset_add(out, run->first[i], run->last[i], err) < 0)
			return -1;
	return 0;
}

uint32_t cluster_sharing(const struct sl_cluster *c, uint32_t job, uint32_t partition)
{
	uint32_t n;

	if (partition == SL_NONE)	/* the partition was deleted */
		return 1;
	n = c->snap->partition.oversubscribe[partition];
	if (c->part[partition].share > 1)
		return c->part[partition].share;
	return n > 1 && (c->snap->job.flags[job] & SL_JOBF_OVERSUBSCRIBE) ? n : 1;
}

uint32_t cluster_reservation(const struct sl_cluster *c, uint32_t job)
{
	const struct sl_reservation_view *resv = &c->snap->reservation;
	const char *p = cluster_str(c, c->snap->job.reservation[job]), *end;

	for (; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, ",");
		for (uint32_t r = 0; r < resv->rows; r++) {
			const char *name = cluster_str(c, resv->name[r]);

			if (*name && !strncmp(name, p, (size_t) (end - p)) && !name[end - p])
				return r;
		}
	}
	return SL_NONE;
}

uint32_t cluster_entry_reservation(const struct sl_cluster *c, const struct sl_entry *e)
{
	return e->resv ? e->resv - 1 : cluster_reservation(c, e->job);
}

bool cluster_keeps_out(const struct sl_cluster *c, uint32_t resv, uint32_t own)
{
	const uint32_t *flags = c->snap->reservation.flags;

	if (resv == own)
		return false;
	if (own == SL_NONE)
		return true;
	if (flags[own] & SL_RESV_MAINT)
		return false;
	return !(flags[own] & SL_RESV_OVERLAP) || (flags[resv] & SL_RESV_MAINT);
}

static uint32_t cores_at_most(const struct sl_cluster *c, uint32_t node, uint32_t cores)
{
	return cores < c->snap->node.cores[node] ? cores : c->snap->node.cores[node];
}

uint32_t cluster_resv_cores(const struct sl_cluster *c, uint32_t resv, uint32_t node)
{
	uint32_t others = sl_nodeset_count(&c->resv_nodes[resv]) - 1, cores = c->snap->reservation.cores[resv];
	struct sl_range parts = c->snap->reservation.parts[resv];

	while (parts.count) {	/* sorted by node */
		uint32_t half = parts.count / 2, at = c->snap->alloc.node[parts.first + half];

		if (at == node)
			return cores_at_most(c, node, c->snap->alloc.cores[parts.first + half]);
		parts = at < node ? (struct sl_range) { parts.first + half + 1, parts.count - half - 1 } :
			(struct sl_range) { parts.first, half };
	}
	cores = cores > others + 1 ? cores - others : 1;
	return cores_at_most(c, node, cores);
}

/* -- partitions ---------------------------------------------------------- */

/* Cores of each node of the partition, if all nodes have the same, the same number of jobs may share them, and no other
 * sharing partition has any of them; else 0. */
static uint32_t count_row_cores(const struct sl_cluster *c, uint32_t p)
{
	const uint32_t *share = c->snap->partition.oversubscribe;
	const struct sl_nodeset *set = &c->part[p].nodes;
	uint32_t first = sl_nodeset_next(set, 0);

	for (uint32_t q = 0; q < c->snap->partition.rows; q++)
		if (share[p] <= 1 || (q != p && share[q] > 1 && sl_nodeset_overlaps(set, &c->part[q].nodes)))
			return 0;
	for (uint32_t n = first; n < SL_MAX_NODES; n = sl_nodeset_next(set, n + 1))
		if (c->rows[n] != share[p] || c->snap->node.cores[n] != c->snap->node.cores[first])
			return 0;
	return first < SL_MAX_NODES ? c->snap->node.cores[first] : 0;
}

/* Set c->rows: how many jobs may share a core on each node, at most. */
static int count_rows(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	bool any = false;

	for (uint32_t p = 0; p < s->partition.rows; p++)
		any |= s->partition.oversubscribe[p] > 1;
	if (!any)
		return 0;
	c->rows = calloc((size_t) s->node.rows + 1, sizeof(*c->rows));
	if (!c->rows)
		return no_memory(err);
	for (uint32_t p = 0; p < s->partition.rows; p++) {
		const struct sl_nodeset *set = &c->part[p].nodes;

		for (uint32_t n = sl_nodeset_next(set, 0); n < SL_MAX_NODES; n = sl_nodeset_next(set, n + 1))
			if (s->partition.oversubscribe[p] > c->rows[n])
				c->rows[n] = s->partition.oversubscribe[p];
	}
	for (uint32_t n = 0; n < s->node.rows; n++)
		if (!c->rows[n])
			c->rows[n] = 1;
		else if (s->node.cores[n] && c->rows[n] > SL_MAX_NODE_CORES / s->node.cores[n])
			c->rows[n] = SL_MAX_NODE_CORES / s->node.cores[n];
	for (uint32_t p = 0; p < s->partition.rows; p++)
		c->part[p].row_cores = count_row_cores(c, p);
	return 0;
}

static int find_unusable(struct sl_cluster *c, struct sl_error *err)
{
	for (uint32_t n = 0; n < c->snap->node.rows; n++)
		if (c->snap->node.state[n] & SL_NODE_UNUSABLE && sl_nodeset_add(&c->unusable, n, n, err) < 0)
			return -1;
	return cluster_find_lost(c, err) < 0 ? -1 : sl_nodeset_union(&c->unusable, &c->lost, err);
}

static int build_partitions(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t first = 0;

	if (find_unusable(c, err) < 0)
		return -1;
	for (uint32_t n = 0; n < s->node.rows; n++) {
		if (s->node.cores[n] > SL_MAX_NODE_CORES)
			return sl_fail(err, SL_ELIMIT, "node %s has %" PRIu32 " cores, at most %d are supported",
				       cluster_str(c, s->node.name[n]), s->node.cores[n], SL_MAX_NODE_CORES);
		c->cores += sl_nodeset_contains(&c->unusable, n) ? 0 : s->node.cores[n];
	}
	for (uint32_t r = 0; r < s->reservation.rows; r++)
		if (cluster_nodes(c, s->reservation.nodes[r], &c->resv_nodes[r], err) < 0)
			return -1;
	for (uint32_t p = 0; p < s->partition.rows; p++) {
		struct part *part = &c->part[p];
		uint32_t n = s->partition.oversubscribe[p];

		part->share = n > 1 && (s->partition.flags[p] & SL_PART_FORCE) ? n : 1;
		if (cluster_nodes(c, s->partition.nodes[p], &part->nodes, err) < 0 ||
		    sl_nodeset_copy(&part->usable, &part->nodes, err) < 0 ||
		    sl_nodeset_subtract(&part->usable, &c->unusable, err) < 0)
			return -1;
		part->cap = s->partition.max_cpus_per_node[p] == SL_NONE ? 0 : s->partition.max_cpus_per_node[p];
		part->cap_kind = SL_NONE;
	}
	/* Unused gres kinds of the timeline count MaxCPUsPerNode. */
	first = s->gres_kind.rows < SL_MAX_GRES ? s->gres_kind.rows : SL_MAX_GRES;
	for (uint32_t p = 0; p < s->partition.rows && first < SL_MAX_GRES; p++)
		if (c->part[p].cap && c->part[p].share == 1)
			c->part[p].cap_kind = first++;
	return count_rows(c, err);
}

/* -- nodes --------------------------------------------------------------- */

/* Number of gres kinds in use: those of the snapshot, and those that count MaxCPUsPerNode. */
static uint32_t count_kinds(const struct sl_cluster *c)
{
	uint32_t kinds = c->snap->gres_kind.rows < SL_MAX_GRES ? c->snap->gres_kind.rows : SL_MAX_GRES;

	for (uint32_t p = 0; p < c->snap->partition.rows; p++)
		if (c->part[p].cap_kind != SL_NONE && c->part[p].cap_kind >= kinds)
			kinds = c->part[p].cap_kind + 1;
	return kinds;
}

/* Gres with no_consume: a kind that no node uses up is not counted.  A kind that only some nodes use up is left to select. */
static void choose_no_consume(struct sl_cluster *c)
{
	const struct sl_node_gres_view *g = &c->snap->node_gres;
	bool consumed[SL_MAX_GRES] = { false };

	for (uint32_t i = 0; i < g->rows; i++)
		if (g->kind[i] < SL_MAX_GRES && g->count[i])
			*(g->no_consume[i] ? &c->no_consume[g->kind[i]] : &consumed[g->kind[i]]) = true;
	for (uint32_t k = 0; k < SL_MAX_GRES; k++) {
		if (consumed[k] && c->no_consume[k])
			c->modelled[k] = false;
		c->no_consume[k] &= !consumed[k];
	}
}

/* Kinds beyond SL_MAX_GRES, and kinds with a count above 65,535 on some node, are left to select. */
static void choose_gres(struct sl_cluster *c)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		c->modelled[k] = k < s->gres_kind.rows;
	choose_no_consume(c);
	for (uint32_t n = 0; n < s->node.rows; n++) {
		struct sl_range gres = s->node.gres[n];

		for (uint32_t g = gres.first; g < gres.first + gres.count; g++) {
			uint64_t sum = 0;

			for (uint32_t h = gres.first; h <= g; h++)
				if (s->node_gres.kind[h] == s->node_gres.kind[g])
					sum += s->node_gres.count[h];
			if (s->node_gres.kind[g] < SL_MAX_GRES && sum > UINT16_MAX)
				c->modelled[s->node_gres.kind[g]] = false;
		}
	}
}

static void describe(const struct sl_cluster *c, uint32_t n, const uint32_t *rank, struct sl_node_kind *kind)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range gres = s->node.gres[n];
	uint32_t threads = s->node.threads[n] ? s->node.threads[n] : 1;

	memset(kind, 0, sizeof(*kind));
	kind->weight = rank ? rank[n] : s->node.weight[n];
	kind->capacity.cores = (int32_t) s->node.cores[n];
	if (s->meta.select_flags[0] & SL_SELECT_MEMORY)
		kind->capacity.memory = s->node.memory[n] > 0 ? s->node.memory[n] : MEMORY_UNKNOWN;
	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (s->node_gres.kind[g] < SL_MAX_GRES && c->modelled[s->node_gres.kind[g]] && !s->node_gres.no_consume[g])
			kind->capacity.gres[s->node_gres.kind[g]] += s->node_gres.count[g];
	cluster_device_capacity(c, n, kind->capacity.gres);
	for (uint32_t p = 0; p < s->partition.rows; p++) {
		const struct part *part = &c->part[p];

		if (part->cap_kind != SL_NONE && sl_nodeset_contains(&part->nodes, n))
			kind->capacity.gres[part->cap_kind] =
				part->cap / threads < UINT16_MAX ? part->cap / threads : UINT16_MAX;
	}
}

static bool same_kind(const struct sl_node_kind *a, const struct sl_node_kind *b)
{
	return a->weight == b->weight && sl_resources_equal(&a->capacity, &b->capacity);
}

static uint64_t hash_kind(const struct sl_node_kind *k)
{
	uint64_t h = sl_hash_number(SL_HASH + k->weight, (uint64_t) k->capacity.memory);

	return sl_hash_bytes(h + (uint32_t) k->capacity.cores, k->capacity.gres, sizeof(k->capacity.gres));
}

/* The number of a kind equal to the candidate c->kind[c->kinds]; if there is none, the candidate is kept. */
static int number_kind(struct sl_cluster *c, struct sl_map *known, uint32_t *number, struct sl_error *err)
{
	uint64_t hash = hash_kind(&c->kind[c->kinds]);

	SL_MAP_EACH(known, hash, at)
		if (same_kind(&c->kind[at.value], &c->kind[c->kinds])) {
			*number = at.value;
			return 0;
		}
	*number = c->kinds;
	return sl_map_put(known, hash, c->kinds++, err);
}

/* Nodes that are equal for a timeline have the same kind. */
int cluster_build_nodes(struct sl_cluster *c, struct sl_error *err)
{
	uint32_t nodes = c->snap->node.rows, *rank = NULL;
	struct sl_map known = { 0 };
	int rc = 0;

	if (build_partitions(c, err) < 0 || cluster_find_sleepers(c, err) < 0)
		return -1;
	choose_gres(c);
	cluster_choose_devices(c, count_kinds(c));
	if (cluster_scoring_create(c, err) < 0)
		return -1;
	c->kind = calloc((size_t) nodes + 1, sizeof(*c->kind));
	c->kind_of = calloc((size_t) nodes + 1, sizeof(*c->kind_of));
	if (!c->kind || !c->kind_of)
		return no_memory(err);
	if (cluster_rank_nodes(c, &rank, err) < 0)
		return -1;
	for (uint32_t n = 0; n < nodes && !rc; n++) {
		struct sl_node_kind *kind = &c->kind[c->kinds];

		describe(c, n, rank, kind);
		if (n && same_kind(kind, &c->kind[c->kind_of[n - 1]]))
			c->kind_of[n] = c->kind_of[n - 1];
		else
			rc = number_kind(c, &known, &c->kind_of[n], err);
	}
	sl_map_free(&known);
	free(rank);
	if (rc)
		return -1;
	if (cluster_build_tree(c, err))
		return -1;
	c->tl = cluster_new_timeline(c, err);
	return c->tl ? 0 : -1;
}

/* -- what runs ----------------------------------------------------------- */

static bool holds(const struct sl_job_view *job, uint32_t j)
{
	return job->state[j] == SL_JOB_RUNNING || job->state[j] == SL_JOB_SUSPENDED ||
		(job->flags[j] & SL_JOBF_COMPLETING);
}

static void read_places(struct sl_cluster *c, uint32_t j, struct held *h)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range alloc = s->job.alloc[j];

	for (uint32_t i = 0; i < alloc.count; i++) {
		uint32_t a = alloc.first + i;
		struct sl_range gres = s->alloc.gres[a];

		h->place[i] = (struct sl_place) { .node = s->alloc.node[a], .cores = s->alloc.cores[a],
			.memory = s->alloc.memory[a] };
		for (uint32_t g = gres.first; g < gres.first + gres.count; g++) {
			uint32_t k = s->alloc_gres.kind[g];

			if (k < SL_MAX_GRES && c->modelled[k])
				h->place[i].gres[k] += s->alloc_gres.count[g] < UINT16_MAX ?
					s->alloc_gres.count[g] : UINT16_MAX;
			cluster_hold_devices(c, s->alloc.node[a], g, h->place[i].gres);
		}
	}
}

static int take_running(struct sl_cluster *c, uint32_t j, uint32_t *used, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	struct held *h = calloc(1, sizeof(*h));

	if (!h)
		return no_memory(err);
	c->held[j] = h;
	h->count = s->job.alloc[j].count;
	h->place = c->alloc + *used;
	*used += h->count;
	h->resv = cluster_reservation(c, j);
	h->licenses = s->job.licenses[j];
	h->tenant = cluster_tenant(c, j, s->job.partition[j]);
	h->due = cluster_end_of(c, j);
	h->end = cluster_expect_end(c, j, h->due);
	if (h->due < c->first_end)
		c->first_end = h->due;
	read_places(c, j, h);
	cluster_hold_whole(c, j, h);
	if (s->job.state[j] == SL_JOB_RUNNING || s->job.state[j] == SL_JOB_SUSPENDED) {
		c->run_at[j] = c->runs;
		c->running[c->runs++] = j;
		c->stage[j] = STAGE_RUNNING;
	} else {
		c->lingering[c->lingers++] = j;
	}
	return cluster_hold(c, j, h, c->now, h->end, err);
}

/* Count the licences that reservations set aside, used or not, as Slurm does. */
static int reserve_licenses(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	const struct sl_job_license_view *set = &c->snap->job_license;

	for (uint32_t r = 0; r < v->rows; r++) {
		int64_t from = v->start_time[r] > c->now ? v->start_time[r] : c->now;

		for (uint32_t i = v->licenses[r].first; i < v->licenses[r].first + v->licenses[r].count; i++)
			if (v->end_time[r] > from &&
			    sl_tally_add(&c->license[set->license[i]], from, v->end_time[r], set->count[i], err) < 0)
				return -1;
	}
	return 0;
}

static int build_licenses(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t l = 0; l < s->license.rows; l++) {
		int64_t rest = s->license.used[l];

		for (uint32_t i = 0; i < c->runs; i++) {
			uint32_t j = c->running[i], n = sl_cluster_licenses(c, c->held[j]->licenses, l);

			if (s->job.flags[j] & SL_JOBF_COMPLETING)
				continue;
			rest -= n;
			if (sl_tally_add(&c->license[l], c->now, c->held[j]->end, n, err) < 0)
				return -1;
		}
		if (rest > 0 && sl_tally_add(&c->license[l], c->now, INT64_MAX, rest, err) < 0)
			return -1;
	}
	return reserve_licenses(c, err);
}

int cluster_build_running(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	uint64_t places = 0;
	uint32_t used = 0, holders = 0;

	for (uint32_t j = 0; j < s->job.rows; j++)
		if (holds(&s->job, j)) {
			places += s->job.alloc[j].count;
			holders++;
		}
	if (places > UINT32_MAX)
		return sl_fail(err, SL_ELIMIT, "cluster: more than %u places in use", UINT32_MAX);
	c->alloc = calloc(places + 1, sizeof(*c->alloc));
	c->lingering = calloc((size_t) holders + 1, sizeof(*c->lingering));
	if (!c->alloc || !c->lingering)
		return no_memory(err);
	c->first_end = INT64_MAX;
	for (uint32_t j = 0; j < s->job.rows; j++)
		if (holds(&s->job, j) && take_running(c, j, &used, err) < 0)
			return -1;
	return build_licenses(c, err);
}

/* -- blocks and the queue --------------------------------------------------- */

int cluster_blocks(struct sl_cluster *c, bool place, enum which which, uint32_t own, struct sl_error *err)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	int (*change)(struct sl_timeline *, const struct sl_nodeset *, int64_t, int64_t, struct sl_error *) =
		place ? sl_timeline_block : sl_timeline_unblock;

	if (which == EVERYTHING && c->unusable.count && change(c->tl, &c->unusable, c->now, SL_FOREVER, err) < 0)
		return -1;
	for (uint32_t r = 0; r < v->rows; r++) {
		if (v->cores[r] || !c->resv_nodes[r].count || v->end_time[r] <= c->now ||
		    v->end_time[r] <= v->start_time[r])
			continue;
		if (which == NOT_IN_THE_WAY && cluster_keeps_out(c, r, own))
			continue;
		if (change(c->tl, &c->resv_nodes[r], v->start_time[r], v->end_time[r], err) < 0)
			return -1;
	}
	return 0;
}

int cluster_build_specials(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t r = 0; r < s->reservation.rows; r++)
		c->has_partial |= s->reservation.cores[r] && s->reservation.end_time[r] > c->now &&
			c->resv_nodes[r].count;
	c->has_specials = c->has_partial || c->rows || c->tenants;
	c->has_busy = c->reboots;
	for (uint32_t n = 0; n < s->node.rows; n++) {
		c->has_busy |= s->node.state[n] & SL_NODE_COMPLETING;
		c->has_specials |= s->node.owner[n] != SL_NONE;
	}
	c->has_specials |= c->has_busy;
	return cluster_specials_place(c, err);
}

int cluster_build_queue(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_queue_view *q = &c->snap->queue;

	c->queue_room = c->least_room = q->rows + 16;
	c->queue = calloc(c->queue_room, sizeof(*c->queue));
	c->least = calloc(c->least_room, sizeof(*c->least));
	if (!c->queue || !c->least)
		return no_memory(err);
	for (uint32_t i = 0; i < q->rows; i++)
		c->queue[c->queued++] = (struct sl_entry) { .job = q->job[i], .partition = q->partition[i],
			.row = q->ways[i].count ? i + 1 : 0 };
	for (uint32_t i = 0; i < q->rows; i++)
		if (c->stage[q->job[i]] == STAGE_NONE)
			c->stage[q->job[i]] = STAGE_QUEUED;
	return 0;
}
