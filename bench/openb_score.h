/* SPDX-License-Identifier: MIT */
/*
 * openb_score.h - placement scores of Weng et al., Beware of Fragmentation, ATC'23: which node, and which GPU of it.
 *
 * A score is a number from 0 to 100, and the larger is the better.  In kube-scheduler it is a whole number.  So the published
 * heuristics cut theirs off, many nodes have the same score, and much depends on which of them is taken.  Heuristics whose name
 * ends in Exact do not cut it off.  CPUs and GPUs are counted in thousandths.
 *
 * Ownership: an openb_mix owns its shapes until openb_mix_free().  Threads: none.
 */
#ifndef OPENB_SCORE_H
#define OPENB_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "timeline/place.h"

#define OPENB_WHOLE_GPU 1000
#define OPENB_MOST_GPUS 8

/* A request: a part of one GPU (gpus 1, gpu_milli below 1000), whole GPUs (gpu_milli 1000), or none (both 0). */
struct openb_job {
	int64_t cpu_milli, memory_mib;
	int gpus, gpu_milli;
};

/* What a node has left.  kinds: bit 0 is set if it runs a job with a part of a GPU, bit n if one with n whole GPUs. */
struct openb_node {
	int64_t cpu_milli, memory_mib;
	int gpus, gpu_milli[OPENB_MOST_GPUS];
	uint32_t kinds;
};

/* The shapes that jobs are expected to have, each with its probability; memory does not count. */
struct openb_mix {
	struct openb_shape {
		struct openb_job job;
		double probability;
	} *shape;
	uint32_t shapes;
};

/*
 * The most frequent shapes of *jobs*, as many as it takes to cover 95 % of these.  Of equally frequent ones the one with more
 * CPUs, then with more of a GPU, then with more GPUs comes first.  0; -1 with *err: SL_ENOMEM.
 */
int openb_mix_of(struct openb_mix *mix, const struct openb_job *jobs, uint32_t count, struct sl_error *err);
void openb_mix_free(struct openb_mix *mix);

/* True if *node* has the CPUs, the memory and the GPUs that *job* asks for. */
bool openb_fits(const struct openb_node *node, const struct openb_job *job);

/* Allocate *job* on *node*, where it fits: the part of a GPU from GPU *gpu*, whole GPUs from the first that are free. */
void openb_place(struct openb_node *node, const struct openb_job *job, int gpu);

/*
 * The fragmentation of a node (the paper's section 4), in thousandths of a GPU: the expected part of its free GPUs that a job of
 * the mix cannot use.  If the job does not fit by CPUs or GPUs, or needs no GPU, it can use none of them; if it fits, it cannot
 * use GPUs of which less is free than it asks for.
 */
double openb_fragmentation(const struct openb_node *node, const struct openb_mix *mix);

/* score(), gpu(): only for nodes where the job fits.  gpu() is asked for parts of a GPU only and returns its index. */
struct openb_heuristic {
	const char *name;
	double published;	/* GPUs allocated on workload `default`, %; mean of ten seeds.  NAN: was not published. */
	bool any_node;		/* True if of nodes with the same score any is to be taken at random. */
	double (*score)(const struct openb_node *node, const struct openb_job *job, const struct openb_mix *mix);
	enum sl_place_method method;	/* the same score in the engine; SL_PLACE_BESTFIT: it has none */
	int (*gpu)(const struct openb_node *node, const struct openb_job *job, const struct openb_mix *mix, struct sl_random *random);
};

extern const struct openb_heuristic openb_heuristics[];
extern const int openb_heuristics_count;

/* NULL if there is none of that name. */
const struct openb_heuristic *openb_heuristic_named(const char *name);

#endif
