/* SPDX-License-Identifier: MIT */
/*
 * bind/usage.c - the class "usage": who used, uses and asks for how much.
 *
 *	cluster.usage:past { by = "user", unit = "cpu", since = t0, until_ = t1, partition = "p" }
 *	cluster.usage:decayed { by =, unit =, half_life = seconds }
 *	cluster.usage:running { by =, unit = }, :used { ... }, :queued { ... }
 *	cluster.usage.stale
 *
 * Each gives a read-only table of names; the same question gives the same table all through a cycle.
 */
#include "bind/bind.h"
#include "model/request.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ARGUMENTS 2		/* index of the table of arguments */

/* Key of the registry: { [question] = answer, generation = n }. */
static const char answers_key;

/* -- arguments --------------------------------------------------------- */

struct key {
	const char *name;
	enum { BY, UNIT, SINCE, UNTIL, PARTITION, WITHOUT, HALF_LIFE } what;
};

static const struct key keys[] = {
	{ "by", BY }, { "unit", UNIT }, { "partition", PARTITION }, { "without", WITHOUT },
	{ "since", SINCE }, { "until_", UNTIL }, { "half_life", HALF_LIFE },
};

/* Which of them a method takes. */
#define ALWAYS (1u << BY | 1u << UNIT | 1u << PARTITION)
#define OF_PAST (ALWAYS | 1u << WITHOUT | 1u << SINCE | 1u << UNTIL)
#define OF_DECAYED (ALWAYS | 1u << WITHOUT | 1u << HALF_LIFE)

static int64_t check_time(lua_State *L, const char *name)
{
	lua_Number n = lua_tonumber(L, -1);

	if (lua_isinteger(L, -1))
		n = (lua_Number) lua_tointeger(L, -1);
	if (lua_type(L, -1) != LUA_TNUMBER || isnan(n))
		luaL_error(L, "%s: expected a time in seconds, got %s", name, luaL_typename(L, -1));
	if (n <= -(lua_Number) SL_USAGE_MAX_SECONDS)
		return INT64_MIN;
	return n >= (lua_Number) SL_USAGE_MAX_SECONDS ? SL_FOREVER : (int64_t) floor(n);
}

static const char *check_text(lua_State *L, const char *name)
{
	if (lua_type(L, -1) != LUA_TSTRING)
		luaL_error(L, "%s: expected a string, got %s", name, luaL_typename(L, -1));
	return lua_tostring(L, -1);	/* the table of arguments keeps it */
}

/* { "FAILED", "PREEMPTED" }; a run that was requeued ended as "REQUEUED", a piece after which it
 * went on with another size as "RESIZING". */
static uint32_t check_states(lua_State *L)
{
	uint32_t mask = 0, state;

	if (!lua_istable(L, -1))
		luaL_error(L, "without: expected a list of states, got %s", luaL_typename(L, -1));
	for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		const char *word = check_text(L, "without");

		sl_limit_tick(L, sl_limit_of(L));
		for (state = 0; state < SL_JOB_STATES; state++)
			if (!strcmp(word, state == SL_JOB_PENDING ? "REQUEUED" : state == SL_JOB_RUNNING ? "RESIZING" :
				    sl_job_state_word(state)))
				break;
		if (state == SL_JOB_STATES)
			luaL_error(L, "without: no job ends as '%s'; expected COMPLETED, FAILED, PREEMPTED, REQUEUED or the like",
				   word);
		mask |= 1u << state;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return mask;
}

static void read_value(lua_State *L, const struct key *k, struct sl_usage_query *q)
{
	int n;

	switch (k->what) {
	case BY:
		if ((n = sl_usage_by_of(check_text(L, "by"))) < 0)
			luaL_error(L, "by: expected \"user\" or \"account\", got \"%s\"", lua_tostring(L, -1));
		q->by = (enum sl_usage_by) n;
		break;
	case UNIT:
		if ((n = sl_unit_of(check_text(L, "unit"))) < 0)
			luaL_error(L, "unit: expected \"cpu\", \"gpu\" or \"node\", got \"%s\"", lua_tostring(L, -1));
		q->unit = (enum sl_unit) n;
		break;
	case SINCE:
		q->since = check_time(L, k->name);
		break;
	case UNTIL:
		q->until = check_time(L, k->name);
		break;
	case PARTITION:
		q->partition = (char *) check_text(L, k->name);
		break;
	case WITHOUT:
		q->without = check_states(L);
		break;
	case HALF_LIFE:
		q->half_life = lua_tonumber(L, -1);
		if (lua_type(L, -1) != LUA_TNUMBER || !(q->half_life >= 1) || q->half_life > 1e12)
			luaL_error(L, "half_life: expected seconds, 1 or more");
		break;
	}
}

