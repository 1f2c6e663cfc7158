/* SPDX-License-Identifier: MIT */
/*
 * pool_rank.c - the rule RANK on a pool: EASY in the order of a policy's rank(), by its code (model/rank_code.h).
 *
 * Where nobody has room, nothing is ranked.  Else each job is, but only as many are put in order as come before the first
 * that does not fit; and then those that fit into what is free.
 */
#include "sim/pool_private.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/heap.h"

void pool_forget_ranks(struct sl_pool *p)
{
	free(p->rank_of);
	free(p->rank_field);
	p->rank_of = NULL;
	p->rank_field = NULL;
}

void pool_set_rank(struct sl_pool *p, const struct sl_rank_code *rank)
{
	if (p->rank == rank)
		return;
	pool_forget_ranks(p);
	p->rank = rank;
}

/* -- ranks ------------------------------------------------------------------ */

static bool goes_before(const void *arg, const struct pool_ranked *a, const struct pool_ranked *b)
{
	(void) arg;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (a->then != b->then)
		return a->then > b->then;
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->submit_time != b->submit_time)
		return a->submit_time < b->submit_time;
	return a->id != b->id ? a->id < b->id : a->at < b->at;
}

SL_HEAP(ranked, struct pool_ranked, const void *, goes_before)

/* Room for what is known of jobs.  0, or -1 with *err. */
static int know_ranks(struct sl_pool *p, struct sl_error *err)
{
	uint32_t jobs = sl_cluster_snapshot(p->c)->job.rows;

	if (p->rank_of)
		return 0;
	p->rank_of = calloc(jobs + 1u, sizeof(*p->rank_of));
	p->rank_field = calloc((size_t) jobs * p->rank->keys + 1u, sizeof(*p->rank_field));
	return p->rank_of && p->rank_field ? 0 : sl_fail(err, SL_ENOMEM, "simulator: out of memory");
}

/* False: it cannot be said. */
static bool rank_job(struct sl_pool *p, struct sl_entry entry, struct pool_ranked *r)
{
	struct pool_rank *known = &p->rank_of[entry.job];
	struct sl_rank_value *field = &p->rank_field[(size_t) entry.job * p->rank->keys];

	if (!known->is_read)
		sl_rank_code_read(p->rank, sl_cluster_snapshot(p->c), entry.job, entry.partition, field);
	known->is_read = true;
	if (!known->is_known &&
	    !sl_rank_code_ask(p->rank, field, sl_cluster_now(p->c), sl_cluster_origin(p->c), &known->rank, &known->then))
		return false;
	known->is_known = p->rank->timeless;
	r->rank = known->rank;
	r->then = known->then;
	return true;
}

int pool_rank_queue(struct sl_pool *p, struct sl_error *err)
{
	const struct sl_job_view *job = &sl_cluster_snapshot(p->c)->job;
	uint32_t queued;
	const struct sl_entry *entry = sl_cluster_queue(p->c, &queued);

	p->ranks = 0;
	if (!pool_has_room_for_one(p, queued))
		return 1;
	if (know_ranks(p, err) < 0 || sl_grow(&p->ranked, &p->ranked_room, queued, sizeof(*p->ranked), err) < 0)
		return -1;
	for (uint32_t i = 0; i < queued; i++) {
		struct pool_ranked *r = &p->ranked[i];
		uint32_t row = entry[i].job;

		*r = (struct pool_ranked) { .priority = job->priority[row], .submit_time = job->submit_time[row],
					    .id = job->id[row], .at = i };
		sl_cluster_takes_cores(p->c, i, &r->cores, &r->seconds);
		if (!rank_job(p, entry[i], r)) {
			p->rank_fails = true;
			return 0;
		}
	}
	p->ranks = queued;
	return 1;
}

/* -- who starts -------------------------------------------------------------- */

/* In the order, until one does not fit.  What that one leaves to those behind it is in *head.  How many are left, or -1. */
static int64_t start_before_head(struct sl_pool *p, const struct sl_entry *entry, struct shadow *head, struct sl_error *err)
{
	uint32_t left = p->ranks;

	ranked_order(NULL, p->ranked, left);
	while (left && p->free > 0 && !head->known) {
		const struct pool_ranked *r = &p->ranked[0];
		const struct sl_pool_start s = { .entry = entry[r->at], .cores = r->cores, .seconds = r->seconds };

		if (s.cores > p->free)
			*head = pool_find_shadow(p, s.cores);	/* none: it never starts */
		else if (pool_start(p, &s, err) < 0)
			return -1;
		ranked_drop_first(NULL, p->ranked, &left);
	}
	return left;
}

/* Those that do not delay the head.  0, or -1 with *err. */
static int backfill(struct sl_pool *p, const struct sl_entry *entry, struct shadow *head, uint32_t rows, struct sl_error *err)
{
	int64_t now = sl_cluster_now(p->c);
	uint32_t left = 0;

	for (uint32_t i = 0; i < rows; i++)
		if (p->ranked[i].cores <= p->free && (now + p->ranked[i].seconds <= head->from || p->ranked[i].cores <= head->beside))
			p->ranked[left++] = p->ranked[i];
	ranked_order(NULL, p->ranked, left);
	while (left && p->free > 0) {
		const struct pool_ranked *r = &p->ranked[0];
		const struct sl_pool_start s = { .entry = entry[r->at], .cores = r->cores, .seconds = r->seconds };
		bool beyond = now + s.seconds > head->from;

		if (s.cores <= p->free && (!beyond || s.cores <= head->beside)) {
			head->beside -= beyond ? s.cores : 0;
			if (pool_start(p, &s, err) < 0)
				return -1;
		}
		ranked_drop_first(NULL, p->ranked, &left);
	}
	return 0;
}

int pool_decide_rank(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err)
{
	struct shadow head = { .known = false };
	int64_t left;

	(void) queued;
	p->refused = 0;
	if (!p->ranks)
		return 0;
	left = start_before_head(p, entry, &head, err);
	if (left < 0)
		return -1;
	return head.known ? backfill(p, entry, &head, (uint32_t) left, err) : 0;
}
