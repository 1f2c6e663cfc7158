/* SPDX-License-Identifier: MIT */
/*
 * allowance.h - how much a computation may take that somebody else's program asked for.
 *
 * What a policy has C do runs outside of its Lua state, whose limits (sandbox/limit.h) see neither
 * the C memory nor the time until it returns.  An allowance carries both into the
 * computation, which asks in each of its loops and before it makes room.  NULL, and a
 * structure of zeros, allow everything.
 */
#ifndef SL_ALLOWANCE_H
#define SL_ALLOWANCE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sl_allowance {
	const volatile sig_atomic_t *stop;	/* set: give up; NULL: never */
	size_t bytes;				/* of C memory at a time; 0: any */
};

/* Once per iteration.  0, or -1 with *err: SL_ETIME. */
static inline int sl_may_go_on(const struct sl_allowance *a, struct sl_error *err)
{
	return a && a->stop && *a->stop ? sl_fail(err, SL_ETIME, "the time budget is used up") : 0;
}

/* May it take so many bytes in all?  0, or -1 with *err: SL_ENOMEM, of *what*. */
static inline int sl_may_take(const struct sl_allowance *a, uint64_t bytes, const char *what, struct sl_error *err)
{
	return a && a->bytes && bytes > a->bytes ?
		sl_fail(err, SL_ENOMEM, "%s: more than is left of the memory limit", what) : 0;
}

#endif
