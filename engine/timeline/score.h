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
	uint16_t kinds;			/* of gres whose GPUs will do, as bits: devices too.  0: it needs no GPU */
	uint16_t count;
	uint16_t milli;			/* 0: whole GPUs */
	double part;			/* of all jobs; the parts of a mix make 1 */
	uint32_t step;			/* sl_mix_finish()'s */
};

struct sl_mix {
	struct sl_mix_shape *shape;
	uint32_t shapes;
	uint32_t *cores;		/* that shapes ask for, ascending, each once */
	uint32_t steps;
};

/*
 * Make a mix of *count* shapes, each with the number of its jobs as its part: equal ones become one; the most frequent are kept,
 * as many as it takes to cover *covers* of all jobs (of equally frequent ones first those with more cores, then with more of a GPU,
 * then with more GPUs, then with the higher kinds), SL_MIX_MOST at most; parts are divided by what was kept.  Copies the shapes.
 * 0, or -1 with *err.
 */
int sl_mix_make(struct sl_mix *mix, const struct sl_mix_shape *shape, uint32_t count, double covers, struct sl_error *err);
void sl_mix_free(struct sl_mix *mix);

#define SL_MIX_COVERS 0.95
#define SL_MIX_MOST 500	/* shapes: who submits jobs of thousands makes no score dear */

/* What a policy's own score is asked about: nodes on which the same is there and the same is free. */
struct sl_scored {
	const struct sl_node_kind *kind;
	uint32_t node;			/* one of them, the first */
	uint32_t nodes;			/* how many of them could take part of the job */
	struct sl_resources free;	/* when it starts, whatever is planned for later */
	struct sl_resources takes;	/* what the job would take of each, if it has the fewest nodes */
	int64_t start;
	bool late;			/* not now: it decides among nodes that become free at the same time only */
	uint32_t gpus, free_gpus, left_gpus;	/* of each: in all, idle, and idle after the job */
	const struct sl_scored_offer *offer;	/* for sl_scored_bundled() */
};

/* What a bundled score says of the same, from 0 to SL_SCORE_BEST; -1 with *err. */
int sl_scored_bundled(const struct sl_scored *what, enum sl_place_method method, struct sl_error *err);

/*
 * 1 with *score, a number that can be ordered (no NaN), of which the larger is the better; 0: not these nodes, if the job
 * starts now; -1 with *err.  The timeline may not be changed meanwhile.
 */
typedef int sl_own_score(void *arg, const struct sl_scored *what, double *score, struct sl_error *err);

struct sl_score_memo;

struct sl_scoring {
	uint16_t gpus;			/* kinds that are GPUs, as bits; not those of devices */
	uint16_t tags;			/* kinds by which GPU clustering tells sorts of jobs apart; 0: by parts of GPUs and whole ones */
	bool has_mix;			/* *mix is ready */
	const struct sl_mix *mix;	/* NULL: none */
	/* Asked once, for the mix, when it is needed first; NULL: there is no more than *mix.  0, or -1 with *err. */
	int (*make_mix)(void *arg, struct sl_scoring *scoring, struct sl_error *err);
	void *make_mix_arg;
	sl_own_score *own;		/* of SL_PLACE_OWN; NULL: all nodes are equal */
	void *own_arg;
	struct sl_score_memo *memo;	/* sl_scoring_free()'s; NULL at first */
};

/* What it has allocated itself. */
void sl_scoring_free(struct sl_scoring *scoring);

/* Give the timeline what scores need to know, before anything is placed by a score. Without this call scores see a machine that
 * has no GPUs, and expect no jobs. */
void sl_timeline_scoring(struct sl_timeline *tl, struct sl_scoring *scoring);

/* GPUs of a node of which nothing is used, when so much is free. */
uint32_t sl_idle_gpus(const struct sl_scoring *scoring, const struct sl_devices *devices, const struct sl_resources *capacity,
		      const struct sl_resources *free);

/*
 * The fragmentation of a node (the paper's section 4), in thousandths of a GPU: of its free GPUs what a job of the mix is
 * expected not to be able to use.
 */
double sl_fragmentation(struct sl_scoring *scoring, const struct sl_devices *devices, const struct sl_resources *capacity,
			const struct sl_resources *free);

#endif
