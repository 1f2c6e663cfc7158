/* SPDX-License-Identifier: MIT */
/*
 * script.c - a Lua state made from a bundle, and a cycle in it.
 */
#include "script/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "bind/how.h"
#include "bundle/data.h"

/* Registry: the site object, the groups of the snapshot. */
static const char site_key, groups_key;

/* -- errors ------------------------------------------------------------ */

/* What was raised is no text: say what it is, and where that was. */
static void name_raised(lua_State *L)
{
	lua_Debug ar;

	for (int level = 1; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "Sl", &ar);
		if (ar.currentline > 0) {
			lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
			lua_pushfstring(L, "error() with a %s, expected a text", luaL_typename(L, 1));
			lua_concat(L, 2);
			return;
		}
	}
	lua_pushfstring(L, "error() with a %s, expected a text", luaL_typename(L, 1));
}

/* Message handler: the message as text, its traceback kept aside. */
static int on_error(lua_State *L)
{
	struct sl_script *s = (struct sl_script *) sl_lua_context(L);

	if (s->x.limit.expired || s->x.limit.out_of_memory)
		return 1;
	if (lua_isstring(L, 1) || luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL)
		sl_sandbox_tostring(L, 1, NULL);
	else
		name_raised(L);
	if (!s->trace) {
		sl_limit_traceback(L, 1);
		s->trace = strdup(lua_tostring(L, -1));
		lua_pop(L, 1);
	}
	return 1;
}

/*
 * Lua shortens long file names in messages to their end, "...n/policies/easy.lua";
 * messages begin with the whole path.
 */
static void whole_path(const struct sl_bundle *b, struct sl_error *err)
{
	const char *colon = strchr(err->text, ':'), *tail = err->text + 3;
	struct sl_error full = { .code = err->code };
	size_t n;

	if (strncmp(err->text, "...", 3) || !colon)
		return;
	n = colon - tail;
	for (unsigned i = 0; i < b->files; i++) {
		const char *path = b->file[i]->path;
		size_t length = strlen(path);

		if (length >= n && !memcmp(path + length - n, tail, n)) {
			sl_fail(&full, err->code, "%s%s", path, colon);
			*err = full;
			return;
		}
	}
}

/* Call what is on the stack, arguments above it.  0, or -1 with *err. */
static int protected(struct sl_script *s, int args, int results, struct sl_error *err)
{
	lua_State *L = s->x.L;
	int base = lua_gettop(L) - args, status;

	lua_pushcfunction(L, on_error);
	lua_insert(L, base);
	status = lua_pcall(L, args, results, base);
	lua_remove(L, base);
	if (status == LUA_OK)
		return 0;
	sl_limit_fail(&s->x.limit, status, err);
	/* where it was is not known when there is no memory left to say it */
	if (err && err->code == SL_ENOMEM && s->x.running && sl_lua_turn_policy(&s->x))
		sl_fail_in(err, "policy %s", sl_lua_turn_policy(&s->x));
	if (err)
		whole_path(s->x.bundle, err);
	if (s->x.limit.trace && !s->trace)
		s->trace = strdup(s->x.limit.trace);
	return -1;
}

int sl_limits_left(const struct sl_limits *limits, int64_t since, struct sl_limits *left, struct sl_error *err)
{
	*left = *limits;
	if (!limits->budget_us)
		return 0;
	left->budget_us -= sl_clock_us() - since;
	if (left->budget_us > 0)
		return 0;
	return sl_fail(err, SL_ETIME, "the budget of %lld ms was used up before the policy could begin",
		       (long long) (limits->budget_us + 999) / 1000);
}

int sl_script_call(struct sl_script *s, const struct sl_limits *limits, lua_CFunction f, void *arg, struct sl_error *err)
{
	int r;

	if (sl_limit_arm(&s->x.limit, limits->budget_us, err))
		return -1;
	lua_pushcfunction(s->x.L, f);
	lua_pushlightuserdata(s->x.L, arg);
	r = protected(s, 1, 0, err);
	sl_limit_disarm(&s->x.limit);
	return r;
}

static void hand_over_trace(struct sl_script *s, char **trace)
{
	if (trace)
		*trace = s->trace;
	else
		free(s->trace);
	s->trace = NULL;
}

/* -- a state ----------------------------------------------------------- */

