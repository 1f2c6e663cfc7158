/* SPDX-License-Identifier: MIT */
/*
 * place.h - which nodes a job gets, how many cores on each, and when.
 *
 * A request (request.h) has the nodes that may be used and the amounts.  A method
 * says which of the nodes that would do are taken.  The answer is a layout:
 * sets of nodes that each give the same amount.
 *
 * What every answer keeps, whatever the method:
 *   - all required nodes, only eligible ones, min_nodes <= nodes <= max_nodes;
 *   - of each part as many nodes as it says (others need be of none; the nodes of a part are chosen
 *     by the method as if it were a job of its own, those that no further part could have first);
 *   - a task never spans nodes; a node has at least one task, at most
 *     tasks_per_node, exactly that many where the request says so;
 *   - cores of a node: as its tasks need, at least min_cores_per_node; in all
 *     no more than that comes to (whole nodes: all that the node has);
 *   - memory and gres likewise, free from start to end on each node.
 * A job of fewer tasks than nodes gets one task's worth on each of min_nodes, and on each of
 * those that gres for the job as a whole have to be looked for on, or that it wants besides
 * (most_nodes: but for a block of consecutive ones, which is the smallest).
 *
 * Tasks go onto the chosen nodes as Slurm's select/cons_tres does with a request
 * of a minimum of CPUs: each node in turn takes as many as it can while enough
 * are left to give every further node one ("spread" deals them out evenly, planes go round by node
 * index until all are dealt).  So are gres for the
 * job as a whole, by node index, as select does whichever nodes it prefers.
 *
 * A start later than now takes the nodes that become free latest (and only then
 * looks at weight and index), so that nodes that are free stay free for
 * backfill.  On a cluster of equal nodes that makes a reservation of nodes
 * equivalent to the classical count of extra nodes.  (Contiguous requests take the
 * smallest hole at any time.)
 *
 * Ties are broken by node index: the same timeline and request give the same
 * layout, however the timeline came about.
 *
 * Ownership: a layout owns its memory.  Threads: none
 * (working memory hangs on the timeline).
 */
#ifndef SL_PLACE_H
#define SL_PLACE_H

#include "timeline/request.h"

/* -- the method -------------------------------------------------------- */

enum sl_place_method {
	SL_PLACE_BESTFIT,	/* Slurm's consecutive-set best fit (below); the default */
	SL_PLACE_CONTIGUOUS,	/* one block of consecutive nodes, the smallest that suffices */
	SL_PLACE_PACK,		/* as few nodes as can be, the fullest of those that do */
	SL_PLACE_SPREAD,	/* on as many nodes as allowed, evenly */
	SL_PLACE_TIGHT,		/* best fit in time: nodes that are taken again soonest */
	SL_PLACE_LEAST_LOADED,	/* of equal weight those with the largest part of their cores free, as with Slurm's LLN */
	SL_PLACE_LAST,		/* of equal weight those of the highest index, as with Slurm's pack_serial_at_end */
	/* Of equal weight those with the best score (score.h), of equals the first: */
	SL_PLACE_LEAST_LEFT,	/* the least of CPUs and GPUs is left after the job: best fit, in the paper's words */
	SL_PLACE_WORST_FIT,	/* the most of them is left */
	SL_PLACE_DOT_PRODUCT,	/* what is free goes least with what the job asks for */
	SL_PLACE_GPU_PACKING,	/* GPUs in use before idle ones, idle GPUs of nodes in use before idle nodes */
	SL_PLACE_GPU_CLUSTERING,	/* nodes that run jobs of the same sort */
	SL_PLACE_FGD,		/* fragmentation gradient descent: fragmentation rises least, or falls most */
	SL_PLACE_OWN,		/* a policy's own score */
	SL_PLACE_BLOCKS,	/* below as few leaf switches, called blocks, as will do, whole idle ones last */
	SL_PLACE_NATIVE,	/* Slurm's select will choose: an upper bound, chosen like bestfit */
	SL_PLACE_EXPLICIT,	/* the nodes and cores in *picks* and no others; so is any request with picks of its own */
	SL_PLACE_METHODS
};

