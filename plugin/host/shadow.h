/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow.h - shadow mode's book: what the site's policies would have done, and what Slurm did.
 *
 * DIR/shadow.jsonl, a line file (base/line_file.h), of which `schedlua shadow report` reads.  A line
 * a cycle in which there is news; keys, left out where they are empty or zero:
 *	now		seconds since the epoch: of the snapshot
 *	begin		{stock, slurm}: the first line since slurmctld began
 *	plans		[{job, tasks}]: for the first time the policies would start it; of an array
 *			(job: ArrayJobId) so many tasks beside those that have begun
 *	stops		[{job, verdict, cost, victims: [{job, user, start, cores, gpus, cost, mode}]}]: for the first time since
 *			it waits the policies would stop these running jobs for it; start: of the victim's run
 *	ran		[{job, array, user, account, partition, submit, eligible, start, limit, nodes,
 *			cpus, cores, why, text, expected}]: Slurm has started it; why and expected are the policies'
 *			last word about it before that: enum sl_why, and the start of its reservation
 *	ended		[{job, start, end}]
 *	failed		what went wrong in deciding, where that is another thing than before
 *	sample		{policy, cores, used, planned, waiting, cycles, failures, deaths, decide_us, decide_max_us}: of
 *			the cycles since the last such line; used and planned: cores that jobs have in the last
 *			one, and that it would have given besides
 * A slurmctld that begins anew repeats what it finds: lines are to be read as a set.
 *
 * Knows nothing of Slurm.  Only the cycle thread touches it.
 */
#ifndef SL_SHADOW_H
#define SL_SHADOW_H

#include "image/plan_image.h"
#include "image/snapshot.h"

struct sl_shadow;

/* Opens nothing yet.  NULL with *err. */
struct sl_shadow *sl_shadow_create(const char *stock, struct sl_error *err);
void sl_shadow_destroy(struct sl_shadow *s);

/* A cycle as it was. */
struct sl_shadow_cycle {
	const struct sl_snapshot *snap;
	const struct sl_plan_image *plan;	/* NULL: there is none */
	const char *policy;			/* who decided */
	const char *failed;			/* what went wrong, or empty */
	uint64_t decide_us;
	uint64_t deaths;			/* engines that ended so far */
};

/* Note it, below that directory.  0, or -1 with *err: what was to be said then is lost. */
int sl_shadow_note(struct sl_shadow *s, const char *dir, const struct sl_shadow_cycle *c, struct sl_error *err);

#endif
