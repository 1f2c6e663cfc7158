/* SPDX-License-Identifier: MIT */
/*
 * bind/settle.c - plan:settle(): what a policy says of the next cycles, for simulations.
 */
#include "bind/translate.h"
#include "bind/turn.h"

#include <math.h>
#include <string.h>

#define OPTIONS 3		/* index of the table that goes with a rule */
#define MOST_EXPONENT 100
#define MOST_COMPARED 64	/* jobs of which a rank is compared with its code */

/* True if the policy's own decide() calls.  If another policy's does, it does not know what else is done. */
static bool is_called_by_decide(lua_State *L)
{
	enum { CALLER = 1, ENGINE, NOBODY };
	lua_Debug ar;

	return lua_getstack(L, CALLER, &ar) && lua_getinfo(L, "t", &ar) && !ar.istailcall && !lua_getstack(L, NOBODY, &ar);
}

/* *settles*: the policy says no less than plan:settle() without a rule. */
static enum sl_plan_rule check_rule(lua_State *L, bool *settles)
{
	static const struct {
		const char *name;
		enum sl_plan_rule rule;
		bool settles;
	} known[] = {
		{ "full", SL_RULE_NONE, false }, { "fcfs", SL_RULE_FCFS, false }, { "easy", SL_RULE_EASY, true },
		{ "conservative", SL_RULE_CONSERVATIVE, true }, { "order", SL_RULE_ORDER, false },
		{ "critical", SL_RULE_CRITICAL, false },
	};
	const char *said = luaL_optstring(L, 2, NULL);

	*settles = !said;
	for (size_t i = 0; said && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(said, known[i].name)) {
			*settles = known[i].settles;
			return known[i].rule;
		}
	if (said)
		luaL_error(L, "settle: expected \"fcfs\", \"easy\", \"conservative\", \"order\", \"critical\", \"full\" or nothing, got \"%s\"",
			   said);
	return SL_RULE_NONE;
}

static enum sl_predictor check_predictor(lua_State *L)
{
	const char *name = lua_getfield(L, OPTIONS, "predictor") == LUA_TSTRING ? lua_tostring(L, -1) : "";

	if (strcmp(name, "similar") && strcmp(name, "limit"))
		luaL_error(L, "settle: predictor: expected \"similar\" or \"limit\"");
	lua_pop(L, 1);
	return *name == 's' ? SL_PREDICT_SIMILAR : SL_PREDICT_LIMIT;
}

static double number(lua_State *L, const char *name, double least, double most)
{
	double v;

	if (lua_getfield(L, OPTIONS, name) != LUA_TNUMBER)
		luaL_error(L, "settle: %s: expected a number, got %s", name, luaL_typename(L, -1));
	v = lua_tonumber(L, -1);
	if (!(v >= least && v <= most))
		luaL_error(L, "settle: %s: expected a number from %f to %f, got %f", name, least, most, v);
	lua_pop(L, 1);
	return v;
}

static uint32_t count(lua_State *L, const char *name)
{
	return (uint32_t) number(L, name, 1, 1000);
}

/* A table, a policy's options as a rule, in which there may be others beside these. */
static void read_order_rule(lua_State *L, struct sl_order_rule *r)
{
	luaL_checktype(L, OPTIONS, LUA_TTABLE);
	luaL_checkstack(L, 8, NULL);
	*r = (struct sl_order_rule) {
		.by = {
			.size = number(L, "size", 0, MOST_EXPONENT), .length = number(L, "length", 0, MOST_EXPONENT),
			.patience = number(L, "patience", 1, HUGE_VAL), .ageing = number(L, "ageing", 0, MOST_EXPONENT),
			.slowdown = number(L, "slowdown", 0, HUGE_VAL), .wait_s = number(L, "slowdown_wait", 0, HUGE_VAL),
			.predictor = check_predictor(L),
		},
		.guard_wait = number(L, "guard_wait", 0, HUGE_VAL), .guard_stretch = number(L, "guard_stretch", 0, HUGE_VAL),
		.slowdown_horizon = number(L, "slowdown_horizon", 0, HUGE_VAL), .horizon = number(L, "horizon", 0, HUGE_VAL),
		.guard_jobs = count(L, "guard_jobs"), .slowdown_jobs = count(L, "slowdown_jobs"),
		.reservations = count(L, "reservations"),
	};
	r->any_shape = lua_getfield(L, OPTIONS, "shapes") == LUA_TBOOLEAN && lua_toboolean(L, -1);
	lua_pop(L, 1);
	if (r->by.slowdown == 0 || r->by.predictor == SL_PREDICT_LIMIT)
		r->slowdown_jobs = 0;
}

static void read_critical_rule(lua_State *L, struct sl_critical_rule *r)
{
	luaL_checktype(L, OPTIONS, LUA_TTABLE);
	luaL_checkstack(L, 8, NULL);
	*r = (struct sl_critical_rule) {
		.threshold = number(L, "threshold", 0, HUGE_VAL), .patience = number(L, "patience", 0, HUGE_VAL),
		.guard_wait = number(L, "guard_wait", 0, HUGE_VAL), .guard_stretch = number(L, "guard_stretch", 0, HUGE_VAL),
		.guard_jobs = count(L, "guard_jobs"),
	};
	lua_getfield(L, OPTIONS, "fill");
	r->fills_small = lua_type(L, -1) == LUA_TSTRING && !strcmp(lua_tostring(L, -1), "small");
	lua_pop(L, 1);
}

