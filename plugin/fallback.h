/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fallback.h - priority order in C: what decides when no engine does.
 *
 * Jobs are tried in the order of Slurm's queue; in a partition where one has to
 * wait nothing behind it is started (no backfill), so that no job starves.
 * Who may start what is not known here: in the partitions that are to be held nothing
 * starts, and their jobs are told so.
 *
 * Threads: the cycle thread only; takes slurmctld's locks itself.
 */
#ifndef SL_FALLBACK_H
#define SL_FALLBACK_H

#include "plugin/commit/work.h"
#include "image/fence.h"

/* Uses c, status, batch_ms and stop of *m; sets started. */
void sl_fallback_run(struct sl_commit *m, const struct sl_fence *hold);

#endif
