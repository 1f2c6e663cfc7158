/* SPDX-License-Identifier: MIT */
/*
 * bind/turn.c - see bind/turn.h
 *
 * Admit is asked when an entry is first looked at, so that a window of 500 costs
 * 500 calls; rank has to see all entries.  Where no rank is defined nothing is
 * sorted: the order is Slurm's own.
 *
 * Admit answers once a cycle.  Limits on what users hold change with every start, so
 * that allow() is asked when an entry is handed out, again for each further task of an
 * array, and again when it is about to be started after something else was.
 */
#include "bind/turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "bind/score.h"
#include "model/preempt.h"

/* Keys of the registry for what must stay alive during a turn. */
static const char turn_key, member_key, closed_key, admitted_key, order_key, admit_key, allow_key, rank_key,
	ranks_key, rank_part_key, place_key, wishes_key, wish_of_key;

enum admission { NOT_ASKED, ADMITTED, NOT_ADMITTED };

struct sl_lua_turn {
	uint32_t number;
	const char *policy, *memory;
	uint8_t *member;		/* by partition row; NULL: all */
	bool holds;			/* when admit or allow fails, nothing starts in its partitions */
	uint32_t asking;		/* calls of admit and allow that have not come back */
	bool has_admit, has_allow;
	uint8_t *admitted;		/* by queue entry: enum admission */
	uint8_t *closed;		/* by partition row; NULL: none is */
	bool has_place;
	struct sl_lua_wish *wish;	/* by queue entry; NULL: the group has no place() */
	uint32_t *wish_of;		/* by job row: the entry whose wish holds + 1 */
	struct sl_entry allowed;	/* the last entry that allow() let through... */
	uint64_t allowed_at;		/* ... at this revision of the plan; UINT64_MAX: none */
	bool guard_raised;		/* what it raised is on the stack */
	const uint32_t *order;		/* queue entries by rank; NULL: the queue's order */
	uint32_t ordered;
	const struct sl_lua_rank *ranks;	/* by place in the order, where rank() is asked again; else NULL */
	uint64_t ranked_at;		/* as of this revision of the plan */
};

/* -- whose turn it is ---------------------------------------------------- */

void sl_lua_open_turn(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	x->turn = sl_lua_keep_block(L, &turn_key, sizeof(*x->turn));
	sl_lua_end_turn(x);
}

void sl_lua_end_turn(struct sl_lua *x)
{
	if (x->cluster)
		sl_cluster_own_score(x->cluster, NULL, NULL);
	*x->turn = (struct sl_lua_turn) { .number = x->turn->number + 1, .allowed_at = UINT64_MAX };
}

uint32_t sl_lua_turn_number(const struct sl_lua *x)
{
	return x->turn->number;
}

const char *sl_lua_turn_policy(const struct sl_lua *x)
{
	return x->turn->policy;
}

const char *sl_lua_turn_memory(const struct sl_lua *x)
{
	return x->turn->memory;
}

const uint8_t *sl_lua_turn_partitions(const struct sl_lua *x)
{
	return x->turn->member;
}

const uint32_t *sl_lua_turn_order(const struct sl_lua *x, uint32_t *count)
{
	*count = x->turn->ordered;
	return x->turn->order;
}

bool sl_lua_turn_is_unguarded(const struct sl_lua *x)
{
	for (uint32_t p = 0; p < x->snap->partition.rows; p++)
		if (x->held[p])
			return false;
	return !x->turn->member && !x->turn->has_admit && !x->turn->has_allow;
}

bool sl_lua_turn_is_in_queue_order(const struct sl_lua *x)
{
	return sl_lua_turn_is_unguarded(x) && !x->turn->has_place && !x->turn->order;
}

bool sl_lua_turn_is_by_rank(lua_State *L, const struct sl_lua *x)
{
	const struct sl_lua_turn *t = x->turn;

	return sl_lua_turn_is_unguarded(x) && !t->has_place && !t->closed && t->order && !t->ranks &&
		lua_rawgetp(L, LUA_REGISTRYINDEX, &rank_part_key) == LUA_TTABLE;
}

bool sl_lua_turn_is_plain(const struct sl_lua *x)
{
	return sl_lua_turn_is_in_queue_order(x) && !x->turn->closed;
}

bool sl_lua_turn_guards_failed(const struct sl_lua *x, bool *holds)
{
	*holds = x->turn->holds;
	return x->turn->asking > 0;
}

const char *sl_lua_group_text(lua_State *L, int index, const char *field)
{
	const char *text;

	/* no conversion: nobody would keep its result */
	if (lua_getfield(L, index, field) != LUA_TSTRING)
		luaL_error(L, "a group's %s: expected a string, got %s", field, luaL_typename(L, -1));
	text = lua_tostring(L, -1);
	lua_pop(L, 1);
	return text;
}

