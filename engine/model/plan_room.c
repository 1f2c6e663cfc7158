/* SPDX-License-Identifier: MIT */
/*
 * plan_room.c - jobs that certainly have no room, found by comparing two numbers.
 *
 * Most jobs of a long queue need more cores than are free, or would still run when the head is to start and need more than
 * are left then.  What a job needs at least does not change while it waits, so it is computed once, and each cycle compares
 * numbers instead of requests.
 */
#include "model/plan_private.h"

#include <stdlib.h>

#include "timeline/choose.h"

/* -- what an entry needs at least -------------------------------------------- */

/* True if the want alone determines a start: one partition, no alternative, reservation or deadline. */
static bool is_simple(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;

	return !(job->flags[j] & SL_JOBF_NO_RESERVE) && !c->snap->reservation.rows && !job->shapes[j].count &&
	       job->partitions[j].count <= 1 &&
	       !job->deadline[j] && !plan_is_component(c, j);
}

static bool takes_cores(const struct sl_cluster *c, const struct want *w, int64_t cores)
{
	const struct sl_job_view *job = &c->snap->job;
	const struct sl_request *r = &w->pub.request;

	return sl_request_is_cores(r, cores) && w->pub.variants == 1 && !w->pub.native && w->pub.method == SL_PLACE_BESTFIT &&
		!job->array_max_running[w->entry.job] && c->snap->node.rows == 1 &&
		(!r->eligible || sl_nodeset_contains(r->eligible, 0));
}

static void work_out_least(struct sl_cluster *c, struct sl_entry e, struct least *l)
{
	const struct want *w = is_simple(c, e.job) ? cluster_want(c, e, NULL) : NULL;
	int64_t cores;

	l->kind = LEAST_UNKNOWN;
	if (!w || w->pub.why != SL_WHY_NONE || w->enclave || w->valid_until != INT64_MAX ||
	    w->pub.time_floor != w->pub.time_limit)
		return;
	cores = sl_fit_least_cores(c->tl, &w->pub.request);
	*l = (struct least) { LEAST_KNOWN, takes_cores(c, w, cores), cores < UINT32_MAX ? (uint32_t) cores : UINT32_MAX,
			      w->pub.time_limit };
}

static const struct least *least_of(struct sl_cluster *c, uint32_t entry)
{
	struct least *l = &c->least[entry];

	if (l->kind == LEAST_NOT_ASKED)
		work_out_least(c, c->queue[entry], l);
	return l;
}

bool sl_cluster_lacks_room(struct sl_cluster *c, uint32_t first, const struct sl_room *room)
{
	int64_t cores = sl_timeline_cores_at(c->tl, c->now), until = cluster_until(c->now, room->from);

	for (; first < c->queued; first++) {
		const struct least *l = least_of(c, first);

		if (l->kind != LEAST_KNOWN)
			return false;
		if (l->cores <= cores && !(room->known && c->queue[first].job != room->head && l->seconds > until &&
					   l->cores > room->cores))
			return false;
	}
	return true;
}

bool sl_cluster_takes_cores(struct sl_cluster *c, uint32_t at, uint32_t *cores, int64_t *seconds)
{
	const struct least *l = least_of(c, at);

	*cores = l->cores;
	*seconds = l->seconds;
	return l->kind == LEAST_KNOWN && l->is_all;
}

/* -- behind the head ----------------------------------------------------- */

void sl_plan_unheard(struct sl_plan *p)
{
	p->unheard = true;
}

/* A job that still runs at the head's time either leaves the head where it is, and needs cores beside it; or the head gets
 * other nodes, and both together must fit into what is there without the head. */
