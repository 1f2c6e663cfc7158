/* SPDX-License-Identifier: MIT */
/*
 * bind/usage.h - what bind/usage.c, which reads questions, and bind/usage_now.c, which adds up what runs and
 * waits, have in common.
 *
 * A question about the present is answered with a table that follows the plan: each time it is asked, what was started
 * or taken back since is added, at the cost of what changed.  What is started counts with the place that is booked for
 * it; a start that is on trial (sl_plan_trial()) does not count.
 */
#ifndef SL_LUA_USAGE_H
#define SL_LUA_USAGE_H

#include "bind/bind.h"

/* Beside those that the ledger knows (enum sl_usage_by, enum sl_unit): of jobs that the snapshot has. */
enum { SL_BY_QOS = SL_BYS, SL_BY_PARTITION };
enum { SL_UNIT_JOB = SL_UNITS };

struct sl_lua_question {
	struct sl_usage_query query;
	int by, unit;
};

/* What is added up by name. */
enum sl_usage_sum {
	SL_SUM_RUNNING,		/* what running and started jobs have x their walltime */
	SL_SUM_USED,		/* what running jobs have x the time that they have run */
	SL_SUM_HOLDING,		/* what running and started jobs have */
	SL_SUM_QUEUED		/* what waits asks for x its walltime, arrays with all tasks that have not started */
};

/* What a table is as of. */
struct sl_usage_now;

/* Push the state of a new table, which is empty: a userdata.  The question is copied but for its texts, which have to
 * outlive it. */
struct sl_usage_now *sl_usage_now_begin(lua_State *L, struct sl_lua *x, enum sl_usage_sum what,
					const struct sl_lua_question *q);

/* Bring its table, which is on the top of the stack, up to date. */
void sl_usage_now_follow(lua_State *L, struct sl_lua *x, struct sl_usage_now *now);

#endif
