/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status.h - what `schedlua status` shows: counters of the plug-in and the file
 * they are written to.
 *
 * Knows nothing of Slurm.  Only the cycle thread touches it.
 */
#ifndef SL_STATUS_H
#define SL_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "plugin/host/diag.h"

/* Durations: last, max, and a histogram with four buckets per octave. */
#define SL_BUCKETS 128
struct sl_times {
	uint64_t count, sum_us, last_us, max_us;
	uint32_t bucket[SL_BUCKETS];
};

void sl_times_add(struct sl_times *t, uint64_t us);

/* The duration that a share q (0..1) of them does not exceed; within 19 %. */
uint64_t sl_times_quantile(const struct sl_times *t, double q);

/* Who decides now, best first. */
enum sl_source {
	SL_SOURCE_IDLE,		/* nobody: not ready, or not allowed to */
	SL_SOURCE_SITE,		/* the site file's set */
	SL_SOURCE_LAST_GOOD,	/* the set before the one that was refused */
	SL_SOURCE_BUNDLED,	/* the bundled easy, in the engine */
	SL_SOURCE_FALLBACK,	/* the lines of C in the plug-in */
	SL_SOURCE_STOCK,	/* Slurm's own backfill: the loader found no plug-in */
};

/* What may fail cycle after cycle, and is told of once. */
enum sl_trouble {
	SL_TROUBLE_JOURNAL, SL_TROUBLE_PUBLISH, SL_TROUBLE_REQUESTS, SL_TROUBLE_STATUS, SL_TROUBLE_CAPTURE,
	SL_TROUBLE_RECORD, SL_TROUBLE_REFUSED, SL_TROUBLE_REMEMBERED, SL_TROUBLE_COLLECT, SL_TROUBLE_HELD,
	SL_TROUBLE_NO_PLAN,		/* + the code of the error: no plan, for another reason, is other trouble */
	SL_TROUBLES = SL_TROUBLE_NO_PLAN + SL_EBUSY + 1
};

/* It is told of again when it has been well for so long, or was not tried. */
#define SL_TROUBLE_OVER_S 60

struct sl_status {
	const char *version, *slurm_version;
	const char *shadow;		/* Slurm's scheduler that decides in place of us, or empty */
	pid_t pid, engine_pid;
	int64_t started, written;	/* seconds since the epoch */
	int64_t last_cycle;
	enum sl_source source;
	char policy[256];
	char site[1024];
	char idle_why[512];		/* with SL_SOURCE_IDLE */
	char refusal[1024];		/* why the files' set does not decide; empty: it does */
	char held[512];			/* "PARTITIONS: why": where nothing starts, as what guards them failed */
	char last_error[1024];
	int64_t last_error_time;
	int64_t trouble[SL_TROUBLES];	/* when that last failed; 0: never */
	double interval_s, budget_s;
	uint64_t cycles, starts, native_starts, stale, failed_starts, layout_differs, actions, actions_failed;
	uint64_t reloads, refused, policy_errors, truncated;
	uint64_t rows_refused;		/* rows of plans that the checker took out (host/refused.h) */
	int64_t row_refused_time;	/* when that was last; 0: never */
	char row_refused[320];		/* the last one: "job 7: start: why" */
	uint64_t moves;			/* of the stops: those who had another place to start again */
	uint64_t stops, stops_refused;	/* jobs that were stopped for others, and that were not though a plan said so */
	char stop_refused[320];		/* the last one: "JobId=4 is not stopped for JobId=7: why" */
	uint64_t held_places;		/* places that are held */
	uint64_t shortages;		/* jobs of the last plan for which no stops would help, as it proves */
	char places[1024];		/* the first of them: "JobId=7: n[001-004] until TIME, 2 jobs left; ..." */
	int64_t truncated_time;		/* when that was last; 0: never */
	uint64_t engine_starts, engine_kills, engine_failures, bundled_cycles, fallback_cycles;
	uint32_t strikes;
	double next_try_s;		/* until the engine is started again; 0: now */
	const char *engine_holds;	/* what the engine gave up, or empty */
	const char *odd;		/* what of the site file has no effect on this cluster, or empty */
	const char *usage_stale;	/* why what was used may be out of date, or empty */
	uint64_t queued, running, nodes;	/* of the last snapshot */
	struct sl_waiting {
		char name[64];
		uint64_t jobs;
	} *waiting;			/* by partition, as they stand in the last snapshot */
	uint32_t partitions, waiting_room;
	uint64_t why[SL_WHYS];		/* jobs that wait, by what the last plan says of them */
	struct sl_times queue_hold, copy_hold, commit_hold, decide, cycle;
	struct sl_times queue_own;	/* of queue_hold, what is not Slurm's build_job_queue() */
	struct sl_times start;		/* one start, a part of commit_hold */
	struct sl_diag sdiag;		/* slurmctld's own figures */
	char private_data[120];		/* words of PrivateData, and "mcs" */
};

/* Remember the first line of an error, with the time. */
void sl_status_error(struct sl_status *s, const char *text);

/* Note that *what* has failed now, and remember *text* as the last error.  True if it is to be logged: it has not failed for
 * SL_TROUBLE_OVER_S before.  (Texts are not compared, because they may contain a time.) */
bool sl_status_trouble(struct sl_status *s, enum sl_trouble what, const char *text);

/* Count who waits where.  Without memory the counts go away. */
void sl_status_count_queue(struct sl_status *s, const struct sl_snapshot *snap);

/* Count why they wait; NULL: nobody said. */
void sl_status_count_reasons(struct sl_status *s, const struct sl_plan_image *plan);

/* Free what it owns. */
void sl_status_clear(struct sl_status *s);

/* Write DIR/status.json atomically.  0, or -1 with *err. */
int sl_status_write(const struct sl_status *s, const char *dir, struct sl_error *err);

#endif
