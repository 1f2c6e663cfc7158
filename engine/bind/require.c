/* SPDX-License-Identifier: MIT */
#include "bind/require.h"

#include <string.h>

#include "bind/context.h"
#include "sandbox/sandbox.h"

/* Registry: what modules returned, by name; the table "engine"; the class of marks. */
static const char modules_key, engine_key, mark_key;

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

int sl_lua_load(lua_State *L, const struct sl_bundle_file *file)
{
	/* what a file compiles to is no part of what it says: who reads a set may fill that in */
	return sl_sandbox_load(L, file->path, file->text, file->length, (struct sl_code **) &file->code);
}

/* Run a module and push what it returned. */
static void run_module(lua_State *L, const struct sl_bundle_file *file)
{
	if (sl_lua_load(L, file) != LUA_OK)
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

/* Whatever ends the loading of a module, its mark goes: one that failed may be tried again.
 * The mark's value is the module's name. */
static int close_mark(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
	lua_getiuservalue(L, 1, 1);
	lua_pushvalue(L, -1);
	lua_rawget(L, -3);
	if (lua_rawequal(L, -1, 1)) {	/* else what the module returned */
		lua_pop(L, 1);
		lua_pushnil(L);
		lua_rawset(L, -3);
	}
	return 0;
}

/* Stays on the top until the function that is at work returns or fails. */
static void push_mark(lua_State *L, int modules, const char *name)
{
	lua_newuserdatauv(L, 0, 1);
	lua_pushstring(L, name);
	lua_setiuservalue(L, -2, 1);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &mark_key);
	lua_setmetatable(L, -2);
	lua_pushvalue(L, -1);
	lua_setfield(L, modules, name);
	lua_toclose(L, -1);
}

static bool is_mark(lua_State *L)
{
	bool is;

	if (!lua_getmetatable(L, -1))
		return false;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &mark_key);
	is = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return is;
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
		if (is_mark(L))
			luaL_error(L, "module '%s' requires itself, directly or through others", name);
		lua_remove(L, modules);
		return;
	}
	lua_pop(L, 1);
	file = sl_bundle_module(x->bundle, name, &err);
	if (!file)
		luaL_error(L, "%s", err.text);
	push_mark(L, modules, name);
	run_module(L, file);
	lua_pushvalue(L, -1);
	lua_setfield(L, modules, name);
	lua_replace(L, modules);
	lua_settop(L, modules);
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
	lua_newtable(L);
	lua_pushcfunction(L, close_mark);
	lua_setfield(L, -2, "__close");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &mark_key);
	sl_sandbox_globals(L);
	lua_pushcfunction(L, lua_require);
	lua_setfield(L, -2, "require");
	lua_pop(L, 1);
}
