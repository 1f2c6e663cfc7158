/* SPDX-License-Identifier: MIT */
#include "model/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"

void sl_tally_free(struct sl_tally *t)
{
	free(t->step);
	*t = (struct sl_tally) { NULL, 0, 0 };
}

/* Index of the first step after *at*. */
static uint32_t first_step_after(const struct sl_tally *t, int64_t at)
{
	return SL_FIRST(i, 0, t->steps, t->step[i].at <= at);
}

/* Split a step at *at*; returns the index.  There must be room. */
static uint32_t cut_step_at(struct sl_tally *t, int64_t at)
{
	uint32_t i = first_step_after(t, at);

	if (i && t->step[i - 1].at == at)
		return i - 1;
	memmove(&t->step[i + 1], &t->step[i], (t->steps - i) * sizeof(*t->step));
	t->step[i] = (struct sl_tally_step) { at, i ? t->step[i - 1].used : 0 };
	t->steps++;
	return i;
}

static void drop_if_equal(struct sl_tally *t, uint32_t i)
{
	if (i >= t->steps || t->step[i].used != (i ? t->step[i - 1].used : 0))
		return;
	t->steps--;
	memmove(&t->step[i], &t->step[i + 1], (t->steps - i) * sizeof(*t->step));
}

int sl_tally_add(struct sl_tally *t, int64_t t0, int64_t t1, int64_t count, struct sl_error *err)
{
	uint32_t first, last;

	if (t1 <= t0 || !count)
		return 0;
	if (sl_grow(&t->step, &t->room, t->steps + UINT64_C(2), sizeof(*t->step), err))
		return -1;
	first = cut_step_at(t, t0);
	last = t1 == INT64_MAX ? t->steps : cut_step_at(t, t1);
	for (uint32_t i = first; i < last; i++)
		t->step[i].used += count;
	drop_if_equal(t, last);
	drop_if_equal(t, first);
	return 0;
}

int64_t sl_tally_most(const struct sl_tally *t, int64_t t0, int64_t t1)
{
	uint32_t i = first_step_after(t, t0);
	int64_t most = i ? t->step[i - 1].used : 0;

	for (; i < t->steps && t->step[i].at < t1; i++)
		if (t->step[i].used > most)
			most = t->step[i].used;
	return most;
}

int64_t sl_tally_earliest(const struct sl_tally *t, int64_t from, int64_t seconds, int64_t need, int64_t total)
{
	int64_t start = from;
	uint32_t i = first_step_after(t, from);
	bool fits = (i ? t->step[i - 1].used : 0) + need <= total;

	/* *start* is the begin of the current interval that fits, if *fits* */
	for (; i < t->steps; i++) {
		if (fits && (seconds <= t->step[i].at - start))
			return start;
		if (t->step[i].used + need > total) {
			fits = false;
		} else if (!fits) {
			fits = true;
			start = t->step[i].at;
		}
	}
	return fits ? start : INT64_MAX;
}

void sl_tally_advance(struct sl_tally *t, int64_t now)
{
	uint32_t i = first_step_after(t, now);

	if (i < 2)
		return;
	i--;
	t->steps -= i;
	memmove(t->step, t->step + i, t->steps * sizeof(*t->step));
}
