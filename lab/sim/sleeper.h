/* SPDX-License-Identifier: MIT */
/*
 * sim/sleeper.h - until when another job has, or is to have, the cores of one that is suspended for it.
 */
#ifndef SL_SLEEPER_H
#define SL_SLEEPER_H

#include "model/cluster.h"

/*
 * Fill in until, and before if a place is held for the other job (row; SL_NONE: it is not known) and *is_told* does not say yet, by row
 * of snap->held, that it was filled in for another sleeper.  s->before is malloc'ed, for the caller to free.  0, or -1 with *err.
 */
int sl_sleeper_describe(struct sl_sleeper *s, const struct sl_snapshot *snap, const struct sl_cluster *c, uint32_t other, bool *is_told,
			struct sl_error *err);

#endif
