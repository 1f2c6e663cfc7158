/* SPDX-License-Identifier: MIT */
/*
 * bind/held.c - what users (accounts, QOSes) hold, in core-, GPU- or node-seconds.
 *
 *	held = engine.held { by = "user", unit = "cpu", partitions = { "a", "b" },
 *			     no_walltime = 31536000, from = t0, to = t1, flat = false, groups = { lhc = "physics" } }
 *	name, asked, has = held(job)	of a job that waits: whose it is, what it asks for,
 *					and what that one holds
 *	t = held:falls(job, seconds)	when that one will hold so little; nil: never by itself
 *	seconds = held:of(name)
 *	held:is_first(job)		nothing of its name runs, and no job of that name was
 *					queued here earlier
 *	held:others_wait(job)		a job of another name that asks for some of the unit waits here, and time may
 *					help it
 *	units = held:supply()		what usable nodes of the partitions have
 *
 * by is "user", "account", "qos" or "partition"; with groups, accounts that it names count as the group.  unit is
 * "cpu", "core", "gpu", "node" or "job".
 *
 * Held is units x walltime of the running jobs and of those that this cycle has
 * started so far, in *partitions* (nil: all).  With from and to only the part of
 * it that lies between them counts, from a job's start to the end of its walltime (of one that was
 * resized from then on: what it had before is in the ledger);
 * what a job asks for then is what it would hold if it started now.  With flat it is units alone.
 *
 * The sums are made on first use in a cycle and follow the plan's starts by
 * themselves; a start that was undone makes them anew.  A question costs a fraction of
 * a microsecond, so that ten thousand jobs can be asked about.
 *
 * Units are what the job has got where it has got it: CPUs of its places as Slurm counts
 * them (whole cores, times the threads that are schedulable), GPUs, nodes.
 * What a waiting job asks for is the least that its request can come to; bind/plan.c asks
 * again once a place is known.
 */
#include "bind/bind.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "model/request.h"

enum by { BY_USER, BY_ACCOUNT, BY_QOS, BY_PARTITION };
enum { UNIT_CORE = SL_UNITS, UNIT_JOB };	/* beside enum sl_unit */

#define MOST (INT64_MAX / 1024)	/* sums stop here instead of overflowing */
#define BY_UID (UINT64_C(1) << 32)	/* of a name: a user without name, by number */
#define BY_GROUP (UINT64_C(1) << 33)	/* a group of accounts, by its place in the list of their names */
#define GROUP_NAMES 1			/* that list: user value */

struct name {
	uint64_t key;		/* string of the snapshot's pool, BY_UID | uid, or BY_GROUP | n */
	int64_t sum;
	uint32_t first;		/* 1 + its first piece; 0: none */
	uint32_t queued;	/* 1 + row of its job that was submitted first; 0: none */
	uint32_t waiting;	/* its jobs that wait */
};

/* What one job holds. */
struct piece {
	int64_t end, amount;
	uint32_t next;		/* 1 + the name's next one */
};

/* An account that counts as a group. */
struct in_group {
	uint32_t account;	/* string of the snapshot's pool */
	uint32_t group;
};

struct held {
	int unit;
	enum by by;
	bool flat;
	struct in_group *in_group;
	uint32_t in_groups, group_room;
	struct sl_map by_account;	/* -> in_group */
	int64_t no_walltime;
	bool between;
	int64_t from, to;
	uint8_t *member;	/* by partition row, NULL: all; behind this struct */
	/* as of */
	uint32_t picture;		/* number of the snapshot for which it was made */
	uint32_t generation;		/* of the cycle in which it was asked last */
	uint32_t starts;
	uint64_t revision;		/* of the plan, when so many starts were in it */
	bool known, knows_first, knows_waiting;
	uint32_t names_waiting;		/* that have jobs that wait */
	uint32_t *counted;		/* by job row: the partition row as part of which it waits + 1 */
	uint16_t gpu_kinds;
	struct name *name;
	uint32_t names, name_room;
	struct sl_map by_key;	/* -> name */
	struct piece *piece;
	uint32_t pieces, room;
};

#define HELD_CLASS "held"

static int64_t multiply(int64_t a, int64_t b)
{
	return a && b > MOST / a ? MOST : a * b;
}

static void add(int64_t *sum, int64_t v)
{
	*sum = *sum > MOST - v ? MOST : *sum + v;
}

/* -- names --------------------------------------------------------------- */

