/* SPDX-License-Identifier: MIT */
/*
 * bind/turn.c - the stage for a set of partitions: which entries of the queue it
 * sees, whom admit() lets in, and in which order rank() puts them.
 *
 * Admit is asked when an entry is first looked at, so that a window of 500 costs
 * 500 calls; rank has to see all entries.  Where no rank is defined nothing is
 * sorted: the order is Slurm's own.
 *
 * Admit answers once a cycle.  Limits on what users hold change with every start, so
 * that allow() is asked when an entry is handed out, again for each further task of an
 * array, and again when it is about to be started after something else was.
 */
#include "bind/bind.h"

#include <stdlib.h>
#include <string.h>

/* Keys of the registry for what must stay alive during a turn. */
static const char member_key, closed_key, admitted_key, order_key, admit_key, allow_key;

struct ranked {
	double rank, then;
	int64_t priority, submit_time;
	uint32_t id, index;
};

/* A zeroed block that lives until the next turn; NULL for none. */
static void *keep_block(lua_State *L, const char *key, size_t size)
{
	void *block = NULL;

	if (size) {
		block = lua_newuserdatauv(L, size, 0);
		memset(block, 0, size);
	} else {
		lua_pushnil(L);
	}
	lua_rawsetp(L, LUA_REGISTRYINDEX, key);
	return block;
}

/* The partitions of the set, as marks by row. */
static void read_partitions(lua_State *L, struct sl_lua *x, int set)
{
	bool some = lua_getfield(L, set, "partitions") == LUA_TTABLE;

	x->member = keep_block(L, &member_key, some ? x->snap->partition.rows + 1 : 0);
	if (some)
		sl_lua_mark_partitions(L, x, -1, x->member);
	lua_pop(L, 1);
}

/* -- admit ------------------------------------------------------------- */

/* Ask the set's admit(job, cluster): true, or false and the reason. */
static bool ask_admit(lua_State *L, struct sl_lua *x, const struct sl_entry *e)
{
	struct sl_error err;
	const char *reason;
	bool admitted;
	int top = lua_gettop(L);

	luaL_checkstack(L, 8, NULL);
	x->asking++;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &admit_key);
	sl_lua_push_job(L, x, e->job, e->partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 2, 2);
	x->asking--;
	admitted = lua_toboolean(L, -2);
	reason = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) :
		lua_pushfstring(L, "not admitted by policy %s, which gives no reason", x->set_name);
	if (!admitted && sl_plan_refuse(x->plan, e->job, SL_WHY_POLICY, reason, &err))
		luaL_error(L, "%s", err.text);
	lua_settop(L, top);
	return admitted;
}

/* -- allow ------------------------------------------------------------- */

/* What allow(job, cluster) answered: true, false or "later" (sched/site.lua), and the reason. */
static enum sl_lua_allow read_allow(lua_State *L)
{
	if (lua_type(L, -2) == LUA_TSTRING)
		return SL_ALLOW_LATER;
	return lua_toboolean(L, -2) ? SL_ALLOW_YES : SL_ALLOW_NO;
}

enum sl_lua_allow sl_lua_entry_allowed(lua_State *L, struct sl_lua *x, struct sl_entry e, char *reason)
{
	enum sl_lua_allow answer;
	struct sl_error err;
	const char *why;
	struct sl_booking booking;
	bool on_trial;
	int top = lua_gettop(L);

	if (x->held[e.partition]) {
		if (reason)
			strcpy(reason, "held, as what guards the partition failed");
		return SL_ALLOW_NO;
	}
	if (!x->has_allow)
		return SL_ALLOW_YES;
	on_trial = sl_plan_trial(x->plan, &booking);
	if (!on_trial && x->allowed_at == sl_plan_revision(x->plan) && x->allowed.job == e.job &&
	    x->allowed.partition == e.partition)
		return SL_ALLOW_YES;
	luaL_checkstack(L, 8, NULL);
	x->asking++;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &allow_key);
	sl_lua_push_job(L, x, e.job, e.partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 2, 2);
	answer = read_allow(L);
	x->asking--;
	why = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "not allowed by the policy";
	/* what is said of a place holds for that place only */
	if (!on_trial && (answer == SL_ALLOW_YES || (answer == SL_ALLOW_LATER && reason))) {
		x->allowed = e;
		x->allowed_at = sl_plan_revision(x->plan);
	}
	if ((answer == SL_ALLOW_NO || (answer == SL_ALLOW_LATER && !reason)) &&
	    sl_plan_refuse(x->plan, e.job, SL_WHY_POLICY, why, &err))
		luaL_error(L, "%s", err.text);
	if (reason && answer == SL_ALLOW_NO)
		sl_lua_cut(reason, why);
	lua_settop(L, top);
	return answer;
}

