/* SPDX-License-Identifier: MIT */
/*
 * bind/data.c - data files (bundle/data.h) for Lua.
 *
 *	f = engine.file(name, parse)	parse_changed(text, path, warn) returns a flat table, or raises
 *	f = engine.awaited(name, parse)	the same; as long as it is not there its text is an empty line
 *	v = f:get(key)			a number, a string, a boolean; nil
 *	t = f:all()			all of it, as a new table
 *	f:say(text)			log a line, once until the file changes
 *	f.path, f.version
 *
 * The parser of a changed text runs where the file is named, so in the cycle that
 * notices the change.  While the set is loaded its error refuses the set; later what
 * the file said before stays in force and the error is logged.
 */
#include "bind/bind.h"

#include <pwd.h>
#include <string.h>

#include "bundle/data.h"

#define FILE_CLASS "file"

static struct sl_data_file *check_file(lua_State *L)
{
	return *(struct sl_data_file **) luaL_checkudata(L, 1, FILE_CLASS);
}

/* -- parsing ------------------------------------------------------------------ */

/* warn(text): note a line about the file.  Upvalue: the file. */
static int warn(lua_State *L)
{
	char cut[SL_LUA_TEXT_MAX];

	sl_data_say(lua_touserdata(L, lua_upvalueindex(1)), false, sl_lua_cut(cut, luaL_checkstring(L, 1)));
	return 0;
}

static void read_value(lua_State *L, int index, struct sl_data_value *v)
{
	memset(v, 0, sizeof(*v));
	switch (lua_type(L, index)) {
	case LUA_TNUMBER:
		v->type = lua_isinteger(L, index) ? SL_DATA_INTEGER : SL_DATA_NUMBER;
		v->integer = lua_tointeger(L, index);
		v->number = lua_tonumber(L, index);
		break;
	case LUA_TBOOLEAN:
		v->type = SL_DATA_BOOLEAN;
		v->integer = lua_toboolean(L, index);
		break;
	case LUA_TSTRING:
		v->type = SL_DATA_TEXT;
		v->text = lua_tostring(L, index);
		break;
	default:
		luaL_error(L, "the parser's table has a %s in it; expected numbers, strings and booleans",
			   luaL_typename(L, index));
	}
}

/* Keep the table that the parser returned, which is on the top. */
static void keep_parsed(lua_State *L, struct sl_data_file *f)
{
	struct sl_data_value v;
	struct sl_error err;

	if (lua_type(L, -1) != LUA_TTABLE)
		luaL_error(L, "the parser returned %s, expected a table", luaL_typename(L, -1));
	sl_data_begin(f);
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			luaL_error(L, "the parser's table has a key of type %s, expected strings",
				   luaL_typename(L, -2));
		read_value(L, -1, &v);
		if (sl_data_put(f, lua_tostring(L, -2), &v, &err))
			luaL_error(L, "%s", err.text);
	}
}

/* (file, parse): run the parser and keep what it returns. */
static int parse_text(lua_State *L)
{
	struct sl_data_file *f = lua_touserdata(L, 1);
	size_t length;
	const char *text = sl_data_text(f, &length);

	lua_pushlstring(L, text, length);
	lua_pushstring(L, sl_data_path(f));
	lua_pushlightuserdata(L, f);
	lua_pushcclosure(L, warn, 1);
	lua_call(L, 3, 1);
	keep_parsed(L, f);
	return 0;
}

/* Parse what waits to be parsed; the parser is at *parse*. */
static void parse_changed(lua_State *L, struct sl_lua *x, struct sl_data_file *f, int parser)
{
	char text[SL_LUA_TEXT_MAX + 64];
	size_t length;
	int top = lua_gettop(L), status;

	if (!sl_data_text(f, &length))
		return;
	if (!sl_data_enter(f))
		luaL_error(L, "%s is being parsed: its parser cannot open it", sl_data_path(f));
	lua_pushcfunction(L, parse_text);
	lua_pushlightuserdata(L, f);
	lua_pushvalue(L, parser);
	status = lua_pcall(L, 2, 0, 0);
	sl_data_leave(f);
	if (status == LUA_OK) {
		sl_data_end(f, true);
		return;
	}
	/* out of time: the next cycle tries again */
	if (x->limit.expired || x->limit.out_of_memory || !x->bundle->sealed)
		lua_error(L);
	sl_data_end(f, false);
	snprintf(text, sizeof(text), "%.*s; what it said before stays in force", SL_LUA_TEXT_MAX - 1,
		 sl_sandbox_tostring(L, -1, NULL));
	sl_data_say(f, true, text);
	lua_settop(L, top);
}

