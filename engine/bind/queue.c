/* SPDX-License-Identifier: MIT */
/*
 * bind/queue.c - cluster:queue(): the jobs that a policy goes through, in their order.
 */
#include "bind/turn.h"

#include <string.h>

#include "base/heap.h"

/* Keys of the registry for what lives as long as the state, and as the cycle. */
static const char queue_key, seen_key;

/* What was looked at in this cycle. */
struct sl_lua_queue {
	uint32_t examined;
	uint32_t window;		/* the least of those that were asked for */
	uint8_t *seen;			/* by queue entry: it is counted */
};

void sl_lua_begin_queue(lua_State *L, struct sl_lua *x)
{
	uint32_t count;

	if (!x->queue)
		x->queue = sl_lua_keep_block(L, &queue_key, sizeof(*x->queue));
	sl_cluster_queue(x->cluster, &count);
	x->queue->examined = 0;
	x->queue->window = SL_NONE;
	x->queue->seen = sl_lua_keep_block(L, &seen_key, count);
}

uint32_t sl_lua_examined(const struct sl_lua *x)
{
	return x->queue ? x->queue->examined : 0;
}

uint32_t sl_lua_window(const struct sl_lua *x)
{
	return x->queue ? x->queue->window : 0;
}

/* An entry that was put back, with the rank that it has since. */
struct put_back {
	struct sl_lua_rank rank;
	uint64_t revision;		/* of the plan, as of which it has that */
};

static bool goes_before(const void *arg, const struct put_back *a, const struct put_back *b)
{
	(void) arg;
	return sl_lua_rank_order(&a->rank, &b->rank) < 0;
}

SL_HEAP(put_back, struct put_back, const void *, goes_before)

/* So often an entry is put back in an iteration beside what its own starts bring, and rank() asked about it; then it
 * has its turn. */
#define MOST_PUT_BACK 8

/* Where an iteration over the queue is. */
struct walk {
	uint32_t generation, turn;
	uint32_t at;			/* position in the queue or the order */
	uint32_t left;			/* of the window */
	uint32_t last;			/* entry that was handed out, or SL_NONE */
	uint32_t *later;		/* entries that come after all others; NULL: none so far */
	uint32_t laters, later_at;
	uint32_t started;		/* length of the list of starts then */
	int64_t eligible_by;		/* only entries that became eligible by then */
	struct put_back *back;		/* a heap, where rank() is asked again; NULL: nothing was put back */
	uint8_t *times;			/* behind it, by queue entry: how often it was */
	uint32_t backs;
	bool picks;			/* there is a window: it is not for those whom no time helps */
	bool shares;			/* it ends with its share of the cycle's work */
	uint64_t spent;			/* of that */
	uint64_t before;		/* units spent when the last one was handed out */
	bool busy;			/* looking for the next one, and asking admit() and allow() */
};

static void check_walk(lua_State *L, struct sl_lua *x, const struct walk *w)
{
	sl_lua_check_generation(L, x, w->generation, "iteration over the queue");
	if (w->turn != sl_lua_turn_number(x))
		luaL_error(L, "this iteration over the queue is of another set of partitions");
	/* also after an error in the middle of it: what was asked about is neither handed out nor put off */
	if (w->busy)
		luaL_error(L, "this iteration over the queue is at work, or ended with an error: "
			   "what it asks (admit, allow) cannot go on with it");
}

/* An array's record comes again as long as it is started and has tasks left. */
static bool comes_again(struct sl_lua *x, const struct walk *w, const struct sl_entry *queue)
{
	const struct sl_entry *started;
	uint32_t count;

	if (w->last == SL_NONE)
		return false;
	started = sl_plan_started(x->plan, &count);
	return count > w->started && started[count - 1].job == queue[w->last].job &&
	       sl_plan_job(x->plan, queue[w->last].job) != SL_PLAN_STARTED;
}

/* When a job could have been started first, as far as it was up to the job. */
static int64_t eligible_since(const struct sl_lua *x, uint32_t job)
{
	int64_t submitted = x->snap->job.submit_time[job], eligible = x->snap->job.eligible_time[job];

	return eligible > submitted ? eligible : submitted;
}

