/* SPDX-License-Identifier: MIT */
/*
 * victims.c - the search for the cheapest set of victims; see victims.h
 *
 * First several heuristics find sufficient sets: groups with the best ratio of what they free to their cost; the cheapest
 * nodes one by one; all groups.  From each set superfluous groups are removed, the dearest first.  If the cheapest result
 * costs as little as the lower bound of all sets, it is proven.  Otherwise, with few groups, branch and bound goes through
 * all sets that may be cheaper: each group is kept or stopped, the dearest first.  With more groups, or if that takes too
 * long, an integer program gives a bound and proposes a set (victims_mip.c).
 *
 * If sets must be accepted, the bounds stay valid, because they hold for more sets.  A rejected set does not limit others:
 * all sets that may be cheaper are tried, and those that fit and have no superfluous group are asked about.
 */
#include "model/victims.h"
#include "model/victims_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS_BEFORE_MIP 500	/* questions after which the integer program is tried */
#define SOLVER_DIGITS 1e-6	/* relative precision of the solver's bound */
#define MOST_TO_BRANCH 400	/* most groups for branch and bound */

struct search {
	const struct sl_victims *v;
	struct victim_bounds bounds;
	bool *gone;			/* [group] current state of the questions */
	bool *best;
	uint32_t *order;		/* groups, dearest first */
	uint8_t *state;			/* VICTIM_* in branch and bound */
	double *key;			/* sort keys */
	double cost, bound;		/* of the best set; cost INFINITY: none yet */
	uint32_t looks, sets;
	uint32_t last_look;		/* limit of branch and bound */
	double mip_work;
	bool mip_hung;
	struct sl_error *err;
};

/* -- questions ------------------------------------------------------------- */

static int set_gone(struct search *s, uint32_t g, bool gone)
{
	if (s->gone[g] == gone)
		return 0;
	if (s->v->set_gone(s->v->arg, g, gone, s->err) < 0)
		return -1;
	s->gone[g] = gone;
	return 0;
}

static int set_all(struct search *s, bool gone)
{
	for (uint32_t g = 0; g < s->v->groups; g++)
		if (set_gone(s, g, gone) < 0)
			return -1;
	return 0;
}

static int fits(struct search *s)
{
	s->looks++;
	return s->v->fits(s->v->arg, s->err);
}

/* True if the allowed work is used up. */
static bool has_enough(const struct search *s)
{
	return s->bounds.work > s->v->most_work || (s->v->has_enough && s->v->has_enough(s->v->arg));
}

static double margin(double cost)
{
	return 1e-9 * (1 + fabs(cost));
}

static bool is_cheapest(const struct search *s)
{
	return s->cost <= s->bound + margin(s->bound);
}

/* -- a set that will do ------------------------------------------------------ */

static double cost_of_gone(const struct search *s)
{
	double sum = 0;

	for (uint32_t g = 0; g < s->v->groups; g++)
		sum += s->gone[g] ? s->v->cost[g] : 0;
	return sum;
}

static bool all_cost_something(const struct search *s)
{
	for (uint32_t g = 0; g < s->v->groups; g++)
		if (s->gone[g] && s->v->cost[g] <= margin(s->bound))
			return false;
	return true;
}

/* 1 if no group that is gone is superfluous, 0 or -1. */
static int is_each_needed(struct search *s)
{
	int rc = 0;

	for (uint32_t g = 0; !rc && g < s->v->groups; g++) {
		if (!s->gone[g])
			continue;
		if (set_gone(s, g, false) < 0 || (rc = fits(s)) < 0 || set_gone(s, g, true) < 0)
			return -1;
	}
	return !rc;
}

static int is_accepted(struct search *s)
{
	int rc = s->v->accepts ? is_each_needed(s) : 1;

	return rc > 0 && s->v->accepts ? s->v->accepts(s->v->arg, s->err) : rc;
}

/* Keep the current set if it is accepted and the best so far.  0 or -1. */
static int keep_if_best(struct search *s)
{
	double cost = cost_of_gone(s);
	int rc;

	s->sets++;
	if (cost >= s->cost)
		return 0;
	rc = is_accepted(s);
	if (rc <= 0)
		return rc;
	s->cost = cost;
	memcpy(s->best, s->gone, s->v->groups * sizeof(*s->best));
	return 0;
}