/* Read the table of arguments; *takes* says which there may be. */
static struct sl_usage_query check_query(lua_State *L, struct sl_lua *x, unsigned takes)
{
	struct sl_usage_query q = { .by = SL_BYS, .unit = SL_UNITS, .since = INT64_MIN, .until = SL_FOREVER,
				    .now = sl_cluster_now(x->cluster) };

	luaL_checktype(L, ARGUMENTS, LUA_TTABLE);
	for (lua_pushnil(L); lua_next(L, ARGUMENTS); lua_pop(L, 1)) {
		const struct key *k = NULL;

		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (lua_type(L, -2) == LUA_TSTRING && takes >> keys[i].what & 1 &&
			    !strcmp(lua_tostring(L, -2), keys[i].name))
				k = &keys[i];
		if (!k) {
			lua_pushvalue(L, -2);
			luaL_error(L, "unknown argument '%s'%s", sl_sandbox_tostring(L, -1, NULL),
				   takes == OF_PAST ? "; expected by, unit, since, until_, partition, without" :
				   takes == OF_DECAYED ? "; expected by, unit, half_life, partition, without" :
				   "; expected by, unit, partition");
		}
		read_value(L, k, &q);
	}
	if (q.by == SL_BYS || q.unit == SL_UNITS)
		luaL_error(L, "%s is missing", q.by == SL_BYS ? "by = \"user\" or \"account\"" :
			   "unit = \"cpu\", \"gpu\" or \"node\"");
	if (takes == OF_DECAYED && !(q.half_life > 0))
		luaL_error(L, "half_life is missing");
	return q;
}

/* -- answers that are there already ------------------------------------ */

/* Push the table of this cycle's answers. */
static void push_answers(lua_State *L, struct sl_lua *x)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &answers_key) == LUA_TTABLE) {
		lua_getfield(L, -1, "generation");
		if (lua_tointeger(L, -1) == (lua_Integer) x->generation) {
			lua_pop(L, 1);
			return;
		}
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	lua_newtable(L);
	lua_pushinteger(L, x->generation);
	lua_setfield(L, -2, "generation");
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &answers_key);
}

/* Push the answers and the name of a question; true with its answer on top of them if
 * there is one. */
static bool push_answer(lua_State *L, struct sl_lua *x, const char *method, const struct sl_usage_query *q)
{
	push_answers(L, x);
	lua_pushfstring(L, "%s %d %d %I %I %d %f %s", method, (int) q->by, (int) q->unit, (LUAI_UACINT) q->since,
			(LUAI_UACINT) q->until, (int) q->without, (LUAI_UACNUMBER) q->half_life,
			q->partition ? q->partition : "\n");
	lua_pushvalue(L, -1);
	return lua_rawget(L, -3) == LUA_TTABLE;
}

/* The table on top answers the question below it: keep it, read-only, since others that ask the
 * same (sched.quota) get the same table. */
static int keep_answer(lua_State *L)
{
	sl_sandbox_protect(L, "usage");
	lua_pushvalue(L, -1);
	lua_insert(L, -3);		/* answers, table, question, table */
	lua_rawset(L, -4);
	return 1;
}

/* -- the past ----------------------------------------------------------- */

static int ask(lua_State *L, const char *method, unsigned takes)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_usage_provider *usage;
	const struct sl_usage_total *total;
	struct sl_usage_query q;
	struct sl_error err;
	uint32_t count;

	sl_lua_check(L, x, 1, SL_CLASS_USAGE);
	q = check_query(L, x, takes);
	if (push_answer(L, x, method, &q))
		return 1;
	lua_pop(L, 1);
	usage = sl_cluster_usage(x->cluster, &err);
	if (!usage || usage->ask(usage->arg, &q, &total, &count, &err))
		return luaL_error(L, "%s", err.text);
	lua_createtable(L, 0, (int) count);
	for (uint32_t i = 0; i < count; i++) {
		if (q.half_life > 0)
			lua_pushnumber(L, total[i].decayed);
		else
			lua_pushinteger(L, total[i].seconds);
		lua_setfield(L, -2, total[i].name);
	}
	return keep_answer(L);
}

static int usage_past(lua_State *L)
{
	return ask(L, "past", OF_PAST);
}

