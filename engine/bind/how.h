/* SPDX-License-Identifier: MIT */
/*
 * bind/how.h - the table "how", the last argument of plan:start() and its like.
 *
 *	{ place =, layout =, shape =, bid =, borrow =, through =, because = }
 *
 * Functions raise Lua errors on misuse.  What is read points to the Lua stack: it is
 * good until the C function that was called returns.
 */
#ifndef SL_LUA_HOW_H
#define SL_LUA_HOW_H

#include "bind/bind.h"

struct sl_lua_how {
	unsigned said;			/* keys, for bind/how.c */
	struct sl_how buffer;
	const struct sl_how *how;	/* NULL: what suits the job */
	uint32_t first, last;		/* shapes to try, one after the other; as a rule the same one */
};

/* Read it, at argument 3 (or nothing there), for the job of an entry. */
void sl_lua_check_how(lua_State *L, struct sl_lua *x, struct sl_entry e, struct sl_lua_how *h);

/*
 * borrow = { "gpu", "long" }, through = "all": which of them may lend the job nodes?
 * True, with e->loan set where something is borrowed; false with *refusal.
 */
bool sl_lua_read_loan(lua_State *L, struct sl_lua *x, const struct sl_lua_how *h, struct sl_entry *e,
		      struct sl_refusal *refusal);

/* because = "...": the policy's words for a start that was made. */
void sl_lua_read_because(lua_State *L, struct sl_lua *x, const struct sl_lua_how *h, uint32_t job);

/* Does it say borrow? */
bool sl_lua_how_borrows(const struct sl_lua_how *h);

#endif