/* How many of the queue a policy looks at; 0: it does not say. */
static uint32_t read_window(lua_State *L)
{
	if (lua_isnoneornil(L, OPTIONS))
		return 0;
	luaL_checktype(L, OPTIONS, LUA_TTABLE);
	return (uint32_t) number(L, "window", 1, SL_PLAN_CONSERVATIVE_MAX);
}

/* What goes with a rule, where somebody else may follow it. */
static void read_rule(lua_State *L, struct sl_promise *promise)
{
	if (promise->rule == SL_RULE_ORDER)
		read_order_rule(L, &promise->order);
	else if (promise->rule == SL_RULE_CRITICAL)
		read_critical_rule(L, &promise->critical);
}

/* -- by rank ------------------------------------------------------------- */

/* True if what calls is a file of the engine's own, of which it is known what it does. */
static bool is_called_by_bundled(lua_State *L, const struct sl_lua *x)
{
	lua_Debug ar;

	if (!lua_getstack(L, 1, &ar) || !lua_getinfo(L, "S", &ar) || *ar.source != '@')
		return false;
	for (unsigned i = 0; i < x->bundle->files; i++)
		if (!strcmp(x->bundle->file[i]->path, ar.source + 1))
			return x->bundle->file[i]->library;
	return false;
}

/* True if what calls is predictive, and no time for nodes to boot is said, which is a matter of the site. */
static bool is_bundled_order(lua_State *L, const struct sl_lua *x)
{
	return is_called_by_bundled(L, x) && x->bundle->figures.wake_after_s == 0 && x->bundle->figures.variants <= 1;
}

/* True if the code says of the first jobs of the order what rank() says. */
static bool says_the_same(lua_State *L, struct sl_lua *x, const struct sl_rank_code *code)
{
	struct sl_rank_value *field = lua_newuserdatauv(L, (code->keys + 1u) * sizeof(*field), 0);
	uint32_t count, n;
	const uint32_t *order = sl_lua_turn_order(x, &n);
	const struct sl_entry *entry = sl_cluster_queue(x->cluster, &count);
	bool same = true;
	double rank, then;

	for (uint32_t i = 0; i < n && i < MOST_COMPARED && same; i++) {
		const struct sl_lua_rank said = sl_lua_rank_again(L, x, order[i]);

		sl_rank_code_read(code, x->snap, entry[order[i]].job, entry[order[i]].partition, field);
		same = sl_rank_code_ask(code, field, sl_cluster_now(x->cluster), sl_cluster_origin(x->cluster), &rank, &then) &&
			rank == said.rank && then == said.then;
	}
	lua_pop(L, 1);
	return same;
}

/* EASY in the order of a rank(): promised if what rank() does is known, and nothing else that a site wrote is asked for it. */
static void promise_rank(lua_State *L, struct sl_lua *x)
{
	const struct sl_rank_code *code;

	luaL_checkstack(L, 8, NULL);
	if (x->bundle->figures.variants > 1 || !is_called_by_bundled(L, x) || !sl_lua_turn_is_by_rank(L, x))
		return;
	code = sl_lua_translate_rank(L, x, -1);
	if (code && says_the_same(L, x, code))
		sl_plan_promise(x->plan, &(struct sl_promise) { .rule = SL_RULE_RANK, .rank = code });
}

/* ([rule [, options]]): what still waits, waits for room.  Where others have a say in who starts, time may help too; but not
 * a job that needs more than is free. */
int sl_lua_plan_settle(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_promise promise = { .rule = SL_RULE_NONE };
	bool settles, is_pool, is_followed;

	sl_lua_check(L, x, 1, SL_CLASS_PLAN);
	promise.rule = check_rule(L, &settles);
	is_pool = x->snap->node.rows == 1;	/* elsewhere nobody does it for the policy, unless it is predictive itself */
	is_followed = promise.rule == SL_RULE_ORDER ? is_pool || is_bundled_order(L, x) : promise.rule == SL_RULE_CRITICAL && is_pool;
	if (is_followed)
		read_rule(L, &promise);
	if (promise.rule == SL_RULE_CONSERVATIVE)
		promise.window = read_window(L);
	if (!sl_lua_turn_is_unguarded(x) || !is_called_by_decide(L))
		return 0;
	sl_plan_settle_full(x->plan);
	if (settles && sl_lua_turn_is_plain(x)) {
		sl_plan_settle(x->plan);
		sl_plan_promise(x->plan, &promise);
	} else if (is_followed && sl_lua_turn_is_plain(x)) {
		sl_plan_promise(x->plan, &promise);
	} else if (promise.rule == SL_RULE_EASY && is_pool) {
		promise_rank(L, x);
	} else if (promise.rule == SL_RULE_FCFS && sl_lua_turn_is_in_queue_order(x)) {	/* closing a partition is how it stops */
		sl_plan_promise(x->plan, &promise);
	}
	return 0;
}