/* -- admit ------------------------------------------------------------- */

/* Ask the group's admit(job, cluster): true, or false and the reason. */
static bool ask_admit(lua_State *L, struct sl_lua *x, struct sl_entry e)
{
	struct sl_error err;
	const char *reason;
	bool admitted;
	int top = lua_gettop(L);

	luaL_checkstack(L, 8, NULL);
	x->turn->asking++;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &admit_key);
	sl_lua_push_job(L, x, e.job, e.partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 2, 2);
	x->turn->asking--;
	admitted = lua_toboolean(L, -2);
	reason = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) :
		lua_pushfstring(L, "not admitted by policy %s, which gives no reason", x->turn->policy);
	if (!admitted && sl_plan_refuse(x->plan, e.job, SL_WHY_POLICY, reason, &err))
		luaL_error(L, "%s", err.text);
	lua_settop(L, top);
	return admitted;
}

/* Does it let in this entry of the queue?  It is asked once. */
static bool is_admitted(lua_State *L, struct sl_lua *x, struct sl_entry e, uint32_t index)
{
	struct sl_lua_turn *t = x->turn;

	if (!t->has_admit)
		return true;
	if (t->admitted[index] == NOT_ASKED)
		t->admitted[index] = ask_admit(L, x, e) ? ADMITTED : NOT_ADMITTED;
	return t->admitted[index] == ADMITTED;
}

/* May the group start jobs in this partition at all? */
static bool decides_on(const struct sl_lua *x, uint32_t partition)
{
	return (!x->turn->member || x->turn->member[partition]) && !x->held[partition];
}

void sl_lua_close(lua_State *L, struct sl_lua *x, uint32_t partition)
{
	if (!x->turn->closed)
		x->turn->closed = sl_lua_keep_block(L, &closed_key, x->snap->partition.rows);
	x->turn->closed[partition] = 1;
}

bool sl_lua_is_closed(const struct sl_lua *x, uint32_t partition)
{
	return x->turn->closed && x->turn->closed[partition];
}

bool sl_lua_entry_open(lua_State *L, struct sl_lua *x, uint32_t index)
{
	uint32_t count;
	struct sl_entry e = sl_cluster_queue(x->cluster, &count)[index];

	return decides_on(x, e.partition) && !sl_lua_is_closed(x, e.partition) &&
	       sl_plan_job(x->plan, e.job) != SL_PLAN_STARTED && !sl_cluster_is_led(x->cluster, e.job) &&
	       is_admitted(L, x, e, index);
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
	struct sl_lua_turn *t = x->turn;
	bool on_trial;
	int top = lua_gettop(L);

	if (x->held[e.partition]) {
		if (reason)
			strcpy(reason, "held, as what guards the partition failed");
		return SL_ALLOW_NO;
	}
	if (!t->has_allow)
		return SL_ALLOW_YES;
	on_trial = sl_plan_trial(x->plan, &booking);
	if (!on_trial && t->allowed_at == sl_plan_revision(x->plan) && t->allowed.job == e.job &&
	    t->allowed.partition == e.partition)
		return SL_ALLOW_YES;
	luaL_checkstack(L, 8, NULL);
	t->asking++;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &allow_key);
	sl_lua_push_job(L, x, e.job, e.partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 2, 2);
	answer = read_allow(L);
	t->asking--;
	why = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "not allowed by the policy";
	/* what is said of a place holds for that place only */
	if (!on_trial && (answer == SL_ALLOW_YES || (answer == SL_ALLOW_LATER && reason))) {
		t->allowed = e;
		t->allowed_at = sl_plan_revision(x->plan);
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

	if (!x->turn->has_allow && !x->held[e.partition])
		return 1;
	*reason = 0;
	lua_pushcfunction(x->L, ask_question);
	lua_pushlightuserdata(x->L, &q);
	x->turn->guard_raised = lua_pcall(x->L, 1, 0, 0) != LUA_OK;
	if (x->turn->guard_raised)
		return sl_fail(err, SL_ESCRIPT, "allow failed");
	why->why = SL_WHY_POLICY;
	why->format = NULL;
	snprintf(why->text, sizeof(why->text), "%.*s", (int) sizeof(why->text) - 1, reason);
	return q.answer != SL_ALLOW_NO;
}

void sl_lua_raise_again(lua_State *L, struct sl_lua *x)
{
	if (!x->turn->guard_raised)
		return;
	x->turn->guard_raised = false;
	lua_error(L);
}

