/* SPDX-License-Identifier: MIT */
/*
 * native.h - what of a request the engine cannot model, so that only Slurm's own select
 * can place the job.
 *
 * This is the one list of it, with the words that people read.  Most of it follows from
 * facts of the snapshot (native.c); what follows from numbers that a request to the
 * timeline cannot say on the nodes at hand is found where it is filled in (want.c).  The
 * checker reads the same facts in its own way (check/native.c).
 */
#ifndef SL_NATIVE_H
#define SL_NATIVE_H

#include <stddef.h>
#include <stdint.h>

enum sl_native {
	/* facts of the job */
	SL_NATIVE_FEATURES		= 1 << 0,	/* more than constraint.h reads */
	SL_NATIVE_BOARDS		= 1 << 12,
	SL_NATIVE_NODE_COUNTS		= 1 << 5,
	SL_NATIVE_TASK_COUNTS		= 1 << 6,
	SL_NATIVE_UNCOUNTED_GRES	= 1 << 7,
	SL_NATIVE_BY_GRES		= 1 << 8,
	SL_NATIVE_WHOLE_SWITCHES	= 1 << 10,
	SL_NATIVE_BURST_BUFFER		= 1 << 11,
	SL_NATIVE_TASK_GRES		= 1 << 23,	/* where select counts tasks otherwise */
	SL_NATIVE_EXPAND		= 1 << 13,
	SL_NATIVE_PREEMPT		= 1 << 15,
	SL_NATIVE_REFUSED		= 1 << 16,
	SL_NATIVE_HRES			= 1 << 26,
	SL_NATIVE_EXTRA			= 1 << 27,
	/* facts of its partition, of its reservation and of the cluster */
	SL_NATIVE_RESERVATIONS		= 1 << 19,
	SL_NATIVE_PARTIAL		= 1 << 21,
	SL_NATIVE_SOCKET_CAP		= 1 << 28,
	SL_NATIVE_TOPOLOGY		= 1 << 29,	/* on several nodes (want.c) */
	SL_NATIVE_GPU_CORES		= 1 << 30,	/* nodes of the partition keep cores for jobs with GPUs (want.c) */
	/* numbers (want.c) */
	SL_NATIVE_SOCKETS		= 1 << 1,	/* these two: of parts of nodes, or of unequal ones */
	SL_NATIVE_TASKS_PER_SOCKET	= 1 << 2,
	SL_NATIVE_SOCKET_GRES		= 1 << 9,	/* of parts of nodes, or of nodes whose sockets may not have as many */
	SL_NATIVE_BOUND_GRES		= 1 << 25,	/* of nodes of several sockets, or of tasks that select counts otherwise */
	SL_NATIVE_CORE_SPEC		= 1 << 3,	/* beside gres, on nodes that set aside unequal numbers, or by threads */
	SL_NATIVE_DISTRIBUTION		= 1 << 4,	/* beside CPUs that are not those of tasks */
	SL_NATIVE_UNEQUAL_THREADS	= 1 << 22,
	SL_NATIVE_BY_SOCKET		= 1 << 18,	/* unequal ones, or beside what counts cores otherwise */
	SL_NATIVE_GRES			= 1 << 24,	/* too many kinds, or pieces */
	SL_NATIVE_CPU_CAP		= 1 << 14,
	SL_NATIVE_SHARED_CORES		= 1 << 17,	/* on unequal nodes, or beside what counts cores otherwise */
	SL_NATIVE_LLN			= 1 << 20,	/* how many tasks each of several nodes has */
};

#define SL_NATIVE_FLAGS 31		/* bits from 0 on, one for each */

#define SL_NATIVE_TEXT 160

/* The words of all flags that are set, "features, gres"; cut short where *size* ends.
 * Empty for 0.  Returns *text*. */
const char *sl_native_text(uint32_t native, char *text, size_t size);

#endif
