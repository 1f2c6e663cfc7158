/* SPDX-License-Identifier: MIT */
/*
 * bind/job.c - the class "job": a row of the snapshot's jobs, in one partition.
 *
 * Nearly all fields are columns; here are those that are computed.
 */
#include "bind/bind.h"

#include <math.h>
#include <string.h>

#include "model/native.h"
#include "model/request.h"

#define JOB(x, field, h) ((x)->snap->job.field[(h)->row])

/* The partition in which the job is looked at now, by name. */
static void push_partition(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	if (h->partition == SL_NONE)
		lua_pushnil(L);
	else
		lua_pushstring(L, sl_snapshot_str(x->snap, x->snap->partition.name[h->partition]));
}

/* All partitions that it asked for, in its order: where it is looked at, if there is one only. */
static void push_partitions(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_range r = JOB(x, partitions, h);
	uint32_t only = h->partition != SL_NONE ? h->partition : JOB(x, partition, h);

	lua_createtable(L, (int) r.count, 0);
	for (uint32_t i = 0; i < r.count || (!r.count && !i && only != SL_NONE); i++) {
		lua_pushstring(L, sl_snapshot_str(x->snap, x->snap->partition.name[r.count ?
						  x->snap->job_partition.partition[r.first + i] : only]));
		lua_rawseti(L, -2, i + 1);
	}
}

/* Its name, or the number of a user who has none. */
static void push_user(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	const char *name = sl_snapshot_str(x->snap, JOB(x, user, h));

	if (*name || JOB(x, uid, h) == SL_NONE)
		lua_pushstring(L, *name ? name : NULL);
	else
		lua_pushfstring(L, "%I", (lua_Integer) JOB(x, uid, h));
}

static void push_cpus(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_ask a = sl_request_read(x->snap, h->row, 0);

	lua_pushinteger(L, sl_ask_cpus(&a));
}

static void push_tasks(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_ask a = sl_request_read(x->snap, h->row, 0);
	int64_t tasks = sl_ask_tasks(&a);

	lua_pushinteger(L, tasks ? tasks : a.min_nodes);
}

/* What only Slurm's select can place of it, in the partition in which it is looked at. */
static void push_native(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_entry e = { .job = h->row, .partition = h->partition };
	const struct sl_want *want = NULL;
	char text[SL_WORDS_TEXT];
	struct sl_error err;

	if (e.partition != SL_NONE && !(want = sl_cluster_want(x->cluster, e, &err)))
		luaL_error(L, "%s", err.text);
	if (want)
		sl_words_text(want->native, want->asked, text, sizeof(text));
	lua_pushstring(L, want && *text ? text : NULL);
}

/* Generic resources it asks for in all, { gpu = 4 }: types are added up. */
static void push_gres_total(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_ask a = sl_request_read(x->snap, h->row, 0);

	lua_newtable(L);
	for (uint32_t i = a.gres.first; i < a.gres.first + a.gres.count; i++) {
		const char *name = sl_snapshot_str(x->snap, x->snap->job_gres.name[i]);

		lua_getfield(L, -1, name);
		lua_pushinteger(L, lua_tointeger(L, -1) + sl_ask_gres(x->snap, &a, i, a.min_nodes));
		lua_setfield(L, -3, name);
		lua_pop(L, 1);
	}
}

static void push_gpus(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_ask a = sl_request_read(x->snap, h->row, 0);

	lua_pushinteger(L, sl_ask_gpus(x->snap, &a, a.min_nodes));
}

/* Seconds since it was submitted. */
static void push_waited(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	int64_t waited = sl_cluster_now(x->cluster) - JOB(x, submit_time, h);

	lua_pushinteger(L, waited > 0 ? waited : 0);
}

static void push_seconds(lua_State *L, int64_t seconds)
{
	if (seconds == SL_UNLIMITED)
		lua_pushnumber(L, (lua_Number) __builtin_inf());
	else
		lua_pushinteger(L, seconds > 0 ? seconds : 0);
}

/* The snapshot's, or what became of it since (the simulator). */
static void push_state(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	lua_pushstring(L, sl_job_state_word(sl_cluster_state(x->cluster, h->row)));
}

/* Did it start since the snapshot was taken, which says nothing of that? */
static bool began_since(struct sl_lua *x, const struct sl_handle *h)
{
	return JOB(x, state, h) == SL_JOB_PENDING && sl_cluster_state(x->cluster, h->row) == SL_JOB_RUNNING;
}

/* The booking of a job that this cycle has started (the last one, of an array), or for which allow() is asked with the
 * place that it would have. */
static bool is_started(lua_State *L, struct sl_lua *x, const struct sl_handle *h, struct sl_booking *b)
{
	struct sl_error err;
	int rc = JOB(x, state, h) == SL_JOB_PENDING ? sl_plan_last_start(x->plan, h->row, b, &err) : 0;

	if (rc < 0)
		luaL_error(L, "%s", err.text);
	return rc > 0;
}

/* A time that is not set is nil. */
static void push_time(lua_State *L, int64_t t)
{
	if (t)
		lua_pushinteger(L, t);
	else
		lua_pushnil(L);
}

