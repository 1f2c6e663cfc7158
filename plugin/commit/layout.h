/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - start a job on exactly these nodes with exactly so many cores on
 * each, through Slurm's own select plug-in.
 *
 * Slurm has no call for that.  The request is changed for the moment of
 * select_nodes(), the least intrusive way that yields the layout first, and put
 * back right after:
 *   PIN    the nodes are required and no others allowed: the plan says that they settle how many
 *          cores each gives;
 *   TASKS  PIN, and the tasks of each node: those that the request states, or those of the
 *          plan (before Slurm 23.11 the same number on each, and that only where a job asks for
 *          sockets, which RESV would hide);
 *   RESV   PIN, and a reservation of all other cores of those nodes that exists
 *          only while the locks are held (before 23.11); a job that is in a
 *          reservation itself has these cores of it alone.  Tasks per node would
 *          not do: for a request of 128 tasks on 32 nodes 22.05 makes of 4 tasks
 *          per node six cores on some nodes and one on the others.
 * Where sockets are allocated, they are to be filled one after the other besides.
 * Slurm decides whether that can be: what it refuses stays pending.
 *
 * All functions: job and node write locks held.  The cycle thread only.
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

/* The cores in use on all nodes, kept for a batch of starts: RESV needs it. */
struct sl_cores {
	bitstr_t *used;		/* all cores of the cluster, in node order */
	uint32_t *offset;	/* of each node, one more at the end */
	int nodes;
	bool filled;
};
void sl_cores_clear(struct sl_cores *c);	/* forget; frees */

/*
 * Start the job (one task of it, if it is the head of an array) on these places,
 * in node order; count 0, or where the request states the tasks of another number of nodes: wherever
 * select likes, but on no node of *keep_off* (NULL: none is closed to it), and without a look at
 * those of *full*, unless that makes select say that the job could never run.  Returns select_nodes()'s code.
 * With *dealt*, the plan says that select has to be told the tasks of each place.  On success *exact says whether
 * the allocation is what was asked for, and *way how it was done.  The request is the original one afterwards in any case,
 * that of the array's head included.
 */
int sl_layout_start(job_record_t *job, const struct sl_layout_place *place, uint32_t count, bool dealt,
		    const bitstr_t *keep_off, const bitstr_t *full, struct sl_cores *cores,
		    enum sl_layout_way *way, bool *exact);

#endif
