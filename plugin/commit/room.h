/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room.h - whether a start leaves the cores that are held for other jobs on its nodes.
 *
 * A plan may start a job on a node with a held place, beside the held cores.  The cores are added up here, from the snapshot,
 * because select does not know held places.  Cores that a victim still has belong to the place.  Other resources are checked
 * by the engine only.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_ROOM_H
#define SL_ROOM_H

#include "plugin/commit/work.h"

/* NULL if a start of the job on these places leaves what is held for other jobs; else a text that says what is lacking. */
const char *sl_room_lacks(struct sl_commit *m, uint32_t job, struct sl_range places);

/* A job was started on those places: count their cores as taken. */
void sl_room_take(struct sl_commit *m, struct sl_range places);

void sl_room_free(struct sl_commit *m);

#endif
