/* SPDX-License-Identifier: MIT */
/*
 * bind/context.h - what belongs to a Lua state: its bundle, and the cycle that is under way.
 *
 * Ownership: the script's, which sets it up before a cycle and clears it afterwards.  What a
 * file of bind/ has for itself is a block of the state, and known to that file alone.
 */
#ifndef SL_LUA_CONTEXT_H
#define SL_LUA_CONTEXT_H

#include <lauxlib.h>
#include <lua.h>

#include "bundle/bundle.h"
#include "image/remember.h"
#include "model/plan.h"
#include "model/rank_code.h"
#include "sandbox/limit.h"

/* The context of a state: the script's, found through lua_getextraspace(). */
struct sl_lua {
	struct sl_limit limit;
	lua_State *L;
	struct sl_bundle *bundle;

	/* the cycle */
	uint32_t generation;		/* counts cycles */
	uint32_t nodesets;		/* made in this cycle */
	uint32_t picture;		/* counts snapshots: several cycles may decide about the same one (the simulator) */
	bool running;			/* a cycle is under way */
	const struct sl_snapshot *snap;
	struct sl_cluster *cluster;
	struct sl_plan *plan;
	struct sl_remember *remember;	/* from the snapshot, and what was remembered since */
	int64_t wake_time;		/* a policy asked for a cycle by then; INT64_MAX: none did */
	const uint8_t *held;		/* by partition row: nothing starts there (script/hold.c) */

	/* of the state */
	unsigned variant;		/* of lists by time, the one that is tried; 0: that of the time */
	struct sl_lua_bids *bids;	/* bind/bid.c */
	struct sl_lua_queue *queue;	/* bind/queue.c */
	struct sl_lua_turn *turn;	/* bind/turn.c */
	struct sl_rank_code *rank_code;	/* bind/translate.c: of this part of the site's list */
	const void *rank_part;
	bool rank_failed;		/* there is no such code */
};

static inline struct sl_lua *sl_lua_context(lua_State *L)
{
	return *(struct sl_lua **) lua_getextraspace(L);
}

#endif
