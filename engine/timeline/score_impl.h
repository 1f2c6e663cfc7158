/* SPDX-License-Identifier: MIT */
/* score_impl.h - what scores are asked with (score.c), by placement (place_score.c) and by sheets. */
#ifndef SL_SCORE_IMPL_H
#define SL_SCORE_IMPL_H

#include "timeline/place_impl.h"
#include "timeline/score.h"

struct sl_scorer {
	struct sl_scoring *scoring;
	const struct sl_devices *devices;
	enum sl_place_method method;	/* a bundled score */
	uint32_t most_cores, most_milli;	/* of the largest nodes */
};

/* For this method of a timeline that has a workspace.  Sees to it that the mix is there if it is needed.  0, or -1 with *err. */
int sl_scorer_of(struct sl_scorer *of, struct sl_timeline *tl, enum sl_place_method method, struct sl_error *err);

/*
 * The score of a node with that offer, on which so much is free when the job starts.  *device: of which it is to have its share,
 * for sl_offer_narrow(); -1: the first that will do, as always unless the devices say that any can be chosen.
 */
uint32_t sl_scorer_ask(const struct sl_scorer *of, const struct sl_need *need, const struct sl_offer *o,
		       const struct sl_resources *capacity, const struct sl_resources *at, int *device);

/* What the job would take of a node with that offer, if it has the fewest nodes.  False: it could not. */
bool sl_offer_takes(const struct sl_offer *o, const struct sl_need *need, const struct sl_resources *capacity,
		    struct sl_resources *takes);

/* Take cores and gres away from what is free; not below 0. */
void sl_subtract_taken(struct sl_resources *free, const struct sl_resources *takes);

/* Leave no other device in the offer, for the share that the need asks for. */
void sl_offer_narrow(struct sl_offer *o, const struct sl_need *need, int device);

#endif
