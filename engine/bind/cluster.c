/* SPDX-License-Identifier: MIT */
/*
 * bind/cluster.c - the class "cluster", and the lists that hang on it.
 */
#include "bind/turn.h"

#include <string.h>

#include "bind/nodeset.h"
#include "bind/require.h"

/* Key of the registry: the state of the cycle's random numbers. */
static const char random_key;

/* -- lists ------------------------------------------------------------- */

/* A list is a handle whose row says of what.  What this cycle has started comes behind what runs, each task of an array
 * by itself. */
enum list { LIST_NODES, LIST_PARTITIONS, LIST_RUNNING };

static uint32_t count_started(const struct sl_lua *x)
{
	uint32_t count;

	sl_plan_started(x->plan, &count);
	return count;
}

static uint32_t list_length(struct sl_lua *x, enum list list)
{
	uint32_t count = 0;

	switch (list) {
	case LIST_NODES: return x->snap->node.rows;
	case LIST_PARTITIONS: return x->snap->partition.rows;
	case LIST_RUNNING: sl_cluster_running(x->cluster, &count); return count + count_started(x);
	}
	return count;
}

static void push_element(lua_State *L, struct sl_lua *x, enum list list, uint32_t i)
{
	const struct sl_entry *started;
	const uint32_t *row;
	uint32_t count, starts;

	switch (list) {
	case LIST_NODES:
		sl_lua_push(L, x, SL_CLASS_NODE, i);
		break;
	case LIST_PARTITIONS:
		sl_lua_push(L, x, SL_CLASS_PARTITION, i);
		break;
	case LIST_RUNNING:
		row = sl_cluster_running(x->cluster, &count);
		started = sl_plan_started(x->plan, &starts);
		if (i < count)
			sl_lua_push_job(L, x, row[i], x->snap->job.partition[row[i]]);
		else
			sl_lua_push_job(L, x, started[i - count].job, started[i - count].partition);
		break;
	}
}

static int list_index(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	enum list list = sl_lua_check(L, x, 1, SL_CLASS_LIST)->row;
	lua_Integer i;
	uint32_t row;

	if (lua_isinteger(L, 2)) {
		i = lua_tointeger(L, 2);
		if (i < 1 || i > list_length(x, list))
			lua_pushnil(L);
		else
			push_element(L, x, list, i - 1);
		return 1;
	}
	row = list == LIST_RUNNING ? SL_NONE :
	      sl_lua_find(L, x, list == LIST_NODES ? SL_T_NODE : SL_T_PARTITION, 2);
	if (row == SL_NONE)
		lua_pushnil(L);
	else
		push_element(L, x, list, row);
	return 1;
}

static int list_len(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	lua_pushinteger(L, list_length(x, sl_lua_check(L, x, 1, SL_CLASS_LIST)->row));
	return 1;
}

/* next(list, i): i + 1 and what is there */
static int list_next(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	enum list list = sl_lua_check(L, x, 1, SL_CLASS_LIST)->row;
	lua_Integer i = luaL_optinteger(L, 2, 0);

	if (i < 0 || i >= list_length(x, list))
		return 0;
	lua_pushinteger(L, i + 1);
	push_element(L, x, list, i);
	return 2;
}

static int list_pairs(lua_State *L)
{
	lua_settop(L, 1);
	lua_pushcfunction(L, list_next);
	lua_insert(L, 1);
	lua_pushnil(L);
	return 3;
}

/* cluster:nodes { ... }: cluster.nodes called as a method, with the cluster before the table */
static int list_call(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	if (sl_lua_check(L, x, 1, SL_CLASS_LIST)->row != LIST_NODES)
		return luaL_error(L, "only cluster.nodes can be called: cluster:nodes { feature = \"fat\" }");
	if (!lua_isnoneornil(L, 2) && !sl_lua_is(L, 2, SL_CLASS_CLUSTER))
		return luaL_error(L, "a colon is missing: expected cluster:nodes { ... }, got cluster.nodes { ... }");
	lua_settop(L, 3);
	return sl_lua_push_nodeset(L, x, 3);
}

static const luaL_Reg list_meta[] = {
	{ "__call", list_call },
	{ "__index", list_index }, { "__len", list_len }, { "__pairs", list_pairs }, { NULL, NULL }
};

static const struct sl_lua_class list_class = {
	.id = SL_CLASS_LIST, .name = "list", .table = -1, .meta = list_meta,
};

/* -- the cluster ------------------------------------------------------- */

