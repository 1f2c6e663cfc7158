/* SPDX-License-Identifier: MIT */
/*
 * sched_core.c - the engine as a Lua module, for specs: require "sched_core".
 *
 * Two Lua states are in play.  The interpreter's, where busted and the spec run, sees
 * only this module; policies run in a state of the engine, with its sandbox and its
 * limits.  Between them go texts and plans, never values of Lua.
 *
 *   core.snapshot(json [, name])  a snapshot, or nil and why not
 *   core.load_snapshot(path)      the same from a file of either form
 *   core.load(source [, limits])  a policy set, or nil, the error, its traceback
 *   core.decide(set, snapshot [, limits])  a plan as a table, the error, its traceback
 *   core.simulate(set, workload, options)  figures, rows of jobs (sched_core_sim.c)
 *   core.instant(text)            seconds since the epoch of "2026-03-12T12:00 Europe/Berlin"; nil and why
 *   core.columns(table)           names of a snapshot table's columns, with their types
 *
 * source = { site =, policy =, path =, texts = { [name] = text }, check_trust = }
 * limits = { memory = MiB, budget = seconds }
 */
#include "module/sched_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/zone.h"
#include "check/check.h"
#include "image/shapes.h"

#define SNAPSHOT "sched_core.snapshot"
#define BUNDLE SL_CORE_BUNDLE
#define MAX_TEXTS 64

int luaopen_sched_core(lua_State *L);

struct kept_snapshot {
	void *bytes;
	struct sl_snapshot snap;
};

/* What a cycle works with: freed together, whatever happens. */
struct cycle {
	struct sl_script *script;
	struct sl_cluster *cluster;
	struct sl_plan *plan;
	struct sl_builder *builder;
	struct sl_remember *memory;
};

int sl_core_failed(lua_State *L, const struct sl_error *err, char *trace)
{
	lua_pushnil(L);
	lua_pushstring(L, err->text);
	lua_pushstring(L, trace);
	free(trace);
	return 3;
}

/* -- snapshots --------------------------------------------------------- */

static int snapshot_gc(lua_State *L)
{
	struct kept_snapshot *s = luaL_checkudata(L, 1, SNAPSHOT);

	free(s->bytes);
	s->bytes = NULL;
	return 0;
}

static struct kept_snapshot *new_snapshot(lua_State *L)
{
	struct kept_snapshot *s = lua_newuserdatauv(L, sizeof(*s), 0);

	memset(s, 0, sizeof(*s));
	luaL_setmetatable(L, SNAPSHOT);
	return s;
}

static int read_json(struct kept_snapshot *s, const char *name, const char *text, size_t length, struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	const void *bytes;
	size_t size;
	int r = -1;

	if (!b)
		return -1;
	if (sl_builder_from_json(b, name, text, length, err) < 0)
		goto error;
	sl_shapes_fill(b);
	if (!sl_builder_finish(b, &bytes, &size, err)) {
		s->bytes = malloc(size);
		if (s->bytes) {
			memcpy(s->bytes, bytes, size);
			r = sl_snapshot_open(&s->snap, s->bytes, size, err);
		} else {
			sl_fail(err, SL_ENOMEM, "out of memory");
		}
	}
error:
	sl_builder_destroy(b);
	return r;
}

static int core_snapshot(lua_State *L)
{
	size_t length;
	const char *text = luaL_checklstring(L, 1, &length), *name = luaL_optstring(L, 2, "snapshot");
	struct kept_snapshot *s = new_snapshot(L);
	struct sl_error err;

	if (read_json(s, name, text, length, &err))
		return sl_core_failed(L, &err, NULL);
	return 1;
}

static int core_load_snapshot(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1);
	struct kept_snapshot *s = new_snapshot(L);
	struct sl_error err;
	size_t size;

	if (sl_image_load(&sl_snapshot_schema, path, &s->bytes, &size, &err) ||
	    sl_snapshot_open(&s->snap, s->bytes, size, &err))
		return sl_core_failed(L, &err, NULL);
	return 1;
}

