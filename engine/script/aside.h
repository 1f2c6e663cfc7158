/* SPDX-License-Identifier: MIT */
/*
 * aside.h - jobs that are not planned for a while, since the checker refused their places.
 *
 * What a row holds that is refused is held in vain: a wide job that is planned where it cannot be, cycle after
 * cycle, keeps nodes idle.  So it is not planned again until SL_ASIDE_S have passed, or somebody changes it.
 *
 * Ownership: a list owns its texts; end it with sl_asides_free().  Threads: none.
 */
#ifndef SL_ASIDE_H
#define SL_ASIDE_H

#include "image/plan_cut.h"
#include "model/cluster.h"

#define SL_ASIDE_S 300			/* of the snapshots' time */

struct sl_aside {
	uint32_t job;			/* JobId */
	int64_t stamp, until;
	char *text;
};

/* All bytes zero: none. */
struct sl_asides {
	struct sl_aside *item;
	uint32_t count, room;
};

/* Jobs that lost their place, of whose array nothing is left in *plan*.  Without memory for it they are
 * planned again. */
void sl_asides_note(struct sl_asides *a, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		    const struct sl_cuts *cuts);

/* A decision on this snapshot begins: those whose time has not come are set aside in the cluster, the others
 * forgotten.  0, or -1 with *err. */
int sl_asides_apply(struct sl_asides *a, const struct sl_snapshot *snap, struct sl_cluster *c, struct sl_error *err);

void sl_asides_free(struct sl_asides *a);

#endif
