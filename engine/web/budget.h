/* SPDX-License-Identifier: MIT */
/*
 * budget.h - an amount that comes back with time: so much may be used at a stretch, and so much a second after that.
 *
 * Ownership: none.  Threads: none.
 */
#ifndef SL_WEB_BUDGET_H
#define SL_WEB_BUDGET_H

#include <stdbool.h>

struct sl_budget {
	double most, per_s;	/* at a stretch; a second */
	double used, at_s;	/* what has not come back by then */
};

static inline void sl_budget_let(struct sl_budget *b, double now_s)
{
	double back = (now_s - b->at_s) * b->per_s;

	b->used = back < b->used ? b->used - back : 0;
	b->at_s = now_s;
}

/* True if there is something left. */
static inline bool sl_budget_allows(struct sl_budget *b, double now_s)
{
	sl_budget_let(b, now_s);
	return b->used < b->most;
}

/* So much was used, which may be more than was left. */
static inline void sl_budget_use(struct sl_budget *b, double amount, double now_s)
{
	sl_budget_let(b, now_s);
	b->used += amount;
}

#endif