static int core_columns(lua_State *L)
{
	static const char *const word[] = {
		[SL_TYPE_u32] = "u32", [SL_TYPE_i64] = "i64", [SL_TYPE_f64] = "f64",
		[SL_TYPE_str] = "str", [SL_TYPE_ref] = "ref", [SL_TYPE_range] = "range",
	};
	const char *name = luaL_checkstring(L, 1);

	for (int t = 0; t < sl_snapshot_schema.tables; t++) {
		const struct sl_table *table = &sl_snapshot_schema.table[t];

		if (strcmp(table->name, name))
			continue;
		lua_createtable(L, 0, table->columns);
		for (uint32_t c = 0; c < table->columns; c++) {
			lua_pushstring(L, word[table->column[c].type]);
			lua_setfield(L, -2, table->column[c].name);
		}
		return 1;
	}
	return luaL_error(L, "no table '%s'", name);
}

/* -- policy sets ------------------------------------------------------- */

static int bundle_gc(lua_State *L)
{
	struct sl_bundle **b = luaL_checkudata(L, 1, BUNDLE);

	sl_bundle_destroy(*b);
	*b = NULL;
	return 0;
}

/* A string field of the table at *arg*; the table keeps it alive. */
static const char *text_field(lua_State *L, int arg, const char *name)
{
	const char *text;

	lua_getfield(L, arg, name);
	text = lua_isnil(L, -1) ? NULL : lua_tostring(L, -1);
	if (!text && !lua_isnil(L, -1))
		luaL_error(L, "%s: expected a string", name);
	lua_pop(L, 1);
	return text;
}

static unsigned read_texts(lua_State *L, int arg, struct sl_bundle_text text[MAX_TEXTS])
{
	unsigned n = 0;

	if (lua_getfield(L, arg, "texts") == LUA_TTABLE)
		for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
			if (n == MAX_TEXTS)
				luaL_error(L, "texts: more than %d", MAX_TEXTS);
			if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
				luaL_error(L, "texts: expected texts by name");
			text[n].name = lua_tostring(L, -2);
			text[n++].text = lua_tostring(L, -1);
		}
	lua_pop(L, 1);
	return n;
}

struct sl_limits sl_core_limits(lua_State *L, int arg, double budget_s)
{
	struct sl_limits limits = { 0 };

	if (lua_istable(L, arg)) {
		lua_getfield(L, arg, "memory");
		limits.memory = (size_t) (luaL_optnumber(L, -1, 0) * (1 << 20));
		lua_getfield(L, arg, "budget");
		budget_s = luaL_optnumber(L, -1, budget_s);
		lua_pop(L, 2);
	}
	limits.budget_us = (int64_t) (budget_s * 1e6);
	return limits;
}

static int core_load(lua_State *L)
{
	struct sl_bundle_text text[MAX_TEXTS];
	struct sl_bundle_source src = { 0 };
	struct sl_limits limits = sl_core_limits(L, 2, SL_CORE_BUDGET_S);
	struct sl_bundle **b;
	struct sl_error err;
	char *trace = NULL;

	luaL_checktype(L, 1, LUA_TTABLE);
	src.site = text_field(L, 1, "site");
	src.policy = text_field(L, 1, "policy");
	src.path = text_field(L, 1, "path");
	src.texts = read_texts(L, 1, text);
	src.text = text;
	lua_getfield(L, 1, "check_trust");
	src.check_trust = lua_toboolean(L, -1);
	lua_getfield(L, 1, "trusted_uid");
	src.trusted_uid = luaL_optinteger(L, -1, 0);
	b = lua_newuserdatauv(L, sizeof(*b), 0);
	*b = NULL;
	luaL_setmetatable(L, BUNDLE);
	*b = sl_bundle_load(&src, &limits, &trace, &err);
	if (!*b)
		return sl_core_failed(L, &err, trace);
	return 1;
}

