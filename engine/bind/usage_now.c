/* SPDX-License-Identifier: MIT */
/* bind/usage_now.c - see bind/usage.h */
#include "bind/usage.h"

#include <math.h>
#include <string.h>

#include "model/request.h"

struct sl_usage_now {
	enum sl_usage_sum what;
	int by, unit;
	uint32_t partition;		/* row: only what is there; SL_NONE: everything */
	bool nowhere;			/* there is no such partition */
	/* as of */
	bool known;
	uint64_t revision;		/* of the plan */
	uint32_t starts;
	uint16_t gpu_kinds;
	uint32_t counted[];		/* of what waits, by job row: the partition row as part of which it counts + 1 */
};

struct sl_usage_now *sl_usage_now_begin(lua_State *L, struct sl_lua *x, enum sl_usage_sum what,
					const struct sl_lua_question *q)
{
	size_t size = sizeof(struct sl_usage_now) + (what == SL_SUM_QUEUED ? x->snap->job.rows : 0) * sizeof(uint32_t);
	struct sl_usage_now *now = lua_newuserdatauv(L, size, 0);

	memset(now, 0, size);
	now->what = what;
	now->by = q->by;
	now->unit = q->unit;
	now->partition = SL_NONE;
	now->gpu_kinds = sl_gpu_kinds(x->snap);
	if (q->query.partition) {
		lua_pushstring(L, q->query.partition);
		now->partition = sl_lua_find(L, x, SL_T_PARTITION, -1);
		now->nowhere = now->partition == SL_NONE;
		lua_pop(L, 1);
	}
	return now;
}

/* -- one job ------------------------------------------------------------ */

static const char *name_of(const struct sl_usage_now *now, struct sl_lua *x, uint32_t job, uint32_t partition)
{
	const struct sl_job_view *j = &x->snap->job;

	switch (now->by) {
	case SL_BY_USER:
		return sl_snapshot_str(x->snap, j->user[job]);
	case SL_BY_ACCOUNT:
		return sl_snapshot_str(x->snap, j->account[job]);
	case SL_BY_QOS:
		return sl_snapshot_str(x->snap, j->qos[job]);
	default:
		return partition == SL_NONE ? "" : sl_snapshot_str(x->snap, x->snap->partition.name[partition]);
	}
}

static bool counts_there(const struct sl_usage_now *now, uint32_t partition)
{
	return !now->nowhere && (now->partition == SL_NONE || now->partition == partition);
}

/* table[name] += units x seconds; without a limit, or beyond what an integer holds, it is
 * math.huge.  False, and nothing is changed, if units are to be taken from that. */
static bool add(lua_State *L, const char *name, int64_t units, int64_t seconds)
{
	int64_t product, sum;
	bool huge;

	if (!units)
		return true;
	lua_getfield(L, -1, name);
	huge = lua_type(L, -1) == LUA_TNUMBER && !lua_isinteger(L, -1);
	if (units < 0 && (huge || seconds == SL_UNLIMITED)) {
		lua_pop(L, 1);
		return false;
	}
	if (seconds == SL_UNLIMITED || huge || __builtin_mul_overflow(units, seconds, &product) ||
	    __builtin_add_overflow(lua_tointeger(L, -1), product, &sum))
		lua_pushnumber(L, HUGE_VAL);
	else if (sum)
		lua_pushinteger(L, sum);
	else
		lua_pushnil(L);
	lua_setfield(L, -3, name);
	lua_pop(L, 1);
	return true;
}

/* -- what runs ------------------------------------------------------------ */

static void add_running(lua_State *L, struct sl_lua *x, const struct sl_usage_now *now)
{
	uint32_t count;
	const uint32_t *row = sl_cluster_running(x->cluster, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t home = sl_snapshot_home(x->snap, row[i]);
		int64_t units, seconds = 1;

		if (!counts_there(now, home))
			continue;
		units = now->unit == SL_UNIT_JOB ? 1 : sl_cluster_has(x->cluster, row[i], (enum sl_unit) now->unit);
		if (now->what == SL_SUM_RUNNING)
			seconds = x->snap->job.time_limit[row[i]];
		else if (now->what == SL_SUM_USED)
			seconds = sl_cluster_ran_at_size(x->cluster, row[i]);
		add(L, name_of(now, x, row[i], home), units, seconds);
	}
}

