/* SPDX-License-Identifier: MIT */
/* in_order.h - is a timeline in order?  It looks into it. */
#ifndef IN_ORDER_H
#define IN_ORDER_H

#include "timeline/timeline.h"

/* Check every invariant of the structure, slowly.  0, or -1 with *err saying
 * which one is broken: always a bug in timeline.c. */
int check_timeline(const struct sl_timeline *tl, struct sl_error *err);

#endif
