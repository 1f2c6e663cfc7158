/* SPDX-License-Identifier: MIT */
/*
 * bind/history.c - the class "history": the runs of jobs that have ended by now.
 *
 *	cluster.history:runs { user =, account =, name =, last =, cpus = { lo, hi }, time_limit = { lo, hi }, ended_by = }
 *	cluster.history:runtimes { ... }
 *	cluster.history:mean { ... }
 *	cluster.history:like { user =, cpus =, time_limit =, ended_by = }	runtimes, stretch, typical
 *	cluster.history:order(queue, { ... })	bind/order.c
 *	cluster.history:summary { ..., quantiles = { 0.5, 0.9 } }
 *	cluster.history.stale
 */
#include "bind/turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "usage/history.h"

#define ARGUMENTS 2		/* index of the table of arguments */
#define MOST_QUANTILES 16
#define MOST_NAME 255		/* bytes: who is asked about is kept, outside of Lua's memory */

/* -- questions ------------------------------------------------------------- */

/* { lo, hi } */
static void read_bounds(lua_State *L, const char *name, int64_t *least, int64_t *most)
{
	lua_Number lo, hi;
	int is_lo, is_hi;

	*least = INT64_MIN;
	*most = INT64_MAX;
	if (lua_getfield(L, ARGUMENTS, name) != LUA_TNIL) {
		if (!lua_istable(L, -1))
			luaL_error(L, "%s: expected { LEAST, MOST }, got %s", name, luaL_typename(L, -1));
		lua_rawgeti(L, -1, 1);
		lua_rawgeti(L, -2, 2);
		lo = lua_tonumberx(L, -2, &is_lo);
		hi = lua_tonumberx(L, -1, &is_hi);
		if (!is_lo || !is_hi || !(lo <= hi))
			luaL_error(L, "%s: expected { LEAST, MOST }, two numbers of which the second is not less", name);
		lua_pop(L, 2);
		if (lo > -0x1p62)
			*least = lo >= 0x1p62 ? INT64_MAX : (int64_t) ceil(lo);
		if (hi < 0x1p62)
			*most = hi <= -0x1p62 ? INT64_MIN : (int64_t) floor(hi);
	}
	lua_pop(L, 1);
}

/* Ask what the table of arguments says; texts stay on the stack. */
static const struct sl_past_run *const *ask(lua_State *L, struct sl_lua *x, const char *names, uint32_t last,
					    uint32_t *count)
{
	struct sl_history_query q = { 0 };
	const struct sl_past_run *const *run;
	struct sl_history *h;
	struct sl_error err;

	sl_lua_check(L, x, 1, SL_CLASS_HISTORY);	/* there is a cluster: not while a policy is loaded */
	sl_lua_check_names(L, ARGUMENTS, "", names);
	q.now = sl_lua_named_integer(L, ARGUMENTS, "ended_by", sl_cluster_now(x->cluster), 0, sl_cluster_now(x->cluster));
	q.last = (uint32_t) sl_lua_named_integer(L, ARGUMENTS, "last", last, 1, SL_HISTORY_KEPT);
	read_bounds(L, "cpus", &q.least_cpus, &q.most_cpus);
	read_bounds(L, "time_limit", &q.least_limit, &q.most_limit);
	q.user = sl_lua_named_text(L, ARGUMENTS, "user");
	q.account = sl_lua_named_text(L, ARGUMENTS, "account");
	q.name = sl_lua_named_text(L, ARGUMENTS, "name");
	if (!q.user && !q.account)
		luaL_error(L, "user and account are missing: expected one of them, or both");
	if ((q.user && strlen(q.user) > MOST_NAME) || (q.account && strlen(q.account) > MOST_NAME))
		luaL_error(L, "user and account: expected at most %d bytes", MOST_NAME);
	h = sl_cluster_history(x->cluster, &err);
	if (!h || sl_history_ask(h, &q, &run, count, &err))
		luaL_error(L, "%s", err.text);
	return run;
}