int sl_lua_own_stops(struct sl_lua *x, struct sl_error *err)
{
	for (uint32_t i = 0; i < x->snap->partition.rows; i++)
		if (decides_on(x, i) && sl_plan_own_stops(x->plan, i, err) < 0)
			return -1;
	return 0;
}

/* A partition that was closed meanwhile does not count: its first job, too, may have been tried
 * before. */
void sl_lua_confirm_preempting(lua_State *L, struct sl_lua *x)
{
	uint32_t count, i;
	const struct sl_entry *queue = sl_cluster_queue(x->cluster, &count);
	char reason[SL_LUA_TEXT_MAX];
	struct sl_entry e;

	while (sl_plan_next_preempting(x->plan, &e)) {
		for (i = 0; i < count && (queue[i].job != e.job || queue[i].partition != e.partition); i++)
			;
		if (i < count && decides_on(x, e.partition) && is_admitted(L, x, e, i) &&
		    sl_lua_entry_allowed(L, x, e, reason) != SL_ALLOW_NO)
			sl_plan_confirm_preempting(x->plan, e);
	}
}

/* -- place --------------------------------------------------------------- */

void sl_lua_entry_place(lua_State *L, struct sl_lua *x, uint32_t index)
{
	struct sl_lua_turn *t = x->turn;
	uint32_t count;
	struct sl_entry e;

	if (!t->has_place)
		return;
	e = sl_cluster_queue(x->cluster, &count)[index];
	if (!t->wish[index].known) {
		luaL_checkstack(L, 8, NULL);
		lua_rawgetp(L, LUA_REGISTRYINDEX, &place_key);
		sl_lua_push_job(L, x, e.job, e.partition);
		sl_lua_push_cluster(L, x);
		lua_call(L, 2, 1);
		sl_lua_read_wish(L, x, lua_gettop(L), &t->wish[index]);
		t->wish[index].known = true;
		lua_pop(L, 1);
	}
	t->wish_of[e.job] = index + 1;
	sl_lua_apply_wish(L, x, e.job, &t->wish[index]);
}

const struct sl_lua_wish *sl_lua_wish_of(const struct sl_lua *x, uint32_t job)
{
	const struct sl_lua_turn *t = x->turn;

	return t->has_place && t->wish_of[job] ? &t->wish[t->wish_of[job] - 1] : NULL;
}

/* The plan asks for the score that place() returned; what that raises is raised again, as of a guard. */
static int own_score(void *arg, const struct sl_scored *what, double *score, struct sl_error *err)
{
	struct sl_lua *x = arg;
	struct sl_entry e = sl_cluster_scored(x->cluster);
	const struct sl_lua_wish *wish = sl_lua_wish_of(x, e.job);
	int rc = 1;

	*score = 0;
	if (wish && wish->score)	/* else it was placed so in another turn */
		rc = sl_lua_ask_score(x, wish->score, e, what, score, err);
	x->turn->guard_raised |= rc < 0 && err->code == SL_ESCRIPT;
	return rc;
}

/* -- rank -------------------------------------------------------------- */

int sl_lua_rank_order(const struct sl_lua_rank *a, const struct sl_lua_rank *b)
{
	return SL_ORDER(b->rank, a->rank) ?: SL_ORDER(b->then, a->then) ?:
		SL_ORDER(b->priority, a->priority) ?: SL_ORDER(a->submit_time, b->submit_time) ?:
		SL_ORDER(a->id, b->id) ?: SL_ORDER(a->index, b->index);
}

static int by_rank(const void *a, const void *b)
{
	return sl_lua_rank_order(a, b);
}

/* The function rank(job, cluster) is on the top of the stack, and returns what can be ordered
 * (sched/site.lua).  A second number decides among equals. */
static struct sl_lua_rank ask_rank(lua_State *L, struct sl_lua *x, uint32_t index)
{
	const struct sl_job_view *j = &x->snap->job;
	uint32_t count;
	struct sl_entry e = sl_cluster_queue(x->cluster, &count)[index];
	struct sl_lua_rank r = { .priority = j->priority[e.job], .submit_time = j->submit_time[e.job], .id = j->id[e.job],
				 .index = index };

	lua_pushvalue(L, -1);
	sl_lua_push_job(L, x, e.job, e.partition);
	sl_lua_push_cluster(L, x);
	lua_call(L, 2, 2);
	r.rank = lua_tonumber(L, -2);
	r.then = lua_tonumber(L, -1);
	lua_pop(L, 2);
	return r;
}

struct sl_lua_rank sl_lua_rank_again(lua_State *L, struct sl_lua *x, uint32_t index)
{
	struct sl_lua_rank r;

