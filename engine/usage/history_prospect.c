/* SPDX-License-Identifier: MIT */
/*
 * usage/history_prospect.c - what is expected of jobs, worked out once for all that are alike.
 *
 * A policy that orders a queue asks about each job of it in each cycle.  The answer depends on the user, the CPUs and the
 * walltime, and on the user's runs; so it is kept by the first three until the user's runs change.
 */
#include "usage/history_private.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/grow.h"

#define SHORTEST 10		/* seconds: shorter runs are as good as each other */
#define WEEK (7 * 86400)	/* stands for the walltime of a job that has none */
#define RUNS 40			/* that the shortest likely runtime is worked out from */
#define MOST_KEPT 65536		/* across cycles */
#define OTHERS (1 / 3.0)	/* what a run of others weighs beside one of the user's */

/* The power of the mean that is the shortest likely runtime, and what the runs of others weigh in it. */
static const volatile double power = 5, surprise = 1e-2;	/* volatile: worked out by pow(), not by the compiler */

uint32_t sl_history_prospect(struct sl_history *h, const char *user, int64_t cpus, int64_t limit, struct sl_error *err)
{
	struct history_list *l;
	uint32_t list;
	uint64_t hash;

	if (history_load(h, SL_BY_USER, user, &l, err))
		return SL_NONE;
	list = l ? (uint32_t) (l - h->list) : SL_NONE;
	hash = sl_hash_number(sl_hash_number(sl_hash_number(SL_HASH, list), (uint64_t) cpus), (uint64_t) limit);
	SL_MAP_EACH(&h->prospect_of, hash, at) {
		const struct history_prospect *p = &h->prospect[at.value];

		if (p->list == list && p->cpus == cpus && p->limit == limit)
			return at.value;
	}
	if (sl_grow(&h->prospect, &h->prospect_room, h->prospects + UINT64_C(1), sizeof(*h->prospect), err) ||
	    sl_map_put(&h->prospect_of, hash, h->prospects, err))
		return SL_NONE;
	h->prospect[h->prospects] = (struct history_prospect) { .list = list, .cpus = cpus, .limit = limit, .stretch = 1 };
	return h->prospects++;
}

/* True if all that *at* says of a user's runs holds still. */
static bool is_current(const struct sl_history *h, const struct history_prospect *p, const struct history_known_at *at)
{
	const struct history_list *l = &h->list[p->list];

	return at->cycle && (h->unrecorded || at->cycle == h->cycle) && at->version == l->version &&
		(!l->count || l->run[l->count - 1].end <= at->now);
}

static struct history_known_at known_now(const struct sl_history *h, const struct history_prospect *p, int64_t now)
{
	return (struct history_known_at) { h->cycle, h->list[p->list].version, now };
}

static double within(double seconds, double least, double most)
{
	seconds = seconds < most ? seconds : most;
	return seconds > least ? seconds : least;
}

static double walltime_of(const struct history_prospect *p)
{
	return p->limit < WEEK ? (double) p->limit : WEEK;
}

static uint32_t user_of(const struct sl_history *h, const struct history_prospect *p)
{
	return p->list == SL_NONE ? SL_NONE : h->list[p->list].text;
}

/* What the user's runs say.  0, or -1 with *err. */
static int work_out(struct sl_history *h, struct history_prospect *p, int64_t now, struct sl_error *err)
{
	struct sl_history_like like;

	if (sl_history_like(h, h->text[h->list[p->list].text], p->cpus, p->limit, now, &like, err))
		return -1;
	p->sum = p->inverses = 0;
	p->count = like.count;
	p->stretch = like.count ? like.stretch : 1;
	for (uint32_t i = 0; i < like.count; i++) {
		double seconds = within((double) like.runtime[i] * like.stretch, 1, walltime_of(p));

		p->sum += seconds;
		p->inverses += 1 / (seconds > SHORTEST ? seconds : SHORTEST);
	}
	p->known = known_now(h, p, now);
	p->shares = 0;
	return 0;
}

int sl_history_expect(struct sl_history *h, uint32_t prospect, int64_t now, double *typical, double *stretch,
		      struct sl_error *err)
{
	struct history_prospect *p = &h->prospect[prospect];
	double mean, inverse, others;

