/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cycle.h - one cycle: collect, decide, commit, tell.
 *
 * Threads: everything belongs to the cycle thread, but for sl_cycler_stop(),
 * which any thread may call.
 */
#ifndef SL_CYCLE_H
#define SL_CYCLE_H

#include <stdbool.h>

#include "base/error.h"

struct sl_cycler;

/*
 * NULL with *err.  Takes no locks, reads no configuration yet.  *shadow*: the scheduler of Slurm's own that
 * decides, so that nothing of what is decided here is carried out; "": none does.
 */
struct sl_cycler *sl_cycler_create(const char *shadow, struct sl_error *err);

/* Ends the engine.  Takes milliseconds. */
void sl_cycler_destroy(struct sl_cycler *y);

/* Let the cycle that runs come to its end as soon as can be, and no other
 * begin. */
void sl_cycler_stop(struct sl_cycler *y);

/* The configuration may have changed: read it before the next cycle. */
void sl_cycler_reconfigure(struct sl_cycler *y);

/* Between cycles, every wake interval: run a cycle if one is due. */
void sl_cycler_tick(struct sl_cycler *y);

/* Milliseconds until the next tick. */
unsigned sl_cycler_pause_ms(const struct sl_cycler *y);

#endif
