/* SPDX-License-Identifier: MIT */
/*
 * bind/plan.c - the class "plan".
 *
 * What does not fit returns nil, the reason and its word; misuse raises.
 */
#include "bind/how.h"
#include "bind/nodeset.h"
#include "bind/turn.h"

#include <string.h>

/* -- arguments --------------------------------------------------------- */

static struct sl_lua *check_plan(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	sl_lua_check(L, x, 1, SL_CLASS_PLAN);
	return x;
}

static const struct sl_handle *check_job(lua_State *L, struct sl_lua *x)
{
	return sl_lua_check(L, x, 2, SL_CLASS_JOB);
}

/* -- results ----------------------------------------------------------- */

static int push_refusal(lua_State *L, struct sl_refusal *refusal)
{
	const char *text = sl_refusal_text(refusal);

	lua_pushnil(L);
	lua_pushstring(L, *text ? text : sl_why_word(refusal->why));
	lua_pushstring(L, sl_why_word(refusal->why));
	return 3;
}

/* Raise what is wrong: what allow() raised while the plan asked it, if that is it. */
static int raise_misuse(lua_State *L, struct sl_lua *x, const struct sl_error *err)
{
	sl_lua_raise_again(L, x);
	return luaL_error(L, "%s", err->text);
}

/* -- decisions --------------------------------------------------------- */

/* plan:block(nodes, from, to): nothing that this cycle decides from now on is on them then */
static int plan_block(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	const struct sl_nodeset *nodes = sl_lua_check_nodeset(L, x, 2);
	lua_Number from = luaL_checknumber(L, 3), to = luaL_checknumber(L, 4);
	struct sl_error err;

	luaL_argcheck(L, from >= 0, 3, "expected a time, seconds since the epoch");
	luaL_argcheck(L, to > from, 4, "expected a time after the first");
	if (sl_plan_block(x->plan, nodes, from < 0x1p53 ? (int64_t) from : SL_FOREVER, sl_lua_seconds(to), &err) < 0)
		return raise_misuse(L, x, &err);
	if (to > (lua_Number) sl_cluster_now(x->cluster) && to < (lua_Number) x->wake_time)
		x->wake_time = sl_lua_seconds(to);	/* they are free then */
	return 0;
}

typedef int decide_now(struct sl_plan *, struct sl_entry, const struct sl_terms *, struct sl_refusal *,
		       struct sl_error *);

/* That is no harm, and never meant: who does not look at what start() returns sees it so. */
static void tell_twice(lua_State *L, struct sl_lua *x, uint32_t job)
{
	char text[SL_LUA_TEXT_MAX];

	snprintf(text, sizeof(text), "policy %.200s: job %u is started twice in a cycle; the second start does nothing",
		 sl_lua_turn_policy(x), x->snap->job.id[job]);
	sl_lua_log(L, x, 1, text);
}

/* On nodes of the set that is preferred alone, or else on any that it may have. */
static int decide_at(struct sl_lua *x, decide_now *decide, struct sl_entry e, const struct sl_lua_how *how,
		     struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_entry best = e;
	int r;

	if (how->wish.prefer) {
		best.confine = how->wish.prefer;
		r = sl_lua_prefer(x, how->wish.confine, &best.confine, err);
		if (r > 0)
			r = decide(x->plan, best, &how->terms, refusal, err);
		if (r)
			return r;
	}
	return decide(x->plan, e, &how->terms, refusal, err);
}

/* (job [, how]): true; or nil and why not */
static int decide_start(lua_State *L, decide_now *decide)
{
	struct sl_lua *x = check_plan(L);
	struct sl_entry e = sl_lua_check_entry(L, x, 2);
	struct sl_refusal refusal;
	struct sl_lua_how how;
	struct sl_error err;
	int r;

	refusal.why = SL_WHY_NONE;
	refusal.format = "";
	(decide == sl_plan_start ? sl_lua_check_how_to_start : sl_lua_check_how)(L, x, &e, sl_lua_wish_of(x, e.job), &how);
	if (how.terms.from)
		return luaL_error(L, "from: expected for reserve and earliest only, starts are now");
	if (sl_plan_job(x->plan, e.job) == SL_PLAN_STARTED)
		tell_twice(L, x, e.job);
	r = decide_at(x, decide, e, &how, &refusal, &err);
	if (r < 0)
		return raise_misuse(L, x, &err);
	if (!r && how.preempts)
		return sl_lua_preempt_instead(L, x, e);
	if (!r)
		return push_refusal(L, &refusal);
	sl_lua_read_because(L, x, &how, e.job);
	lua_pushboolean(L, 1);
	return 1;
}

static int plan_start(lua_State *L)
{
	return decide_start(L, sl_plan_start);
}

