/* SPDX-License-Identifier: MIT */
/*
 * plan_victims.c - the running jobs that could be stopped for a job, and the choice among them.
 *
 * The numbers for the search (victims.h) come from the bound of all variants: the least that each node must have, and all
 * nodes together.  Whether a set suffices is tested on the timeline, with what the victims hold taken off from some time on.
 */
#include "model/plan_needless.h"
#include "model/plan_elsewhere.h"
#include "model/plan_private.h"
#include "model/preempt.h"
#include "model/victims.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MIP_OVERHEAD 0.05	/* seconds counted for starting a process */

/* -- off the timeline ------------------------------------------------------------ */

static int change(struct sl_plan *p, uint32_t j, uint32_t i, int64_t t, bool gone, struct sl_error *err)
{
	const struct held *h = p->c->held[j];
	struct sl_nodeset one = SL_NODESET_EMPTY;
	struct sl_resources r;
	int rc;

	cluster_count_place(p->c, j, h, i, false, &r);
	rc = sl_nodeset_add(&one, h->place[i].node, h->place[i].node, err) < 0 ? -1 :
		gone ? sl_timeline_unbook(p->c->tl, &one, &r, t, h->end, err) :
		       sl_timeline_book_beneath(p->c->tl, &one, &r, t, h->end, err);
	sl_nodeset_free(&one);
	return rc;
}

int plan_set_gone(struct sl_plan *p, uint32_t j, int64_t t, bool gone, struct sl_error *err)
{
	const struct held *h = p->c->held[j];
	uint32_t i = 0;

	if (t >= h->end)
		return 0;
	while (i < h->count && change(p, j, i, t, gone, err) == 0)
		i++;
	if (i == h->count && (p->c->snap->job.preempt_mode[j] == SL_STOP_SUSPEND ||
			      cluster_count_licenses(p->c, h->licenses, t, h->end, gone ? -1 : 1, err) == 0))
		return 0;
	while (i--)
		(void) change(p, j, i, t, !gone, NULL);
	return -1;
}

/* -- who may be stopped ---------------------------------------------------------- */

struct finder {
	struct attempt *a;
	const struct sl_preempt_terms *terms;
	struct victim_groups *groups;
	struct sl_map group_of;		/* [hash of a gang] group */
	const struct sl_nodeset *eligible;
	uint32_t *circle;		/* JobIds of those for which this job was stopped, directly or indirectly */
	uint32_t circles;
	bool *stopped;			/* [job] stopped by this plan already */
	struct stop_limits *limits;
};

static bool is_in_circle(const struct finder *f, uint32_t id)
{
	for (uint32_t i = 0; i < f->circles; i++)
		if (f->circle[i] == id)
			return true;
	return false;
}

static int find_circle(struct finder *f, struct sl_error *err)
{
	const struct sl_stopped_view *v = &f->a->p->c->snap->stopped;
	uint32_t id = f->a->p->c->snap->job.id[f->a->w->entry.job];

	if (!(f->circle = calloc((size_t) v->rows + 1, sizeof(*f->circle))))
		return plan_no_memory(err);
	for (uint32_t next = 0, who = id; ; who = f->circle[next++]) {
		for (uint32_t r = 0; r < v->rows; r++)
			if (v->job[r] == who && v->preemptor[r] != id && !is_in_circle(f, v->preemptor[r]))
				f->circle[f->circles++] = v->preemptor[r];
		if (next == f->circles)
			return 0;
	}
}

/* True if its booking can be removed and restored, and it is on the timeline of the job's place. */
static bool is_booked_plainly(const struct sl_plan *p, uint32_t j)
{
	const struct held *h = p->c->held[j];

	return h && !h->clamped && h->resv == SL_NONE && h->end > p->c->now && !plan_is_taken_over(p, j) && !plan_is_orphan(p, j);
}