static int open_state(lua_State *L)
{
	sl_sandbox_open(L);
	sl_lua_open_turn(L);
	sl_lua_open_job(L);
	sl_lua_open_node(L);
	sl_lua_open_cluster(L);
	sl_lua_open_plan(L);
	sl_lua_open_usage(L);
	sl_lua_open_history(L);
	sl_lua_open_bid(L);
	sl_lua_open_nodeset(L);
	sl_lua_open_log(L);
	sl_script_open_modules(L);
	/* A state lives for a cycle: rather than mark 10,000 jobs again and again, let memory grow
	 * to four times what is in use.  Before the limit is hit Lua collects in any case. */
	lua_gc(L, LUA_GCINC, 400, 0, 0);
	return 0;
}

/* Run the site file, or make a site of one policy; keep the site object. */
static int run_site(lua_State *L)
{
	struct sl_bundle *b = sl_lua_context(L)->bundle;
	const struct sl_bundle_file *file = sl_bundle_site(b);

	sl_lua_require(L, "sched.site");
	if (file) {
		lua_getfield(L, -1, "check");
		if (sl_lua_load(L, file) != LUA_OK)
			return lua_error(L);
		lua_call(L, 0, 1);
		lua_pushstring(L, file->path);
	} else {
		lua_getfield(L, -1, "single");
		lua_pushstring(L, b->policy);
		lua_pushstring(L, b->options);
	}
	lua_call(L, 2, 1);
	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, "forecasts");
	sl_lua_keep_forecasts(L);
	lua_getfield(L, -1, "clock");
	sl_lua_keep_clock(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &site_key);
	sl_sandbox_settle(L);
	return 0;
}

static size_t memory_of(const struct sl_limits *limits)
{
	return limits && limits->memory ? limits->memory : SL_DEFAULT_MEMORY;
}

/* Open a state, and run the site in it where that is wanted. */
static struct sl_script *make_script(struct sl_bundle *b, const struct sl_limits *limits, bool with_site, char **trace,
				     struct sl_error *err)
{
	struct sl_script *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		sl_fail(err, SL_ENOMEM, "out of memory");
		return NULL;
	}
	s->x.bundle = b;
	s->x.L = sl_limit_newstate(&s->x.limit, memory_of(limits), err);
	if (!s->x.L)
		goto error;
	*(struct sl_lua **) lua_getextraspace(s->x.L) = &s->x;
	if (sl_limit_arm(&s->x.limit, limits ? limits->budget_us : SL_LOAD_BUDGET_US, err))
		goto error;
	lua_pushcfunction(s->x.L, open_state);
	r = protected(s, 0, 0, err);
	if (!r && with_site) {
		lua_pushcfunction(s->x.L, run_site);
		r = protected(s, 0, 0, err);
	}
	sl_limit_disarm(&s->x.limit);
	if (r)
		goto error;
	return s;
error:
	hand_over_trace(s, trace);
	sl_script_destroy(s);
	return NULL;
}

struct sl_script *sl_script_new(struct sl_bundle *b, const struct sl_limits *limits, char **trace, struct sl_error *err)
{
	return make_script(b, limits, true, trace, err);
}

struct sl_script *sl_script_bare(struct sl_bundle *b, const struct sl_limits *limits, struct sl_error *err)
{
	return make_script(b, limits, false, NULL, err);
}

struct sl_script *sl_script_create(const struct sl_bundle *b, const struct sl_limits *limits, struct sl_error *err)
{
	/* A sealed bundle is only read. */
	return sl_script_new((struct sl_bundle *) b, limits, NULL, err);
}

void sl_script_destroy(struct sl_script *s)
{
	if (!s)
		return;
	sl_limit_close(&s->x.limit);
	free(s->held);
	sl_remember_destroy(s->x.remember);
	sl_rank_code_destroy(s->x.rank_code);
	free(s->trace);
	free(s->said);
	free(s);
}

size_t sl_script_memory(const struct sl_script *s, size_t *peak)
{
	if (peak)
		*peak = s->x.limit.peak;
	return s->x.limit.used;
}

void sl_script_push_site(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &site_key);
}

/* -- a cycle ----------------------------------------------------------- */

static void log_about_file(bool error, const char *text, void *arg)
{
	struct sl_lua *x = arg;

	sl_lua_log(x->L, x, error ? 0 : 1, text);
}

