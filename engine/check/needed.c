/* SPDX-License-Identifier: MIT */
/*
 * check/needed.c - whether each group of stops is needed: see check.h, "Stops".
 *
 * It is needed if, without it, something would be exceeded at some time while the job runs in its place: cores, memory, gres
 * or shares of a device of a node, CPUs of the job's partition there, or a licence.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is in use on a node at one instant. */
struct in_use {
	int64_t cores, memory, *gres;
	int64_t cpus;			/* CPUs of jobs of the row's partition */
	struct device_use devices;
};

static bool counts_in(const struct check *c, const struct bill *b, uint32_t partition)
{
	return b->job != SL_NONE && b->partition == partition && !b->native && check_sharing(c, b->job, partition) == 1;
}

static void add_use(const struct check *c, struct in_use *u, const struct bill *b, uint32_t partition)
{
	uint32_t threads = c->snap->node.threads[b->node];

	u->cores += b->cores;
	u->memory += b->memory;
	u->cpus += counts_in(c, b, partition) ? (int64_t) b->cores * (threads ? threads : 1) : 0;
	for (uint32_t k = 0; k < b->kinds; k++)
		u->gres[b->kind[k]] += b->count[k];
	check_devices_count(c, &u->devices, b, 1);
}

static bool is_over(const struct check *c, const struct in_use *u, uint32_t node, uint32_t partition)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range has = s->node.gres[node];
	bool counts = s->meta.select_flags[0] & SL_SELECT_MEMORY && s->node.memory[node] > 0;
	uint32_t most = s->partition.max_cpus_per_node[partition], device;
	int64_t used, have;

	if (u->cores > s->node.cores[node] || (counts && u->memory > s->node.memory[node]) ||
	    (most && most != SL_NONE && u->cpus > most))
		return true;
	for (uint32_t k = 0; k < s->gres_kind.rows; k++) {
		have = 0;

		for (uint32_t i = has.first; i < has.first + has.count; i++)
			have += s->node_gres.kind[i] == k ? s->node_gres.count[i] : 0;
		if (u->gres[k] > have)
			return true;
	}
	return check_devices_over(c, &u->devices, node, &device, &used, &have);
}

static uint32_t partition_of(const struct row *r)
{
	return r->through == SL_NONE ? r->partition : r->through;
}

/* The end of a bill if that group were not stopped. */
static int64_t end_without(const struct check *c, const struct bill *b, const struct row *r, uint32_t group)
{
	uint32_t i = b->planned || b->job == SL_NONE || !c->stop_of ? 0 : c->stop_of[b->job];
	int64_t stopped = b->planned || b->job == SL_NONE ? INT64_MAX : check_stopped_at(c, b->job);

	if (i && c->plan->stop.group[i - 1] == group && c->row[c->stop_row[i - 1]].job == r->job)
		return b->end;
	return stopped < b->end ? stopped : b->end;
}

int check_index_bills(struct check *c, struct node_bills *x)
{
	uint32_t nodes = c->snap->node.rows, *next = calloc((size_t) nodes + 1, sizeof(*next));

	x->first = calloc((size_t) nodes + 2, sizeof(*x->first));
	x->bill = calloc((size_t) c->bills + 1, sizeof(*x->bill));
	if (!next || !x->first || !x->bill) {
		free(next);
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	}
	for (uint32_t i = 0; i < c->bills; i++)
		x->first[c->bill[i].node + 1]++;
	for (uint32_t n = 0; n < nodes; n++) {
		x->first[n + 1] += x->first[n];
		next[n] = x->first[n];
	}
	for (uint32_t i = 0; i < c->bills; i++)
		x->bill[next[c->bill[i].node]++] = i;
	free(next);
	return 0;
}

void check_end_bills(struct node_bills *x)
{
	free(x->first);
	free(x->bill);
}

/* True if something on the node would be exceeded at that instant if the group were not stopped. */
static bool is_short_at(struct check *c, const struct node_bills *x, const struct row *r, uint32_t group, uint32_t node, int64_t at,
			struct in_use *u)
{
	u->cores = u->memory = u->cpus = 0;
	memset(u->gres, 0, ((size_t) c->snap->gres_kind.rows + 1) * sizeof(*u->gres));
	check_devices_clear(c, &u->devices);
	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct bill *b = &c->bill[x->bill[i]];