/* True if it would be suspended and keep memory or gres. */
static bool keeps_some(const struct sl_plan *p, uint32_t j)
{
	const struct sl_job_view *job = &p->c->snap->job;

	return job->preempt_mode[j] == SL_STOP_SUSPEND && job->safe_until[j] <= 0;
}

/* 1, 0, or -1 with *err. */
static int may_be_stopped(const struct finder *f, uint32_t j, struct sl_error *err)
{
	const struct sl_plan *p = f->a->p;
	uint32_t own = f->a->w->entry.job;
	int rc;

	if (!sl_snapshot_may_stop(p->c->snap, own, j) || keeps_some(p, j) || !is_booked_plainly(p, j) || f->stopped[j] ||
	    is_in_circle(f, p->c->snap->job.id[j]) || plan_is_spared(p, f->terms, f->limits, j))
		return 0;
	if (f->terms->elsewhere && (rc = plan_may_move(f->a->p, j, err)) <= 0)
		return rc;
	return f->terms->may ? f->terms->may(f->terms->arg, j, own, err) : 1;
}

double sl_plan_lost_work(struct sl_plan *p, uint32_t job)
{
	if (!p->cores_per_gpu)
		p->cores_per_gpu = sl_preempt_cores_per_gpu(p->c);
	return sl_preempt_cost(p->c, job, p->cores_per_gpu);
}

static int cost_of(const struct finder *f, uint32_t j, double *cost, struct sl_error *err)
{
	struct sl_plan *p = f->a->p;
	const uint32_t *id = p->c->snap->job.id;
	uint32_t own = f->a->w->entry.job;

	if (!f->terms->cost)
		*cost = sl_plan_lost_work(p, j);
	else if (f->terms->cost(f->terms->arg, j, own, cost, err) < 0)
		return -1;
	if (*cost >= 0 && *cost <= SL_PREEMPT_MOST_COST)
		return 0;
	return sl_fail(err, SL_ESCRIPT, "preempt: job %" PRIu32 ": stopping job %" PRIu32 " costs %g, expected a number from 0 to %g",
		       id[own], id[j], *cost, SL_PREEMPT_MOST_COST);
}

/* -- gangs ------------------------------------------------------------------------ */

/* A key common to the members of the job's gang; 0: none. */
static uint64_t gang_of(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	const char *name = sl_preempt_word(cluster_str(c, job->comment[j]), "gang");
	uint64_t user = sl_hash_number(SL_HASH, job->uid[j]);

	if (plan_is_component(c, j))
		return sl_hash_number(SL_HASH, job->het_job_id[j]) | 1;
	if (!name)
		return 0;
	if (*name != '=')
		return job->array_job_id[j] == SL_NONE ? 0 : sl_hash_number(user, job->array_job_id[j]) | 1;
	return sl_hash_bytes(user, name, strcspn(name, " \t\n,;")) | 1;
}

static struct victim_group *group_for(struct finder *f, uint32_t j, struct sl_error *err)
{
	struct victim_groups *g = f->groups;
	uint64_t gang = gang_of(f->a->p->c, j);

	if (gang)
		SL_MAP_EACH(&f->group_of, gang, at)
			if (gang_of(f->a->p->c, g->item[at.value].job[0]) == gang)
				return &g->item[at.value];
	if (sl_grow_list(&g->item, g->count, sizeof(*g->item), err) ||
	    (gang && sl_map_put(&f->group_of, gang, g->count, err)))
		return NULL;
	g->item[g->count] = (struct victim_group) { .job = NULL };
	return &g->item[g->count++];
}

static int add_member(struct finder *f, uint32_t j, double cost, struct sl_error *err)
{
	struct victim_group *g = group_for(f, j, err);

	if (!g || sl_grow_list(&g->job, g->jobs, sizeof(*g->job), err) || sl_grow_list(&g->cost, g->jobs, sizeof(*g->cost), err))
		return -1;
	g->job[g->jobs] = j;
	g->cost[g->jobs++] = cost;
	g->sum += isinf(cost) ? 0 : cost;
	return 0;
}

