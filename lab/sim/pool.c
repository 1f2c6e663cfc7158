/* SPDX-License-Identifier: MIT */
#include "sim/pool_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "timeline/timeline.h"

#define LONGEST (INT64_C(1) << 40)	/* no sum of times overflows */

/* -- life ---------------------------------------------------------------- */

bool sl_pool_suits(const struct sl_snapshot *snap)
{
	return snap->node.rows == 1 && snap->partition.rows == 1 && !snap->license.rows && !snap->reservation.rows;
}

struct sl_pool *sl_pool_create(struct sl_cluster *c, struct sl_error *err)
{
	struct sl_pool *p = calloc(1, sizeof(*p));

	if (!p) {
		sl_fail(err, SL_ENOMEM, "simulator: out of memory");
		return NULL;
	}
	p->c = c;
	return p;
}

void sl_pool_destroy(struct sl_pool *p)
{
	if (!p)
		return;
	free(p->run);
	free(p->step);
	free(p->row);
	free(p->known);
	pool_forget_ranks(p);
	free(p->ranked);
	pool_free_critical(p);
	free(p->start);
	free(p);
}

/* -- who runs ------------------------------------------------------------ */

static int compare_runs(const struct run *a, const struct run *b)
{
	return SL_ORDER(a->end, b->end) ?: SL_ORDER(a->job, b->job);
}

