/* SPDX-License-Identifier: MIT */
/*
 * bind/mip.c - the module sched.mip: integer programs for policies.
 *
 *	local m = mip.model { sense = "max" }
 *	local x = m:var { ub = 1, integer = true, obj = 3.5 }
 *	m:add { terms = { x, 2.0 }, hi = 10 }
 *	local r = m:solve { time_limit = 1 }
 *
 * A model's memory comes from the state's allocator, so that it counts in the state's
 * limit.  A solve is over before the policy's time is (mip/mip.h).
 */
#include "bind/bind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mip/mip.h"

#define MODEL_CLASS "model"

struct model {
	struct sl_mip *m;
};

/* -- arguments --------------------------------------------------------- */

static struct sl_mip *check_model(lua_State *L)
{
	struct model *model = luaL_checkudata(L, 1, MODEL_CLASS);

	if (!model->m)
		luaL_typeerror(L, 1, MODEL_CLASS);
	return model->m;
}

/* -- building ---------------------------------------------------------- */

/*
 * The collector knows nothing of the arrays of models that are garbage.  Returns
 * true when it is worth another try.
 */
static bool made_room(lua_State *L, const struct sl_error *err)
{
	if (err->code != SL_ENOMEM)
		return false;
	lua_gc(L, LUA_GCCOLLECT);
	return true;
}

/* m:var { lb =, ub =, integer =, obj =, name = }: the column's number */
static int model_var(lua_State *L)
{
	struct sl_mip *m = check_model(L);
	struct sl_mip_column c = { .ub = INFINITY };
	struct sl_error err;
	int64_t at;

	lua_settop(L, 2);
	if (!lua_isnil(L, 2)) {
		sl_lua_check_names(L, 2, "", "lb, ub, integer, obj or name");
		c.lb = sl_lua_named_number(L, 2, "lb", 0, -INFINITY, INFINITY);
		c.ub = sl_lua_named_number(L, 2, "ub", INFINITY, -INFINITY, INFINITY);
		c.obj = sl_lua_named_number(L, 2, "obj", 0, -INFINITY, INFINITY);
		c.integer = sl_lua_named_flag(L, 2, "integer");
		c.name = sl_lua_named_text(L, 2, "name");
	}
	at = sl_mip_var(m, &c, &err);
	if (at < 0 && made_room(L, &err))
		at = sl_mip_var(m, &c, &err);
	if (at < 0)
		return luaL_error(L, "%s", err.text);
	lua_pushinteger(L, at + 1);
	return 1;
}

/* The list { column, coefficient, ... } on the top; its arrays stay on the stack. */
static void read_terms(lua_State *L, struct sl_mip_row *row)
{
	const struct sl_limit *limit = sl_limit_of(L);
	int table = lua_gettop(L);
	lua_Integer n = (lua_Integer) lua_rawlen(L, table);
	double *coefficient;
	uint32_t *column;

	if (!lua_istable(L, table))
		luaL_error(L, "terms: expected a list column, coefficient, ..., got %s", luaL_typename(L, table));
	if (n % 2)
		luaL_error(L, "terms: expected column, coefficient, ...; there is an odd number of them");
	if (n / 2 > SL_MIP_MAX_TERMS)
		luaL_error(L, "terms: a model has at most %d", (int) SL_MIP_MAX_TERMS);
	row->terms = (uint32_t) (n / 2);
	coefficient = lua_newuserdatauv(L, row->terms * (sizeof(*coefficient) + sizeof(*column)), 0);
	column = (uint32_t *) (coefficient + row->terms);
	for (uint32_t i = 0; i < row->terms; i++) {
		lua_Integer c;

		sl_limit_tick(L, limit);
		lua_rawgeti(L, table, 2 * (lua_Integer) i + 1);
		c = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
		if (c < 1 || c > UINT32_MAX)
			luaL_error(L, "terms: expected a column's number, got %s", sl_sandbox_tostring(L, -1, NULL));
		lua_rawgeti(L, table, 2 * (lua_Integer) i + 2);
		if (lua_type(L, -1) != LUA_TNUMBER)
			luaL_error(L, "terms: expected a coefficient, got %s", luaL_typename(L, -1));
		column[i] = (uint32_t) (c - 1);
		coefficient[i] = lua_tonumber(L, -1);
		lua_pop(L, 2);
	}
	row->column = column;
	row->coefficient = coefficient;
}

