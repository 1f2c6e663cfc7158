/* SPDX-License-Identifier: MIT */
/*
 * fake_stops.h - the mode "stops" of t/plugin/fake_engine: who is stopped for whom stands in the names of jobs.
 *
 *   take_X gang_X brief_X	waits, and has all running jobs named X stopped: each by itself, in one group, and with a place that
 *			is held for six seconds only; its place is on their nodes. When these are free it is started there
 *   native*		is started by select, wherever that likes
 *   bold*		is started on the first node of a place that is held for another job, if cores are free there
 * All others are placed as by a sound engine, on nodes of which nothing is held.
 */
#ifndef FAKE_STOPS_H
#define FAKE_STOPS_H

#include "image/plan_image.h"

/* True if the job of that queue entry is one of those, and the plan says what becomes of it. *free: cores by node. */
bool stops_place(const struct sl_snapshot *snap, struct sl_builder *b, uint32_t entry, uint32_t *free);

/* True if a place of that node is held. */
bool stops_holds(const struct sl_snapshot *snap, uint32_t node);

#endif