/* core.figures(set): what the site says, and the files it came from */
static int core_figures(lua_State *L)
{
	struct sl_bundle **b = luaL_checkudata(L, 1, BUNDLE);
	const struct sl_site_figures *f = sl_bundle_figures(*b);
	const char *path;

	lua_newtable(L);
	lua_pushnumber(L, f->interval_s);
	lua_setfield(L, -2, "interval");
	lua_pushnumber(L, f->budget_s);
	lua_setfield(L, -2, "budget");
	lua_pushstring(L, f->policy);
	lua_setfield(L, -2, "policy");
	lua_newtable(L);
	for (unsigned i = 0; (path = sl_bundle_file(*b, i)); i++) {
		lua_pushstring(L, path);
		lua_rawseti(L, -2, i + 1);
	}
	lua_setfield(L, -2, "files");
	return 1;
}

/* -- plans ------------------------------------------------------------- */

static void push_row(lua_State *L, const struct sl_image *image, const void *view, int table, uint32_t row);

static void push_range(lua_State *L, const struct sl_image *image, const void *view, int table, struct sl_range r)
{
	lua_createtable(L, r.count, 0);
	for (uint32_t i = 0; i < r.count; i++) {
		push_row(L, image, view, table, r.first + i);
		lua_rawseti(L, -2, i + 1);
	}
}

static void push_value(lua_State *L, const struct sl_image *image, const void *view, const struct sl_column *c,
		       const void *values, uint32_t row)
{
	switch (c->type) {
	case SL_TYPE_u32:
	case SL_TYPE_ref:
		lua_pushinteger(L, ((const uint32_t *) values)[row]);
		break;
	case SL_TYPE_i64:
		lua_pushinteger(L, ((const int64_t *) values)[row]);
		break;
	case SL_TYPE_f64:
		lua_pushnumber(L, ((const double *) values)[row]);
		break;
	case SL_TYPE_str:
		lua_pushstring(L, sl_image_str(image, ((const uint32_t *) values)[row]));
		break;
	case SL_TYPE_range:
		push_range(L, image, view, c->target, ((const struct sl_range *) values)[row]);
		break;
	}
}

/* A row of any image as a table; numbers stay numbers. */
static void push_row(lua_State *L, const struct sl_image *image, const void *view, int table, uint32_t row)
{
	const struct sl_table *t = &image->schema->table[table];
	const char *columns = (const char *) view + t->view_offset;

	luaL_checkstack(L, 8, NULL);
	lua_createtable(L, 0, t->columns);
	for (uint32_t i = 0; i < t->columns; i++) {
		const struct sl_column *c = &t->column[i];

		push_value(L, image, view, c, *(const void *const *) (columns + c->view_offset), row);
		lua_setfield(L, -2, c->name);
	}
}

static void push_table(lua_State *L, const struct sl_image *image, const void *view, int table, uint32_t rows,
		       const char *name)
{
	push_range(L, image, view, table, (struct sl_range) { 0, rows });
	lua_setfield(L, -2, name);
}

/* { [row] = name } of nodes or partitions, rows from 0 as in the plan */
static void push_names(lua_State *L, const struct sl_snapshot *snap, const uint32_t *name, uint32_t rows,
		       const char *field)
{
	lua_createtable(L, rows, 1);
	for (uint32_t i = 0; i < rows; i++) {
		lua_pushstring(L, sl_snapshot_str(snap, name[i]));
		lua_rawseti(L, -2, i);
	}
	lua_setfield(L, -2, field);
}

/* Reasons and actions as words. */
static void replace_words(lua_State *L, const char *table, const char *field, const char *(*word)(uint32_t))
{
	lua_getfield(L, -1, table);
	for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
		lua_getfield(L, -1, field);
		lua_pushstring(L, word(lua_tointeger(L, -1)));
		lua_setfield(L, -3, field);
		lua_pop(L, 2);
	}
	lua_pop(L, 2);
}

