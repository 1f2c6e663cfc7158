/* SPDX-License-Identifier: MIT */
/*
 * sandbox/table.c - the table library of policies.
 *
 * A length (__len) and a range may be anything a script says, so every loop over
 * them looks at the time limit.  sort() is a stable merge sort: Lua's quicksort
 * picks pivots by the clock, and orders equal elements by that.  pack() and unpack() are
 * Lua's: they are bounded by the stack.
 */
#include "sandbox/sandbox.h"

#include <stdbool.h>

#include <lauxlib.h>
#include <lualib.h>

#include "sandbox/limit.h"

static int tab_insert(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	lua_Integer end, position;

	luaL_checktype(L, 1, LUA_TTABLE);
	end = luaL_len(L, 1);
	end = (lua_Integer) ((lua_Unsigned) end + 1);
	switch (lua_gettop(L)) {
	case 2:
		position = end;
		break;
	case 3:
		position = luaL_checkinteger(L, 2);
		luaL_argcheck(L, (lua_Unsigned) position - 1 < (lua_Unsigned) end, 2, "position out of bounds");
		for (lua_Integer i = end; i > position; i--) {
			sl_limit_tick(L, limit);
			lua_geti(L, 1, i - 1);
			lua_seti(L, 1, i);
		}
		break;
	default:
		return luaL_error(L, "wrong number of arguments to 'insert'");
	}
	lua_seti(L, 1, position);
	return 0;
}

static int tab_remove(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	lua_Integer size, position;

	luaL_checktype(L, 1, LUA_TTABLE);
	size = luaL_len(L, 1);
	position = luaL_optinteger(L, 2, size);
	if (position != size)
		luaL_argcheck(L, (lua_Unsigned) position - 1 <= (lua_Unsigned) size, 2, "position out of bounds");
	lua_geti(L, 1, position);
	for (; position < size; position++) {
		sl_limit_tick(L, limit);
		lua_geti(L, 1, position + 1);
		lua_seti(L, 1, position);
	}
	lua_pushnil(L);
	lua_seti(L, 1, position);
	return 1;
}

/* move(a, from, to, at [, b]) */
static int tab_move(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	lua_Integer from, to, at;
	int b = lua_isnoneornil(L, 5) ? 1 : 5;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, b, LUA_TTABLE);
	from = luaL_checkinteger(L, 2);
	to = luaL_checkinteger(L, 3);
	at = luaL_checkinteger(L, 4);
	if (to >= from) {
		luaL_argcheck(L, from > 0 || to < LUA_MAXINTEGER + from, 3, "too many elements to move");
		luaL_argcheck(L, at <= LUA_MAXINTEGER - (to - from), 4, "destination wrap around");
		bool up = at > to || at <= from || (b != 1 && !lua_compare(L, 1, b, LUA_OPEQ));

		for (lua_Integer k = 0, n = to - from; k <= n; k++) {
			lua_Integer i = up ? k : n - k;

			sl_limit_tick(L, limit);
			lua_geti(L, 1, from + i);
			lua_seti(L, b, at + i);
		}
	}
	lua_pushvalue(L, b);
	return 1;
}

static int tab_concat(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	size_t gap;
	const char *sep = luaL_optlstring(L, 2, "", &gap);
	lua_Integer i = luaL_optinteger(L, 3, 1), last;
	luaL_Buffer out;

	luaL_checktype(L, 1, LUA_TTABLE);
	last = lua_isnoneornil(L, 4) ? luaL_len(L, 1) : luaL_checkinteger(L, 4);
	luaL_buffinit(L, &out);
	for (; i <= last; i++) {
		sl_limit_tick(L, limit);
		lua_geti(L, 1, i);
		if (!lua_isstring(L, -1))
			return luaL_error(L, "invalid value (at index %I) in table for 'concat'", (LUAI_UACINT) i);
		luaL_addvalue(&out);
		if (i == last)
			break;
		luaL_addlstring(&out, sep, gap);
	}
	luaL_pushresult(&out);
	return 1;
}

/* -- sort -------------------------------------------------------------- */

/* 1: the table, 2: the comparator or nil, 3: a copy of the elements. */
static bool element_before(lua_State *L, lua_Integer a, lua_Integer b)
{
	bool before;

	if (lua_isnil(L, 2)) {
		lua_rawgeti(L, 3, a);
		lua_rawgeti(L, 3, b);
		before = lua_compare(L, -2, -1, LUA_OPLT);
		lua_pop(L, 2);
	} else {
		lua_pushvalue(L, 2);
		lua_rawgeti(L, 3, a);
		lua_rawgeti(L, 3, b);
		lua_call(L, 2, 1);
		before = lua_toboolean(L, -1);
		lua_pop(L, 1);
	}
	return before;
}

static void merge_elements(lua_State *L, const struct sl_limit *limit, const uint32_t *from, uint32_t *to,
			   size_t lo, size_t mid, size_t hi)
{
	size_t a = lo, b = mid, k = lo;

	/* Already in order: copied without more comparisons. */
	if (mid < hi && !element_before(L, from[mid], from[mid - 1]))
		b = hi;
	for (; k < hi; k++) {
		sl_limit_tick(L, limit);
		if (a < mid && (b == hi || !element_before(L, from[b], from[a])))
			to[k] = from[a++];
		else if (b < hi)
			to[k] = from[b++];
		else
			to[k] = from[k];	/* in order: a came to mid, the rest stands */
	}
}

static int tab_sort(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	lua_Integer n;
	uint32_t *from, *to, *t;

	luaL_checktype(L, 1, LUA_TTABLE);
	if (!lua_isnoneornil(L, 2))
		luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_settop(L, 2);
	n = luaL_len(L, 1);
	if (n < 2)
		return 0;
	luaL_argcheck(L, n < INT32_MAX / 8, 1, "array too big");
	lua_newtable(L);
	for (lua_Integer i = 1; i <= n; i++) {
		sl_limit_tick(L, limit);
		lua_geti(L, 1, i);
		lua_rawseti(L, 3, i);
	}
	from = lua_newuserdatauv(L, 2 * n * sizeof(*from), 0);
	to = from + n;
	for (lua_Integer i = 0; i < n; i++)
		from[i] = i + 1;
	for (lua_Integer width = 1; width < n; width *= 2) {
		for (lua_Integer lo = 0; lo < n; lo += 2 * width)
			merge_elements(L, limit, from, to, lo, lo + width < n ? lo + width : n,
				       lo + 2 * width < n ? lo + 2 * width : n);
		t = from;
		from = to;
		to = t;
	}
	for (lua_Integer i = 0; i < n; i++) {
		sl_limit_tick(L, limit);
		lua_rawgeti(L, 3, from[i]);
		lua_seti(L, 1, i + 1);
	}
	return 0;
}

void sl_sandbox_table(lua_State *L)
{
	static const luaL_Reg own[] = {
		{ "concat", tab_concat }, { "insert", tab_insert }, { "move", tab_move }, { "remove", tab_remove },
		{ "sort", tab_sort }, { NULL, NULL }
	};

	luaL_newlib(L, own);
	lua_pushcfunction(L, luaopen_table);
	lua_call(L, 0, 1);
	lua_getfield(L, -1, "pack");
	lua_setfield(L, -3, "pack");
	lua_getfield(L, -1, "unpack");
	lua_setfield(L, -3, "unpack");
	lua_pop(L, 1);
}
