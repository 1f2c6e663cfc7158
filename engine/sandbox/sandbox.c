/* SPDX-License-Identifier: MIT */
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "sandbox/limit.h"

/* Registry: the shared globals, what chunks' environments have in common, a weak set of
 * the metatables that scripts gave to tables. */
static const char globals_key, chunk_meta_key, metatables_key;

/* In the metatable of a read-only view: the table behind it.  Scripts have no such key, and no such metatable. */
static const char behind_key;

/* Functions of Lua that are not here, and what a policy can use instead. */
static const struct hint {
	const char *name, *instead;
} hint[] = {
	{ "os", "time and randomness come through cluster.now and cluster:random()" },
	{ "io", "a policy reads no files" },
	{ "debug", "a policy cannot look into other code" },
	{ "coroutine", "a policy runs in one piece" },
	{ "package", "require() finds modules on the policy path" },
	{ "collectgarbage", "a state lives for one cycle" },
	{ "load", "code comes from files on the policy path: require()" },
	{ "loadstring", "code comes from files on the policy path: require()" },
	{ "loadfile", "code comes from files on the policy path: require()" },
	{ "dofile", "code comes from files on the policy path: require()" },
	{ "unpack", "in Lua 5.4 it is table.unpack" },
	{ "setfenv", "a chunk's environment is its own" },
	{ "getfenv", "a chunk's environment is its own" },
	{ "sched", "local sched = require \"sched\" comes first" },
};

static const char *find_hint(const char *name)
{
	for (size_t i = 0; i < sizeof(hint) / sizeof(hint[0]); i++)
		if (!strcmp(hint[i].name, name))
			return hint[i].instead;
	return NULL;
}

static int undefined(lua_State *L)
{
	const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
	const char *instead = find_hint(name);

	/* Level 1 is the chunk itself: the metamethod is called by it. */
	if (instead)
		return luaL_error(L, "there is no '%s' here: %s", name, instead);
	return luaL_error(L, "undefined variable '%s'", name);
}

/* -- values as text ---------------------------------------------------- */

const char *sl_sandbox_tostring(lua_State *L, int index, size_t *length)
{
	int type = lua_type(L, index);

	index = lua_absindex(L, index);
	if (luaL_callmeta(L, index, "__tostring")) {
		if (!lua_isstring(L, -1))
			luaL_error(L, "'__tostring' must return a string");
	} else if (type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA ||
		   type == LUA_TLIGHTUSERDATA || type == LUA_TTHREAD) {
		/* no address: it would differ from run to run */
		int field = luaL_getmetafield(L, index, "__name");

		if (field != LUA_TSTRING) {
			lua_pop(L, field != LUA_TNIL);
			lua_pushstring(L, lua_typename(L, type));
		}
	} else {
		luaL_tolstring(L, index, NULL);
	}
	return lua_tolstring(L, -1, length);
}

static int base_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	sl_sandbox_tostring(L, 1, NULL);
	return 1;
}

/* -- metatables -------------------------------------------------------- */

static bool has_raw(lua_State *L, int index, const char *field)
{
	bool there;

	lua_pushstring(L, field);
	lua_rawget(L, index);
	there = !lua_isnil(L, -1);
	lua_pop(L, 1);
	return there;
}

static int refuse_mode(lua_State *L)
{
	return luaL_error(L, "'__mode' is refused: what a weak table holds depends on the collector");
}

/* Note that the table at *index* is a metatable: a script can still change it. */
static void note_metatable(lua_State *L, int index)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables_key);
	lua_pushvalue(L, index);
	lua_pushboolean(L, true);
	lua_rawset(L, -3);
	lua_pop(L, 1);
}

static void open_metatables(lua_State *L)
{
	lua_newtable(L);
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "k");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &metatables_key);
}

void sl_sandbox_settle(lua_State *L)
{
	luaL_checkstack(L, 8, NULL);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &metatables_key);
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
		if (has_raw(L, lua_absindex(L, -2), "__mode"))
			refuse_mode(L);
	lua_pop(L, 1);
}

static int base_setmetatable(lua_State *L)
{
	int type = lua_type(L, 2);

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "cannot change a protected metatable");
	if (type == LUA_TTABLE) {
		if (has_raw(L, 2, "__gc"))
			return luaL_error(L, "'__gc' is refused: a policy has no finalizers");
		if (has_raw(L, 2, "__mode"))
			return refuse_mode(L);
		note_metatable(L, 2);
	}
	lua_settop(L, 2);
	lua_setmetatable(L, 1);
	return 1;
}

/* rawset() writes past a metatable, but not past the one that makes a shared table
 * read-only. */
