/* SPDX-License-Identifier: MIT */
/*
 * want_variants.c - making the list of a job's variants, after the rest of its request.
 *
 * Some jobs can be placed exactly only with a little more room than they need.  Such a job has two requests.  The exact one
 * leaves nothing for select to choose and is tried first.  Its own is what the job asks for and is left to select, so that no
 * job waits only because it cannot be placed exactly.  The exact request uses fewer nodes or needs more room in these cases:
 *
 *	gres of the job			min_nodes nodes (want_gres.c)
 *	sockets of parts of nodes	so many free cores that their sockets do not matter (want_sockets.c)
 *	sockets of several nodes	the same, and equal numbers of tasks on each
 *	features that a reboot brings	nodes on which they are active
 */
#include "model/native.h"
#include "model/want_private.h"

#include <stdlib.h>
#include <string.h>

/* True if the job must not be left to select, which knows neither borrowed nodes nor a policy's node sets. */
static bool is_kept_from_select(const struct want *w)
{
	return w->entry.loan || w->entry.confine;
}

/* -- exact on some nodes --------------------------------------------------------- */

/* True if the request describes the job completely apart from the option that leaves it to select.  The request of a
 * native job has no switch limit, CPU cap or choice of nodes, so a job with one of these is not complete. */
static bool is_whole(const struct sl_cluster *c, const struct want *w)
{
	return !c->snap->job.switches[w->entry.job] && !cluster_part(c, &w->entry)->cap && !w->choices && !w->parts &&
		!w->rows.spare;
}

/* True if only features that need a reboot leave the job to select, and its constraint leaves no choice among features. */
static bool needs_active(const struct sl_cluster *c, const struct want *w, sl_word_set left)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job, choices;

	return left == SL_W(REBOOT) && !*cluster_str(c, job->prefer[j]) &&
		sl_constraint_read(cluster_str(c, job->features[j]), &choices) == SL_CONSTRAINT_PLACED && choices == 1;
}

/* True if sockets are the only reason why select would place the job, and each of a known number of nodes gets the same number
 * of tasks.  With CR_LLN the job must get one node: on several nodes select distributes the tasks as it likes. */
static bool is_even(const struct want *w, sl_word_set left, const struct exact *x)
{
	const sl_word_set by_sockets = SL_SOCKET_SHAPE | (x->even_nodes == 1 ? SL_W(CR_LLN) : 0);
	const struct sl_request *r = &w->pub.request;

	return x->even_nodes && !(left & ~by_sockets) && !w->counts && !r->plane && !r->picks;
}

/* Restrict the exact request to nodes on which the features are active.  1 if there are any, 0 or -1. */
static int confine_to_active(struct sl_cluster *c, struct want *w, struct exact *x, struct sl_error *err)
{
	const struct sl_nodeset *f = sl_features_nodes(c->features, c->snap->job.features[w->entry.job], 0, err);

	if (!f || sl_nodeset_meet(&w->active, w->pub.request.eligible, f, err) < 0)
		return -1;
	x->request.eligible = &w->active;
	return w->active.count > 0;
}

int want_some_nodes(struct sl_cluster *c, struct want *w, sl_word_set left, struct exact *x, struct sl_error *err)
{
	struct sl_request *r = &x->request;

	if (is_kept_from_select(w) || w->pub.asked & SL_W(BLOCKS) || !is_whole(c, w))
		return 0;
	x->narrower = true;
	if (needs_active(c, w, left))
		return confine_to_active(c, w, x, err);
	if (!is_even(w, left, x))
		return 0;
	*r = w->pub.request;
	r->min_nodes = r->max_nodes = x->even_nodes;
	r->tasks_per_node = r->tasks / x->even_nodes;
	r->least_free_cores = x->even_free;
	return 1;
}

/* -- the list ---------------------------------------------------------------- */

struct list {
	uint32_t n;
	struct sl_variant at[SL_MAX_VARIANTS];
};

static struct sl_variant *add(struct list *l, const struct sl_variant *v)
{
	l->at[l->n] = *v;
	return &l->at[l->n++];
}

/* Make a variant for each range of node counts.  A start now uses the most nodes that fit; a later one the count that
 * starts soonest, of equal ones the fewest nodes. */
static void list_counts(const struct want *w, struct list *l)
{
	const struct sl_variant one = l->at[0];

	l->n = 0;
	for (uint32_t i = 0; i < 2 * w->counts; i++) {
		struct sl_variant *v = add(l, &one);
		const struct count_run *run = &w->count[i < w->counts ? w->counts - 1 - i : i - w->counts];

		v->now = i < w->counts;
		v->later = !v->now;
		v->request.min_nodes = run->first;
		v->request.max_nodes = run->last;
		v->request.most_nodes = run->first < run->last;
	}
}

/* Make a copy of all variants for each node set. */
static void list_choices(const struct want *w, struct list *l)
{
	const uint32_t n = l->n;

	for (uint32_t i = n; i < n * w->choices; i++)
		add(l, &l->at[i % n])->request.eligible = &w->choice[i / n];
	for (uint32_t i = 0; i < n; i++)
		l->at[i].request.eligible = &w->choice[0];
}

/* Add a second variant of each, with any switches, from the time on at which the job stops waiting for few. */
static void list_switches(const struct want *w, struct list *l)
{
	for (uint32_t i = 0, n = l->n; i < n; i++) {
		struct sl_variant *any = add(l, &l->at[i]);

		any->request.max_leaves = 0;
		any->from = l->at[i].until = w->leaves_until;
	}
}