static int push_found(lua_State *L, struct sl_lua *x, int table, enum sl_lua_class_id id)
{
	uint32_t row = sl_lua_find(L, x, table, 2);

	if (row == SL_NONE)
		lua_pushnil(L);
	else if (id == SL_CLASS_JOB)
		sl_lua_push_job(L, x, row, x->snap->job.partition[row]);
	else
		sl_lua_push(L, x, id, row);
	return 1;
}

static int cluster_job(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	luaL_checkinteger(L, 2);
	return push_found(L, x, SL_T_JOB, SL_CLASS_JOB);
}

static int cluster_node(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	luaL_checkstring(L, 2);
	return push_found(L, x, SL_T_NODE, SL_CLASS_NODE);
}

static int cluster_partition(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	luaL_checkstring(L, 2);
	return push_found(L, x, SL_T_PARTITION, SL_CLASS_PARTITION);
}

/* Random numbers depend on the snapshot and the time, and on nothing else. */
void sl_lua_begin_random(lua_State *L, struct sl_lua *x)
{
	uint64_t *state = sl_lua_keep_block(L, &random_key, sizeof(*state)), seed = x->snap->meta.seed[0];

	seed = (seed ^ (uint64_t) x->snap->meta.sequence[0]) * UINT64_C(0x9e3779b97f4a7c15);
	*state = (seed ^ seed >> 32 ^ (uint64_t) sl_cluster_now(x->cluster)) * UINT64_C(0xd6e8feb86659fd93);
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Uniform in 0..most: what would favour some values is thrown away. */
static uint64_t random_upto(uint64_t *state, uint64_t most)
{
	uint64_t reject, z;

	if (most == UINT64_MAX)
		return next_random(state);
	reject = -(most + 1) % (most + 1);
	do
		z = next_random(state);
	while (z < reject);
	return z % (most + 1);
}

/* cluster:random() in [0,1); (m): 1..m; (l, m): l..m.  The same in every replay. */
static int cluster_random(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	lua_Integer low = 1, high;
	uint64_t *state;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &random_key);
	state = lua_touserdata(L, -1);
	lua_pop(L, 1);		/* the registry keeps it */
	if (lua_isnoneornil(L, 2)) {
		lua_pushnumber(L, (lua_Number) (next_random(state) >> 11) * 0x1p-53);
		return 1;
	}
	high = luaL_checkinteger(L, 2);
	if (!lua_isnoneornil(L, 3)) {
		low = high;
		high = luaL_checkinteger(L, 3);
	}
	luaL_argcheck(L, low <= high, lua_isnoneornil(L, 3) ? 2 : 3, "interval is empty");
	lua_pushinteger(L, (lua_Integer) ((uint64_t) low + random_upto(state, (uint64_t) high - (uint64_t) low)));
	return 1;
}

static const luaL_Reg cluster_methods[] = {
	{ "queue", sl_lua_cluster_queue }, { "job", cluster_job }, { "node", cluster_node },
	{ "partition", cluster_partition }, { "random", cluster_random }, { "bids", sl_lua_cluster_bids },
	{ "window", sl_lua_cluster_window }, { "recall", sl_lua_cluster_recall },
	{ "nodesets", sl_lua_cluster_nodesets }, { "overlaps", sl_lua_cluster_overlaps }, { NULL, NULL }
};

static void push_now(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	lua_pushinteger(L, sl_cluster_now(x->cluster));
}

/* Where the workload begins that is simulated; 0 on a real cluster. */
static void push_origin(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	lua_pushinteger(L, sl_cluster_origin(x->cluster));
}

static void push_name(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	lua_pushstring(L, sl_snapshot_str(x->snap, x->snap->meta.cluster[0]));
}

static void push_nodes(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	sl_lua_push(L, x, SL_CLASS_LIST, LIST_NODES);
}

static void push_partitions(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	sl_lua_push(L, x, SL_CLASS_LIST, LIST_PARTITIONS);
}

static void push_running(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	sl_lua_push(L, x, SL_CLASS_LIST, LIST_RUNNING);
}

static void push_rows(lua_State *L, struct sl_lua *x, int table, uint32_t rows)
{
	lua_createtable(L, rows, 0);
	for (uint32_t i = 0; i < rows; i++) {
		sl_lua_push_row(L, x, table, i);
		lua_rawseti(L, -2, i + 1);
	}
}

static void push_licenses(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	push_rows(L, x, SL_T_LICENSE, x->snap->license.rows);
}

