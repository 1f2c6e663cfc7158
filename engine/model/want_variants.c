/* SPDX-License-Identifier: MIT */
/*
 * want_variants.c - the variants of a job, once all else of its request is known.
 *
 * Some jobs can be placed exactly only where there is room for a little more than they need.  Such a job has two requests.
 * The strict one leaves nothing for select to choose.  The wide one (w->wide) is what the job itself asks for, and is left to
 * select.  The strict one is tried first; the wide one makes sure that no job waits only because it cannot be placed exactly:
 *
 *	gres of the job			on its fewest nodes (want_gres.c)
 *	sockets of several nodes	the same number of tasks on each, and so many cores free that it does not matter
 *					of which sockets they are
 *	features that a reboot brings	on nodes where they are active
 */
#include "model/native.h"
#include "model/want_private.h"

#include <stdlib.h>
#include <string.h>

void want_keep_wide(struct want *w)
{
	const struct sl_request *r = &w->pub.request;

	w->wide = (struct wide) { .max_nodes = r->max_nodes, .min_nodes = r->min_nodes, .tasks_per_node = r->tasks_per_node,
				  .min_cores_per_node = r->min_cores_per_node, .gres = r->gres[0] };
}

void want_restore_wide(const struct want *w, struct sl_request *r)
{
	r->least_free_cores = w->room;
	r->max_nodes = w->wide.max_nodes;
	r->min_nodes = w->wide.min_nodes;
	r->tasks_per_node = w->wide.tasks_per_node;
	r->min_cores_per_node = w->wide.min_cores_per_node;
	if (w->wide.gres.count)
		r->gres[0] = w->wide.gres;
	if (w->wide.eligible)
		r->eligible = w->wide.eligible;
}

/* -- native but for that ---------------------------------------------------- */

/* True if the request describes the job completely apart from the option that makes it native.  The request of a native job
 * has no switch limit, no CPU cap and no choice of nodes, so a job that has one of these is not complete. */
static bool is_whole(const struct sl_cluster *c, const struct want *w)
{
	return !c->snap->job.switches[w->entry.job] && !cluster_part(c, &w->entry)->cap && !w->choices && !w->parts &&
		!w->rows.spare;
}

/* True if only features that need a reboot make the job native, and its constraint leaves no choice among features. */
static bool needs_active(const struct sl_cluster *c, const struct want *w)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job, choices;

	return w->pub.native == SL_W(REBOOT) && !*cluster_str(c, job->prefer[j]) &&
		sl_constraint_read(cluster_str(c, job->features[j]), &choices) == SL_CONSTRAINT_PLACED && choices == 1;
}

/* True if sockets are the only reason why select would place the job, and each of a known number of nodes gets the same number
 * of tasks.  With LLN the job must get one node: on several nodes select distributes the tasks as it likes. */
static bool is_even(const struct want *w)
{
	const sl_word_set by_sockets = SL_SOCKET_SHAPE | (w->even_nodes == 1 ? SL_W(LLN) : 0);
	const struct sl_request *r = &w->pub.request;

	return w->even_nodes && w->pub.native && !(w->pub.native & ~by_sockets) && !w->counts && !r->plane && !r->picks;
}

/* The request has been made strict, so the engine places the job.  w->wide remembers why select would have to. */
static void is_placed(struct want *w)
{
	w->wide.differs = true;
	w->wide.native = w->pub.native;
	w->pub.native = 0;
	w->pub.method = w->placed;
}

/* The strict request: on nodes where the features are active, if there are any. */
static int confine_to_active(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	const struct sl_nodeset *f = sl_features_nodes(c->features, c->snap->job.features[w->entry.job], 0, err);
	struct sl_request *r = &w->pub.request;

	if (!f || sl_nodeset_meet(&w->active, r->eligible, f, err) < 0)
		return -1;
	if (!w->active.count)
		return 0;
	want_keep_wide(w);
	w->wide.eligible = r->eligible;
	r->eligible = &w->active;
	is_placed(w);
	return 0;
}

static void deal_evenly(struct want *w)
{
	struct sl_request *r = &w->pub.request;

	want_keep_wide(w);
	r->min_nodes = r->max_nodes = w->even_nodes;
	r->tasks_per_node = w->even_tasks;
	r->least_free_cores = sl_max(w->even_free, w->room);
	is_placed(w);
}

