/* SPDX-License-Identifier: MIT */
#include "bind/require.h"

#include <string.h>

#include "bind/context.h"
#include "sandbox/sandbox.h"

/* Registry: what modules returned, by name; the table "engine". */
static const char modules_key, engine_key;

static bool is_own(const struct sl_bundle_file *file)
{
	return file->library && (!strcmp(file->name, "sched") || !strncmp(file->name, "sched.", 6));
}

/* The environment of the chunk on the top gets the table "engine". */
static void give_engine(lua_State *L)
{
	lua_getupvalue(L, -1, 1);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &engine_key);
	lua_setfield(L, -2, "engine");
	lua_pop(L, 1);
}

static bool is_plain_table(lua_State *L)
{
	if (!lua_istable(L, -1))
		return false;
	if (!lua_getmetatable(L, -1))
		return true;
	lua_pop(L, 1);
	return false;
}

/* Run a module and push what it returned. */
static void run_module(lua_State *L, const struct sl_bundle_file *file)
{
	if (sl_sandbox_load(L, file->path, file->text, file->length) != LUA_OK)
		lua_error(L);
	if (is_own(file))
		give_engine(L);
	lua_pushstring(L, file->name);
	lua_pushstring(L, file->path);
	lua_call(L, 2, 1);
	if (lua_isnil(L, -1)) {
		/* about that file, not about who requires it */
		lua_pushfstring(L, "%s:1: module '%s' returns nothing, expected a table", file->path, file->name);
		lua_error(L);
	}
	/* What all policies share is read-only. */
	if (is_own(file) && is_plain_table(L))
		sl_sandbox_protect(L, file->name);
}

void sl_lua_require(lua_State *L, const char *name)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_bundle_file *file;
	struct sl_error err;
	int modules;

	luaL_checkstack(L, 16, NULL);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
	modules = lua_gettop(L);
	if (lua_getfield(L, modules, name) != LUA_TNIL) {
		/* a mark, while it is being loaded */
		if (lua_islightuserdata(L, -1))
			luaL_error(L, "module '%s' requires itself, directly or through others", name);
		lua_remove(L, modules);
		return;
	}
	lua_pop(L, 1);
	file = sl_bundle_module(x->bundle, name, &err);
	if (!file)
		luaL_error(L, "%s", err.text);
	lua_pushlightuserdata(L, x);
	lua_setfield(L, modules, name);
	run_module(L, file);
	lua_pushvalue(L, -1);
	lua_setfield(L, modules, name);
	lua_remove(L, modules);
}

static int lua_require(lua_State *L)
{
	sl_lua_require(L, luaL_checkstring(L, 1));
	return 1;
}

void sl_lua_provide(lua_State *L, const char *name)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
	lua_insert(L, -2);
	lua_setfield(L, -2, name);
	lua_pop(L, 1);
}

void sl_lua_provide_engine(lua_State *L)
{
	lua_rawsetp(L, LUA_REGISTRYINDEX, &engine_key);
}

void sl_lua_open_require(lua_State *L)
{
	lua_newtable(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
	sl_sandbox_globals(L);
	lua_pushcfunction(L, lua_require);
	lua_setfield(L, -2, "require");
	lua_pop(L, 1);
}
