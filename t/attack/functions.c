/* SPDX-License-Identifier: MIT */
/* t/attack/functions.c - see t/attack/functions.h */
#include "t/attack/functions.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/grow.h"
#include "base/order.h"

/* Where the walk is: stack indices of { [function] = true } and { [name] = function }. */
struct walk {
	lua_State *L;
	int seen, found;
};

struct key {
	int type;
	const char *text;		/* the table keeps it */
	lua_Integer integer;
	const void *pointer;
};

static int by_key(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;

	if (a->type != b->type)
		return a->type - b->type;
	if (a->text)
		return strcmp(a->text, b->text);
	return SL_ORDER(a->integer, b->integer) ?: SL_ORDER(a->pointer, b->pointer);
}

static void visit(struct walk *w, const char *path);

/* In the order of keys: names must be the same in each process. */
static void visit_table(struct walk *w, int table, const char *path)
{
	lua_State *L = w->L;
	struct key *keys = NULL;
	uint32_t count = 0;
	char name[ATTACK_NAME];

	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
		struct key key = { lua_type(L, -2), NULL, 0, NULL };

		if (key.type == LUA_TSTRING)
			key.text = lua_tostring(L, -2);
		else if (lua_isinteger(L, -2))
			key.integer = lua_tointeger(L, -2);
		else if (key.type == LUA_TLIGHTUSERDATA)
			key.pointer = lua_touserdata(L, -2);
		else
			continue;
		if (sl_grow_list(&keys, count, sizeof(*keys), NULL))
			abort();
		keys[count++] = key;
	}
	if (count)
		qsort(keys, count, sizeof(*keys), by_key);
	for (size_t i = 0; i < count; i++) {
		const char *own = keys[i].text;

		/* finalizers are the collector's alone */
		if (own && (!strcmp(own, "__gc") || !strcmp(own, "__close")))
			continue;
		if (own)
			lua_pushstring(L, own);
		else if (keys[i].type == LUA_TLIGHTUSERDATA)
			lua_pushlightuserdata(L, (void *) keys[i].pointer);
		else
			lua_pushinteger(L, keys[i].integer);
		lua_rawget(L, table);
		if (!own || (!strcmp(own, "__index") && !lua_isfunction(L, -1)))
			snprintf(name, sizeof(name), "%s", path);
		else
			snprintf(name, sizeof(name), "%.40s%s%.40s", path, *path ? "." : "", own);
		visit(w, name);
	}
	free(keys);
}

static void found(struct walk *w, int function, const char *path)
{
	char name[ATTACK_NAME + 16];
	lua_State *L = w->L;

	snprintf(name, sizeof(name), "%s", *path ? path : "function");
	for (int n = 2; lua_getfield(L, w->found, name) != LUA_TNIL; n++) {
		lua_pop(L, 1);
		snprintf(name, sizeof(name), "%s/%d", *path ? path : "function", n);
	}
	lua_pop(L, 1);
	lua_pushvalue(L, function);
	lua_setfield(L, w->found, name);
}

/* The value on the top, which is popped. */
static void visit(struct walk *w, const char *path)
{
	lua_State *L = w->L;
	int at = lua_gettop(L), type = lua_type(L, at);
	const char *label = path;

	luaL_checkstack(L, 20, NULL);
	lua_pushvalue(L, at);
	if ((type != LUA_TTABLE && type != LUA_TFUNCTION && type != LUA_TUSERDATA) || lua_rawget(L, w->seen) != LUA_TNIL) {
		lua_settop(L, at - 1);
		return;
	}
	lua_pushvalue(L, at);
	lua_pushboolean(L, 1);
	lua_rawset(L, w->seen);
	if (lua_iscfunction(L, at))
		found(w, at, path);
	if (type == LUA_TTABLE) {
		/* a class is called what it calls itself */
		lua_pushliteral(L, "__name");
		if (lua_rawget(L, at) == LUA_TSTRING)
			label = lua_tostring(L, -1);
		visit_table(w, at, label);
	}
	for (int i = 1; type == LUA_TFUNCTION && lua_getupvalue(L, at, i); i++) {
		char name[ATTACK_NAME];

		/* the fields of a class are an upvalue of its __index */
		snprintf(name, sizeof(name), "%.*s", (int) (strlen(path) - (strstr(path, ".__") ? strlen(strstr(path, ".__")) : 0)),
			 path);
		visit(w, name);
	}
	if (type != LUA_TFUNCTION && lua_getmetatable(L, at))
		visit(w, path);
	lua_settop(L, at - 1);
}

void attack_find_functions(lua_State *L)
{
	struct walk w = { L, lua_gettop(L) + 1, lua_gettop(L) + 2 };

	lua_newtable(L);
	lua_newtable(L);
	lua_pushvalue(L, LUA_REGISTRYINDEX);
	visit(&w, "");
	lua_remove(L, w.seen);
}