/*
 * bestfit, after _eval_nodes() of select/cons_tres: usable nodes of equal weight
 * with consecutive indices form a set.  Required nodes come first, then nodes of
 * the sets that they lie in (upwards, then downwards).  After that the lowest
 * weight wins; among sets of that weight the smallest that suffices for the rest
 * of the request, else the largest, and so on until it is satisfied.  Where one
 * more node will do, it is the tightest of its set.  Where max_nodes binds, nodes
 * too poor to lead to a fit are passed over, so that a fit is found whenever there
 * is one.
 *
 * Where there is a tree of switches, that is done among the nodes below the lowest switch
 * that has enough of the lowest weights, the one with the fewest such nodes; if it is no leaf, below as
 * few leaves of it as can be: the largest, and last the smallest that will do.  This holds for starts
 * at any time, and never keeps a request from starting but where it says how many leaves: then whatever
 * the method, of single leaves that will do the one with the fewest free nodes; else as few leaves of
 * any as can be.
 *
 * blocks: a block is what hangs on one leaf switch; it is whole while all its nodes are idle for as long as the request runs.
 * The request has exactly its fewest nodes, below as few blocks as will do; of such choices the one that leaves the most blocks
 * whole; the last block is the smallest that suffices.  With segments it has a multiple of so many nodes in each block, and
 * the choice leaves the most blocks whole, and of those takes the fewest blocks.  Segments hold whatever the method is,
 * but for native and explicit, and where no tree is known; without them blocks never keep a request from starting.  A
 * request that may have fewer nodes than a segment has none.  Each node gives at least an equal part of its units.  Segments
 * that the request itself says (request.h) are instead of these, and hold for native and explicit as well.
 */

struct sl_how {
	enum sl_place_method method;
	const struct sl_pick *picks;	/* SL_PLACE_EXPLICIT */
	uint32_t count;
	uint32_t least;			/* for a start now: no node whose bundled score is below that */
	uint32_t segment;		/* nodes of a segment; 0: not said.  Not beside parts */
};

/* True if nodes are taken by a score: a bundled one, or any. */
static inline bool sl_place_has_bundled_score(enum sl_place_method method)
{
	return method >= SL_PLACE_LEAST_LEFT && method <= SL_PLACE_FGD;
}

static inline bool sl_place_has_score(enum sl_place_method method)
{
	return method >= SL_PLACE_LEAST_LEFT && method <= SL_PLACE_OWN;
}

/* The method of a name, as in doc/placement.md ("bestfit", "fgd"; SL_PLACE_OWN has none); -1 with *err listing what there is. */
int sl_place_method(const char *name, struct sl_error *err);

/* -- the answer -------------------------------------------------------- */

/* What a job gets on one node. */
struct sl_place {
	uint32_t node;
	uint32_t cores;
	uint32_t tasks;			/* 0: not said */
	int64_t memory;			/* MiB */
	uint16_t gres[SL_MAX_GRES];	/* per kind */
};

struct sl_share {		/* nodes that give the same */
	struct sl_nodeset nodes;
	struct sl_resources each;
	uint32_t tasks;			/* on each; 0: not said: of whole nodes, whose cores are the job's however many they are */
};

struct sl_layout {
	struct sl_share *share;		/* disjoint */
	uint32_t shares;
	uint32_t room;			/* shares allocated: their nodesets keep their memory */
	uint32_t nodes;
	int64_t cores;
};

#define SL_LAYOUT_EMPTY { NULL, 0, 0, 0, 0 }

void sl_layout_free(struct sl_layout *l);
void sl_layout_clear(struct sl_layout *l);

/* Add nodes with so many tasks each; if a share has the same tasks and amounts, they go there.  The nodes must not be in
 * the layout yet (not checked). */
