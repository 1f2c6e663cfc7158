/* SPDX-License-Identifier: MIT */
/* bind/named.c - arguments by name: { max = 5, slurm = true }. */
#include "bind/bind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"

void sl_lua_check_names(lua_State *L, int table, const char *what, const char *names)
{
	luaL_checktype(L, table, LUA_TTABLE);
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);

		if (!strcmp(key, "or") || !sl_list_has(names, ", ", key, strlen(key)))
			luaL_error(L, "%sunknown key '%s', expected %s", what, key, names);
	}
}

double sl_lua_named_number(lua_State *L, int table, const char *name, double otherwise, double min, double max)
{
	bool is_ranged = isfinite(min) || isfinite(max), is_number;
	char range[80] = "";
	double v = otherwise;

	if (lua_getfield(L, table, name) != LUA_TNIL) {
		is_number = lua_type(L, -1) == LUA_TNUMBER;
		v = lua_tonumber(L, -1);
		/* what is wrong with not-a-number, its user says, where there is no range */
		if (!is_number || (is_ranged && !(v >= min && v <= max))) {
			if (is_ranged)
				snprintf(range, sizeof(range), " from %.15g to %.15g", min, max);
			luaL_error(L, "%s: expected a number%s, got %s", name, range,
				   is_number ? lua_tostring(L, -1) : luaL_typename(L, -1));
		}
	}
	lua_pop(L, 1);
	return v;
}

int64_t sl_lua_named_integer(lua_State *L, int table, const char *name, int64_t otherwise, int64_t min, int64_t max)
{
	int64_t v = otherwise;
	int whole;

	if (lua_getfield(L, table, name) != LUA_TNIL) {
		v = lua_tointegerx(L, -1, &whole);
		if (lua_type(L, -1) != LUA_TNUMBER || !whole || v < min || v > max)
			luaL_error(L, "%s: expected an integer from %I to %I, got %s", name, (LUAI_UACINT) min,
				   (LUAI_UACINT) max, sl_sandbox_tostring(L, -1, NULL));
	}
	lua_pop(L, 1);
	return v;
}

bool sl_lua_named_flag(lua_State *L, int table, const char *name)
{
	int type = lua_getfield(L, table, name);
	bool v = lua_toboolean(L, -1);

	if (type != LUA_TNIL && type != LUA_TBOOLEAN)
		luaL_error(L, "%s: expected true or false, got %s", name, luaL_typename(L, -1));
	lua_pop(L, 1);
	return v;
}

const char *sl_lua_named_text(lua_State *L, int table, const char *name)
{
	int type = lua_getfield(L, table, name);

	if (type != LUA_TNIL && type != LUA_TSTRING)
		luaL_error(L, "%s: expected a string, got %s", name, luaL_typename(L, -1));
	return type == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
}
