/* SPDX-License-Identifier: MIT */
/*
 * plan_het.c - heterogeneous jobs: all components start at once, or none.  The leader stands for all: decisions about it hold
 * for every component.
 *
 * Components are placed one after the other, each on nodes of its own.  If one finds no place beside those before it, it is
 * placed first and the others after it; if it does not fit even then, no order helps.  If no order is found, nodes are
 * assigned to all components at once (plan_het_nodes.c).
 */
#include "model/plan_private.h"

#include <inttypes.h>
#include <stdlib.h>

/* Limits: rounds of looking for a common start time, and placements in all rounds. */
#define MOST_ROUNDS 64
#define MOST_PLACED 2048

/* The first rounds consider every time at which anything changes, because nodes released by one component may let another
 * one begin. */
#define FINE_ROUNDS 16

/* Orders of the components that are tried for one time. */
#define MOST_ORDERS 8
#define FINE_ORDERS 2

/* -- components ------------------------------------------------------------- */

static uint32_t leader_of(const struct sl_cluster *c, uint32_t job)
{
	return plan_is_component(c, job) ? c->snap->job.het_job_id[job] : 0;
}

bool sl_cluster_is_led(const struct sl_cluster *c, uint32_t job)
{
	return plan_is_component(c, job) && leader_of(c, job) != c->snap->job.id[job];
}

static int by_leader(const void *x, const void *y)
{
	const struct component *a = x, *b = y;

	if (a->leader != b->leader)
		return a->leader < b->leader ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int list_components(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_job_view *job = &c->snap->job;

	if (c->component)
		return 0;
	c->component = calloc((size_t) job->rows + 1, sizeof(*c->component));
	if (!c->component)
		return plan_no_memory(err);
	for (uint32_t j = 0; j < job->rows; j++)
		if (leader_of(c, j) && job->state[j] == SL_JOB_PENDING)
			c->component[c->components++] = (struct component) {
				leader_of(c, j), job->het_offset[j], j };
	qsort(c->component, c->components, sizeof(*c->component), by_leader);
	return 0;
}

/* List the components of the job's leader; -1 with *err. */
static int find_components(struct sl_plan *p, uint32_t job, const struct component **first, uint32_t *count,
			   struct sl_error *err)
{
	struct sl_cluster *c = p->c;
	uint32_t lo = 0, hi, leader = leader_of(c, job);

	if (list_components(c, err))
		return -1;
	for (hi = c->components; lo < hi;) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->component[mid].leader < leader)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = &c->component[lo];
	for (*count = 0; lo < c->components && c->component[lo].leader == leader; lo++)
		++*count;
	return 0;
}

/* 1; or 0 with *why: the job is not the leader, or some component may not run now. */
static int may_begin(struct sl_plan *p, struct sl_entry e, const struct component *m, uint32_t count,
		     struct sl_refusal *why)
{
	const uint32_t *id = p->c->snap->job.id;

	if (sl_cluster_is_led(p->c, e.job)) {
		plan_say(why, SL_WHY_NONE, "starts with job %" PRIu32, leader_of(p->c, e.job));
		return 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!p->queue_of[m[i].row]) {
			plan_say(why, SL_WHY_RESOURCES, "its component %" PRIu32 " (job %" PRIu32 ") may not run now",
				 m[i].offset, id[m[i].row]);
			return 0;
		}
	return 1;
}

/* Refuse the leader with the reason of the component that cannot start. */
static int say_component(struct sl_plan *p, struct sl_entry e, const struct component *m, struct sl_refusal *why,
			 struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal all;

	plan_say_now(&all, why->why, "component %" PRIu32 ": %s", m->offset, sl_refusal_text(why));
	return plan_refuse(p, &e, m->row == e.job ? why : &all, refusal, err);
}

/* Terms for the leader are the policy's; other components are placed as they ask, by the same method. */
static struct sl_terms terms_of(const struct sl_terms *terms, bool leads)
{
	if (leads || !terms)
		return terms ? *terms : (struct sl_terms) { 0 };
	return (struct sl_terms) { .how = terms->how && terms->how->method != SL_PLACE_EXPLICIT ? terms->how : NULL };
}

