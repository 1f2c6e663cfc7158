/* SPDX-License-Identifier: MIT */
/*
 * plan_stop.c - stopping jobs for others: sl_plan_preempt(), see preempt.h
 *
 * A victim is booked until it is expected to be gone, instead of until its end.  The job for which it is stopped is reserved
 * from then on.  If that reservation is removed, the victim is booked until its end again, as far as the room has not been
 * given to others.
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

/* -- stops and their removal ------------------------------------------------------------- */

bool plan_stops_others(const struct sl_plan *p, uint32_t job)
{
	const struct hold *h = plan_hold_of(p, job);

	return h && h->fresh;
}

void plan_cancel_stops(struct sl_plan *p, uint32_t job)
{
	uint32_t kept = 0;

	if (!plan_stops_others(p, job))
		return;
	plan_hold_release(p, job);
	plan_hold_narrow(p);
	for (uint32_t i = 0; i < p->stops; i++) {
		const struct stop s = p->stop[i];

		if (s.preemptor != job) {
			p->stop[kept++] = s;
			continue;
		}
		plan_go_on(p, &s);
	}
	p->stops = kept;
	plan_hold_widen(p);
}

/* Timelines are rolled back, but licence counts and the ends of jobs are not. */
void plan_free_stops(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->stops; i++) {
		const struct stop *s = &p->stop[i];
		struct held *h = p->c->held[s->job];

		h->end = s->end;
		if (p->c->snap->job.preempt_mode[s->job] != SL_STOP_SUSPEND)
			(void) cluster_count_licenses(p->c, h->licenses, s->from, s->end, 1, NULL);
	}
	plan_free_orphans(p);
	free(p->stop);
	free(p->own_stops);
}

/* -- the job's place ------------------------------------------------------------------ */

struct deed {
	struct sl_plan *p;
	const struct want *w;
	const struct sl_preempt_terms *terms;
	struct sl_preempt_answer *answer;
	struct attempt a;
	struct victim_groups groups;
	struct sl_choice choice;
	int64_t t, seconds;
	int64_t from;			/* earliest start; 0: as soon as victims can be gone */
	uint32_t at;			/* index of its former reservation; SL_NONE: none */
	struct sl_move *move;		/* new places of the victims */
	uint32_t moves;
	uint32_t late;			/* number of groups at the end of the list that are not gone in time */
};

static int set_chosen(struct deed *d, int64_t t, bool gone, struct sl_error *err)
{
	for (uint32_t g = 0; g < d->groups.count; g++)
		for (uint32_t k = 0; d->choice.stopped[g] && k < d->groups.item[g].jobs; k++)
			if (plan_set_gone(d->p, d->groups.item[g].job[k], t, gone, err) < 0)
				return -1;
	return 0;
}

/* Book the job; if its victims must have other places but do not, undo that.  1, 0 or -1. */
static int take_with_moves(struct deed *d, struct booking **b, struct sl_error *err)
{
	int rc = plan_take(&d->a, d->t, plan_time(d->p, d->w, d->t), b, err), found;

	if (rc <= 0 || !d->terms->elsewhere ||
	    (found = plan_find_elsewhere(d->p, *b, &d->groups, d->choice.stopped, d->t, &d->move, &d->moves, err)) > 0)
		return rc;
	rc = plan_unbook(d->p, *b, found < 0 ? NULL : err);
	plan_free_booking(*b);
	*b = NULL;
	return rc < 0 ? -1 : found;
}

/* Reserve the job with the chosen groups gone: as soon as they can be gone, else at the time for which they were chosen.
 * 1, 0 or -1. */
static int reserve_place(struct deed *d, struct booking **b, struct sl_error *err)
{
	int64_t soonest = plan_all_gone_at(d->p, &d->groups, d->choice.stopped), t = d->from > soonest ? d->from : soonest;
	int64_t times[2] = { t, d->t };
	int rc = 0;

	for (int i = t < d->t ? 0 : 1; !rc && i < 2; i++) {
		d->t = times[i];
		if (set_chosen(d, d->t, true, err) < 0)
			return -1;
		rc = plan_fits(&d->a, d->t, d->seconds, true, err);
		if (rc > 0)
			rc = take_with_moves(d, b, err);
		if (rc <= 0 && set_chosen(d, d->t, false, rc < 0 ? NULL : err) < 0)
			return -1;
	}
	return rc;
}