/* The group of an account, or itself. */
static uint64_t key_of_account(const struct held *h, uint32_t account)
{
	SL_MAP_EACH(&h->by_account, sl_hash_number(SL_HASH, account), at)
		if (h->in_group[at.value].account == account)
			return BY_GROUP | h->in_group[at.value].group;
	return account;
}

/* The name for which a job counts; *partition*: where it runs or is looked at. */
static uint64_t key_of(const struct held *h, const struct sl_snapshot *s, uint32_t job, uint32_t partition)
{
	switch (h->by) {
	case BY_ACCOUNT:
		return key_of_account(h, s->job.account[job]);
	case BY_QOS:
		return s->job.qos[job];
	case BY_PARTITION:
		return partition == SL_NONE ? 0 : s->partition.name[partition];
	default:
		return s->job.user[job] ? s->job.user[job] : BY_UID | s->job.uid[job];
	}
}

/* The name of a key, or one that has nothing. */
static const struct name *find_name(const struct held *h, uint64_t key)
{
	static const struct name nobody;

	SL_MAP_EACH(&h->by_key, sl_hash_number(SL_HASH, key), at)
		if (h->name[at.value].key == key)
			return &h->name[at.value];
	return &nobody;
}

/* -- what a job has, and what it asks for ---------------------------------- */

static bool has_whole_nodes(const struct sl_snapshot *s, struct sl_entry e)
{
	return s->job.flags[e.job] & SL_JOBF_EXCLUSIVE || s->partition.oversubscribe[e.partition] == 0 ||
	       s->meta.select_flags[0] & SL_SELECT_WHOLE_NODE;
}

/* The least that a way to run an entry can come to. */
static int64_t units_asked(const struct held *h, struct sl_lua *x, struct sl_entry e, const struct sl_ask *a)
{
	const struct sl_snapshot *s = x->snap;
	uint32_t node = sl_nodeset_next(sl_cluster_partition_nodes(x->cluster, e.partition), 0);
	bool some = node < s->node.rows;
	int64_t threads = some && s->node.threads[node] ? s->node.threads[node] : 1;
	int64_t per_node = some && s->node.cores[node] ? s->node.cores[node] : 1;
	int64_t nodes = a->min_nodes, cores = (sl_ask_cpus(a) + threads - 1) / threads;

	if (cores < nodes)
		cores = nodes;
	if (nodes * per_node < cores)
		nodes = (cores + per_node - 1) / per_node;
	if (some && has_whole_nodes(s, e))
		cores = nodes * per_node;
	switch (h->unit) {
	case UNIT_JOB:
		return 1;
	case SL_UNIT_NODE:
		return nodes;
	case UNIT_CORE:
		return cores;
	case SL_UNIT_CPU:
		return cores * threads;
	default:
		return some && has_whole_nodes(s, e) ? nodes * sl_node_gpus(s, node) : sl_ask_gpus(s, a, nodes);
	}
}

static int64_t units_of_places(const struct held *h, struct sl_lua *x, const struct sl_place *place, uint32_t count)
{
	int64_t cores = 0;

	if (h->unit < (int) SL_UNITS)
		return sl_place_units(x->snap, h->gpu_kinds, place, count, (enum sl_unit) h->unit);
	for (uint32_t i = 0; i < count; i++)
		cores += place[i].cores;
	return h->unit == UNIT_JOB ? 1 : cores;
}

static int64_t units_of_running(const struct held *h, struct sl_lua *x, uint32_t job)
{
	const struct sl_place *place;
	uint32_t count;

	if (h->unit < (int) SL_UNITS)
		return sl_cluster_has(x->cluster, job, (enum sl_unit) h->unit);
	place = sl_cluster_places(x->cluster, job, &count);
	return units_of_places(h, x, place, count);
}

/* Seconds of [start, end) that count. */
static int64_t seconds_between(const struct held *h, int64_t start, int64_t end)
{
	if (start < h->from)
		start = h->from;
	if (end > h->to)
		end = h->to;
	return end > start ? end - start : 0;
}

/* Seconds of [start, start + limit) that count, 1 where units do; *end is where the walltime ends. */
static int64_t seconds_held(const struct held *h, int64_t start, int64_t limit, int64_t *end)
{
	if (limit == SL_UNLIMITED)
		limit = h->no_walltime;
	*end = start > INT64_MAX - limit ? INT64_MAX : start + limit;
	if (h->flat)
		return 1;
	return h->between ? seconds_between(h, start, *end) : limit;
}

