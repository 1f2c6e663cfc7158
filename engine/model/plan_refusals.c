/* SPDX-License-Identifier: MIT */
/*
 * plan_refusals.c - requests that could not start a moment ago, or not before some time.
 *
 * While bookings are only added, ever less is free.  If a request was refused, so is any other that asks for at least as much
 * for at least as long, until a booking is removed.  So most jobs of a long queue are refused without looking at the
 * timeline.
 */
#include "model/plan_private.h"

/* True if variant *a* of *less* may use all nodes that variant *b* of *w* may: both have the same set, or *a* has all
 * usable nodes of their common partition. */
static bool has_all_nodes_of(const struct sl_cluster *c, const struct want *less, const struct sl_variant *a,
			     const struct want *w, const struct sl_variant *b)
{
	return a->request.eligible == b->request.eligible ||
		(a->request.eligible == &cluster_part(c, &less->entry)->usable && less->entry.partition == w->entry.partition &&
		 less->entry.loan == w->entry.loan);
}

static uint32_t or_most(uint32_t limit)
{
	return limit ? limit : UINT32_MAX;
}

static bool wants_block(const struct attempt *a)
{
	return a->w->pub.request.contiguous || a->how.method == SL_PLACE_CONTIGUOUS;
}

/* True if that variant is used for a start now. */
static bool is_due(const struct sl_variant *v, int64_t now)
{
	return v->now && v->from <= now && now < v->until;
}

/* True if *b* asks for no less than *a*, for a start now. */
static bool is_variant_no_less(const struct sl_variant *a, const struct sl_variant *b)
{
	return (b->select || !a->select) && (b->in_rows || !a->in_rows) && sl_request_asks_no_less(&a->request, &b->request);
}

/* A cheap test: most jobs ask for fewer tasks than the refused one, in all their variants. */
static inline bool asks_fewer_tasks(const struct want *w, const struct want *less)
{
	return w->pub.request.tasks < less->pub.request.tasks;
}

/* True if *less* fits wherever *w* fits now: for each variant of *w* there is one of *less* that asks for no more.
 * *native*: only variants for select were tried for *less*. */
static bool asks_no_less(const struct attempt *a, const struct want *less, bool native)
{
	const struct want *w = a->w;
	int64_t now = a->p->c->now;

	if (less->enclave != w->enclave)
		return false;
	if (less->pub.up && less->resv == SL_NONE && w->resv != SL_NONE)	/* no boot time is counted for w */
		return false;
	for (uint32_t k = 0; k < w->pub.variants; k++) {
		const struct sl_variant *b = &w->pub.variant[k], *of_less = less->pub.variant;
		uint32_t i = 0;

		if (!is_due(b, now) || !cluster_tries(w, b, true, a->how.method))
			continue;
		while (i < less->pub.variants &&
		       !(is_variant_no_less(&of_less[i], b) && is_due(&of_less[i], now) &&
			 has_all_nodes_of(a->p->c, less, &of_less[i], w, b) &&
			 (!native || cluster_tries(less, &of_less[i], true, SL_PLACE_NATIVE))))
			i++;
		if (i == less->pub.variants)
			return false;
	}
	return true;
}

/* Part of a block of nodes need not be a block. */
static bool blocks_no_less(bool block, const struct want *w, const struct attempt *a)
{
	return !block || (wants_block(a) && or_most(w->pub.request.max_nodes) >= or_most(a->w->pub.request.max_nodes));
}

/* Adapt a kept lack to another job: what is free stays, what is needed is this job's own. */
static void tell_lack(const struct refused *m, const struct want *w, struct lack *lack)
{
	*lack = m->lack;
	if (lack->misfit.lack == SL_LACK_NODES)
		lack->misfit.need = w->pub.request.min_nodes;
	else if (lack->misfit.lack == SL_LACK_CORES)
		lack->misfit.need = w->pub.request.tasks;
	else if (lack->misfit.lack == SL_LACK_MAX_NODES)
		lack->misfit.have = w->pub.request.max_nodes;
}