static void push_plan(lua_State *L, const struct sl_snapshot *snap, const struct sl_plan_image *p)
{
	lua_newtable(L);
	push_row(L, &p->image, p, SL_P_META, 0);
	lua_setfield(L, -2, "meta");
	push_table(L, &p->image, p, SL_P_START, p->start.rows, "starts");
	push_table(L, &p->image, p, SL_P_RESERVE, p->reserve.rows, "reservations");
	push_table(L, &p->image, p, SL_P_FORECAST, p->forecast.rows, "forecasts");
	push_table(L, &p->image, p, SL_P_PENDING, p->pending.rows, "pending");
	push_table(L, &p->image, p, SL_P_ACTION, p->action.rows, "actions");
	push_table(L, &p->image, p, SL_P_PREEMPT, p->preempt.rows, "preempting");
	push_table(L, &p->image, p, SL_P_HOLD, p->hold.rows, "holds");
	push_table(L, &p->image, p, SL_P_STOP, p->stop.rows, "stops");
	push_table(L, &p->image, p, SL_P_BLOCK, p->block.rows, "blocks");
	push_table(L, &p->image, p, SL_P_SHORTAGE, p->shortage.rows, "shortages");
	push_table(L, &p->image, p, SL_P_LOG, p->log.rows, "log");
	push_table(L, &p->image, p, SL_P_REMEMBERED, p->remembered.rows, "remembered");
	push_table(L, &p->image, p, SL_P_HISTORY, p->history.rows, "history");
	replace_words(L, "pending", "why", sl_why_word);
	replace_words(L, "actions", "verb", sl_action_word);
	replace_words(L, "holds", "verdict", sl_verdict_word);
	replace_words(L, "stops", "mode", sl_stop_mode_word);
	push_names(L, snap, snap->node.name, snap->node.rows, "node_names");
	push_names(L, snap, snap->partition.name, snap->partition.rows, "partition_names");
}

/* -- a cycle ----------------------------------------------------------- */

/* 0: every policy returned; 1: cut short or failed, there is a plan; -1: no plan. */
static int run_cycle(struct cycle *c, struct sl_bundle *b, const struct sl_snapshot *snap,
		     const struct sl_limits *limits, struct sl_plan_image *image, char **trace, struct sl_error *err)
{
	struct sl_plan_figures fig = { 0 };
	struct sl_limits load = { .memory = limits->memory };
	struct sl_error later;
	const void *bytes;
	size_t size;
	int r;

	sl_bundle_refresh(b);
	c->script = sl_script_create(b, &load, err);
	c->cluster = c->script ? sl_cluster_create(snap, err) : NULL;
	c->plan = c->cluster ? sl_plan_create(c->cluster, err) : NULL;
	c->builder = c->plan ? sl_builder_create(&sl_plan_schema, err) : NULL;
	if (!c->builder)
		return -1;
	r = sl_script_decide(c->script, c->cluster, c->plan, limits, &fig, trace, err);
	if (r < 0)
		return -1;
	c->memory = sl_script_take_memory(c->script);
	if (sl_plan_encode(c->plan, &fig, c->builder, &later))
		goto error;
	sl_remember_encode(c->memory, c->builder, SL_P_REMEMBERED);
	sl_cluster_encode_history(c->cluster, c->builder, SL_P_HISTORY);
	if (sl_builder_finish(c->builder, &bytes, &size, &later) ||
	    sl_plan_image_open(image, bytes, size, &later))
		goto error;
	/* Whatever a policy does, what comes out is feasible. */
	if (sl_check_plan(snap, image, &later)) {
		*err = later;
		return sl_fail_in(err, "the engine planned what is not feasible");
	}
	return r;
error:
	*err = later;
	return -1;
}