/* m:add { terms = { column, coefficient, ... }, lo =, hi =, name = }: the row's number */
static int model_add(lua_State *L)
{
	struct sl_mip *m = check_model(L);
	struct sl_mip_row row;
	struct sl_error err;
	int64_t at;

	lua_settop(L, 2);
	sl_lua_check_names(L, 2, "", "terms, lo, hi or name");
	row.lo = sl_lua_named_number(L, 2, "lo", -INFINITY, -INFINITY, INFINITY);
	row.hi = sl_lua_named_number(L, 2, "hi", INFINITY, -INFINITY, INFINITY);
	row.name = sl_lua_named_text(L, 2, "name");
	lua_getfield(L, 2, "terms");
	read_terms(L, &row);
	/* hi = nil is a misspelt name more often than it is meant */
	if (isinf(row.lo) && isinf(row.hi) && lua_getfield(L, 2, "lo") == LUA_TNIL &&
	    lua_getfield(L, 2, "hi") == LUA_TNIL)
		return luaL_error(L, "%s: neither lo nor hi is given: such a row limits nothing",
				  row.name ? row.name : "row");
	at = sl_mip_add(m, &row, &err);
	if (at < 0 && made_room(L, &err))
		at = sl_mip_add(m, &row, &err);
	if (at < 0)
		return luaL_error(L, "%s", err.text);
	lua_pushinteger(L, at + 1);
	return 1;
}

/* m:start(values) */
static int model_start(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	struct sl_mip *m = check_model(L);
	uint32_t n = sl_mip_columns(m);
	struct sl_error err;
	double *values;

	luaL_checktype(L, 2, LUA_TTABLE);
	values = lua_newuserdatauv(L, (n + 1) * sizeof(*values), 0);
	for (uint32_t i = 0; i < n; i++) {
		sl_limit_tick(L, limit);
		if (lua_rawgeti(L, 2, (lua_Integer) i + 1) != LUA_TNUMBER)
			return luaL_error(L, "start: the value of column %d: expected a number, got %s", (int) i + 1,
					  luaL_typename(L, -1));
		values[i] = lua_tonumber(L, -1);
		lua_pop(L, 1);
	}
	if (sl_mip_start(m, values, n, &err))
		return luaL_error(L, "%s", err.text);
	return 0;
}

/* m:size(): columns, rows, terms */
static int model_size(lua_State *L)
{
	const struct sl_mip *m = check_model(L);

	lua_pushinteger(L, sl_mip_columns(m));
	lua_pushinteger(L, sl_mip_rows(m));
	lua_pushinteger(L, sl_mip_terms(m));
	return 3;
}

/* -- solving ----------------------------------------------------------- */

static void check_options(lua_State *L, int index, struct sl_mip_options *o)
{
	double v;

	if (lua_isnoneornil(L, index))
		return;
	sl_lua_check_names(L, index, "", "time_limit, gap, max_nodes, memory_mb, backend or relax");
	o->time_limit = sl_lua_named_number(L, index, "time_limit", o->time_limit, -INFINITY, INFINITY);
	o->gap = sl_lua_named_number(L, index, "gap", o->gap, -INFINITY, INFINITY);
	o->relax = sl_lua_named_flag(L, index, "relax");
	v = sl_lua_named_number(L, index, "max_nodes", -1, -INFINITY, INFINITY);
	if (v != -1 && !(v >= 0 && v <= 1e15))
		luaL_error(L, "max_nodes: expected 0 or more, got %f", v);
	o->max_nodes = (int64_t) v;
	o->memory_mb = (uint32_t) sl_lua_named_number(L, index, "memory_mb", o->memory_mb, 1, 1048576);
	o->backend = sl_lua_named_text(L, index, "backend");
}

static void set_number(lua_State *L, const char *key, double v)
{
	if (isnan(v))
		return;
	lua_pushnumber(L, v);
	lua_setfield(L, -2, key);
}

static void push_values(lua_State *L, const struct sl_mip *m, const struct sl_mip_result *r, bool relax)
{
	lua_createtable(L, (int) r->columns, 0);
	for (uint32_t i = 0; i < r->columns; i++) {
		double v = r->values[i];

		if (!relax && sl_mip_is_integer(m, i) && fabs(v) < 0x1p53)
			lua_pushinteger(L, (lua_Integer) v);
		else
			lua_pushnumber(L, v);
		lua_rawseti(L, -2, (lua_Integer) i + 1);
	}
}

