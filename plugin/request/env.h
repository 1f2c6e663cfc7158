/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env.h - what the environment of a batch script says of the alternative that it runs as.
 *
 * SCHEDLUA_SHAPE=n, and SLURM_NTASKS and the like as of that alternative, in place of what
 * sbatch put there from its command line: so an srun in the script starts the right tasks.
 *
 * Job write lock held.  The cycle thread only.
 */
#ifndef SL_ENV_H
#define SL_ENV_H

#include "plugin/records/compat.h"
#include "image/snapshot.h"

/* How the job asked for GPUs before it was to be one of its alternatives. */
struct sl_gpus_then {
	bool job, node, task;
};

/* Speak of row *shape* of the snapshot, the job's *n*th alternative, which the request is
 * already; per_node: it asked for a number of tasks on each node before. */
void sl_env_set(sl_details_t *d, uint32_t n, bool per_node, const struct sl_snapshot *snap, uint32_t shape,
		const struct sl_gpus_then *had);

/* Which alternative it speaks of; 0: none. */
uint32_t sl_env_shape(const sl_details_t *d);

/* Speak of none. */
void sl_env_clear(sl_details_t *d);

#endif
