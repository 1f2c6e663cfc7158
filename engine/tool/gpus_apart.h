/* SPDX-License-Identifier: MIT */
/* gpus_apart.h - GPUs that are free, but not where a waiting job could use them.  Threads: none. */
#ifndef SL_GPUS_APART_H
#define SL_GPUS_APART_H

#include <stdint.h>

#include "image/snapshot.h"

/*
 * Of a job that waits, by its id: a line such as "    8 GPUs are free on 8 nodes of p, none has 2" if so many GPUs are free in
 * its partition that it could have what it asks for, but not on its fewest nodes; or if only cores are lacking beside them.
 * malloc'ed; NULL if there is nothing to say, or no memory.
 */
char *sl_gpus_apart(const struct sl_snapshot *snap, uint32_t id);

#endif