static int note_stop(struct deed *d, uint32_t g, uint32_t k, struct sl_error *err)
{
	struct sl_plan *p = d->p;
	const struct victim_group *of = &d->groups.item[g];
	uint32_t j = of->job[k], mode = d->terms->mode;
	struct stop s = { .job = j, .preemptor = d->w->entry.job, .group = p->stop_groups, .cost = of->cost[k], .by = p->bys - 1,
			  .from = d->t, .end = p->c->held[j]->end };

	if (d->terms->elsewhere && mode == SL_STOP_NONE)
		mode = SL_STOP_REQUEUE;
	s.mode = mode && sl_snapshot_may_stop_so(p->c->snap, j, mode) ? mode : SL_STOP_NONE;
	s.moves = d->terms->elsewhere;
	if (sl_grow_list(&p->stop, p->stops, sizeof(s), err))
		return -1;
	p->stop[p->stops++] = s;
	if (s.end > s.from)
		p->c->held[j]->end = s.from;
	d->answer->victim[d->answer->victims++] = j;
	return 0;
}

static int note_stops(struct deed *d, struct sl_error *err)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < d->groups.count; g++)
		n += d->choice.stopped[g] ? d->groups.item[g].jobs : 0;
	if (!(d->answer->victim = calloc((size_t) n + 1, sizeof(*d->answer->victim))))
		return plan_no_memory(err);
	for (uint32_t g = 0; g < d->groups.count; g++) {
		for (uint32_t k = 0; d->choice.stopped[g] && k < d->groups.item[g].jobs; k++)
			if (note_stop(d, g, k, err) < 0)
				return -1;
		d->p->stop_groups += d->choice.stopped[g];
	}
	return 0;
}

static void forget_stops(struct deed *d)
{
	for (; d->answer->victims; d->answer->victims--) {
		const struct stop *s = &d->p->stop[--d->p->stops];

		d->p->c->held[s->job]->end = s->end;
	}
}

/* The amounts of a layout as a list by node. */
static struct held_node *list_nodes(const struct sl_layout *l, uint32_t *count)
{
	struct held_node *node = calloc((size_t) l->nodes + 1, sizeof(*node));

	*count = 0;
	for (uint32_t s = 0; node && s < l->shares; s++) {
		const struct sl_nodeset *set = &l->share[s].nodes;

		for (uint32_t n = sl_nodeset_next(set, 0); n < SL_MAX_NODES; n = sl_nodeset_next(set, n + 1))
			node[(*count)++] = (struct held_node) { n, l->share[s].each };
	}
	return node;
}

static char *describe(const struct deed *d)
{
	char text[200];
	const char *kind = d->choice.verdict == SL_VERDICT_OPTIMAL ? "no other set costs less" : "none was shown to cost less";

	snprintf(text, sizeof(text), "%s %" PRIu32 " of %" PRIu32 " jobs that might be, at a cost of %.4g: the cheapest of %" PRIu32
		 " set%s compared; %s", d->terms->elsewhere ? "moves" : "stops", d->answer->victims, d->groups.permitted, d->choice.cost, d->choice.sets,
		 d->choice.sets == 1 ? "" : "s", kind);
	return strdup(text);
}

/* Prepare the held place, and make room for it in the list. */
static int make_hold(struct deed *d, const struct booking *b, struct hold *h, struct sl_error *err)
{
	*h = (struct hold) { .job = d->w->entry.job, .until = sl_later(b->t0, SL_PREEMPT_HOLD_S), .fresh = true,
			     .starts = d->p->started.count, .reservations = d->p->reservations + (d->at == SL_NONE),
			     .verdict = d->choice.verdict, .cost = d->choice.cost, .bound = d->choice.bound, .by = d->p->bys - 1 };
	h->node = list_nodes(&b->layout, &h->count);
	h->because = describe(d);
	if (h->node && h->because && !plan_hold_room(d->p, err))
		return 0;
	free(h->node);
	free(h->because);
	return plan_no_memory(err);
}

/* Insert the job's reservation, in place of its former one. */
static void insert_booking(struct deed *d, struct booking *b)
{
	struct bookings *list = &d->p->reserved;

	if (d->at == SL_NONE) {
		d->p->reservations++;
		plan_insert(list, list->count, b);
		return;
	}
	d->p->given_back++;
	b->reserved = list->item[d->at]->reserved;
	plan_free_booking(list->item[d->at]);
	list->item[d->at] = b;
	list->entry[d->at] = b->entry;
}

