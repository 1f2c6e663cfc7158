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

#endif
