/* SPDX-License-Identifier: MIT */
/*
 * bind/score.h - a policy's own placement score: the function that place(job, cluster) returned as place = f.
 *
 *	f(job, class, cluster)	a number, the larger the better; false: not these nodes, if the job starts now
 *
 * It is called while the plan is at work, so it is protected; whoever asks sees to it that what it raised is raised again.
 */
#ifndef SL_LUA_SCORE_H
#define SL_LUA_SCORE_H

#include "bind/bind.h"

/* A turn begins: no function has a number. */
void sl_lua_begin_scores(lua_State *L);

/* The number of the function at *index*, which is kept for this turn.  From 1; equal functions have the same. */
uint32_t sl_lua_number_score(lua_State *L, int index);

/*
 * Ask the function of that number about an entry: as an own score is to answer (timeline/score.h).  -1 with SL_ESCRIPT: it raised
 * what is on the top of the stack.
 */
int sl_lua_ask_score(struct sl_lua *x, uint32_t number, struct sl_entry e, const struct sl_scored *what, double *score,
		     struct sl_error *err);

#endif