/* Expand one variant by all choices of the job. */
static void list_all(const struct want *w, struct list *l)
{
	if (w->pub.many_counts)
		list_counts(w, l);
	if (w->pub.many_sets)
		list_choices(w, l);
	if (w->pub.request.max_leaves)
		list_switches(w, l);
}

/* Append the variants of the job's own request, which are left to select.  They are for later starts, too, if the exact
 * request is narrower, because they may start sooner or on more nodes. */
static void list_select(const struct want *w, const struct exact *x, struct list *l)
{
	struct list own;

	own.n = 1;
	own.at[0] = w->pub.bound;
	list_all(w, &own);
	for (uint32_t i = 0; i < own.n; i++) {
		struct sl_variant *v = add(l, &own.at[i]);

		v->select = true;
		v->later = v->later && x->narrower;
	}
}

/* Add a variant for a start now on shared cores (want_shared.c). */
static struct sl_variant *add_now(struct list *l, const struct sl_variant *v)
{
	struct sl_variant *now = add(l, v);

	now->later = false;
	now->in_rows = true;
	return now;
}

static void spare(struct sl_variant *v, const struct rows *rows)
{
	v->request.spare_cores = rows->spare;
	if (v->request.least_free_cores)
		v->request.least_free_cores += rows->spare;
}

/* Shared cores, in the order tried for a start now: cores that no job uses; nodes on which some row certainly has enough;
 * select.  Later starts only count cores. */
static void list_rows(const struct want *w, struct list *l)
{
	struct list all;
	const struct rows *rows = &w->rows;

	all.n = 0;
	for (uint32_t i = 0; i < l->n; i++)
		spare(add_now(&all, &l->at[i]), rows);
	for (uint32_t i = 0; rows->enough && i < l->n; i++) {
		struct sl_variant *enough = add_now(&all, &l->at[i]);

		enough->request.least_free_cores = rows->enough;
		if (rows->alone)
			enough->request.max_nodes = 1;
	}
	for (uint32_t i = 0; !is_kept_from_select(w) && i < l->n; i++) {
		struct sl_variant *select = add_now(&all, &l->at[i]);

		select->in_rows = false;
		select->select = true;
	}
	for (uint32_t i = 0; i < l->n; i++)
		add(&all, &l->at[i])->now = false;
	*l = all;
}

/* True if variants of the job's own request follow. */
static bool has_own(const struct want *w, const struct exact *x)
{
	return !is_kept_from_select(w) &&
		(x->narrower || x->request.least_free_cores > w->pub.request.least_free_cores);
}

bool want_can_list(const struct want *w, const struct exact *x)
{
	uint64_t n = (uint64_t) (w->counts > 1 ? 2 * w->counts : 1) * (w->choices > 1 && !w->pub.native ? w->choices : 1) *
		(w->pub.request.max_leaves ? 2 : 1) * (w->rows.spare ? 4 : has_own(w, x) ? 2 : 1);

	return n <= SL_MAX_VARIANTS;
}

static int make_list(struct want *w, const struct exact *x, bool own, struct sl_error *err)
{
	struct list l;

	l.n = 1;
	l.at[0] = w->pub.bound;
	l.at[0].request = x->request;
	list_all(w, &l);
	if (w->rows.spare && !w->pub.native)
		list_rows(w, &l);
	else if (own)
		list_select(w, x, &l);
	w->list = malloc(l.n * sizeof(*w->list));
	if (!w->list)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	memcpy(w->list, l.at, l.n * sizeof(*w->list));
	w->pub.variant = w->list;
	w->pub.variants = l.n;
	return 0;
}

int want_list(struct want *w, const struct exact *x, struct sl_error *err)
{
	struct sl_want *pub = &w->pub;
	const bool own = has_own(w, x);

	if (!own)
		pub->request = x->request;
	pub->bound.from = INT64_MIN;
	pub->bound.until = INT64_MAX;
	pub->bound.now = pub->bound.later = true;
	pub->variant = &pub->bound;
	pub->variants = 1;
	pub->exact = &pub->request;
	if (!want_can_list(w, x))
		return 0;
	pub->many_sets = w->choices > 1 && !pub->native;
	pub->many_counts = w->counts > 1;
	if (!(pub->many_sets || pub->many_counts || pub->request.max_leaves || own || (w->rows.spare && !pub->native)))
		return 0;
	if (make_list(w, x, own, err) < 0)
		return -1;
	if (own && !pub->many_sets && !pub->many_counts)
		pub->exact = &w->list->request;
	return 0;
}

/* -- choosing among variants ----------------------------------------------------- */

bool cluster_has_select(const struct want *w, bool now)
{
	for (uint32_t i = 0; i < w->pub.variants; i++)
		if (w->pub.variant[i].select && (now ? w->pub.variant[i].now : w->pub.variant[i].later))
			return true;
	return false;
}

void cluster_tell_misfit(const struct want *w, struct telling *told, const struct sl_variant *v, struct sl_misfit *misfit)
{
	bool as_before = told->of && (v->request.min_nodes > w->pub.request.min_nodes ||
				      (told->of->select == v->select && told->of->request.eligible != v->request.eligible &&
				       told->misfit.have >= misfit->have));

	if (as_before)
		*misfit = told->misfit;
	else
		*told = (struct telling) { v, *misfit };
}
