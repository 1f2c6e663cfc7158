/* SPDX-License-Identifier: MIT */
/*
 * check/shortage.c - the plan's reasons for stopping no jobs for a job: see check.h, "Shortages".
 *
 * The plan's claims are compared with bounds found here: which nodes the job may use, how much would be free on each without
 * all stoppable jobs, and what the job needs at least.  Because these are bounds, what holds for them holds for all
 * placements.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* A row of the table that is being checked. */
struct look {
	struct check *c;
	uint32_t i;			/* its index */
	struct row r;			/* the start that would be needed */
	struct ask a;
	struct node_bills bills;
	bool *gone;			/* [job row] it could be stopped in time */
	bool *useless;			/* [node] correctly listed as short */
	int64_t *gres;			/* room: [kind] */
};

/* The minimum of what is free on a node while the job would run. */
struct room {
	int64_t cores, memory;
	int64_t which;			/* of the gres in question */
};

#define UNTRUE(x, ...) sl_fail((x)->c->err, SL_EINVAL, "job %" PRIu32 ": " __VA_ARGS__)

static uint32_t id_of(const struct look *x)
{
	return x->c->plan->shortage.job[x->i];
}

/* -- jobs that could be stopped ------------------------------------------------------------ */

static int find_gone(struct look *x)
{
	const struct check *c = x->c;
	struct sl_range spared = c->plan->shortage.spared[x->i];
	uint32_t stoppable = 0;

	for (uint32_t j = 0; j < c->snap->job.rows; j++) {
		stoppable += j != x->r.job && !check_slurm_spares(c, j, x->r.job);
		x->gone[j] = !check_spares(c, j, x->r.job) && check_gone_at(c, j) <= x->r.at;
	}
	if (stoppable != c->plan->shortage.stoppable[x->i])
		return UNTRUE(x, "%" PRIu32 " jobs are said to be what may be stopped for it, there are %" PRIu32, id_of(x),
			      c->plan->shortage.stoppable[x->i], stoppable);
	for (uint32_t k = spared.first; k < spared.first + spared.count; k++) {
		uint32_t j = check_find_job(c, c->plan->spared.job[k]);

		if (j == SL_NONE)
			return UNTRUE(x, "job %" PRIu32 ", which would not be stopped for it, is not in the snapshot", id_of(x),
				      c->plan->spared.job[k]);
		x->gone[j] = false;
	}
	return 0;
}

/* -- one node -------------------------------------------------------------------------- */

static int64_t end_of(const struct look *x, const struct bill *b)
{
	int64_t end = check_bill_end(x->c, b), gone = b->planned || b->job == SL_NONE || !x->gone[b->job] ? INT64_MAX : x->r.at;

	return gone < end ? gone : end;
}

/* What the plan has for the job itself (at another time, or by preemption through select) does not count against it. */
static bool counts(const struct look *x, const struct bill *b)
{
	return !check_is_out(x->c, b) && !(b->planned && b->job == x->r.job);
}

