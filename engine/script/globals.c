/* SPDX-License-Identifier: MIT */
/*
 * script/globals.c - names that a policy set uses and that are not there.
 */
#include "script/private.h"

#include <string.h>

#include "base/clock.h"
#include "bundle/bundle.h"
#include "sandbox/globals.h"
#include "sandbox/sandbox.h"

struct search {
	const struct sl_bundle *bundle;
	void (*tell)(const char *what, void *arg);
	void *arg;
	int found;
};

/* Places on the stack of find_all(); who looks at a name leaves things above. */
enum { SEARCH = 1, GLOBALS, NEAREST, CHUNK, READS, SETS, LOCALS };

/* globals[name]: raises what the policy's line would raise. */
static int read_global(lua_State *L)
{
	lua_gettable(L, 1);
	return 1;
}

/* Add the keys of a table to the table on the top. */
static void add_keys(lua_State *L, int from)
{
	for (lua_pushnil(L); lua_next(L, from); lua_pop(L, 1)) {
		lua_pushvalue(L, -2);
		lua_pushboolean(L, true);
		lua_rawset(L, -5);
	}
}

/* Tell about the message on the top, with the name in *known*, the next on the
 * stack, that is nearest to *name*; pop both. */
static void tell_undefined(lua_State *L, const char *file, lua_Integer line, const char *prefix,
			   const char *name)
{
	struct search *s = lua_touserdata(L, SEARCH);
	const char *message = lua_tostring(L, -1), *near;

	lua_pushvalue(L, NEAREST);
	lua_pushstring(L, name);
	lua_pushvalue(L, -4);
	lua_call(L, 2, 1);
	near = lua_tostring(L, -1);
	if (near)
		lua_pushfstring(L, "%s:%I: %s; did you mean '%s%s'?", file, (LUAI_UACINT) line, message, prefix, near);
	else
		lua_pushfstring(L, "%s:%I: %s", file, (LUAI_UACINT) line, message);
	s->tell(lua_tostring(L, -1), s->arg);
	s->found++;
	lua_pop(L, 4);
}

/* A global, which the chunk does not set. */
static void look_at_global(lua_State *L, const char *file, lua_Integer line, const char *name)
{
	lua_pushcfunction(L, read_global);
	lua_pushvalue(L, GLOBALS);
	lua_pushstring(L, name);
	if (lua_pcall(L, 2, 1, 0) == LUA_OK)
		return;
	lua_newtable(L);
	/* an answer that has an advice needs no other */
	if (!strncmp(lua_tostring(L, -2), "undefined", 9)) {
		add_keys(L, GLOBALS);
		add_keys(L, SETS);
		add_keys(L, LOCALS);
	}
	lua_insert(L, -2);
	tell_undefined(L, file, line, "", name);
}

/* A field of a global that the chunk does not set: of a library. */
static void look_at_field(lua_State *L, const char *file, lua_Integer line, const char *name, const char *field)
{
	lua_pushvalue(L, GLOBALS);
	lua_pushstring(L, name);
	lua_rawget(L, -2);
	/* a library is a read-only view: the table behind it has the names */
	if (!luaL_getmetafield(L, -1, "__index") || !lua_istable(L, -1) || lua_getfield(L, -1, field) != LUA_TNIL)
		return;
	lua_newtable(L);
	add_keys(L, lua_gettop(L) - 2);
	lua_pushfstring(L, "there is no '%s.%s'", name, field);
	lua_pushfstring(L, "%s.", name);
	lua_insert(L, -3);
	tell_undefined(L, file, line, lua_tostring(L, -3), field);
}

static bool has(lua_State *L, int table, const char *name)
{
	bool there;

	lua_pushstring(L, name);
	there = lua_rawget(L, table) != LUA_TNIL;
	lua_pop(L, 1);
	return there;
}

/* Element i of READS; the list keeps what is returned. */
static const char *read_name(lua_State *L, lua_Integer i)
{
	const char *name;

	lua_rawgeti(L, READS, i);
	name = lua_tostring(L, -1);
	lua_pop(L, 1);
	return name;
}

/* The chunk on the top: READS, SETS and LOCALS follow. */
static void look_at_chunk(lua_State *L, const char *file)
{
	lua_Integer n;

	if (!sl_globals_scan(L))
		return;
	n = (lua_Integer) lua_rawlen(L, READS);
	for (lua_Integer i = 1; i <= n; i += 3)
		if (!strcmp(read_name(L, i), "_G"))
			return;
	for (lua_Integer i = 1; i <= n; i += 3) {
		const char *name = read_name(L, i), *field = read_name(L, i + 1);
		lua_Integer line;

		lua_rawgeti(L, READS, i + 2);
		line = lua_tointeger(L, -1);
		lua_pop(L, 1);
		if (has(L, SETS, name))
			continue;
		if (!has(L, GLOBALS, name))
			look_at_global(L, file, line, name);
		else if (*field)
			look_at_field(L, file, line, name, field);
		lua_settop(L, LOCALS);
	}
}

/* tell(line, message) of the lint; upvalue: the path. */
static int tell_mistake(lua_State *L)
{
	struct search *s = lua_touserdata(L, lua_upvalueindex(2));

	lua_pushfstring(L, "%s:%I: %s", lua_tostring(L, lua_upvalueindex(1)), (LUAI_UACINT) luaL_checkinteger(L, 1),
			luaL_checkstring(L, 2));
	s->tell(lua_tostring(L, -1), s->arg);
	s->found++;
	return 0;
}

/* What is surely meant otherwise in a file (sched/lint.lua). */
static void look_at_text(lua_State *L, const struct sl_bundle_file *file)
{
	sl_lua_require(L, "sched.lint");
	lua_getfield(L, -1, "check");
	lua_pushlstring(L, file->text, file->length);
	sl_lua_push_job_kinds(L);
	lua_pushstring(L, file->path);
	lua_pushvalue(L, SEARCH);
	lua_pushcclosure(L, tell_mistake, 2);
	lua_call(L, 3, 0);
}

static int find_all(lua_State *L)
{
	struct search *s = lua_touserdata(L, SEARCH);

	luaL_checkstack(L, 40, NULL);
	sl_sandbox_globals(L);
	sl_lua_require(L, "sched.suggest");
	lua_getfield(L, -1, "nearest");
	lua_remove(L, -2);
	for (unsigned i = 0; i < s->bundle->files; i++) {
		const struct sl_bundle_file *file = s->bundle->file[i];

		if (!file->library && sl_lua_load(L, file) == LUA_OK)
			look_at_chunk(L, file->path);
		lua_settop(L, NEAREST);
		if (!file->library)
			look_at_text(L, file);
		lua_settop(L, NEAREST);
	}
	return 0;
}

int sl_bundle_undefined(const struct sl_bundle *b, const struct sl_limits *limits,
			void (*tell)(const char *what, void *arg), void *arg, struct sl_error *err)
{
	struct search search = { b, tell, arg, 0 };
	int64_t since = sl_clock_us();
	/* a sealed bundle is only read */
	struct sl_script *s = sl_script_bare((struct sl_bundle *) b, limits, err);
	struct sl_limits left;
	int rc = -1;

	if (s && !sl_limits_left(limits, since, &left, err) && !sl_script_call(s, &left, find_all, &search, err))
		rc = search.found;
	sl_script_destroy(s);
	return rc;
}
