/* SPDX-License-Identifier: MIT */
#include "tool/gpus_now.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/request.h"

#define ASKS_MOST 4		/* rows of gres of a job that are looked at */

/* What of a node's gres is held.  A cell is a row of a node's range of node_gres; equal nodes may have the same rows, but not the same
 * cells. */
struct held {
	const struct sl_snapshot *s;
	uint64_t *first;		/* cell of each node, one more */
	uint64_t *count, *shares;	/* by cell: held; held in shares of devices that are not known */
	uint32_t *devices;		/* by cell: those of which shares are held, as bits */
	uint32_t *cores;		/* by node: free */
	bool *seen;			/* by node: of a partition that is shown */
	bool *share;			/* by kind of gres: some node has it as shares of another one */
	uint32_t most_cpus, most_gpus;	/* that a node has */
	bool *useful;			/* by node: a job that waits could have its share of what it asks for there */
};

/* What a job asks for on each of the fewest nodes that could hold it. */
struct shape {
	uint32_t partition, cpus, rows;
	uint32_t each[ASKS_MOST];
	uint32_t type[ASKS_MOST];	/* in the snapshot's pool of texts; "": any */
	uint32_t exclusive;
};

static bool is_gpu(const struct sl_snapshot *s, uint32_t kind)
{
	return !strcmp(sl_snapshot_str(s, s->gres_kind.name[kind]), "gpu");
}

static uint32_t less(uint32_t a, uint64_t b)
{
	return a > b ? a - (uint32_t) b : 0;
}

/* -- what is held ------------------------------------------------------------ */

/* The cell of a kind on a node; UINT64_MAX: the node has none. */
static uint64_t find_cell(const struct held *h, uint32_t node, uint32_t kind)
{
	struct sl_range has = h->s->node.gres[node];

	for (uint32_t i = 0; i < has.count; i++)
		if (h->s->node_gres.kind[has.first + i] == kind)
			return h->first[node] + i;
	return UINT64_MAX;
}

static void hold_gres(struct held *h, uint32_t node, uint32_t row)
{
	const struct sl_alloc_gres_view *v = &h->s->alloc_gres;
	bool shares = v->of[row] != SL_NONE;
	uint64_t cell = find_cell(h, node, shares ? v->of[row] : v->kind[row]);

	if (cell == UINT64_MAX)
		return;
	if (!shares)
		h->count[cell] += v->count[row];
	else if (v->devices[row])
		h->devices[cell] |= v->devices[row];
	else
		h->shares[cell] += v->count[row];
}

static void hold_all(struct held *h)
{
	const struct sl_snapshot *s = h->s;

	for (uint32_t j = 0; j < s->job.rows; j++)
		for (uint32_t a = s->job.alloc[j].first; a < s->job.alloc[j].first + s->job.alloc[j].count; a++) {
			uint32_t node = s->alloc.node[a];

			if (s->job.state[j] == SL_JOB_SUSPENDED)
				break;
			h->cores[node] = less(h->cores[node], s->alloc.cores[a]);
			for (uint32_t g = s->alloc.gres[a].first; g < s->alloc.gres[a].first + s->alloc.gres[a].count; g++)
				hold_gres(h, node, g);
		}
}

/* How many shares a device of that kind has on the node; 0: none. */
static uint32_t shares_of_device(const struct sl_snapshot *s, uint32_t node, uint32_t kind, uint32_t devices)
{
	struct sl_range has = s->node.gres[node];

	for (uint32_t i = has.first; i < has.first + has.count; i++)
		if (s->node_gres.share[i] == kind && devices)
			return s->node_gres.count[i] / devices;
	return 0;
}

/* Devices of a cell of which shares are held: those that are known, else as few as hold as many shares. */
static uint32_t shared_devices(const struct held *h, uint32_t node, uint32_t i)
{
	uint64_t cell = h->first[node] + i;
	uint32_t row = h->s->node.gres[node].first + i, devices = h->s->node_gres.count[row];
	uint32_t each = shares_of_device(h->s, node, h->s->node_gres.kind[row], devices), known = (uint32_t) __builtin_popcount(h->devices[cell]);
	uint64_t n = known + (each ? (h->shares[cell] + each - 1) / each : 0);

	return n < devices ? (uint32_t) n : devices;
}