/* Put an entry off until all others were handed out.  The block for them is the second
 * upvalue of queue_next(). */
static void put_off(lua_State *L, struct walk *w, uint32_t index, uint32_t count)
{
	if (!w->later) {
		w->later = lua_newuserdatauv(L, count * sizeof(*w->later), 0);
		lua_replace(L, lua_upvalueindex(2));
	}
	/* each is put off once: it is handed out again only after all others */
	if (w->laters == count)
		luaL_error(L, "allow: more answers \"later\" than the queue has entries");
	w->later[w->laters++] = index;
}

/* May it start?  One that is put off is not handed out now. */
static bool is_its_turn(lua_State *L, struct sl_lua *x, struct walk *w, const struct sl_entry *queue, uint32_t index,
			uint32_t count)
{
	enum sl_lua_allow answer = sl_lua_entry_allowed(L, x, queue[index], NULL);

	if (answer == SL_ALLOW_LATER)
		put_off(L, w, index, count);
	return answer == SL_ALLOW_YES;
}

/* The next of those that were put off. */
static uint32_t next_later(lua_State *L, struct sl_lua *x, struct walk *w, const struct sl_entry *queue)
{
	while (w->later_at < w->laters) {
		uint32_t index = w->later[w->later_at++];

		if (sl_lua_entry_open(L, x, index) && sl_lua_entry_allowed(L, x, queue[index], NULL) != SL_ALLOW_NO)
			return index;
	}
	return SL_NONE;
}

static void count_seen(struct sl_lua *x, uint32_t index)
{
	x->queue->examined += !x->queue->seen[index];
	x->queue->seen[index] = 1;
}

static uint32_t examine(struct sl_lua *x, struct walk *w, uint32_t index)
{
	w->left--;
	count_seen(x, index);
	return index;
}

/*
 * The share of a cycle's work (base/effort.h) that one look at the queue may be: half a second or so, a third of the
 * default budget at most.  A job that is handed out counts for as much at least, for what the policy itself does about it: so
 * there are 60,000 of them at most.
 */
#define SHARE 60000000
#define LEAST_OF_SHARE 1000

/* What came of the entry that was handed out last has been work. */
static void settle_share(const struct sl_lua *x, struct walk *w)
{
	uint64_t spent = sl_cluster_effort(x->cluster) - w->before;

	if (!w->shares || w->last == SL_NONE)
		return;
	w->spent += spent > LEAST_OF_SHARE ? spent : LEAST_OF_SHARE;
	if (w->spent >= SHARE)
		w->left = 0;
}

/* A window is for jobs that may start once others have ended: a thousand that never will are not in the way of those
 * behind them.  They are refused. */
static bool is_hopeless(lua_State *L, struct sl_lua *x, const struct walk *w, struct sl_entry e)
{
	struct sl_error err;
	int rc = w->picks ? sl_plan_refuse_hopeless(x->plan, e, &err) : 0;

	if (rc < 0)
		luaL_error(L, "%s", err.text);
	return rc > 0;
}

/* -- rank() asked again ------------------------------------------------------ */

/* Would anybody else go before such a rank? */
static bool has_others_before(const struct sl_lua *x, const struct walk *w, const struct sl_lua_rank *r)
{
	uint64_t revision;
	uint32_t end;
	const struct sl_lua_rank *ranks = sl_lua_turn_ranks(x, &revision);

	sl_lua_turn_order(x, &end);
	return (w->at < end && sl_lua_rank_order(&ranks[w->at], r) < 0) ||
		(w->backs && sl_lua_rank_order(&w->back[0].rank, r) < 0);
}

/* Put an entry back to where its rank is now; false: it goes first all the same.  The block for all of them is the
 * third upvalue of queue_next(). */
