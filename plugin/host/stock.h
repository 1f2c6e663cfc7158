/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stock.h - a scheduler plug-in of Slurm's own, loaded by ours: it schedules, as it would without
 * us, and slurmctld's calls are passed on to it.
 *
 * Threads: who loads and ends it sees to it that no call is under way.
 */
#ifndef SL_STOCK_H
#define SL_STOCK_H

#include <stdint.h>

#include "base/error.h"

/* plugin_name of ours, whatever type it goes by: what is called so is not loaded. */
#define SL_OWN_NAME "Lua policy scheduler"

struct sl_stock;

/*
 * sched_NAME.so of the first of these directories (separated by colons) that has one which is not
 * ours, made for that release of Slurm; its init() is called.  NULL with *err.
 */
struct sl_stock *sl_stock_load(const char *name, const char *dirs, uint32_t release, struct sl_error *err);

/* sched_p_reconfig(): what it returns. */
int sl_stock_reconfigure(const struct sl_stock *s);

/* fini(), which ends its threads; then it is closed.  NULL is fine. */
void sl_stock_end(struct sl_stock *s);

#endif