struct question {
	struct sl_entry entry;
	char *reason;
	enum sl_lua_allow answer;
};

static int ask_question(lua_State *L)
{
	struct question *q = lua_touserdata(L, 1);

	q->answer = sl_lua_entry_allowed(L, sl_lua_context(L), q->entry, q->reason);
	return 0;
}

/*
 * Protected, since the plan is at work: it takes back what is on trial, and who asked it
 * raises the error, which stays on the stack (sl_lua_raise_again()).
 */
int sl_lua_guard(void *arg, struct sl_entry e, struct sl_refusal *why, struct sl_error *err)
{
	struct sl_lua *x = arg;
	char reason[SL_LUA_TEXT_MAX];
	struct question q = { e, reason, SL_ALLOW_NO };

	if (!x->has_allow && !x->held[e.partition])
		return 1;
	*reason = 0;
	lua_pushcfunction(x->L, ask_question);
	lua_pushlightuserdata(x->L, &q);
	x->guard_raised = lua_pcall(x->L, 1, 0, 0) != LUA_OK;
	if (x->guard_raised)
		return sl_fail(err, SL_ESCRIPT, "allow failed");
	why->why = SL_WHY_POLICY;
	snprintf(why->text, sizeof(why->text), "%.*s", (int) sizeof(why->text) - 1, reason);
	return q.answer != SL_ALLOW_NO;
}

void sl_lua_raise_again(lua_State *L, struct sl_lua *x)
{
	if (!x->guard_raised)
		return;
	x->guard_raised = false;
	lua_error(L);
}

void sl_lua_close(lua_State *L, struct sl_lua *x, uint32_t partition)
{
	if (!x->closed)
		x->closed = keep_block(L, &closed_key, x->snap->partition.rows);
	x->closed[partition] = 1;
}

bool sl_lua_is_closed(const struct sl_lua *x, uint32_t partition)
{
	return x->closed && x->closed[partition];
}

bool sl_lua_entry_open(lua_State *L, struct sl_lua *x, uint32_t index)
{
	uint32_t count;
	const struct sl_entry *e = &sl_cluster_queue(x->cluster, &count)[index];

	if ((x->member && !x->member[e->partition]) || x->held[e->partition] || sl_lua_is_closed(x, e->partition))
		return false;
	if (sl_plan_job(x->plan, e->job) == SL_PLAN_STARTED || sl_cluster_is_led(x->cluster, e->job))
		return false;
	if (!x->has_admit)
		return true;
	if (!x->admitted[index])
		x->admitted[index] = ask_admit(L, x, e) ? 1 : 2;
	return x->admitted[index] == 1;
}

/* Is that entry of the queue one that the set may look at?  (A partition that was closed
 * meanwhile is: its first job, too, may have been tried before.) */
static bool is_admitted(lua_State *L, struct sl_lua *x, struct sl_entry e)
{
	uint32_t count, i = 0;
	const struct sl_entry *queue = sl_cluster_queue(x->cluster, &count);

	while (i < count && (queue[i].job != e.job || queue[i].partition != e.partition))
		i++;
	if (i == count || (x->member && !x->member[e.partition]) || x->held[e.partition])
		return false;
	if (x->has_admit && !x->admitted[i])
		x->admitted[i] = ask_admit(L, x, &e) ? 1 : 2;
	return !x->has_admit || x->admitted[i] == 1;
}

void sl_lua_confirm_preempting(lua_State *L, struct sl_lua *x)
{
	char reason[SL_LUA_TEXT_MAX];
	struct sl_entry e;

	while (sl_plan_next_preempting(x->plan, &e))
		if (is_admitted(L, x, e) && sl_lua_entry_allowed(L, x, e, reason) != SL_ALLOW_NO)
			sl_plan_confirm_preempting(x->plan, e);
}

