/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diag.h - the figures of sdiag that backfill fills, filled by us, and all of them read for status.json.
 *
 * sched/lua has one kind of cycle, which does what Slurm's main scheduler and its backfill do: a cycle counts as one of
 * each.  As in Slurm itself no lock is held: sdiag -r may zero a figure meanwhile.
 */
#ifndef SL_PLUGIN_DIAG_H
#define SL_PLUGIN_DIAG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "plugin/host/diag.h"

struct sl_diag_cycle {
	time_t began;
	uint64_t us;
	uint32_t examined;		/* jobs that were looked at */
	uint32_t queued;		/* entries of the queue */
	uint32_t planned;		/* starts and reservations */
	bool out_of_time, unseen;	/* the policy's time was up; its window left jobs out */
	struct sl_backfilled backfilled;
};

/* Add a cycle to slurmctld's figures. */
void sl_diag_add(const struct sl_diag_cycle *c);

/* What slurmctld's figures are now. */
void sl_diag_read(struct sl_diag *d);

#endif
