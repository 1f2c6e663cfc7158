/* SPDX-License-Identifier: MIT */
#include "sandbox/limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lauxlib.h>

#include "base/clock.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* The limit that runs in this thread; read by the signal handler. */
static _Thread_local struct sl_limit *volatile armed_limit;

/* -- depth ------------------------------------------------------------- */

/*
 * Lua itself limits the depth of calls only by its stack of a million slots, and a call may need no more than one slot.
 * Whatever walks the calls (setting a hook, a traceback) would then take a million steps.  So the depth is checked
 * whenever the stack has grown.  The stack grows by doubling, so the depth may reach twice the limit before the check.
 */
#define SLOT_SIZE 16

static void on_hook(lua_State *L, lua_Debug *ar);

/* Make Lua re-allocate its stack, to learn which block that is. */
static bool find_stack(struct sl_limit *limit)
{
	if (!lua_checkstack(limit->L, 10 * LUA_MINSTACK))
		return false;
	limit->stack = limit->latest;
	return true;
}

/* The allocator freed or re-allocated the stack: now it is the block given out last. */
static void stack_moved(struct sl_limit *limit)
{
	limit->stack = limit->latest;
	/* May be called anywhere, as from a signal handler. */
	if (limit->latest_size > SL_LIMIT_CALLS * SLOT_SIZE)
		lua_sethook(limit->L, on_hook, LUA_MASKCALL | LUA_MASKCOUNT, 1);
}

/* The hook after the stack grew.  No pcall may catch the error: a script that tries again would
 * begin with the larger stack and get deeper each time. */
static void check_depth(lua_State *L, struct sl_limit *limit)
{
	lua_Debug ar;

	lua_sethook(L, NULL, 0, 0);
	if (!lua_getstack(L, SL_LIMIT_CALLS, &ar))
		return;
	limit->too_deep = true;
	luaL_where(L, 0);
	lua_pushfstring(L, "stack overflow (more than %d calls inside each other)", SL_LIMIT_CALLS);
	lua_concat(L, 2);
	lua_error(L);
}

/* -- memory ------------------------------------------------------------ */

static void *capped_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
	struct sl_limit *limit = ud;
	void *block;

	if (!ptr)
		osize = 0;	/* then it is a tag, not a size */
	if (!nsize) {
		free(ptr);
		limit->used -= osize;
		if (ptr && ptr == limit->stack)
			stack_moved(limit);
		return NULL;
	}
	if (nsize > osize && (nsize - osize > limit->cap || limit->used > limit->cap - (nsize - osize)))
		return NULL;
	block = realloc(ptr, nsize);
	/* Lua takes it for granted that a block can shrink; one that could not
	 * still has nsize bytes. */
	if (!block && nsize <= osize)
		block = ptr;
	if (!block)
		return NULL;
	limit->latest = block;
	limit->latest_size = nsize;
	if (ptr && ptr == limit->stack)
		stack_moved(limit);
	limit->used += nsize - osize;
	if (limit->used > limit->peak)
		limit->peak = limit->used;
	return block;
}

/* Lua calls this where an error was caught by nobody: outside of any protected
 * call, which does not happen.  It would abort the process after this. */
static int on_panic(lua_State *L)
{
	(void) L;
	return 0;
}

lua_State *sl_limit_newstate(struct sl_limit *limit, size_t cap, struct sl_error *err)
{
	memset(limit, 0, sizeof(*limit));
	limit->cap = cap;
	limit->L = lua_newstate(capped_alloc, limit);
	if (!limit->L || !find_stack(limit)) {
		sl_limit_close(limit);
		sl_fail(err, SL_ENOMEM, "memory limit of %zu bytes: no room for a Lua state", cap);
		return NULL;
	}
	lua_atpanic(limit->L, on_panic);
	return limit->L;
}

void sl_limit_close(struct sl_limit *limit)
{
	sl_limit_disarm(limit);
	limit->stack = NULL;
	if (limit->L)
		lua_close(limit->L);
	limit->L = NULL;
	free(limit->trace);
	limit->trace = NULL;
}

void sl_limit_set_cap(struct sl_limit *limit, size_t cap)
{
	limit->cap = cap;
}

/* -- time -------------------------------------------------------------- */

static int push_expired(lua_State *L, struct sl_limit *limit)
{
	lua_pushfstring(L, "%s: time budget of %I ms is used up",
			limit->told ? limit->where : "?", (LUAI_UACINT) ((limit->budget_us + 999) / 1000));
	return 1;
}

