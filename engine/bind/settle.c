/* SPDX-License-Identifier: MIT */
/*
 * bind/settle.c - plan:settle(): what a policy says of the next cycles, for simulations.
 */
#include "bind/turn.h"

#include <math.h>
#include <string.h>

#define OPTIONS 3		/* index of the table that goes with a rule */
#define MOST_EXPONENT 100

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
	};
	const char *said = luaL_optstring(L, 2, NULL);

	*settles = !said;
	for (size_t i = 0; said && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(said, known[i].name)) {
			*settles = known[i].settles;
			return known[i].rule;
		}
	if (said)
		luaL_error(L, "settle: expected \"fcfs\", \"easy\", \"conservative\", \"order\", \"full\" or nothing, got \"%s\"",
			   said);
	return SL_RULE_NONE;
}

static enum sl_predictor check_predictor(lua_State *L)
{
	const char *name = sl_lua_named_text(L, OPTIONS, "predictor");

	if (!name || (strcmp(name, "similar") && strcmp(name, "limit")))
		luaL_error(L, "settle: predictor: expected \"similar\" or \"limit\"");
	lua_pop(L, 1);
	return *name == 's' ? SL_PREDICT_SIMILAR : SL_PREDICT_LIMIT;
}

static double seconds(lua_State *L, const char *name)
{
	return sl_lua_named_number(L, OPTIONS, name, 0, 0, HUGE_VAL);
}

static void read_order_rule(lua_State *L, struct sl_order_rule *r)
{
	luaL_checkstack(L, 8, NULL);
	sl_lua_check_names(L, OPTIONS, "settle: ", "size, length, patience, ageing, predictor, horizon, reservations, slowdown, "
			   "slowdown_wait, slowdown_horizon, slowdown_jobs, guard_wait, guard_stretch or guard_jobs");
	*r = (struct sl_order_rule) {
		.by = {
			.size = sl_lua_named_number(L, OPTIONS, "size", 1, 0, MOST_EXPONENT),
			.length = sl_lua_named_number(L, OPTIONS, "length", 1, 0, MOST_EXPONENT),
			.patience = sl_lua_named_number(L, OPTIONS, "patience", HUGE_VAL, 1, HUGE_VAL),
			.ageing = sl_lua_named_number(L, OPTIONS, "ageing", 1, 0, MOST_EXPONENT),
			.slowdown = seconds(L, "slowdown"), .wait_s = seconds(L, "slowdown_wait"),
			.predictor = check_predictor(L),
		},
		.guard_wait = seconds(L, "guard_wait"), .guard_stretch = seconds(L, "guard_stretch"),
		.slowdown_horizon = seconds(L, "slowdown_horizon"), .horizon = seconds(L, "horizon"),
		.guard_jobs = (uint32_t) sl_lua_named_integer(L, OPTIONS, "guard_jobs", 1, 1, 1000),
		.slowdown_jobs = (uint32_t) sl_lua_named_integer(L, OPTIONS, "slowdown_jobs", 0, 0, 1000),
		.reservations = (uint32_t) sl_lua_named_integer(L, OPTIONS, "reservations", 1, 1, 1000),
	};
}

/* ([rule [, options]]): what still waits, waits for room.  Where others have a say in who starts, time may help too; but not
 * a job that needs more than is free. */
int sl_lua_plan_settle(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	enum sl_plan_rule rule;
	struct sl_order_rule order;
	bool settles;

	sl_lua_check(L, x, 1, SL_CLASS_PLAN);
	rule = check_rule(L, &settles);
	if (rule == SL_RULE_ORDER)
		read_order_rule(L, &order);
	if (!sl_lua_turn_is_unguarded(x) || !is_called_by_decide(L))
		return 0;
	sl_plan_settle_full(x->plan);
	if (settles && sl_lua_turn_is_plain(x)) {
		sl_plan_settle(x->plan);
		sl_plan_promise(x->plan, rule);
	} else if (rule == SL_RULE_ORDER && sl_lua_turn_is_plain(x)) {
		sl_plan_promise_order(x->plan, &order);
	} else if (rule == SL_RULE_FCFS && sl_lua_turn_is_in_queue_order(x)) {	/* closing a partition is how it stops */
		sl_plan_promise(x->plan, rule);
	}
	return 0;
}
