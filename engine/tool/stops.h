/* SPDX-License-Identifier: MIT */
/*
 * stops.h - jobs that were stopped for others, and the places that are held for these, of a snapshot of the plug-in's.
 *
 * A capture has neither table.  Who shows the cluster from captures keeps what the plug-in wrote last, as JSON:
 *
 *	{ "held": [{ "job": 12, "since": T, "until": T, "nodes": "n[1-2]" }],
 *	  "stopped": [{ "job": 7, "preemptor": 12, "time": T, "user": "ann" }] }
 *
 * It names jobs of all users: what a viewer may see of it is the caller's to know.  Threads: none.
 */
#ifndef SL_TOOL_STOPS_H
#define SL_TOOL_STOPS_H

#include <jansson.h>

#include "image/snapshot.h"

/* The caller's; NULL without memory. */
json_t *sl_stops_read(const struct sl_snapshot *s);

#endif