static int plan_backfill(lua_State *L)
{
	return decide_start(L, sl_plan_backfill);
}

struct backfill {
	const struct sl_terms *terms;
	lua_Integer started;
};

/* Start an entry of many, or make way for the head.  1, or 0. */
static int start_one(lua_State *L, struct sl_lua *x, struct sl_entry e, decide_now *decide, struct backfill *b)
{
	struct sl_error err;
	const struct sl_lua_wish *wish = sl_lua_wish_of(x, e.job);
	struct sl_lua_how how = { .terms = *b->terms };
	int r;

	if (wish) {
		how.wish = *wish;
		how.place = sl_lua_wished_how(wish);
		if (!how.terms.how && wish->method >= 0)
			how.terms.how = &how.place;
		e.confine = wish->confine;
	}
	r = decide_at(x, decide, e, &how, NULL, &err);

	if (r < 0)
		raise_misuse(L, x, &err);
	b->started += r;
	return r;
}

static bool backfill_one(lua_State *L, struct sl_lua *x, struct sl_entry e, void *arg)
{
	start_one(L, x, e, sl_plan_backfill, arg);
	return sl_plan_head(x->plan) != NULL;
}

/* Of an array as many tasks as there is room for. */
static bool start_all_of_one(lua_State *L, struct sl_lua *x, struct sl_entry e, void *arg)
{
	while (sl_plan_job(x->plan, e.job) != SL_PLAN_STARTED && !sl_plan_lacks_cores(x->plan, e) &&
	       start_one(L, x, e, sl_plan_head(x->plan) ? sl_plan_backfill : sl_plan_start, arg))
		;
	return true;
}

/* (queue [, how]): how many were started */
static int plan_backfill_rest(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	struct sl_lua_how how;
	struct backfill b = { &how.terms, 0 };

	sl_lua_check_how_of_all(L, x, &how);
	if (sl_plan_head(x->plan))
		sl_lua_queue_each(L, 2, true, backfill_one, &b);
	lua_pushinteger(L, b.started);
	return 1;
}

/* (order [, how]): how many were started */
static int plan_start_rest(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	struct sl_lua_how how;
	struct backfill b = { &how.terms, 0 };

	sl_lua_check_how_of_all(L, x, &how);
	if (!sl_lua_order_each(L, 2, start_all_of_one, &b))
		sl_lua_queue_each(L, 2, false, start_all_of_one, &b);
	lua_pushinteger(L, b.started);
	return 1;
}

typedef int decide_when(struct sl_plan *, struct sl_entry, const struct sl_terms *, int64_t *,
			struct sl_refusal *, struct sl_error *);

/* (job [, how]): a start time; or nil and why never */
static int decide_time(lua_State *L, decide_when *decide)
{
	struct sl_lua *x = check_plan(L);
	struct sl_entry e = sl_lua_check_entry(L, x, 2);
	struct sl_refusal refusal;
	struct sl_lua_how how;
	struct sl_error err;
	int64_t start;
	int r;

	refusal.why = SL_WHY_NONE;
	refusal.format = "";
	sl_lua_check_how(L, x, &e, sl_lua_wish_of(x, e.job), &how);
	r = decide(x->plan, e, &how.terms, &start, &refusal, &err);
	if (r < 0)
		return raise_misuse(L, x, &err);
	if (!r)
		return push_refusal(L, &refusal);
	lua_pushinteger(L, start);
	return 1;
}

static int plan_earliest(lua_State *L)
{
	return decide_time(L, sl_plan_earliest);
}

static int plan_reserve(lua_State *L)
{
	return decide_time(L, sl_plan_reserve);
}

/* plan:refuse(job, reason): it stays pending, and the user sees why */
static int plan_refuse(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	const struct sl_handle *job = check_job(L, x);
	char cut[SL_LUA_TEXT_MAX];
	struct sl_error err;

	if (sl_plan_refuse(x->plan, job->row, SL_WHY_POLICY, sl_lua_cut(cut, luaL_checkstring(L, 3)), &err))
		return raise_misuse(L, x, &err);
	return 0;
}

/* plan:expect(job, time): what users are told, by squeue --start */
static int plan_expect(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	const struct sl_handle *job = check_job(L, x);
	lua_Number time = luaL_checknumber(L, 3);
	struct sl_error err;

	luaL_argcheck(L, time >= 0 && time < 0x1p53, 3, "expected seconds since the epoch");
	if (sl_plan_expect(x->plan, job->row, (int64_t) time, &err))
		return raise_misuse(L, x, &err);
	return 0;
}

static void close_partition(lua_State *L, struct sl_lua *x, uint32_t partition, const char *reason)
{
	struct sl_error err;

	if (sl_plan_close(x->plan, partition, SL_WHY_PRIORITY, reason, &err))
		raise_misuse(L, x, &err);
	sl_lua_close(L, x, partition);
}