		if (b->start <= at && end_without(c, b, r, group) > at && !check_is_out(c, b))
			add_use(c, u, b, partition_of(r));
	}
	c->looked_at += x->first[node + 1] - x->first[node];
	return is_over(c, u, node, partition_of(r));
}

/* The same at any instant while the job of the row runs. */
static bool is_short(struct check *c, const struct node_bills *x, const struct row *r, uint32_t group, uint32_t node,
		     struct in_use *u)
{
	bool has = false;

	for (uint32_t k = r->bills.first; k < r->bills.first + r->bills.count; k++)
		has |= c->bill[k].node == node;
	if (!has)
		return false;
	if (is_short_at(c, x, r, group, node, r->at, u))
		return true;
	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		int64_t at = c->bill[x->bill[i]].start;

		if (at > r->at && at < r->until && is_short_at(c, x, r, group, node, at, u))
			return true;
	}
	return false;
}

/* -- group by group ------------------------------------------------------------------ */

struct groups {
	struct node_bills bills;
	struct in_use use;
	bool *goes_on;			/* [job row] member of the group being checked */
	struct key *stop;		/* the plan's stops, sorted by group */
};

static int begin_groups(struct check *c, struct groups *g)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;

	g->use.gres = calloc((size_t) c->snap->gres_kind.rows + 1, sizeof(*g->use.gres));
	g->goes_on = calloc((size_t) c->snap->job.rows + 1, sizeof(*g->goes_on));
	g->stop = calloc((size_t) v->rows + 1, sizeof(*g->stop));
	if (!g->use.gres || !g->goes_on || !g->stop)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	for (uint32_t i = 0; i < v->rows; i++)
		g->stop[i] = (struct key) { (uint64_t) v->preemptor[i] << 32 | v->group[i], i };
	check_sort_keys(g->stop, v->rows);
	return check_devices_begin(c, &g->use.devices) < 0 ? -1 : check_index_bills(c, &g->bills);
}

static void end_groups(struct groups *g)
{
	check_devices_end(&g->use.devices);
	free(g->use.gres);
	free(g->goes_on);
	free(g->stop);
	check_end_bills(&g->bills);
}

/* True if, with the group left running, the row lacks something on a node of that job. */
static bool is_in_the_way(struct check *c, struct groups *g, const struct row *r, uint32_t group, uint32_t j)
{
	struct sl_range alloc = c->snap->job.alloc[j];

	for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++)
		if (is_short(c, &g->bills, r, group, c->snap->alloc.node[a], &g->use))
			return true;
	return false;
}

/* True if the group, stops *first* to *end* - 1, is needed for the row. */
static bool is_needed(struct check *c, struct groups *g, const struct row *r, uint32_t first, uint32_t end)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;
	bool licenses = false;
	bool rc = false;

	for (uint32_t i = first; !rc && i < end; i++) {
		uint32_t j = check_find_job(c, v->job[g->stop[i].row]);

		if (j == SL_NONE)
			continue;
		g->goes_on[j] = true;
		licenses |= c->snap->job.licenses[j].count > 0;
		rc = is_in_the_way(c, g, r, v->group[g->stop[i].row], j);
	}
	if (!rc && licenses && c->snap->job.licenses[r->job].count)
		rc = check_license_short(c, r, g->goes_on);
	for (uint32_t i = first; i < end; i++) {
		uint32_t j = check_find_job(c, v->job[g->stop[i].row]);

		if (j != SL_NONE)
			g->goes_on[j] = false;
	}
	return rc;
}

static int check_group(struct check *c, struct groups *g, uint32_t first, uint32_t end)
{
	uint32_t row = c->stop_row[g->stop[first].row];

	if (row == SL_NONE || c->row[row].out || is_needed(c, g, &c->row[row], first, end))
		return 0;
	sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": job %" PRIu32 " is stopped for it in vain: it has its place without that",
		c->snap->job.id[c->row[row].job], c->plan->stop.job[g->stop[first].row]);
	return check_refuse(c, row);
}

int check_needed(struct check *c)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;
	struct groups g = { .stop = NULL };
	int rc = begin_groups(c, &g);

	for (uint32_t first = 0, end; !rc && first < v->rows; first = end) {
		for (end = first + 1; end < v->rows && g.stop[end].key == g.stop[first].key; )
			end++;
		rc = check_group(c, &g, first, end);
	}
	end_groups(&g);
	return rc;
}