static void push_start_time(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_booking b;
	int64_t start = is_started(L, x, h, &b) ? b.start_time :
		began_since(x, h) ? sl_cluster_now(x->cluster) - sl_cluster_ran(x->cluster, h->row) : JOB(x, start_time, h);

	push_time(L, start);
}

static void push_end_time(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_booking b;
	int64_t end = is_started(L, x, h, &b) ? b.end_time :
		began_since(x, h) ? sl_cluster_end(x->cluster, h->row) : JOB(x, end_time, h);

	if (end == SL_UNLIMITED)
		lua_pushnumber(L, HUGE_VAL);
	else
		push_time(L, end);
}

static void push_allocated(lua_State *L, struct sl_lua *x, const struct sl_handle *h, enum sl_unit unit, uint32_t known)
{
	struct sl_booking b;

	if (is_started(L, x, h, &b))
		lua_pushinteger(L, sl_place_units(x->snap, sl_gpu_kinds(x->snap), b.places, b.count, unit));
	else
		lua_pushinteger(L, began_since(x, h) ? sl_cluster_has(x->cluster, h->row, unit) : known);
}

static void push_alloc_nodes(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	push_allocated(L, x, h, SL_UNIT_NODE, JOB(x, alloc_nodes, h));
}

static void push_alloc_cpus(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	push_allocated(L, x, h, SL_UNIT_CPU, JOB(x, alloc_cpus, h));
}

static void push_alloc_gpus(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	push_allocated(L, x, h, SL_UNIT_GPU, JOB(x, alloc_gpus, h));
}

/* Running: seconds until its walltime ends; else its walltime. */
static void push_remaining(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	int64_t end = began_since(x, h) ? sl_cluster_end(x->cluster, h->row) : JOB(x, end_time, h);

	if (sl_cluster_state(x->cluster, h->row) != SL_JOB_RUNNING || JOB(x, time_limit, h) == SL_UNLIMITED)
		push_seconds(L, JOB(x, time_limit, h));
	else
		push_seconds(L, end - sl_cluster_now(x->cluster));
}

/* Running: the names of its nodes. */
static void push_nodes(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	uint32_t count;
	const struct sl_place *place = sl_cluster_places(x->cluster, h->row, &count);
	struct sl_booking b;

	if (is_started(L, x, h, &b)) {
		place = b.places;
		count = b.count;
	}
	lua_createtable(L, count, 0);
	for (uint32_t i = 0; i < count; i++) {
		lua_pushstring(L, sl_snapshot_str(x->snap, x->snap->node.name[place[i].node]));
		lua_rawseti(L, -2, i + 1);
	}
}

/* Pending: true if a place is held for it (model/preempt.h). */
static void push_place_held(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	const struct sl_held_view *v = &x->snap->held;
	uint32_t r = 0;

	while (r < v->rows && v->job[r] != h->row)
		r++;
	lua_pushboolean(L, r < v->rows && v->until[r] > sl_cluster_now(x->cluster));
}

/* Registry: the site's forecasts. */
static const char forecasts_key;

void sl_lua_keep_forecasts(lua_State *L)
{
	lua_rawsetp(L, LUA_REGISTRYINDEX, &forecasts_key);
}

/* forecasts:of(job, cluster), where the site has some. */
static void push_forecast(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &forecasts_key) == LUA_TNIL)
		return;
	lua_getfield(L, -1, "of");
	lua_insert(L, -2);
	sl_lua_push_job(L, x, h->row, h->partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 3, 1);
}

static const struct sl_lua_field fields[] = {
	{ "partition", push_partition },
	{ "partitions", push_partitions },
	{ "user", push_user },
	{ "cpus", push_cpus },
	{ "tasks", push_tasks },
	{ "gpus", push_gpus },
	{ "gres_total", push_gres_total },
	{ "native", push_native },
	{ "state", push_state },
	{ "waited", push_waited },
	{ "remaining", push_remaining },
	{ "start_time", push_start_time },
	{ "end_time", push_end_time },
	{ "alloc_nodes", push_alloc_nodes },
	{ "alloc_cpus", push_alloc_cpus },
	{ "alloc_gpus", push_alloc_gpus },
	{ "nodes", push_nodes },
	{ "place_held", push_place_held },
	{ "forecast", push_forecast },
	{ NULL, NULL }
};

static const struct sl_lua_class job_class = {
	.id = SL_CLASS_JOB, .name = "job", .table = SL_T_JOB, .field = fields,
};

bool sl_lua_job_computes(const char *name)
{
	const struct sl_lua_field *f = fields;

	while (f->name && strcmp(f->name, name))
		f++;
	return f->name;
}

/* Of the fields that are worked out, those that are no numbers. */
void sl_lua_push_job_kinds(lua_State *L)
{
	static const char *const kinds[][2] = {
		{ "partition", "text" }, { "partitions", "list" }, { "user", "text?" }, { "gres_total", "other" }, { "native", "text?" },
		{ "state", "text" }, { "start_time", "number?" }, { "end_time", "number?" }, { "nodes", "list" },
		{ "forecast", "other?" }, { "place_held", "boolean" },
	};

	sl_lua_push_kinds(L, &job_class);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		lua_pushstring(L, kinds[i][1]);
		lua_setfield(L, -2, kinds[i][0]);
	}
}

void sl_lua_open_job(lua_State *L)
{
	sl_lua_class(L, &job_class);
}