/* plan:close(partition, reason): nobody else of it is looked at, and why they wait; nil: of
 * all partitions of the set */
static int plan_close(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	const char *reason = luaL_checkstring(L, 3);
	const uint8_t *member = sl_lua_turn_partitions(x);
	uint32_t partition = SL_NONE;
	char cut[SL_LUA_TEXT_MAX];

	sl_lua_cut(cut, reason);
	if (sl_lua_is(L, 2, SL_CLASS_PARTITION)) {
		partition = sl_lua_check(L, x, 2, SL_CLASS_PARTITION)->row;
	} else if (!lua_isnil(L, 2)) {
		luaL_argcheck(L, lua_type(L, 2) == LUA_TSTRING, 2, "expected a partition, its name or nil");
		partition = sl_lua_check_partition(L, x, 2, "close");
		if (partition == SL_NONE)
			return 0;
	}
	if (partition != SL_NONE && member && !member[partition])
		return luaL_error(L, "close: partition '%s' is not one of those that are decided now",
				  sl_snapshot_str(x->snap, x->snap->partition.name[partition]));
	for (uint32_t p = 0; p < x->snap->partition.rows; p++)
		if (partition == SL_NONE ? !member || member[p] : p == partition)
			close_partition(L, x, p, cut);
	return 0;
}

static int plan_undo(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	const struct sl_handle *job = check_job(L, x);
	struct sl_error err;

	if (!sl_plan_undo(x->plan, job->row, &err)) {
		lua_pushboolean(L, 1);
		return 1;
	}
	if (err.code != SL_ENOENT)
		return raise_misuse(L, x, &err);
	lua_pushnil(L);
	lua_pushstring(L, err.text);
	return 2;
}

/* -- actions ---------------------------------------------------------- */

static int act(lua_State *L, struct sl_lua *x, enum sl_action verb, int64_t number, const char *text)
{
	const struct sl_handle *job = check_job(L, x);
	char cut[SL_LUA_TEXT_MAX];
	struct sl_error err;

	if (sl_plan_act(x->plan, verb, job->row, number, sl_lua_cut(cut, text), &err))
		return raise_misuse(L, x, &err);
	return 0;
}

static int plan_cancel(lua_State *L)
{
	return act(L, check_plan(L), SL_ACTION_CANCEL, 0, luaL_optstring(L, 3, ""));
}

static int plan_requeue(lua_State *L)
{
	return act(L, check_plan(L), SL_ACTION_REQUEUE, 0, luaL_optstring(L, 3, ""));
}

static int plan_suspend(lua_State *L)
{
	return act(L, check_plan(L), SL_ACTION_SUSPEND, 0, "");
}

static int plan_resume(lua_State *L)
{
	return act(L, check_plan(L), SL_ACTION_RESUME, 0, "");
}

static int plan_notify(lua_State *L)
{
	return act(L, check_plan(L), SL_ACTION_NOTIFY, 0, luaL_checkstring(L, 3));
}

/* Numbers of Linux, which is where Slurm runs. */
static int64_t check_signal(lua_State *L, int arg)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
		{ "HUP", 1 }, { "INT", 2 }, { "QUIT", 3 }, { "KILL", 9 }, { "USR1", 10 }, { "USR2", 12 },
		{ "TERM", 15 }, { "CONT", 18 }, { "STOP", 19 }, { "TSTP", 20 }, { "URG", 23 }, { "XCPU", 24 },
	};
	const char *name;
	lua_Integer n;

	if (lua_isinteger(L, arg)) {
		n = lua_tointeger(L, arg);
		luaL_argcheck(L, n >= 1 && n <= 64, arg, "a signal is a number from 1 to 64");
		return n;
	}
	name = luaL_checkstring(L, arg);
	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].number;
	return luaL_argerror(L, arg, lua_pushfstring(L, "unknown signal '%s'", name));
}

static int plan_signal(lua_State *L)
{
	struct sl_lua *x = check_plan(L);

	return act(L, x, SL_ACTION_SIGNAL, check_signal(L, 3), "");
}

/* plan:modify(job, { priority =, time_limit =, partition = }): all of it, or an error. */
static int plan_modify(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	int64_t priority, time_limit;
	bool moves = false;

	check_job(L, x);
	sl_lua_check_names(L, 3, "modify: ", "priority, time_limit or partition");
	priority = sl_lua_named_integer(L, 3, "priority", -1, 0, UINT32_MAX - 2);
	time_limit = sl_lua_named_integer(L, 3, "time_limit", 0, 60, INT64_MAX);
	if (lua_getfield(L, 3, "partition") != LUA_TNIL)
		moves = sl_lua_check_partition(L, x, -1, "modify") != SL_NONE;
	if (priority >= 0)
		act(L, x, SL_ACTION_PRIORITY, priority, "");
	if (time_limit)
		act(L, x, SL_ACTION_TIME_LIMIT, time_limit, "");
	if (moves)
		act(L, x, SL_ACTION_PARTITION, 0, lua_tostring(L, -1));
	return 0;
}