#define TRACE_DEEP 1000		/* calls; luaL_traceback() walks them some thirty times */
#define TRACE_SHOWN 20

static void push_level(lua_State *L, lua_Debug *ar)
{
	lua_getinfo(L, "Slnt", ar);
	lua_pushfstring(L, "\n\t%s:", ar->short_src);
	if (ar->currentline > 0)
		lua_pushfstring(L, "%d:", ar->currentline);
	else
		lua_pushliteral(L, "");
	if (*ar->namewhat)
		lua_pushfstring(L, " in %s '%s'", ar->namewhat, ar->name);
	else if (*ar->what == 'm')
		lua_pushliteral(L, " in main chunk");
	else if (*ar->what == 'C')
		lua_pushliteral(L, " in ?");
	else
		lua_pushfstring(L, " in function <%s:%d>", ar->short_src, ar->linedefined);
	lua_concat(L, 3);
}

void sl_limit_traceback(lua_State *L, int level)
{
	lua_Debug ar;

	luaL_checkstack(L, TRACE_SHOWN + 8, NULL);
	if (!lua_getstack(L, level + TRACE_DEEP, &ar)) {
		luaL_traceback(L, L, NULL, level);
		return;
	}
	lua_pushliteral(L, "stack traceback:");
	for (int i = 0; i < TRACE_SHOWN; i++) {
		lua_getstack(L, level + i, &ar);
		push_level(L, &ar);
	}
	lua_pushfstring(L, "\n\t... (more than %d calls)", TRACE_DEEP);
	lua_concat(L, TRACE_SHOWN + 2);
}

/* Note where the script was, once.  Hooks are off while a hook runs. */
static void note_where(lua_State *L, struct sl_limit *limit, int level)
{
	lua_Debug ar;
	int at = level;

	while (lua_getstack(L, at, &ar)) {
		lua_getinfo(L, "Sl", &ar);
		if (ar.currentline > 0) {
			snprintf(limit->where, sizeof(limit->where), "%s:%d", ar.short_src, ar.currentline);
			break;
		}
		at++;
	}
	if (!limit->where[0])
		strcpy(limit->where, "?");
	limit->told = true;
	sl_limit_traceback(L, level);
	limit->trace = strdup(lua_tostring(L, -1));
	lua_pop(L, 1);
}

static void on_hook(lua_State *L, lua_Debug *ar)
{
	struct sl_limit *limit = sl_limit_of(L);

	(void) ar;
	if (!limit->expired) {
		check_depth(L, limit);
		return;
	}
	if (!limit->told)
		note_where(L, limit, 0);
	push_expired(L, limit);
	lua_error(L);
}

/* The hook stays: it would raise the same error. */
int sl_limit_raise(lua_State *L)
{
	struct sl_limit *limit = sl_limit_of(L);

	if (!limit->told)
		note_where(L, limit, 1);
	push_expired(L, limit);
	return lua_error(L);
}

static void set_timer(struct sl_limit *limit, int64_t ns)
{
	struct itimerspec when = { .it_value = { ns / 1000000000, ns % 1000000000 } };

	timer_settime(limit->timer, 0, &when, NULL);
}

/*
 * Again and again until disarmed, because a hook may be lost: a Lua function that is
 * just looking whether there is one clears the trap that lua_sethook() set.
 * lua_sethook() is made to be called from a signal handler, but walks all calls; so
 * the next signal is asked for when that is done, at a distance that leaves nearly all
 * of the time to what is to be ended.
 */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct sl_limit *limit = armed_limit;
	int saved = errno;
	int64_t now, walked, next = SL_LIMIT_PERIOD_US * 1000;

	(void) sig, (void) info, (void) context;
	if (!limit)
		return;
	now = sl_clock_ns();
	if (now >= limit->deadline_ns) {
		limit->expired = 1;
		lua_sethook(limit->L, on_hook, LUA_MASKCALL | LUA_MASKCOUNT, 1);
		walked = sl_clock_ns() - now;
		next = 10 * walked > next ? 10 * walked : next;
	}
	set_timer(limit, next);
	errno = saved;
}

