/* SPDX-License-Identifier: MIT */
/*
 * script/module.c - what the project's own modules see of the engine: the table "engine".
 */
#include "script/private.h"

#include <string.h>

#include "base/text.h"

/* find(name): the module's path; nil, why, and whether there is none at all */
static int engine_find(lua_State *L)
{
	struct sl_error err = { 0 };
	const struct sl_bundle_file *file;

	file = sl_bundle_module(sl_lua_context(L)->bundle, luaL_checkstring(L, 1), &err);
	if (file) {
		lua_pushstring(L, file->path);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, err.text);
	lua_pushboolean(L, err.code == SL_ENOENT || err.code == SL_EINVAL);
	return 3;
}

struct names {
	lua_State *L;
	lua_Integer n;
};

static void add_name(const char *name, void *arg)
{
	struct names *names = arg;

	lua_pushstring(names->L, name);
	lua_rawseti(names->L, -2, ++names->n);
}

/* policies(): names of those on the search path */
static int engine_policies(lua_State *L)
{
	struct names names = { L, 0 };

	lua_newtable(L);
	sl_bundle_policies(sl_lua_context(L)->bundle, add_name, &names);
	return 1;
}

/* source(path): the text of a file of the set */
static int engine_source(lua_State *L)
{
	const struct sl_bundle *b = sl_lua_context(L)->bundle;
	const char *path = luaL_checkstring(L, 1);

	for (unsigned i = 0; i < b->files; i++)
		if (!strcmp(b->file[i]->path, path)) {
			lua_pushlstring(L, b->file[i]->text, b->file[i]->length);
			return 1;
		}
	lua_pushnil(L);
	return 1;
}

/*
 * Calls its upvalue with path and line of its caller before the arguments.  In C,
 * because the caller's frame is still there then, also of `return sched.site {}`.
 */
static int call_with_caller(lua_State *L)
{
	lua_Debug ar = { .currentline = 0, .source = "?" };
	int args = lua_gettop(L);

	if (lua_getstack(L, 1, &ar))
		lua_getinfo(L, "Sl", &ar);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_pushstring(L, ar.source[0] == '@' ? ar.source + 1 : ar.source);
	lua_insert(L, 2);
	lua_pushinteger(L, ar.currentline > 0 ? ar.currentline : 1);
	lua_insert(L, 3);
	lua_call(L, args + 2, LUA_MULTRET);
	return lua_gettop(L);
}

static int engine_with_caller(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TFUNCTION);
	lua_settop(L, 1);
	lua_pushcclosure(L, call_with_caller, 1);
	return 1;
}

/* where(f): "PATH:LINE" at which a function begins */
static int engine_where(lua_State *L)
{
	lua_Debug ar;

	luaL_checktype(L, 1, LUA_TFUNCTION);
	lua_settop(L, 1);
	lua_getinfo(L, ">S", &ar);
	lua_pushfstring(L, "%s:%d", ar.source[0] == '@' ? ar.source + 1 : ar.short_src, ar.linedefined);
	return 1;
}

/* check_place(name, scored): what is wrong with the name of a place, or of one that is a score; nothing: nothing is */
static int engine_check_place(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	struct sl_error err;
	int method = sl_place_method(name, &err);

	if (method < 0)
		lua_pushstring(L, err.text);
	else if (lua_toboolean(L, 2) && !sl_place_has_bundled_score((enum sl_place_method) method))
		lua_pushfstring(L, "place \"%s\" has no score that could have a least", name);
	else
		return 0;
	return 1;
}

/* share_nodes(a, b): have two partitions, given by name, nodes in common? */
static int engine_share_nodes(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	uint32_t a, b;

	luaL_argcheck(L, x->running, 1, "only in a cycle");
	a = sl_lua_check_partition(L, x, 1, "share_nodes");
	b = sl_lua_check_partition(L, x, 2, "share_nodes");
	lua_pushboolean(L, a != SL_NONE && b != SL_NONE &&
			sl_nodeset_overlaps(sl_cluster_partition_nodes(x->cluster, a),
					    sl_cluster_partition_nodes(x->cluster, b)));
	return 1;
}

/* local_text(t): a time on the clock of whoever runs the program, as all else that schedlua explain prints: no policy's */
static int engine_local_text(lua_State *L)
{
	char text[SL_TEXT_SIZE];

	lua_pushstring(L, sl_text_time(text, luaL_checkinteger(L, 1)));
	return 1;
}

/* variant(): of the lists by time (sched.when) the one that is tried; 0: that which holds now */
static int engine_variant(lua_State *L)
{
	lua_pushinteger(L, sl_lua_context(L)->variant);
	return 1;
}

void sl_script_open_modules(lua_State *L)
{
	static const luaL_Reg engine[] = {
		{ "find", engine_find }, { "policies", engine_policies }, { "source", engine_source },
		{ "with_caller", engine_with_caller }, { "share_nodes", engine_share_nodes },
		{ "check_place", engine_check_place }, { "where", engine_where }, { "variant", engine_variant },
		{ "local_text", engine_local_text }, { NULL, NULL }
	};

	sl_lua_open_require(L);
	sl_lua_push_mip(L);	/* those that are made in C are there from the start */
	sl_lua_provide(L, "sched.mip");
	luaL_newlib(L, engine);
	sl_lua_open_data(L);
	sl_lua_open_time(L);
	sl_lua_open_held(L);
	lua_setfield(L, -2, "held");
	sl_sandbox_protect(L, "engine");
	sl_lua_provide_engine(L);
}