static void push_result(lua_State *L, const struct sl_mip *m, const struct sl_mip_result *r, bool relax)
{
	lua_createtable(L, 0, 10);
	lua_pushstring(L, sl_mip_status_word(r->status));
	lua_setfield(L, -2, "status");
	set_number(L, "objective", r->objective);
	set_number(L, "bound", r->bound);
	set_number(L, "gap", r->gap);
	set_number(L, "work", r->work);
	set_number(L, "seconds", r->seconds);
	lua_pushinteger(L, r->nodes);
	lua_setfield(L, -2, "nodes");
	lua_pushstring(L, r->source);
	lua_setfield(L, -2, "source");
	lua_pushstring(L, r->message);
	lua_setfield(L, -2, "message");
	if (!r->values)
		return;
	push_values(L, m, r, relax);
	lua_setfield(L, -2, "values");
}

/* A result is owned by a userdata, whatever error comes between. */
static int free_result(lua_State *L)
{
	sl_mip_result_clear(lua_touserdata(L, 1));
	return 0;
}

static struct sl_mip_result *new_result(lua_State *L)
{
	struct sl_mip_result *r = lua_newuserdatauv(L, sizeof(*r), 0);

	memset(r, 0, sizeof(*r));
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, free_result);
	lua_setfield(L, -2, "__gc");
	lua_setmetatable(L, -2);
	return r;
}

/* m:solve { time_limit =, gap =, max_nodes =, memory_mb =, backend =, relax = } */
static int model_solve(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	struct sl_mip *m = check_model(L);
	struct sl_mip_options o = { .time_limit = 2, .max_nodes = -1, .memory_mb = 512 };
	struct sl_mip_result *r;
	struct sl_error err;

	lua_settop(L, 2);
	check_options(L, 2, &o);
	o.clock = limit->armed;
	o.deadline_ns = limit->armed ? limit->deadline_ns : 0;
	r = new_result(L);
	if (sl_mip_solve(m, &o, r, &err))
		return luaL_error(L, "%s", err.text);
	push_result(L, m, r, o.relax);
	sl_mip_result_clear(r);
	return 1;
}

/* -- the module --------------------------------------------------------- */

static int model_gc(lua_State *L)
{
	struct model *model = lua_touserdata(L, 1);

	sl_mip_destroy(model->m);
	model->m = NULL;
	return 0;
}

static int model_tostring(lua_State *L)
{
	const struct sl_mip *m = check_model(L);

	lua_pushfstring(L, "model of %d columns and %d rows", (int) sl_mip_columns(m), (int) sl_mip_rows(m));
	return 1;
}

/* mip.model { sense = "max" } */
static int new_model(lua_State *L)
{
	struct model *model;
	const char *sense;
	lua_Alloc alloc;
	void *ud;

	sl_lua_check_names(L, 1, "", "sense");
	sense = sl_lua_named_text(L, 1, "sense");
	if (!sense || (strcmp(sense, "max") && strcmp(sense, "min")))
		return luaL_error(L, "sense: expected \"max\" or \"min\"%s%s", sense ? ", got " : "",
				  sense ? sense : "");
	model = lua_newuserdatauv(L, sizeof(*model), 0);
	model->m = NULL;
	luaL_setmetatable(L, MODEL_CLASS);
	alloc = lua_getallocf(L, &ud);
	model->m = sl_mip_create(!strcmp(sense, "max"), alloc, ud);
	if (!model->m)
		return luaL_error(L, "out of memory for a model");
	return 1;
}

/* mip.backends(): names of those that can be used, the default first */
static int list_backends(lua_State *L)
{
	const char *name;

	lua_newtable(L);
	for (unsigned i = 0; (name = sl_mip_backend_name(i)); i++) {
		lua_pushstring(L, name);
		lua_rawseti(L, -2, (lua_Integer) i + 1);
	}
	return 1;
}

static void make_class(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "var", model_var }, { "add", model_add }, { "start", model_start }, { "size", model_size },
		{ "solve", model_solve }, { NULL, NULL }
	};

	luaL_newmetatable(L, MODEL_CLASS);
	luaL_newlib(L, methods);
	sl_sandbox_protect(L, "model");
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, model_gc);
	lua_setfield(L, -2, "__gc");
	lua_pushcfunction(L, model_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

void sl_lua_push_mip(lua_State *L)
{
	static const luaL_Reg functions[] = { { "model", new_model }, { "backends", list_backends }, { NULL, NULL } };

	make_class(L);
	luaL_newlib(L, functions);
	sl_sandbox_protect(L, "sched.mip");
}
