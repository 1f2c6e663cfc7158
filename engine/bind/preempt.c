/* SPDX-License-Identifier: MIT */
/*
 * bind/preempt.c - plan:preempt(): others are stopped for a job (model/preempt.h).
 *
 * The policy's functions are called while the plan is at work.  So they are protected: what they raise is kept, the plan
 * takes back what it has tried, and then it is raised again.
 */
#include "bind/how.h"
#include "bind/nodeset.h"
#include "bind/turn.h"
#include "model/preempt.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOW 3			/* the table, at its place among the arguments */

/* What the plan's questions need. */
struct asker {
	lua_State *L;
	struct sl_lua *x;
	uint32_t partition;		/* in which the job is looked at */
	int may, cost;			/* places of the functions on the stack; 0: none */
	bool raised;			/* one of them did; what it raised is on the top of the stack */
};

struct question {
	const struct asker *q;
	uint32_t victim, job;
};

/* The function, question: what it returns of both jobs and the cluster. */
static int call_protected(lua_State *L)
{
	const struct question *a = lua_touserdata(L, 2);
	struct sl_lua *x = a->q->x;

	lua_settop(L, 1);
	sl_lua_push_job(L, x, a->victim, x->snap->job.partition[a->victim]);
	sl_lua_push_job(L, x, a->job, a->q->partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 3, 1);
	return 1;
}

/* Call the function; what it returns is on the top of the stack.  0, or -1.  (Memory may be short before it is called, too: no error
 * of Lua's leaves the plan half changed.) */
static int call(struct asker *q, int function, uint32_t victim, uint32_t job, struct sl_error *err)
{
	struct question a = { q, victim, job };
	lua_State *L = q->L;

	lua_pushcfunction(L, call_protected);
	lua_pushvalue(L, function);
	lua_pushlightuserdata(L, &a);
	if (lua_pcall(L, 2, 1, 0) == LUA_OK)
		return 0;
	q->raised = true;
	return sl_fail(err, SL_ESCRIPT, "a function of the policy failed");
}

static int ask_may(void *arg, uint32_t victim, uint32_t job, struct sl_error *err)
{
	struct asker *q = arg;
	int may;

	if (call(q, q->may, victim, job, err) < 0)
		return -1;
	may = lua_toboolean(q->L, -1);
	lua_pop(q->L, 1);
	return may;
}

static int ask_cost(void *arg, uint32_t victim, uint32_t job, double *cost, struct sl_error *err)
{
	struct asker *q = arg;

	if (call(q, q->cost, victim, job, err) < 0)
		return -1;
	*cost = lua_type(q->L, -1) == LUA_TNUMBER ? lua_tonumber(q->L, -1) : NAN;
	lua_pop(q->L, 1);
	return 0;
}

/* The function of that name stays on the stack: its place; 0: there is none. */
static int named_function(lua_State *L, const char *name)
{
	if (lua_getfield(L, HOW, name) == LUA_TNIL) {
		lua_pop(L, 1);
		return 0;
	}
	if (!lua_isfunction(L, -1))
		return luaL_error(L, "preempt: %s: expected a function, got %s", name, luaL_typename(L, -1));
	return lua_gettop(L);
}

static uint32_t named_count(lua_State *L, const char *name)
{
	return (uint32_t) sl_lua_named_integer(L, HOW, name, 0, 1, UINT32_MAX);
}

static bool named_flag(lua_State *L, const char *name)
{
	bool is;

	if (lua_getfield(L, HOW, name) != LUA_TNIL && !lua_isboolean(L, -1))
		luaL_error(L, "preempt: %s: expected true or false, got %s", name, luaL_typename(L, -1));
	is = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is;
}

static uint32_t named_mode(lua_State *L)
{
	const char *word = sl_lua_named_text(L, HOW, "mode");

	if (!word)
		return SL_STOP_NONE;
	for (uint32_t mode = SL_STOP_REQUEUE; mode < SL_STOP_MODES; mode++)
		if (mode != SL_STOP_SUSPEND && !strcmp(word, sl_stop_mode_word(mode)))
			return mode;
	luaL_error(L, "preempt: mode: expected \"requeue\" or \"expedite\", got \"%s\"", word);
	return SL_STOP_NONE;
}

