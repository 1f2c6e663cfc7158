/* SPDX-License-Identifier: MIT */
/* score_impl.h - computing scores (score.c), for placement (place_score.c) and for sheets. */
#ifndef SL_SCORE_IMPL_H
#define SL_SCORE_IMPL_H

#include "timeline/place_impl.h"
#include "timeline/score.h"

struct sl_scorer {
	struct sl_scoring *scoring;
	const struct sl_devices *devices;
	enum sl_place_method method;	/* a bundled score */
	uint32_t most_cores, most_milli;	/* of the largest node */
};

/* Prepare a scorer for this method on a timeline that has a workspace, and make the mix if the method needs it.  0, or -1
 * with *err. */
int sl_scorer_of(struct sl_scorer *of, struct sl_timeline *tl, enum sl_place_method method, struct sl_error *err);

/* The score of a node with that offer and *at* free when the job starts.  *device: the device of which the job gets its
 * share, for sl_offer_narrow(); -1: the first that suffices, unless the devices allow any (`any`). */
uint32_t sl_scorer_ask(const struct sl_scorer *of, const struct sl_need *need, const struct sl_offer *o,
		       const struct sl_resources *capacity, const struct sl_resources *at, int *device);

/* What the job takes of a node with that offer if it gets min_nodes nodes.  False if the node cannot give it. */
bool sl_offer_takes(const struct sl_offer *o, const struct sl_need *need, const struct sl_resources *capacity,
		    struct sl_resources *takes);

/* Subtract cores and gres of *takes*, stopping at 0. */
void sl_subtract_taken(struct sl_resources *free, const struct sl_resources *takes);

/* Restrict the offer to this device, for the share that the need asks for. */
void sl_offer_narrow(struct sl_offer *o, const struct sl_need *need, int device);

#endif