/* The components of one job, in the order in which they are placed. */
struct team {
	struct component *m;
	uint32_t count;
	struct sl_entry lead;		/* entry of the leader */
	const struct sl_terms *terms;	/* terms for the leader */
	struct sl_nodeset *avoid;	/* [component] nodes to leave to others; NULL: none assigned */
	uint32_t failed;		/* index of the component that was not placed */
	uint32_t placed;		/* number of placements so far */
	struct sl_refusal why;		/* reason of the last failed attempt */
	bool hopeless;			/* one of them can never start, not even alone */
};

static int make_team(struct team *t, const struct component *m, uint32_t count, struct sl_entry e,
		     const struct sl_terms *terms, struct sl_error *err)
{
	*t = (struct team) { .m = malloc((count + UINT64_C(1)) * sizeof(*m)), .count = count, .lead = e, .terms = terms };
	if (!t->m)
		return plan_no_memory(err);
	memcpy(t->m, m, count * sizeof(*m));
	return 0;
}

static void forget_deal(struct team *t)
{
	for (uint32_t i = 0; t->avoid && i < t->count; i++)
		sl_nodeset_free(&t->avoid[i]);
	free(t->avoid);
	t->avoid = NULL;
}

static void end_team(struct team *t)
{
	forget_deal(t);
	free(t->m);
}

/* Move the failed component to the front. */
static void put_first(struct team *t)
{
	struct component failed = t->m[t->failed];

	memmove(t->m + 1, t->m, t->failed * sizeof(*t->m));
	t->m[0] = failed;
}

/* True if another order might help: not if the failed component was first, nor if something other than free resources
 * keeps it from a place. */
static bool may_exchange(const struct team *t)
{
	return t->failed && t->placed < MOST_PLACED && (t->why.why == SL_WHY_NONE || t->why.why == SL_WHY_RESOURCES ||
							 t->why.why == SL_WHY_PRIORITY || t->why.why == SL_WHY_RESERVED);
}

static int place_later(const struct component *a, const struct component *b)
{
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Sort the team's bookings, which are the last of the list, by offset, as the plug-in expects them. */
static void order_bookings(struct bookings *list, const struct team *t)
{
	uint32_t first = list->count - t->count;

	for (uint32_t i = first; i < list->count; i++)
		for (uint32_t k = i; k > first; k--) {
			struct booking *a = list->item[k - 1], *b = list->item[k];
			struct component ca = { 0 }, cb = { 0 };
			uint32_t reserved = a->reserved;

			for (uint32_t n = 0; n < t->count; n++) {
				ca = t->m[n].row == a->entry.job ? t->m[n] : ca;
				cb = t->m[n].row == b->entry.job ? t->m[n] : cb;
			}
			if (place_later(&ca, &cb) <= 0)
				break;
			a->reserved = b->reserved;
			b->reserved = reserved;
			list->item[k - 1] = b;
			list->item[k] = a;
			list->entry[k - 1] = b->entry;
			list->entry[k] = a->entry;
		}
}

/* -- nodes of their own ---------------------------------------------------- */

/* Block the nodes of the first *count* components, whose bookings are in *list*, for the others, as Slurm does; or unblock
 * them. */
static int fence(struct sl_plan *p, const struct bookings *list, const struct component *m, uint32_t count,
		 bool up, struct sl_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct booking *b = list->item[plan_find(list, m[i].row)];
		struct sl_timeline *tl = b->want->enclave ? b->want->enclave->tl : p->c->tl;

		for (uint32_t s = 0; s < b->layout.shares; s++)
			if ((up ? sl_timeline_block : sl_timeline_unblock)(tl, &b->layout.share[s].nodes, b->t0, b->t1,
									   err) < 0)
				return -1;
	}
	if (!up)	/* what was refused meanwhile may fit again */
		plan_refusals_forget(p);
	return 0;
}

/* The want of a component in its first partition; NULL with *err. */
static const struct want *want_of(struct sl_plan *p, const struct team *t, uint32_t i, struct sl_error *err)
{
	struct sl_entry e = t->m[i].row == t->lead.job ? t->lead : p->c->queue[p->queue_of[t->m[i].row] - 1];

	return plan_look_up(p, e, NULL, err);
}