/* Pushes the functions. */
static void read_how(lua_State *L, struct asker *q, struct sl_preempt_terms *t)
{
	double price;

	*t = (struct sl_preempt_terms) { .wait_price = -1, .arg = q };
	if (lua_isnoneornil(L, HOW))
		return;
	luaL_checktype(L, HOW, LUA_TTABLE);
	sl_lua_check_names(L, HOW, "preempt: ", "at, wait_price, max_cost, elsewhere, max_victims, max_a_cycle, max_an_hour, max_of_user, max_of_partition, "
			   "prove, mode, may or cost");
	t->at = sl_lua_named_integer(L, HOW, "at", 0, 0, INT64_MAX);
	price = sl_lua_named_number(L, HOW, "wait_price", -1, 0, HUGE_VAL);
	t->wait_price = price;
	price = sl_lua_named_number(L, HOW, "max_cost", -1, 0, HUGE_VAL);
	t->max_cost = price < 0 ? 0 : price > 0 ? price : DBL_MIN;
	t->elsewhere = named_flag(L, "elsewhere");
	if (lua_getfield(L, HOW, "prove") != LUA_TNIL)
		t->most_mip = sl_lua_named_number(L, HOW, "prove", 0, 0, 3600) > 0 ? lua_tonumber(L, -1) : -1;
	lua_pop(L, 1);
	t->max_victims = named_count(L, "max_victims");
	t->max_a_cycle = named_count(L, "max_a_cycle");
	t->max_an_hour = named_count(L, "max_an_hour");
	t->max_of_user = named_count(L, "max_of_user");
	t->max_of_partition = named_count(L, "max_of_partition");
	t->mode = named_mode(L);
	if ((q->may = named_function(L, "may")))
		t->may = ask_may;
	if ((q->cost = named_function(L, "cost")))
		t->cost = ask_cost;
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, double value)
{
	lua_pushnumber(L, value);
	lua_setfield(L, -2, name);
}

/* moves = { { job =, nodes = }, ... }, if they were asked for. */
static void push_moves(lua_State *L, struct sl_lua *x, const struct sl_preempt_answer *a)
{
	if (!a->moves)
		return;
	lua_createtable(L, (int) (a->moves < 4096 ? a->moves : 4096), 0);
	for (uint32_t i = 0; i < a->moves; i++) {
		uint32_t job = a->move[i].job;

		lua_createtable(L, 0, 2);
		sl_lua_push_job(L, x, job, x->snap->job.partition[job]);
		lua_setfield(L, -2, "job");
		sl_lua_push_nodes(L, x, &a->move[i].nodes);
		lua_setfield(L, -2, "nodes");
		lua_rawseti(L, -2, i + 1);
	}
	lua_setfield(L, -2, "moves");
}

static void push_answer(lua_State *L, struct sl_lua *x, const struct sl_preempt_answer *a)
{
	lua_createtable(L, 0, 11);
	lua_pushstring(L, a->waits ? "waits" : a->is_held ? "held" : sl_verdict_word(a->verdict));
	lua_setfield(L, -2, "verdict");
	set_number(L, "cost", a->cost);
	set_number(L, "bound", a->bound);
	set_integer(L, "permitted", a->permitted);
	set_integer(L, "sets", a->sets);
	if (a->start)
		set_integer(L, "start", a->start);
	if (a->alone)
		set_integer(L, "alone", a->alone);
	lua_createtable(L, (int) (a->victims < 4096 ? a->victims : 4096), 0);
	for (uint32_t i = 0; i < a->victims; i++) {
		sl_lua_push_job(L, x, a->victim[i], x->snap->job.partition[a->victim[i]]);
		lua_rawseti(L, -2, i + 1);
	}
	lua_setfield(L, -2, "victims");
	push_moves(L, x, a);
}

