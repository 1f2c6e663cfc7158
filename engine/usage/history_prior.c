/* SPDX-License-Identifier: MIT */
/*
 * usage/history_prior.c - what is likely of a job of whose user little is known: which share of its walltime it runs for, as
 * the newest runs of others say.
 *
 * The shares are counted in classes of half an octave.  A user cannot make his jobs look short by that: his own runs do not
 * count for him, and of each other user a few do.
 */
#include "usage/history_private.h"

#include <math.h>
#include <string.h>

#define SHORTEST 10		/* seconds: shorter runs are as good as each other */
#define WEEK (7 * 86400)	/* stands for the walltime of a job that has none */
#define EPOCH 3600		/* seconds for which shares are kept, where nobody records what answers rest on */
#define ENOUGH 64		/* runs before such an hour; where there are fewer, it is not waited for */
#define OF_ONE 32		/* runs of a user that count at most, so that nobody floods what holds for all */
#define USERS (2 * SL_HISTORY_KEPT)
#define WHOLE 10		/* runs that last for all of their walltime, which stand for what is not known yet */

static double at_least_shortest(double seconds)
{
	return seconds > SHORTEST ? seconds : SHORTEST;
}

static uint32_t class_of(const struct sl_past_run *run)
{
	double limit = at_least_shortest(run->limit < WEEK ? (double) run->limit : WEEK);
	double octaves = log2(limit / at_least_shortest((double) run->seconds));

	return octaves <= 0 ? 0 : octaves >= HISTORY_SHARES / 2.0 ? HISTORY_SHARES - 1 : (uint32_t) (2 * octaves);
}

struct tally {
	uint32_t user[USERS], runs[USERS];	/* runs 0: a free place */
};

/* True if there are runs enough of that user already; else this is one more. */
static bool has_enough(struct tally *t, uint32_t user)
{
	uint32_t at = user % USERS;

	while (t->runs[at] && t->user[at] != user)
		at = (at + 1) % USERS;
	t->user[at] = user;
	return t->runs[at]++ >= OF_ONE;
}

/* The newest SL_HISTORY_KEPT that had ended by then; how many. */
static uint32_t count_shares(struct sl_history *h, struct history_list *l, int64_t until, struct history_prior *p)
{
	struct tally tally = { 0 };
	uint32_t seen = 0;

	p->counted = 0;
	for (uint32_t i = l->count; i-- > 0 && seen < SL_HISTORY_KEPT; ) {
		if (l->run[i].end > until)
			continue;
		seen++;
		history_note_asked(h, &l->run[i]);
		if (l->run[i].limit <= 0 || (*h->text[l->run[i].user] && has_enough(&tally, l->run[i].user)))
			continue;
		p->run[p->counted++] = (struct history_share) { l->run[i].user, class_of(&l->run[i]) };
	}
	return seen;
}

static bool is_current(const struct sl_history *h, const struct history_list *l, const struct history_prior *p, int64_t until)
{
	if (!h->unrecorded)
		return p->cycle == h->cycle && p->until == until;
	return p->until == until && p->dropped == l->dropped && (p->epoch == until || p->version == l->version);
}

int history_know_shares(struct sl_history *h, int64_t now, struct sl_error *err)
{
	int64_t until = h->unrecorded ? now - now % EPOCH : now;
	struct history_prior *p = &h->prior;
	struct history_list *l;

	if (p->cycle && is_current(h, &h->list[p->list], p, until))
		return 0;
	if (history_load(h, SL_BY_ACCOUNT, SL_HISTORY_EVERYBODY, &l, err))
		return -1;
	p->changes++;
	p->cycle = h->cycle;
	if (!l) {	/* too many names are known: nothing is known of all */
		p->counted = p->list = 0;
		return 0;
	}
	p->list = (uint32_t) (l - h->list);
	p->version = l->version;
	p->dropped = l->dropped;
	p->until = p->epoch = until;
	if (!h->unrecorded || count_shares(h, l, until, p) < ENOUGH) {
		p->epoch = SL_FOREVER;
		count_shares(h, l, now, p);
	}
	return 0;
}

/* Seconds of a run of that walltime in a class. */
static double runtime_of(uint32_t class, double limit)
{
	double seconds = limit * exp2(-0.5 * class);

	return seconds > 1 ? seconds : 1;
}

/* How many runs of others are in each class; how many in all. */
static uint32_t count_of_others(const struct sl_history *h, uint32_t user, uint32_t runs[HISTORY_SHARES])
{
	bool is_somebody = user != SL_NONE && *h->text[user];
	uint32_t all = 0;

	memset(runs, 0, HISTORY_SHARES * sizeof(*runs));
	for (uint32_t i = 0; i < h->prior.counted; i++)
		if (!is_somebody || h->prior.run[i].user != user) {
			runs[h->prior.run[i].class]++;
			all++;
		}
	return all;
}

void history_likely(const struct sl_history *h, uint32_t user, double limit, double *mean, double *inverse)
{
	double sum = WHOLE * limit, inverses = WHOLE / at_least_shortest(limit);
	uint32_t runs[HISTORY_SHARES], all = count_of_others(h, user, runs);

	for (uint32_t i = 0; i < HISTORY_SHARES; i++) {
		double seconds = runs[i] ? runtime_of(i, limit) : 1;

		sum += runs[i] * seconds;
		inverses += runs[i] / at_least_shortest(seconds);
	}
	*mean = sum / (WHOLE + all);
	*inverse = inverses / (WHOLE + all);
}

double history_likely_power(const struct sl_history *h, uint32_t user, double limit, double power)
{
	double sum = WHOLE * pow(at_least_shortest(limit), power);
	uint32_t runs[HISTORY_SHARES], all = count_of_others(h, user, runs);

	for (uint32_t i = 0; i < HISTORY_SHARES; i++)
		if (runs[i])
			sum += runs[i] * pow(at_least_shortest(runtime_of(i, limit)), power);
	return sum / (WHOLE + all);
}