int want_place_strictly(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	if (w->entry.loan || w->pub.asked & SL_W(BLOCKS) || !is_whole(c, w))
		return 0;
	if (needs_active(c, w))
		return confine_to_active(c, w, err);
	if (is_even(w))
		deal_evenly(w);
	return 0;
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

static void widen(const struct want *w, struct sl_request *r)
{
	r->least_free_cores = w->room;
	if (w->wide.differs)
		want_restore_wide(w, r);
}

/* True if the job must not be left to select: select does not know of borrowed nodes, nor of a policy's sets. */
static bool is_kept_from_select(const struct want *w)
{
	return w->entry.loan || w->entry.confine;
}

/* A variant for each node count.  A start now takes the most nodes that fit; a later one the count that starts soonest, of
 * equal ones the fewest nodes. */
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

/* For each set of nodes a copy of all variants so far. */
static void list_choices(const struct want *w, struct list *l)
{
	const uint32_t n = l->n;

	for (uint32_t i = n; i < n * w->choices; i++)
		add(l, &l->at[i % n])->request.eligible = &w->choice[i / n];
	for (uint32_t i = 0; i < n; i++)
		l->at[i].request.eligible = &w->choice[0];
}

/* A second variant of each: the job takes any switches once it has waited as long as it was willing to. */
static void list_switches(const struct want *w, struct list *l)
{
	for (uint32_t i = 0, n = l->n; i < n; i++) {
		struct sl_variant *any = add(l, &l->at[i]);

		any->request.max_leaves = 0;
		any->from = l->at[i].until = w->leaves_until;
	}
}

/* After all exact variants the wide ones, which are left to select.  They are for later starts, too, if the wide request
 * differs from the exact one: then it may start sooner, or on more nodes. */
static void list_select(const struct want *w, struct list *l)
{
	for (uint32_t i = 0, n = l->n; i < n; i++) {
		struct sl_variant *wide = add(l, &l->at[i]);

		widen(w, &wide->request);
		wide->select = true;
		wide->later = wide->later && w->wide.differs;
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

/* Shared cores, in the order in which they are tried for a start now: cores that no job has; nodes on which some row is sure
 * to have enough; select.  Later starts only count cores. */
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

/* True if there would be more than SL_MAX_VARIANTS: the job is left to select. */
static bool are_too_many(struct want *w, bool wide)
{
	uint64_t n = (uint64_t) (w->pub.many_counts ? 2 * w->counts : 1) * (w->pub.many_sets ? w->choices : 1) *
		(w->pub.request.max_leaves ? 2 : 1) * (w->rows.spare ? 4 : wide ? 2 : 1);

	if (n <= SL_MAX_VARIANTS)
		return false;
	w->pub.asked |= SL_W(MANY_CHOICES);
	w->pub.native = sl_words_left(w->pub.asked);
	w->pub.many_counts = w->pub.many_sets = false;
	w->pub.request.max_leaves = 0;
	want_leave_to_select(w);
	return true;
}

static int make_list(struct want *w, bool wide, struct sl_error *err)
{
	struct list l;

	l.n = 1;
	l.at[0] = w->pub.bound;
	if (w->pub.many_counts)
		list_counts(w, &l);
	if (w->pub.many_sets)
		list_choices(w, &l);
	if (w->pub.request.max_leaves)
		list_switches(w, &l);
	if (w->rows.spare && !w->pub.native)
		list_rows(w, &l);
	else if (wide)
		list_select(w, &l);
	w->list = malloc(l.n * sizeof(*w->list));
	if (!w->list)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	memcpy(w->list, l.at, l.n * sizeof(*w->list));
	w->pub.variant = w->list;
	w->pub.variants = l.n;
	return 0;
}

int want_list(struct want *w, struct sl_error *err)
{
	struct sl_want *pub = &w->pub;
	bool wide = (w->wide.differs || pub->request.least_free_cores > w->room) && !is_kept_from_select(w);

	pub->bound.from = INT64_MIN;
	pub->bound.until = INT64_MAX;
	pub->bound.now = pub->bound.later = true;
	pub->variant = &pub->bound;
	pub->variants = 1;
	pub->exact = &pub->request;
	pub->many_sets = w->choices > 1 && !pub->native;
	pub->many_counts = w->counts > 1;
	if (!(pub->many_sets || pub->many_counts || pub->request.max_leaves || wide || (w->rows.spare && !pub->native)) ||
	    are_too_many(w, wide))
		return 0;
	if (make_list(w, wide, err) < 0)
		return -1;
	if (wide && !pub->many_sets && !pub->many_counts)
		pub->exact = &w->list->request;
	if (wide)
		widen(w, &pub->request);
	return 0;
}

/* -- which of them ----------------------------------------------------------- */

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