bool plan_refusals_find(const struct attempt *a, enum refusal_kind kind, int64_t seconds, struct lack *lack)
{
	const struct sl_plan *p = a->p;

	if (a->how.method == SL_PLACE_EXPLICIT)
		return false;
	for (uint32_t i = 0; i < p->refusals; i++) {
		const struct refused *m = &p->refusal[i];

		if (m->kind != kind || m->seconds > seconds || asks_fewer_tasks(a->w, m->w) ||
		    (m->native && a->how.method != SL_PLACE_NATIVE) || !asks_no_less(a, m->w, m->native) ||
		    !blocks_no_less(m->block, m->w, a))
			continue;
		tell_lack(m, a->w, lack);
		return true;
	}
	return false;
}

void plan_refusals_keep(const struct attempt *a, enum refusal_kind kind, int64_t seconds)
{
	enum sl_lack lack = a->lack.misfit.lack;
	struct sl_plan *p = a->p;

	if (a->how.method == SL_PLACE_EXPLICIT || a->wake_after || a->lack.license != SL_NONE ||
	    (lack != SL_LACK_NODES && lack != SL_LACK_CORES && lack != SL_LACK_MAX_NODES && lack != SL_LACK_BLOCK))
		return;
	p->refusal[p->next_refusal] = (struct refused) { .w = a->w, .kind = kind, .block = wants_block(a),
		.native = a->how.method == SL_PLACE_NATIVE, .seconds = seconds, .lack = a->lack };
	p->next_refusal = (p->next_refusal + 1) % PLAN_REFUSALS;
	if (p->refusals < PLAN_REFUSALS)
		p->refusals++;
}

void plan_refusals_forget(struct sl_plan *p)
{
	p->refusals = p->next_refusal = 0;
	p->waits = p->next_wait = 0;
	p->stuck = NULL;
}

int plan_fits_now(struct attempt *a, int64_t seconds, bool layout, struct sl_error *err)
{
	int rc = plan_fits(a, a->p->c->now, seconds, layout, err);

	if (!rc)
		plan_refusals_keep(a, REFUSED_NOW, seconds);
	return rc;
}

/* -- earliest starts ---------------------------------------------------------- */

/* True if the time found for it is certainly the earliest. */
static bool is_exact(const struct attempt *a)
{
	return sl_request_has_first_start(&a->w->pub.request) && a->w->pub.variants == 1 && a->how.method != SL_PLACE_EXPLICIT &&
	       !a->how.segment && a->how.method != SL_PLACE_OWN;	/* the score may refuse nodes that another job
									 * could use */
}

/* A lower bound of the start from *from* on. */
static int64_t begin_at(const struct attempt *a, int64_t from, int64_t seconds)
{
	const struct sl_plan *p = a->p;
	int64_t begin = from;

	for (uint32_t i = 0; i < p->waits; i++) {
		const struct waited *m = &p->wait[i];

		if (m->until > begin && m->from <= from && m->seconds <= seconds && !asks_fewer_tasks(a->w, m->w) &&
		    asks_no_less(a, m->w, false) && blocks_no_less(m->block, m->w, a))
			begin = m->until;
	}
	return begin;
}

static void keep_wait(const struct attempt *a, int64_t from, int64_t seconds, int64_t until)
{
	struct sl_plan *p = a->p;

	p->wait[p->next_wait] = (struct waited) { .w = a->w, .block = wants_block(a), .seconds = seconds,
						  .from = from, .until = until };
	p->next_wait = (p->next_wait + 1) % PLAN_WAITS;
	if (p->waits < PLAN_WAITS)
		p->waits++;
}

int plan_fit_earliest(struct attempt *a, const struct sl_request *r, int64_t from, int64_t latest, int64_t *start,
		      struct sl_error *err)
{
	bool exact = is_exact(a) && !a->on_up;	/* a search on some of its nodes says nothing about all */
	int64_t begin = exact ? begin_at(a, from, r->duration) : from;
	int rc;

	cluster_scores_for(a->p->c, a->w->entry);
	rc = sl_fit_earliest(a->tl, r, &a->how, begin, latest, start, &a->layout, &a->lack.misfit, err);

	if (!rc && begin > from)	/* search again from *from* on, since the reason must cover the skipped times */
		rc = sl_fit_earliest(a->tl, r, &a->how, from, latest, start, &a->layout, &a->lack.misfit, err);
	if (rc > 0 && exact && *start > begin)
		keep_wait(a, from, r->duration, *start);
	return rc;
}