/* -- answers ---------------------------------------------------------------- */

static void set_integer(lua_State *L, const char *name, int64_t value)
{
	if (value == SL_UNLIMITED)
		lua_pushnumber(L, HUGE_VAL);
	else
		lua_pushinteger(L, value);
	lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const char *value)
{
	lua_pushstring(L, value);
	lua_setfield(L, -2, name);
}

static void push_run(lua_State *L, const struct sl_history *h, const struct sl_past_run *p)
{
	lua_createtable(L, 0, 13);
	set_integer(L, "job", p->job);
	set_text(L, "user", sl_history_text(h, p->user));
	set_text(L, "account", sl_history_text(h, p->account));
	set_text(L, "partition", sl_history_text(h, p->partition));
	if (*sl_history_text(h, p->name))
		set_text(L, "name", sl_history_text(h, p->name));
	set_text(L, "state", p->state == SL_JOB_PENDING ? "REQUEUED" : sl_job_state_word(p->state));
	set_integer(L, "start_time", p->start);
	set_integer(L, "end_time", p->end);
	set_integer(L, "runtime", p->seconds);
	if (p->limit)
		set_integer(L, "time_limit", p->limit);
	set_integer(L, "cpus", p->count[SL_UNIT_CPU]);
	set_integer(L, "gpus", p->count[SL_UNIT_GPU]);
	set_integer(L, "nodes", p->count[SL_UNIT_NODE]);
}

