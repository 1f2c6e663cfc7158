/* SPDX-License-Identifier: MIT */
/*
 * clock.h - how much time has passed: the monotonic clock, which nobody sets, or the CPU's for this thread.
 *
 * Only differences mean anything.  What the time of day is, time() says.  Threads: safe.
 */
#ifndef SL_CLOCK_H
#define SL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t sl_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
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

static inline double sl_clock_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

#endif
