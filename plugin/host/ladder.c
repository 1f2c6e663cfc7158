/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ladder.c - see ladder.h */
#include "plugin/host/ladder.h"

#include "base/number.h"

#define SITE_REST_S 5
#define LONGEST_REST_S 60
#define BARREN_PLANS 2		/* in a row: the site's policies rest; after twice as many easy does, too */
#define BARREN_REST_S 10

static const struct {
	bool decides, failure, forgives;	/* forgives: failures before it do not count any more */
	const char *ends;
} table[SL_TRIES] = {
	[SL_TRY_DECIDED] =	{ .decides = true, .forgives = true },
	[SL_TRY_CUT_SHORT] =	{ .decides = true, .forgives = true },
	[SL_TRY_FAILED_LATE] =	{ .decides = true, .failure = true, .ends = "; what it had booked stands" },
	[SL_TRY_FAILED_IDLE] =	{ .decides = true, .failure = true },
	[SL_TRY_FAILED] =	{ .failure = true, .ends = "; the bundled easy decides, within the site's limits" },
	[SL_TRY_NO_PLAN] =	{ .failure = true },
	[SL_TRY_NOT_ASKED] =	{ 0 },
	[SL_TRY_BARREN] =	{ .failure = true, .ends = "; the bundled easy decides for 10 s" },
};

double sl_ladder_rest_s(unsigned failures, unsigned first_s)
{
	if (failures < SL_LADDER_FAILURES)
		return 0;
	return (double) sl_min((uint64_t) first_s << sl_min(failures - SL_LADDER_FAILURES, 6), LONGEST_REST_S);
}

bool sl_ladder_rests(const struct sl_ladder *l, enum sl_rung rung, double now)
{
	return now < l->rests_until[rung];
}

struct sl_try_end sl_ladder_note(struct sl_ladder *l, enum sl_try what, double now)
{
	struct sl_try_end end = { .decides = table[what].decides, .failure = table[what].failure,
				  .ends = table[what].ends ? table[what].ends : "" };

	if (table[what].forgives)
		l->failures = 0;
	if (!end.failure)
		return end;
	end.rests_s = sl_ladder_rest_s(++l->failures, SITE_REST_S);
	if (end.rests_s > 0)
		l->rests_until[SL_RUNG_SITE] = now + end.rests_s;
	end.log = l->failures <= SL_LADDER_FAILURES;
	return end;
}

bool sl_ladder_note_plan(struct sl_ladder *l, bool barren, double now, struct sl_try_end *end)
{
	l->barren = barren ? l->barren + 1 : 0;
	if (!barren || l->barren % BARREN_PLANS)
		return false;
	*end = sl_ladder_note(l, SL_TRY_BARREN, now);
	l->rests_until[SL_RUNG_SITE] = now + BARREN_REST_S;
	if (l->barren >= 2 * BARREN_PLANS) {
		l->rests_until[SL_RUNG_BUNDLED] = now + BARREN_REST_S;
		l->barren = 0;
	}
	return true;
}