/* -- rank -------------------------------------------------------------- */

static int by_rank(const void *va, const void *vb)
{
	const struct ranked *a = va, *b = vb;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (a->then != b->then)
		return a->then > b->then ? -1 : 1;
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->submit_time != b->submit_time)
		return a->submit_time < b->submit_time ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The function rank(job, cluster) is on the top of the stack, and returns what can be ordered
 * (sched/site.lua).  A second number decides among equals. */
static void ask_rank(lua_State *L, struct sl_lua *x, const struct sl_entry *e, struct ranked *r)
{
	lua_pushvalue(L, -1);
	sl_lua_push_job(L, x, e->job, e->partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 2, 2);
	r->rank = lua_tonumber(L, -2);
	r->then = lua_tonumber(L, -1);
	lua_pop(L, 2);
}

static void make_order(lua_State *L, struct sl_lua *x)
{
	uint32_t count, n = 0, *order;
	const struct sl_entry *queue = sl_cluster_queue(x->cluster, &count);
	struct ranked *ranked = lua_newuserdatauv(L, (size_t) (count + 1) * sizeof(*ranked), 0);

	lua_insert(L, -2);
	for (uint32_t i = 0; i < count; i++) {
		const struct sl_entry *e = &queue[i];

		if (!sl_lua_entry_open(L, x, i))
			continue;
		ranked[n] = (struct ranked) {
			.priority = x->snap->job.priority[e->job],
			.submit_time = x->snap->job.submit_time[e->job], .id = x->snap->job.id[e->job], .index = i,
		};
		ask_rank(L, x, e, &ranked[n++]);
	}
	qsort(ranked, n, sizeof(*ranked), by_rank);
	order = keep_block(L, &order_key, (size_t) (n + 1) * sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		order[i] = ranked[i].index;
	x->order = order;
	x->ordered = n;
	lua_remove(L, -2);
}

const char *sl_lua_set_text(lua_State *L, int index, const char *field)
{
	const char *text;

	/* no conversion: nobody would keep its result */
	if (lua_getfield(L, index, field) != LUA_TSTRING)
		luaL_error(L, "a set's %s: expected a string, got %s", field, luaL_typename(L, -1));
	text = lua_tostring(L, -1);
	lua_pop(L, 1);
	return text;
}

void sl_lua_no_turn(struct sl_lua *x)
{
	x->turn++;
	x->set_name = NULL;
	x->group = NULL;
	x->member = NULL;
	x->admitted = NULL;
	x->order = NULL;
	x->ordered = 0;
	x->closed = NULL;
	x->has_admit = false;
	x->has_allow = false;
	x->allowed_at = UINT64_MAX;
}

/* The functions of the set that say who may start.  What they work with could not be
 * made: that is how they fail. */
static void read_guards(lua_State *L, struct sl_lua *x, int set)
{
	uint32_t count;

	x->has_admit = x->has_allow = false;
	if (x->unguarded)
		return;
	if (lua_getfield(L, set, "failed") == LUA_TSTRING) {
		x->asking++;
		luaL_error(L, "%s", lua_tostring(L, -1));
	}
	sl_cluster_queue(x->cluster, &count);
	x->has_admit = lua_getfield(L, set, "admit") == LUA_TFUNCTION;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &admit_key);
	x->admitted = keep_block(L, &admitted_key, x->has_admit ? count + 1 : 0);
	x->has_allow = lua_getfield(L, set, "allow") == LUA_TFUNCTION;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &allow_key);
	lua_pop(L, 1);
}

void sl_lua_turn(lua_State *L, struct sl_lua *x, int index)
{
	int set = lua_absindex(L, index);

	luaL_checkstack(L, 16, NULL);
	sl_lua_no_turn(x);
	x->set_name = sl_lua_set_text(L, set, "name");
	x->group = sl_lua_set_text(L, set, "memory");
	lua_getfield(L, set, "holds");
	x->holds = lua_toboolean(L, -1);
	lua_pop(L, 1);
	read_partitions(L, x, set);
	read_guards(L, x, set);
	if (!x->stand_in && lua_getfield(L, set, "rank") == LUA_TFUNCTION)
		make_order(L, x);
	lua_settop(L, set);
}