/* True if the group would free eligible nodes, or licences, of the job. */
static bool is_of_use(const struct finder *f, const struct victim_group *g)
{
	const struct sl_cluster *c = f->a->p->c;

	for (uint32_t i = 0; i < g->jobs; i++) {
		const struct held *h = c->held[g->job[i]];

		for (uint32_t k = 0; k < h->count; k++)
			if (!f->eligible || sl_nodeset_contains(f->eligible, h->place[k].node))
				return true;
		if (h->licenses.count && c->snap->job.licenses[f->a->w->entry.job].count)
			return true;
	}
	return false;
}

/* Remove groups that are useless or have a member that may not be stopped. */
static void drop_groups(struct finder *f)
{
	struct victim_groups *g = f->groups;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->count; i++) {
		bool may = true;

		for (uint32_t k = 0; k < g->item[i].jobs; k++)
			may &= !isinf(g->item[i].cost[k]);
		g->permitted += may ? g->item[i].jobs : 0;
		if (may && is_of_use(f, &g->item[i])) {
			g->item[kept++] = g->item[i];
			continue;
		}
		free(g->item[i].job);
		free(g->item[i].cost);
	}
	g->count = kept;
}

/* True if the job must be listed although it may not be stopped, because it protects its gang.  A comment protects nobody
 * from stops if Slurm spares the job anyway. */
static bool spares_its_gang(const struct finder *f, uint32_t j)
{
	const struct sl_plan *p = f->a->p;

	return plan_is_component(p->c, j) ||
		(gang_of(p->c, j) && sl_snapshot_may_stop(p->c->snap, f->a->w->entry.job, j) && !keeps_some(p, j));
}

int plan_find_victims(struct attempt *a, const struct sl_preempt_terms *terms, struct victim_groups *groups, struct sl_error *err)
{
	const struct sl_cluster *c = a->p->c;
	struct finder f = { .a = a, .terms = terms, .groups = groups, .eligible = a->w->pub.request.eligible };
	int rc = find_circle(&f, err);

	if (!rc && !(f.stopped = calloc((size_t) c->snap->job.rows + 1, sizeof(*f.stopped))))
		rc = plan_no_memory(err);
	for (uint32_t i = 0; !rc && i < a->p->stops; i++)
		f.stopped[a->p->stop[i].job] = true;
	if (!rc && !(f.limits = plan_limits_create(a->p, terms, NULL, NULL, err)))
		rc = -1;
	for (uint32_t i = 0; !rc && i < c->runs; i++) {
		uint32_t j = c->running[i];
		double cost = INFINITY;
		int may = may_be_stopped(&f, j, err);

		if (may > 0)
			rc = cost_of(&f, j, &cost, err);
		if (may < 0)
			rc = -1;
		if (!rc && (may || (c->held[j] && spares_its_gang(&f, j))))
			rc = add_member(&f, j, cost, err);
	}
	if (!rc)
		drop_groups(&f);
	sl_map_free(&f.group_of);
	free(f.circle);
	free(f.stopped);
	plan_limits_free(f.limits);
	return rc;
}

void plan_victims_free(struct victim_groups *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		free(g->item[i].job);
		free(g->item[i].cost);
	}
	free(g->item);
	*g = (struct victim_groups) { NULL, 0, 0 };
}

/* -- when they are gone ----------------------------------------------------------- */

static int64_t gone_at(const struct sl_plan *p, uint32_t j)
{
	const struct sl_job_view *job = &p->c->snap->job;
	int64_t soon = sl_later(p->c->now, SL_OVERDUE_S), grace = sl_later(p->c->now, job->grace_time[j]);

	if (job->preempt_mode[j] == SL_STOP_SUSPEND || job->grace_time[j] < 0)
		grace = soon;
	return grace > soon ? grace : soon;
}

