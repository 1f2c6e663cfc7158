/* SPDX-License-Identifier: MIT */
/*
 * effort.h - how much work a computation has been, counted and bounded without a clock.
 *
 * What a request costs is up to the user who wrote it.  A bound on time would make a decision depend
 * on the machine and on who else uses it; a count of steps is the same wherever it is
 * replayed.  A unit is a step of an inner loop: a class of nodes looked at, a run of nodes
 * merged, a word of bits joined.  That is 2 to 20 ns.  Loops that a request can make long count
 * themselves, and ask whether they may go on.
 *
 * NULL counts nothing and allows everything.
 *
 * Ownership: a value; those who count borrow it.  Threads: one effort, one thread; *stop may be set by a signal.
 */
#ifndef SL_EFFORT_H
#define SL_EFFORT_H

#include <signal.h>
#include <stdint.h>

#include "base/error.h"

struct sl_effort {
	uint64_t spent;				/* units, from the beginning on */
	uint64_t limit;				/* of *spent*; 0: none */
	const volatile sig_atomic_t *stop;	/* set: the deadline of the decision has passed; NULL: there is none */
};

static inline void sl_effort_add(struct sl_effort *e, uint64_t units)
{
	if (e)
		e->spent += units;
}

/* Count, and ask.  0, or -1 with *err: SL_EEFFORT beyond the limit, SL_ETIME after the deadline. */
static inline int sl_effort_spend(struct sl_effort *e, uint64_t units, struct sl_error *err)
{
	if (!e)
		return 0;
	e->spent += units;
	if (e->limit && e->spent > e->limit)
		return sl_fail(err, SL_EEFFORT, "takes too long to plan");
	return e->stop && *e->stop ? sl_fail(err, SL_ETIME, "the time budget is used up") : 0;
}

#endif
