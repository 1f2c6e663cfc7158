/* SPDX-License-Identifier: MIT */
/*
 * replay.h - recorded snapshots (image/recording.h), read as a workload: what if another
 * policy had decided from the first of them on?
 *
 * The machine, its reservations and the jobs that run are those of the first
 * snapshot.  Later ones tell which jobs came, when they could run at all, when they
 * started, how long they ran, and which priority each had at what time.  The
 * simulator then goes from the first to the time of the last one.
 *
 * What a recording cannot tell, and what is made of it:
 *
 *	a job that had not ended by the end	runs as long as its time limit says
 *	a job that was held back at first	can run from when it was seen in the queue,
 *		(hold, dependency, a limit)	or started
 *	a job that left without having run	is left out
 *	an array's tasks that never started	are jobs of their own; they run to their limit
 *	a job that was requeued			is a job of its own for each time it started
 *	when exactly nodes went down, came back	at the snapshot that shows it
 *
 * Job ids are those of Slurm, but for what has to be told apart: row by row,
 * sl_replay_job.id is Slurm's.
 *
 * Ownership: a replay owns its workload and all else.  Threads: none.
 */
#ifndef SL_REPLAY_H
#define SL_REPLAY_H

#include "model/cluster.h"
#include "workload/workload.h"

/* What became of a job of the recording, by row of the workload. */
struct sl_replay_job {
	uint32_t id;			/* in Slurm */
	bool ran;			/* when the recording begins: not compared */
	int64_t start_s;		/* as recorded; 0: not before the end */
	int64_t end_s;			/* 0: not before the end */
};

/* A new priority of a job, at a snapshot. */
struct sl_replay_event {
	uint32_t job, priority;		/* row */
};

/* A new state of a node, at a snapshot. */
struct sl_replay_node {
	uint32_t node, state;
};

struct sl_replay {
	struct sl_workload *workload;
	struct sl_replay_job *job;	/* by row */
	uint32_t ran;			/* rows of jobs that ran when it begins: the first */
	int64_t from_s, to_s;		/* of the first and the last snapshot */
	uint32_t snapshots;
	char *cluster;

	/* priorities at snapshot i: event[event_of[i]] ... event[event_of[i + 1] - 1] */
	int64_t *at_s;
	uint32_t *event_of;
	struct sl_replay_event *event;
	uint32_t *node_of;		/* the same for nodes */
	struct sl_replay_node *node;
	uint32_t applied;		/* snapshots whose events are in the workload */

	/* left out, or not as it was */
	uint32_t cancelled;		/* jobs that left without having run */
	uint32_t held;			/* jobs that never could run */
	uint32_t lost;			/* jobs that ask for what the first snapshot has not: a partition */
	uint32_t unseen_ends;		/* jobs of which nobody saw when they ended */
	uint32_t unreadable;		/* snapshots of another build, or gone meanwhile */
	uint32_t nodes_changed;		/* nodes that went down or came back */
};

/*
 * Read the files, in any order.  *pruned*: of a directory that the plug-in writes, whose
 * oldest files may be gone by now, or were written before an upgrade: those are passed
 * over and counted.  Returns 0, or -1 with *err: SL_EINVAL for a
 * recording of fewer than two snapshots or of different nodes, and what
 * sl_image_load() says of a file.  Close it in any case.
 */
int sl_replay_open(struct sl_replay *r, char *const *path, uint32_t paths, bool pruned, struct sl_error *err);
void sl_replay_close(struct sl_replay *r);

/* For sl_sim_options.before_pass, with the replay as its argument, and at_s as wake_s:
 * nodes and priorities as they were, and the queue in Slurm's order. */
int sl_replay_before_pass(struct sl_cluster *c, int64_t now, void *replay, struct sl_error *err);

#endif