/* -- reading it back --------------------------------------------------- */

/* plan:state(job): "open", "started", "reserved" or "refused" */
static int plan_state(lua_State *L)
{
	static const char *const word[] = {
		[SL_PLAN_OPEN] = "open", [SL_PLAN_STARTED] = "started",
		[SL_PLAN_RESERVED] = "reserved", [SL_PLAN_REFUSED] = "refused",
	};
	struct sl_lua *x = check_plan(L);
	const struct sl_handle *job = check_job(L, x);
	enum sl_plan_state state = sl_plan_job(x->plan, job->row);

	if (state == SL_PLAN_OPEN && job->partition != SL_NONE && sl_lua_is_closed(x, job->partition))
		state = SL_PLAN_REFUSED;
	lua_pushstring(L, word[state]);
	return 1;
}

/* plan:layout(job): { [node's name] = cores }, the start time, the shape; nil without booking */
static int plan_layout(lua_State *L)
{
	struct sl_lua *x = check_plan(L);
	uint32_t job = check_job(L, x)->row, count;
	int64_t start;
	const struct sl_place *place = sl_plan_places(x->plan, job, &count, &start);

	if (!place) {
		lua_pushnil(L);
		return 1;
	}
	lua_createtable(L, 0, count);
	for (uint32_t i = 0; i < count; i++) {
		lua_pushinteger(L, place[i].cores);
		lua_setfield(L, -2, sl_snapshot_str(x->snap, x->snap->node.name[place[i].node]));
	}
	lua_pushinteger(L, start);
	lua_pushinteger(L, sl_plan_shape(x->plan, job));
	return 3;
}

/* The first job with a reservation that this set of partitions made. */
static void push_head(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	const struct sl_entry *e = sl_plan_head(x->plan);

	(void) h;
	if (e)
		sl_lua_push_job(L, x, e->job, e->partition);
	else
		lua_pushnil(L);
}

static void push_entries(lua_State *L, struct sl_lua *x, const struct sl_entry *e, uint32_t count)
{
	lua_createtable(L, count, 0);
	for (uint32_t i = 0; i < count; i++) {
		sl_lua_push_job(L, x, e[i].job, e[i].partition);
		lua_rawseti(L, -2, i + 1);
	}
}

static void push_started(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	uint32_t count;
	const struct sl_entry *e = sl_plan_started(x->plan, &count);

	(void) h;
	push_entries(L, x, e, count);
}

static void push_reserved(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	uint32_t count;
	const struct sl_entry *e = sl_plan_reserved(x->plan, &count);

	(void) h;
	push_entries(L, x, e, count);
}

static const struct sl_lua_field plan_fields[] = {
	{ "head", push_head },
	{ "started", push_started },
	{ "reserved", push_reserved },
	{ NULL, NULL }
};

/* ---------------------------------------------------------------------- */

static const luaL_Reg plan_methods[] = {
	{ "start", plan_start }, { "backfill", plan_backfill }, { "backfill_rest", plan_backfill_rest },
	{ "start_rest", plan_start_rest },
	{ "reserve", plan_reserve }, { "settle", sl_lua_plan_settle },
	{ "earliest", plan_earliest }, { "refuse", plan_refuse }, { "expect", plan_expect },
	{ "close", plan_close }, { "undo", plan_undo }, { "block", plan_block },
	{ "cancel", plan_cancel }, { "requeue", plan_requeue }, { "suspend", plan_suspend },
	{ "resume", plan_resume }, { "signal", plan_signal }, { "modify", plan_modify },
	{ "notify", plan_notify }, { "state", plan_state }, { "layout", plan_layout },
	{ "preempt", sl_lua_plan_preempt }, { "lost_work", sl_lua_plan_lost_work },
	{ "own_preemption", sl_lua_plan_own_preemption }, { "remember", sl_lua_plan_remember }, { NULL, NULL }
};

static const struct sl_lua_class plan_class = {
	.id = SL_CLASS_PLAN, .name = "plan", .table = -1, .field = plan_fields, .method = plan_methods,
};

void sl_lua_open_plan(lua_State *L)
{
	sl_lua_class(L, &plan_class);
}

void sl_lua_push_plan(lua_State *L, struct sl_lua *x)
{
	sl_lua_push(L, x, SL_CLASS_PLAN, 0);
}
