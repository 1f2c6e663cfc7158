/* SPDX-License-Identifier: MIT */
/*
 * status.h - what monitoring asks of status.json: one line with an exit status, and figures.
 *
 * Ownership: the caller's.  Threads: none.
 */
#ifndef SL_TOOL_STATUS_H
#define SL_TOOL_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "base/error.h"

/* What the plug-in wrote in *dir*; NULL with *err. */
json_t *sl_status_read(const char *dir, struct sl_error *err);

/* Does the slurmctld run, here, that wrote this? */
bool sl_status_alive(const json_t *status);

/* As monitoring knows it: fine, look at it, act, cannot tell. */
enum sl_state { SL_STATE_FINE, SL_STATE_WARNING, SL_STATE_CRITICAL, SL_STATE_UNKNOWN };

/*
 * How it is at *now*, in one line, the worst first.  *alive*: the slurmctld that wrote it
 * runs; *stale_s*: older than that is stale.
 */
enum sl_state sl_status_judge(const json_t *status, bool alive, int64_t now, int64_t stale_s, char *text, size_t size);

/* "OK", "WARNING", "CRITICAL", "UNKNOWN" */
const char *sl_state_word(enum sl_state state);

/* Figures as OpenMetrics; *ledger_time*: when the ledger was last written, 0: there is none. */
void sl_status_metrics(const json_t *status, bool alive, int64_t ledger_time, FILE *out);

/* The same without its end, so that more may follow; without the counts of jobs by partition and reason unless *counts*. */
void sl_status_metrics_put(const json_t *status, bool alive, int64_t ledger_time, bool counts, FILE *out);

/* The value of a label: backslash, quote and line feed are escaped. */
void sl_metrics_label(const char *s, FILE *out);

/* When the ledger in that directory was last written (what is new stands in the log beside it); 0: there is none. */
int64_t sl_status_ledger_time(const char *dir);

#endif
