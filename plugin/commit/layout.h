/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - starts a job on exactly the planned nodes, with exactly the planned cores on each, through Slurm's own select
 * plug-in.
 *
 * Slurm has no call for that.  Therefore the request is changed during select_nodes() and put back right after.  Of the
 * following changes the first one that yields the layout is used:
 *	PIN	the nodes are required and no others allowed; used if the plan says that the nodes alone settle how many
 *		cores each gives;
 *	TASKS	PIN, and the tasks of each node: those that the request states, or the plan's (before Slurm 23.11: only if
 *		each node gets the same number and the job asks for sockets, which RESV would hide);
 *	RESV	PIN, and a reservation of all other cores of those nodes, which exists only while the locks are held
 *		(before 23.11).  If the job is in a reservation itself, that one has only these cores meanwhile.  Tasks per
 *		node do not do: for 128 tasks on 32 nodes, 22.05 makes of 4 tasks per node six cores on some nodes and one
 *		on the others.
 * Where sockets are allocated, the request also asks to fill them one after the other.  From 23.11 on select does not look at
 * the tasks of nodes if the partition is LLN: for TASKS that flag is cleared during the call.  Slurm decides whether all this
 * is possible: what it refuses stays pending.
 *
 * All functions: job and node write locks held, and the partition read lock.  From 23.11 on a start on planned places needs the
 * partition write lock, because TASKS changes the partition's record; if *count* is 0 the read lock will do.  The cycle thread
 * only.
 */
#ifndef SL_LAYOUT_H
#define SL_LAYOUT_H

#include "plugin/records/compat.h"
#include "base/error.h"

struct sl_layout_place {
	uint32_t node;		/* index in node_record_table_ptr */
	uint32_t cores;
	uint32_t tasks;		/* 0: not said */
};

enum sl_layout_way { SL_LAYOUT_NATIVE, SL_LAYOUT_PIN, SL_LAYOUT_TASKS, SL_LAYOUT_RESV };

const char *sl_layout_word(enum sl_layout_way way);

/* The cores in use on all nodes, which RESV needs; kept for a batch of starts. */
struct sl_cores {
	bitstr_t *used;		/* all cores of the cluster, in node order */
	uint32_t *offset;	/* [node] first bit of the node; one more at the end */
	int nodes;
	bool filled;
};
void sl_cores_clear(struct sl_cores *c);	/* frees it */

/*
 * Start the job (one task of it, if it is the head of an array) on these places, in node order.  Returns select_nodes()'s
 * code.  The request, and that of the array's head, is the original one afterwards in any case.
 *
 * If *count* is 0, or if the request states the tasks of another number of nodes, select chooses the nodes itself: none of
 * *keep_off*, and none of *full* unless select says without them that the job could never run (NULL: no such nodes).
 * *dealt*: the plan says that select has to be told the tasks of each place.  On success *exact says whether the allocation
 * is the planned one, and *way how it was done.
 */
int sl_layout_start(job_record_t *job, const struct sl_layout_place *place, uint32_t count, bool dealt,
		    const bitstr_t *keep_off, const bitstr_t *full, struct sl_cores *cores,
		    enum sl_layout_way *way, bool *exact);

#endif
