/* SPDX-License-Identifier: MIT */
/*
 * score.h - placement scores: how good it is to give a job some of a node, as a number, so that nodes can be put in an order.
 *
 * The bundled scores are those that Weng et al., Beware of Fragmentation (USENIX ATC'23), compare, with what their public
 * simulator does where the paper is silent.  Each is a whole number from 0 to SL_SCORE_BEST, cut off, and the larger is the
 * better.  A score depends on what a node has, what of that is free when the job starts, and what the job would take; not on
 * where the node is or what is planned there for later.  So nodes that are equal in these have the same score, and are asked
 * about once.
 *
 * A GPU is a kind of gres in *gpus, or, where the timeline knows devices, a device of such a kind.  GPUs are counted in
 * thousandths.
 *
 * Ownership: a timeline borrows the scoring, which borrows its mix.  Threads: none.
 */
#ifndef SL_SCORE_H
#define SL_SCORE_H

#include "timeline/place.h"

#define SL_SCORE_BEST 100
#define SL_WHOLE_GPU 1000

/* A shape that jobs are expected to have on a node: *count* whole GPUs, or *milli* of one. */
struct sl_mix_shape {
	uint32_t cores;
	uint16_t kinds;			/* bits: kinds of gres, devices included, whose GPUs are suitable.  0: needs no GPU */
	uint16_t count;
	uint16_t milli;			/* 0: whole GPUs */
	double part;			/* fraction of all jobs; the fractions of a mix add up to 1 */
	uint32_t step;			/* used by sl_mix_finish() */
};

struct sl_mix {
	struct sl_mix_shape *shape;
	uint32_t shapes;
	uint32_t *cores;		/* the distinct numbers of cores that shapes ask for, ascending */
	uint32_t steps;
};

/*
 * Make a mix of *count* shapes, whose *part* is a number of jobs.  Equal shapes are merged.  The most frequent ones are kept
 * until they cover the fraction *covers* of all jobs, at most SL_MIX_MOST (ties: more cores, then more of a GPU, then more
 * GPUs, then higher kinds).  Parts are then divided by the number of jobs kept.  Copies the shapes.  0, or -1 with *err.
 */
int sl_mix_make(struct sl_mix *mix, const struct sl_mix_shape *shape, uint32_t count, double covers, struct sl_error *err);
void sl_mix_free(struct sl_mix *mix);

#define SL_MIX_COVERS 0.95
#define SL_MIX_MOST 500	/* shapes: bounds the cost of a score when jobs have thousands of different shapes */

/* What a policy's own score is computed from: nodes with the same kind and the same free amounts. */
struct sl_scored {
	const struct sl_node_kind *kind;
	uint32_t node;			/* the first of them */
	uint32_t nodes;			/* number of them that can take part of the job */
	struct sl_resources free;	/* at the start, whatever is booked for later */
	struct sl_resources takes;	/* what the job would take of each node if it got min_nodes nodes */
	int64_t start;
	bool late;			/* start later than now: the score only ranks nodes that become free at the same
					 * time */
	uint32_t gpus, free_gpus, left_gpus;	/* GPUs of each node: in all, idle, and idle after the job */
	const struct sl_scored_offer *offer;	/* used by sl_scored_bundled() */
};

/* The bundled score of the same nodes, 0 to SL_SCORE_BEST; -1 with *err. */
int sl_scored_bundled(const struct sl_scored *what, enum sl_place_method method, struct sl_error *err);

/* 1 with *score (larger is better, not NaN); 0: do not use these nodes for a start now; -1 with *err.  Must not change the
 * timeline. */
typedef int sl_own_score(void *arg, const struct sl_scored *what, double *score, struct sl_error *err);

struct sl_score_memo;

struct sl_scoring {
	uint16_t gpus;			/* bits: kinds that are GPUs, without those of devices */
	uint16_t tags;			/* bits: kinds by which GPU clustering distinguishes job types; 0: by fractions of
					 * GPUs and whole GPUs */
	bool has_mix;			/* *mix* is complete */
	const struct sl_mix *mix;	/* NULL: none */
	/* Called once, when the mix is first needed; NULL: *mix is all there is.  0, or -1 with *err. */
	int (*make_mix)(void *arg, struct sl_scoring *scoring, struct sl_error *err);
	void *make_mix_arg;
	sl_own_score *own;		/* for SL_PLACE_OWN; NULL: all nodes score the same */
	void *own_arg;
	struct sl_score_memo *memo;	/* freed by sl_scoring_free(); NULL at first */
};

/* Free what the scoring has allocated itself. */
void sl_scoring_free(struct sl_scoring *scoring);

/* Give the timeline what scores need to know, before anything is placed by score.  Without this call, scores see no GPUs
 * and expect no jobs. */
void sl_timeline_scoring(struct sl_timeline *tl, struct sl_scoring *scoring);

/* Number of completely unused GPUs of a node with *free*. */
uint32_t sl_idle_gpus(const struct sl_scoring *scoring, const struct sl_devices *devices, const struct sl_resources *capacity,
		      const struct sl_resources *free);

/* The fragmentation of a node (section 4 of the paper) in thousandths of a GPU: the part of its free GPUs that a random
 * job of the mix is expected to be unable to use. */
double sl_fragmentation(struct sl_scoring *scoring, const struct sl_devices *devices, const struct sl_resources *capacity,
			const struct sl_resources *free);

#endif
