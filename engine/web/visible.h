/* SPDX-License-Identifier: MIT */
/*
 * visible.h - what somebody may see of a snapshot.
 *
 * Slurm's commands filter what they show by PrivateData; whoever reads a snapshot has it all.  So that no line of what
 * composes a page can forget that, everything is composed from a visible snapshot: a copy that has only the jobs that
 * Slurm would show to that user, and none of anybody's past.
 *
 *	jobs		only a user's own jobs
 *	partitions	none that is for some users or accounts alone, unless the user has a job there
 *	nodes		no nodes one by one; sums by partition are what sinfo prints to all
 *	reservations	none
 *	usage		nothing is shown of what was used, hidden or not
 *
 * Partitions with Hidden=YES and jobs that are in no other partition are left out for everybody, as squeue does.
 *
 * Ownership: the view owns its copy and borrows the snapshot that it is of.  Threads: none.
 */
#ifndef SL_WEB_VISIBLE_H
#define SL_WEB_VISIBLE_H

#include <stdbool.h>

#include "image/snapshot.h"

#define SL_HIDE_JOBS		0x1
#define SL_HIDE_NODES		0x2
#define SL_HIDE_PARTITIONS	0x4
#define SL_HIDE_RESERVATIONS	0x8
#define SL_HIDE_ALL		0xf

/*
 * PrivateData's words, comma-separated, as SL_HIDE_*; those of accounts, users, events, usage and clouds hide nothing
 * that is shown here.  "mcs": MCSParameters has privatedata.  A word that is not known hides everything.
 */
unsigned sl_hides_read(const char *words);

struct sl_visible {
	const struct sl_snapshot *snap;	/* what may be shown: the copy, or the whole where nothing is hidden */
	const char *user;		/* whose view it is; NULL: nobody's in particular */
	unsigned hides;
	bool some;			/* something is left out */
	bool *partition;		/* by row: it may be shown */

	struct sl_snapshot copy;
	struct sl_builder *builder;
};

/* Make *v, which is {0}; to be cleared in either case.  *user* has to outlive it.  0, or -1 with *err. */
int sl_visible_make(struct sl_visible *v, const struct sl_snapshot *whole, unsigned hides, const char *user,
		    struct sl_error *err);
void sl_visible_clear(struct sl_visible *v);

#endif