static int history_runs(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	uint32_t count;
	const struct sl_past_run *const *run = ask(L, x, "user, account, name, last, cpus, time_limit or ended_by", 10, &count);
	struct sl_history *h = sl_cluster_history(x->cluster, NULL);

	lua_createtable(L, (int) count, 0);
	for (uint32_t i = 0; i < count; i++) {
		push_run(L, h, run[i]);
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

static int history_runtimes(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	uint32_t count;
	const struct sl_past_run *const *run = ask(L, x, "user, account, name, last, cpus, time_limit or ended_by", 10, &count);

	lua_createtable(L, (int) count, 0);
	for (uint32_t i = 0; i < count; i++) {
		lua_pushinteger(L, run[i]->seconds);
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

static int history_like(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_history_like like;
	struct sl_history *h;
	double typical, stretch;
	uint32_t prospect;
	struct sl_error err;
	lua_Number limit;
	int64_t cpus, now, walltime;
	const char *user;
	int is_limit;

	sl_lua_check(L, x, 1, SL_CLASS_HISTORY);
	sl_lua_check_names(L, ARGUMENTS, "", "user, cpus, time_limit or ended_by");
	now = sl_lua_named_integer(L, ARGUMENTS, "ended_by", sl_cluster_now(x->cluster), 0, sl_cluster_now(x->cluster));
	cpus = sl_lua_named_integer(L, ARGUMENTS, "cpus", 0, 0, UINT32_MAX);
	user = sl_lua_named_text(L, ARGUMENTS, "user");
	if (!user || strlen(user) > MOST_NAME)
		luaL_error(L, "user: expected a name of at most %d bytes", MOST_NAME);
	lua_getfield(L, ARGUMENTS, "time_limit");
	limit = lua_tonumberx(L, -1, &is_limit);
	if (!is_limit || !(limit >= 0))
		luaL_error(L, "time_limit: expected seconds");
	walltime = limit < 0x1p62 ? (int64_t) limit : SL_UNLIMITED;
	h = sl_cluster_history(x->cluster, &err);
	if (!h || sl_history_like(h, user, cpus, walltime, now, &like, &err) ||
	    (prospect = sl_history_prospect(h, user, cpus, walltime, &err)) == SL_NONE ||
	    sl_history_expect(h, prospect, now, &typical, &stretch, &err))
		luaL_error(L, "%s", err.text);
	lua_createtable(L, (int) like.count, 0);
	for (uint32_t i = 0; i < like.count; i++) {
		lua_pushinteger(L, like.runtime[i]);
		lua_rawseti(L, -2, i + 1);
	}
	lua_pushnumber(L, like.stretch);
	lua_pushnumber(L, typical);
	return 3;
}

static double mean_of(const struct sl_past_run *const *run, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += (double) run[i]->seconds;
	return sum / count;
}

static int history_mean(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	uint32_t count;
	const struct sl_past_run *const *run = ask(L, x, "user, account, name, last, cpus, time_limit or ended_by", 2, &count);

	if (count)
		lua_pushnumber(L, mean_of(run, count));
	else
		lua_pushnil(L);
	lua_pushinteger(L, count);
	return 2;
}

/* quantiles = { 0.5, 0.9 }: the smallest runtime that so many of the runs did not exceed */
static void set_quantiles(lua_State *L, const int64_t *sorted, uint32_t count)
{
	int wanted;

	if (lua_getfield(L, ARGUMENTS, "quantiles") == LUA_TNIL) {
		lua_pop(L, 1);
		return;
	}
	if (!lua_istable(L, -1))
		luaL_error(L, "quantiles: expected a list of numbers from 0 to 1, got %s", luaL_typename(L, -1));
	wanted = lua_gettop(L);
	lua_newtable(L);
	for (lua_Integer i = 1; lua_rawgeti(L, wanted, i) != LUA_TNIL; i++) {
		lua_Number q = lua_tonumber(L, -1), at;

		if (lua_type(L, -1) != LUA_TNUMBER || !(q >= 0 && q <= 1) || i > MOST_QUANTILES)
			luaL_error(L, "quantiles: expected up to %d numbers from 0 to 1", MOST_QUANTILES);
		at = ceil(q * count);
		lua_pop(L, 1);
		lua_pushinteger(L, sorted[at < 1 ? 0 : (uint32_t) at - 1]);
		lua_rawseti(L, -2, i);
	}
	lua_pop(L, 1);
	lua_remove(L, wanted);
	lua_setfield(L, -2, "quantiles");
}

static int history_summary(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	uint32_t count, completed = 0;
	const struct sl_past_run *const *run =
		ask(L, x, "user, account, name, last, cpus, time_limit, ended_by or quantiles", 100, &count);
	int64_t sorted[SL_HISTORY_KEPT];
	double mean, squares = 0;

	lua_createtable(L, 0, 7);
	set_integer(L, "runs", count);
	if (!count)
		return 1;
	mean = mean_of(run, count);
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = run[i]->seconds;
		squares += ((double) sorted[i] - mean) * ((double) sorted[i] - mean);
		completed += run[i]->state == SL_JOB_COMPLETE;
	}
	qsort(sorted, count, sizeof(*sorted), sl_order_i64);
	lua_pushnumber(L, mean);
	lua_setfield(L, -2, "mean");
	lua_pushnumber(L, sqrt(squares / count));
	lua_setfield(L, -2, "deviation");
	set_integer(L, "min", sorted[0]);
	set_integer(L, "max", sorted[count - 1]);
	lua_pushnumber(L, (double) completed / count);
	lua_setfield(L, -2, "completed");
	set_quantiles(L, sorted, count);
	return 1;
}

/* -- the class ----------------------------------------------------------------- */

static const struct sl_lua_field fields[] = {
	{ "stale", sl_lua_push_stale },
	{ NULL, NULL }
};

static const luaL_Reg methods[] = {
	{ "like", history_like }, { "order", sl_lua_history_order }, { "runs", history_runs }, { "runtimes", history_runtimes }, { "mean", history_mean }, { "summary", history_summary }, { NULL, NULL }
};

static const struct sl_lua_class history_class = {
	.id = SL_CLASS_HISTORY, .name = "history", .table = -1, .field = fields, .method = methods,
};

void sl_lua_open_history(lua_State *L)
{
	sl_lua_class(L, &history_class);
}
