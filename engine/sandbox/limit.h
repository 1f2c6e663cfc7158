/* SPDX-License-Identifier: MIT */
/*
 * limit.h - a ceiling on what a Lua state may use: bytes, calls and wall time.
 *
 * Memory: the state's allocator counts bytes and refuses what would pass the
 * cap.  Lua then collects garbage once and, if that did not help, raises an error.
 *
 * Calls: those inside each other are SL_LIMIT_CALLS, or up to twice as many; a script
 * that goes deeper gets a stack overflow.
 *
 * Time: a timer signal (SL_LIMIT_SIGNAL, sent to the thread that armed it) makes
 * the limit expire: a flag that is never taken back while the limit is armed,
 * and a hook that raises an error before the next instruction or call.  Until
 * then there is no hook, so that time limits cost nothing.  An error that is
 * caught changes nothing, since the next instruction raises it again.  C code
 * that loops over what a script chose calls sl_limit_tick() in the loop.
 *
 * None of these errors can be swallowed: the pcall and xpcall of this unit pass them on.
 *
 * Ownership: a limit is part of its owner and must outlive its state.
 * Threads: a state and its limit belong to one thread; one limit is armed per
 * thread at a time.  Signals: the handler of SL_LIMIT_SIGNAL is installed with
 * the first limit that is armed and stays; it restarts system calls.
 */
#ifndef SL_LIMIT_H
#define SL_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <lua.h>

#include "base/error.h"

#define SL_LIMIT_SIGNAL (SIGRTMIN + 5)
#define SL_LIMIT_PERIOD_US 10000	/* the timer repeats until disarmed, not sooner than that */
#define SL_LIMIT_CALLS 100000

struct sl_limit {
	size_t cap, used, peak;		/* bytes */
	bool out_of_memory;		/* an allocation failed for good */
	bool too_deep;			/* an overflow of the stack is being raised */
	volatile sig_atomic_t expired;
	lua_State *L;
	const void *stack, *latest;	/* blocks: the state's stack; given out last */
	size_t latest_size;
	int64_t budget_us;
	int64_t deadline_ns;		/* CLOCK_MONOTONIC */
	bool armed;
	timer_t timer;
	bool told;			/* where and trace are filled */
	char where[256];		/* "easy.lua:12", where it expired */
	char *trace;			/* malloc'ed, or NULL */
};

/* A new state with at most *cap* bytes.  NULL with *err (SL_ENOMEM). */
lua_State *sl_limit_newstate(struct sl_limit *limit, size_t cap, struct sl_error *err);

/* Close the state; the limit may be used for another one. */
void sl_limit_close(struct sl_limit *limit);

/* Change the cap; a state that already uses more can only shrink. */
void sl_limit_set_cap(struct sl_limit *limit, size_t cap);

/*
 * Start the clock: budget_us from now the limit expires.  0: no time limit, for
 * which nothing is armed.  Returns 0, or -1 with *err: SL_EBUSY when this
 * thread has armed another limit, SL_EINVAL for a negative budget.
 */
int sl_limit_arm(struct sl_limit *limit, int64_t budget_us, struct sl_error *err);

/* Stop the clock and take the hook away.  limit->expired stays as it is until
 * the next arm.  Harmless when not armed. */
void sl_limit_disarm(struct sl_limit *limit);

/* Raise the error of an expired limit.  Does not return. */
int sl_limit_raise(lua_State *L);

/* The limit of a state made by sl_limit_newstate(). */
static inline struct sl_limit *sl_limit_of(lua_State *L)
{
	void *ud;

	lua_getallocf(L, &ud);
	return ud;
}

/* To be called once per iteration of a loop whose length a script chose. */
static inline void sl_limit_tick(lua_State *L, const struct sl_limit *limit)
{
	if (limit->expired)
		sl_limit_raise(L);
}

/* Push a traceback from a level on: what luaL_traceback() pushes, but in no time and of
 * the innermost calls only where there are very many. */
void sl_limit_traceback(lua_State *L, int level);

/* pcall and xpcall for scripts: like Lua's, but for errors of limits. */
int sl_limit_pcall(lua_State *L);
int sl_limit_xpcall(lua_State *L);

/*
 * Turn what a failed lua_pcall() left on the top of the stack into *err and pop
 * it: SL_ETIME or SL_ENOMEM, naming the limit, when the limit was the cause,
 * else SL_ESCRIPT with the message.  Returns -1.
 */
int sl_limit_fail(struct sl_limit *limit, int status, struct sl_error *err);

#endif
