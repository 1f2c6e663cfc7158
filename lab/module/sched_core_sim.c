/* SPDX-License-Identifier: MIT */
/*
 * sched_core_sim.c - simulations for specs: a workload through a policy, in the
 * engine's sandbox and with its limits, every schedule checked.
 */
#include "module/sched_core.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "image/json_out.h"
#include "sim/sim.h"

#define SIMULATION "sched_core.simulation"

/* Freed together, whatever happens. */
struct simulation {
	struct sl_workload *workload;
	struct sl_script *script;
	struct sl_sim *sim;
	struct sl_json *json;
	json_t *tree;
};

static void free_simulation(struct simulation *s)
{
	json_decref(s->tree);
	sl_json_destroy(s->json);
	sl_sim_destroy(s->sim);
	sl_script_destroy(s->script);
	sl_workload_destroy(s->workload);
	memset(s, 0, sizeof(*s));
}

static int simulation_gc(lua_State *L)
{
	free_simulation(lua_touserdata(L, 1));
	return 0;
}

/* -- options ---------------------------------------------------------------- */

static const char *text_option(lua_State *L, int arg, const char *name)
{
	const char *text;

	lua_getfield(L, arg, name);
	text = luaL_optstring(L, -1, NULL);
	lua_pop(L, 1);	/* the table keeps it alive */
	return text;
}

static int64_t integer_option(lua_State *L, int arg, const char *name)
{
	lua_Integer n;

	lua_getfield(L, arg, name);
	n = luaL_optinteger(L, -1, 0);
	lua_pop(L, 1);
	return n;
}

static bool flag_option(lua_State *L, int arg, const char *name)
{
	bool set;

	lua_getfield(L, arg, name);
	set = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return set;
}

static struct sl_workload_options workload_options(lua_State *L, int arg)
{
	return (struct sl_workload_options) {
		.machine = text_option(L, arg, "machine"), .procs = (uint32_t) integer_option(L, arg, "procs"),
		.seed = (uint64_t) integer_option(L, arg, "seed"), .estimate = text_option(L, arg, "estimate"),
		.overrun = flag_option(L, arg, "outstay") ? SL_OVERRUN_STAYS :
			flag_option(L, arg, "overrun") ? SL_OVERRUN_RAISES : SL_OVERRUN_ENDS,
		.from = text_option(L, arg, "from"), .to = text_option(L, arg, "to"), .tiers = text_option(L, arg, "tiers"),
		.skip = (uint32_t) integer_option(L, arg, "skip"), .jobs = (uint32_t) integer_option(L, arg, "first"),
	};
}

/* -- results ----------------------------------------------------------------- */

static void push_json(lua_State *L, json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;

	luaL_checkstack(L, 8, NULL);
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		lua_newtable(L);
		json_object_foreach(v, key, item) {
			push_json(L, item);
			lua_setfield(L, -2, key);
		}
		break;
	case JSON_ARRAY:
		lua_newtable(L);
		json_array_foreach(v, i, item) {
			push_json(L, item);
			lua_rawseti(L, -2, (lua_Integer) i + 1);
		}
		break;
	case JSON_STRING:
		lua_pushstring(L, json_string_value(v));
		break;
	case JSON_INTEGER:
		lua_pushinteger(L, json_integer_value(v));
		break;
	case JSON_REAL:
		lua_pushnumber(L, json_real_value(v));
		break;
	case JSON_NULL:
		lua_pushnil(L);
		break;
	default:
		lua_pushboolean(L, json_is_true(v));
	}
}

/* The figures, with the keys of schedlua sim --json; nothing that differs from run to
 * run. */
static int read_metrics(struct simulation *s, struct sl_error *err)
{
	struct sl_result r;
	const char *text;
	size_t size;

	if (sl_sim_result(s->sim, &r, err) < 0 ||
	    sl_bound_makespan(&s->workload->snap, s->workload->runtime_s, &r.bound, err) < 0 ||
	    !(s->json = sl_json_create(NULL, err)))
		return -1;
	sl_json_begin_object(s->json);
	sl_result_json(s->json, &r, false);
	sl_json_end_object(s->json);
	if (sl_json_finish(s->json, &text, &size, err) < 0)
		return -1;
	s->tree = json_loadb(text, size, 0, NULL);
	return s->tree ? 0 : sl_fail(err, SL_ENOMEM, "out of memory");
}

static void set_int(lua_State *L, const char *key, int64_t v)
{
	lua_pushinteger(L, v);
	lua_setfield(L, -2, key);
}

static void set_text(lua_State *L, const char *key, const char *text)
{
	lua_pushstring(L, text);
	lua_setfield(L, -2, key);
}

/* Names of its nodes, and cores by name. */
static void set_places(lua_State *L, const struct simulation *s, const struct sl_sim_job *j)
{
	const struct sl_snapshot *snap = &s->workload->snap;
	const struct sl_stretch *stretch = sl_sim_stretches(s->sim) + j->first_stretch;
	lua_Integer n = 0;

	lua_createtable(L, (int) j->nodes, 0);
	lua_createtable(L, 0, (int) j->nodes);
	for (uint32_t i = 0; i < j->stretches; i++)
		for (uint32_t k = stretch[i].first; k < stretch[i].first + stretch[i].count; k++) {
			const char *name = sl_snapshot_str(snap, snap->node.name[k]);

			lua_pushstring(L, name);
			lua_rawseti(L, -3, ++n);
			lua_pushinteger(L, stretch[i].cores);
			lua_setfield(L, -2, name);
		}
	lua_setfield(L, -3, "layout");
	lua_setfield(L, -2, "nodes");
}