static void end_cycle(struct cycle *c)
{
	sl_remember_destroy(c->memory);
	sl_builder_destroy(c->builder);
	sl_plan_destroy(c->plan);
	sl_cluster_destroy(c->cluster);
	sl_script_destroy(c->script);
	memset(c, 0, sizeof(*c));
}

static int cycle_gc(lua_State *L)
{
	end_cycle(lua_touserdata(L, 1));
	return 0;
}

static int core_decide(lua_State *L)
{
	struct sl_bundle **b = luaL_checkudata(L, 1, BUNDLE);
	struct kept_snapshot *s = luaL_checkudata(L, 2, SNAPSHOT);
	struct sl_limits limits = sl_core_limits(L, 3, SL_CORE_BUDGET_S);
	struct cycle *c = lua_newuserdatauv(L, sizeof(*c), 0);
	struct sl_plan_image image;
	struct sl_error err = { 0 };
	char *trace = NULL;
	int r;

	/* Collected with its userdata, should memory run out below. */
	memset(c, 0, sizeof(*c));
	luaL_setmetatable(L, "sched_core.cycle");
	r = run_cycle(c, *b, &s->snap, &limits, &image, &trace, &err);
	if (r < 0) {
		end_cycle(c);
		return sl_core_failed(L, &err, trace);
	}
	lua_pushstring(L, r ? err.text : NULL);
	lua_pushstring(L, trace);
	free(trace);
	push_plan(L, &s->snap, &image);
	end_cycle(c);
	lua_insert(L, -3);
	return 3;
}

/* ---------------------------------------------------------------------- */

static void new_type(lua_State *L, const char *name, lua_CFunction gc)
{
	luaL_newmetatable(L, name);
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__gc");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

/* instant("2026-03-12T12:00[:30] [ZONE]"): seconds since the epoch, in the machine's zone where none is named; nil and
 * why */
static int core_instant(lua_State *L)
{
	const char *text = luaL_checkstring(L, 1);
	struct sl_wall w = { .year = 0 };
	struct sl_error err;
	struct sl_zone *zone;
	int year = 0, n = 0, rest = 0;
	char name[64] = "";
	bool good = sscanf(text, "%4d-%2d-%2dT%2d:%2d%n:%2d%n", &year, &w.month, &w.day, &w.hour, &w.minute, &n, &w.second,
			   &n) >= 5;

	if (good && text[n])
		good = sscanf(text + n, " %63[A-Za-z0-9_/+-]%n", name, &rest) == 1 && !text[n + rest];
	if (!good || w.month < 1 || w.month > 12 || w.day < 1 || w.day > 31 || w.hour < 0 || w.hour > 24 || w.minute < 0 ||
	    w.minute > 59) {
		lua_pushnil(L);
		lua_pushfstring(L, "'%s' is no time; expected \"2026-03-12T12:00\", or \"2026-03-12T12:00 Europe/Berlin\"", text);
		return 2;
	}
	w.year = year;
	if (!(zone = sl_zone_read(name, &err))) {
		lua_pushnil(L);
		lua_pushstring(L, err.text);
		return 2;
	}
	lua_pushinteger(L, sl_zone_instant(zone, &w));
	sl_zone_destroy(zone);
	return 1;
}

int luaopen_sched_core(lua_State *L)
{
	static const luaL_Reg core[] = {
		{ "snapshot", core_snapshot }, { "load_snapshot", core_load_snapshot }, { "columns", core_columns },
		{ "load", core_load }, { "figures", core_figures }, { "decide", core_decide },
		{ "simulate", sl_core_simulate }, { "instant", core_instant }, { NULL, NULL }
	};

	new_type(L, SNAPSHOT, snapshot_gc);
	new_type(L, BUNDLE, bundle_gc);
	new_type(L, "sched_core.cycle", cycle_gc);
	sl_core_simulate_types(L);
	luaL_newlib(L, core);
	return 1;
}
