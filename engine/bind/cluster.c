/* SPDX-License-Identifier: MIT */
/*
 * bind/cluster.c - the class "cluster", the lists that hang on it, and the queue.
 */
#include "bind/bind.h"

#include <string.h>

/* -- lists ------------------------------------------------------------- */

/* A list is a handle whose row says of what. */
enum list { LIST_NODES, LIST_PARTITIONS, LIST_RUNNING };

static uint32_t list_length(struct sl_lua *x, enum list list)
{
	uint32_t count = 0;

	switch (list) {
	case LIST_NODES: return x->snap->node.rows;
	case LIST_PARTITIONS: return x->snap->partition.rows;
	case LIST_RUNNING: sl_cluster_running(x->cluster, &count); break;
	}
	return count;
}

static void push_element(lua_State *L, struct sl_lua *x, enum list list, uint32_t i)
{
	const uint32_t *row;
	uint32_t count;

	switch (list) {
	case LIST_NODES:
		sl_lua_push(L, x, SL_CLASS_NODE, i);
		break;
	case LIST_PARTITIONS:
		sl_lua_push(L, x, SL_CLASS_PARTITION, i);
		break;
	case LIST_RUNNING:
		row = sl_cluster_running(x->cluster, &count);
		sl_lua_push_job(L, x, row[i], x->snap->job.partition[row[i]]);
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

static const luaL_Reg list_meta[] = {
	{ "__index", list_index }, { "__len", list_len }, { "__pairs", list_pairs }, { NULL, NULL }
};

static const struct sl_lua_class list_class = {
	.id = SL_CLASS_LIST, .name = "list", .table = -1, .meta = list_meta,
};

/* -- the queue --------------------------------------------------------- */

/* Where an iteration over the queue is. */
struct walk {
	uint32_t generation, turn;
	uint32_t at;			/* position in the queue or the order */
	uint32_t left;			/* of the window */
	uint32_t last;			/* entry that was handed out, or SL_NONE */
	uint32_t *later;		/* entries that come after all others; NULL: none so far */
	uint32_t laters, later_at;
	uint32_t started;		/* length of the list of starts then */
	int64_t eligible_by;		/* only entries that became eligible by then */
	bool busy;			/* looking for the next one, and asking admit() and allow() */
};

static void check_walk(lua_State *L, struct sl_lua *x, const struct walk *w)
{
	if (!x->running || w->generation != x->generation || w->turn != x->turn)
		luaL_error(L, "this iteration over the queue is from an earlier cycle or another set of partitions");
	/* also after an error in the middle of it: what was asked about is neither handed out nor put off */
	if (w->busy)
		luaL_error(L, "this iteration over the queue is at work, or ended with an error: "
			   "what it asks (admit, allow) cannot go on with it");
}

/* An array's record comes again as long as it is started and has tasks left. */
static bool comes_again(struct sl_lua *x, const struct walk *w, const struct sl_entry *queue)
{
	const struct sl_entry *started;
	uint32_t count;

	if (w->last == SL_NONE)
		return false;
	started = sl_plan_started(x->plan, &count);
	return count > w->started && started[count - 1].job == queue[w->last].job &&
	       sl_plan_job(x->plan, queue[w->last].job) != SL_PLAN_STARTED;
}

/* When a job could have been started first, as far as it was up to the job. */
static int64_t eligible_since(const struct sl_lua *x, uint32_t job)
{
	int64_t submitted = x->snap->job.submit_time[job], eligible = x->snap->job.eligible_time[job];

	return eligible > submitted ? eligible : submitted;
}

/* Put an entry off until all others were handed out.  The block for them is the second
 * upvalue of queue_next(). */
static void put_off(lua_State *L, struct walk *w, uint32_t index, uint32_t count)
{
	if (!w->later) {
		w->later = lua_newuserdatauv(L, count * sizeof(*w->later), 0);
		lua_replace(L, lua_upvalueindex(2));
	}
	/* each is put off once: it is handed out again only after all others */
	if (w->laters == count)
		luaL_error(L, "allow: more answers \"later\" than the queue has entries");
	w->later[w->laters++] = index;
}

/* May it start?  One that is put off is not handed out now. */
static bool is_its_turn(lua_State *L, struct sl_lua *x, struct walk *w, const struct sl_entry *queue, uint32_t index,
			uint32_t count)
{
	enum sl_lua_allow answer = sl_lua_entry_allowed(L, x, queue[index], NULL);

	if (answer == SL_ALLOW_LATER)
		put_off(L, w, index, count);
	return answer == SL_ALLOW_YES;
}

/* The next of those that were put off. */
static uint32_t next_later(lua_State *L, struct sl_lua *x, struct walk *w, const struct sl_entry *queue)
{
	while (w->later_at < w->laters) {
		uint32_t index = w->later[w->later_at++];

		if (sl_lua_entry_open(L, x, index) && sl_lua_entry_allowed(L, x, queue[index], NULL) != SL_ALLOW_NO)
			return index;
	}
	return SL_NONE;
}

static uint32_t examine(struct sl_lua *x, struct walk *w, uint32_t index)
{
	w->left--;
	if (index < x->seen_room && !x->seen[index]) {
		x->seen[index] = 1;
		x->examined++;
	}
	return index;
}

/* The next entry to look at, or SL_NONE. */
static uint32_t next_entry(lua_State *L, struct sl_lua *x, struct walk *w, const struct sl_entry *queue, uint32_t count)
{
	uint32_t end = x->order ? x->ordered : count, index;

	if (comes_again(x, w, queue)) {
		if (w->later_at ? sl_lua_entry_allowed(L, x, queue[w->last], NULL) != SL_ALLOW_NO :
				  is_its_turn(L, x, w, queue, w->last, count))
			return w->last;
	}
	if (!w->left)
		return SL_NONE;
	while (w->at < end) {
		index = x->order ? x->order[w->at] : w->at;
		w->at++;
		if (eligible_since(x, queue[index].job) <= w->eligible_by && sl_lua_entry_open(L, x, index) &&
		    is_its_turn(L, x, w, queue, index, count))
			return examine(x, w, index);
	}
	index = next_later(L, x, w, queue);
	return index == SL_NONE ? SL_NONE : examine(x, w, index);
}

static int queue_next(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct walk *w = lua_touserdata(L, lua_upvalueindex(1));
	const struct sl_entry *queue;
	uint32_t count, index;

	check_walk(L, x, w);
	w->busy = true;
	queue = sl_cluster_queue(x->cluster, &count);
	index = next_entry(L, x, w, queue, count);
	w->busy = false;
	w->last = index;
	if (index == SL_NONE)
		return 0;
	sl_plan_started(x->plan, &w->started);
	sl_lua_push_job(L, x, queue[index].job, queue[index].partition);
	return 1;
}

/* cluster:queue([window [, eligible_by]]): for job in ... */
static int cluster_queue(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	lua_Integer window, by;
	struct walk *w;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	window = luaL_optinteger(L, 2, UINT32_MAX - 1);
	by = luaL_optinteger(L, 3, INT64_MAX);
	luaL_argcheck(L, window >= 0, 2, "a window of jobs is not negative");
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	*w = (struct walk) { .generation = x->generation, .turn = x->turn, .last = SL_NONE,
			     .left = window < SL_NONE ? window : SL_NONE - 1, .eligible_by = by };
	lua_pushnil(L);
	lua_pushcclosure(L, queue_next, 2);
	return 1;
}

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

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(struct sl_lua *x)
{
	uint64_t z = x->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Uniform in 0..most: what would favour some values is thrown away. */
static uint64_t random_upto(struct sl_lua *x, uint64_t most)
{
	uint64_t reject, z;

	if (most == UINT64_MAX)
		return next_random(x);
	reject = -(most + 1) % (most + 1);
	do
		z = next_random(x);
	while (z < reject);
	return z % (most + 1);
}

/* cluster:random() in [0,1); (m): 1..m; (l, m): l..m.  The same in every replay. */
static int cluster_random(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	lua_Integer low = 1, high;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	if (lua_isnoneornil(L, 2)) {
		lua_pushnumber(L, (lua_Number) (next_random(x) >> 11) * 0x1p-53);
		return 1;
	}
	high = luaL_checkinteger(L, 2);
	if (!lua_isnoneornil(L, 3)) {
		low = high;
		high = luaL_checkinteger(L, 3);
	}
	luaL_argcheck(L, low <= high, lua_isnoneornil(L, 3) ? 2 : 3, "interval is empty");
	lua_pushinteger(L, (lua_Integer) ((uint64_t) low + random_upto(x, (uint64_t) high - (uint64_t) low)));
	return 1;
}

static const luaL_Reg cluster_methods[] = {
	{ "queue", cluster_queue }, { "job", cluster_job }, { "node", cluster_node },
	{ "partition", cluster_partition }, { "random", cluster_random }, { "bids", sl_lua_cluster_bids },
	{ "window", sl_lua_cluster_window }, { "recall", sl_lua_cluster_recall },
	{ "nodesets", sl_lua_cluster_nodesets }, { "overlaps", sl_lua_cluster_overlaps }, { NULL, NULL }
};

static void push_now(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	lua_pushinteger(L, sl_cluster_now(x->cluster));
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
	set_count(L, "running", t.running);
	sl_lua_push_gres(L, x, t.free_gres);
	lua_setfield(L, -2, "free_gres");
	make_strict(L, "cluster.totals");
}

static void push_usage(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) h;
	sl_lua_push(L, x, SL_CLASS_USAGE, 0);
}

/* What usable nodes of this set's partitions have in all. */
static void push_supply(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_supply supply;

	(void) h;
	sl_cluster_supply(x->cluster, x->member, &supply);
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
	{ "name", push_name },
	{ "nodes", push_nodes },
	{ "partitions", push_partitions },
	{ "running", push_running },
	{ "licenses", push_licenses },
	{ "reservations", push_reservations },
	{ "totals", push_totals },
	{ "supply", push_supply },
	{ "usage", push_usage },
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