int64_t plan_group_gone_at(const struct sl_plan *p, const struct victim_group *g)
{
	int64_t at = sl_later(p->c->now, SL_OVERDUE_S);

	for (uint32_t k = 0; k < g->jobs; k++) {
		int64_t own = gone_at(p, g->job[k]);

		at = own > at ? own : at;
	}
	return at;
}

int64_t plan_all_gone_at(const struct sl_plan *p, const struct victim_groups *groups, const bool *of)
{
	int64_t at = sl_later(p->c->now, SL_OVERDUE_S);

	for (uint32_t g = 0; g < groups->count; g++) {
		int64_t own = !of || of[g] ? plan_group_gone_at(p, &groups->item[g]) : at;

		at = own > at ? own : at;
	}
	return at;
}

/* -- what the job needs at least, in numbers ------------------------------------------ */

void plan_to_dims(const struct sl_request *r, const struct sl_resources *have, int64_t *amount)
{
	amount[OF_CORES] = have->cores;
	amount[OF_MEMORY] = have->memory;
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		amount[OF_GRES + i] = 0;
		for (int k = 0; k < SL_MAX_GRES; k++)
			amount[OF_GRES + i] += r->gres[i].kinds >> k & 1 ? have->gres[k] : 0;
	}
}

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The least that each node must have. */
void plan_claim(const struct sl_request *r, const struct sl_node_kind *kind, int64_t *claim)
{
	bool alone = r->max_nodes == 1;
	int64_t tasks = r->tasks_per_node_exact ? r->tasks_per_node : alone ? r->tasks : r->tasks > 0;
	int64_t together = at_least(r->tasks_per_core, 1), each = at_least(r->cores_per_task, 1);
	int64_t cores = at_least(at_least((tasks + together - 1) / together * each, r->min_cores_per_node), 1);

	if (alone && !r->tasks)
		cores = at_least(cores, r->cores);
	claim[OF_CORES] = r->whole_nodes ? kind->capacity.cores : cores;
	claim[OF_MEMORY] = r->all_memory ? kind->capacity.memory : r->memory_per_node + r->memory_per_core * cores;
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		const struct sl_gres_need *g = &r->gres[i];

		claim[OF_GRES + i] = g->per == SL_GRES_PER_NODE ? g->count : g->per == SL_GRES_PER_TASK ? g->count * tasks :
			alone ? g->count : 0;
	}
}

void plan_total(const struct sl_timeline *tl, const struct sl_request *r, int64_t *total)
{
	total[OF_CORES] = sl_fit_least_cores(tl, r);
	total[OF_MEMORY] = 0;
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		const struct sl_gres_need *g = &r->gres[i];

		total[OF_GRES + i] = g->per == SL_GRES_PER_NODE ? g->count * at_least(r->min_nodes, 1) :
			g->per == SL_GRES_PER_TASK ? g->count * (int64_t) r->tasks : g->count;
	}
}

/* The search problem, and the context of its questions. */
struct hunt {
	struct attempt *a;
	const struct sl_preempt_terms *terms;
	const struct victim_groups *groups;
	int64_t t, seconds;
	uint64_t most;			/* limit of c->effort.spent */
	struct sl_victim_node *node;
	struct sl_victim_piece *piece;
	uint32_t *number;		/* [cluster node] index in *node*, or SL_NONE */
	double *cost;
	bool *gone;			/* [group] */
	struct sl_victims v;
};

/* Read what is free on a node.  False if a block closes it meanwhile. */
static bool read_node(struct hunt *h, uint32_t n, struct sl_victim_node *node)
{
	const struct sl_request *r = &h->a->w->pub.request;
	int64_t end = sl_later(h->t, h->seconds);
	struct sl_resources there, open;

	sl_timeline_free(h->a->tl, n, h->t, end, &open);
	sl_timeline_unbooked(h->a->tl, n, h->t, end, &there);
	if (!sl_resources_equal(&open, &there))
		return false;
	plan_to_dims(r, &there, node->free);
	plan_claim(r, sl_timeline_kind(h->a->tl, n), node->claim);
	return true;
}