	if (history_know_shares(h, now, err) ||
	    (p->list != SL_NONE && !is_current(h, p, &p->known) && work_out(h, p, now, err)))
		return -1;
	if (p->shares != h->prior.changes) {
		others = p->count ? OTHERS : 1;
		history_likely(h, user_of(h, p), walltime_of(p), &mean, &inverse);
		/* the geometric mean of mean and harmonic mean */
		p->typical = sqrt((p->sum + others * mean) / (p->inverses + others * inverse));
		p->shares = h->prior.changes;
	}
	*typical = p->typical;
	*stretch = p->stretch;
	return 0;
}

double sl_history_limit_typical(int64_t limit)
{
	const struct history_prospect p = { .limit = limit };
	const double seconds = walltime_of(&p);

	return sqrt(seconds * (seconds > SHORTEST ? seconds : SHORTEST));
}

/* The newest runs of half to twice the CPUs and the same walltime; where there are none, of any; or all. */
static int find_runs(struct sl_history *h, const struct history_prospect *p, int64_t now,
		     const struct sl_past_run *const **run, uint32_t *count, struct sl_error *err)
{
	struct sl_history_query q = {
		.user = p->list == SL_NONE ? "" : h->text[h->list[p->list].text], .now = now, .last = RUNS,
		.least_cpus = (p->cpus + 1) / 2, .most_cpus = 2 * p->cpus, .least_limit = p->limit, .most_limit = p->limit,
	};

	if (sl_history_ask(h, &q, run, count, err))
		return -1;
	if (*count)
		return 0;
	q.least_limit = INT64_MIN;
	q.most_limit = INT64_MAX;
	if (sl_history_ask(h, &q, run, count, err))
		return -1;
	if (*count)
		return 0;
	q.least_cpus = INT64_MIN;
	q.most_cpus = INT64_MAX;
	return sl_history_ask(h, &q, run, count, err);
}

int sl_history_shortest(struct sl_history *h, uint32_t prospect, double stretch, int64_t now, double *seconds,
			struct sl_error *err)
{
	struct history_prospect *p = &h->prospect[prospect];
	const struct sl_past_run *const *run;
	double sum = 0, mean, limit;
	uint32_t count = 0;

	if (history_know_shares(h, now, err))
		return -1;
	if (p->list != SL_NONE && is_current(h, p, &p->shortest_known) && p->shortest_stretch == stretch &&
	    p->shortest_shares == h->prior.changes) {
		*seconds = p->shortest;
		return 0;
	}
	if (p->list != SL_NONE && find_runs(h, p, now, &run, &count, err))
		return -1;
	limit = p->limit == SL_UNLIMITED ? HUGE_VAL : p->limit > SHORTEST ? (double) p->limit : SHORTEST;
	for (uint32_t i = 0; i < count; i++) {
		double ran = run[i]->seconds > SHORTEST ? (double) run[i]->seconds : SHORTEST;

		sum += pow(within(ran * stretch, SHORTEST, limit), -power);
	}
	mean = count ? sum / count : pow(limit, -power);
	p->shortest = pow((1 - surprise) * mean + surprise * history_likely_power(h, user_of(h, p), limit, -power), -1 / power);
	p->shortest_stretch = stretch;
	p->shortest_shares = h->prior.changes;
	if (p->list != SL_NONE)
		p->shortest_known = known_now(h, p, now);
	*seconds = p->shortest;
	return 0;
}

void sl_history_unrecorded(struct sl_history *h)
{
	h->unrecorded = true;
}

void history_limit_prospects(struct sl_history *h)
{
	if (h->unrecorded || h->prospects < MOST_KEPT)
		return;
	sl_map_free(&h->prospect_of);
	h->prospects = 0;
	history_number_anew(h);
}

/* Histories may be made by several threads, and a new one may lie where another one was: no pointer tells them apart. */
void history_number_anew(struct sl_history *h)
{
	static atomic_uint_fast64_t last;

	h->numbering = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

uint64_t sl_history_numbering(const struct sl_history *h)
{
	return h->numbering;
}

void history_free_prospects(struct sl_history *h)
{
	sl_map_free(&h->prospect_of);
	free(h->prospect);
}
