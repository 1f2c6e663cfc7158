/* SPDX-License-Identifier: MIT */
/* bind/score.c - see bind/score.h */
#include "bind/score.h"

#include <math.h>
#include <string.h>

/* Keys of the registry: functions by number, and numbers by function; the table "class", of which there is one. */
static const char scores_key, class_key;

static int class_score(lua_State *L);
static int class_index(lua_State *L);

/* -- which function ------------------------------------------------------ */

/* Push the table of functions; the first time in a turn both tables are made. */
static void push_scores(lua_State *L)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &scores_key) != LUA_TNIL)
		return;
	lua_pop(L, 1);
	lua_createtable(L, 1, 13);
	lua_pushcfunction(L, class_score);
	lua_setfield(L, -2, "score");
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, class_index);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &class_key);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &scores_key);
}

uint32_t sl_lua_number_score(lua_State *L, int index)
{
	lua_Integer number;

	index = lua_absindex(L, index);
	luaL_checkstack(L, 6, NULL);
	push_scores(L);
	lua_pushvalue(L, index);
	if (lua_rawget(L, -2) == LUA_TNIL) {
		number = (lua_Integer) lua_rawlen(L, -2) + 1;
		lua_pushvalue(L, index);
		lua_rawseti(L, -3, number);
		lua_pushvalue(L, index);
		lua_pushinteger(L, number);
		lua_rawset(L, -4);
	} else {
		number = lua_tointeger(L, -1);
	}
	lua_pop(L, 2);
	return (uint32_t) number;
}

/* -- what it is asked about ---------------------------------------------- */

static const struct sl_scored *scored_now(lua_State *L)
{
	const struct sl_scored *what;

	lua_rawgetp(L, LUA_REGISTRYINDEX, &class_key);
	lua_rawgetp(L, -1, &class_key);
	what = lua_touserdata(L, -1);
	lua_pop(L, 2);
	if (!what)
		luaL_error(L, "a class of nodes is good only while the score is asked");
	return what;
}

static void push_gres(lua_State *L, const struct sl_resources *r)
{
	uint64_t gres[SL_MAX_GRES];

	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		gres[k] = r->gres[k];
	sl_lua_push_gres(L, sl_lua_context(L), gres);
}

/* class.score(name): what a bundled score says */
static int class_score(lua_State *L)
{
	const struct sl_scored *what = scored_now(L);
	const char *name = luaL_checkstring(L, 1);
	struct sl_error err;
	int method = sl_place_method(name, &err), score;

	if (method < 0)
		return luaL_error(L, "%s", err.text);
	if (!sl_place_has_bundled_score((enum sl_place_method) method))
		return luaL_error(L, "score \"%s\": expected least_left, worst_fit, dot_product, gpu_packing, gpu_clustering or fgd",
				  name);
	score = sl_scored_bundled(what, (enum sl_place_method) method, &err);
	if (score < 0)
		return luaL_error(L, "%s", err.text);
	lua_pushinteger(L, score);
	return 1;
}

/* Fields that cost more than a number: made when they are asked for. */
static int class_index(lua_State *L)
{
	const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
	const struct sl_scored *what = scored_now(L);

	if (!strcmp(key, "node"))
		sl_lua_push(L, sl_lua_context(L), SL_CLASS_NODE, what->node);
	else if (!strcmp(key, "free_gres"))
		push_gres(L, &what->free);
	else if (!strcmp(key, "takes_gres"))
		push_gres(L, &what->takes);
	else if (!strcmp(key, "gres"))
		push_gres(L, &what->kind->capacity);
	else
		return luaL_error(L, "a class of nodes has no field '%s'; expected node, nodes, cores, free_cores, takes_cores, "
				  "memory, free_memory, takes_memory, gpus, free_gpus, left_gpus, gres, free_gres, takes_gres, start, "
				  "late or score", key);
	return 1;
}

static void set_number(lua_State *L, const char *name, int64_t value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, name);
}

/* Push the class that is asked about. */
static void push_class(lua_State *L, const struct sl_scored *what)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &class_key);
	lua_pushlightuserdata(L, (void *) (uintptr_t) what);
	lua_rawsetp(L, -2, &class_key);
	set_number(L, "nodes", what->nodes);
	set_number(L, "cores", what->kind->capacity.cores);
	set_number(L, "free_cores", what->free.cores);
	set_number(L, "takes_cores", what->takes.cores);
	set_number(L, "memory", what->kind->capacity.memory);
	set_number(L, "free_memory", what->free.memory);
	set_number(L, "takes_memory", what->takes.memory);
	set_number(L, "gpus", what->gpus);
	set_number(L, "free_gpus", what->free_gpus);
	set_number(L, "left_gpus", what->left_gpus);
	set_number(L, "start", what->start);
	lua_pushboolean(L, what->late);
	lua_setfield(L, -2, "late");
}

/* -- asking -------------------------------------------------------------- */

struct question {
	const struct sl_scored *what;
	struct sl_entry entry;
	uint32_t number;
	double score;
	int answer;
};

static int ask(lua_State *L)
{
	struct question *q = lua_touserdata(L, 1);
	struct sl_lua *x = sl_lua_context(L);

	lua_rawgetp(L, LUA_REGISTRYINDEX, &scores_key);
	lua_rawgeti(L, -1, q->number);
	lua_pushvalue(L, -1);
	sl_lua_push_job(L, x, q->entry.job, q->entry.partition);
	push_class(L, q->what);
	sl_lua_push_cluster(L, x);
	lua_call(L, 3, 1);
	if (lua_type(L, -1) == LUA_TBOOLEAN && !lua_toboolean(L, -1)) {
		q->answer = 0;
		return 0;
	}
	q->score = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
	if (isnan(q->score)) {
		lua_Debug ar;

		lua_pushvalue(L, -2);
		lua_getinfo(L, ">S", &ar);
		luaL_error(L, "%s:%d: the score returned %s for job %d on node %s, expected a number, or false", ar.short_src,
			   ar.linedefined, lua_type(L, -1) == LUA_TNUMBER ? "not-a-number (0/0)" : luaL_typename(L, -1),
			   (int) x->snap->job.id[q->entry.job], sl_snapshot_str(x->snap, x->snap->node.name[q->what->node]));
	}
	q->answer = 1;
	return 0;
}

static void forget_class(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &class_key);
	lua_pushnil(L);
	lua_rawsetp(L, -2, &class_key);
	lua_pop(L, 1);
}

int sl_lua_ask_score(struct sl_lua *x, uint32_t number, struct sl_entry e, const struct sl_scored *what, double *score,
		     struct sl_error *err)
{
	struct question q = { .what = what, .entry = e, .number = number };
	bool raised;

	if (!lua_checkstack(x->L, 8))
		return sl_fail(err, SL_ENOMEM, "placement: out of memory");
	lua_pushcfunction(x->L, ask);
	lua_pushlightuserdata(x->L, &q);
	raised = lua_pcall(x->L, 1, 0, 0) != LUA_OK;
	forget_class(x->L);
	if (raised)
		return sl_fail(err, SL_ESCRIPT, "the score failed");
	*score = q.score;
	return q.answer;
}

/* -- turns --------------------------------------------------------------- */

void sl_lua_begin_scores(lua_State *L)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &scores_key) != LUA_TNIL) {
		lua_pushnil(L);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &scores_key);
	}
	lua_pop(L, 1);
}
