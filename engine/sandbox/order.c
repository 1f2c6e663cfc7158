/* SPDX-License-Identifier: MIT */
/*
 * sandbox/order.c - tables are traversed in the order of their keys.
 *
 * Lua goes by hash, and hashes differ from process to process (strings are
 * seeded with addresses and time, objects hash by address).  A policy that
 * starts jobs in the order of pairs() would then decide differently when a cycle
 * is replayed.  So: numbers by value, then strings by bytes, then booleans,
 * then jobs, nodes and partitions in the snapshot's order.  Other keys (tables,
 * functions) have no order that could be repeated and are refused.
 */
#include "sandbox/sandbox.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "sandbox/limit.h"

enum rank { RANK_INTEGER, RANK_FLOAT, RANK_STRING, RANK_BOOLEAN, RANK_OBJECT };

struct key {
	enum rank rank;
	uint32_t at;			/* position in the list of keys */
	union {
		int64_t integer;
		double number;
		uint64_t order;
		struct { const char *text; size_t length; } string;
	} u;
};

/* The key at a stack index, which must stay alive as long as *key is used. */
static void read_key(lua_State *L, int index, const char *who, struct key *key)
{
	switch (lua_type(L, index)) {
	case LUA_TNUMBER:
		key->rank = lua_isinteger(L, index) ? RANK_INTEGER : RANK_FLOAT;
		if (key->rank == RANK_INTEGER)
			key->u.integer = lua_tointeger(L, index);
		else
			key->u.number = lua_tonumber(L, index);
		return;
	case LUA_TSTRING:
		key->rank = RANK_STRING;
		key->u.string.text = lua_tolstring(L, index, &key->u.string.length);
		return;
	case LUA_TBOOLEAN:
		key->rank = RANK_BOOLEAN;
		key->u.order = lua_toboolean(L, index);
		return;
	case LUA_TUSERDATA:
		if (luaL_getmetafield(L, index, SL_SANDBOX_ORDER) != LUA_TNIL) {
			lua_pop(L, 1);
			key->rank = RANK_OBJECT;
			key->u.order = ((struct sl_sandbox_key *) lua_touserdata(L, index))->order;
			return;
		}
	}
	luaL_error(L, "%s: a key of type %s has no order that could be repeated; keep a list of the keys instead",
		   who, luaL_typename(L, index));
}

/* An integer and a float that is a key are never equal. */
static bool number_before(const struct key *a, const struct key *b)
{
	long double x = a->rank == RANK_INTEGER ? (long double) a->u.integer : (long double) a->u.number;
	long double y = b->rank == RANK_INTEGER ? (long double) b->u.integer : (long double) b->u.number;

	return x < y;
}

static bool key_before(const struct key *a, const struct key *b)
{
	size_t na, nb;
	int order;

	if (a->rank <= RANK_FLOAT && b->rank <= RANK_FLOAT)
		return number_before(a, b);
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->rank != RANK_STRING)
		return a->u.order < b->u.order;
	na = a->u.string.length;
	nb = b->u.string.length;
	order = memcmp(a->u.string.text, b->u.string.text, na < nb ? na : nb);
	return order < 0 || (!order && na < nb);
}

/* Merge the sorted from[lo, mid) and from[mid, hi) into to[lo, hi). */
static void merge_keys(lua_State *L, const struct key *from, struct key *to, size_t lo, size_t mid, size_t hi)
{
	const struct sl_limit *limit = sl_limit_of(L);
	size_t a = lo, b = mid;

	for (size_t k = lo; k < hi; k++) {
		sl_limit_tick(L, limit);
		if (a < mid && (b == hi || !key_before(&from[b], &from[a])))
			to[k] = from[a++];
		else
			to[k] = from[b++];
	}
}

/* Sort n keys, with as many to spare behind them.  Returns where they are then. */
static struct key *sort_keys(lua_State *L, struct key *key, size_t n)
{
	struct key *from = key, *to = key + n, *t;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = lo + width < n ? lo + width : n;
			size_t hi = lo + 2 * width < n ? lo + 2 * width : n;

			merge_keys(L, from, to, lo, mid, hi);
		}
		t = from;
		from = to;
		to = t;
	}
	return from;
}

/* Number of keys of the table at 1; *sequence: they are exactly 1..n. */
static size_t count_keys(lua_State *L, bool *sequence)
{
	const struct sl_limit *limit = sl_limit_of(L);
	size_t n = 0, length = lua_rawlen(L, 1);

	*sequence = true;
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		sl_limit_tick(L, limit);
		lua_pop(L, 1);
		n++;
		if (!lua_isinteger(L, -1) || (lua_Unsigned) lua_tointeger(L, -1) - 1 >= length)
			*sequence = false;
	}
	/* a list with holes has a length as well: of one of its pieces, or of all */
	if (n != length)
		*sequence = false;
	return n;
}

