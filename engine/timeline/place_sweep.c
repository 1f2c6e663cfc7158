/* SPDX-License-Identifier: MIT */
/*
 * place_sweep.c - the earliest start.
 *
 * Each class has a cursor on its step function, which knows what its nodes can take of a job that starts at the current time,
 * and when that changes next.  A heap yields the changes of all cursors in the order of time.  Sums over the cursors say when
 * a placement is worth trying.  So a sweep costs the changes before the answer, not classes times instants.  With many
 * classes, an outlook (place_outlook.c) tells which have too little so far; these are left out.
 */
#include "timeline/place_outlook.h"

#include <string.h>

#include "base/heap.h"

struct sweep {
	struct sl_timeline *tl;
	struct sl_space *sp;
	const struct sl_need *need;
	enum sl_place_method method;
	int64_t latest;
	int64_t horizon;		/* later changes are not in the heap */
	struct sl_outlook *outlook;	/* NULL: all classes are added at once */
	struct sl_prospect prospect;	/* what the sweep looks for in the outlook */
	uint32_t kind;			/* cache of may_do(): kind and result */
	bool does;
	uint32_t sets;			/* number of nodesets in use by cursors */
	int64_t longest;		/* longest block of consecutive nodes so far */
	int64_t top;			/* largest index of the histogram */
	struct sl_sums sums, most;	/* at the current time; and the maximum of each sum so far */
	struct sl_misfit why;		/* misfit of the last attempt */
	bool block;			/* the request needs consecutive nodes */
	bool limited;			/* max_nodes may bind: the histogram is kept up to date */
	bool gained;			/* some class offers more than at the last attempt */
	bool cut;			/* some change lies after the latest start */
	bool gres;			/* gres of a node matter */
	int32_t floor;			/* on a machine of one node: fewer free cores count as none */
};

/* Units of work: adding a class, and a change of a class. */
#define EFFORT_OF_CURSOR 10
#define EFFORT_OF_CHANGE 16

/* -- one cursor -------------------------------------------------------- */

/* The next time t at which the window [t, t + duration) leaves a step or reaches another one. */
static int64_t next_edge(const struct sl_node_class *g, uint32_t step, int64_t t, int64_t duration)
{
	int64_t end = sl_later(t, duration), edge = SL_FOREVER;
	uint32_t k = step + 1;

	if (k < g->steps)
		edge = g->step[k].t;
	while (k < g->steps && g->step[k].t < end)
		k++;
	if (k < g->steps && g->step[k].t - duration + 1 < edge)
		edge = g->step[k].t - duration + 1;
	return edge;
}

static void take_min(const struct sweep *w, struct sl_resources *a, const struct sl_resources *b)
{
	if (w->gres) {
		sl_resources_min(a, b);
		return;
	}
	a->cores = b->cores < a->cores ? b->cores : a->cores;
	a->memory = b->memory < a->memory ? b->memory : a->memory;
}

/* What a node of the class can take with o->free free for the whole run. */
static void work_out_take(const struct sweep *w, const struct sl_resources *capacity, struct sl_offer *o, struct sl_take *take)
{
	take->units = 0;
	if (o->free.cores < w->floor || !sl_need_offer(&w->need->node, capacity, o))
		return;
	take->units = o->units;
	memcpy(take->job, o->job, w->need->jobs * sizeof(*take->job));
}

/* The same for a class whose free resources never decrease. */
static void look_up(const struct sweep *w, const struct sl_node_class *g, struct sl_cursor *c, struct sl_take *then)
{
	struct sl_offer o;

	o.free = g->step[c->step].free;
	c->edge = c->step + 1 < g->steps ? g->step[c->step + 1].t : SL_FOREVER;
	work_out_take(w, &w->tl->kind[g->kind].capacity, &o, then);
}

/* What can the class take of a job that starts at t, and when can that change next?  If a step within the run is blocked,
 * no start before the end of that step is possible. */
static void look(const struct sweep *w, struct sl_cursor *c, int64_t t, struct sl_take *then)
{
	const struct sl_node_class *g = &w->tl->class[c->class];
	const struct sl_resources *capacity = &w->tl->kind[g->kind].capacity;
	int64_t end = sl_later(t, w->need->r->duration);
	struct sl_offer o = { 0 };
	uint32_t k;

	then->units = 0;
	while (c->step + 1 < g->steps && g->step[c->step + 1].t <= t)
		c->step++;
	if (g->rising) {
		look_up(w, g, c, then);
		return;
	}
	o.free = g->step[c->step].free;
	for (k = c->step; k < g->steps && (k == c->step || g->step[k].t < end); k++) {
		const struct sl_step *s = &g->step[k];

		if (s->blocks || s->free.cores < w->floor || !sl_need_plausible(&w->need->node, &s->free, capacity)) {
			c->edge = k + 1 < g->steps ? g->step[k + 1].t : SL_FOREVER;
			return;
		}
		if (k > c->step)
			take_min(w, &o.free, &s->free);
	}
	c->edge = next_edge(g, c->step, t, w->need->r->duration);
	sl_need_in_turn(&w->need->node, capacity, &g->step[c->step].free, &o.free);
	work_out_take(w, capacity, &o, then);
}