static void push_reservations(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	push_rows(L, x, SL_T_RESERVATION, x->snap->reservation.rows);
}

static void set_count(lua_State *L, const char *name, int64_t value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, name);
}

/* __index of a table of figures, whose name is its upvalue: a misspelt one is an error, too. */
static int no_such_figure(lua_State *L)
{
	return luaL_error(L, "%s has no field '%s'", lua_tostring(L, lua_upvalueindex(1)), sl_sandbox_tostring(L, 2, NULL));
}

static void make_strict(lua_State *L, const char *name)
{
	if (luaL_newmetatable(L, name)) {
		lua_pushstring(L, name);
		lua_pushcclosure(L, no_such_figure, 1);
		lua_setfield(L, -2, "__index");
		lua_pushboolean(L, 0);
		lua_setfield(L, -2, "__metatable");
	}
	lua_setmetatable(L, -2);
}

static void push_totals(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_totals t;

	(void) h;
	sl_cluster_totals(x->cluster, &t);
	lua_createtable(L, 0, 8);
	set_count(L, "nodes", t.nodes);
	set_count(L, "usable_nodes", t.usable_nodes);
	set_count(L, "idle_nodes", t.idle_nodes);
	set_count(L, "cores", t.cores);
	set_count(L, "free_cores", t.free_cores);
	set_count(L, "queued", t.queued);
	set_count(L, "running", (int64_t) t.running + count_started(x));
	sl_lua_push_gres(L, x, t.free_gres);
	lua_setfield(L, -2, "free_gres");
	make_strict(L, "cluster.totals");
}

static void push_usage(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	sl_lua_push(L, x, SL_CLASS_USAGE, 0);
}

/* Registry: the site's clock, nil for one without zone and holidays; cluster.clock of a cycle, and which cycle that is. */
static const char clock_key, clock_now_key, clock_cycle_key;

void sl_lua_keep_clock(lua_State *L)
{
	lua_rawsetp(L, LUA_REGISTRYINDEX, &clock_key);
}

static void push_clock(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &clock_cycle_key);
	if (lua_tointeger(L, -1) == (lua_Integer) x->generation) {
		lua_rawgetp(L, LUA_REGISTRYINDEX, &clock_now_key);
		return;
	}
	sl_lua_require(L, "sched.clock");
	lua_getfield(L, -1, "at");
	lua_rawgetp(L, LUA_REGISTRYINDEX, &clock_key);
	lua_pushinteger(L, sl_cluster_now(x->cluster));
	lua_call(L, 2, 1);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &clock_now_key);
	lua_pushinteger(L, x->generation);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &clock_cycle_key);
}

static void push_history(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	sl_lua_push(L, x, SL_CLASS_HISTORY, 0);
}

/* What usable nodes of this set's partitions have in all. */
static void push_supply(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_supply supply;

	(void) h;
	sl_cluster_supply(x->cluster, sl_lua_turn_partitions(x), &supply);
	lua_createtable(L, 0, 6);
	set_count(L, "nodes", (int64_t) supply.nodes);
	set_count(L, "cores", (int64_t) supply.cores);
	set_count(L, "cpus", (int64_t) supply.cpus);
	set_count(L, "memory", (int64_t) supply.memory);
	sl_lua_push_gres(L, x, supply.gres);
	lua_setfield(L, -2, "gres");
	sl_lua_push_gres(L, x, supply.gres_nodes);
	lua_setfield(L, -2, "gres_nodes");
	make_strict(L, "cluster.supply");
}

static const struct sl_lua_field cluster_fields[] = {
	{ "now", push_now },
	{ "origin", push_origin },
	{ "name", push_name },
	{ "nodes", push_nodes },
	{ "partitions", push_partitions },
	{ "running", push_running },
	{ "licenses", push_licenses },
	{ "reservations", push_reservations },
	{ "totals", push_totals },
	{ "supply", push_supply },
	{ "clock", push_clock },
	{ "usage", push_usage },
	{ "history", push_history },
	{ NULL, NULL }
};

static const struct sl_lua_class cluster_class = {
	.id = SL_CLASS_CLUSTER, .name = "cluster", .table = SL_T_META,
	.field = cluster_fields, .method = cluster_methods,
};

void sl_lua_open_cluster(lua_State *L)
{
	sl_lua_class(L, &list_class);
	sl_lua_class(L, &cluster_class);
}

void sl_lua_push_cluster(lua_State *L, struct sl_lua *x)
{
	sl_lua_push(L, x, SL_CLASS_CLUSTER, 0);
}
