/* SPDX-License-Identifier: MIT */
#include "bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/order.h"

double wall_ms(void)
{
	return (double) sl_clock_ns() / 1e6;
}

double cpu_ms(void)
{
	return (double) clock() * 1e3 / CLOCKS_PER_SEC;
}

double median(double *figure, int count)
{
	qsort(figure, (size_t) count, sizeof(*figure), sl_order_double);
	return figure[count / 2];
}

void print_medians(const char *const *name, int steps, const double *figure, int rounds, int digits)
{
	double column[MAX_ROUNDS];

	for (int s = 0; s < steps; s++) {
		for (int i = 0; i < rounds; i++)
			column[i] = figure[i * steps + s];
		printf(", \"%s\": %.*f", name[s], digits, median(column, rounds));
	}
}

void give_up(const char *name, const struct sl_error *err)
{
	fprintf(stderr, "bench/%s: %s\n", name, err->text);
	exit(1);
}