static bool same_take(const struct sl_need *need, const struct sl_take *a, const struct sl_take *b)
{
	bool same = a->units == b->units;

	for (uint32_t j = 0; j < need->jobs && a->units; j++)
		same &= a->job[j] == b->job[j];
	return same;
}

/* The time at which the cursor may change next; SL_FOREVER: not before the latest start.  The cursor is evaluated only
 * when that time comes, because most sweeps end earlier. */
static int64_t next_look(struct sweep *w, const struct sl_cursor *c)
{
	if (c->edge == SL_FOREVER || c->edge <= w->latest)
		return c->edge;
	w->cut = true;
	return SL_FOREVER;
}

/* -- all of them ------------------------------------------------------- */

static void count(struct sweep *w, const struct sl_cursor *c, const struct sl_take *take, int sign)
{
	if (!take->units)
		return;
	sl_sums_add(&w->sums, w->need, take->units, take->job, c->count, c->required, sign);
	if (w->limited)
		w->sp->hist[take->units] += sign * c->count;
}

static void note_most(struct sweep *w)
{
	if (w->sums.nodes > w->most.nodes)
		w->most.nodes = w->sums.nodes;
	if (w->sums.units > w->most.units)
		w->most.units = w->sums.units;
	if (w->sums.required > w->most.required)
		w->most.required = w->sums.required;
	for (uint32_t j = 0; j < w->need->jobs; j++) {
		if (w->sums.job[j] > w->most.job[j])
			w->most.job[j] = w->sums.job[j];
	}
	if (w->block && w->sp->tree[1].best > w->longest)
		w->longest = w->sp->tree[1].best;
}

static int start_hist(struct sweep *w, struct sl_error *err)
{
	const struct sl_need *need = w->need;

	w->top = sl_need_held_there(&need->node, w->tl->most_cores);
	if (w->top > need->units)
		w->top = need->units;
	if (w->top > need->most)
		w->top = need->most;
	w->limited = need->max_nodes < UINT32_MAX && (int64_t) need->least * need->max_nodes < need->units;
	return w->limited ? sl_hist_clear(w->sp, w->top, err) : 0;
}

/* The first look at a class.  Its summary (tl->fall) suffices if nothing is free now, or if free resources never decrease. */
static void look_first(const struct sweep *w, const struct sl_live *l, struct sl_cursor *c, int64_t from)
{
	const struct sl_fall *f = &w->tl->fall[l - w->tl->live];
	const struct sl_resources *capacity = &w->tl->kind[l->kind].capacity;
	struct sl_offer o;

	c->step = 0;
	c->edge = l->next;
	c->now.units = 0;
	if (from > w->tl->now) {
		c->step = sl_step_at(&w->tl->class[l->class], from);
		look(w, c, from, &c->now);
	} else if (!sl_need_plausible(&w->need->node, &l->free, capacity)) {
		return;
	} else if (f->steady < SL_FOREVER || !l->free.cores) {
		look(w, c, from, &c->now);
	} else {
		o.free = l->free;
		work_out_take(w, capacity, &o, &c->now);
	}
}

/* True if nodes of that kind suffice when empty.  Most classes have the same kind as the one before. */
static bool may_do(struct sweep *w, uint32_t kind)
{
	if (kind != w->kind) {
		const struct sl_resources *capacity = &w->tl->kind[kind].capacity;

		w->kind = kind;
		w->does = sl_need_plausible(&w->need->node, capacity, capacity);
	}
	return w->does;
}

/* Add a class.  *c NULL: none of its nodes can be used. */
static int add_cursor(struct sweep *w, const struct sl_live *l, struct sl_cursor **c, struct sl_error *err)
{
	struct sl_space *sp = w->sp;
	struct sl_cursor *add = &sp->cursor[sp->cursors];

	*c = NULL;
	if (!may_do(w, l->kind))
		return 0;
	add->class = l->class;
	if (sl_eligible(w->tl, w->need, l, &add->nodes, err))
		return -1;
	if (!add->nodes)
		return 0;
	add->count = add->nodes == &w->tl->class[l->class].nodes ? l->nodes : add->nodes->count;
	add->required = w->need->r->required ? sl_nodeset_common(w->need->r->required, add->nodes) : 0;
	sp->cursors++;
	sl_effort_add(w->tl->effort, EFFORT_OF_CURSOR);
	*c = add;
	return 0;
}

