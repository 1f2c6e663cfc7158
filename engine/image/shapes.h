/* SPDX-License-Identifier: MIT */
/*
 * shapes.h - alternatives of a job, from its comment.
 *
 *	sbatch -N64 --gpus-per-node=2 --comment='sched: -n512 -t 4:00:00 | -N32 -n256' ...
 *
 * A comment that begins with "sched:", or that has "; sched:" in it, names other
 * shapes that would do as well, up to the next ";".  "|" stands between two of
 * them; each is written with sbatch's own options:
 *
 *	-N, --nodes=N[-M]		-n, --ntasks=N		-c, --cpus-per-task=N
 *	--ntasks-per-node=N		-t, --time=TIME		--gres=NAME[:TYPE][:N],...
 *	-G, --gpus=[TYPE:]N		--gpus-per-node=...	--gpus-per-task=...
 *
 * Instead of N of one gres a shape may have a range, N-M.  It is then so many shapes,
 * one for each count, the most first.
 *
 * What a shape does not say of nodes, tasks and gres is what sbatch would make of
 * that, not what the job asks for; a time that is not said is the job's.  All
 * else (memory, features, partition, ...) is the job's.
 *
 * No ownership, no threads.
 */
#ifndef SL_SHAPES_H
#define SL_SHAPES_H

#include "image/snapshot.h"

#define SL_MAX_SHAPES 15	/* alternatives of a job */
#define SL_MAX_SHAPE_GRES 8	/* gres in one of them */

/*
 * Append the alternatives that a comment names (rows of SL_T_SHAPE and
 * SL_T_JOB_GRES) and set *shapes; empty where it names none.  Returns 0, or -1 with
 * *err: what is wrong with the comment; nothing was appended then and *shapes is
 * empty.  The comment may be NULL.
 */
int sl_shapes_add(struct sl_builder *b, const char *comment, struct sl_range *shapes, struct sl_error *err);

/* What a shape's column "refused" says; the words are "nodes", "CPUs", "gres" and "time". */
enum sl_shape_refusal {
	SL_SHAPE_FREE, SL_SHAPE_REFUSED_LATELY, SL_SHAPE_MORE_NODES, SL_SHAPE_MORE_CPUS, SL_SHAPE_MORE_GRES,
	SL_SHAPE_MORE_TIME, SL_SHAPE_REFUSALS
};
const char *sl_shape_refusal_word(enum sl_shape_refusal refusal);

#define SL_BEYOND_TEXT 128

/*
 * What people read of alternatives that ask for more than the job (lua_shapes=within): "alternative 1 asks for more
 * nodes than the job; 2 alternatives are not offered", of *beyond* of them, the first of which is *first* and refused so.
 * "" for none.  Returns *out*.
 */
const char *sl_shapes_say_beyond(char out[SL_BEYOND_TEXT], uint32_t first, enum sl_shape_refusal refusal, uint32_t beyond);

/* What slurmctld and its job_submit plug-ins have accepted, and a job's row does not say. */
struct sl_accepted {
	uint32_t max_nodes;	/* the most nodes that the request names, not what slurmctld or a limit puts there; 0: it names none */
	int64_t time_limit;	/* the limit that it names, not what a partition leaves of it; if none: the most that one of its partitions gives; seconds */
	bool whole;		/* it has whole nodes wherever it may run */
};

/*
 * Keep the job's alternatives (job->shapes) to what its own request asks for. Where that names no most nodes, what
 * it has of each node (gres, CPUs, whole nodes) is counted for the fewest that it needs. An alternative that needs more
 * nodes, CPUs (unless the job has whole nodes), gres of a name and type, or time than the job is marked in column
 * refused. One that could come to more than that, on more nodes, gets a max_nodes; others keep theirs.
 * Returns how many are marked; *first (from 1 on) is the first of them.
 */
uint32_t sl_shapes_keep_within(struct sl_builder *b, const struct sl_job_row *job, const struct sl_accepted *accepted,
			       uint32_t *first);

/*
 * Fill columns shapes and shapes_ignored of all pending jobs that have a comment
 * and neither of them, for builders that were filled otherwise.
 */
void sl_shapes_fill(struct sl_builder *b);

#endif
