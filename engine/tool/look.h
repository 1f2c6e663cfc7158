/* SPDX-License-Identifier: MIT */
/*
 * look.h - the cluster as it is now, for whoever shows it again and again: status.json, the decision journal and a
 * snapshot that is no older than it has to be.
 *
 * The snapshot is the plug-in's last.snap, or a capture (tool/capture.h) where that is older than SL_LOOK_FRESH_S or not
 * this user's to read.  Captures take a fifth of the time at most, however often somebody looks.  Nothing here waits for slurmctld unless the caller says for how long.
 *
 * Ownership: owns what it has read.  Threads: none.
 */
#ifndef SL_TOOL_LOOK_H
#define SL_TOOL_LOOK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/map.h"
#include "image/snapshot.h"
#include "tool/capture.h"
#include "tool/recent.h"

#define SL_LOOK_FRESH_S 10	/* a snapshot that is older is captured anew */
#define SL_LOOK_REST 4		/* after a capture slurmctld is left alone for so many times as long as that took */

struct sl_look {
	char dir[PATH_MAX];		/* of status.json and last.snap */
	char journal_dir[PATH_MAX];	/* "": the decisions are not this user's to read */
	struct sl_recent recent;
	json_t *status;			/* NULL: it cannot be read, see status_err */
	bool secret;			/* it is not this user's to read */
	struct sl_error status_err, recent_err, snap_err;

	void *bytes;			/* the snapshot; NULL: there is none, see snap_err */
	size_t size;
	struct sl_snapshot snap;
	uint32_t *used, *gpus;		/* per node: cores, GPUs that jobs hold */
	json_t *stops;			/* of the plug-in's last one (tool/stops.h), also where the snapshot is a capture; NULL: none was read */
	struct sl_map row_of;		/* job id -> row */
	struct sl_capture capture;	/* the next snapshot */
	bool may_capture, captured;	/* captured: one has come, or has failed */
	double began_s, ended_s;	/* when the last one did (sl_clock_s()) */
};

/*
 * Find the places: *dir* (NULL: Slurm's) for all of it; a user who may not read the decisions has those that are
 * published, or none.  *l = {0} before.  0, or -1 with *err; to be closed in either case.
 */
int sl_look_open(struct sl_look *l, const char *dir, struct sl_error *err);
void sl_look_close(struct sl_look *l);

/* Look again; wait for a capture *wait_s* seconds at most.  What cannot be read is said in the *_err beside it. */
void sl_look(struct sl_look *l, double wait_s);

/* GPUs that a node has. */
uint32_t sl_look_node_gpus(const struct sl_snapshot *s, uint32_t node);

/* What the allocation of a job has in all. */
uint32_t sl_look_cores_held(const struct sl_snapshot *s, uint32_t job);
uint32_t sl_look_gpus_held(const struct sl_snapshot *s, uint32_t job);

/* GPUs that a job asks for. */
uint32_t sl_look_gpus_asked(const struct sl_snapshot *s, uint32_t job);

/* When a waiting job is expected to start by the snapshot alone; 0: it does not say. */
int64_t sl_look_expected(const struct sl_snapshot *s, uint32_t job);

#endif
