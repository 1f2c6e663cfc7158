/* SPDX-License-Identifier: MIT */
/*
 * wishes.h - what a job that nobody has submitted asks for beside its size, in sbatch's own options.
 *
 * One line for each in SL_WISHES: the option's row in a verb's table comes from it, and its value, as it was
 * written, goes into a list by enum sl_wish.
 *
 * Ownership: borrows all it is given.  Threads: none.
 */
#ifndef SL_WISHES_H
#define SL_WISHES_H

#include "image/snapshot.h"
#include "tool/options.h"

/* X(enum, name, type: TEXT or WORD, argument, letter, meaning) */
#define SL_WISHES(X) \
	X(MINCPUS, "mincpus", TEXT, "N", 0, "so many CPUs of each node, at least") \
	X(EXTRA, "extra-node-info", TEXT, "SOCKETS[:CORES[:THREADS]]", 'B', "nodes with so many sockets, cores of each and threads of a core") \
	X(SOCKETS, "sockets-per-node", TEXT, "N", 0, "nodes with so many sockets") \
	X(CORES, "cores-per-socket", TEXT, "N", 0, "so many cores of each socket") \
	X(THREADS, "threads-per-core", TEXT, "N", 0, "so many threads of each core") \
	X(PER_SOCKET, "ntasks-per-socket", TEXT, "N", 0, "so many tasks on each socket at most") \
	X(PER_CORE, "ntasks-per-core", TEXT, "N", 0, "so many tasks on each core at most") \
	X(PER_GPU, "ntasks-per-gpu", TEXT, "N", 0, "so many tasks for each GPU") \
	X(GPUS_PER_SOCKET, "gpus-per-socket", TEXT, "[TYPE:]N", 0, "GPUs of each socket") \
	X(CPUS_PER_GPU, "cpus-per-gpu", TEXT, "N", 0, "so many CPUs with each GPU") \
	X(MEM_PER_GPU, "mem-per-gpu", TEXT, "SIZE", 0, "memory with each GPU") \
	X(GRES_FLAGS, "gres-flags", TEXT, "FLAG", 0, "enforce-binding or disable-binding") \
	X(TMP, "tmp", TEXT, "SIZE", 0, "nodes with so much TmpDisk, MiB or with a unit") \
	X(LICENSES, "licenses", TEXT, "NAME[:N],...", 'L', "licences") \
	X(CORE_SPEC, "core-spec", TEXT, "N", 'S', "whole nodes but for so many cores") \
	X(THREAD_SPEC, "thread-spec", TEXT, "N", 0, "whole nodes but for so many threads") \
	X(EXCLUSIVE, "exclusive", WORD, "user|mcs", 0, "nodes that no other job shares, or none of another user or MCS label") \
	X(OVERSUBSCRIBE, "oversubscribe", WORD, NULL, 's', "cores that others may share") \
	X(OVERCOMMIT, "overcommit", WORD, NULL, 'O', "one CPU of each node, however many tasks") \
	X(MCS_LABEL, "mcs-label", TEXT, "LABEL", 0, "with that label") \
	X(PREFER, "prefer", TEXT, "FEATURES", 0, "nodes with these features, where they can be had as soon") \
	X(NODELIST, "nodelist", TEXT, "NODES", 'w', "these nodes among them") \
	X(EXCLUDE, "exclude", TEXT, "NODES", 'x', "none of these nodes") \
	X(CONTIGUOUS, "contiguous", WORD, NULL, 0, "consecutive nodes") \
	X(SWITCHES, "switches", TEXT, "N[@TIME]", 0, "below so many leaf switches, for so long; default: 5 minutes") \
	X(SPREAD_JOB, "spread-job", WORD, NULL, 0, "on as many nodes as may be, evenly") \
	X(USE_MIN_NODES, "use-min-nodes", WORD, NULL, 0, "of a range of nodes as few as do") \
	X(DISTRIBUTION, "distribution", TEXT, "HOW", 'm', "block, cyclic, plane=N or arbitrary; what else follows that word is not looked at") \
	X(RESERVATION, "reservation", TEXT, "NAME[,NAME]...", 0, "in that reservation, or the first of them that has room") \
	X(BEGIN, "begin", TEXT, "WHEN", 'b', "not before: now+N[minutes], H:M[:S] or Y-M-D[TH:M[:S]]") \
	X(DEADLINE, "deadline", TEXT, "WHEN", 0, "ended by then") \
	X(TIME_MIN, "time-min", TEXT, "TIME", 0, "for less than its walltime, down to that, where it fits so sooner")

enum sl_wish {
#define SL_WISH_NAME(id, ...) SL_WISH_##id,
	SL_WISHES(SL_WISH_NAME)
#undef SL_WISH_NAME
	SL_WISH_COUNT
};

/* Of the verb's values, where a member const char *wish[SL_WISH_COUNT] is: the rows of its options table. */
#define SL_WISH_OPTION(id, key, kind, what, brief, text)						\
	{ .name = key, .type = SL_OPTION_##kind, .offset = offsetof(struct values, wish[SL_WISH_##id]),	\
	  .argument = what, .doc = text, .letter = brief },

struct sl_wishes {
	const char *const *value;	/* by enum sl_wish; NULL: not said */
	bool nodes_said, tasks_said;	/* of its size */
};

/*
 * Put them into *row*, which has its size, its time and what else was asked for; its gres are the last ones of
 * the builder.  0, or -1 with *err: which option, and what was expected.
 */
int sl_wishes_fill(const struct sl_wishes *w, const struct sl_snapshot *snap, struct sl_builder *b, struct sl_job_row *row,
		   struct sl_error *err);

#endif