/* Book everything.  1; 0: impossible; -1: nothing is booked, and the victims are booked as before. */
static int carry_out(struct deed *d, struct sl_error *err)
{
	struct sl_plan *p = d->p;
	struct booking *b = NULL;
	uint32_t groups = p->stop_groups;
	struct hold h;
	int rc = reserve_place(d, &b, err);

	if (rc <= 0)
		return rc;
	if (note_stops(d, err) < 0 || (d->answer->victims && make_hold(d, b, &h, err) < 0)) {
		forget_stops(d);
		p->stop_groups = groups;
		(void) plan_unbook(p, b, NULL);
		plan_free_booking(b);
		(void) set_chosen(d, d->t, false, NULL);
		return -1;
	}
	insert_booking(d, b);
	d->answer->start = b->t0;
	d->answer->move = d->move;
	d->answer->moves = d->moves;
	d->move = NULL;
	plan_preempt_drop(p, d->w->entry.job);
	plan_refusals_forget(p);
	for (uint32_t i = 0; i < d->answer->victims; i++)
		plan_tails_end(p, d->answer->victim[i], d->t);
	/* without victims the reservation is an ordinary one; without memory a part is not held in this plan */
	if (d->answer->victims)
		(void) plan_hold_add(p, &h, NULL);
	return 1;
}

/* -- reasons against it ---------------------------------------------------------------------- */

static uint32_t count_chosen(const struct deed *d)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < d->groups.count; g++)
		n += d->choice.stopped && d->choice.stopped[g] ? d->groups.item[g].jobs : 0;
	return n;
}

static uint32_t count_last_hour(const struct sl_plan *p)
{
	const struct sl_stopped_view *v = &p->c->snap->stopped;
	uint32_t n = p->stops;

	for (uint32_t r = 0; r < v->rows; r++)
		n += v->time[r] > p->c->now - 3600;
	return n;
}

/* Most jobs that may be stopped for this job. */
static uint32_t most_victims(const struct deed *d)
{
	const struct sl_preempt_terms *t = d->terms;
	uint32_t most = t->max_victims ? t->max_victims : UINT32_MAX, hour = t->max_an_hour ? count_last_hour(d->p) : 0;
	uint32_t cycle = t->max_a_cycle ? t->max_a_cycle - (d->p->stops < t->max_a_cycle ? d->p->stops : t->max_a_cycle) : UINT32_MAX;
	uint32_t hourly = t->max_an_hour ? t->max_an_hour - (hour < t->max_an_hour ? hour : t->max_an_hour) : UINT32_MAX;

	most = cycle < most ? cycle : most;
	return hourly < most ? hourly : most;
}

/* True, with the reason, if no search is needed to refuse. */
static bool cannot_be(const struct deed *d, struct sl_refusal *why)
{
	const struct sl_cluster *c = d->p->c;
	uint32_t j = d->w->entry.job;
	int64_t until;

	if (plan_stops_are_selects(c, d->w, why))
		return true;
	if (d->p->starts[j])
		plan_say(why, SL_WHY_RESOURCES, "a task of it starts now: others are stopped for the next one later");
	else if (!sl_snapshot_may_preempt(c->snap, j))
		plan_say(why, SL_WHY_RESOURCES, "Slurm does not let it preempt others");
	else if ((until = plan_backs_off_until(d->p, j)))
		plan_say(why, SL_WHY_RESOURCES, "others were stopped for it and the place was not had: again in %" PRId64 " s at the earliest",
			 until - c->now);
	else
		return false;
	return true;
}

/* The start if no job is stopped, including boot time; all victims must be on the timeline.  1; 0: never; -1. */
static int runs_alone(struct deed *d, int64_t *at, int64_t *boots, struct sl_error *err)
{
	int64_t now = d->p->c->now, seconds;
	bool wakes_nobody = d->a.wakes_nobody;
	int rc;

	d->a.wakes_nobody = false;
	rc = plan_earliest(&d->a, d->from > now ? d->from : now, at, &seconds, err);
	*boots = rc > 0 ? plan_boots_of(d->p, d->w, &d->a.layout, *at) : 0;
	d->a.wakes_nobody = wakes_nobody;
	return rc;
}