/* What a node has of a row: *used, and of these *shared; returns what is free of it if the node is up. */
static uint32_t free_of(const struct held *h, uint32_t node, uint32_t i, uint32_t *used, uint32_t *shared)
{
	uint32_t all = h->s->node_gres.count[h->s->node.gres[node].first + i], whole = all - less(all, h->count[h->first[node] + i]);

	*shared = shared_devices(h, node, i);
	*shared = *shared > all - whole ? all - whole : *shared;
	*used = whole + *shared;
	return all - *used;
}

/* -- who waits ------------------------------------------------------------------- */

/* True if the gres that a row of job_gres asks for is a share of something on some node. */
static bool is_share(const struct held *h, uint32_t row)
{
	for (uint32_t k = 0; k < h->s->gres_kind.rows; k++)
		if (h->share[k] && sl_gres_matches(h->s, row, k))
			return true;
	return false;
}

/* How many nodes that is: more than it names where no node has so many CPUs or GPUs as it wants in all, and it may have more. */
static uint32_t fewest_nodes(const struct held *h, const struct sl_ask *a)
{
	uint64_t cpus = h->most_cpus ? ((uint64_t) sl_ask_cpus(a) + h->most_cpus - 1) / h->most_cpus : 0;
	uint64_t gpus = h->most_gpus ? ((uint64_t) a->job_gres + h->most_gpus - 1) / h->most_gpus : 0, need = cpus > gpus ? cpus : gpus;

	return need > a->min_nodes && need < UINT32_MAX && (!a->max_nodes || need <= a->max_nodes) ? (uint32_t) need : a->min_nodes;
}

/* A share wants one GPU of any type. */
static void add_ask(const struct held *h, const struct sl_ask *a, uint32_t row, uint32_t nodes, struct shape *sh)
{
	uint64_t each = ((uint64_t) sl_ask_gres(h->s, a, row, nodes) + nodes - 1) / nodes;
	bool gpu = !strcmp(sl_snapshot_str(h->s, h->s->job_gres.name[row]), "gpu");

	if (sh->rows == ASKS_MOST || !each || (!gpu && !is_share(h, row)))
		return;
	sh->type[sh->rows] = gpu ? h->s->job_gres.type[row] : 0;
	sh->each[sh->rows++] = !gpu ? 1 : each < UINT32_MAX ? (uint32_t) each : UINT32_MAX;
}

static struct shape read_shape(const struct held *h, uint32_t entry)
{
	const struct sl_snapshot *s = h->s;
	uint32_t job = s->queue.job[entry];
	struct sl_ask a = sl_request_read(s, job, 0);
	uint32_t nodes = fewest_nodes(h, &a);
	struct shape sh = { .partition = s->queue.partition[entry], .cpus = a.node_cpus, .exclusive = (s->job.flags[job] & SL_JOBF_EXCLUSIVE) != 0 };

	if ((uint64_t) a.node_cpus * nodes < (uint64_t) sl_ask_cpus(&a))
		sh.cpus = (uint32_t) (((uint64_t) sl_ask_cpus(&a) + nodes - 1) / nodes);
	for (uint32_t g = a.gres.first; g < a.gres.first + a.gres.count; g++)
		add_ask(h, &a, g, nodes, &sh);
	return sh;
}

static int compare_shapes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct shape));
}

static bool has_gpus(const struct held *h, uint32_t node, const char *type, uint32_t each)
{
	const struct sl_snapshot *s = h->s;
	struct sl_range has = s->node.gres[node];
	uint32_t n = 0, used, shared;

	for (uint32_t i = 0; i < has.count; i++) {
		uint32_t kind = s->node_gres.kind[has.first + i];

		if (is_gpu(s, kind) && (!*type || !strcmp(type, sl_snapshot_str(s, s->gres_kind.type[kind]))))
			n += free_of(h, node, i, &used, &shared);
	}
	return n >= each;
}

static bool fits(const struct held *h, uint32_t node, const struct shape *sh)
{
	const struct sl_node_view *v = &h->s->node;

	if ((uint64_t) h->cores[node] * (v->threads[node] ? v->threads[node] : 1) < sh->cpus || (sh->exclusive && h->cores[node] < v->cores[node]))
		return false;
	for (uint32_t i = 0; i < sh->rows; i++)
		if (!has_gpus(h, node, sl_snapshot_str(h->s, sh->type[i]), sh->each[i]))
			return false;
	return true;
}

static void mark_useful(struct held *h, const struct shape *sh)
{
	struct sl_range runs = h->s->partition.nodes[sh->partition];

	for (uint32_t r = runs.first; r < runs.first + runs.count; r++)
		for (uint32_t n = h->s->run.first[r]; n <= h->s->run.last[r]; n++)
			if (!h->useful[n] && h->s->node.gres[n].count)
				h->useful[n] = fits(h, n, sh);
}

