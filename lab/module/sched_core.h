/* SPDX-License-Identifier: MIT */
/*
 * sched_core.h - what the parts of the Lua module sched_core share.
 *
 * Threads: those of the Lua state, i.e. one.
 */
#ifndef SL_SCHED_CORE_H
#define SL_SCHED_CORE_H

#include "script/script.h"

#include <lauxlib.h>
#include <lua.h>

#define SL_CORE_BUNDLE "sched_core.set"
#define SL_CORE_BUDGET_S 60	/* where a spec says nothing: machines that test are busy */

/* Push nil, the error and its traceback (malloc'ed, freed here; may be NULL): 3. */
int sl_core_failed(lua_State *L, const struct sl_error *err, char *trace);

/* { memory = MiB, budget = seconds } at *arg*, if it is there. */
struct sl_limits sl_core_limits(lua_State *L, int arg, double budget_s);

/* core.simulate(set, workload, options): metrics, jobs; or nil, the error, its
 * traceback. */
int sl_core_simulate(lua_State *L);

/* The metatables it needs. */
void sl_core_simulate_types(lua_State *L);

#endif
