/* SPDX-License-Identifier: MIT */
/*
 * usage/history_like.c - what a user's past says of a job, whatever he does to make it say something else.
 *
 * A job is expected to run as long as its user's last runs like it.  A user could make these short: with
 * jobs that do nothing.  So a run is like a job only if it had about its size; and what is expected is
 * multiplied by how much longer than expected the user's runs were, each with the weight of the core-seconds
 * that it used.  A run of a second has next to no weight, whatever its size; the job that was expected to end at once and
 * then held the machine for a day has all of it.  A user who deceives the
 * predictor for a share f of his work gains a factor of 1 / f at most for that share and pays with the same
 * factor for the rest, up to his walltimes.
 */
#include "usage/history_private.h"

#include <math.h>

#define SIZES 2			/* a run of half to twice the CPUs has about the size */
#define SHORTEST 10		/* seconds: shorter runs are as good as each other */
#define EVIDENCE 16		/* so many times what the job may use at most is looked back at: no number of tiny runs is that */

/* How much a run has to have in common with a job, the strictest first. */
enum likeness { SIZE_AND_LIMIT, SIZE, LIKENESSES };

static bool is_like(const struct sl_past_run *run, int64_t cpus, int64_t limit, enum likeness likeness)
{
	int64_t had = run->count[SL_UNIT_CPU];

	return had <= SIZES * cpus && cpus <= SIZES * had && (likeness == SIZE || run->limit == limit);
}

/* The newest SL_LIKE of the first *count* runs that had ended by *now* and are most like it; how many. */
static uint32_t find_like(const struct history_list *l, uint32_t count, int64_t cpus, int64_t limit, int64_t now,
			  struct sl_past_run *found[SL_LIKE])
{
	uint32_t n = 0;

	for (int likeness = 0; likeness < LIKENESSES && !n; likeness++)
		for (uint32_t i = count; i-- > 0 && n < SL_LIKE && count - i <= SL_HISTORY_KEPT; )
			if (l->run[i].end <= now && is_like(&l->run[i], cpus, limit, (enum likeness) likeness))
				found[n++] = &l->run[i];
	return n;
}

static int64_t at_least_shortest(int64_t seconds)
{
	return seconds > SHORTEST ? seconds : SHORTEST;
}

/* Seconds that the first *count* runs of the list let one expect of a run when it began. */
static int64_t expect(const struct history_list *l, uint32_t count, const struct sl_past_run *run)
{
	struct sl_past_run *found[SL_LIKE];
	uint32_t n = find_like(l, count, run->count[SL_UNIT_CPU], run->limit, run->start, found);
	double sum = 0, inverse = 0;

	for (uint32_t i = 0; i < n; i++) {
		int64_t seconds = run->limit && run->limit < found[i]->seconds ? run->limit : found[i]->seconds;
		double likely = (double) at_least_shortest(seconds);

		sum += likely;
		inverse += 1 / likely;
	}
	/* typical() of sched.predict; of a size that is new the walltime */
	return n ? (int64_t) ceil(sqrt(sum / inverse)) : run->limit ? run->limit : run->seconds;
}

/* How many times longer than expected the core-seconds lasted that the user has used lately; 1 at least. */
static double stretch_of(struct sl_history *h, struct history_list *l, double enough, int64_t now)
{
	double used = 0, sum = 0;

	for (uint32_t i = l->count; i-- > 0 && l->count - i <= SL_HISTORY_KEPT && used < enough; ) {
		struct sl_past_run *run = &l->run[i];
		double work = (double) run->count[SL_UNIT_CPU] * (double) run->seconds, times;

		if (run->end > now)
			continue;
		if (!run->expected)	/* not worked out yet */
			run->expected = expect(l, i, run);
		times = (double) run->seconds / (double) at_least_shortest(run->expected);
		history_note_asked(h, run);
		sum += work * (times > 1 ? times : 1);
		used += work;
	}
	return used > 0 ? sum / used : 1;
}

int sl_history_like(struct sl_history *h, const char *user, int64_t cpus, int64_t limit, int64_t now,
		    struct sl_history_like *like, struct sl_error *err)
{
	struct sl_past_run *found[SL_LIKE];
	struct history_list *l;

	*like = (struct sl_history_like) { .stretch = 1 };
	if (history_load(h, SL_BY_USER, user, &l, err))
		return -1;
	if (!l)
		return 0;
	like->count = find_like(l, l->count, cpus, limit, now, found);
	like->stretch = stretch_of(h, l, EVIDENCE * (double) cpus * (double) limit, now);
	for (uint32_t i = 0; i < like->count; i++) {
		/* times are of that at least (stretch_of()) */
		like->runtime[i] = like->stretch > 1 ? at_least_shortest(found[i]->seconds) : found[i]->seconds;
		history_note_asked(h, found[i]);
	}
	return 0;
}