/* -- the sums ------------------------------------------------------------- */

/* The name of a key, entered if need be. */
static struct name *enter_name(lua_State *L, struct held *h, uint64_t key)
{
	uint64_t hash = sl_hash_number(SL_HASH, key);

	SL_MAP_EACH(&h->by_key, hash, at)
		if (h->name[at.value].key == key)
			return &h->name[at.value];
	if (sl_grow(&h->name, &h->name_room, h->names + UINT64_C(1), sizeof(*h->name), NULL) ||
	    sl_map_put(&h->by_key, hash, h->names, NULL))
		luaL_error(L, "out of memory");
	h->name[h->names] = (struct name) { .key = key };
	return &h->name[h->names++];
}

static void add_piece(lua_State *L, struct held *h, uint64_t key, int64_t amount, int64_t end)
{
	struct name *n;

	if (sl_grow(&h->piece, &h->room, h->pieces + UINT64_C(1), sizeof(*h->piece), NULL))
		luaL_error(L, "out of memory");
	n = enter_name(L, h, key);
	add(&n->sum, amount);
	h->piece[h->pieces] = (struct piece) { end, amount, n->first };
	n->first = ++h->pieces;
}

static void add_running(lua_State *L, struct sl_lua *x, struct held *h, uint32_t job)
{
	const struct sl_job_view *j = &x->snap->job;
	int64_t limit = j->time_limit[job], end = sl_cluster_end(x->cluster, job), start = j->start_time[job], seconds;
	uint32_t home = sl_snapshot_home(x->snap, job);

	if (h->member && (home == SL_NONE || !h->member[home]))
		return;
	/* In a simulation the row says nothing of the start; and it may run until later than
	 * its start and walltime say, having been suspended. */
	if (limit != SL_UNLIMITED && (!start || end > start + limit) && end != SL_UNLIMITED)
		start = end - limit;
	seconds = seconds_held(h, start ? start : sl_cluster_now(x->cluster), limit, &end);
	if (h->between && sl_cluster_resized(x->cluster, job) > h->from)
		seconds = seconds_between(h, sl_cluster_resized(x->cluster, job), end);
	add_piece(L, h, key_of(h, x->snap, job, home), multiply(units_of_running(h, x, job), seconds), end);
}

static void add_started(lua_State *L, struct sl_lua *x, struct held *h, uint32_t i)
{
	struct sl_booking b;
	struct sl_error err;
	int64_t limit, end, seconds, units;

	if (sl_plan_booking(x->plan, false, i, &b, &err))
		luaL_error(L, "%s", err.text);
	if (h->member && !h->member[b.entry.partition])
		return;
	limit = b.end_time == SL_UNLIMITED ? SL_UNLIMITED : b.end_time - b.start_time;
	seconds = seconds_held(h, b.start_time, limit, &end);
	units = units_of_places(h, x, b.places, b.count);
	add_piece(L, h, key_of(h, x->snap, b.entry.job, b.entry.partition), multiply(units, seconds), end);
}

/* A job of which all has started waits no more, wherever it was counted. */
static void count_off(struct held *h, struct sl_lua *x, uint32_t job)
{
	uint64_t key;

	if (!h->knows_waiting || !h->counted[job] || sl_plan_job(x->plan, job) != SL_PLAN_STARTED)
		return;
	key = key_of(h, x->snap, job, h->counted[job] - 1);
	h->counted[job] = 0;
	SL_MAP_EACH(&h->by_key, sl_hash_number(SL_HASH, key), at)
		if (h->name[at.value].key == key && !--h->name[at.value].waiting)
			h->names_waiting--;
}

static void forget(struct held *h)
{
	sl_map_clear(&h->by_key);
	h->names = h->pieces = h->starts = 0;
	h->known = h->knows_first = h->knows_waiting = false;
}

/* Bring the sums up to date; a start on trial does not count. */
static void follow(lua_State *L, struct sl_lua *x, struct held *h)
{
	const uint32_t *running;
	uint32_t count, runs;
	const struct sl_entry *started = sl_plan_started(x->plan, &count);

	/* where more has changed than what was added to the list of starts, some were taken back */
	if (h->known && sl_plan_revision(x->plan) - h->revision != (uint64_t) count - h->starts)
		forget(h);
	if (!h->known) {
		h->gpu_kinds = sl_gpu_kinds(x->snap);
		running = sl_cluster_running(x->cluster, &runs);
		for (uint32_t i = 0; i < runs; i++)
			add_running(L, x, h, running[i]);
		h->known = true;
	}
	for (; h->starts < count; h->starts++) {
		add_started(L, x, h, h->starts);
		count_off(h, x, started[h->starts].job);
	}
	h->revision = sl_plan_revision(x->plan);
}