/* Push the list of groups of this snapshot: driver.groups(site, cluster). */
static int find_groups(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	if (sl_lua_begin(L, x) || x->bundle->figures.variants > 1) {
		lua_pushnil(L);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &groups_key);
	}
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &groups_key) != LUA_TTABLE) {
		sl_lua_require(L, "sched.driver");
		lua_getfield(L, -1, "groups");
		lua_rawgetp(L, LUA_REGISTRYINDEX, &site_key);
		sl_lua_push_cluster(L, x);
		lua_call(L, 2, 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &groups_key);
	}
	sl_lua_flush_log(L, x);
	/* a set that is still being loaded is only tried: what was said would be lost */
	if (x->bundle->sealed)
		sl_data_tell(x->bundle->data, log_about_file, x);
	return 1;
}

/* Push decide and the options of what decides in the group at 1. */
static void push_decider(lua_State *L, const struct sl_script *s)
{
	if (s->stand_in) {
		sl_lua_require(L, "sched.driver");
		lua_getfield(L, -1, "stand_in");
		lua_remove(L, -2);
		lua_call(L, 0, 2);
	} else {
		lua_getfield(L, 1, "decide");
		lua_getfield(L, 1, "options");
	}
}

/* Let the group at 1 prepare what it decides: nodes that it keeps free, say. */
static int prepare_group(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	sl_plan_set_policy(x->plan, sl_lua_group_text(L, 1, "name"));
	sl_lua_begin_turn(L, x, 1, SL_TURN_UNRANKED);
	if (lua_getfield(L, 1, "prepare") != LUA_TFUNCTION)
		return 0;
	sl_lua_push_cluster(L, x);
	sl_lua_push_plan(L, x);
	lua_call(L, 2, 0);
	sl_sandbox_settle(L);
	return 0;
}

/* Let the group at 1 decide.  A component's stages are policies of the site's own. */
static int run_group(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_script *s = (struct sl_script *) x;

	sl_plan_set_policy(x->plan, s->stand_in ? "easy" : sl_lua_group_text(L, 1, "name"));
	lua_getfield(L, 1, "is_stage");
	if (s->stand_in && lua_toboolean(L, -1))
		return 0;
	sl_lua_begin_turn(L, x, 1, (s->unguarded ? SL_TURN_UNGUARDED : 0) | (s->stand_in ? SL_TURN_UNRANKED : 0));
	push_decider(L, s);
	sl_lua_push_cluster(L, x);
	sl_lua_push_plan(L, x);
	lua_rotate(L, -3, -1);	/* the options come last */
	lua_call(L, 3, 1);
	sl_lua_confirm_preempting(L, x);
	sl_sandbox_settle(L);
	/* a list of jobs, say: who returns one means something by it, and nothing would start */
	if (lua_istable(L, -1))
		luaL_error(L, "policy %s: decide returned a table, expected nothing: jobs start by plan:start(job)",
			   sl_lua_turn_policy(x));
	return 0;
}

/* Add to what is said about the job that is explained.  Raises. */
static void say(lua_State *L, struct sl_script *s, const char *text)
{
	size_t was = s->said ? strlen(s->said) : 0, n = strlen(text);
	char *said = realloc(s->said, was + n + 2);

	if (!said)
		luaL_error(L, "out of memory");
	s->said = said;
	snprintf(said + was, n + 2, "%s", text);
}

static int64_t number_of(lua_State *L, int table, const char *key)
{
	int64_t n = (lua_getfield(L, table, key), lua_tointeger(L, -1));

	lua_pop(L, 1);
	return n;
}

/* What the table on the top of the stack says, unless another group has fewer jobs ahead. */
static void note_standing(lua_State *L, struct sl_script *s)
{
	int64_t ahead = number_of(L, -1, "ahead"), known = s->standing.ahead;

	if (!s->said || known < 0 || (ahead >= 0 && ahead < known))
		s->standing.ahead = ahead;
	s->standing.low = number_of(L, -1, "low");
	s->standing.likely = number_of(L, -1, "likely");
	s->standing.high = number_of(L, -1, "high");
	lua_getfield(L, -1, "confidence");
	s->standing.confidence = lua_tonumber(L, -1);
	lua_pop(L, 1);
}

/* Instead of letting the group at 1 decide: explain(group, cluster, job id). */
static int explain_group(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_script *s = (struct sl_script *) x;

	sl_lua_begin_turn(L, x, 1, 0);
	sl_lua_require(L, "sched.explain");
	lua_getfield(L, -1, "explain");
	lua_pushvalue(L, 1);
	sl_lua_push_cluster(L, x);
	lua_pushinteger(L, s->explain);
	lua_call(L, 3, 2);
	if (lua_type(L, -2) == LUA_TSTRING) {
		note_standing(L, s);
		say(L, s, lua_tostring(L, -2));
	}
	return 0;
}

