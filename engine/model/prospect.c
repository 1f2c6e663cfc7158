/* SPDX-License-Identifier: MIT */
/* prospect.c - see model/prospect.h */
#include "model/prospect.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/plan_private.h"
#include "timeline/choose.h"

static const struct want *want_of(const struct sl_prospect *w)
{
	return (const struct want *) w->want;	/* *pub* is the first member */
}

static struct attempt attempt_at(const struct sl_prospect *w)
{
	return (struct attempt) { .p = w->plan, .w = want_of(w), .tl = w->tl, .how.method = w->method };
}

struct sl_cluster *sl_plan_cluster(const struct sl_plan *p)
{
	return p->c;
}

int sl_plan_prospect(struct sl_plan *p, struct sl_entry e, struct sl_prospect *out, struct sl_error *err)
{
	const struct want *w;
	struct sl_refusal why;
	struct attempt a;
	int rc;

	p->cost.is_well_asked = false;
	if (plan_check_idle(p, "place", err) < 0)
		return -1;
	w = plan_look_up(p, e, NULL, err);
	if (!w)
		return -1;
	rc = plan_gate(p, w, NULL, &why);
	if (rc > 0)
		rc = plan_gate_now(p, w, &why, err);
	if (rc <= 0)
		return rc;
	if (plan_attempt(&a, p, w, NULL, err) < 0)
		return -1;
	*out = (struct sl_prospect) { .plan = p, .entry = w->entry, .want = &w->pub, .tl = a.tl, .method = a.how.method,
				      .seconds = plan_time(p, w, p->c->now) };
	plan_attempt_now(&a);
	out->seconds = plan_booked(&a, out->seconds);
	return out->seconds > 0;
}

int sl_prospect_failed(struct sl_plan *p, struct sl_entry e, struct sl_error *err)
{
	return plan_spare_others(p, &e, NULL, err);
}

bool sl_prospect_licensed(const struct sl_prospect *w, int64_t seconds)
{
	struct attempt a = attempt_at(w);

	return plan_licensed(&a, w->plan->c->now, seconds);
}

int sl_prospect_place(const struct sl_prospect *w, struct sl_layout *layout, bool *native, struct sl_error *err)
{
	struct attempt a = attempt_at(w);
	int rc;

	a.layout = *layout;
	rc = plan_fits(&a, w->plan->c->now, w->seconds, true, err);
	*native = a.how.method == SL_PLACE_NATIVE;
	*layout = a.layout;
	a.layout = (struct sl_layout) SL_LAYOUT_EMPTY;
	plan_attempt_end(&a);
	return rc;
}

int sl_plan_stand(struct sl_plan *p, struct sl_entry e, struct sl_stand *out, struct sl_error *err)
{
	const struct want *w = cluster_want(p->c, e, err);

	if (!w)
		return -1;
	*out = (struct sl_stand) { .request = &w->pub.request, .tl = p->c->tl };
	if (w->enclave) {
		out->tl = w->enclave->tl;
		out->where = w->enclave->number + 1;
		/* jobs of other timelines use the nodes of these two kinds, too, so each has its own number */
		out->sharers = w->enclave->flexible || w->enclave->partial ? UINT32_MAX - w->enclave->number :
			w->enclave->tenant * 2 + w->enclave->shared;
	}
	return 0;
}

uint64_t sl_plan_moment(const struct sl_plan *p)
{
	uint64_t sum = sl_timeline_moment(p->c->tl);

	for (uint32_t i = 0; i < p->mark_count; i++)
		sum += sl_timeline_moment(p->marks[i].enclave->tl);
	return sum;
}

/* -- trial starts ------------------------------------------------------------ */

struct sl_pretence {
	struct sl_plan *p;
	struct booking *licensed;	/* bookings that took licences, which no timeline counts */
	uint32_t count, room;
	uint32_t *mark;			/* from plan_mark() */
};

struct sl_pretence *sl_pretence_begin(struct sl_plan *p, struct sl_error *err)
{
	struct sl_pretence *x = calloc(1, sizeof(*x));

	if (!x) {
		plan_no_memory(err);
		return NULL;
	}
	x->p = p;
	x->mark = plan_mark(p, err);
	if (x->mark)
		return x;
	free(x);
	return NULL;
}

int sl_pretence_book(struct sl_pretence *x, const struct sl_prospect *w, const struct sl_layout *layout,
		     struct sl_error *err)
{
	struct booking b = { .entry = w->entry, .want = want_of(w), .layout = *layout, .t0 = x->p->c->now,
			     .limit = w->seconds,
			     .licenses = sl_cluster_choose_licenses(x->p->c, w->entry.job, x->p->c->now, w->seconds) };
	int rc;

	if (sl_grow(&x->licensed, &x->room, x->count + UINT64_C(1), sizeof(b), err) < 0)
		return -1;
	rc = plan_book(x->p, &b, err);
	if (rc > 0 && x->p->c->snap->job.licenses[w->entry.job].count)
		x->licensed[x->count++] = b;
	return rc;
}

void sl_pretence_end(struct sl_pretence *x)
{
	if (!x)
		return;
	while (x->count)
		plan_count_licenses(x->p, &x->licensed[--x->count], -1, NULL);
	plan_unmark(x->p, x->mark, true);
	free(x->licensed);
	free(x);
}
