/* SPDX-License-Identifier: MIT */
/*
 * plan_het.c - heterogeneous jobs: all components start at once, or none does.  Their leader
 * stands for them: what is decided about it is decided about all.
 */
#include "model/plan_private.h"

#include <inttypes.h>
#include <stdlib.h>

/* How often a time for all is looked for, where one component pushes the others back. */
#define MOST_ROUNDS 64

/* -- who belongs together ------------------------------------------------ */

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

/* Those of the job's leader; -1 with *err. */
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

/* 1; or 0 with *why: the job does not lead, or not all components may run now. */
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

/* What the leader waits for, in the words of the component that does. */
static int say_component(struct sl_plan *p, struct sl_entry e, const struct component *m, struct sl_refusal *why,
			 struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal all;

	plan_say_now(&all, why->why, "component %" PRIu32 ": %s", m->offset, sl_refusal_text(why));
	return plan_refuse(p, &e, m->row == e.job ? why : &all, refusal, err);
}

/* The leader is placed as the policy says; others as they ask, by the same method. */
static struct sl_terms terms_of(const struct sl_terms *terms, bool leads)
{
	if (leads || !terms)
		return terms ? *terms : (struct sl_terms) { 0 };
	return (struct sl_terms) { .how = terms->how && terms->how->method != SL_PLACE_EXPLICIT ? terms->how : NULL };
}

/*
 * Keep the nodes of the first *count* components from the others, as Slurm does, or no longer.
 * Their bookings are in *list*.
 */
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

/* -- starting ------------------------------------------------------------ */

static int start_component(struct sl_plan *p, const struct component *m, struct sl_entry e,
			   const struct sl_terms *terms, bool easy, struct sl_refusal *why, struct sl_error *err)
{
	struct sl_terms own = terms_of(terms, m->row == e.job);
	int rc = 0;

	if (m->row == e.job)
		return plan_start_alone(p, e, &own, easy, why, err);
	for (uint32_t i = p->queue_of[m->row]; i && !rc; i = p->queue_next[i - 1])
		rc = plan_start_alone(p, p->c->queue[i - 1], &own, easy, why, err);
	return rc;
}

int plan_start_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
		   struct sl_refusal *refusal, struct sl_error *err)
{
	const struct component *m;
	struct sl_refusal why;
	uint32_t count, i = 0;
	int rc;

	plan_say_nothing(&why);
	if (find_components(p, e.job, &m, &count, err) < 0)
		return -1;
	if (!may_begin(p, e, m, count, &why))
		return plan_refuse(p, &e, &why, refusal, err);
	for (rc = 1; i < count && rc > 0; i++) {
		rc = start_component(p, &m[i], e, terms, easy, &why, err);
		if (rc > 0 && fence(p, &p->started, &m[i], 1, true, err) < 0)
			return -1;
	}
	if (fence(p, &p->started, m, rc > 0 ? count : i - 1, false, rc < 0 ? NULL : err) < 0)
		return -1;
	if (rc > 0)
		return 1;
	for (uint32_t k = i - 1; k-- > 0;)
		if (sl_plan_undo(p, m[k].row, rc < 0 ? NULL : err) < 0)
			rc = -1;
	return rc < 0 ? -1 : say_component(p, e, &m[i - 1], &why, refusal, err);
}

/* -- reserving ----------------------------------------------------------- */

static int drop_reservations(struct sl_plan *p, const struct component *m, uint32_t count, struct sl_error *err)
{
	for (uint32_t i = 0; i < count; i++)
		if (plan_find(&p->reserved, m[i].row) != SL_NONE && sl_plan_undo(p, m[i].row, err) < 0)
			return -1;
	return 0;
}

static int reserve_component(struct sl_plan *p, const struct component *m, struct sl_entry e,
			     const struct sl_terms *terms, int64_t from, int64_t *at, struct sl_refusal *why,
			     struct sl_error *err)
{
	struct sl_terms own = terms_of(terms, m->row == e.job);
	int rc = 0;

	if (m->row == e.job)
		return plan_reserve(p, e, &own, from, at, why, err);
	for (uint32_t i = p->queue_of[m->row]; i && !rc; i = p->queue_next[i - 1])
		rc = plan_reserve(p, p->c->queue[i - 1], &own, from, at, why, err);
	return rc;
}

/* All from *t on.  1 where all were booked for the same time, *t; 0 where *t is later now, or
 * with why->why, never; -1 with *err. */
static int reserve_round(struct sl_plan *p, const struct component *m, uint32_t count, struct sl_entry e,
			 const struct sl_terms *terms, int64_t *t, struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why;
	bool later = false;
	uint32_t i = 0;
	int rc = 1;

	plan_say_nothing(&why);
	while (i < count && rc > 0 && !later) {
		int64_t at;

		rc = reserve_component(p, &m[i], e, terms, *t, &at, &why, err);
		if (rc <= 0)
			break;
		later = at > *t && i;
		if (at > *t)
			*t = at;
		if (fence(p, &p->reserved, &m[i++], 1, true, err) < 0)
			return -1;
	}
	if (fence(p, &p->reserved, m, i, false, rc < 0 ? NULL : err) < 0)
		return -1;
	if (rc <= 0)
		return rc < 0 ? -1 : say_component(p, e, &m[i], &why, refusal, err);
	return !later;
}

int plan_reserve_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		     struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why;
	const struct component *m;
	int64_t t = p->c->now, before;
	uint32_t count;
	int rc = 0;

	plan_say_nothing(&why);
	if (find_components(p, e.job, &m, &count, err) < 0)
		return -1;
	if (!may_begin(p, e, m, count, &why))
		return plan_refuse(p, &e, &why, refusal, err);
	for (int round = 0; round < MOST_ROUNDS && !rc; round++) {
		before = t;
		if (drop_reservations(p, m, count, err) < 0)
			return -1;
		rc = reserve_round(p, m, count, e, terms, &t, &why, err);
		if (!rc && t == before)
			break;
	}
	*start_time = t;
	if (rc)
		return rc;
	if (drop_reservations(p, m, count, err) < 0)
		return -1;
	if (why.why == SL_WHY_NONE)
		plan_say(&why, SL_WHY_RESOURCES, "there is no time at which all its components could start");
	return plan_refuse(p, &e, &why, refusal, err);
}

int plan_drop_het(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct component *m;
	uint32_t count;

	return find_components(p, job, &m, &count, err) < 0 ? -1 : drop_reservations(p, m, count, err);
}