static void find_most(struct held *h)
{
	const struct sl_snapshot *s = h->s;

	for (uint32_t n = 0; n < s->node.rows; n++) {
		uint32_t cpus = s->node.cores[n] * (s->node.threads[n] ? s->node.threads[n] : 1), some = 0;

		for (uint32_t i = s->node.gres[n].first; i < s->node.gres[n].first + s->node.gres[n].count; i++)
			some += is_gpu(s, s->node_gres.kind[i]) ? s->node_gres.count[i] : 0;
		h->most_cpus = cpus > h->most_cpus ? cpus : h->most_cpus;
		h->most_gpus = some > h->most_gpus ? some : h->most_gpus;
	}
}

/* Jobs that wait for GPUs, each once; which nodes are of use to one of them. */
static int look_at_waiting(struct held *h, const bool *shown, uint32_t *waiting, struct sl_error *err)
{
	const struct sl_snapshot *s = h->s;
	struct shape *list = calloc(s->queue.rows + 1u, sizeof(*list));
	bool *counted = calloc(s->job.rows + 1u, sizeof(*counted));
	uint32_t n = 0;

	for (uint32_t i = 0; list && counted && i < s->queue.rows; i++) {
		struct shape sh = read_shape(h, i);

		if (!sh.rows || (shown && !shown[sh.partition]))
			continue;
		list[n++] = sh;
		*waiting += !counted[s->queue.job[i]];
		counted[s->queue.job[i]] = true;
	}
	if (list && counted) {
		/* no GPU is free there: no shape need be tried */
		for (uint32_t k = 0; k < s->node.rows; k++)
			h->useful[k] = !has_gpus(h, k, "", 1);
		qsort(list, n, sizeof(*list), compare_shapes);
		for (uint32_t i = 0; i < n; i++)
			if (!i || compare_shapes(&list[i - 1], &list[i]))
				mark_useful(h, &list[i]);
	}
	free(counted);
	free(list);
	return list && counted ? 0 : sl_fail(err, SL_ENOMEM, "GPUs: out of memory");
}

/* -- counted ----------------------------------------------------------------------- */

/* Of a node: what of one type, or of all, it has. */
struct amount {
	uint32_t all, used, shared;
};

static void add_amount(struct sl_gpu_sort *sort, const struct amount *a, bool off, bool has_core)
{
	uint32_t left = a->all - a->used;

	sort->all += a->all;
	sort->used += a->used;
	sort->shared += a->shared;
	sort->off += off ? left : 0;
	if (off || !left)
		return;
	sort->free += left;
	sort->free_nodes++;
	sort->coreless += has_core ? 0 : left;
	if (!has_core || left < sort->most)
		return;
	sort->most_nodes = left > sort->most ? 1 : sort->most_nodes + 1;
	sort->most = left;
}

static struct sl_gpu_sort *find_sort(struct sl_gpus_now *g, const char *type)
{
	for (uint32_t i = 0; i < g->sorts; i++)
		if (!strcmp(g->sort[i].type, type))
			return &g->sort[i];
	return NULL;
}

static void count_node(struct sl_gpus_now *g, const struct held *h, uint32_t node)
{
	const struct sl_snapshot *s = h->s;
	struct sl_range has = s->node.gres[node];
	bool off = (s->node.state[node] & SL_NODE_UNUSABLE) != 0;
	struct amount all = { 0 };

	for (uint32_t i = 0; i < has.count; i++) {
		uint32_t kind = s->node_gres.kind[has.first + i];
		struct amount one = { .all = s->node_gres.count[has.first + i] };

		if (!is_gpu(s, kind) || s->node_gres.no_consume[has.first + i] || !s->node_gres.count[has.first + i])
			continue;
		free_of(h, node, i, &one.used, &one.shared);
		add_amount(find_sort(g, sl_snapshot_str(s, s->gres_kind.type[kind])), &one, off, h->cores[node]);
		all.all += one.all;
		all.used += one.used;
		all.shared += one.shared;
	}
	if (!all.all)
		return;
	add_amount(&g->all, &all, off, h->cores[node]);
	g->no_use += off || h->useful[node] ? 0 : all.all - all.used;
}

/* -- all of it ------------------------------------------------------------------------ */

static void held_free(struct held *h)
{
	free(h->first);
	free(h->count);
	free(h->shares);
	free(h->devices);
	free(h->cores);
	free(h->seen);
	free(h->share);
	free(h->useful);
}