static void add_start(lua_State *L, struct sl_lua *x, const struct sl_usage_now *now, uint32_t i)
{
	struct sl_booking b;
	struct sl_error err;
	int64_t units = 1, seconds = 1;

	if (sl_plan_booking(x->plan, false, i, &b, &err))
		luaL_error(L, "%s", err.text);
	if (!counts_there(now, b.entry.partition))
		return;
	if (now->unit != SL_UNIT_JOB)
		units = sl_place_units(x->snap, now->gpu_kinds, b.places, b.count, (enum sl_unit) now->unit);
	if (now->what == SL_SUM_RUNNING)
		seconds = b.end_time == SL_UNLIMITED ? SL_UNLIMITED : b.end_time - b.start_time;
	add(L, name_of(now, x, b.entry.job, b.entry.partition), units, seconds);
}

/* -- what waits ------------------------------------------------------------- */

/* So many tasks of a job more; it is one that counts. */
static bool add_tasks(lua_State *L, struct sl_lua *x, const struct sl_usage_now *now, uint32_t job, int64_t tasks)
{
	struct sl_ask a = sl_request_read(x->snap, job, 0);
	int64_t units = now->unit == SL_UNIT_JOB ? 1 : sl_ask_units(x->snap, &a, (enum sl_unit) now->unit);

	return add(L, name_of(now, x, job, now->counted[job] - 1), units * tasks,
		   now->unit == SL_UNIT_JOB ? 1 : a.walltime);
}

/* A job that stands in the queue once for each of its partitions counts once. */
static void add_queued(lua_State *L, struct sl_lua *x, struct sl_usage_now *now)
{
	uint32_t count, starts;
	const struct sl_entry *queue = sl_cluster_queue(x->cluster, &count);
	const struct sl_entry *started = sl_plan_started(x->plan, &starts);
	uint32_t *gone = lua_newuserdatauv(L, (x->snap->job.rows + 1) * sizeof(*gone), 0);

	memset(gone, 0, (x->snap->job.rows + 1) * sizeof(*gone));
	memset(now->counted, 0, x->snap->job.rows * sizeof(*now->counted));
	lua_insert(L, -2);
	for (uint32_t i = 0; i < starts; i++)
		gone[started[i].job]++;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t job = queue[i].job, tasks = x->snap->job.array_pending[job];

		if (now->counted[job] || !counts_there(now, queue[i].partition))
			continue;
		now->counted[job] = queue[i].partition + 1;
		add_tasks(L, x, now, job, (int64_t) (tasks ? tasks : 1) - gone[job]);
	}
	lua_remove(L, -2);
	now->starts = starts;
}

/* -- the table ---------------------------------------------------------------- */

/* Empty the table on the top, all of whose keys are names. */
static void clear(lua_State *L)
{
	for (lua_pushnil(L); lua_next(L, -2); ) {
		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_pushnil(L);
		lua_rawset(L, -4);	/* a field that is there may be cleared on the way */
	}
}

static void make_anew(lua_State *L, struct sl_lua *x, struct sl_usage_now *now)
{
	clear(L);
	now->starts = 0;
	if (now->what == SL_SUM_QUEUED)
		add_queued(L, x, now);
	else
		add_running(L, x, now);
}

void sl_usage_now_follow(lua_State *L, struct sl_lua *x, struct sl_usage_now *now)
{
	uint64_t revision = sl_plan_revision(x->plan);
	uint32_t count;
	const struct sl_entry *started = sl_plan_started(x->plan, &count);

	luaL_checkstack(L, 8, NULL);
	/* where more has changed than what was added to the list of starts, some were taken back */
	if (!now->known || revision - now->revision != (uint64_t) count - now->starts)
		make_anew(L, x, now);
	for (; now->starts < count && now->what != SL_SUM_USED; now->starts++) {
		if (now->what != SL_SUM_QUEUED)
			add_start(L, x, now, now->starts);
		else if (now->counted[started[now->starts].job] &&
			 !add_tasks(L, x, now, started[now->starts].job, -1)) {
			make_anew(L, x, now);	/* less than without a limit may be anything */
			break;
		}
	}
	now->starts = count;
	now->revision = revision;
	now->known = true;
}
