/* SPDX-License-Identifier: MIT */
/*
 * bind/context.h - what belongs to a Lua state: its bundle, the cycle that is under way, the
 * set of partitions whose turn it is.
 *
 * Ownership: the script's, which sets it up before a cycle and clears it afterwards.
 */
#ifndef SL_LUA_CONTEXT_H
#define SL_LUA_CONTEXT_H

#include <lauxlib.h>
#include <lua.h>

#include "bundle/bundle.h"
#include "image/remember.h"
#include "model/plan.h"
#include "sandbox/limit.h"

struct sl_market;

/* The context of a state: the script's, found through lua_getextraspace(). */
struct sl_lua {
	struct sl_limit limit;
	lua_State *L;
	struct sl_bundle *bundle;

	/* the cycle */
	uint32_t generation;		/* counts cycles */
	bool running;			/* a cycle is under way */
	const struct sl_snapshot *snap;
	struct sl_cluster *cluster;
	struct sl_plan *plan;
	struct sl_market *market;	/* NULL until somebody asks for bids */
	uint32_t bids;			/* made in this cycle */
	uint64_t random;
	uint32_t examined;
	uint32_t log_lines, orders;	/* of the cycle: C memory has no cap but these */
	uint8_t *seen;			/* by queue entry: counted as examined */
	uint32_t seen_room;
	struct sl_remember *remember;	/* from the snapshot, and what was remembered since */
	char *text;			/* of a value that is being remembered, SL_REMEMBERED_VALUE bytes */

	/* guarding: who may start where (script/hold.c) */
	bool stand_in, unguarded;	/* easy decides; without admit and allow */
	uint32_t asking;		/* calls of admit and allow that have not come back, in this turn */
	bool holds;			/* when that fails nothing starts in the partitions whose turn it is */
	uint8_t *held;			/* in a cycle, by partition row: nothing starts there */
	char held_text[512];		/* where, and why */

	/* the set of partitions whose turn it is */
	uint32_t turn;			/* counts sets */
	const char *set_name;
	const char *group;		/* whose memory it has; NULL: nobody's turn */
	uint8_t *member;		/* by partition row; NULL: all */
	uint8_t *admitted;		/* by queue entry: 0 not asked, 1 yes, 2 no */
	bool has_admit, has_allow;
	uint8_t *closed;		/* by partition row: plan:close() */
	struct sl_entry allowed;	/* the last entry that allow() let through... */
	uint64_t allowed_at;		/* ... at this revision of the plan; UINT64_MAX: none */
	bool guard_raised;		/* what it raised is on the stack */
	const uint32_t *order;		/* queue entries by rank, NULL: the queue's order */
	uint32_t ordered;
};

static inline struct sl_lua *sl_lua_context(lua_State *L)
{
	return *(struct sl_lua **) lua_getextraspace(L);
}

#endif
