/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * room.h - how many cores of a node others may have that a place is held on.
 *
 * A plan may put a job on such a node, beside what is held. Whether that leaves the cores of the place is added up here, from
 * the snapshot, since select knows of no held place. What a victim of the place has still is the place's own. Other
 * resources are left to the engine's checker.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_ROOM_H
#define SL_ROOM_H

#include "plugin/commit/work.h"

/* NULL if the places of the plan leave what is held for other jobs than this one; or what they do not leave. */
const char *sl_room_lacks(struct sl_commit *m, uint32_t job, struct sl_range places);

/* A job was started on those places. */
void sl_room_take(struct sl_commit *m, struct sl_range places);

void sl_room_free(struct sl_commit *m);

#endif
