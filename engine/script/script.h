/* SPDX-License-Identifier: MIT */
/*
 * script.h - policies: loading them and letting one decide.
 *
 * A bundle is the text of a policy set (site file, policies, libraries), read
 * once through the trust checks of bundle/bundle.c, and what the site file says.  A
 * script is a Lua state made from a bundle, sandboxed (sandbox/sandbox.h) and limited
 * (sandbox/limit.h).  In production a cycle gets a fresh script, so that nothing leaks
 * from one decision into the next; the simulator keeps one and says so.
 *
 * Ownership: a script borrows its bundle.  Threads: none.  Signals: see sandbox/limit.h.
 */
#ifndef SL_SCRIPT_H
#define SL_SCRIPT_H

#include "bundle/bundle.h"
#include "image/fence.h"
#include "model/plan.h"

struct sl_script;

/* Limits of one run. */
struct sl_limits {
	size_t memory;			/* bytes of Lua memory; 0: SL_DEFAULT_MEMORY */
	int64_t budget_us;		/* wall time; 0: none */
};
#define SL_DEFAULT_MEMORY ((size_t) 512 << 20)
#define SL_LOAD_BUDGET_US INT64_C(10000000)	/* of loading, where no limits are given */

/*
 * What is left of limits that began to count at *since* (sl_clock_us()): loading, deciding and
 * explaining run a set's code several times, on one budget in all.  Returns 0, or -1 with *err
 * (SL_ETIME) when no time is left.
 */
int sl_limits_left(const struct sl_limits *limits, int64_t since, struct sl_limits *left, struct sl_error *err);

/*
 * Read, compile, run and validate a policy set in a fresh state, and probe it on
 * a canned cluster, all of it within *limits* (NULL: SL_LOAD_BUDGET_US).  NULL with *err: "FILE:LINE: what is wrong, what was
 * expected", and a traceback in *trace (malloc'ed, may be NULL).
 */
struct sl_bundle *sl_bundle_load(const struct sl_bundle_source *src, const struct sl_limits *limits,
				 char **trace, struct sl_error *err);

/*
 * Uses of global variables and of library functions that are not there, wherever
 * they are in the set's own files: a trial may not come to that line.  Calls
 * tell("FILE:LINE: what", arg) for each and returns how many; -1 with *err.
 * Of a file that uses _G or _ENV nothing is told.  The files are compiled and not run.
 */
int sl_bundle_undefined(const struct sl_bundle *b, const struct sl_limits *limits,
			void (*tell)(const char *what, void *arg), void *arg, struct sl_error *err);

/* Call tell() for each partition that the site file names and that is not in this snapshot. */
void sl_bundle_strangers(const struct sl_bundle *b, const struct sl_snapshot *snap,
			 void (*tell)(const char *what, void *arg), void *arg);

/* A fresh state of the set.  NULL with *err. */
struct sl_script *sl_script_create(const struct sl_bundle *b, const struct sl_limits *limits, struct sl_error *err);
void sl_script_destroy(struct sl_script *s);

/*
 * From now on the bundled easy decides in place of the set's own policies, in Slurm's
 * order.  The set's admit and allow are asked as ever.  Where they fail, a list that
 * says on_failure = "easy" goes without them.
 */
void sl_script_stand_in(struct sl_script *s);

/* From now on nothing starts in these partitions, for this reason (both copied). */
void sl_script_hold(struct sl_script *s, const struct sl_fence *hold, const char *why);

/*
 * Let the set decide.  Returns 0 when every policy returned.  Returns 1 when it
 * was cut short (budget) or failed: what the plan has booked stands, *err says
 * what happened and *trace (malloc'ed, may be NULL) how it came to it.  -1 only
 * when the state is unusable.  fig->examined, window, truncated, decide_us are filled.
 */
int sl_script_decide(struct sl_script *s, struct sl_cluster *c, struct sl_plan *p, const struct sl_limits *limits,
		     struct sl_plan_figures *fig, char **trace, struct sl_error *err);

/* Where a queued job stands, as numbers. */
struct sl_standing {
	int64_t ahead;			/* jobs that come before it in the queue; -1: not known */
	int64_t low, likely, high;	/* what the site's forecasts say of its start; 0: nothing, or it was not reached */
	double confidence;		/* that it starts from low to high; 0: there is no forecast of it */
};

/*
 * Say where a queued job stands in the order of each group of partitions that it is
 * queued in, and how that came about (sched/explain.lua); decides nothing.  *text is
 * malloc'ed.  *standing, if not NULL: the same as numbers, of the group in which the fewest are ahead.
 * 0, or -1 with *err: SL_ENOENT when the job is not queued, or as sl_script_decide().
 */
int sl_script_explain(struct sl_script *s, struct sl_cluster *c, struct sl_plan *p, const struct sl_limits *limits,
		      uint32_t job_id, char **text, struct sl_standing *standing, char **trace, struct sl_error *err);

/*
 * Where the last cycle let nothing start, since what guards it failed or sl_script_hold()
 * said so: "gpu, long: why"; empty: nowhere.  Valid until the next cycle.
 */
const char *sl_script_held(const struct sl_script *s);

/*
 * What the policies remember after a cycle (image/remember.h), the caller's from now on; NULL
 * before the first.  A script that decides about the same snapshot again (the simulator)
 * goes on from what it remembered last, unless that was taken; about another one from what
 * stands there.  Of a group whose policy failed nothing is left: what it remembered may be
 * why.  One that the budget ended keeps what it had remembered by then.
 */
struct sl_remember;
struct sl_remember *sl_script_take_memory(struct sl_script *s);

/* The next decision is about the same cluster, some time later, although its snapshot says another time (a simulation in which
 * jobs are stopped): it goes on from what is remembered now. */
void sl_script_keep_memory(struct sl_script *s);

/* Bytes of Lua memory in use and at the peak. */
size_t sl_script_memory(const struct sl_script *s, size_t *peak);

#endif