	luaL_checkstack(L, 8, NULL);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &rank_key);
	r = ask_rank(L, x, index);
	lua_pop(L, 1);
	return r;
}

const struct sl_lua_rank *sl_lua_turn_ranks(const struct sl_lua *x, uint64_t *revision)
{
	*revision = x->turn->ranked_at;
	return x->turn->ranks;
}

/* The function is on the top of the stack. */
static void make_order(lua_State *L, struct sl_lua *x, bool again)
{
	uint32_t count, n = 0, *order;
	struct sl_lua_rank *ranked;

	sl_cluster_queue(x->cluster, &count);
	ranked = sl_lua_keep_block(L, &ranks_key, (size_t) (count + 1) * sizeof(*ranked));
	for (uint32_t i = 0; i < count; i++)
		if (sl_lua_entry_open(L, x, i))
			ranked[n++] = ask_rank(L, x, i);
	qsort(ranked, n, sizeof(*ranked), by_rank);
	order = sl_lua_keep_block(L, &order_key, (size_t) (n + 1) * sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		order[i] = ranked[i].index;
	x->turn->order = order;
	x->turn->ordered = n;
	x->turn->ranked_at = sl_plan_revision(x->plan);
	x->turn->ranks = again ? ranked : NULL;
	if (!again)
		sl_lua_keep_block(L, &ranks_key, 0);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &rank_key);
}

/* -- a turn begins ------------------------------------------------------- */

/* The partitions of the group, as marks by row. */
static void read_partitions(lua_State *L, struct sl_lua *x, int group)
{
	bool some = lua_getfield(L, group, "partitions") == LUA_TTABLE;

	x->turn->member = sl_lua_keep_block(L, &member_key, some ? x->snap->partition.rows + 1 : 0);
	if (some)
		sl_lua_mark_partitions(L, x, -1, x->turn->member);
	lua_pop(L, 1);
}

/* The functions of the group that say who may start.  What they work with could not be
 * made: that is how they fail. */
static void read_guards(lua_State *L, struct sl_lua *x, int group)
{
	struct sl_lua_turn *t = x->turn;
	uint32_t count;

	if (lua_getfield(L, group, "failed") == LUA_TSTRING) {
		t->asking++;
		luaL_error(L, "%s", lua_tostring(L, -1));
	}
	sl_cluster_queue(x->cluster, &count);
	t->has_admit = lua_getfield(L, group, "admit") == LUA_TFUNCTION;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &admit_key);
	t->admitted = sl_lua_keep_block(L, &admitted_key, t->has_admit ? count + 1 : 0);
	t->has_allow = lua_getfield(L, group, "allow") == LUA_TFUNCTION;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &allow_key);
	lua_pop(L, 1);
}

static void read_place_function(lua_State *L, struct sl_lua *x, int group)
{
	struct sl_lua_turn *t = x->turn;
	uint32_t count;

	sl_cluster_queue(x->cluster, &count);
	t->has_place = lua_getfield(L, group, "place") == LUA_TFUNCTION;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &place_key);
	sl_lua_begin_scores(L);
	sl_cluster_own_score(x->cluster, own_score, x);
	t->wish = sl_lua_keep_block(L, &wishes_key, t->has_place ? (count + 1) * sizeof(*t->wish) : 0);
	t->wish_of = sl_lua_keep_block(L, &wish_of_key, t->has_place ? (x->snap->job.rows + 1) * sizeof(*t->wish_of) : 0);
}

void sl_lua_begin_turn(lua_State *L, struct sl_lua *x, int index, unsigned without)
{
	int group = lua_absindex(L, index);
	bool again;

	luaL_checkstack(L, 16, NULL);
	sl_lua_end_turn(x);
	x->turn->policy = sl_lua_group_text(L, group, "name");
	x->turn->memory = sl_lua_group_text(L, group, "memory");
	lua_getfield(L, group, "holds");
	x->turn->holds = lua_toboolean(L, -1);
	lua_pop(L, 1);
	read_partitions(L, x, group);
	if (!(without & SL_TURN_UNGUARDED)) {
		read_guards(L, x, group);
		read_place_function(L, x, group);
	}
	if (!(without & SL_TURN_UNRANKED)) {
		lua_getfield(L, group, "rerank");
		again = lua_toboolean(L, -1);
		if (lua_getfield(L, group, "rank") == LUA_TFUNCTION)
			make_order(L, x, again);
		lua_getfield(L, group, "rank_part");
		lua_rawsetp(L, LUA_REGISTRYINDEX, &rank_part_key);
	}
	lua_settop(L, group);
}