static bool put_back_to_place(lua_State *L, struct sl_lua *x, struct walk *w, const struct sl_lua_rank *r, uint32_t count)
{
	if (!has_others_before(x, w, r))
		return false;
	if (!w->back) {
		w->back = lua_newuserdatauv(L, count * (sizeof(*w->back) + 1), 0);
		w->times = (uint8_t *) (w->back + count);
		memset(w->times, 0, count);
		lua_replace(L, lua_upvalueindex(3));
	}
	w->back[w->backs] = (struct put_back) { *r, sl_plan_revision(x->plan) };
	put_back_sift_up(NULL, w->back, w->backs++);
	return true;
}

/* The next entry by rank, where one whose rank has fallen since it was asked goes to its place; SL_NONE. */
static uint32_t next_ranked(lua_State *L, struct sl_lua *x, struct walk *w, uint32_t count)
{
	struct put_back next;
	struct sl_lua_rank now;
	uint32_t end;
	const struct sl_lua_rank *ranks = sl_lua_turn_ranks(x, &next.revision);

	sl_lua_turn_order(x, &end);
	while (w->at < end || w->backs) {
		sl_lua_turn_ranks(x, &next.revision);
		if (w->backs && (w->at >= end || sl_lua_rank_order(&w->back[0].rank, &ranks[w->at]) < 0)) {
			next = w->back[0];
			put_back_drop_first(NULL, w->back, &w->backs);
		} else {
			next.rank = ranks[w->at++];
		}
		if (next.revision == sl_plan_revision(x->plan) || !sl_lua_entry_open(L, x, next.rank.index) ||
		    (w->times && w->times[next.rank.index] >= MOST_PUT_BACK))
			return next.rank.index;
		now = sl_lua_rank_again(L, x, next.rank.index);
		if (sl_lua_rank_order(&now, &next.rank) <= 0 || !put_back_to_place(L, x, w, &now, count))
			return next.rank.index;
		w->times[next.rank.index]++;
	}
	return SL_NONE;
}

/* The next entry in the order of the turn; SL_NONE at its end. */
static uint32_t next_in_order(lua_State *L, struct sl_lua *x, struct walk *w, uint32_t count)
{
	uint32_t end;
	uint64_t revision;
	const uint32_t *order = sl_lua_turn_order(x, &end);

	if (sl_lua_turn_ranks(x, &revision))
		return next_ranked(L, x, w, count);
	if (w->at >= (order ? end : count))
		return SL_NONE;
	return order ? order[w->at++] : w->at++;
}

/* A task of an array was started: do others go before the next one now? */
static bool gives_way(lua_State *L, struct sl_lua *x, struct walk *w, uint32_t count)
{
	uint64_t revision;
	struct sl_lua_rank now;

	if (!sl_lua_turn_ranks(x, &revision))
		return false;
	now = sl_lua_rank_again(L, x, w->last);
	if (!put_back_to_place(L, x, w, &now, count))
		return false;
	w->left++;	/* it comes again, and counts once */
	return true;
}

/* The next entry to look at, or SL_NONE. */
static uint32_t next_entry(lua_State *L, struct sl_lua *x, struct walk *w, const struct sl_entry *queue, uint32_t count)
{
	uint32_t index;

	if (comes_again(x, w, queue) && !gives_way(L, x, w, count)) {
		if (w->later_at ? sl_lua_entry_allowed(L, x, queue[w->last], NULL) != SL_ALLOW_NO :
				  is_its_turn(L, x, w, queue, w->last, count))
			return w->last;
	}
	if (!w->left)
		return SL_NONE;
	while ((index = next_in_order(L, x, w, count)) != SL_NONE) {
		if (eligible_since(x, queue[index].job) > w->eligible_by || !sl_lua_entry_open(L, x, index) ||
		    !is_its_turn(L, x, w, queue, index, count))
			continue;
		sl_lua_entry_place(L, x, index);
		if (!is_hopeless(L, x, w, queue[index]))
			return examine(x, w, index);
		count_seen(x, index);
	}
	index = next_later(L, x, w, queue);
	if (index != SL_NONE)
		sl_lua_entry_place(L, x, index);
	return index == SL_NONE ? SL_NONE : examine(x, w, index);
}