static int start_cursor(struct sweep *w, const struct sl_live *l, int64_t from, struct sl_error *err)
{
	struct sl_cursor *c;

	if (add_cursor(w, l, &c, err))
		return -1;
	if (!c)
		return 0;
	look_first(w, l, c, from);
	if (c->now.units)
		count(w, c, &c->now, 1);
	return 0;
}

/* The next class that may have enough for a start in the current slot; NULL if there is none. */
static const struct sl_live *next_in_slot(struct sweep *w, uint32_t *row)
{
	const struct sl_timeline *tl = w->tl;
	uint32_t class = sl_outlook_next(w->outlook, &w->prospect, row);

	return class == SL_NO_CLASS ? NULL : &tl->live[tl->class[class].live];
}

static int start_cursors(struct sweep *w, int64_t from, struct sl_error *err)
{
	struct sl_timeline *tl = w->tl;
	struct sl_space *sp = w->sp;
	const struct sl_live *l;
	uint32_t row = 0;

	sp->cursors = sp->sets = 0;
	w->sums = (struct sl_sums) { 0 };
	if (sl_effort_spend(tl->effort, tl->lives, err))
		return -1;
	if (sl_grow(&sp->cursor, &sp->cursor_room, tl->lives, sizeof(*sp->cursor), err))
		return -1;
	if (w->outlook) {
		sl_outlook_begin(w->outlook);
		while ((l = next_in_slot(w, &row)))
			if (start_cursor(w, l, from, err))
				return -1;
	} else {
		for (uint32_t i = 0; i < tl->lives; i++)
			if (start_cursor(w, &tl->live[i], from, err))
				return -1;
	}
	w->sets = sp->sets;
	return w->block ? sl_blocks_begin(sp, err) : 0;
}

/* Another slot begins: add the classes that may have enough from now on. */
static int add_cursors(struct sweep *w, int64_t begin, struct sl_error *err)
{
	const struct sl_live *l;
	uint32_t row = 0;

	w->sp->sets = w->sets;
	while ((l = next_in_slot(w, &row))) {
		struct sl_cursor *c;

		if (add_cursor(w, l, &c, err))
			return -1;
		if (!c)
			continue;
		c->step = sl_step_at(&w->tl->class[l->class], begin);
		c->edge = begin;
		c->now.units = 0;
	}
	w->sets = w->sp->sets;
	return 0;
}

static bool is_earlier(const void *none, const struct sl_event *a, const struct sl_event *b)
{
	(void) none;
	return a->t < b->t;
}

SL_HEAP(events, struct sl_event, const void *, is_earlier)

/* Put the cursors into the heap that change up to the horizon.  Changes up to the former horizon have been carried out. */
static int fill_heap(struct sweep *w, int64_t horizon, struct sl_error *err)
{
	struct sl_space *sp = w->sp;

	w->horizon = horizon;
	sp->heaped = 0;
	if (sl_grow(&sp->heap, &sp->heap_room, sp->cursors, sizeof(*sp->heap), err))
		return -1;
	for (uint32_t i = 0; i < sp->cursors; i++) {
		int64_t t = next_look(w, &sp->cursor[i]);

		if (t < SL_FOREVER && t <= horizon)
			sp->heap[sp->heaped++] = (struct sl_event) { t, i };
	}
	events_order(NULL, sp->heap, sp->heaped);
	return 0;
}

/* Replace what the cursor can take by what it can take from t on. */
static void change(struct sweep *w, uint32_t id, int64_t t)
{
	struct sl_cursor *c = &w->sp->cursor[id];
	struct sl_take then;

	look(w, c, t, &then);
	if (same_take(w->need, &c->now, &then))
		return;
	count(w, c, &c->now, -1);
	count(w, c, &then, 1);
	if (w->block)
		sl_blocks_set(w->sp, id, then.units);
	w->gained |= then.units > c->now.units;
	for (uint32_t j = 0; j < w->need->jobs && then.units; j++)
		w->gained |= then.job[j] > c->now.job[j];
	c->now = then;
}