/* Remove superfluous groups from the set, the dearest first; nothing to do if the set costs as little as the bound.  0; 1:
 * given up, some may be superfluous; -1. */
static int put_back_needless(struct search *s)
{
	if (cost_of_gone(s) <= s->bound + margin(s->bound) && all_cost_something(s))
		return 0;
	for (uint32_t i = 0; i < s->v->groups; i++) {
		uint32_t g = s->order[i];
		int rc;

		if (!s->gone[g])
			continue;
		if (has_enough(s))
			return 1;
		if (set_gone(s, g, false) < 0 || (rc = fits(s)) < 0)
			return -1;
		if (!rc && set_gone(s, g, true) < 0)
			return -1;
	}
	return 0;
}

/* Make exactly the first *n* of the listed groups gone. */
static int set_first(struct search *s, const uint32_t *list, uint32_t count, uint32_t n)
{
	for (uint32_t i = 0; i < count; i++)
		if (set_gone(s, list[i], i < n) < 0)
			return -1;
	return 0;
}

/* Find the shortest sufficient prefix of a list of all groups. */
static int try_list(struct search *s, const uint32_t *list, uint32_t count)
{
	uint32_t lo = 0, hi = count;
	int rc;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		rc = set_first(s, list, count, mid) < 0 ? -1 : fits(s);

		if (rc < 0)
			return -1;
		if (rc)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (set_first(s, list, count, hi) < 0 || (rc = put_back_needless(s)) < 0)
		return -1;
	return rc ? 0 : keep_if_best(s);
}

/* -- orders of groups ------------------------------------------------------------- */

struct keyed {
	double key;
	uint32_t which;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->which > y->which) - (x->which < y->which);
}

/* Sort the numbers 0 to n - 1 by key, ascending, into *list.  0, or -1 with s->err. */
static int sort_by_key(struct search *s, const double *key, uint32_t n, uint32_t *list)
{
	struct keyed *k = malloc(((size_t) n + 1) * sizeof(*k));

	if (!k)
		return sl_fail(s->err, SL_ENOMEM, "preempt: out of memory");
	for (uint32_t i = 0; i < n; i++)
		k[i] = (struct keyed) { key[i], i };
	qsort(k, n, sizeof(*k), by_key);
	for (uint32_t i = 0; i < n; i++)
		list[i] = k[i].which;
	free(k);
	return 0;
}

/* Key: cost of a group per unit of what it frees in dimension *d*. */
static void key_by_worth(struct search *s, uint32_t d)
{
	const struct sl_victims *v = s->v;

	for (uint32_t g = 0; g < v->groups; g++)
		s->key[g] = 0;
	for (uint32_t i = 0; i < v->pieces; i++)
		s->key[v->piece[i].group] += (double) v->piece[i].amount[d];
	for (uint32_t g = 0; g < v->groups; g++)
		s->key[g] = s->key[g] > 0 ? v->cost[g] / s->key[g] : INFINITY;
}

/* Key: the cheapest node that a group uses.  0, or -1 with s->err. */
static int key_by_node(struct search *s)
{
	const struct sl_victims *v = s->v;
	uint32_t *list = malloc(((size_t) v->nodes + 1) * sizeof(*list)), *rank = malloc(((size_t) v->nodes + 1) * sizeof(*rank));
	int rc = list && rank ? sort_by_key(s, s->bounds.node_cost, v->nodes, list) :
		sl_fail(s->err, SL_ENOMEM, "preempt: out of memory");

	for (uint32_t n = 0; !rc && n < v->nodes; n++)
		rank[list[n]] = n;
	for (uint32_t g = 0; g < v->groups; g++)
		s->key[g] = INFINITY;
	for (uint32_t i = 0; !rc && i < v->pieces; i++) {
		uint32_t g = v->piece[i].group;
		double at = rank[v->piece[i].node];

		s->key[g] = at < s->key[g] ? at : s->key[g];
	}
	free(list);
	free(rank);
	return rc;
}

