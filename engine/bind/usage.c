/* SPDX-License-Identifier: MIT */
/*
 * bind/usage.c - the class "usage": who used, uses and asks for how much.
 *
 *	cluster.usage:past { by = "user", unit = "cpu", since = t0, until_ = t1, partition = "p" }
 *	cluster.usage:decayed { by =, unit =, half_life = seconds }
 *	cluster.usage:running { by =, unit = }, :used { ... }, :queued { ... }, :holding { ... }
 *	cluster.usage.stale
 *
 * Each gives a read-only table of names; the same question gives the same table all through a cycle.  Those of
 * running, holding and queued follow the plan (bind/usage_now.c).
 */
#include "bind/usage.h"

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
#define OF_NOW (ALWAYS | 1u << 30)		/* with more words for by and unit */
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

static int read_by(lua_State *L, bool now)
{
	const char *word = check_text(L, "by");
	int n = sl_usage_by_of(word);

	if (n < 0 && now)
		n = !strcmp(word, "qos") ? SL_BY_QOS : !strcmp(word, "partition") ? SL_BY_PARTITION : n;
	if (n < 0)
		luaL_error(L, "by: expected \"user\"%s, got \"%s\"", now ? ", \"account\", \"qos\" or \"partition\"" :
			   " or \"account\"", word);
	return n;
}

static int read_unit(lua_State *L, bool now)
{
	const char *word = check_text(L, "unit");
	int n = sl_unit_of(word);

	if (n < 0 && now && !strcmp(word, "job"))
		n = SL_UNIT_JOB;
	if (n < 0)
		luaL_error(L, "unit: expected \"cpu\", \"gpu\"%s, got \"%s\"", now ? ", \"node\" or \"job\"" :
			   " or \"node\"", word);
	return n;
}

static void read_value(lua_State *L, const struct key *k, bool now, struct sl_lua_question *question)
{
	struct sl_usage_query *q = &question->query;

	switch (k->what) {
	case BY:
		question->by = read_by(L, now);
		break;
	case UNIT:
		question->unit = read_unit(L, now);
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
static struct sl_lua_question check_question(lua_State *L, struct sl_lua *x, unsigned takes)
{
	struct sl_lua_question q = { .by = -1, .unit = -1, .query = { .since = INT64_MIN, .until = SL_FOREVER,
				     .now = sl_cluster_now(x->cluster) } };

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
		read_value(L, k, takes == OF_NOW, &q);
	}
	if (q.by < 0 || q.unit < 0)
		luaL_error(L, "%s is missing", q.by < 0 ? "by = \"user\" or \"account\"" :
			   "unit = \"cpu\", \"gpu\" or \"node\"");
	if (takes == OF_DECAYED && !(q.query.half_life > 0))
		luaL_error(L, "half_life is missing");
	q.query.by = (enum sl_usage_by) q.by;
	q.query.unit = (enum sl_unit) q.unit;
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
static bool push_answer(lua_State *L, struct sl_lua *x, const char *method, const struct sl_lua_question *question)
{
	const struct sl_usage_query *q = &question->query;

	push_answers(L, x);
	lua_pushfstring(L, "%s %d %d %I %I %d %f %s", method, question->by, question->unit, (LUAI_UACINT) q->since,
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
	struct sl_lua_question q;
	struct sl_error err;
	uint32_t count;

	sl_lua_check(L, x, 1, SL_CLASS_USAGE);
	q = check_question(L, x, takes);
	if (push_answer(L, x, method, &q))
		return 1;
	lua_pop(L, 1);
	usage = sl_cluster_usage(x->cluster, &err);
	if (!usage || usage->ask(usage->arg, &q.query, &total, &count, &err))
		return luaL_error(L, "%s", err.text);
	lua_createtable(L, 0, (int) count);
	for (uint32_t i = 0; i < count; i++) {
		if (q.query.half_life > 0)
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

/* A table that follows the plan: beside its answer stands the state of it, under the question and "\n". */
static int ask_now(lua_State *L, const char *method, enum sl_usage_sum what)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_lua_question q;
	struct sl_usage_now *now;

	sl_lua_check(L, x, 1, SL_CLASS_USAGE);
	q = check_question(L, x, OF_NOW);
	if (!push_answer(L, x, method, &q)) {
		lua_pop(L, 1);
		lua_newtable(L);
		keep_answer(L);
		push_answer(L, x, method, &q);
		lua_pop(L, 1);
		lua_pushliteral(L, "\n");
		lua_concat(L, 2);
		now = sl_usage_now_begin(L, x, what, &q);
		lua_rawset(L, -3);
		push_answer(L, x, method, &q);
	}
	lua_insert(L, -2);		/* answers, answer, question */
	lua_pushliteral(L, "\n");
	lua_concat(L, 2);
	lua_rawget(L, -3);
	now = lua_touserdata(L, -1);
	lua_pushvalue(L, -2);
	sl_sandbox_unveil(L, -1);
	sl_usage_now_follow(L, x, now);
	lua_pop(L, 2);
	return 1;
}

static int usage_running(lua_State *L)
{
	return ask_now(L, "running", SL_SUM_RUNNING);
}

static int usage_used(lua_State *L)
{
	return ask_now(L, "used", SL_SUM_USED);
}

static int usage_holding(lua_State *L)
{
	return ask_now(L, "holding", SL_SUM_HOLDING);
}

static int usage_queued(lua_State *L)
{
	return ask_now(L, "queued", SL_SUM_QUEUED);
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
	{ "queued", usage_queued }, { "holding", usage_holding }, { NULL, NULL }
};

static const struct sl_lua_class usage_class = {
	.id = SL_CLASS_USAGE, .name = "usage", .table = -1, .field = fields, .method = methods,
};

void sl_lua_open_usage(lua_State *L)
{
	sl_lua_class(L, &usage_class);
}