/* Push a list of the keys of the table at 1, sorted. */
static void push_sorted_keys(lua_State *L, size_t n)
{
	const struct sl_limit *limit = sl_limit_of(L);
	struct key *key;
	int list, sorted;
	size_t i = 0;

	if (n > INT32_MAX / 2)
		luaL_error(L, "pairs: more than %d keys", INT32_MAX / 2);
	lua_createtable(L, n, 0);
	sorted = lua_gettop(L);
	lua_createtable(L, n, 0);
	list = lua_gettop(L);
	key = lua_newuserdatauv(L, 2 * n * sizeof(*key), 0);
	lua_pushnil(L);
	while (i < n && lua_next(L, 1)) {
		sl_limit_tick(L, limit);
		lua_pop(L, 1);
		read_key(L, -1, "pairs", &key[i]);
		key[i].at = i + 1;
		lua_pushvalue(L, -1);
		lua_rawseti(L, list, ++i);
	}
	n = i;		/* the collector may have taken fields of a weak table meanwhile */
	key = sort_keys(L, key, n);
	for (i = 0; i < n; i++) {
		sl_limit_tick(L, limit);
		lua_rawgeti(L, list, key[i].at);
		lua_rawseti(L, sorted, i + 1);
	}
	lua_settop(L, sorted);
}

/*
 * Iterators are functions that a script may call with anything: what they go
 * through is an upvalue, and no argument is looked at.  Upvalues: the table, where
 * the iterator is; then the number of elements, or the list of keys.
 */
enum { OF_TABLE = lua_upvalueindex(1), OF_PLACE = lua_upvalueindex(2), OF_KEYS = lua_upvalueindex(3) };

static void set_place(lua_State *L, lua_Integer i)
{
	lua_pushinteger(L, i);
	lua_replace(L, OF_PLACE);
}

/* Over 1..n. */
static int next_in_sequence(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	lua_Integer n = lua_tointeger(L, OF_KEYS), i = lua_tointeger(L, OF_PLACE);

	lua_settop(L, 0);
	/* A field may be taken away during the traversal. */
	while (i < n) {
		sl_limit_tick(L, limit);
		lua_pushinteger(L, ++i);
		if (lua_rawgeti(L, OF_TABLE, i) != LUA_TNIL) {
			set_place(L, i);
			return 2;
		}
		lua_settop(L, 0);
	}
	set_place(L, n);
	return 0;
}

/* Over a list of keys. */
static int next_in_list(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	lua_Integer i = lua_tointeger(L, OF_PLACE);

	lua_settop(L, 0);
	while (lua_rawgeti(L, OF_KEYS, i + 1) != LUA_TNIL) {
		sl_limit_tick(L, limit);
		i++;
		lua_pushvalue(L, -1);
		if (lua_rawget(L, OF_TABLE) != LUA_TNIL) {
			set_place(L, i);
			return 2;
		}
		lua_settop(L, 0);
	}
	set_place(L, i);
	return 0;
}

/* Push the iterator over the table at 1. */
static void push_iterator(lua_State *L)
{
	bool sequence;
	size_t n = count_keys(L, &sequence);

	lua_pushvalue(L, 1);
	lua_pushinteger(L, 0);
	if (sequence)
		lua_pushinteger(L, n);
	else
		push_sorted_keys(L, n);
	lua_pushcclosure(L, sequence ? next_in_sequence : next_in_list, 3);
}

int sl_sandbox_pairs(lua_State *L)
{
	luaL_checkany(L, 1);
	if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
		lua_pushvalue(L, 1);
		lua_call(L, 1, 3);
		return 3;
	}
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	push_iterator(L);
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

/* The least key that comes after the one given: linear, so pairs() for loops. */
int sl_sandbox_next(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	struct key after, best, key;
	bool found = false;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 2);
	sl_sandbox_unveil(L, 1);
	if (!lua_isnil(L, 2))
		read_key(L, 2, "next", &after);
	lua_pushnil(L);		/* 3: the best so far */
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		sl_limit_tick(L, limit);
		lua_pop(L, 1);
		read_key(L, -1, "next", &key);
		if (!lua_isnil(L, 2) && !key_before(&after, &key))
			continue;
		if (found && !key_before(&key, &best))
			continue;
		found = true;
		best = key;
		lua_pushvalue(L, -1);
		lua_replace(L, 3);
	}
	lua_settop(L, 3);
	if (!found)
		return 1;
	lua_pushvalue(L, -1);
	lua_rawget(L, 1);
	return 2;
}
