/* SPDX-License-Identifier: MIT */
/*
 * switch_day.h - what else changes on the day that a cluster switches to sched/lua, by its slurm.conf.
 *
 * Threads: none.
 */
#ifndef SL_SWITCH_DAY_H
#define SL_SWITCH_DAY_H

#include <stdio.h>

#include "conf/conf.h"

/* Print a paragraph for each thing that is so in this slurm.conf, as comments of Lua. */
void sl_switch_print_day(const struct sl_conf *c, FILE *out);

#endif
