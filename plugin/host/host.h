/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - the engine as a child process: start it, talk to it with a deadline,
 * end it, start it again.
 *
 * How it is started is in child.h.  What goes wrong with it never blocks longer than the
 * deadlines below: then it is killed with SIGKILL (which also ends a stopped process) and
 * reaped.  After three failures
 * in a row it is left alone for a while, twice as long each time.
 *
 * The text of a site's set that went live is kept (keep.h): an engine that finds the
 * files refused when it starts gets it back.  Beside it stands which partitions that set
 * wants held while what guards them cannot be asked.
 *
 * Knows nothing of Slurm.  Only the cycle thread uses a host, but for
 * sl_host_interrupt(), which any thread may call.
 */
#ifndef SL_HOST_H
#define SL_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "image/fence.h"
#include "image/plan_image.h"
#include "image/snapshot.h"

#define SL_HELLO_TIMEOUT_MS 2000
#define SL_LOAD_TIMEOUT_MS 5000
#define SL_RELOAD_S 10.0	/* between two tries while no set was ever good */
#define SL_KEEP_AGAIN_S 5.0	/* between two tries to write a set that could not be kept */

struct sl_host;

struct sl_host_options {
	const char *engine;		/* path of the program */
	const char *site;		/* path of the site file; "": none, the bundled easy */
	const char *policy_path;	/* further directories; "" */
	const char *keep;		/* file for the last good set; "": in memory only */
	const char *user;		/* who it becomes where slurmctld is root; "": its default */
	const char *state;		/* where the engine's keeper has the ledger; "": it has none */
	uint32_t trusted_uid;		/* owner of site files beside root */
	void (*log)(int level, const char *line);	/* 0 error, 1 info, 2 debug */
};

/* What became of a request; strings belong to the host until the next call. */
struct sl_host_answer {
	struct sl_plan_image plan;	/* it answers the snapshot (image/plan_answer.h) */
	const void *bytes;		/* its image, mapped; NULL when there is none */
	size_t size;
	bool policy_failed;		/* the policy failed; what it had booked stands */
	const char *text;		/* how */
	const char *policy;		/* what decided */
	const char *held;		/* "PARTITIONS: why": nothing starts there; or empty */
};

/* What the host has to say about itself. */
struct sl_host_state {
	pid_t pid;			/* 0: not running */
	bool site_live;			/* the site's set decides */
	bool site_refused;		/* ... but it is the set before the one refused */
	double interval_s, budget_s;	/* what the site file says; 0: nothing */
	struct sl_fence hold;		/* of the last set that was accepted */
	char policy[256];
	char holds[128];		/* what the engine gave up, as it says */
	int64_t ledger_safe;		/* all that had ended by this snapshot is in the ledger; -1: there is none */
	char stale[256];		/* why usage may be out of date, or empty */
	char odd[256];			/* what of the live set has no effect on this cluster, or empty */
	char refusal[4096];		/* why a set was refused, last time */
	uint32_t strikes;
	double next_try_s;
	uint64_t starts, kills, failures, reloads, refused;
};

/* Copies the strings.  NULL with *err.  Starts nothing yet. */
struct sl_host *sl_host_create(const struct sl_host_options *opt, struct sl_error *err);

/* Kill and reap the engine, free everything.  Takes milliseconds. */
void sl_host_destroy(struct sl_host *h);

/* Other options: the engine is ended when the program, its user or what it may read differs, told
 * to load the set anew otherwise (at the next request).  0 or -1 with *err. */
int sl_host_reconfigure(struct sl_host *h, const struct sl_host_options *opt, struct sl_error *err);

/*
 * Let the engine decide on a snapshot.  Starts the engine when it does not
 * run.  With *bundled* the bundled easy decides; an engine started for that is not
 * told of the site yet, so that a set that ends the engine is no obstacle.
 *
 * Returns 0 with *answer, to be given back with sl_host_release() before the next call;
 * -1 with *err when there is no plan.  SL_EBUSY: the engine rests after failures, or slurmctld
 * has no descriptor or memory left to ask with.  SL_ETIME, SL_EIO, SL_EFORMAT (what it sent is
 * no plan, or none for this snapshot) and so on: the engine was ended, and the next call starts
 * another.
 */
int sl_host_decide(struct sl_host *h, const struct sl_snapshot *snap, int64_t budget_us, bool bundled,
		   struct sl_host_answer *answer, struct sl_error *err);
void sl_host_release(struct sl_host *h, struct sl_host_answer *answer);

/* Between cycles: read the engine's stderr, notice when it has ended. */
void sl_host_poll(struct sl_host *h);

/* Make a call that waits fail at once, and every call from now on. */
void sl_host_interrupt(struct sl_host *h);

const struct sl_host_state *sl_host_state(struct sl_host *h);

#endif