/* Carry out all changes at the time of the first event, and return that time. */
static int64_t step_on(struct sweep *w)
{
	struct sl_space *sp = w->sp;
	int64_t t = sp->heap[0].t;

	while (sp->heaped && sp->heap[0].t == t) {
		uint32_t id = sp->heap[0].cursor;

		sl_effort_add(w->tl->effort, EFFORT_OF_CHANGE);
		change(w, id, t);
		sp->heap[0].t = next_look(w, &sp->cursor[id]);
		if (sp->heap[0].t == SL_FOREVER || sp->heap[0].t > w->horizon)
			events_drop_first(NULL, sp->heap, &sp->heaped);
		else
			events_sift_down(NULL, sp->heap, sp->heaped, 0);
	}
	note_most(w);
	return t;
}

/* -- attempts ---------------------------------------------------------- */

static bool plausible(const struct sweep *w)
{
	return w->gained && sl_sums_lack(&w->sums, w->need) == SL_LACK_NOTHING &&
	       (!w->limited || sl_hist_best(w->sp, w->need->max_nodes) >= w->need->units) &&
	       (!w->block || sl_blocks_plausible(w->sp, w->need));
}

static int offer_at(const struct sweep *w, const struct sl_cursor *c, int64_t t, struct sl_error *err)
{
	const struct sl_node_class *g = &w->tl->class[c->class];
	const struct sl_node_kind *kind = &w->tl->kind[g->kind];
	struct sl_offer o = { .class = c->class, .nodes = c->nodes, .weight = kind->weight };

	sl_step_min_from(g, c->step, sl_later(t, w->need->r->duration), &o.free);	/* c->step is current */
	sl_need_in_turn(&w->need->node, &kind->capacity, &g->step[c->step].free, &o.free);
	return sl_need_offer(&w->need->node, &kind->capacity, &o) ? sl_offer_push(w->sp, &o, err) : 0;
}

/* Make the offers of sl_gather() from the cursors that have something, and try a placement. */
static int attempt(struct sweep *w, int64_t t, struct sl_layout *layout, struct sl_error *err)
{
	struct sl_timeline *tl = w->tl;
	struct sl_space *sp = w->sp;
	int rc;

	w->gained = false;
	sp->offers = 0;
	sp->sets = w->sets;
	sl_effort_add(tl->effort, sp->cursors);
	for (uint32_t i = 0; i < sp->cursors; i++)
		if (sp->cursor[i].now.units && offer_at(w, &sp->cursor[i], t, err))
			return -1;
	rc = sl_choose(tl, w->need, w->method, t, &w->why, err);
	if (rc == 1 && layout)
		rc = sl_deal(tl, w->need, w->method == SL_PLACE_SPREAD, layout, err) ? -1 : 1;
	/* choosing overwrites the histogram */
	if (!rc && w->limited) {
		if (sl_hist_clear(sp, w->top, err))
			return -1;
		for (uint32_t i = 0; i < sp->cursors; i++) {
			if (sp->cursor[i].now.units)
				sp->hist[sp->cursor[i].now.units] += sp->cursor[i].count;
		}
	}
	return rc;
}

/* Set *misfit to the reason why no start was found, with the maximum of each sum. */
static int never(const struct sweep *w, int64_t from, struct sl_misfit *misfit)
{
	enum sl_lack most = sl_sums_lack(&w->most, w->need), last = sl_sums_lack(&w->sums, w->need);

	if (!misfit)
		return 0;
	if (w->cut)
		*misfit = (struct sl_misfit) { .lack = SL_LACK_TIME };
	else if (most != SL_LACK_NOTHING)
		sl_misfit_from(misfit, w->need, &w->most, most);
	else if (w->block)
		*misfit = (struct sl_misfit) { .lack = SL_LACK_BLOCK, .need = w->need->min_nodes,
					       .have = w->longest };
	else if (w->why.lack != SL_LACK_NOTHING)
		*misfit = w->why;
	else if (last != SL_LACK_NOTHING)
		sl_misfit_from(misfit, w->need, &w->sums, last);
	else
		*misfit = (struct sl_misfit) { .lack = SL_LACK_MAX_NODES, .need = INT64_MAX,
					       .have = w->need->max_nodes };
	misfit->ever = !w->cut && from <= w->tl->now;
	return 0;
}

/* Carry out the changes up to the horizon, until a placement succeeds. */
static int sweep_to(struct sweep *w, int64_t horizon, int64_t *t, struct sl_layout *layout, struct sl_error *err)
{
	struct sl_space *sp = w->sp;
	int rc = 0;

	if (fill_heap(w, horizon, err))
		return -1;
	while (!rc && sp->heaped) {
		*t = step_on(w);
		if (sl_effort_spend(w->tl->effort, w->limited ? w->sp->hist_top : 0, err))
			return -1;
		if (plausible(w))
			rc = attempt(w, *t, layout, err);
	}
	return rc;
}

