/* SPDX-License-Identifier: MIT */
/*
 * bind/order.c - history:order(): jobs in the order of what is expected of them.
 *
 *	for job, key, overdue in cluster.history:order(cluster:queue(), { size =, length =, patience =, ageing = }) do
 *
 * The key of a job is cpus^size x runtime^length / (1 + waited / patience)^ageing, the smallest first, equal ones as they
 * come.  The runtime is what the past of its user says, worked out in C for the predictors "similar" and "limit", or what the
 * function `typical` says.  With `slowdown` only those are in it whose wait is at least that times the shortest runtime that
 * is likely for them, and `slowdown_wait`; then those that have been overdue for longest go first, whatever their key.
 *
 * The same in Lua, job by job, takes some twenty times as long.
 */
#include "bind/turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/job_order.h"

#define ORDER 2			/* index of the iteration over the queue, */
#define OPTIONS 3		/* and of the table of options */

/* Registry: what is known of jobs, by row, for as long as the snapshot is the same one; the functions that are asked. */
static const char known_key, typical_key, stretch_key;

struct known_jobs {
	uint64_t numbering;		/* of the history */
	uint32_t picture, rows;
	struct sl_order_job job[];
};

struct ranked {
	double key, overdue;
	struct sl_entry entry;
	uint32_t place;
};

struct order {
	uint32_t generation;
	uint32_t count, at;
	struct ranked ranked[];
};

struct making {
	struct sl_order_by by;
	bool by_function;		/* what is expected is asked of functions, not of the history */
	bool overdue, open;
	int64_t now;
	struct sl_history *history;
	struct known_jobs *known;
	struct order *order;
	uint32_t room;
};

/* -- one job ------------------------------------------------------------- */

static struct known_jobs *know_jobs(lua_State *L, struct sl_lua *x, const struct sl_history *h)
{
	struct known_jobs *k;

	lua_rawgetp(L, LUA_REGISTRYINDEX, &known_key);
	k = lua_touserdata(L, -1);
	lua_pop(L, 1);
	if (k && k->picture == x->picture && k->rows == x->snap->job.rows && k->numbering == sl_history_numbering(h))
		return k;
	k = sl_lua_keep_block(L, &known_key, sizeof(*k) + x->snap->job.rows * sizeof(*k->job));
	k->numbering = sl_history_numbering(h);
	k->picture = x->picture;
	k->rows = x->snap->job.rows;
	return k;
}

static double ask_function(lua_State *L, struct sl_lua *x, const char *function, struct sl_entry e, const char *name)
{
	double answer;
	int is_number;

	luaL_checkstack(L, 8, NULL);
	lua_rawgetp(L, LUA_REGISTRYINDEX, function);
	sl_lua_push_job(L, x, e.job, e.partition);
	lua_call(L, 1, 1);
	answer = lua_tonumberx(L, -1, &is_number);
	if (!is_number)
		luaL_error(L, "order: %s returned a %s, expected a number", name, luaL_typename(L, -1));
	if (isnan(answer))
		luaL_error(L, "order: %s: expected a number, got NaN", name);
	lua_pop(L, 1);
	return answer;
}

/* What is expected of the job, and what that was stretched by. */
static double expect(lua_State *L, struct sl_lua *x, const struct making *m, struct sl_entry e, double *stretch)
{
	double typical;
	struct sl_error err;

	if (m->by_function) {
		*stretch = m->overdue ? ask_function(L, x, &stretch_key, e, "stretch") : 1;
		return ask_function(L, x, &typical_key, e, "typical");
	}
	if (sl_order_expect(&m->by, m->history, x->snap, e.job, m->now, &m->known->job[e.job], &typical, stretch, &err) < 0)
		luaL_error(L, "%s", err.text);
	return typical;
}

/* For how long the job is overdue, below 0: it is not. */
static double overdue_by(lua_State *L, struct sl_lua *x, const struct making *m, struct sl_entry e, int64_t waited,
			 double stretch)
{
	double overdue_s;
	struct sl_error err;

	if (sl_order_overdue(&m->by, m->history, x->snap, e.job, m->now, waited, stretch, &m->known->job[e.job],
			     &overdue_s, &err) < 0)
		luaL_error(L, "%s", err.text);
	return overdue_s;
}

/* Does it wait, as far as the plan says? */
static bool is_open(const struct sl_lua *x, struct sl_entry e)
{
	return sl_plan_job(x->plan, e.job) == SL_PLAN_OPEN && !sl_lua_is_closed(x, e.partition);
}

static bool add_entry(lua_State *L, struct sl_lua *x, struct sl_entry e, void *arg)
{
	struct making *m = arg;
	struct order *o = m->order;
	double typical, stretch, key, overdue = 0;
	int64_t waited;

	if (m->open && !is_open(x, e))
		return true;
	waited = sl_order_waited(x->snap, e.job, m->now);
	if (m->overdue && (double) waited < m->by.wait_s)
		return true;
	typical = expect(L, x, m, e, &stretch);
	if (m->overdue && (overdue = overdue_by(L, x, m, e, waited, stretch)) < 0)
		return true;
	if (o->count == m->room)		/* no entry comes twice while nothing starts */
		luaL_error(L, "order: more jobs than the queue has");
	key = sl_order_first_key(&m->by, sl_order_cpus(x->snap, e.job, &m->known->job[e.job]), typical);
	key = sl_order_key(&m->by, key, waited);
	if (isnan(key))			/* has no place in an order */
		luaL_error(L, "order: the key of job %d: expected a number, got NaN", (int) x->snap->job.id[e.job]);
	o->ranked[o->count] = (struct ranked) { .key = key, .overdue = overdue, .entry = e, .place = o->count };
	o->count++;
	return true;
}

