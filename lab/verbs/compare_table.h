/* SPDX-License-Identifier: MIT */
/*
 * compare_table.h - the one table that schedlua compare prints, for people, as CSV or as JSON.
 *
 * Ownership: all is borrowed.  Threads: none.
 */
#ifndef SL_COMPARE_TABLE_H
#define SL_COMPARE_TABLE_H

#include "verbs/compare_grid.h"

enum sl_compare_format { SL_COMPARE_TABLE, SL_COMPARE_CSV, SL_COMPARE_JSON };

/* Print a line for each workload and policy, or with *runs* for each trial, to stdout: 0, or -1 with *err. */
int sl_compare_print(const struct sl_compare_grid *c, enum sl_compare_format format, bool runs, struct sl_error *err);

#endif