/* nil, why it does not start now, and the word. */
static void push_why(lua_State *L, const struct sl_lua *x, struct sl_preempt_answer *a, bool is_placed)
{
	int64_t in = a->start - sl_cluster_now(x->cluster);
	char what[60] = "", text[120];

	lua_pushnil(L);
	if (is_placed) {
		if (a->victims)
			snprintf(what, sizeof(what), "%" PRIu32 " job%s stopped for it: ", a->victims, a->victims == 1 ? " is" : "s are");
		snprintf(text, sizeof(text), "%sstarts in %" PRId64 " s", a->is_held ? "its place is held: " : what, in);
		lua_pushstring(L, text);
		lua_pushstring(L, sl_why_word(SL_WHY_RESOURCES));
		return;
	}
	lua_pushstring(L, *sl_refusal_text(&a->why) ? sl_refusal_text(&a->why) : sl_why_word(a->why.why));
	lua_pushstring(L, sl_why_word(a->why.why));
}

struct telling {
	struct sl_preempt_answer *answer;
	bool is_placed, says_why;
};

/* The answer's memory is given back whatever Lua does. */
static int push_protected(lua_State *L)
{
	const struct telling *t = lua_touserdata(L, 1);
	struct sl_lua *x = sl_lua_context(L);

	if (t->says_why)
		push_why(L, x, t->answer, t->is_placed);
	push_answer(L, x, t->answer);
	return t->says_why ? 4 : 1;
}

/* With the how at its place: the answer; or nil, why not, its word, and the answer.  *starts*: that always. */
static int preempt(lua_State *L, struct sl_lua *x, struct sl_entry e, bool starts)
{
	struct asker q = { .L = L, .x = x, .partition = e.partition };
	struct sl_preempt_terms terms;
	struct sl_preempt_answer answer;
	struct telling telling = { .answer = &answer };
	struct sl_error err;
	int rc, pushed;

	read_how(L, &q, &terms);
	luaL_checkstack(L, 16, "preempt");
	if (sl_lua_own_stops(x, &err) < 0)
		return luaL_error(L, "%s", err.text);
	rc = sl_plan_preempt(x->plan, e, &terms, &answer, &err);
	if (rc < 0) {
		sl_preempt_answer_free(&answer);
		if (!q.raised)
			sl_lua_raise_again(L, x);
		return q.raised ? lua_error(L) : luaL_error(L, "%s", err.text);
	}
	telling.is_placed = rc > 0;
	telling.says_why = !rc || starts;
	lua_pushcfunction(L, push_protected);
	lua_pushlightuserdata(L, &telling);
	pushed = lua_pcall(L, 1, telling.says_why ? 4 : 1, 0);
	sl_preempt_answer_free(&answer);
	if (pushed != LUA_OK)
		return lua_error(L);
	return telling.says_why ? 4 : 1;
}

int sl_lua_plan_preempt(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	sl_lua_check(L, x, 1, SL_CLASS_PLAN);
	return preempt(L, x, sl_lua_check_entry(L, x, 2), false);
}

/* plan:own_preemption(): who is preempted is from now on what plan:preempt() says */
int sl_lua_plan_own_preemption(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_error err;

	sl_lua_check(L, x, 1, SL_CLASS_PLAN);
	return sl_lua_own_stops(x, &err) < 0 ? luaL_error(L, "%s", err.text) : 0;
}

/* plan:lost_work(job): what a stop of it costs if nobody says otherwise */
int sl_lua_plan_lost_work(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	uint32_t job;

	sl_lua_check(L, x, 1, SL_CLASS_PLAN);
	job = sl_lua_check(L, x, 2, SL_CLASS_JOB)->row;
	if (x->snap->job.state[job] != SL_JOB_RUNNING)
		return luaL_error(L, "lost_work: job %d: expected one that runs", (int) x->snap->job.id[job]);
	lua_pushnumber(L, sl_plan_lost_work(x->plan, job));
	return 1;
}

int sl_lua_preempt_instead(lua_State *L, struct sl_lua *x, struct sl_entry e)
{
	sl_lua_push_preempt(L);
	if (lua_isboolean(L, -1)) {
		lua_pop(L, 1);
		lua_pushnil(L);
	}
	lua_replace(L, HOW);
	return preempt(L, x, e, true);
}