static void read_nodes(struct hunt *h)
{
	const struct sl_want *w = &h->a->w->pub;
	const struct sl_nodeset *eligible = h->a->wakes_nobody ? w->up : w->request.eligible;

	for (uint32_t n = 0; n < h->a->p->c->snap->node.rows; n++) {
		h->number[n] = SL_NONE;
		if ((!eligible || sl_nodeset_contains(eligible, n)) && read_node(h, n, &h->node[h->v.nodes]))
			h->number[n] = h->v.nodes++;
	}
}

static int by_node(const void *a, const void *b)
{
	const struct sl_victim_piece *x = a, *y = b;

	return x->node != y->node ? (x->node > y->node) - (x->node < y->node) : (x->group > y->group) - (x->group < y->group);
}

/* Merge to one piece per group and node. */
static void merge_pieces(struct hunt *h)
{
	uint32_t n = 0;

	qsort(h->piece, h->v.pieces, sizeof(*h->piece), by_node);
	for (uint32_t i = 0; i < h->v.pieces; i++)
		if (n && !by_node(&h->piece[n - 1], &h->piece[i]))
			for (uint32_t d = 0; d < h->v.dims; d++)
				h->piece[n - 1].amount[d] += h->piece[i].amount[d];
		else
			h->piece[n++] = h->piece[i];
	h->v.pieces = n;
}

static void read_pieces(struct hunt *h)
{
	const struct sl_plan *p = h->a->p;

	for (uint32_t g = 0; g < h->groups->count; g++)
		for (uint32_t k = 0; k < h->groups->item[g].jobs; k++) {
			uint32_t j = h->groups->item[g].job[k];

			for (uint32_t i = 0; i < p->c->held[j]->count; i++) {
				uint32_t n = h->number[p->c->held[j]->place[i].node];
				struct sl_victim_piece piece = { .group = g, .node = n };
				struct sl_resources r;

				if (n == SL_NONE)
					continue;
				cluster_count_place(p->c, j, p->c->held[j], i, false, &r);
				plan_to_dims(&h->a->w->pub.request, &r, piece.amount);
				h->piece[h->v.pieces++] = piece;
			}
		}
	merge_pieces(h);
}

/* -- questions ---------------------------------------------------------------------- */

static int hunt_set_gone(void *arg, uint32_t group, bool gone, struct sl_error *err)
{
	struct hunt *h = arg;
	const struct victim_group *g = &h->groups->item[group];

	for (uint32_t k = 0; k < g->jobs; k++)
		if (plan_set_gone(h->a->p, g->job[k], h->t, gone, err) < 0) {
			while (k--)
				(void) plan_set_gone(h->a->p, g->job[k], h->t, !gone, NULL);
			return -1;
		}
	h->gone[group] = gone;
	return 0;
}

static int hunt_fits(void *arg, struct sl_error *err)
{
	struct hunt *h = arg;

	return plan_fits(h->a, h->t, h->seconds, false, err);
}

/* True if the jobs that are gone have other places while the job has its own. */
static int hunt_accepts(void *arg, struct sl_error *err)
{
	struct hunt *h = arg;
	struct sl_plan *p = h->a->p;
	struct booking *b = NULL;
	int rc = plan_fits(h->a, h->t, h->seconds, true, err);

	if (rc > 0)
		rc = plan_take(h->a, h->t, plan_time(p, h->a->w, h->t), &b, err);
	if (rc > 0) {
		rc = plan_find_elsewhere(p, b, h->groups, h->gone, h->t, NULL, NULL, err);
		if (plan_unbook(p, b, rc < 0 ? NULL : err) < 0)
			rc = -1;
		plan_free_booking(b);
	}
	return rc;
}