/* What is free on the node at that instant. */
static void look_at(struct look *x, uint32_t node, int64_t at, uint32_t which, struct room *free)
{
	const struct sl_snapshot *s = x->c->snap;
	struct sl_range has = s->node.gres[node];
	const uint32_t *bill = x->bills.bill;

	*free = (struct room) { s->node.cores[node], s->node.memory[node], 0 };
	memset(x->gres, 0, ((size_t) s->gres_kind.rows + 1) * sizeof(*x->gres));
	for (uint32_t i = x->bills.first[node]; i < x->bills.first[node + 1]; i++) {
		const struct bill *b = &x->c->bill[bill[i]];

		if (b->start > at || end_of(x, b) <= at || !counts(x, b))
			continue;
		free->cores -= b->cores;
		free->memory -= b->memory;
		for (uint32_t k = 0; k < b->kinds; k++)
			x->gres[b->kind[k]] += b->count[k];
	}
	for (uint32_t k = has.first; which != SL_NONE && k < has.first + has.count; k++) {
		int64_t rest = s->node_gres.count[k] - (s->node_gres.no_consume[k] ? 0 : x->gres[s->node_gres.kind[k]]);

		if (check_same_gres(x->c, which, s->node_gres.kind[k]))
			free->which += rest > 0 ? rest : 0;
	}
	x->c->looked_at += x->bills.first[node + 1] - x->bills.first[node];
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The minimum of that while the job would run. */
static void look_on(struct look *x, uint32_t node, uint32_t which, struct room *free)
{
	struct check *c = x->c;
	struct room then;

	check_begin_node(c);
	for (uint32_t i = x->bills.first[node]; i < x->bills.first[node + 1]; i++)
		if (counts(x, &c->bill[x->bills.bill[i]]))
			check_take_over(c, &c->bill[x->bills.bill[i]]);
	look_at(x, node, x->r.at, which, free);
	for (uint32_t i = x->bills.first[node]; i < x->bills.first[node + 1]; i++) {
		const struct bill *b = &c->bill[x->bills.bill[i]];

		if (b->start <= x->r.at || b->start >= x->r.until)
			continue;
		look_at(x, node, b->start, which, &then);
		*free = (struct room) { lesser(free->cores, then.cores), lesser(free->memory, then.memory),
					lesser(free->which, then.which) };
	}
}

/* Amount for all tasks, *count* for each. */
static int64_t of_tasks(const struct look *x, uint32_t count)
{
	uint64_t n = (uint64_t) count * x->a.tasks;

	return n < INT64_MAX ? (int64_t) n : INT64_MAX;
}

/* What the job needs on each of its nodes. */
static int64_t claim_of(const struct look *x, uint32_t node, uint32_t what, uint32_t which)
{
	const struct check *c = x->c;
	uint32_t cores = x->a.whole ? c->snap->node.cores[node] : check_least_cores(c, &x->a, node);
	const struct sl_job_gres_view *g = &c->snap->job_gres;

	if (what == SL_SHORT_CORES)
		return cores;
	if (what == SL_SHORT_MEMORY) {
		for (uint32_t k = x->a.gres.first; k < x->a.gres.first + x->a.gres.count; k++)
			if (g->memory[k])
				return 0;	/* memory comes with its gres */
		return check_memory(c, x->r.job, node, cores);
	}
	if (g->per[which] == SL_PER_NODE)
		return g->count[which];
	if (x->a.max_nodes != 1)
		return 0;
	return g->per[which] == SL_PER_JOB ? (int64_t) g->count[which] : of_tasks(x, g->count[which]);
}

/* True if the row of gres is one that the job asks for. */
static bool asks_for(const struct look *x, uint32_t which)
{
	return which >= x->a.gres.first && which < x->a.gres.first + x->a.gres.count;
}

static int check_short_node(struct look *x, uint32_t k, uint32_t node)
{
	const struct sl_plan_short_view *v = &x->c->plan->short_;
	uint32_t what = v->what[k], which = v->which[k];
	struct room free;
	int64_t has, needs;

	look_on(x, node, what == SL_SHORT_GRES ? which : SL_NONE, &free);
	has = what == SL_SHORT_CORES ? free.cores : what == SL_SHORT_MEMORY ? free.memory : free.which;
	needs = claim_of(x, node, what, which);
	x->useless[node] = true;
	if (v->needs[k] <= needs && has <= v->has[k] && v->has[k] < v->needs[k])
		return 0;
	return UNTRUE(x, "node %s is not short of %s: it has %" PRId64 ", the job needs %" PRId64 " there", id_of(x),
		      check_str(x->c, x->c->snap->node.name[node]), sl_short_word(what), has, needs);
}

/* Check all nodes that the plan lists as short. */
static int check_shorts(struct look *x)
{
	const struct sl_plan_short_view *v = &x->c->plan->short_;
	struct sl_range range = x->c->plan->shortage.shorts[x->i];

	for (uint32_t k = range.first; k < range.first + range.count; k++) {
		bool known = v->what[k] == SL_SHORT_CORES || v->what[k] == SL_SHORT_MEMORY ||
			(v->what[k] == SL_SHORT_GRES && asks_for(x, v->which[k]));

		if (!known || v->first[k] > v->last[k] || v->last[k] >= x->c->snap->node.rows)
			return UNTRUE(x, "what is short on some of its nodes is not said", id_of(x));
		for (uint32_t n = v->first[k]; n <= v->last[k]; n++) {
			if (x->useless[n])
				return UNTRUE(x, "node %s is said to be short twice", id_of(x), check_str(x->c, x->c->snap->node.name[n]));
			if (check_short_node(x, k, n) < 0)
				return -1;
		}
	}
	return 0;
}

/* -- all nodes ------------------------------------------------------------------------------ */

/* 1 if the job may use the node at all, 0 or -1. */
static int may_have(struct look *x, uint32_t node)
{
	struct check *c = x->c;
	int rc = check_available(c, &x->r, node);	/* first, because the other tests cost more */

	if (rc <= 0)
		return rc;
	if (x->useless[node] || check_in_runs(c, c->snap->job.exc_nodes[x->r.job], node) || !check_may_satisfy(c, x->r.job, node))
		return 0;
	rc = check_may_have(c, &x->r, node);
	if (rc < 0 && c->err->code != SL_EINVAL)
		return -1;
	*c->err = (struct sl_error) { SL_OK, "" };
	return rc == 0;
}

struct leaf {				/* a leaf switch, named by its path */
	uint32_t path;
	int64_t nodes;
};

struct sums {
	struct leaf *leaf;
	uint32_t leaves;
	int64_t nodes, cores, which;
	uint64_t tasks;			/* number of tasks that these cores host */
	int64_t row;			/* length of the current run of consecutive nodes */
	int64_t longest;
};

/* Count the node below its leaf switch. */
static void add_leaf(struct look *x, uint32_t node, struct sums *sum)
{
	uint32_t path = x->c->snap->node.topology[node], i = sum->leaves;

	if (i && sum->leaf[i - 1].path == path) {
		sum->leaf[i - 1].nodes++;
		return;
	}
	for (i = 0; i < sum->leaves && strcmp(check_str(x->c, sum->leaf[i].path), check_str(x->c, path)); )
		i++;
	if (i == sum->leaves)
		sum->leaf[sum->leaves++] = (struct leaf) { path, 0 };
	sum->leaf[i].nodes++;
}

static int by_nodes(const void *a, const void *b)
{
	return SL_ORDER(((const struct leaf *) b)->nodes, ((const struct leaf *) a)->nodes);
}

/* Most nodes that it could use together: consecutive, or below the switches for which it waits. */
static int64_t most_together(struct look *x, struct sums *sum)
{
	const struct sl_job_view *job = &x->c->snap->job;
	uint32_t j = x->r.job;
	int64_t since = job->eligible_time[j] > job->submit_time[j] ? job->eligible_time[j] : job->submit_time[j], below = 0;
	int64_t most = job->flags[j] & SL_JOBF_CONTIGUOUS ? sum->longest : sum->nodes;

	if (!job->switches[j] || x->r.at >= sl_sum_signed(since, job->switch_wait[j]))
		return most;
	qsort(sum->leaf, sum->leaves, sizeof(*sum->leaf), by_nodes);
	for (uint32_t i = 0; i < sum->leaves && i < job->switches[j]; i++)
		below += sum->leaf[i].nodes;
	return lesser(below, most);
}

static void add_node(struct look *x, uint32_t node, struct sums *sum)
{
	uint32_t which = x->c->plan->shortage.what[x->i] == SL_SHORT_GRES ? x->c->plan->shortage.which[x->i] : SL_NONE;
	struct room free;
	uint64_t tasks;

	look_on(x, node, which, &free);
	free.cores = free.cores > 0 ? free.cores : 0;
	tasks = check_hosted(x->c, &x->a, node, (uint64_t) free.cores);
	if (x->c->snap->job.switches[x->r.job])
		add_leaf(x, node, sum);
	sum->nodes++;
	sum->cores += free.cores;
	sum->which += free.which;
	sum->tasks += x->a.tasks_per_node && tasks > x->a.tasks_per_node ? x->a.tasks_per_node : tasks;
	sum->longest = ++sum->row > sum->longest ? sum->row : sum->longest;
}

static int add_nodes(struct look *x, struct sums *sum)
{
	for (uint32_t n = 0; n < x->c->snap->node.rows; n++) {
		int may = may_have(x, n);

		if (may < 0)
			return -1;
		if (may)
			add_node(x, n, sum);
		else
			sum->row = 0;
	}
	return 0;
}

/* Set *needs to the least that the job needs, and *has to the most that it could get in all.  False: it could get enough. */
static bool compare(struct look *x, struct sums *sum, int64_t *needs, int64_t *has)
{
	const struct check *c = x->c;
	const struct sl_job_gres_view *g = &c->snap->job_gres;
	uint32_t what = c->plan->shortage.what[x->i], which = c->plan->shortage.which[x->i];

	if (what == SL_SHORT_NODES) {
		*needs = x->a.min_nodes;
		*has = most_together(x, sum);
		return true;
	}
	if (what == SL_SHORT_CORES) {
		*needs = INT64_MAX;	/* determined by its tasks */
		*has = sum->cores;
		return sum->tasks < x->a.tasks;
	}
	*needs = g->per[which] == SL_PER_JOB ? (int64_t) g->count[which] :
		g->per[which] == SL_PER_TASK ? of_tasks(x, g->count[which]) : 0;
	*has = sum->which;
	return true;
}

static int check_sums(struct look *x)
{
	const struct sl_plan_shortage_view *v = &x->c->plan->shortage;
	struct sums sum = { .leaf = calloc((size_t) x->c->snap->node.rows + 1, sizeof(*sum.leaf)) };
	int64_t needs, has;
	int rc = sum.leaf ? add_nodes(x, &sum) : sl_fail(x->c->err, SL_ENOMEM, "check: out of memory");

	if (!rc && (!compare(x, &sum, &needs, &has) || v->needs[x->i] > needs || has > v->has[x->i] || v->has[x->i] >= v->needs[x->i]))
		rc = UNTRUE(x, "is not short of %s without those that may be stopped: it could have %" PRId64, id_of(x),
			    sl_short_word(v->what[x->i]), has);
	free(sum.leaf);
	return rc;
}

static int check_license(struct look *x)
{
	const struct check *c = x->c;
	const struct sl_plan_shortage_view *v = &c->plan->shortage;
	uint32_t l = v->which[x->i];
	bool several = c->snap->job.asks[x->r.job] & SL_ASKS_ANY_LICENSE;
	int64_t needs = several || check_brings_licenses(c, &x->r) ? 0 : check_licenses_of(c, x->r.job, l);
	int64_t left = check_license_left(c, l, &x->r, x->gone);

	left = left > 0 ? left : 0;
	if (v->needs[x->i] <= needs && left <= v->has[x->i] && v->has[x->i] < v->needs[x->i])
		return 0;
	return UNTRUE(x, "is not short of license %s: there are %" PRId64, id_of(x), check_str(c, c->snap->license.name[l]), left);
}

/* -- one row ----------------------------------------------------------------------------------- */

/* Read the row: job, time and what is short. */
static int read_row(struct look *x)
{
	struct check *c = x->c;
	const struct sl_snapshot *s = c->snap;
	const struct sl_plan_shortage_view *v = &c->plan->shortage;
	uint32_t i = x->i, j = check_find_job(c, v->job[i]), what = v->what[i];

	if (j == SL_NONE || v->stamp[i] != s->job.stamp[j])
		return UNTRUE(x, "is short of something, and %s", id_of(x), j == SL_NONE ? "not in the snapshot" : "has another stamp there");
	if (v->partition[i] >= s->partition.rows ||
	    check_find_key(c->queue, s->queue.rows, (uint64_t) j << 32 | v->partition[i]) == SL_NONE ||
	    v->shape[i] > s->job.shapes[j].count)
		return UNTRUE(x, "is short of something where it is not queued", id_of(x));
	x->r = (struct row) { .job = j, .partition = v->partition[i], .shape = v->shape[i], .way = v->reservation[i],
		.at = v->start_time[i], .until = sl_sum_signed(v->start_time[i], v->seconds[i]), .through = SL_NONE };
	x->r.may_until = x->r.until;
	if (x->r.way != SL_NONE && !check_is_way(c, &x->r))
		return UNTRUE(x, "is short of something in a reservation that is none of its ways", id_of(x));
	x->r.resv = x->r.way != SL_NONE ? x->r.way : check_reservation(c, j);
	check_ask(c, j, x->r.partition, x->r.shape, &x->a);
	if (x->r.at < c->now || v->seconds[i] < 1 || v->seconds[i] > x->a.time_floor)
		return UNTRUE(x, "is short of something from %" PRId64 " for %" PRId64 " s: not a time for it", id_of(x), x->r.at,
			      v->seconds[i]);
	if (!(what == SL_SHORT_NODES || what == SL_SHORT_CORES || (what == SL_SHORT_GRES && asks_for(x, v->which[i])) ||
	      (what == SL_SHORT_LICENSE && v->which[i] < s->license.rows)))
		return UNTRUE(x, "what it is short of is not said", id_of(x));
	return 0;
}

static int check_one(struct look *x)
{
	memset(x->useless, 0, x->c->snap->node.rows * sizeof(*x->useless));
	if (read_row(x) < 0 || find_gone(x) < 0)
		return -1;
	if (x->c->plan->shortage.what[x->i] == SL_SHORT_LICENSE)
		return check_license(x);
	return check_shorts(x) < 0 ? -1 : check_sums(x);
}

int check_shortages(struct check *c)
{
	const struct sl_plan_shortage_view *v = &c->plan->shortage;
	struct look x = { .c = c, .gone = calloc((size_t) c->snap->job.rows + 1, sizeof(*x.gone)),
			  .useless = calloc((size_t) c->snap->node.rows + 1, sizeof(*x.useless)),
			  .gres = calloc((size_t) c->snap->gres_kind.rows + 1, sizeof(*x.gres)) };
	int rc = !x.gone || !x.useless || !x.gres ? sl_fail(c->err, SL_ENOMEM, "check: out of memory") : check_index_bills(c, &x.bills);

	for (x.i = 0; !rc && x.i < v->rows; x.i++)
		if (check_one(&x) < 0)
			rc = check_refuse_words(c, SL_P_SHORTAGE, x.i, v->job[x.i]);
	free(x.gone);
	free(x.useless);
	free(x.gres);
	check_end_bills(&x.bills);
	return rc;
}