/* Block the nodes assigned to other components for component *i* around *t*, or unblock them. */
static int keep_off(struct sl_plan *p, const struct team *t, uint32_t i, int64_t from, bool up, struct sl_error *err)
{
	const struct want *w;
	struct sl_timeline *tl;

	if (!t->avoid || !t->avoid[i].count)
		return 0;
	w = want_of(p, t, i, err);
	tl = w ? plan_timeline_of(p, w->enclave, err) : NULL;
	if (!tl)
		return -1;
	if (!up)
		plan_refusals_forget(p);
	return (up ? sl_timeline_block : sl_timeline_unblock)(tl, &t->avoid[i], from, sl_later(from, 1), err);
}

/* Assign nodes to all components from that time on.  1; 0: impossible; -1. */
static int deal_out(struct sl_plan *p, struct team *t, int64_t from, struct sl_error *err)
{
	const struct want *w[PLAN_HET_EXACT];
	int rc = 1;

	if (t->count > PLAN_HET_EXACT || t->placed >= MOST_PLACED)
		return 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (!(w[i] = want_of(p, t, i, err)))
			return -1;
	t->avoid = calloc(t->count, sizeof(*t->avoid));
	rc = t->avoid ? plan_share_out(p, w, t->count, from, t->avoid, err) : plan_no_memory(err);
	if (rc <= 0)
		forget_deal(t);
	return rc;
}

/* -- starting ------------------------------------------------------------ */