/* One group, which is on the top of the stack and is popped.  0, or -1 with *err. */
static int run_one(struct sl_script *s, lua_CFunction run, struct sl_error *err)
{
	sl_lua_end_turn(&s->x);
	lua_pushcfunction(s->x.L, run);
	lua_insert(s->x.L, -2);
	return protected(s, 1, 0, err);
}

static bool at_an_end(const struct sl_script *s)
{
	return s->x.limit.expired || s->x.limit.out_of_memory;
}

/*
 * The group that was run failed.  Where that was admit or allow, nothing more starts that
 * they guard; or, where the site wants that, easy goes on without them.  The group is on
 * the top of the stack, and popped.
 */
static void after_failure(struct sl_script *s, lua_CFunction run, const struct sl_error *err)
{
	const char *memory = sl_lua_turn_memory(&s->x);
	struct sl_error later;
	bool holds;

	if (memory && !s->x.limit.expired)
		sl_remember_forget(s->x.remember, memory);
	if (!sl_lua_turn_guards_failed(&s->x, &holds)) {
		/* the others go on */
	} else if (holds) {
		sl_script_hold_turn(s, err->text);
	} else if (s->stand_in && !at_an_end(s)) {
		s->unguarded = true;
		lua_pushvalue(s->x.L, -1);
		run_one(s, run, &later);
		s->unguarded = false;
	}
	lua_pop(s->x.L, 1);
}

/* The rest of the time becomes so much less, or what there is until that time.  Without a clock nothing goes on. */
static void set_time(struct sl_script *s, int64_t budget_us)
{
	struct sl_limit *limit = &s->x.limit;
	int64_t whole = limit->budget_us;

	sl_limit_disarm(limit);
	if (sl_limit_arm(limit, budget_us > 0 ? budget_us : 1, NULL))
		limit->expired = 1;
	limit->budget_us = whole;	/* what messages name */
}

/*
 * Easy is about to decide in the place of a group, which is on the top of the stack: what the policies of the group prepare
 * holds for easy as well.  A prepare() that fails, or that does not end within a quarter of the time that is left, costs
 * what it has not said yet.
 */
static void prepare_for_stand_in(struct sl_script *s)
{
	struct sl_limit *limit = &s->x.limit;
	int64_t end_ns = limit->deadline_ns;
	bool timed = limit->budget_us > 0;
	char text[SL_LUA_TEXT_MAX];
	struct sl_error why = { 0 };

	if (timed)
		set_time(s, (end_ns - sl_clock_ns()) / 4000);
	lua_pushvalue(s->x.L, -1);
	if (run_one(s, prepare_group, &why)) {
		snprintf(text, sizeof(text), "prepare failed, easy decides without what it had not said yet: %s", why.text);
		sl_plan_log(s->x.plan, 0, text);
		limit->out_of_memory = false;
		free(s->trace);		/* that of what easy fails at is to be told */
		s->trace = NULL;
	}
	if (timed)
		set_time(s, (end_ns - sl_clock_ns()) / 1000);
}

/*
 * All groups, one after the other.  One that fails does not take the others with
 * it; the first error is told.  After the deadline and out of memory nothing
 * goes on.
 */
static int run_groups(struct sl_script *s, lua_CFunction run, struct sl_error *err)
{
	lua_State *L = s->x.L;
	struct sl_error first = { 0 }, now = { 0 };
	int r = 0;

	lua_pushcfunction(L, find_groups);
	if (protected(s, 0, 1, &first)) {
		sl_script_hold_site(s, first.text);
		if (err)
			*err = first;
		return 1;
	}
	for (lua_Integer i = 1; !at_an_end(s) && lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
		if (s->stand_in)
			prepare_for_stand_in(s);
		lua_pushvalue(L, -1);
		if (!run_one(s, run, &now)) {
			lua_pop(L, 1);
			continue;
		}
		if (!r++)
			first = now;
		after_failure(s, run, &now);
	}
	lua_settop(L, 0);
	if (r && err)
		*err = first;
	return r != 0;
}