static int base_rawset(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checkany(L, 2);
	luaL_checkany(L, 3);
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "rawset: this table is read-only");
	lua_settop(L, 3);
	lua_rawset(L, 1);
	return 1;
}

/* Read past a metatable, but not past a view, which itself is empty. */
static int base_rawget(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checkany(L, 2);
	lua_settop(L, 2);
	sl_sandbox_unveil(L, 1);
	lua_rawget(L, 1);
	return 1;
}

static int base_rawlen(lua_State *L)
{
	int type = lua_type(L, 1);

	luaL_argexpected(L, type == LUA_TTABLE || type == LUA_TSTRING, 1, "table or string");
	sl_sandbox_unveil(L, 1);
	lua_pushinteger(L, (lua_Integer) lua_rawlen(L, 1));
	return 1;
}

static int readonly_len(lua_State *L)
{
	lua_len(L, lua_upvalueindex(1));
	return 1;
}

static int readonly_newindex(lua_State *L)
{
	const char *name = lua_tostring(L, lua_upvalueindex(1));

	return luaL_error(L, "'%s' is read-only", name);
}

/* The iterator goes through the table behind the view; the state that is handed out with
 * it is the view. */
static int readonly_pairs(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_settop(L, 1);
	lua_pushcfunction(L, sl_sandbox_pairs);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_call(L, 1, 1);
	lua_insert(L, 1);
	lua_pushnil(L);
	return 3;
}

void sl_sandbox_protect(lua_State *L, const char *name)
{
	int real = lua_gettop(L);

	lua_newtable(L);
	lua_createtable(L, 0, 7);
	lua_pushvalue(L, real);
	lua_rawsetp(L, -2, &behind_key);
	lua_pushvalue(L, real);
	lua_setfield(L, -2, "__index");
	lua_pushstring(L, name);
	lua_pushcclosure(L, readonly_newindex, 1);
	lua_setfield(L, -2, "__newindex");
	lua_pushvalue(L, real);
	lua_pushcclosure(L, readonly_pairs, 1);
	lua_setfield(L, -2, "__pairs");
	lua_pushvalue(L, real);
	lua_pushcclosure(L, readonly_len, 1);
	lua_setfield(L, -2, "__len");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
	lua_replace(L, real);
}

void sl_sandbox_unveil(lua_State *L, int index)
{
	index = lua_absindex(L, index);
	if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index))
		return;
	if (lua_rawgetp(L, -1, &behind_key) == LUA_TTABLE)
		lua_replace(L, index);
	else
		lua_pop(L, 1);
	lua_pop(L, 1);
}

/* -- libraries --------------------------------------------------------- */

/* Push a table with the named functions of the library that *open* makes. */
static void push_library(lua_State *L, lua_CFunction open, const char *const *name)
{
	lua_pushcfunction(L, open);
	lua_call(L, 0, 1);
	lua_newtable(L);
	for (; *name; name++) {
		lua_getfield(L, -2, *name);
		lua_setfield(L, -2, *name);
	}
	lua_remove(L, -2);
}

static int no_random(lua_State *L)
{
	return luaL_error(L, "there is no 'math.random' here: use cluster:random(), which replays");
}

static void open_math(lua_State *L)
{
	static const char *const name[] = {
		"abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor", "fmod", "huge", "log", "max",
		"maxinteger", "min", "mininteger", "modf", "pi", "rad", "sin", "sqrt", "tan", "tointeger", "type",
		"ult", NULL
	};

	push_library(L, luaopen_math, name);
	lua_pushcfunction(L, no_random);
	lua_setfield(L, -2, "random");
	lua_pushcfunction(L, no_random);
	lua_setfield(L, -2, "randomseed");
}

static void open_utf8(lua_State *L)
{
	static const char *const name[] = { "char", "charpattern", "codepoint", "codes", "len", "offset", NULL };

	push_library(L, luaopen_utf8, name);
}

/* luaopen_base() fills the globals table: it gets an empty one of its own. */
static int open_base(lua_State *L)
{
	lua_pushcfunction(L, luaopen_base);
	lua_call(L, 0, 1);
	lua_newtable(L);
	lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	return 1;
}

static void set_library(lua_State *L, int globals, const char *name)
{
	sl_sandbox_protect(L, name);
	lua_setfield(L, globals, name);
}

