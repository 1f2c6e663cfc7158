/* SPDX-License-Identifier: MIT */
/* bind/argument.c - arguments of methods: nodes and partitions by name, and texts that go into the plan. */
#include "bind/bind.h"

#include <string.h>

bool sl_lua_is_probe(const struct sl_lua *x)
{
	return !strcmp(sl_snapshot_str(x->snap, x->snap->meta.source[0]), "probe");
}

uint32_t sl_lua_check_node(lua_State *L, struct sl_lua *x, int arg)
{
	uint32_t row;

	if (sl_lua_is(L, arg, SL_CLASS_NODE))
		return sl_lua_check(L, x, arg, SL_CLASS_NODE)->row;
	if (lua_type(L, arg) != LUA_TSTRING)
		luaL_error(L, "expected a node or its name, got %s", luaL_typename(L, arg));
	row = sl_lua_find(L, x, SL_T_NODE, arg);
	if (row == SL_NONE)
		luaL_error(L, "no node '%s'", lua_tostring(L, arg));
	return row;
}

uint32_t sl_lua_check_partition(lua_State *L, struct sl_lua *x, int index, const char *what)
{
	uint32_t row;

	if (lua_type(L, index) != LUA_TSTRING)
		luaL_error(L, "%s: expected a partition's name, got %s", what, luaL_typename(L, index));
	row = sl_lua_find(L, x, SL_T_PARTITION, index);
	if (row == SL_NONE && !sl_lua_is_probe(x))
		luaL_error(L, "%s: no partition '%s'", what, lua_tostring(L, index));
	return row;
}

void sl_lua_mark_partitions(lua_State *L, struct sl_lua *x, int index, uint8_t *mark)
{
	index = lua_absindex(L, index);
	for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; i++) {
		uint32_t row = sl_lua_check_partition(L, x, -1, "partitions");

		if (row != SL_NONE)
			mark[row] = 1;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

const char *sl_lua_cut(char buffer[SL_LUA_TEXT_MAX], const char *text)
{
	size_t n = strlen(text);

	if (n >= SL_LUA_TEXT_MAX) {
		n = SL_LUA_TEXT_MAX - 1;
		/* not in the middle of a character of UTF-8 */
		while (n && (text[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(buffer, text, n);
	buffer[n] = 0;
	return buffer;
}