/* Recall what the snapshot says, unless this script has decided about it before. */
static int recall(struct sl_script *s, struct sl_error *err)
{
	const struct sl_snapshot *snap = s->x.snap;
	struct sl_script_origin from = { snap->image.base, snap->image.size, snap->meta.sequence[0], snap->meta.now[0] };
	const struct sl_script_origin *was = &s->origin;
	bool goes_on = s->keeps_memory;

	s->keeps_memory = false;
	if (s->x.remember && goes_on) {
		s->origin = from;
		return 0;
	}
	if (s->x.remember && was->base == from.base && was->size == from.size && was->sequence == from.sequence &&
	    was->now == from.now)
		return 0;
	if (!s->x.remember && !(s->x.remember = sl_remember_create(err)))
		return -1;
	s->origin = from;
	return sl_remember_load(s->x.remember, &snap->image, &snap->remembered, s->x.bundle->digest, err);
}

struct sl_remember *sl_script_take_memory(struct sl_script *s)
{
	struct sl_remember *m = s->x.remember;

	s->x.remember = NULL;
	return m;
}

void sl_script_keep_memory(struct sl_script *s)
{
	s->keeps_memory = true;
}

static int set_up_cycle(struct sl_script *s, struct sl_cluster *c, struct sl_plan *p, struct sl_error *err)
{
	struct sl_lua *x = &s->x;

	x->cluster = c;
	x->plan = p;
	x->snap = sl_cluster_snapshot(c);
	sl_plan_set_guard(p, sl_lua_guard, x);
	sl_plan_wake_after(p, sl_lua_seconds(x->bundle->figures.wake_after_s));
	sl_lua_end_turn(x);
	x->wake_time = INT64_MAX;
	x->nodesets = 0;
	sl_cluster_unconfine(c);
	if (recall(s, err) || sl_script_begin_holds(s, err))
		return -1;
	sl_script_recall_left_out(s->x.remember, p);
	sl_cluster_stop_at(c, &x->limit.expired);
	x->running = true;
	return 0;
}

static int begin_cycle(struct sl_script *s, struct sl_cluster *c, struct sl_plan *p, const struct sl_limits *limits,
		       struct sl_error *err)
{
	sl_limit_set_cap(&s->x.limit, memory_of(limits));
	if (sl_limit_arm(&s->x.limit, limits ? limits->budget_us : 0, err))
		return -1;
	if (!set_up_cycle(s, c, p, err))
		return 0;
	sl_limit_disarm(&s->x.limit);
	return -1;
}

static void end_cycle(struct sl_script *s)
{
	sl_limit_disarm(&s->x.limit);
	s->x.running = false;
	sl_lua_end_turn(&s->x);
	sl_lua_end_bids(&s->x);
	sl_script_remember_left_out(s->x.remember, s->x.plan);
	sl_cluster_stop_at(s->x.cluster, NULL);
	s->x.cluster = NULL;
	sl_plan_set_guard(s->x.plan, NULL, NULL);
	s->x.plan = NULL;
	s->x.snap = NULL;
}

int sl_script_decide(struct sl_script *s, struct sl_cluster *c, struct sl_plan *p, const struct sl_limits *limits,
		     struct sl_plan_figures *fig, char **trace, struct sl_error *err)
{
	struct sl_error why = { 0 };
	int64_t begin = sl_clock_us();
	int r;

	if (trace)
		*trace = NULL;
	if (begin_cycle(s, c, p, limits, err))
		return -1;
	r = run_groups(s, run_group, &why);
	end_cycle(s);
	s->error = why;
	fig->examined = sl_lua_examined(&s->x);
	fig->window = sl_lua_window(&s->x);
	fig->wake_time = s->x.wake_time == INT64_MAX ? 0 : s->x.wake_time;
	fig->truncated = r && s->x.limit.expired;
	fig->error = r && !fig->truncated ? s->error.text : NULL;
	fig->decide_us = sl_clock_us() - begin;
	if (r && err)
		*err = why;
	hand_over_trace(s, trace);
	return r;
}

int sl_script_explain(struct sl_script *s, struct sl_cluster *c, struct sl_plan *p, const struct sl_limits *limits,
		      uint32_t job_id, char **text, struct sl_standing *standing, char **trace, struct sl_error *err)
{
	int r;

	*text = NULL;
	if (trace)
		*trace = NULL;
	if (begin_cycle(s, c, p, limits, err))
		return -1;
	s->explain = job_id;
	s->standing = (struct sl_standing) { .ahead = -1 };
	r = run_groups(s, explain_group, err);
	end_cycle(s);
	hand_over_trace(s, trace);
	if (standing)
		*standing = s->standing;
	*text = s->said;
	s->said = NULL;
	if (!r && !*text)
		r = sl_fail(err, SL_ENOENT, "job %u is not queued", job_id);
	if (!r)
		return 0;
	free(*text);
	*text = NULL;
	return -1;
}