/* 1 with the reason if waiting costs less; 0; -1. */
static int is_worth_waiting(struct deed *d, struct sl_error *err)
{
	int64_t at, boots, alone;
	double price;
	int rc;

	if (d->terms->max_cost > 0 && d->choice.cost > d->terms->max_cost) {
		d->answer->waits = true;
		plan_say_now(&d->answer->why, SL_WHY_RESOURCES, "%s others costs %.4g, of at most %.4g that it may", d->terms->elsewhere ?
			     "to move" : "to stop", d->choice.cost, d->terms->max_cost);
		return 1;
	}
	if (!(d->terms->wait_price >= 0) || (rc = runs_alone(d, &at, &boots, err)) == 0)
		return 0;
	if (rc < 0)
		return -1;
	d->answer->alone = alone = sl_later(at, boots);
	price = (double) (alone > d->t ? alone - d->t : 0) / 3600 * d->terms->wait_price;
	if (price > d->choice.cost)
		return 0;
	d->answer->waits = true;
	plan_say_now(&d->answer->why, SL_WHY_RESOURCES, "%s in %" PRId64 " s%s: to wait costs %.4g, to stop others %.4g",
		     boots ? "its nodes will have booted" : "starts", alone - d->p->c->now, boots ? "" : " by itself", price,
		     d->choice.cost);
	return 1;
}

/* -- the search ----------------------------------------------------------------------------- */

/* Choose the cheapest set; if it has more jobs than may be stopped, the smallest one. */
static int choose_few(struct deed *d, struct sl_error *err)
{
	uint32_t most = most_victims(d);
	double bound;

	if (plan_choose_victims(&d->a, d->terms, &d->groups, d->t, d->seconds, false, &d->choice, err) < 0)
		return -1;
	if (!d->choice.stopped || count_chosen(d) <= most)
		return 0;
	bound = d->choice.bound;
	sl_choice_free(&d->choice);
	if (plan_choose_victims(&d->a, d->terms, &d->groups, d->t, d->seconds, true, &d->choice, err) < 0)
		return -1;
	if (!d->choice.stopped)
		return 0;
	if (count_chosen(d) > most) {
		d->choice.verdict = d->choice.verdict == SL_VERDICT_OPTIMAL ? SL_VERDICT_IMPOSSIBLE : SL_VERDICT_UNPROVEN;
		plan_say_now(&d->answer->why, SL_WHY_RESOURCES, "%" PRIu32 " jobs would have to be stopped for it, of at most %" PRIu32
			     " that may be", count_chosen(d), most);
		sl_choice_free(&d->choice);
		return 0;
	}
	d->choice.cost = 0;
	for (uint32_t g = 0; g < d->groups.count; g++)
		d->choice.cost += d->choice.stopped[g] ? d->groups.item[g].sum : 0;
	d->choice.bound = bound;
	d->choice.verdict = SL_VERDICT_FOUND;
	return 0;
}

static int choose(struct deed *d, struct sl_error *err)
{
	int rc = choose_few(d, err);

	if (!rc && d->choice.stopped)
		rc = plan_stops_too_many(d->p, d->terms, &d->groups, d->choice.stopped, &d->answer->why, err);
	if (rc < 0)
		return -1;
	if (rc) {
		d->choice.verdict = SL_VERDICT_UNPROVEN;	/* another set may still suffice */
		sl_choice_free(&d->choice);
	}
	return 0;
}

static int set_all(struct deed *d, bool gone, struct sl_error *err)
{
	for (uint32_t g = 0; g < d->groups.count; g++)
		for (uint32_t k = 0; k < d->groups.item[g].jobs; k++)
			if (plan_set_gone(d->p, d->groups.item[g].job[k], d->t, gone, err) < 0)
				return -1;
	return 0;
}

/* The earliest time at which some group can be gone. */
static int64_t soonest_gone(const struct deed *d)
{
	int64_t at = INT64_MAX;

	for (uint32_t g = 0; g < d->groups.count; g++) {
		int64_t own = plan_group_gone_at(d->p, &d->groups.item[g]);

		at = own < at ? own : at;
	}
	return at > d->from ? at : d->from;
}

/* Move groups that are not gone by then to the end of the list. */
static void hide_late(struct deed *d, int64_t t)
{
	struct victim_groups *g = &d->groups;

	for (uint32_t i = 0; i < g->count; ) {
		struct victim_group late = g->item[i];

		if (plan_group_gone_at(d->p, &late) <= t) {
			i++;
			continue;
		}
		g->item[i] = g->item[--g->count];
		g->item[g->count] = late;
		d->late++;
	}
}

static void show_late(struct deed *d)
{
	d->groups.count += d->late;
	d->late = 0;
}

/* If the job would have to wait for the slowest group, choose among those gone sooner, so that one long grace time does
 * not delay the job.  0, or -1. */
