/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planned.h - nodes that wait for a job: idle ones on which the plan has a reservation are
 * in state PLANNED (sinfo: plnd), as under Slurm's own backfill.
 */
#ifndef SL_PLANNED_H
#define SL_PLANNED_H

#include "plugin/commit/work.h"

/* Set state PLANNED on these nodes of the plan, and clear it on all others.  Without a plan all are cleared.  Takes the locks itself. */
void sl_planned_mark(struct sl_commit *m);

#endif