static bool hunt_has_enough(void *arg)
{
	const struct hunt *h = arg;

	return h->a->p->c->effort.spent > h->most;
}

static size_t count_places(const struct hunt *h)
{
	size_t n = 0;

	for (uint32_t g = 0; g < h->groups->count; g++)
		for (uint32_t k = 0; k < h->groups->item[g].jobs; k++)
			n += h->a->p->c->held[h->groups->item[g].job[k]]->count;
	return n;
}

/* Seconds left for an integer program in this plan. */
static double most_mip(const struct sl_plan *p, const struct sl_preempt_terms *t)
{
	double most = t->most_mip < 0 ? 0 : t->most_mip > 0 ? t->most_mip : SL_PREEMPT_MIP, left = SL_PREEMPT_MIP_OF_PLAN - p->mip_work;

	return left < most ? (left > 0 ? left : 0) : most;
}

static int prepare(struct hunt *h, bool count_alike, struct sl_error *err)
{
	const struct sl_request *r = &h->a->w->pub.request;
	uint32_t nodes = h->a->p->c->snap->node.rows;

	h->number = calloc((size_t) nodes + 1, sizeof(*h->number));
	h->node = calloc((size_t) nodes + 1, sizeof(*h->node));
	h->piece = calloc(count_places(h) + 1, sizeof(*h->piece));
	h->cost = calloc((size_t) h->groups->count + 1, sizeof(*h->cost));
	h->gone = calloc((size_t) h->groups->count + 1, sizeof(*h->gone));
	if (!h->number || !h->node || !h->piece || !h->cost || !h->gone)
		return plan_no_memory(err);
	for (uint32_t g = 0; g < h->groups->count; g++)
		h->cost[g] = count_alike ? h->groups->item[g].jobs : h->groups->item[g].sum;
	h->v = (struct sl_victims) { .groups = h->groups->count, .cost = h->cost, .dims = OF_GRES + r->gres_needs,
		.min_nodes = r->min_nodes ? r->min_nodes : 1, .max_nodes = r->max_nodes, .most_mip = most_mip(h->a->p, h->terms), .bounded = !r->parts && !r->picks, .set_gone = hunt_set_gone,
		.fits = hunt_fits, .accepts = h->terms->elsewhere ? hunt_accepts : NULL, .has_enough = hunt_has_enough, .arg = h };
	read_nodes(h);
	read_pieces(h);
	plan_total(h->a->tl, r, h->v.total);
	h->v.node = h->node;
	h->v.piece = h->piece;
	return 0;
}

int plan_choose_victims(struct attempt *a, const struct sl_preempt_terms *terms, const struct victim_groups *groups, int64_t t,
			int64_t seconds, bool count_alike, struct sl_choice *choice, struct sl_error *err)
{
	uint64_t begun = a->p->c->effort.spent;
	uint64_t most = terms->elsewhere ? SL_PREEMPT_WORK_ELSEWHERE : SL_PREEMPT_WORK;
	struct hunt h = { .a = a, .terms = terms, .groups = groups, .t = t, .seconds = seconds,
			  .most = begun + (terms->most_work ? terms->most_work : most) };
	int rc = prepare(&h, count_alike, err);

	if (!rc) {
		h.v.most_work = terms->most_work ? terms->most_work : most;
		rc = sl_victims_choose(&h.v, choice, err);
		a->p->mip_work += choice->mip_work > 0 ? choice->mip_work + MIP_OVERHEAD : 0;
		if (choice->mip_hung)	/* do not let later jobs wait for a hanging solver again */
			a->p->mip_work = SL_PREEMPT_MIP_OF_PLAN;
	}
	free(h.number);
	free(h.node);
	free(h.piece);
	free(h.cost);
	free(h.gone);
	return rc;
}
