/* SPDX-License-Identifier: MIT */
/*
 * clock.h - how much time has passed: the monotonic clock, which nobody sets; and how much of
 * the CPU's this process has used.
 *
 * Only differences mean anything.  What the time of day is, time() says.  Threads: safe.
 */
#ifndef SL_CLOCK_H
#define SL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t sl_clock_read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline int64_t sl_clock_ns(void)
{
	return sl_clock_read_ns(CLOCK_MONOTONIC);
}

static inline int64_t sl_clock_cpu_ns(void)
{
	return sl_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int64_t sl_clock_us(void)
{
	return sl_clock_ns() / 1000;
}

static inline int64_t sl_clock_ms(void)
{
	return sl_clock_ns() / 1000000;
}

static inline double sl_clock_s(void)
{
	return (double) sl_clock_ns() / 1e9;
}

#endif