/* The first that is not before it. */
static uint32_t find_run(const struct sl_pool *p, const struct run *r)
{
	uint32_t low = 0, high = p->runs;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_runs(&p->run[middle], r) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_run(struct sl_pool *p, const struct run *r, struct sl_error *err)
{
	uint32_t at = find_run(p, r);

	if (sl_grow(&p->run, &p->run_room, p->runs + UINT64_C(1), sizeof(*r), err) < 0)
		return -1;
	memmove(&p->run[at + 1], &p->run[at], (p->runs - at) * sizeof(*r));
	p->run[at] = *r;
	p->runs++;
	p->free -= r->cores;
	return 0;
}

void sl_pool_ended(struct sl_pool *p, uint32_t job)
{
	const struct run ended = { .end = sl_cluster_end(p->c, job), .job = job };
	uint32_t at = p->open ? find_run(p, &ended) : p->runs;

	if (at >= p->runs || p->run[at].job != job)
		return;
	p->refused = 0;
	p->free += p->run[at].cores;
	p->runs--;
	memmove(&p->run[at], &p->run[at + 1], (p->runs - at) * sizeof(ended));
}

/* 1; 0: one of them has no end; -1 with *err. */
static int read_running(struct sl_pool *p, struct sl_error *err)
{
	uint32_t count, places;
	const uint32_t *job = sl_cluster_running(p->c, &count);

	p->runs = 0;
	p->free = p->cores;
	for (uint32_t i = 0; i < count; i++) {
		const struct sl_place *place = sl_cluster_places(p->c, job[i], &places);
		struct run r = { .end = sl_cluster_end(p->c, job[i]), .job = job[i], .cores = places ? place->cores : 0 };

		if (r.end - sl_cluster_now(p->c) > LONGEST)
			return 0;
		if (add_run(p, &r, err) < 0)
			return -1;
	}
	return 1;
}

/* -- is it known of all what they take? ---------------------------------- */

static bool knows_queue(struct sl_pool *p)
{
	uint32_t queued, cores;
	int64_t seconds;

	sl_cluster_queue(p->c, &queued);
	for (; p->looked < queued; p->looked++)
		if (!sl_cluster_takes_cores(p->c, p->looked, &cores, &seconds) || seconds > LONGEST ||
		    ((p->rule == SL_RULE_ORDER || p->rule == SL_RULE_CRITICAL) && cores > p->cores))
			return false;
	return true;
}

/* What is free by the timeline, now and when all have ended, is what nobody has. */
static bool nobody_else_has_cores(const struct sl_pool *p)
{
	struct sl_timeline *tl = sl_cluster_timeline(p->c);

	return sl_timeline_cores_at(tl, sl_cluster_now(p->c)) == p->free && sl_timeline_cores_at(tl, SL_FOREVER - 1) == p->cores;
}

/* Does the rule say what to do with those that wait now?  All of them are known (knows_queue()).  1, 0, or -1 with *err. */
static int rule_holds(struct sl_pool *p, struct sl_error *err)
{
	uint32_t queued;

	sl_cluster_queue(p->c, &queued);
	switch (p->rule) {
	case SL_RULE_FCFS:
		return queued <= SL_PLAN_FCFS_MAX;
	case SL_RULE_CONSERVATIVE:
		return p->window || queued <= SL_PLAN_CONSERVATIVE_MAX;
	case SL_RULE_CRITICAL:
		return queued <= SL_PLAN_CRITICAL_MAX;
	case SL_RULE_RANK:
		return pool_rank_queue(p, err);
	case SL_RULE_EASY:
	case SL_RULE_ORDER:
	case SL_RULE_NONE:
		break;
	}
	return true;
}

/* True if the rule can be followed on this machine. */
static bool is_known_to_rule(const struct sl_pool *p)
{
	return p->rule == SL_RULE_RANK ? !p->rank_fails : p->rule == SL_RULE_CRITICAL ? pool_suits_critical(p) : true;
}

int sl_pool_open(struct sl_pool *p, const struct sl_promise *promise, struct sl_error *err)
{
	struct sl_totals all;
	int rc;

	p->rule = promise->rule;
	p->window = promise->rule == SL_RULE_CONSERVATIVE ? promise->window : 0;
	if (p->rule == SL_RULE_ORDER)
		pool_set_order(p, &promise->order);
	if (p->rule == SL_RULE_RANK)
		pool_set_rank(p, promise->rank);
	if (p->rule == SL_RULE_CRITICAL)
		p->critical = promise->critical;
	p->open = false;
	p->looked = p->refused = 0;
	sl_cluster_totals(p->c, &all);
	p->cores = all.cores;
	rc = knows_queue(p) ? read_running(p, err) : 0;
	p->open = rc > 0 && is_known_to_rule(p) && nobody_else_has_cores(p) &&
		sl_cluster_unbook(p->c);
	return rc < 0 ? -1 : 0;
}

int sl_pool_is_open(struct sl_pool *p, struct sl_error *err)
{
	int rc = p->open && knows_queue(p) ? rule_holds(p, err) : 0;

	return rc || !p->open ? rc : sl_pool_close(p, err);
}

int sl_pool_close(struct sl_pool *p, struct sl_error *err)
{
	p->open = false;
	return sl_cluster_rebook(p->c, err);
}

uint32_t sl_pool_hidden(const struct sl_pool *p)
{
	uint32_t queued;

	sl_cluster_queue(p->c, &queued);
	return p->window && queued > p->window ? queued - p->window : 0;
}

/* -- who starts ---------------------------------------------------------- */

struct shadow pool_find_shadow(const struct sl_pool *p, uint32_t cores)
{
	struct shadow s = { .beside = p->free - cores };
	uint32_t i = 0;

	while (s.beside < 0 && i < p->runs)
		s.beside += p->run[i++].cores;
	if (s.beside < 0 || !i)
		return s;
	s.from = p->run[i - 1].end;
	for (; i < p->runs && p->run[i].end == s.from; i++)
		s.beside += p->run[i].cores;
	s.known = true;
	return s;
}

int pool_start(struct sl_pool *p, const struct sl_pool_start *s, struct sl_error *err)
{
	const struct run r = { .end = sl_cluster_now(p->c) + s->seconds, .job = s->entry.job, .cores = s->cores };

	if (sl_grow(&p->start, &p->start_room, p->starts + UINT64_C(1), sizeof(*s), err) < 0 || add_run(p, &r, err) < 0)
		return -1;
	p->start[p->starts++] = *s;
	return 0;
}

/* EASY.  0, or -1 with *err. */
static int decide_easy(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err)
{
	struct shadow *head = &p->head;
	int64_t now = sl_cluster_now(p->c);

	if (!p->refused)
		head->known = false;
	for (uint32_t i = p->refused; i < queued && p->free > 0; i++) {
		struct sl_pool_start s = { .entry = entry[i] };
		bool beyond;

		sl_cluster_takes_cores(p->c, i, &s.cores, &s.seconds);
		if (s.cores > p->free) {
			if (!head->known)
				*head = pool_find_shadow(p, s.cores);	/* none: it never starts */
			continue;
		}
		beyond = head->known && now + s.seconds > head->from;
		if (beyond && s.cores > head->beside)
			continue;
		if (beyond)
			head->beside -= s.cores;
		if (pool_start(p, &s, err) < 0)
			return -1;
	}
	p->refused = queued - p->starts;
	return 0;
}

bool sl_pool_asks_history(const struct sl_pool *p)
{
	return p->rule == SL_RULE_ORDER;
}

bool pool_has_room_for_one(const struct sl_pool *p, uint32_t queued)
{
	uint32_t cores;
	int64_t seconds;

	for (uint32_t i = 0; i < queued; i++) {
		sl_cluster_takes_cores(p->c, i, &cores, &seconds);
		if (cores <= p->free)
			return true;
	}
	return false;
}

/* First come, first served.  0, or -1 with *err. */
static int decide_fcfs(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err)
{
	for (uint32_t i = 0; i < queued; i++) {
		struct sl_pool_start s = { .entry = entry[i] };

		sl_cluster_takes_cores(p->c, i, &s.cores, &s.seconds);
		if (s.cores > p->cores)		/* it never starts */
			continue;
		if (s.cores > p->free)
			break;
		if (pool_start(p, &s, err) < 0)
			return -1;
	}
	return 0;
}

const struct sl_pool_start *sl_pool_decide(struct sl_pool *p, uint32_t *starts, struct sl_error *err)
{
	static int (*const decide[])(struct sl_pool *, const struct sl_entry *, uint32_t, struct sl_error *) = {
		[SL_RULE_FCFS] = decide_fcfs, [SL_RULE_EASY] = decide_easy,
		[SL_RULE_CONSERVATIVE] = pool_decide_conservative, [SL_RULE_ORDER] = pool_decide_order,
		[SL_RULE_RANK] = pool_decide_rank, [SL_RULE_CRITICAL] = pool_decide_critical,
	};
	uint32_t queued;
	const struct sl_entry *entry = sl_cluster_queue(p->c, &queued);

	p->starts = 0;
	if (sl_grow(&p->start, &p->start_room, 1, sizeof(*p->start), err) < 0 ||
	    decide[p->rule](p, entry, queued, err) < 0)
		return NULL;
	p->looked = queued - p->starts;
	*starts = p->starts;
	return p->start;
}