static int prepare_signal(struct sl_error *err)
{
	static bool installed;
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t set;

	/* Installing it twice is harmless, so a race between threads is too. */
	if (!__atomic_load_n(&installed, __ATOMIC_ACQUIRE)) {
		sigemptyset(&sa.sa_mask);
		if (sigaction(SL_LIMIT_SIGNAL, &sa, NULL))
			return sl_fail(err, SL_EIO, "time limit: sigaction: %s", strerror(errno));
		__atomic_store_n(&installed, true, __ATOMIC_RELEASE);
	}
	/* slurmctld's children inherit blocked signals. */
	sigemptyset(&set);
	sigaddset(&set, SL_LIMIT_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return 0;
}

int sl_limit_arm(struct sl_limit *limit, int64_t budget_us, struct sl_error *err)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID };

	if (budget_us < 0 || budget_us > INT64_MAX / 2000)
		return sl_fail(err, SL_EINVAL, "time budget: %lld us is out of range", (long long) budget_us);
	if (armed_limit)
		return sl_fail(err, SL_EBUSY, "time limit: another script is running in this thread");
	limit->expired = 0;
	limit->out_of_memory = false;
	limit->too_deep = false;
	limit->told = false;
	limit->where[0] = 0;
	free(limit->trace);
	limit->trace = NULL;
	limit->budget_us = budget_us;
	if (!budget_us)
		return 0;
	if (prepare_signal(err))
		return -1;
	limit->deadline_ns = sl_clock_ns() + budget_us * 1000;
	armed_limit = limit;
	event.sigev_signo = SL_LIMIT_SIGNAL;
	event.sigev_notify_thread_id = syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &limit->timer)) {
		armed_limit = NULL;
		return sl_fail(err, SL_EIO, "time limit: timer_create: %s", strerror(errno));
	}
	limit->armed = true;
	set_timer(limit, budget_us * 1000);
	return 0;
}

void sl_limit_disarm(struct sl_limit *limit)
{
	if (!limit->armed)
		return;
	/* A signal that is still on its way finds no limit. */
	armed_limit = NULL;
	timer_delete(limit->timer);
	limit->armed = false;
	if (limit->L)
		lua_sethook(limit->L, NULL, 0, 0);
}

/* -- protected calls --------------------------------------------------- */

/* After a protected call: "true" stands at *base*, under its results, because there may be so
 * many of them that the stack has room for nothing more; or the error is on the top. */
static int finish_call(lua_State *L, int status, int base)
{
	struct sl_limit *limit = sl_limit_of(L);

	if (status == LUA_OK)
		return lua_gettop(L) - base + 1;
	if (limit->expired)
		return sl_limit_raise(L);
	if (status == LUA_ERRMEM || limit->out_of_memory) {
		limit->out_of_memory = true;
		return lua_error(L);
	}
	if (limit->too_deep)
		return lua_error(L);
	lua_pushboolean(L, 0);
	lua_insert(L, -2);
	return 2;
}

int sl_limit_pcall(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_pushboolean(L, 1);
	lua_insert(L, 1);
	return finish_call(L, lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0), 1);
}

/* xpcall's handler with the user's as upvalue: not for errors of limits. */
static int call_user_handler(lua_State *L)
{
	struct sl_limit *limit = sl_limit_of(L);

	if (limit->expired || limit->out_of_memory || limit->too_deep)
		return 1;
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

int sl_limit_xpcall(lua_State *L)
{
	int n = lua_gettop(L);

	luaL_checkany(L, 1);
	luaL_checktype(L, 2, LUA_TFUNCTION);
	/* f, handler, ... -> f, call_user_handler, true, f, ... */
	lua_pushvalue(L, 2);
	lua_pushcclosure(L, call_user_handler, 1);
	lua_replace(L, 2);
	lua_pushboolean(L, 1);
	lua_pushvalue(L, 1);
	lua_rotate(L, 3, 2);
	return finish_call(L, lua_pcall(L, n - 2, LUA_MULTRET, 2), 3);
}

int sl_limit_fail(struct sl_limit *limit, int status, struct sl_error *err)
{
	lua_State *L = limit->L;
	const char *text;

	if (limit->expired) {
		sl_fail(err, SL_ETIME, "%s: time budget of %lld ms is used up", limit->told ? limit->where : "?",
			(long long) (limit->budget_us + 999) / 1000);
	} else if (status == LUA_ERRMEM || limit->out_of_memory) {
		limit->out_of_memory = true;
		sl_fail(err, SL_ENOMEM, "memory limit of %zu MiB is used up", limit->cap >> 20);
	} else {
		text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
		sl_fail(err, SL_ESCRIPT, "%s", !text ? "an error that is not a string was raised" : *text ? text : "an error without a text was raised");
	}
	lua_pop(L, 1);
	limit->too_deep = false;	/* all those calls are over */
	return -1;
}
