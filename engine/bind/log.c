/* SPDX-License-Identifier: MIT */
/*
 * bind/log.c - the table "slurm" and print().
 *
 * Lines go into the plan's log, from where the plug-in writes them to slurmctld's.
 */
#include "bind/bind.h"

#define MAX_EARLY_LINES 100	/* while the set is loaded */

static const char early_key;

enum level { LEVEL_ERROR, LEVEL_INFO, LEVEL_DEBUG };

void sl_lua_log(lua_State *L, struct sl_lua *x, unsigned level, const char *text)
{
	char cut[SL_LUA_TEXT_MAX];
	lua_Integer n;

	text = sl_lua_cut(cut, text);
	if (x->running) {
		if (sl_plan_log(x->plan, level, text))
			luaL_error(L, "out of memory");
		return;
	}
	/* While the set is loaded there is no plan yet: the next one tells. */
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &early_key) != LUA_TTABLE) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &early_key);
	}
	n = lua_rawlen(L, -1);
	if (n < 2 * MAX_EARLY_LINES) {
		lua_pushinteger(L, level);
		lua_rawseti(L, -2, n + 1);
		lua_pushstring(L, text);
		lua_rawseti(L, -2, n + 2);
	}
	lua_pop(L, 1);
}

void sl_lua_flush_log(lua_State *L, struct sl_lua *x)
{
	int top = lua_gettop(L);

	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &early_key) == LUA_TTABLE)
		for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TNUMBER; i += 2) {
			lua_rawgeti(L, -2, i + 1);
			sl_lua_log(L, x, lua_tointeger(L, -2), lua_tostring(L, -1));
			lua_pop(L, 2);
		}
	lua_settop(L, top);
	lua_pushnil(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &early_key);
}

/* slurm.log_info(text) or (format, ...), as in job_submit.lua */
static int log_line(lua_State *L, unsigned level)
{
	if (lua_gettop(L) > 1) {
		lua_pushcfunction(L, sl_sandbox_format);
		lua_insert(L, 1);
		lua_call(L, lua_gettop(L) - 1, 1);
	} else {
		luaL_checkany(L, 1);
	}
	sl_lua_log(L, sl_lua_context(L), level, sl_sandbox_tostring(L, 1, NULL));
	return 0;
}

static int log_error(lua_State *L)
{
	return log_line(L, LEVEL_ERROR);
}

static int log_info(lua_State *L)
{
	return log_line(L, LEVEL_INFO);
}

static int log_debug(lua_State *L)
{
	return log_line(L, LEVEL_DEBUG);
}

/* print(...): an info line, tabs between the values */
static int print(lua_State *L)
{
	int n = lua_gettop(L);
	luaL_Buffer line;

	luaL_buffinit(L, &line);
	for (int i = 1; i <= n; i++) {
		if (i > 1)
			luaL_addchar(&line, '\t');
		sl_sandbox_tostring(L, i, NULL);
		luaL_addvalue(&line);
	}
	luaL_pushresult(&line);
	sl_lua_log(L, sl_lua_context(L), LEVEL_INFO, lua_tostring(L, -1));
	return 0;
}

void sl_lua_open_log(lua_State *L)
{
	static const luaL_Reg slurm[] = {
		{ "log_error", log_error }, { "log_info", log_info }, { "log_verbose", log_info },
		{ "log_debug", log_debug }, { "log_debug2", log_debug }, { "log_debug3", log_debug }, { NULL, NULL }
	};

	sl_sandbox_globals(L);
	luaL_newlib(L, slurm);
	sl_sandbox_protect(L, "slurm");
	lua_setfield(L, -2, "slurm");
	lua_pushcfunction(L, print);
	lua_setfield(L, -2, "print");
	lua_pop(L, 1);
}
