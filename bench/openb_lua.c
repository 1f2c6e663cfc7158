/* SPDX-License-Identifier: MIT */
#include "bench/openb_lua.h"

#include <math.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lualib.h>

#include "bench/openb_engine.h"

struct openb_lua {
	lua_State *L;
	const struct sl_scored *what;	/* that is asked about */
};

/* The stack of the state: the function score, the job, the class. */
enum { SCORE = 1, JOB, CLASS };

/* class.score(name) */
static int bundled(lua_State *L)
{
	struct openb_lua *l = lua_touserdata(L, lua_upvalueindex(1));
	struct sl_error err = { 0 };
	int method = sl_place_method(luaL_checkstring(L, 1), &err), score = -1;

	if (method >= 0)
		score = sl_scored_bundled(l->what, (enum sl_place_method) method, &err);
	if (score < 0)
		return luaL_error(L, "%s", err.text);
	lua_pushinteger(L, score);
	return 1;
}

static void set(lua_State *L, int table, const char *name, double value)
{
	lua_pushnumber(L, value);
	lua_setfield(L, table, name);
}

struct openb_lua *openb_lua_open(const char *path, struct sl_error *err)
{
	struct openb_lua *l = calloc(1, sizeof(*l));
	lua_State *L = l ? luaL_newstate() : NULL;

	if (!L) {
		free(l);
		sl_fail(err, SL_ENOMEM, "out of memory");
		return NULL;
	}
	l->L = L;
	luaL_openlibs(L);
	if (luaL_dofile(L, path) != LUA_OK)
		sl_fail(err, SL_ESCRIPT, "%s", lua_tostring(L, -1));
	else if (!lua_istable(L, -1) || lua_getfield(L, -1, "score") != LUA_TFUNCTION)
		sl_fail(err, SL_ESCRIPT, "%s: expected a policy that defines score(job, class)", path);
	else {
		lua_replace(L, SCORE);
		lua_settop(L, SCORE);
		lua_newtable(L);
		lua_newtable(L);
		lua_pushlightuserdata(L, l);
		lua_pushcclosure(L, bundled, 1);
		lua_setfield(L, CLASS, "score");
		return l;
	}
	openb_lua_close(l);
	return NULL;
}

void openb_lua_close(struct openb_lua *l)
{
	if (l)
		lua_close(l->L);
	free(l);
}

int openb_lua_score(void *arg, const struct sl_scored *what, double *score, struct sl_error *err)
{
	struct openb_lua *l = arg;
	lua_State *L = l->L;
	bool is_number;

	l->what = what;
	set(L, JOB, "cpus", OPENB_CORES(what->takes.cores));
	set(L, JOB, "gpus", what->free_gpus - what->left_gpus);
	set(L, CLASS, "gpus", what->gpus);
	set(L, CLASS, "free_gpus", what->free_gpus);
	set(L, CLASS, "left_gpus", what->left_gpus);
	set(L, CLASS, "cores", OPENB_CORES(what->kind->capacity.cores));
	set(L, CLASS, "free_cores", OPENB_CORES(what->free.cores));
	set(L, CLASS, "takes_cores", OPENB_CORES(what->takes.cores));
	set(L, CLASS, "memory", (double) what->kind->capacity.memory);
	set(L, CLASS, "free_memory", (double) what->free.memory);
	set(L, CLASS, "takes_memory", (double) what->takes.memory);
	set(L, CLASS, "nodes", what->nodes);
	lua_pushvalue(L, SCORE);
	lua_pushvalue(L, JOB);
	lua_pushvalue(L, CLASS);
	if (lua_pcall(L, 2, 1, 0) != LUA_OK) {
		sl_fail(err, SL_ESCRIPT, "%s", lua_tostring(L, -1));
		lua_settop(L, CLASS);
		return -1;
	}
	is_number = lua_isnumber(L, -1);
	*score = lua_tonumber(L, -1);
	lua_settop(L, CLASS);
	if (!is_number || isnan(*score))
		return sl_fail(err, SL_ESCRIPT, "score: expected a number");
	return 1;
}
