/* SPDX-License-Identifier: MIT */
/*
 * measure.h - clocks and medians, for measurements.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "base/error.h"

#define MAX_ROUNDS 101

/* Milliseconds since some time: on the wall, and of this process's CPU. */
double wall_ms(void);
double cpu_ms(void);

/* The middle one of *count* figures, which are sorted. */
double median(double *figure, int count);

/* Print , "name": median  of each step; figure[round * steps + step]. */
void print_medians(const char *const *name, int steps, const double *figure, int rounds, int digits);

/* "bench/NAME: what is wrong", and the end. */
_Noreturn void give_up(const char *name, const struct sl_error *err);

#endif
