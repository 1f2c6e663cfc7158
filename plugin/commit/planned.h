/* SPDX-License-Identifier: GPL-2.0-or-later */
/* planned.h - node state PLANNED (sinfo: plnd): idle nodes on which the plan has a reservation, as under Slurm's own
 * backfill. */
#ifndef SL_PLANNED_H
#define SL_PLANNED_H

#include "plugin/commit/work.h"

/* Set the state on these nodes and clear it on all others; without a plan, on all.  Takes the locks itself. */
void sl_planned_mark(struct sl_commit *m);

#endif
