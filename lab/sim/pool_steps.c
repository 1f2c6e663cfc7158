/* SPDX-License-Identifier: MIT */
/* pool_steps.c - what of a pool is free when, step by step, and conservative backfill by that. */
#include "sim/pool_private.h"

#include <string.h>

#include "base/grow.h"
#include "base/search.h"

static int add_step(struct sl_pool *p, uint32_t at, struct step s, struct sl_error *err)
{
	if (sl_grow(&p->step, &p->step_room, p->steps + UINT64_C(1), sizeof(s), err) < 0)
		return -1;
	memmove(&p->step[at + 1], &p->step[at], (p->steps - at) * sizeof(s));
	p->step[at] = s;
	p->steps++;
	return 0;
}

int pool_lay_out_steps(struct sl_pool *p, struct sl_error *err)
{
	int64_t free = p->free;

	p->steps = 0;
	if (add_step(p, 0, (struct step) { sl_cluster_now(p->c), free }, err) < 0)
		return -1;
	for (uint32_t i = 0; i < p->runs; i++) {
		free += p->run[i].cores;
		if (p->run[i].end <= p->step[p->steps - 1].t)
			p->step[p->steps - 1].free = free;
		else if (add_step(p, p->steps, (struct step) { p->run[i].end, free }, err) < 0)
			return -1;
	}
	return 0;
}

/* As pool_find_steps(), among the steps from *first* on. */
static uint32_t find_steps_from(const struct sl_pool *p, uint32_t first, int64_t cores, int64_t seconds)
{
	for (uint32_t i = first; i < p->steps && (i <= first || p->step[i].t < p->step[first].t + seconds); i++)
		if (p->step[i].free < cores)
			first = i + 1;
	return first;
}

uint32_t pool_find_steps(const struct sl_pool *p, int64_t cores, int64_t seconds)
{
	return find_steps_from(p, 0, cores, seconds);
}

bool pool_fits_now(const struct sl_pool *p, int64_t cores, int64_t seconds)
{
	for (uint32_t i = 0; i < p->steps && p->step[i].t < p->step[0].t + seconds; i++)
		if (p->step[i].free < cores)
			return false;
	return true;
}

int pool_book_steps(struct sl_pool *p, uint32_t first, int64_t cores, int64_t seconds, struct sl_error *err)
{
	int64_t end = p->step[first].t + seconds;
	uint32_t last = first;

	while (last + 1 < p->steps && p->step[last + 1].t < end)
		last++;
	if ((last + 1 == p->steps || p->step[last + 1].t > end) &&
	    add_step(p, last + 1, (struct step) { end, p->step[last].free }, err) < 0)
		return -1;
	for (uint32_t i = first; i <= last; i++)
		p->step[i].free -= cores;
	return 0;
}

/* -- conservative backfill ------------------------------------------------ */

#define FOUND 16

/* Earliest starts found in this decision.  A job that needs as many cores for as long cannot start sooner, because bookings only
 * reduce what is free. */
struct found {
	struct {
		int64_t cores, seconds, t;
	} at[FOUND];
	uint32_t count;			/* the last FOUND of so many are kept */
};

static uint32_t step_at(const struct sl_pool *p, int64_t t)
{
	return SL_FIRST(i, 0, p->steps, p->step[i].t < t);
}

/* pool_find_steps(), from where it can be at the earliest. */
static uint32_t find_knowing(const struct sl_pool *p, struct found *f, int64_t cores, int64_t seconds)
{
	int64_t least = p->step[0].t;
	uint32_t first;

	for (uint32_t i = 0; i < FOUND && i < f->count; i++)
		if (f->at[i].cores <= cores && f->at[i].seconds <= seconds && f->at[i].t > least)
			least = f->at[i].t;
	first = find_steps_from(p, step_at(p, least), cores, seconds);
	if (first) {
		uint32_t to = f->count++ % FOUND;

		f->at[to].cores = cores;
		f->at[to].seconds = seconds;
		f->at[to].t = p->step[first].t;
	}
	return first;
}

/* 1 + the index of the last of the first *queued* jobs that needs no more cores than are free now; 0 if there is none. */
static uint32_t end_of_room(const struct sl_pool *p, uint32_t queued)
{
	uint32_t cores;
	int64_t seconds;

	for (; queued > 0; queued--) {
		sl_cluster_takes_cores(p->c, queued - 1, &cores, &seconds);
		if (cores <= p->free)
			break;
	}
	return queued;
}

/* Jobs behind the last one that has room now are not booked: nothing of the plan outlives this decision.  0, or -1 with *err. */
int pool_decide_conservative(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err)
{
	struct found found = { .count = 0 };
	struct sl_pool_start s;
	uint32_t end = end_of_room(p, p->window && queued > p->window ? p->window : queued), first;

	p->refused = 0;
	if (end && pool_lay_out_steps(p, err) < 0)
		return -1;
	for (uint32_t i = 0; i < end && p->free > 0; i++) {
		s.entry = entry[i];
		sl_cluster_takes_cores(p->c, i, &s.cores, &s.seconds);
		if (s.cores > p->cores)		/* it never starts */
			continue;
		first = find_knowing(p, &found, s.cores, s.seconds);
		if (pool_book_steps(p, first, s.cores, s.seconds, err) < 0)
			return -1;
		if (first)
			continue;
		if (pool_start(p, &s, err) < 0)
			return -1;
		end = end_of_room(p, end);
	}
	return 0;
}