/* Try the groups in the order of their keys, as few as suffice.  0 or -1. */
static int try_keys(struct search *s, uint32_t *list)
{
	return sort_by_key(s, s->key, s->v->groups, list) < 0 ? -1 : try_list(s, list, s->v->groups);
}

/* Try heuristics until one finds a provably cheapest set, or the work is used up. */
static int try_rules(struct search *s)
{
	uint32_t *list = malloc(((size_t) s->v->groups + 1) * sizeof(*list));
	int rc = list ? 0 : sl_fail(s->err, SL_ENOMEM, "preempt: out of memory");

	if (!rc && s->v->bounded)
		rc = key_by_node(s) < 0 ? -1 : try_keys(s, list);
	for (uint32_t d = 0; !rc && !is_cheapest(s) && !has_enough(s) && d < s->v->dims; d++) {
		key_by_worth(s, d);
		rc = try_keys(s, list);
	}
	if (!rc && !is_cheapest(s) && !has_enough(s)) {
		memcpy(s->key, s->v->cost, s->v->groups * sizeof(*s->key));
		rc = try_keys(s, list);
	}
	free(list);
	return rc;
}

/* -- all sets ------------------------------------------------------------------ */

/* True if no completion of the current decisions can be cheaper than the best set. */
static bool is_hopeless(struct search *s, double cost)
{
	if (isinf(s->cost))
		return false;
	if (cost >= s->cost - margin(s->cost))
		return true;
	return cost + victims_bound(&s->bounds, s->state) >= s->cost - margin(s->cost);
}

/* Branch and bound.  Groups before index *at* of the order are decided, and the stopped ones cost *cost*; the others are
 * open, and gone.  1: all sets were covered; 0: too many; -1. */
static int branch(struct search *s, uint32_t at, double cost)
{
	uint32_t g = at < s->v->groups ? s->order[at] : 0;
	int rc, all = 1;

	if (at == s->v->groups)
		return keep_if_best(s) < 0 ? -1 : 1;
	if (has_enough(s) || s->looks > s->last_look)
		return 0;
	s->state[g] = VICTIM_KEPT;
	if (!is_hopeless(s, cost)) {
		if (set_gone(s, g, false) < 0 || (rc = fits(s)) < 0)
			return -1;
		all = rc ? branch(s, at + 1, cost) : 1;
		if (all < 0 || set_gone(s, g, true) < 0)
			return -1;
	}
	s->state[g] = VICTIM_STOPPED;
	if (all && !is_hopeless(s, cost + s->v->cost[g]))
		all = branch(s, at + 1, cost + s->v->cost[g]);
	s->state[g] = VICTIM_OPEN;
	return all;
}

/* -- the integer program ----------------------------------------------------------- */

/* Try the proposal's groups first, then the others by worth. */
static int try_proposal(struct search *s, const bool *chosen)
{
	uint32_t *list = malloc(((size_t) s->v->groups + 1) * sizeof(*list));
	int rc;

	if (!list)
		return sl_fail(s->err, SL_ENOMEM, "preempt: out of memory");
	key_by_worth(s, 0);
	for (uint32_t g = 0; g < s->v->groups; g++)
		if (chosen[g])
			s->key[g] = -1;
	rc = try_keys(s, list);
	free(list);
	return rc;
}

static int try_program(struct search *s)
{
	bool *chosen = calloc((size_t) s->v->groups + 1, sizeof(*chosen));
	struct sl_proposal out;
	struct sl_error why;
	int rc;

	if (!chosen)
		return sl_fail(s->err, SL_ENOMEM, "preempt: out of memory");
	rc = victims_solve(&s->bounds, chosen, &out, &why);
	s->mip_work += out.work;
	s->mip_hung |= out.hung;
	if (rc >= 0 && out.bound > s->bound)
		s->bound = out.bound;
	/* without a solver there is no proposal, which is not an error */
	rc = rc > 0 ? try_proposal(s, chosen) : 0;
	free(chosen);
	/* within the solver's precision */
	if (!rc && s->cost > s->bound && s->cost <= s->bound * (1 + SOLVER_DIGITS))
		s->bound = s->cost;
	return rc;
}