/* Its runs that were ended for other jobs. */
static void set_stops(lua_State *L, const struct simulation *s, uint32_t row)
{
	const struct sl_schedule schedule = sl_sim_whole_schedule(s->sim);
	lua_Integer n = 0;

	lua_newtable(L);
	for (uint32_t i = 0; i < schedule.stops; i++) {
		const struct sl_sim_stop *stop = &schedule.stop[i];

		if (stop->job != row)
			continue;
		lua_createtable(L, 0, 7);
		set_int(L, "start_s", stop->start_s - s->workload->origin_s);
		set_int(L, "told_s", stop->told_s - s->workload->origin_s);
		set_int(L, "end_s", stop->end_s - s->workload->origin_s);
		set_int(L, "kept_s", stop->kept_s);
		set_int(L, "lost_s", stop->lost_s);
		set_text(L, "mode", stop->mode == SL_STOP_CANCEL ? "cancel" : "requeue");
		if (stop->preemptor != SL_NONE)
			set_int(L, "preemptor", s->workload->snap.job.id[stop->preemptor]);
		lua_rawseti(L, -2, ++n);
	}
	lua_setfield(L, -2, "stops");
}

static void push_job(lua_State *L, const struct simulation *s, uint32_t row)
{
	const struct sl_workload *w = s->workload;
	const struct sl_job_view *v = &w->snap.job;
	const struct sl_sim_job *j = &sl_sim_schedule(s->sim)[row];
	int64_t submit = v->submit_time[row];

	lua_createtable(L, 0, 15);
	set_int(L, "job", v->id[row]);
	set_stops(L, s, row);
	set_text(L, "user", sl_snapshot_str(&w->snap, v->user[row]));
	set_text(L, "partition", sl_snapshot_str(&w->snap, w->snap.partition.name[v->partition[row]]));
	set_int(L, "submit_s", submit - w->origin_s);
	set_int(L, "runtime_s", w->runtime_s[row]);
	if (v->time_limit[row] < SL_UNLIMITED)
		set_int(L, "walltime_s", v->time_limit[row]);
	if (!j->nodes)
		return;
	set_int(L, "start_s", j->start_s - w->origin_s);
	set_int(L, "wait_s", j->first_s - submit);
	if (j->end_s)
		set_int(L, "end_s", j->end_s - w->origin_s);
	set_int(L, "cores", j->cores);
	set_int(L, "gpus", j->gpus);
	set_places(L, s, j);
}

static void push_jobs(lua_State *L, const struct simulation *s)
{
	uint32_t rows = s->workload->snap.job.rows;

	lua_createtable(L, (int) rows, 0);
	for (uint32_t i = 0; i < rows; i++) {
		push_job(L, s, i);
		lua_rawseti(L, -2, (lua_Integer) i + 1);
	}
}

/* -- a run ---------------------------------------------------------------------- */

static int simulate(struct simulation *s, struct sl_bundle *b, const char *workload,
		    const struct sl_workload_options *how, const struct sl_sim_options *opt, char **trace,
		    struct sl_error *err)
{
	struct sl_limits load = { .memory = opt->limits->memory };

	s->workload = sl_workload_load(workload, how, err);
	if (!s->workload)
		return -1;
	s->script = sl_script_create(b, &load, err);
	s->sim = s->script ? sl_sim_create(s->workload, s->script, opt, err) : NULL;
	if (!s->sim || sl_sim_run(s->sim, trace, err) < 0)
		return -1;
	return read_metrics(s, err);
}

int sl_core_simulate(lua_State *L)
{
	struct sl_bundle **b = luaL_checkudata(L, 1, SL_CORE_BUNDLE);
	const char *workload = luaL_checkstring(L, 2);
	struct sl_limits limits = sl_core_limits(L, 3, SL_CORE_BUDGET_S);
	struct sl_workload_options how = workload_options(L, 3);
	struct sl_sim_options opt = {
		.interval_s = integer_option(L, 3, "interval"), .latency_s = integer_option(L, 3, "latency"),
		.requeue_wait_s = integer_option(L, 3, "requeue_wait"),
		.each_end = flag_option(L, 3, "each_end"), .check = true, .keep_schedule = true, .limits = &limits,
	};
	struct simulation *s = lua_newuserdatauv(L, sizeof(*s), 0);
	struct sl_error err = { 0 };
	char *trace = NULL;

	/* Collected with its userdata, should memory run out below. */
	memset(s, 0, sizeof(*s));
	luaL_setmetatable(L, SIMULATION);
	if (simulate(s, *b, workload, &how, &opt, &trace, &err) < 0) {
		free_simulation(s);
		return sl_core_failed(L, &err, trace);
	}
	free(trace);
	push_json(L, s->tree);
	push_jobs(L, s);
	free_simulation(s);
	return 2;
}

void sl_core_simulate_types(lua_State *L)
{
	luaL_newmetatable(L, SIMULATION);
	lua_pushcfunction(L, simulation_gc);
	lua_setfield(L, -2, "__gc");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}