static int held_make(struct held *h, const bool *shown, struct sl_error *err)
{
	const struct sl_snapshot *s = h->s;
	const uint32_t nodes = s->node.rows;

	h->first = calloc(nodes + 1u, sizeof(*h->first));
	for (uint32_t n = 0; h->first && n < nodes; n++)
		h->first[n + 1] = h->first[n] + s->node.gres[n].count;
	h->count = calloc((h->first ? h->first[nodes] : 0) + 1, sizeof(*h->count));
	h->shares = calloc((h->first ? h->first[nodes] : 0) + 1, sizeof(*h->shares));
	h->devices = calloc((h->first ? h->first[nodes] : 0) + 1, sizeof(*h->devices));
	h->cores = calloc(nodes + 1u, sizeof(*h->cores));
	h->seen = calloc(nodes + 1u, sizeof(*h->seen));
	h->share = calloc(s->gres_kind.rows + 1u, sizeof(*h->share));
	h->useful = calloc(nodes + 1u, sizeof(*h->useful));
	if (!h->first || !h->count || !h->shares || !h->devices || !h->cores || !h->seen || !h->share || !h->useful)
		return sl_fail(err, SL_ENOMEM, "GPUs: out of memory");
	if (nodes)
		memcpy(h->cores, s->node.cores, nodes * sizeof(*h->cores));
	for (uint32_t i = 0; i < s->node_gres.rows; i++)
		h->share[s->node_gres.kind[i]] |= s->node_gres.share[i] != SL_NONE;
	find_most(h);
	for (uint32_t p = 0; p < s->partition.rows; p++)
		for (uint32_t r = s->partition.nodes[p].first; (!shown || shown[p]) && r < s->partition.nodes[p].first + s->partition.nodes[p].count; r++)
			memset(h->seen + s->run.first[r], true, s->run.last[r] - s->run.first[r] + 1);
	hold_all(h);
	return 0;
}

/* The types, each once, of which nodes that are shown have GPUs. */
static void list_sorts(struct sl_gpus_now *g, const struct held *h)
{
	const struct sl_snapshot *s = h->s;

	for (uint32_t n = 0; n < s->node.rows; n++)
		for (uint32_t i = s->node.gres[n].first; h->seen[n] && i < s->node.gres[n].first + s->node.gres[n].count; i++) {
			const char *type = sl_snapshot_str(s, s->gres_kind.type[s->node_gres.kind[i]]);

			if (is_gpu(s, s->node_gres.kind[i]) && s->node_gres.count[i] && !s->node_gres.no_consume[i] && !find_sort(g, type))
				g->sort[g->sorts++] = (struct sl_gpu_sort) { .type = type };
		}
}

int sl_gpus_now_read(struct sl_gpus_now *g, const struct sl_snapshot *s, const bool *shown, struct sl_error *err)
{
	struct held h = { .s = s };
	int rc;

	*g = (struct sl_gpus_now) { .all = { .type = "" }, .sort = calloc(s->gres_kind.rows + 1u, sizeof(*g->sort)) };
	rc = g->sort ? held_make(&h, shown, err) : sl_fail(err, SL_ENOMEM, "GPUs: out of memory");
	if (!rc)
		list_sorts(g, &h);
	if (!rc && g->sorts)
		rc = look_at_waiting(&h, shown, &g->waiting, err);
	for (uint32_t n = 0; !rc && g->sorts && n < s->node.rows; n++)
		if (h.seen[n])
			count_node(g, &h, n);
	held_free(&h);
	if (rc)
		sl_gpus_now_clear(g);
	return rc;
}

void sl_gpus_now_clear(struct sl_gpus_now *g)
{
	free(g->sort);
	*g = (struct sl_gpus_now) { 0 };
}

const char *sl_gpus_now_say(const struct sl_gpu_sort *sort, char *text, size_t size)
{
	const char *plural = sort->free_nodes == 1 ? "" : "s";

	if (!sort->free)
		snprintf(text, size, "none free");
	else if (!sort->most)
		snprintf(text, size, "%" PRIu64 " free on %" PRIu32 " node%s, none beside a free core", sort->free, sort->free_nodes, plural);
	else if (sort->free_nodes == 1)
		snprintf(text, size, "%" PRIu64 " free on 1 node", sort->free);
	else
		snprintf(text, size, "%" PRIu64 " free on %" PRIu32 " nodes, at most %" PRIu32 " on one%s", sort->free, sort->free_nodes, sort->most,
			 sort->coreless ? " with a free core" : "");
	return text;
}