/* -- the order ------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return SL_ORDER(x->key, y->key) ?: SL_ORDER(x->place, y->place);
}

/* See sl_order_overdue() for why the key has no say. */
static int by_overdue(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return SL_ORDER(y->overdue, x->overdue) ?: SL_ORDER(x->place, y->place);
}

static struct order *check_order(lua_State *L, struct sl_lua *x, int upvalue)
{
	struct order *o = lua_touserdata(L, upvalue);

	sl_lua_check_generation(L, x, o->generation, "order");
	return o;
}

static int order_next(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct order *o = check_order(L, x, lua_upvalueindex(1));
	const struct ranked *r;

	if (o->at == o->count)
		return 0;
	r = &o->ranked[o->at++];
	sl_lua_push_job(L, x, r->entry.job, r->entry.partition);
	lua_pushnumber(L, r->key);
	lua_pushnumber(L, r->overdue);
	return 3;
}

bool sl_lua_order_each(lua_State *L, int index, sl_lua_queue_visit *visit, void *arg)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_limit *limit = sl_limit_of(L);
	struct order *o;

	if (lua_tocfunction(L, index) != order_next || !lua_getupvalue(L, index, 1))
		return false;
	o = check_order(L, x, -1);
	while (o->at < o->count) {
		sl_limit_tick(L, limit);
		if (!visit(L, x, o->ranked[o->at++].entry, arg))
			break;
	}
	lua_pop(L, 1);
	return true;
}

/* Options are read in each cycle: what is well said costs no more than finding it. */
static double read_number(lua_State *L, const char *name, double otherwise, unsigned *said)
{
	double number = otherwise;

	switch (lua_getfield(L, OPTIONS, name)) {
	case LUA_TNIL:
		break;
	case LUA_TNUMBER:
		number = lua_tonumber(L, -1);
		++*said;
		break;
	default:
		luaL_error(L, "order: %s: expected a number, got %s", name, luaL_typename(L, -1));
	}
	lua_pop(L, 1);
	return number;
}

/* Keep a function that is among the options; is it? */
static bool read_function(lua_State *L, const char *name, const char *key, unsigned *said)
{
	int type = lua_getfield(L, OPTIONS, name);

	*said += type != LUA_TNIL;
	if (type != LUA_TFUNCTION && type != LUA_TNIL)
		luaL_error(L, "order: %s: expected a function, got %s", name, luaL_typename(L, -1));
	lua_rawsetp(L, LUA_REGISTRYINDEX, key);
	return type == LUA_TFUNCTION;
}

static void read_predictor(lua_State *L, struct making *m, unsigned *said)
{
	const char *name = sl_lua_named_text(L, OPTIONS, "predictor");
	bool has_stretch = read_function(L, "stretch", &stretch_key, said);

	*said += name != NULL;
	if (read_function(L, "typical", &typical_key, said))
		m->by_function = true;
	else if (name && !strcmp(name, "similar"))
		m->by.predictor = SL_PREDICT_SIMILAR;
	else if (name && !strcmp(name, "limit"))
		m->by.predictor = SL_PREDICT_LIMIT;
	else
		luaL_error(L, "order: predictor: expected \"similar\", \"limit\", or a function typical");
	if (m->overdue && m->by_function && !has_stretch)
		luaL_error(L, "order: stretch: expected a function, where typical is one");
}

static void read_options(lua_State *L, struct making *m)
{
	unsigned said = 0;

	m->by.size = read_number(L, "size", 1, &said);
	m->by.length = read_number(L, "length", 1, &said);
	m->by.patience = read_number(L, "patience", HUGE_VAL, &said);
	m->by.ageing = read_number(L, "ageing", 1, &said);
	m->by.slowdown = read_number(L, "slowdown", -1, &said);
	m->by.wait_s = read_number(L, "slowdown_wait", 0, &said);
	m->overdue = m->by.slowdown >= 0;
	said += lua_getfield(L, OPTIONS, "open") != LUA_TNIL;
	lua_pop(L, 1);
	m->open = sl_lua_named_flag(L, OPTIONS, "open");
	read_predictor(L, m, &said);
	for (lua_pushnil(L); lua_next(L, OPTIONS); lua_pop(L, 1))
		said--;
	if (said)	/* there are others */
		sl_lua_check_names(L, OPTIONS, "order: ", "size, length, patience, ageing, predictor, typical, stretch, open, "
				   "slowdown or slowdown_wait");
}

/* history:order(queue, { size =, ... }): job, key, overdue; the smallest key first, or the longest overdue */
int sl_lua_history_order(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct making m = { 0 };
	struct sl_error err;

	sl_lua_check(L, x, 1, SL_CLASS_HISTORY);
	m.now = sl_cluster_now(x->cluster);
	lua_settop(L, OPTIONS);
	luaL_checktype(L, OPTIONS, LUA_TTABLE);
	luaL_checkstack(L, 12, NULL);
	read_options(L, &m);
	m.history = sl_cluster_history(x->cluster, &err);
	if (!m.history)
		return luaL_error(L, "%s", err.text);
	m.known = know_jobs(L, x, m.history);
	sl_cluster_queue(x->cluster, &m.room);
	m.order = lua_newuserdatauv(L, sizeof(*m.order) + m.room * sizeof(*m.order->ranked), 0);
	m.order->generation = x->generation;
	m.order->count = m.order->at = 0;
	sl_lua_queue_each(L, ORDER, false, add_entry, &m);
	qsort(m.order->ranked, m.order->count, sizeof(*m.order->ranked), m.overdue ? by_overdue : by_key);
	lua_pushcclosure(L, order_next, 1);
	return 1;
}
