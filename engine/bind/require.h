/* SPDX-License-Identifier: MIT */
/*
 * bind/require.h - require(), for policies and for those who need a module in C.
 *
 * A module is loaded once per state, from the bundle's memory (while the set is
 * being loaded, from the search path), in an environment of its own.
 *
 * Functions raise Lua errors; they run in protected mode.
 */
#ifndef SL_LUA_REQUIRE_H
#define SL_LUA_REQUIRE_H

#include <lua.h>

#include "bundle/bundle.h"

/* Make the global require(). */
void sl_lua_open_require(lua_State *L);

/* Push a file of the set as a function, or why it is none; it is compiled once in a process.
 * Returns a lua_load() status. */
int sl_lua_load(lua_State *L, const struct sl_bundle_file *file);

/* Push what a module of the set returned; loads it the first time. */
void sl_lua_require(lua_State *L, const char *name);

/* Take the value on the top, for whoever requires *name*: a module that is made in C. */
void sl_lua_provide(lua_State *L, const char *name);

/* Take the table on the top: the project's own modules see it as "engine". */
void sl_lua_provide_engine(lua_State *L);

#endif