/* Begin at *from* with all classes, or with those that the outlook names. */
static int begin_at(struct sweep *w, int64_t from, int64_t *t, struct sl_layout *layout, struct sl_error *err)
{
	if (start_hist(w, err) || start_cursors(w, from, err))
		return -1;
	note_most(w);
	*t = from;
	return plausible(w) ? attempt(w, from, layout, err) : 0;
}

/* Skip slots in which there are certainly too few nodes; after a skip, begin again. */
static int sweep_slots(struct sweep *w, int64_t from, int64_t *t, struct sl_layout *layout, struct sl_error *err)
{
	bool anew = true;

	for (uint32_t slot = sl_outlook_slot(w->outlook, from); slot < SL_SLOTS; slot++) {
		int64_t end = sl_outlook_end(w->outlook, slot);
		int rc = 0;

		sl_outlook_in(w->outlook, &w->prospect, slot);
		if (sl_outlook_enough(w->outlook, &w->prospect)) {
			rc = anew ? begin_at(w, from, t, layout, err) : add_cursors(w, from, err);
			if (!rc)
				rc = sweep_to(w, end < SL_FOREVER ? end - 1 : end, t, layout, err);
			anew = false;
		} else {
			anew = true;
		}
		if (rc)
			return rc;
		from = end;
	}
	return 0;
}

/* Most sweeps end near the time at which the last one ended, so later changes are put into the heap only if needed. */
static int sweep_all(struct sweep *w, int64_t from, int64_t *t, struct sl_layout *layout, struct sl_error *err)
{
	int rc = begin_at(w, from, t, layout, err);

	if (!rc)
		rc = sweep_to(w, w->sp->reached, t, layout, err);
	return rc ? rc : sweep_to(w, SL_FOREVER, t, layout, err);
}

/* Use an outlook if there is one.  It knows nothing of blocks, nor of changes after a latest start. */
static void look_out(struct sweep *w)
{
	const struct sl_need *need = w->need;
	int64_t most = sl_need_held_there(&need->node, w->tl->most_cores), cores = need->least_cores;

	if (need->whole && cores < w->tl->least_cores)
		cores = w->tl->least_cores;
	if (w->block || w->latest < SL_FOREVER || cores < 1)
		return;
	w->outlook = sl_outlook_of(w->tl);
	w->prospect = (struct sl_prospect) { .cores = (int32_t) cores, .nodes = need->min_nodes,
					     .seconds = need->r->duration };
	if (!need->whole && most > 0 && need->min_nodes < need->units / most)
		w->prospect.nodes = need->units / most;
}

static int sweep_above(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t from,
		       int64_t latest, int32_t floor, int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit,
		       struct sl_error *err)
{
	struct sweep w = { .tl = tl, .need = need, .method = method, .latest = latest, .gained = true,
			   .gres = need->whole || need->needs || need->jobs, .floor = floor, .kind = UINT32_MAX };
	int rc = 0;

	w.block = need->r->contiguous || (method == SL_PLACE_CONTIGUOUS && !need->segment);
	if (sl_eligible_begin(tl, need, err))
		return -1;
	w.sp = tl->space;
	look_out(&w);
	if (w.outlook)
		rc = sweep_slots(&w, from, start, layout, err);
	if (!rc) {	/* only a sweep over all classes can say why there is no start */
		w.outlook = NULL;
		w.gained = true;
		rc = sweep_all(&w, from, start, layout, err);
	}
	if (rc < 0)
		return -1;
	w.sp->reached = *start;
	return rc ? 1 : never(&w, from, misfit);
}

/* On a machine of one node, that node must give all units: the cores for them.  0: no such bound. */
static int32_t cores_of_all(const struct sl_timeline *tl, const struct sl_need *need)
{
	int64_t most = tl->nodes == 1 && !need->whole ? sl_need_held(&need->node, tl->most_cores) : 0;

	return need->units <= most ? (int32_t) (need->units * need->unit_cores / need->core_units) : 0;
}

int sl_sweep(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t from,
	     int64_t latest, int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit,
	     struct sl_error *err)
{
	int32_t floor = cores_of_all(tl, need);
	int rc = floor ? sweep_above(tl, need, method, from, latest, floor, start, layout, misfit, err) : 0;

	/* the figures of a refusal must include times with fewer free cores */
	return rc ? rc : sweep_above(tl, need, method, from, latest, 0, start, layout, misfit, err);
}