void sl_sandbox_open(lua_State *L)
{
	static const char *const name[] = {
		"_VERSION", "assert", "error", "getmetatable", "ipairs", "rawequal",
		"select", "tonumber", "type", NULL
	};
	static const luaL_Reg own[] = {
		{ "next", sl_sandbox_next }, { "pairs", sl_sandbox_pairs },
		{ "pcall", sl_limit_pcall }, { "xpcall", sl_limit_xpcall },
		{ "rawget", base_rawget }, { "rawlen", base_rawlen }, { "rawset", base_rawset }, 
		{ "setmetatable", base_setmetatable }, { "tostring", base_tostring }, { NULL, NULL }
	};
	int globals;

	open_metatables(L);
	push_library(L, open_base, name);
	globals = lua_gettop(L);
	luaL_setfuncs(L, own, 0);
	sl_sandbox_string(L);
	set_library(L, globals, "string");
	sl_sandbox_table(L);
	set_library(L, globals, "table");
	open_math(L);
	set_library(L, globals, "math");
	open_utf8(L);
	set_library(L, globals, "utf8");

	lua_newtable(L);
	lua_pushcfunction(L, undefined);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, globals);
	lua_createtable(L, 0, 2);
	lua_pushvalue(L, globals);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &chunk_meta_key);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &globals_key);
}

void sl_sandbox_globals(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_key);
}

/* The format of what is no text, by its first bytes; NULL: it may be Lua.  Lua's own message would
 * only name an unexpected character. */
static const char *find_format(const char *text, size_t length)
{
	if (length && *text == LUA_SIGNATURE[0])
		return "precompiled Lua, expected source text";
	if (length > 1 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
		return "text in UTF-16, expected UTF-8";
	return NULL;
}

/* What people forget in tables, or bring from other languages, after the parser's message on the top, which says where it noticed. */
static void add_guess(lua_State *L)
{
	const char *message = lua_tostring(L, -1), *near = message ? strstr(message, "'}' expected") : NULL;

	if (message && (strstr(message, "near '!'") || strstr(message, "near '!='"))) {
		lua_pushstring(L, "; Lua writes ~= for not equal, and not for !");
		lua_concat(L, 2);
		return;
	}
	if (!near || strstr(near, "near <eof>"))
		return;
	lua_pushstring(L, strstr(near, "near '='") ? "; a name with other signs is written [\"a-b\"] = ..." :
		       "; is a comma missing before it?");
	lua_concat(L, 2);
}

struct sl_code {
	size_t length;
	char bytes[];
};

/* Lua writes a few bytes at a time. */
static size_t room_for(size_t length)
{
	size_t room = 1024;

	while (room < length)
		room *= 2;
	return room;
}

static int add_code(lua_State *L, const void *bytes, size_t length, void *arg)
{
	struct sl_code **code = arg, *longer;
	size_t was = *code ? (*code)->length : 0;

	(void) L;
	if (!*code || room_for(was + length) > room_for(was)) {
		longer = realloc(*code, sizeof(*longer) + room_for(was + length));
		if (!longer)
			return 1;
		*code = longer;
	}
	memcpy((*code)->bytes + was, bytes, length);
	(*code)->length = was + length;
	return 0;
}

/* What the function on the top was compiled to, lines and names of variables with it. */
static struct sl_code *keep_code(lua_State *L)
{
	struct sl_code *code = NULL;

	if (!lua_dump(L, add_code, &code, false))
		return code;
	free(code);
	return NULL;
}

/* Push the chunk of a text, or why it is none. */
static int compile(lua_State *L, const char *name, const char *text, size_t length)
{
	const char *format;
	int status;

	/* Some editors begin a file with a byte order mark; the interpreter skips it too. */
	if (length > 2 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		length -= 3;
	}
	format = find_format(text, length);
	if (format) {
		lua_pushfstring(L, "%s:1: %s", name, format);
		return LUA_ERRSYNTAX;
	}
	lua_pushfstring(L, "@%s", name);
	status = luaL_loadbufferx(L, text, length, lua_tostring(L, -1), "t");
	lua_remove(L, -2);
	if (status != LUA_OK && lua_type(L, -1) == LUA_TSTRING && strstr(lua_tostring(L, -1), "C stack overflow")) {
		lua_pop(L, 1);	/* the parser's own message does not say where */
		lua_pushfstring(L, "%s:1: nested too deeply", name);
	}
	if (status == LUA_ERRSYNTAX)
		add_guess(L);
	return status;
}

int sl_sandbox_load(lua_State *L, const char *name, const char *text, size_t length, struct sl_code **code)
{
	int status;

	if (code && *code) {
		status = luaL_loadbufferx(L, (*code)->bytes, (*code)->length, name, "b");
	} else {
		status = compile(L, name, text, length);
		if (status == LUA_OK && code)
			*code = keep_code(L);
	}
	if (status != LUA_OK)
		return status;
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "_G");
	lua_rawgetp(L, LUA_REGISTRYINDEX, &chunk_meta_key);
	lua_setmetatable(L, -2);
	/* A main chunk has _ENV as its only upvalue. */
	lua_setupvalue(L, -2, 1);
	return LUA_OK;
}
