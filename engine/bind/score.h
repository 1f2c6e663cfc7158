/* SPDX-License-Identifier: MIT */
/*
 * bind/score.h - a policy's own placement score: the function that place(job, cluster) returned as place = f.
 *
 *	f(job, class, cluster)	a number, the larger the better; false: not these nodes, if the job starts now
 *
 * It is called while the plan is at work, so it is protected; what it raises is raised again by the verb that failed for it
 * (sl_lua_raise_again()).
 */
#ifndef SL_LUA_SCORE_H
#define SL_LUA_SCORE_H

#include "bind/bind.h"

/* A turn begins: no function has a number. */
void sl_lua_begin_scores(lua_State *L, struct sl_lua *x);

/* The number of the function at *index*, which is kept for this turn.  From 1; equal functions have the same. */
uint32_t sl_lua_number_score(lua_State *L, int index);

/* The plan's cluster has gone: nobody is asked any more. */
void sl_lua_end_scores(struct sl_lua *x);

#endif