static int start_component(struct sl_plan *p, struct team *t, uint32_t i, bool easy, struct sl_error *err)
{
	struct sl_terms own = terms_of(t->terms, t->m[i].row == t->lead.job);
	int rc = 0, off = keep_off(p, t, i, p->c->now, true, err);

	plan_say_nothing(&t->why);
	t->placed++;
	if (off < 0)
		return -1;
	if (t->m[i].row == t->lead.job)
		rc = plan_start_alone(p, t->lead, &own, easy, &t->why, err);
	for (uint32_t q = t->m[i].row == t->lead.job ? 0 : p->queue_of[t->m[i].row]; q && !rc; q = p->queue_next[q - 1])
		rc = plan_start_alone(p, p->c->queue[q - 1], &own, easy, &t->why, err);
	return keep_off(p, t, i, p->c->now, false, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

/* Start all components in this order.  1; 0: nothing is started, t->failed and t->why say why; -1. */
static int start_in_order(struct sl_plan *p, struct team *t, bool easy, struct sl_error *err)
{
	uint32_t i = 0;
	int rc = 1;

	while (i < t->count && rc > 0) {
		rc = start_component(p, t, i, easy, err);
		if (rc > 0 && fence(p, &p->started, &t->m[i++], 1, true, err) < 0)
			return -1;
	}
	if (fence(p, &p->started, t->m, i, false, rc < 0 ? NULL : err) < 0)
		return -1;
	t->failed = i;
	if (rc > 0)
		return 1;
	while (i-- > 0)
		if (plan_undo_one(p, t->m[i].row, rc < 0 ? NULL : err) < 0)
			rc = -1;
	return rc;
}

int plan_start_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
		   struct sl_refusal *refusal, struct sl_error *err)
{
	const struct component *m;
	struct component failed;
	struct sl_refusal why;
	struct team t;
	uint32_t count;
	int rc;

	plan_say_nothing(&why);
	if (find_components(p, e.job, &m, &count, err) < 0)
		return -1;
	if (!may_begin(p, e, m, count, &why))
		return plan_refuse(p, &e, &why, refusal, err);
	if (make_team(&t, m, count, e, terms, err) < 0)
		return -1;
	rc = start_in_order(p, &t, easy, err);
	plan_copy_refusal(&why, &t.why);
	failed = t.m[rc ? 0 : t.failed];
	for (int order = 1; order < MOST_ORDERS && !rc && may_exchange(&t); order++) {
		put_first(&t);
		rc = start_in_order(p, &t, easy, err);
	}
	if (!rc && may_exchange(&t) && (rc = deal_out(p, &t, p->c->now, err)) > 0)
		rc = start_in_order(p, &t, easy, err);
	if (rc > 0)
		order_bookings(&p->started, &t);
	end_team(&t);
	return rc ? rc : say_component(p, e, &failed, &why, refusal, err);
}

/* -- reserving ----------------------------------------------------------- */

static int drop_reservations(struct sl_plan *p, const struct component *m, uint32_t count, struct sl_error *err)
{
	for (uint32_t i = 0; i < count; i++)
		if (plan_find(&p->reserved, m[i].row) != SL_NONE && plan_undo_one(p, m[i].row, err) < 0)
			return -1;
	return 0;
}

static int reserve_component(struct sl_plan *p, struct team *t, uint32_t i, int64_t from, int64_t *at, struct sl_error *err)
{
	struct sl_terms own = terms_of(t->terms, t->m[i].row == t->lead.job);
	int rc = 0, off = keep_off(p, t, i, from, true, err);

	plan_say_nothing(&t->why);
	t->placed++;
	if (off < 0)
		return -1;
	if (t->m[i].row == t->lead.job)
		rc = plan_reserve(p, t->lead, &own, from, at, &t->why, err);
	for (uint32_t q = t->m[i].row == t->lead.job ? 0 : p->queue_of[t->m[i].row]; q && !rc; q = p->queue_next[q - 1])
		rc = plan_reserve(p, p->c->queue[q - 1], &own, from, at, &t->why, err);
	return keep_off(p, t, i, from, false, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

/* Reserve all components in this order, none before *from*.  1 with *at: all begin then.  0: nothing is reserved, and
 * t->failed begins later than those before it: at *at, or never (SL_FOREVER, with t->why).  -1. */
static int reserve_in_order(struct sl_plan *p, struct team *t, int64_t from, int64_t *at, struct sl_error *err)
{
	int64_t all = from;
	uint32_t i = 0;
	int rc = 1;

	while (i < t->count && rc > 0) {
		rc = reserve_component(p, t, i, all, at, err);
		if (rc <= 0)
			break;
		if (fence(p, &p->reserved, &t->m[i], 1, true, err) < 0)
			return -1;
		if (*at > all && i) {
			i++;
			rc = 0;
			plan_say_nothing(&t->why);
			break;
		}
		all = *at;
		i++;
	}
	if (fence(p, &p->reserved, t->m, i, false, rc < 0 ? NULL : err) < 0)
		return -1;
	if (rc > 0)
		return 1;
	t->failed = i && t->why.why == SL_WHY_NONE ? i - 1 : i;
	if (t->why.why != SL_WHY_NONE)
		*at = SL_FOREVER;
	return rc < 0 || drop_reservations(p, t->m, t->count, err) < 0 ? -1 : 0;
}

/* Reserve all components for the same time: *from*, or later if the first one requires it.  1 with *at; 0, and *at is when
 * to try again (SL_FOREVER: never); -1. */
static int reserve_together(struct sl_plan *p, struct team *t, int64_t from, int orders, int64_t *at, struct sl_error *err)
{
	int64_t next = SL_FOREVER;
	int rc = 0;

	for (int order = 0; order < orders && !rc; order++) {
		rc = reserve_in_order(p, t, from, at, err);
		if (rc)
			return rc;
		if (*at > from && *at < next)
			next = *at;
		if (!may_exchange(t))
			break;
		put_first(t);
	}
	if (t->failed && (rc = deal_out(p, t, from, err)) > 0) {
		rc = reserve_in_order(p, t, from, at, err);
		forget_deal(t);
		if (!rc && *at > from && *at < next)
			next = *at;
	}
	if (!rc)
		*at = next;
	return rc;
}

/* Advance *from* to the latest of the components' own earliest starts.  1; 0: one of them can never start, with the
 * reason; -1. */
static int begin_no_sooner(struct sl_plan *p, struct team *t, int64_t *from, struct sl_error *err)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct sl_terms own = terms_of(t->terms, t->m[i].row == t->lead.job);
		int64_t first = SL_FOREVER, at;
		int rc = 0;

		plan_say_nothing(&t->why);
		for (uint32_t q = p->queue_of[t->m[i].row]; q && rc >= 0; q = p->queue_next[q - 1]) {
			rc = plan_earliest_start(p, t->m[i].row == t->lead.job ? t->lead : p->c->queue[q - 1], &own, &at, &t->why, err);
			if (rc > 0 && at < first)
				first = at;
		}
		if (rc < 0)
			return -1;
		t->failed = i;
		t->hopeless = first == SL_FOREVER;
		if (t->hopeless)
			return 0;
		if (first > *from)
			*from = first;
	}
	plan_say_nothing(&t->why);
	return 1;
}

/* The next time at which a timeline of the components changes. */
static int64_t next_change(struct sl_plan *p, const struct team *t, int64_t from)
{
	int64_t soonest = SL_FOREVER;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct want *w = want_of(p, t, i, NULL);
		struct sl_timeline *tl = w ? plan_timeline_of(p, w->enclave, NULL) : NULL;
		int64_t next = tl ? sl_timeline_next(tl, from) : SL_FOREVER;

		soonest = next < soonest ? next : soonest;
	}
	return soonest;
}