/* -- the class ------------------------------------------------------------ */

/*
 * Keys are strings of the snapshot, and `member` is as long as its partitions are many: neither is of any use with
 * another one.  With the same one (a simulation) the sums are made anew in each cycle.
 */
static struct held *check_held(lua_State *L, struct sl_lua *x)
{
	struct held *h = luaL_checkudata(L, 1, HELD_CLASS);

	if (!x->running || h->picture != x->picture)
		luaL_error(L, "this engine.held is of another snapshot: get another one in this cycle");
	if (h->generation != x->generation)
		forget(h);
	h->generation = x->generation;
	return h;
}

/* The held is at 1. */
static void push_name(lua_State *L, struct sl_lua *x, uint64_t key)
{
	if (key & BY_GROUP) {
		lua_getiuservalue(L, 1, GROUP_NAMES);
		lua_rawgeti(L, -1, (lua_Integer) (key & ~BY_GROUP) + 1);
		lua_remove(L, -2);
	} else if (key & BY_UID)
		lua_pushfstring(L, "%I", (lua_Integer) (key & ~BY_UID));
	else
		lua_pushstring(L, sl_snapshot_str(x->snap, (uint32_t) key));
}

/* What an entry would hold if it started now. */
static int64_t amount_asked(struct sl_lua *x, struct held *h, struct sl_entry e)
{
	int64_t least = MOST, amount, now = sl_cluster_now(x->cluster), end;
	struct sl_booking b;

	if (sl_plan_trial(x->plan, &b))
		return multiply(units_of_places(h, x, b.places, b.count),
				seconds_held(h, now, b.end_time == SL_UNLIMITED ? SL_UNLIMITED :
					     b.end_time - b.start_time, &end));
	for (uint32_t shape = 0; shape <= x->snap->job.shapes[e.job].count; shape++) {
		struct sl_ask a = sl_request_read(x->snap, e.job, shape);

		amount = multiply(units_asked(h, x, e, &a), seconds_held(h, now, a.walltime, &end));
		if (amount < least)
			least = amount;
	}
	return least;
}

/* held(job): name, asked, has */
static int held_call(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct held *h = check_held(L, x);
	struct sl_entry e = sl_lua_check_entry(L, x, 2);
	uint64_t key = key_of(h, x->snap, e.job, e.partition);
	const struct name *n;

	follow(L, x, h);
	n = find_name(h, key);
	push_name(L, x, key);
	lua_pushinteger(L, amount_asked(x, h, e));
	lua_pushinteger(L, n->sum);
	return 3;
}

/* held:of(name) */
static int held_of(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct held *h = check_held(L, x);
	const char *name = luaL_checkstring(L, 2);
	int64_t sum = 0;

	follow(L, x, h);
	for (uint32_t i = 0; i < h->names; i++)
		if (!(h->name[i].key & (BY_UID | BY_GROUP)) &&
		    !strcmp(sl_snapshot_str(x->snap, (uint32_t) h->name[i].key), name))
			sum = h->name[i].sum;
	lua_pushinteger(L, sum);
	return 1;
}

/* Of each name, the job in the queue that was submitted first. */
static void find_first(lua_State *L, struct sl_lua *x, struct held *h)
{
	const struct sl_job_view *j = &x->snap->job;
	uint32_t count;
	const struct sl_entry *queue = sl_cluster_queue(x->cluster, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t job = queue[i].job, best;
		struct name *n;

		if (h->member && !h->member[queue[i].partition])
			continue;
		n = enter_name(L, h, key_of(h, x->snap, job, queue[i].partition));
		best = n->queued ? n->queued - 1 : job;
		if (j->submit_time[job] < j->submit_time[best] ||
		    (j->submit_time[job] == j->submit_time[best] && j->id[job] <= j->id[best]))
			n->queued = job + 1;
	}
	h->knows_first = true;
}

static int held_is_first(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct held *h = check_held(L, x);
	struct sl_entry e = sl_lua_check_entry(L, x, 2);
	const struct name *n;

	follow(L, x, h);
	if (!h->knows_first)
		find_first(L, x, h);
	n = find_name(h, key_of(h, x->snap, e.job, e.partition));
	lua_pushboolean(L, !n->first && n->queued == e.job + 1);
	return 1;
}

