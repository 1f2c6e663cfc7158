/* SPDX-License-Identifier: MIT */
/*
 * decide.h - one decision, from a snapshot to a checked plan.
 *
 * The engine, schedlua plan and the probe of a newly loaded set all decide
 * through this one function, so that what was tried offline is what runs.
 *
 * Ownership: a decision owns its image and borrows the snapshot while the plan
 * is read.  It may be used again: its memory is kept.  Threads: none.
 */
#ifndef SL_DECIDE_H
#define SL_DECIDE_H

#include "image/plan_image.h"
#include "script/script.h"
#include "image/snapshot.h"

/* What starts wait for, though only users read it, may not take long. */
#define SL_FORECASTS 1000
#define SL_FORECAST_US 20000

struct sl_decision {
	const struct sl_usage_provider *usage;	/* set by the caller: who is asked about the past; NULL: the snapshot */
	struct sl_history *history;	/* likewise, of single runs; a cycle of it begins */
	bool stand_in;			/* likewise: easy decides in place of the set's own policies */
	const struct sl_fence *hold;	/* likewise: nothing starts in these partitions; or NULL */
	const char *hold_why;
	uint32_t forecasts;		/* likewise: of so many jobs without a reservation it tells when they may start, */
	int64_t forecast_us;		/* and takes about so long at most for that */
	struct sl_builder *builder, *spare;
	const void *bytes;		/* the plan's image */
	size_t size;
	struct sl_plan_image plan;	/* the same, opened */
	struct sl_error policy;		/* SL_OK, or how the policy failed: what it had booked stands */
	char *trace;			/* its traceback, or NULL */
	struct sl_error check;		/* SL_OK, or why no part of the plan can be carried out */
	uint64_t check_bookings;	/* that were looked at in the check */
	char held[512];			/* where nothing starts, and why (sl_script_held()) */
	size_t lua_peak;		/* bytes of Lua memory at the peak */
};

/*
 * Build the cluster, let a fresh state of the bundle decide, encode and check
 * the plan.  A row that the checker refuses is taken out (image/plan_cut.h) and stands in d->plan.refused;
 * the rest is the plan.  *since* (sl_clock_us()) is when the work on this snapshot
 * began: the policy gets what is left of limits->budget_us, and the plan's
 * total_us counts from there.  *d is zeroed before the first use.  Returns 0 when
 * there is a plan, which can be carried out or not (d->check); -1 with *err when there is none.
 */
int sl_decide(const struct sl_bundle *bundle, const struct sl_snapshot *snap, const struct sl_limits *limits,
	      int64_t since, struct sl_decision *d, struct sl_error *err);

/*
 * Say where a queued job stands in the order, and why (sl_script_explain()).  *usage* and *history* are who is
 * asked about the past, of which a cycle begins; NULL: the snapshot.  *standing may be NULL.  *text and
 * *trace are malloc'ed; *trace may become NULL.  0, or -1 with *err.
 */
int sl_decide_explain(const struct sl_bundle *bundle, const struct sl_snapshot *snap,
		      const struct sl_usage_provider *usage, struct sl_history *history, const struct sl_limits *limits,
		      uint32_t job_id, char **text, struct sl_standing *standing, char **trace,
		      struct sl_error *err);

/*
 * For tools and tests, to which any disagreement of planner and checker is an error: 0 if the checker had
 * nothing to refuse; else -1 with *err: the first refused row and how many there are, or d->check.
 */
int sl_decision_faultless(const struct sl_decision *d, struct sl_error *err);

/* Free what a decision owns. */
void sl_decision_clear(struct sl_decision *d);

#endif