/* -- the whole search ---------------------------------------------------------------- */

/* Try the sets that may be cheaper than the best, as far as the work allows.  0 or -1. */
static int look_through(struct search *s, bool *all)
{
	int rc;

	*all = false;
	if (is_cheapest(s) || s->v->groups > MOST_TO_BRANCH)
		return 0;
	s->last_look = s->v->most_mip > 0 && !s->v->accepts ? s->looks + LOOKS_BEFORE_MIP : UINT32_MAX;
	if (set_all(s, true) < 0 || (rc = branch(s, 0, 0)) < 0)
		return -1;
	*all = rc;
	if (rc && !isinf(s->cost))
		s->bound = s->cost;
	return 0;
}

static int search_all(struct search *s, struct sl_choice *c)
{
	bool all;
	int rc;

	if (set_all(s, true) < 0 || (rc = fits(s)) < 0)
		return -1;
	if (!rc) {
		c->verdict = SL_VERDICT_IMPOSSIBLE;
		return 0;
	}
	s->bound = victims_bound(&s->bounds, s->state);
	if (isinf(s->bound))
		s->bound = 0;	/* the numbers must be wrong, because the job fits */
	if (try_rules(s) < 0)
		return -1;
	if (isinf(s->cost) && !s->v->accepts) {
		c->verdict = SL_VERDICT_UNPROVEN;
		return 0;
	}
	if (look_through(s, &all) < 0 ||
	    (!all && !is_cheapest(s) && s->v->bounded && s->v->most_mip > 0 && try_program(s) < 0))
		return -1;
	c->none_accepted = all && isinf(s->cost);
	if (isinf(s->cost)) {
		c->verdict = all ? SL_VERDICT_IMPOSSIBLE : SL_VERDICT_UNPROVEN;
		return 0;
	}
	c->verdict = is_cheapest(s) ? SL_VERDICT_OPTIMAL : SL_VERDICT_FOUND;
	c->bound = s->bound < s->cost ? s->bound : s->cost;
	c->cost = s->cost;
	return 0;
}

static int sort_dearest_first(struct search *s)
{
	for (uint32_t g = 0; g < s->v->groups; g++)
		s->key[g] = -s->v->cost[g];
	return sort_by_key(s, s->key, s->v->groups, s->order);
}

static void end_search(struct search *s)
{
	victims_end_bounds(&s->bounds);
	free(s->gone);
	free(s->best);
	free(s->order);
	free(s->state);
	free(s->key);
}

int sl_victims_choose(const struct sl_victims *v, struct sl_choice *choice, struct sl_error *err)
{
	size_t n = (size_t) v->groups + 1;
	struct search s = { .v = v, .cost = INFINITY, .err = err, .gone = calloc(n, sizeof(bool)), .best = calloc(n, sizeof(bool)),
			    .order = calloc(n, sizeof(uint32_t)), .state = calloc(n, 1), .key = calloc(n, sizeof(double)) };
	int rc = -1;

	*choice = (struct sl_choice) { .verdict = SL_VERDICT_NONE };
	if (!s.gone || !s.best || !s.order || !s.state || !s.key) {
		sl_fail(err, SL_ENOMEM, "preempt: out of memory");
	} else if (!sort_dearest_first(&s) && !victims_begin_bounds(&s.bounds, v, err)) {
		rc = search_all(&s, choice);
		s.err = NULL;
		if (set_all(&s, false) < 0 && !rc)
			rc = sl_fail(err, SL_EINVAL, "preempt: a job that was taken for gone cannot be put back");
	}
	choice->looks = s.looks;
	choice->sets = s.sets;
	choice->mip_work = s.mip_work;
	choice->mip_hung = s.mip_hung;
	if (!rc && (choice->verdict == SL_VERDICT_OPTIMAL || choice->verdict == SL_VERDICT_FOUND)) {
		choice->stopped = s.best;
		s.best = NULL;
		for (uint32_t g = 0; g < v->groups; g++)
			choice->count += choice->stopped[g];
	}
	end_search(&s);
	return rc;
}

void sl_choice_free(struct sl_choice *c)
{
	free(c->stopped);
	c->stopped = NULL;
}