/* Go on to the next entry; NULL at the end. */
static const struct sl_entry *step(lua_State *L, struct sl_lua *x, struct walk *w)
{
	const struct sl_entry *queue;
	uint32_t count;

	w->busy = true;
	queue = sl_cluster_queue(x->cluster, &count);
	settle_share(x, w);
	w->last = next_entry(L, x, w, queue, count);
	w->before = sl_cluster_effort(x->cluster);
	w->busy = false;
	if (w->last == SL_NONE)
		return NULL;
	sl_plan_started(x->plan, &w->started);
	return &queue[w->last];
}

/* What sl_lua_queue_each() asks the iterator to do, which has what it needs as upvalues. */
struct visit {
	sl_lua_queue_visit *visit;
	void *arg;
	bool to_backfill;		/* who cannot be backfilled for want of cores need not be visited */
};

/* Count what the plan passes over as looked at. */
static void pass_over(struct sl_lua *x, struct walk *w)
{
	for (uint32_t n = sl_plan_pass_over(x->plan, w->at, w->left); n; n--)
		examine(x, w, w->at++);
}

static int visit_rest(lua_State *L, struct sl_lua *x, struct walk *w, const struct visit *v)
{
	const struct sl_limit *limit = sl_limit_of(L);
	bool passes = v->to_backfill && sl_lua_turn_is_plain(x) && w->eligible_by == INT64_MAX;
	const struct sl_entry *e;

	do {
		if (passes)
			pass_over(x, w);
		e = step(L, x, w);
		sl_limit_tick(L, limit);
	} while (e && v->visit(L, x, *e, v->arg));
	return 0;
}

static int queue_next(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct walk *w = lua_touserdata(L, lua_upvalueindex(1));
	const struct sl_entry *e;

	check_walk(L, x, w);
	if (lua_islightuserdata(L, 1))		/* scripts have none */
		return visit_rest(L, x, w, lua_touserdata(L, 1));
	e = step(L, x, w);
	if (!e)
		return 0;
	sl_lua_push_job(L, x, e->job, e->partition);
	return 1;
}

void sl_lua_queue_each(lua_State *L, int index, bool to_backfill, sl_lua_queue_visit *visit, void *arg)
{
	struct visit v = { visit, arg, to_backfill };

	if (lua_tocfunction(L, index) != queue_next)
		luaL_typeerror(L, index, "what cluster:queue() returned");
	lua_pushvalue(L, index);
	lua_pushlightuserdata(L, &v);
	lua_call(L, 1, 0);
}

/* The window of cluster:queue(), at 2: a number, "share", or none.  Whether there is one. */
static bool read_window(lua_State *L, struct walk *w)
{
	lua_Integer window;

	w->left = SL_NONE - 1;
	if (lua_isnoneornil(L, 2))
		return false;
	if (lua_type(L, 2) == LUA_TSTRING && !lua_isinteger(L, 2) && !strcmp(lua_tostring(L, 2), "share")) {
		w->shares = true;
		return true;
	}
	window = luaL_checkinteger(L, 2);
	luaL_argcheck(L, window >= 0, 2, "a window of jobs is not negative");
	w->left = window < SL_NONE ? (uint32_t) window : SL_NONE - 1;
	return true;
}

/* cluster:queue([window [, eligible_by [, whom]]]): for job in ... */
int sl_lua_cluster_queue(lua_State *L)
{
	static const char *const whom[] = { "able", "all", NULL };
	struct sl_lua *x = sl_lua_context(L);
	struct walk *w, asked = { .last = SL_NONE };
	bool windowed;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	windowed = read_window(L, &asked);
	asked.generation = x->generation;
	asked.turn = sl_lua_turn_number(x);
	asked.eligible_by = luaL_optinteger(L, 3, INT64_MAX);
	asked.picks = windowed && luaL_checkoption(L, 4, "able", whom) == 0;
	w = lua_newuserdatauv(L, sizeof(*w), 0);
	*w = asked;
	if (w->left < x->queue->window)
		x->queue->window = w->left;
	lua_pushnil(L);
	lua_pushnil(L);
	lua_pushcclosure(L, queue_next, 3);
	return 1;
}