static int find_time(struct sl_plan *p, struct team *t, int64_t *start_time, struct sl_error *err)
{
	int64_t from = p->c->now, at;
	int rc = drop_reservations(p, t->m, t->count, err) < 0 ? -1 : begin_no_sooner(p, t, &from, err);

	if (rc <= 0)
		return rc;
	rc = 0;
	for (int round = 0; round < MOST_ROUNDS && !rc && t->placed < MOST_PLACED; round++) {
		bool fine = round < FINE_ROUNDS && t->count <= PLAN_HET_EXACT;
		int64_t change = fine ? next_change(p, t, from) : SL_FOREVER;

		rc = reserve_together(p, t, from, fine ? FINE_ORDERS : MOST_ORDERS, &at, err);
		if (!rc && at > change)
			at = change;
		if (!rc && at == SL_FOREVER)
			break;
		from = at;
	}
	*start_time = from;
	return rc;
}

/* True, with *why, if no reservation may be made for one of the components (QOS and priority differ between components). */
static bool has_unreserved(const struct sl_plan *p, const struct component *m, uint32_t count, struct sl_refusal *why)
{
	const struct sl_job_view *job = &p->c->snap->job;

	for (uint32_t i = 0; i < count; i++)
		if (job->flags[m[i].row] & SL_JOBF_NO_RESERVE) {
			plan_say(why, SL_WHY_NONE, "no nodes are kept free for its component %" PRIu32 " (job %" PRIu32 "): QOS NoReserve, "
				 "or MinPrioThreshold", m[i].offset, job->id[m[i].row]);
			return true;
		}
	return false;
}

int plan_reserve_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		     struct sl_refusal *refusal, struct sl_error *err)
{
	const struct component *m;
	struct component failed;
	struct sl_refusal why;
	struct team t;
	uint32_t count;
	int rc;

	plan_say_nothing(&why);
	if (find_components(p, e.job, &m, &count, err) < 0)
		return -1;
	if (!may_begin(p, e, m, count, &why) || has_unreserved(p, m, count, &why))
		return plan_refuse(p, &e, &why, refusal, err);
	if (make_team(&t, m, count, e, terms, err) < 0)
		return -1;
	rc = find_time(p, &t, start_time, err);
	if (rc > 0)
		order_bookings(&p->reserved, &t);
	plan_copy_refusal(&why, &t.why);
	failed = t.m[t.failed < count ? t.failed : 0];
	end_team(&t);
	if (rc)
		return rc;
	if (!t.hopeless)	/* not all ways to place them were tried */
		plan_say(&why, SL_WHY_RESOURCES, "no time was found at which all its components could start");
	return say_component(p, e, &failed, &why, refusal, err);
}

int plan_drop_het(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct component *m;
	uint32_t count;

	return find_components(p, job, &m, &count, err) < 0 ? -1 : drop_reservations(p, m, count, err);
}

int plan_undo_het(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct component *m;
	uint32_t count;

	/* (sets *err if there is nothing to take back) */
	if (find_components(p, job, &m, &count, err) < 0 || plan_undo_one(p, job, err) < 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if ((plan_find(&p->reserved, m[i].row) != SL_NONE || plan_find(&p->started, m[i].row) != SL_NONE) &&
		    plan_undo_one(p, m[i].row, err) < 0)
			return -1;
	return 0;
}
