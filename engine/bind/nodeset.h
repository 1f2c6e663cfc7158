/* SPDX-License-Identifier: MIT */
/*
 * bind/nodeset.h - sets of nodes, as policies have them.  Functions raise Lua errors.
 */
#ifndef SL_LUA_NODESET_H
#define SL_LUA_NODESET_H

#include "bind/bind.h"

/* Push the set that the table at an index describes; nothing there: all nodes.  Returns 1. */
int sl_lua_push_nodeset(lua_State *L, struct sl_lua *x, int table);

/* Push a copy of that set. */
void sl_lua_push_nodes(lua_State *L, struct sl_lua *x, const struct sl_nodeset *set);

/* The set at an argument; good as long as it is on the stack. */
const struct sl_nodeset *sl_lua_check_nodeset(lua_State *L, struct sl_lua *x, int arg);

#endif