/* Of the queue, jobs that ask for some of the unit, and that time may help. */
static void count_waiting(lua_State *L, struct sl_lua *x, struct held *h)
{
	uint32_t count;
	const struct sl_entry *queue = sl_cluster_queue(x->cluster, &count);

	if (!h->counted && !(h->counted = calloc(x->snap->job.rows + 1, sizeof(*h->counted))))
		luaL_error(L, "out of memory");
	memset(h->counted, 0, (x->snap->job.rows + 1) * sizeof(*h->counted));
	h->names_waiting = 0;
	for (uint32_t i = 0; i < h->names; i++)
		h->name[i].waiting = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct sl_entry e = queue[i];
		struct sl_ask a = sl_request_read(x->snap, e.job, 0);
		struct sl_error err;
		int hopeless;

		if (h->counted[e.job] || (h->member && !h->member[e.partition]) || !units_asked(h, x, e, &a) ||
		    sl_plan_job(x->plan, e.job) == SL_PLAN_STARTED)
			continue;
		if ((hopeless = sl_plan_refuse_hopeless(x->plan, e, &err)) < 0)
			luaL_error(L, "%s", err.text);
		if (hopeless)
			continue;
		h->counted[e.job] = e.partition + 1;
		h->names_waiting += !enter_name(L, h, key_of(h, x->snap, e.job, e.partition))->waiting++;
	}
	h->knows_waiting = true;
}

/* held:others_wait(job) */
static int held_others_wait(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct held *h = check_held(L, x);
	struct sl_entry e = sl_lua_check_entry(L, x, 2);

	follow(L, x, h);
	if (!h->knows_waiting)
		count_waiting(L, x, h);
	lua_pushboolean(L, h->names_waiting > (find_name(h, key_of(h, x->snap, e.job, e.partition))->waiting > 0));
	return 1;
}

/* held:supply() */
static int held_supply(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct held *h = check_held(L, x);
	uint16_t kinds = sl_gpu_kinds(x->snap);
	struct sl_supply supply;
	uint64_t n = 0;

	sl_cluster_supply(x->cluster, h->member, &supply);
	for (unsigned k = 0; h->unit == SL_UNIT_GPU && kinds >> k; k++)
		n += kinds >> k & 1 ? supply.gres[k] : 0;
	if (h->unit != SL_UNIT_GPU)
		n = h->unit == SL_UNIT_CPU ? supply.cpus : h->unit == UNIT_CORE ? supply.cores :
			h->unit == SL_UNIT_NODE ? supply.nodes : 0;
	lua_pushinteger(L, (lua_Integer) n);
	return 1;
}

