/* SPDX-License-Identifier: MIT */
/*
 * openmetrics.h - a parser of OpenMetrics text that forgives nothing, by the words of the specification: families one after
 * the other, each with its type first; samples of names that the type allows; labels with the three escapes there are; no
 * sample twice; "# EOF" at the end.
 */
#ifndef T_WEB_OPENMETRICS_H
#define T_WEB_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>

#define METRICS_MOST 20000

struct metrics {
	char *sample[METRICS_MOST];	/* "name{label="value"}", as it stands there */
	double value[METRICS_MOST];
	size_t samples;
	char *family[1000];
	size_t families;
};

/* The running test fails of what is wrong. */
void metrics_read(struct metrics *m, const char *text, size_t size);
void metrics_free(struct metrics *m);

/* Is there a sample of that name, whatever its labels? */
bool metrics_has(const struct metrics *m, const char *name);

/* The value of the sample, with its labels; the test fails where there is none. */
double metrics_value(const struct metrics *m, const char *sample);

#endif
