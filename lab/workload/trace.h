/* SPDX-License-Identifier: MIT */
/*
 * workload/trace.h - tables of published traces, and accounting logs of PBS, told apart by what is in them.
 */
#ifndef SL_TRACE_H
#define SL_TRACE_H

#include "workload/private.h"

/* Is this the first line of a table that is known, or a record of PBS? */
bool sl_trace_is_header(const char *line);
bool sl_trace_is_pbs(const char *line);

int sl_workload_read_trace(struct sl_store *s, const char *path, struct sl_error *err);
int sl_workload_read_pbs(struct sl_store *s, const char *path, struct sl_error *err);

/* What they have in common: the machine, which they do not name.  0, or -1 with *err. */
int sl_trace_begin(struct sl_store *s, const char *path, const struct sl_snapshot **machine, struct sl_error *err);

/* The number of a partition of the machine; SL_NONE: there is none of that name. */
uint32_t sl_trace_partition(const struct sl_snapshot *machine, const char *name);

/* Names of all tables that are known, for messages. */
const char *sl_trace_names(void);

#endif