static int by_end(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* held:falls(job, seconds): when its name holds at most that, if nothing else starts */
static int held_falls(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct held *h = check_held(L, x);
	struct sl_entry e = sl_lua_check_entry(L, x, 2);
	lua_Integer most = luaL_checkinteger(L, 3);
	const struct name *n;
	struct piece *own;
	uint32_t count = 0;
	int64_t left;

	follow(L, x, h);
	n = find_name(h, key_of(h, x->snap, e.job, e.partition));
	left = n->sum;
	for (uint32_t i = n->first; i; i = h->piece[i - 1].next)
		count++;
	own = lua_newuserdatauv(L, (count + 1) * sizeof(*own), 0);
	count = 0;
	for (uint32_t i = n->first; i; i = h->piece[i - 1].next)
		own[count++] = h->piece[i - 1];
	qsort(own, count, sizeof(*own), by_end);
	for (uint32_t i = 0; i < count && left > most; i++) {
		left -= own[i].amount;
		if (left <= most) {
			lua_pushinteger(L, own[i].end);
			return 1;
		}
	}
	lua_pushnil(L);
	return 1;
}

static int held_gc(lua_State *L)
{
	struct held *h = lua_touserdata(L, 1);

	free(h->name);
	free(h->piece);
	free(h->counted);
	free(h->in_group);
	h->counted = NULL;
	h->in_group = NULL;
	sl_map_free(&h->by_account);
	h->name = NULL;
	h->piece = NULL;
	sl_map_free(&h->by_key);
	h->name_room = h->room = 0;
	return 0;
}

static int option(lua_State *L, const char *name, const char *const list[])
{
	int i;

	lua_getfield(L, 1, name);
	i = luaL_checkoption(L, -1, list[0], list);
	lua_pop(L, 1);
	return i;
}

static int64_t number(lua_State *L, const char *name, int64_t otherwise)
{
	lua_Number n;

	lua_getfield(L, 1, name);
	n = luaL_optnumber(L, -1, (lua_Number) otherwise);
	if (!(n >= 0))
		luaL_error(L, "%s: expected 0 or more, got %f", name, (LUAI_UACNUMBER) n);
	lua_pop(L, 1);
	return n >= (lua_Number) MOST ? MOST : (int64_t) n;
}

/* groups = { ACCOUNT = GROUP }: which accounts of the snapshot's jobs count as one.  The held is on the top. */
static void read_groups(lua_State *L, struct sl_lua *x, struct held *h)
{
	uint32_t groups = 0;

	if (lua_getfield(L, 1, "groups") != LUA_TTABLE) {
		lua_pop(L, 1);
		return;
	}
	lua_newtable(L);		/* names of groups, and their numbers */
	for (uint32_t job = 0; job < x->snap->job.rows; job++) {
		uint32_t account = x->snap->job.account[job];

		if (key_of_account(h, account) != account)
			continue;
		lua_pushstring(L, sl_snapshot_str(x->snap, account));
		if (lua_gettable(L, -3) == LUA_TSTRING) {
			lua_pushvalue(L, -1);
			if (lua_rawget(L, -3) != LUA_TNUMBER) {
				lua_pushvalue(L, -2);
				lua_rawseti(L, -4, ++groups);
				lua_pushvalue(L, -2);
				lua_pushinteger(L, groups);
				lua_rawset(L, -5);
				lua_pushinteger(L, groups);
				lua_replace(L, -2);
			}
			if (sl_grow(&h->in_group, &h->group_room, h->in_groups + UINT64_C(1), sizeof(*h->in_group), NULL) ||
			    sl_map_put(&h->by_account, sl_hash_number(SL_HASH, account), h->in_groups, NULL))
				luaL_error(L, "out of memory");
			h->in_group[h->in_groups++] = (struct in_group) { account, (uint32_t) lua_tointeger(L, -1) - 1 };
			lua_pop(L, 1);
		}
		lua_pop(L, 1);
	}
	lua_setiuservalue(L, -3, GROUP_NAMES);
	lua_pop(L, 1);
}

/* engine.held { ... } */
static int engine_held(lua_State *L)
{
	static const char *const units[] = { "cpu", "gpu", "node", "core", "job", NULL };
	static const char *const bys[] = { "user", "account", "qos", "partition", NULL };
	struct sl_lua *x = sl_lua_context(L);
	struct held *h;
	bool some;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_argcheck(L, x->running, 1, "only in a cycle");
	lua_settop(L, 1);
	some = lua_getfield(L, 1, "partitions") == LUA_TTABLE;
	h = lua_newuserdatauv(L, sizeof(*h) + (some ? x->snap->partition.rows : 0), 1);
	memset(h, 0, sizeof(*h) + (some ? x->snap->partition.rows : 0));
	luaL_setmetatable(L, HELD_CLASS);
	h->picture = x->picture;
	h->generation = x->generation;
	h->unit = option(L, "unit", units);
	h->by = option(L, "by", bys);
	h->no_walltime = number(L, "no_walltime", 365 * 86400);
	h->from = number(L, "from", 0);
	h->to = number(L, "to", MOST);
	lua_getfield(L, 1, "from");
	h->between = !lua_isnil(L, -1);
	lua_pop(L, 1);
	if (some) {
		h->member = (uint8_t *) (h + 1);
		sl_lua_mark_partitions(L, x, 2, h->member);
	}
	lua_getfield(L, 1, "flat");
	h->flat = lua_toboolean(L, -1);
	lua_pop(L, 1);
	read_groups(L, x, h);
	return 1;
}

void sl_lua_open_held(lua_State *L)
{
	static const luaL_Reg meta[] = {
		{ "__call", held_call }, { "__gc", held_gc }, { NULL, NULL }
	};
	static const luaL_Reg methods[] = {
		{ "of", held_of }, { "falls", held_falls }, { "is_first", held_is_first },
		{ "others_wait", held_others_wait }, { "supply", held_supply }, { NULL, NULL }
	};

	luaL_newmetatable(L, HELD_CLASS);
	luaL_setfuncs(L, meta, 0);
	luaL_newlib(L, methods);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
	lua_pushcfunction(L, engine_held);
}