/* -- the class ------------------------------------------------------------------ */

static void push_value(lua_State *L, const struct sl_data_value *v)
{
	switch (v->type) {
	case SL_DATA_NUMBER:
		lua_pushnumber(L, v->number);
		break;
	case SL_DATA_INTEGER:
		lua_pushinteger(L, v->integer);
		break;
	case SL_DATA_BOOLEAN:
		lua_pushboolean(L, (int) v->integer);
		break;
	case SL_DATA_TEXT:
		lua_pushstring(L, v->text);
		break;
	default:
		lua_pushnil(L);
	}
}

static int file_get(lua_State *L)
{
	struct sl_data_value v = sl_data_get(check_file(L), luaL_checkstring(L, 2));

	push_value(L, &v);
	return 1;
}

static int file_all(lua_State *L)
{
	struct sl_data_file *f = check_file(L);
	struct sl_data_value v;
	const char *key;

	lua_newtable(L);
	for (unsigned i = 0; (key = sl_data_key(f, i, &v)); i++) {
		push_value(L, &v);
		lua_setfield(L, -2, key);
	}
	return 1;
}

/* While the set is loaded nothing is said: that is a canned cluster. */
static int file_say(lua_State *L)
{
	char cut[SL_LUA_TEXT_MAX];

	if (sl_lua_context(L)->bundle->sealed)
		sl_data_say(check_file(L), true, sl_lua_cut(cut, luaL_checkstring(L, 2)));
	return 0;
}

/* A method, or path or version.  Upvalue: the methods. */
static int file_index(lua_State *L)
{
	struct sl_data_file *f = check_file(L);
	const char *key = luaL_checkstring(L, 2);

	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
		return 1;
	if (!strcmp(key, "path"))
		lua_pushstring(L, sl_data_path(f));
	else if (!strcmp(key, "version"))
		lua_pushinteger(L, (lua_Integer) sl_data_version(f));
	else
		return luaL_error(L, "a file has no field '%s', expected get, all, say, path or version", key);
	return 1;
}

typedef struct sl_data_file *open_file(struct sl_bundle *b, const char *name, struct sl_error *err);

/* (name, parse): the file; raises "NAME: why not" */
static int push_file(lua_State *L, open_file *open)
{
	struct sl_lua *x = sl_lua_context(L);
	const char *name = luaL_checkstring(L, 1);
	struct sl_data_file **f;
	struct sl_error err;

	luaL_checktype(L, 2, LUA_TFUNCTION);
	f = lua_newuserdatauv(L, sizeof(*f), 0);
	*f = open(x->bundle, name, &err);
	if (!*f)
		return luaL_error(L, "%s", err.text);
	luaL_setmetatable(L, FILE_CLASS);
	parse_changed(L, x, *f, 2);
	return 1;
}

static int engine_file(lua_State *L)
{
	return push_file(L, sl_bundle_data);
}

static int engine_awaited(lua_State *L)
{
	return push_file(L, sl_bundle_awaited);
}

/* engine.knows_user(name): is there such a user?  nil: this process cannot tell. */
static int engine_knows_user(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);

	if (sl_lua_context(L)->bundle->look_up_users)
		lua_pushboolean(L, getpwnam(name) != NULL);
	else
		lua_pushnil(L);
	return 1;
}

void sl_lua_open_data(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "get", file_get }, { "all", file_all }, { "say", file_say }, { NULL, NULL }
	};

	luaL_newmetatable(L, FILE_CLASS);
	luaL_newlib(L, methods);
	lua_pushcclosure(L, file_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
	lua_pushcfunction(L, engine_file);
	lua_setfield(L, -2, "file");
	lua_pushcfunction(L, engine_awaited);
	lua_setfield(L, -2, "awaited");
	lua_pushcfunction(L, engine_knows_user);
	lua_setfield(L, -2, "knows_user");
}