int sl_layout_add(struct sl_layout *l, uint32_t first, uint32_t last, uint32_t tasks, const struct sl_resources *each,
		  struct sl_error *err);

/* As a list by node, in their order.  place[] has room for l->nodes.  0, or -1 with *err (memory). */
int sl_layout_places(const struct sl_layout *l, struct sl_place *place, struct sl_error *err);

/* sl_timeline_book(), sl_timeline_book_beneath(), sl_timeline_unbook() for all shares: wholly or not at all. */
int sl_layout_book(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
		   struct sl_error *err);
int sl_layout_book_beneath(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
			   struct sl_error *err);
int sl_layout_unbook(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
		     struct sl_error *err);

/* -- why not ----------------------------------------------------------- */

enum sl_lack {
	SL_LACK_NOTHING,
	SL_LACK_NODES,		/* too few nodes with what each must have */
	SL_LACK_CORES,		/* those nodes together have too few cores for the tasks */
	SL_LACK_GRES,		/* ... too few gres for the job */
	SL_LACK_REQUIRED,	/* a required node does not do */
	SL_LACK_MAX_NODES,	/* it would take more nodes than max_nodes */
	SL_LACK_BLOCK,		/* no block of consecutive nodes is large enough */
	SL_LACK_LEAVES,		/* not below so few leaf switches */
	SL_LACK_SCORE,		/* enough nodes, but the score of too many is below what the job waits for, or refuses them */
	SL_LACK_SEGMENTS,	/* enough nodes, but not in whole segments of *have* nodes, each in one block */
	SL_LACK_TIME,		/* after the latest start allowed */
	SL_LACK_SENSE,		/* asks for what cannot be on any machine (tasks that do not divide, ...) */
};

struct sl_misfit {
	enum sl_lack lack;
	bool ever;		/* figures hold for all times: it can never run there */
	int64_t need, have;	/* nodes; tasks (or cores) for CORES; gres; nodes for MAX_NODES and BLOCK */
	uint32_t node;		/* REQUIRED: which */
};

/* -- fitting ----------------------------------------------------------- */

/*
 * Can the request start at *t* (before now: now)?  Returns 1 and the layout, whose
 * booking over [t, t + duration) will succeed; 0 with *misfit (may be NULL) and an
 * empty layout; -1 with *err for misuse or lack of memory.  layout may be NULL:
 * just asking is cheaper.  Books nothing.
 */
int sl_fit_at(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t t,
	      struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err);

/*
 * The earliest start from *from* on (before now: now), and not after *latest*
 * (SL_FOREVER: whenever).  Returns 1 with *start and the layout (may be NULL); 0
 * with *misfit when there is none; -1 with *err.  The start is the earliest at
 * which any choice of nodes satisfies the request, with two exceptions, where a
 * later one may be found: amounts of gres per job together with max_nodes, and more than one leaf.
 */
int sl_fit_earliest(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how,
		    int64_t from, int64_t latest, int64_t *start, struct sl_layout *layout,
		    struct sl_misfit *misfit, struct sl_error *err);

/*
 * A request is placed at *t*, on its fewest nodes, of which each gives the least that it asks of a node.
 * Is there a node that could stand in for one of them, beside all that is booked?  True also for requests
 * of any other kind, and where that cannot be found out.  While bookings are only added it stays false.
 */
bool sl_fit_may_move(struct sl_timeline *tl, const struct sl_request *r, const struct sl_layout *layout, int64_t t);

/*
 * A lower bound of the cores that the request takes in all, wherever it is placed on
 * this machine.  When less than that is free at an instant that it would run through,
 * trying is in vain: a job beside EASY's head needs
 *	sl_timeline_cores_at(shadow) + cores of the head's layout
 *		>= its own least cores + the head's least cores
 * even when the head may move.
 */
int64_t sl_fit_least_cores(const struct sl_timeline *tl, const struct sl_request *r);

#endif
