/* SPDX-License-Identifier: MIT */
/*
 * sim/tune_private.h - what the files of tune share: the search (tune.c), the text of the site
 * file (tune_site.c), and results in files (tune_results.c).
 */
#ifndef SL_TUNE_PRIVATE_H
#define SL_TUNE_PRIVATE_H

#include <stdio.h>

#include "sim/tune.h"

static inline int sl_tune_no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "tune: out of memory");
}

/* The figures of a setting on a window, SL_TUNE_FIGURES of them; the first is NAN where it was not simulated. */
static inline double *sl_tune_figures(const struct sl_tune *t, uint32_t setting, uint32_t window)
{
	return t->setting[setting].figure + (size_t) window * SL_TUNE_FIGURES;
}

/* Fill in t->text, t->path and what may be tuned.  0, or -1 with *err. */
int sl_tune_read_site(struct sl_tune *t, struct sl_error *err);

/* Fill in what the directory of results knows; it is made where there is none.  0, or -1 with *err. */
int sl_tune_read_results(struct sl_tune *t, struct sl_error *err);

/* Where this run's results go, a file of its own for each part, and a result more; NULL with *err. */
FILE *sl_tune_open_results(const struct sl_tune *t, struct sl_error *err);
void sl_tune_write_result(const struct sl_tune *t, uint32_t setting, uint32_t window, FILE *out);

#endif
