/* SPDX-License-Identifier: MIT */
/*
 * bind/how.h - the table "how", the last argument of plan:start() and its like.
 *
 *	{ place =, layout =, shape =, bid =, borrow =, through =, because =, expected =, from = }
 *
 * Functions raise Lua errors on misuse.  What is read points to the Lua stack: it is
 * good until the C function that was called returns.
 */
#ifndef SL_LUA_HOW_H
#define SL_LUA_HOW_H

#include "bind/bind.h"

struct sl_lua_how {
	unsigned said;			/* keys, for bind/how.c */
	struct sl_terms terms;
	struct sl_how place;		/* what terms.how points to */
	struct sl_loan loan;		/* what terms.borrow points to */
};

/* Read it, at argument 3 (or nothing there), for an entry, whose shape is set. */
void sl_lua_check_how(lua_State *L, struct sl_lua *x, struct sl_entry *e, struct sl_lua_how *h);

/* The same for whatever entry: place, and the shape 0 or "any", are all that may be said. */
void sl_lua_check_how_of_all(lua_State *L, struct sl_lua *x, struct sl_lua_how *h);

/* because = "...": the policy's words for a start that was made. */
void sl_lua_read_because(lua_State *L, struct sl_lua *x, const struct sl_lua_how *h, uint32_t job);

/* Seconds of a policy, rounded up; beyond what can be counted: for ever. */
int64_t sl_lua_seconds(lua_Number n);

#endif
