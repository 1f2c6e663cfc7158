/* SPDX-License-Identifier: MIT */
/*
 * bind/window.c - cluster:window(jobs): a window of jobs against classes of nodes.
 */
#include "bind/bind.h"

#include "auction/window.h"

static int free_window(lua_State *L)
{
	sl_window_free(lua_touserdata(L, 1));
	return 0;
}

static struct sl_window *new_window(lua_State *L)
{
	struct sl_window *w = lua_newuserdatauv(L, sizeof(*w), 0);

	*w = (struct sl_window) { 0 };
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, free_window);
	lua_setfield(L, -2, "__gc");
	lua_setmetatable(L, -2);
	return w;
}

static void set_integer(lua_State *L, const char *key, int64_t v)
{
	lua_pushinteger(L, v);
	lua_setfield(L, -2, key);
}

static void set_flag(lua_State *L, const char *key, bool v)
{
	if (!v)
		return;
	lua_pushboolean(L, 1);
	lua_setfield(L, -2, key);
}

static void push_levels(lua_State *L, const struct sl_window_class *c, uint32_t levels, size_t field, const char *key)
{
	lua_createtable(L, (int) levels, 0);
	for (uint32_t l = 0; l < levels; l++) {
		lua_pushinteger(L, *(const int64_t *) ((const char *) &c->free[l] + field));
		lua_rawseti(L, -2, l + 1);
	}
	lua_setfield(L, -2, key);
}

static void push_class(lua_State *L, struct sl_lua *x, const struct sl_window *w, const struct sl_window_class *c)
{
	const struct sl_limit *limit = sl_limit_of(L);
	lua_Integer n = 0;

	lua_createtable(L, 0, 7);
	set_integer(L, "count", c->nodes.count);
	set_integer(L, "capacity", c->capacity);
	set_integer(L, "weight", c->weight);
	push_levels(L, c, w->levels, offsetof(struct sl_window_free, cores), "cores");
	push_levels(L, c, w->levels, offsetof(struct sl_window_free, gpus), "gpus");
	push_levels(L, c, w->levels, offsetof(struct sl_window_free, memory), "memory");
	lua_createtable(L, (int) c->nodes.count, 0);
	for (uint32_t i = 0; i < c->nodes.runs; i++)
		for (uint32_t node = c->nodes.run[i].first; node <= c->nodes.run[i].last; node++) {
			sl_limit_tick(L, limit);
			sl_lua_push(L, x, SL_CLASS_NODE, node);
			lua_rawseti(L, -2, ++n);
		}
	lua_setfield(L, -2, "nodes");
}

static void push_job(lua_State *L, const struct sl_window_job *j)
{
	lua_createtable(L, 0, 16);
	set_integer(L, "level", j->level + 1);
	set_integer(L, "set", j->set + 1);
	set_integer(L, "cores", j->cores);
	set_integer(L, "unit", j->unit);
	set_integer(L, "least", j->least);
	if (j->most)
		set_integer(L, "most", j->most);
	set_integer(L, "min_nodes", j->min_nodes);
	if (j->max_nodes)
		set_integer(L, "max_nodes", j->max_nodes);
	set_integer(L, "gpus", j->gpus);
	set_integer(L, "memory", j->memory);
	set_integer(L, "core_memory", j->core_memory);
	set_flag(L, "never", j->never);
	set_flag(L, "native", j->native);
	set_flag(L, "divisible", j->divisible);
	set_flag(L, "whole", j->whole);
	set_flag(L, "contiguous", j->contiguous);
}

/* The nodes of each class that each set has. */
static void push_sets(lua_State *L, const struct sl_window *w)
{
	const struct sl_limit *limit = sl_limit_of(L);

	lua_createtable(L, (int) w->sets, 0);
	for (uint32_t s = 0; s < w->sets; s++) {
		lua_createtable(L, (int) w->classes, 0);
		for (uint32_t c = 0; c < w->classes; c++) {
			sl_limit_tick(L, limit);
			lua_pushinteger(L, w->usable[(size_t) c * w->sets + s]);
			lua_rawseti(L, -2, c + 1);
		}
		lua_rawseti(L, -2, s + 1);
	}
}

/* cluster:window(jobs): { levels =, classes =, jobs =, usable = } (lib/sched/window.lua) */
int sl_lua_cluster_window(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_allowance allowance;
	struct sl_window *w;
	struct sl_error err;
	struct sl_entry *e;
	uint32_t count;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	lua_settop(L, 2);
	luaL_checktype(L, 2, LUA_TTABLE);
	e = sl_lua_check_entries(L, x, 2, &count);
	w = new_window(L);
	allowance = sl_lua_allowance(x);
	if (sl_window_make(w, x->cluster, e, count, &allowance, &err))
		return luaL_error(L, "%s", err.text);
	lua_createtable(L, 0, 4);
	set_integer(L, "levels", w->levels);
	lua_createtable(L, (int) w->classes, 0);
	for (uint32_t i = 0; i < w->classes; i++) {
		push_class(L, x, w, &w->cls[i]);
		lua_rawseti(L, -2, (lua_Integer) i + 1);
	}
	lua_setfield(L, -2, "classes");
	lua_createtable(L, (int) w->jobs, 0);
	for (uint32_t i = 0; i < w->jobs; i++) {
		sl_limit_tick(L, &x->limit);
		push_job(L, &w->job[i]);
		lua_rawseti(L, -2, (lua_Integer) i + 1);
	}
	lua_setfield(L, -2, "jobs");
	push_sets(L, w);
	lua_setfield(L, -2, "usable");
	sl_window_free(w);
	return 1;
}