static const struct room *look_at_room(struct sl_plan *p, const struct booking *head)
{
	struct room *r = &p->room;
	int64_t spare;

	if (r->known && r->moment == sl_timeline_moment(p->c->tl))
		return r;
	spare = head->layout.cores - sl_fit_least_cores(p->c->tl, &head->want->pub.request);
	*r = (struct room) { true, sl_timeline_moment(p->c->tl), sl_timeline_cores_at(p->c->tl, p->c->now),
			     head->t0 - p->c->now, sl_timeline_cores_at(p->c->tl, head->t0) + (spare > 0 ? spare : 0) };
	return r;
}

uint32_t sl_plan_pass_over(struct sl_plan *p, uint32_t first, uint32_t count)
{
	const struct booking *head = p->unheard && p->reserved.count == 1 && !p->head_at ? p->reserved.item[0] : NULL;
	const struct room *r;
	uint32_t i;

	if (!head || head->want->enclave || head->t0 <= p->c->now)
		return 0;
	if (!p->passed && !(p->passed = calloc((size_t) p->c->queued + 1, 1)))
		return 0;
	r = look_at_room(p, head);
	count = count < p->c->queued - first ? count : p->c->queued - first;
	for (i = first; i < first + count; i++) {
		const struct least *l = least_of(p->c, i);
		uint32_t job = p->c->queue[i].job;

		if (l->kind != LEAST_KNOWN || p->starts[job] || job == head->entry.job ||
		    (l->cores <= r->cores && (l->seconds <= r->until || l->cores <= r->later)))
			break;
		p->passed[i] = 1;
	}
	return i - first;
}

bool sl_plan_lacks_cores(struct sl_plan *p, struct sl_entry e)
{
	struct sl_cluster *c = p->c;
	const struct least *l;
	uint32_t at = p->unheard ? p->queue_of[e.job] : 0;

	while (at && c->queue[at - 1].partition != e.partition)
		at = p->queue_next[at - 1];
	l = at ? least_of(c, at - 1) : NULL;
	if (!l || l->kind != LEAST_KNOWN)
		return false;
	return l->cores > sl_timeline_cores_at(c->tl, c->now) ||
		(l->is_all && c->snap->job.yields_after[e.job] <= 0 &&
		 l->cores > sl_timeline_cores_until(c->tl, sl_later(c->now, l->seconds)));
}

bool plan_is_passed(const struct sl_plan *p, uint32_t job)
{
	uint32_t at = p->queue_of[job];

	return p->passed && at && p->passed[at - 1];
}

/* -- promises ---------------------------------------------------------------- */

void sl_plan_settle(struct sl_plan *p)
{
	p->settled = !p->kept_frees;	/* kept-free nodes become free with time */
	sl_plan_settle_full(p);
}

void sl_plan_settle_full(struct sl_plan *p)
{
	p->settled_full = !p->kept_frees;
}

bool sl_plan_is_settled_full(const struct sl_plan *p)
{
	return p->settled_full;
}

bool sl_plan_is_settled(const struct sl_plan *p)
{
	return p->settled;
}

void sl_plan_promise(struct sl_plan *p, const struct sl_promise *promise)
{
	p->promise = *promise;
}

const struct sl_promise *sl_plan_promises(const struct sl_plan *p)
{
	return &p->promise;
}

/* True if a later search certainly finds no later time for the head. */
static bool keeps_its_time(const struct booking *head)
{
	return !head->expected && !head->segment && head->method != SL_PLACE_EXPLICIT && sl_request_has_first_start(&head->want->pub.request);
}

struct sl_room sl_plan_room(struct sl_plan *p)
{
	const struct booking *head = p->settled && p->reserved.count == 1 && !p->head_at ? p->reserved.item[0] : NULL;
	const struct sl_room unknown = { .known = false };

	/* with specials, the end of a job may free more than it holds */
	if (!head || head->want->enclave || head->t0 <= p->c->now || p->c->has_specials || !keeps_its_time(head))
		return unknown;
	for (uint32_t i = 0; i < p->started.count; i++)
		if (p->started.item[i]->expected)
			return unknown;
	return (struct sl_room) { true, head->entry.job, head->t0, look_at_room(p, head)->later };
}