static int usage_decayed(lua_State *L)
{
	return ask(L, "decayed", OF_DECAYED);
}

/* -- now ---------------------------------------------------------------- */

static const char *name_of(struct sl_lua *x, enum sl_usage_by by, uint32_t job)
{
	return sl_snapshot_str(x->snap, by == SL_BY_USER ? x->snap->job.user[job] : x->snap->job.account[job]);
}

static bool in_partition(struct sl_lua *x, const struct sl_usage_query *q, uint32_t partition)
{
	return !q->partition || (partition != SL_NONE && !strcmp(q->partition,
		sl_snapshot_str(x->snap, x->snap->partition.name[partition])));
}

/* table[name] += units x seconds; without a limit, or beyond what an integer holds, it is
 * math.huge. */
static void add(lua_State *L, const char *name, int64_t units, int64_t seconds)
{
	int64_t product, sum;

	if (!units)
		return;
	lua_getfield(L, -1, name);
	if (seconds == SL_UNLIMITED || (lua_type(L, -1) == LUA_TNUMBER && !lua_isinteger(L, -1)) ||
	    __builtin_mul_overflow(units, seconds, &product) ||
	    __builtin_add_overflow(lua_tointeger(L, -1), product, &sum))
		lua_pushnumber(L, HUGE_VAL);
	else
		lua_pushinteger(L, sum);
	lua_setfield(L, -3, name);
	lua_pop(L, 1);
}

static int of_running(lua_State *L, const char *method, bool elapsed)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_usage_query q;
	const uint32_t *row;
	uint32_t count;

	sl_lua_check(L, x, 1, SL_CLASS_USAGE);
	q = check_query(L, x, ALWAYS);
	if (push_answer(L, x, method, &q))
		return 1;
	lua_pop(L, 1);
	lua_newtable(L);
	row = sl_cluster_running(x->cluster, &count);
	for (uint32_t i = 0; i < count; i++)
		if (in_partition(x, &q, sl_snapshot_home(x->snap, row[i])))
			add(L, name_of(x, q.by, row[i]), sl_cluster_has(x->cluster, row[i], q.unit),
			    elapsed ? sl_cluster_ran_at_size(x->cluster, row[i]) : x->snap->job.time_limit[row[i]]);
	return keep_answer(L);
}

static int usage_running(lua_State *L)
{
	return of_running(L, "running", false);
}

static int usage_used(lua_State *L)
{
	return of_running(L, "used", true);
}

/* A job that stands in the queue once for each of its partitions counts once. */
static int usage_queued(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_entry *queue;
	struct sl_usage_query q;
	uint32_t count;
	uint8_t *seen;

	sl_lua_check(L, x, 1, SL_CLASS_USAGE);
	q = check_query(L, x, ALWAYS);
	if (push_answer(L, x, "queued", &q))
		return 1;
	lua_pop(L, 1);
	seen = lua_newuserdatauv(L, x->snap->job.rows + 1, 0);
	memset(seen, 0, x->snap->job.rows + 1);
	lua_newtable(L);
	queue = sl_cluster_queue(x->cluster, &count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t job = queue[i].job, tasks = x->snap->job.array_pending[job];
		struct sl_ask a;

		if (seen[job] || !in_partition(x, &q, queue[i].partition))
			continue;
		seen[job] = 1;
		a = sl_request_read(x->snap, job, 0);
		add(L, name_of(x, q.by, job), sl_ask_units(x->snap, &a, q.unit) * (tasks ? tasks : 1), a.walltime);
	}
	lua_remove(L, -2);
	return keep_answer(L);
}

/* -- the class ----------------------------------------------------------- */

void sl_lua_push_stale(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	const struct sl_usage_provider *usage = sl_cluster_usage(x->cluster, NULL);

	(void) h;
	lua_pushstring(L, usage && usage->stale ? usage->stale(usage->arg) : NULL);
}

static const struct sl_lua_field fields[] = {
	{ "stale", sl_lua_push_stale },
	{ NULL, NULL }
};

static const luaL_Reg methods[] = {
	{ "past", usage_past }, { "decayed", usage_decayed }, { "running", usage_running }, { "used", usage_used },
	{ "queued", usage_queued }, { NULL, NULL }
};

static const struct sl_lua_class usage_class = {
	.id = SL_CLASS_USAGE, .name = "usage", .table = -1, .field = fields, .method = methods,
};

void sl_lua_open_usage(lua_State *L)
{
	sl_lua_class(L, &usage_class);
}