static int choose_sooner(struct deed *d, struct sl_error *err)
{
	int64_t t = soonest_gone(d), late = d->t, seconds = plan_booked(&d->a, plan_time(d->p, d->w, t)), was = d->seconds;

	if (t >= late || !seconds)
		return 0;
	sl_choice_free(&d->choice);
	hide_late(d, t);
	d->t = t;
	d->seconds = seconds;
	if (choose(d, err) < 0)
		return -1;
	if (d->choice.stopped)
		return 0;
	show_late(d);
	d->t = late;
	d->seconds = was;
	plan_say_nothing(&d->answer->why);
	return choose(d, err);
}

/* Narrow or widen held places with the job's former reservation on the timeline. */
static int narrow_holds(struct deed *d, bool narrow, struct sl_error *err)
{
	int rc = plan_put_back(d->p, d->at, err);

	if (narrow)
		plan_hold_narrow(d->p);
	else
		plan_hold_widen(d->p);
	return rc < 0 || d->at == SL_NONE ? rc : plan_unbook(d->p, d->p->reserved.item[d->at], err);
}

/* the checker counts only what is free of held places now */
static int note_shortage_beside_holds(struct deed *d, struct sl_error *err)
{
	int rc = narrow_holds(d, true, err);

	if (!rc && (set_all(d, true, err) < 0 || plan_note_shortage(&d->a, &d->groups, d->t, d->seconds, err) < 0))
		rc = -1;
	if (set_all(d, false, rc < 0 ? NULL : err) < 0)
		rc = -1;
	return narrow_holds(d, false, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

/* Say what is short with all stoppable jobs gone; or that no set was found although all together would suffice. */
static int explain_no_choice(struct deed *d, struct sl_error *err)
{
	struct sl_refusal why;
	char text[160];
	int rc = d->choice.verdict == SL_VERDICT_UNPROVEN;

	if (d->choice.none_accepted) {
		plan_say_now(&d->answer->why, SL_WHY_RESOURCES, "no set of the %" PRIu32 " jobs that may be moved for it has other places",
			     d->groups.permitted);
		return 0;
	}
	plan_say_nothing(&why);
	if (!rc) {
		/* search once more, so that the attempt has the misfit */
		rc = set_all(d, true, err) < 0 ? -1 : plan_fits(&d->a, d->t, d->seconds, false, err);
		if (!rc && (plan_explain_now(&d->a, d->seconds, &why, err) < 0 ||
			    (!d->p->holds && !d->terms->elsewhere && plan_note_shortage(&d->a, &d->groups, d->t, d->seconds, err) < 0)))
			rc = -1;
		if (set_all(d, false, rc < 0 ? NULL : err) < 0)
			return -1;
		if (!rc && d->p->holds && !d->terms->elsewhere)
			rc = note_shortage_beside_holds(d, err);
	}
	if (rc < 0)
		return -1;
	if (rc) {
		d->choice.verdict = SL_VERDICT_UNPROVEN;
		plan_say_now(&d->answer->why, SL_WHY_RESOURCES, "whom of %" PRIu32 " jobs to stop for it was not found in the time there is",
			     d->groups.permitted);
		return 0;
	}
	snprintf(text, sizeof(text), "%s", sl_refusal_text(&why));
	plan_say_now(&d->answer->why, why.why, "%s, even without the %" PRIu32 " jobs that may be stopped for it", text,
		     d->groups.permitted);
	return 0;
}

/* If waiting for booting nodes has a price: choose a set on nodes that are up.  0, or -1. */
static int choose_awake(struct deed *d, struct sl_error *err)
{
	if (!(d->terms->wait_price >= 0) || !plan_may_wake(d->w))
		return 0;
	d->a.wakes_nobody = true;
	if (choose(d, err) < 0)
		return -1;
	if (d->choice.stopped)
		return 0;
	d->a.wakes_nobody = false;
	plan_say_nothing(&d->answer->why);
	sl_choice_free(&d->choice);
	return 0;
}

/* Search a set and the time at which it is gone.  1, 0 or -1. */
static int search(struct deed *d, struct sl_error *err)
{
	int64_t soonest;
	int rc;

	d->p->choosing = true;
	rc = plan_find_victims(&d->a, d->terms, &d->groups, err);
	d->p->choosing = false;
	if (rc < 0)
		return -1;
	soonest = plan_all_gone_at(d->p, &d->groups, NULL);
	d->t = d->from > soonest ? d->from : soonest;
	d->seconds = plan_booked(&d->a, plan_time(d->p, d->w, d->t));
	d->answer->permitted = d->groups.permitted;
	if (!d->seconds) {
		plan_say(&d->answer->why, SL_WHY_DEADLINE, "cannot end by its deadline once others have ended");
		return 0;
	}
	if (d->terms->elsewhere && (rc = plan_has_enough_in_sum(&d->a, &d->groups, d->t, &d->answer->why, err)) <= 0) {
		d->answer->verdict = SL_VERDICT_IMPOSSIBLE;
		return rc;
	}
	if (choose_awake(d, err) < 0 || (!d->choice.stopped && choose(d, err) < 0) ||
	    (d->choice.stopped && !count_chosen(d) && choose_sooner(d, err) < 0))
		return -1;
	if (!d->choice.stopped && d->answer->why.why == SL_WHY_NONE && explain_no_choice(d, err) < 0)
		return -1;
	d->answer->verdict = d->choice.verdict;
	d->answer->cost = d->choice.cost;
	d->answer->bound = d->choice.bound;
	d->answer->sets = d->choice.sets;
	if (!d->choice.stopped)
		return 0;
	rc = is_worth_waiting(d, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	rc = carry_out(d, err);
	if (!rc) {
		d->answer->verdict = SL_VERDICT_UNPROVEN;
		plan_say(&d->answer->why, SL_WHY_RESOURCES, "the place that was found for it is no longer there");
	}
	return rc;
}

/* The job has a held place: reserve where it can start first.  1; 0: the place is not available in time, and is released;
 * -1. */
static int take_held(struct deed *d, struct sl_entry e, const struct hold *h, struct sl_error *err)
{
	int64_t start, rest, until = h->until;
	int rc = plan_reserve(d->p, e, NULL, d->p->c->now, &start, &d->answer->why, err);

	if (rc < 0)
		return -1;
	if (rc && start <= until) {
		d->answer->is_held = true;
		d->answer->start = start;
		return 1;
	}
	/* otherwise further jobs would be stopped in place of those about to end */
	rest = plan_hold_rest_at(d->p, h);
	d->from = rest > d->from ? rest : d->from;
	plan_hold_release(d->p, e.job);
	return 0;
}

int plan_preempt(struct sl_plan *p, struct sl_entry e, const struct sl_preempt_terms *terms, struct sl_preempt_answer *answer,
		 struct sl_error *err)
{
	struct deed d = { .p = p, .terms = terms, .answer = answer, .from = terms->at };
	const struct hold *h = plan_hold_of(p, e.job);
	struct opened was;
	int rc;

	if (!plan_look_up(p, e, NULL, err) || sl_plan_own_stops(p, e.partition, err) < 0)
		return -1;
	if (h && (rc = take_held(&d, e, h, err)))
		return rc;
	e.freed = true;
	if (!(d.w = cluster_want(p->c, e, err)))
		return -1;
	plan_say_nothing(&answer->why);
	rc = plan_gate(p, d.w, NULL, &answer->why);
	if (rc > 0)
		rc = plan_gate_now(p, d.w, &answer->why, err);
	if (rc > 0 && cannot_be(&d, &answer->why))
		rc = 0;
	if (rc <= 0) {
		answer->verdict = SL_VERDICT_UNPROVEN;
		return rc;
	}
	if (plan_make_room(&p->reserved, err) < 0 || plan_attempt(&d.a, p, d.w, NULL, err) < 0)
		return -1;
	if (plan_lift(p, e.job, &d.at, err) < 0) {
		plan_attempt_end(&d.a);
		return -1;
	}
	/* only after its reservation is removed: select might preempt jobs for that one */
	rc = plan_look_for_nobody(p, err);
	if (!rc) {
		rc = plan_open_for(p, e.job, &was, err) < 0 ? -1 : search(&d, err);
		if (rc <= 0 && plan_put_back(p, d.at, rc < 0 ? NULL : err) < 0)
			rc = -1;
		plan_as_before(p, was);
	} else {
		(void) plan_put_back(p, d.at, NULL);
	}
	plan_attempt_end(&d.a);
	plan_moves_free(d.move, d.moves);
	sl_choice_free(&d.choice);
	show_late(&d);
	plan_victims_free(&d.groups);
	return rc > 0 && p->stops > answer->victims && plan_drop_needless(p, false, err) < 0 ? -1 : rc;
}

void sl_preempt_answer_free(struct sl_preempt_answer *a)
{
	free(a->victim);
	plan_moves_free(a->move, a->moves);
	a->victim = NULL;
	a->move = NULL;
	a->victims = a->moves = 0;
}
