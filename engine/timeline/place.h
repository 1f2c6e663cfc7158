/* SPDX-License-Identifier: MIT */
/*
 * place.h - which nodes a job gets, how many cores on each, and when.
 *
 * Input: a request (request.h) and a method, which says which of the suitable nodes are taken.  Output: a layout, that is,
 * sets of nodes that each give the same amount.
 *
 * Whatever the method, a layout has:
 *	- all required nodes, only eligible ones, min_nodes <= nodes <= max_nodes;
 *	- exactly `count` nodes of each part.  The method chooses the nodes of a part as for a job of its own,
 *	  and takes nodes first that no later part can use.  Other nodes may belong to no part;
 *	- tasks that never span nodes: each node has at least one, at most tasks_per_node,
 *	  and exactly tasks_per_node if the request says so;
 *	- on each node the cores that its tasks need, at least min_cores_per_node,
 *	  and no more in all (whole nodes: all cores of the node);
 *	- memory and gres likewise, free on each node from start to end.
 * A job with fewer tasks than nodes gets the amount of one task on each of min_nodes.  Nodes that are added because gres of
 * the job or most_nodes calls for more than min_nodes get that amount, too.  For contiguous requests most_nodes adds none:
 * they get the smallest block.
 *
 * Tasks are dealt out to the chosen nodes as select/cons_tres does with a minimum of CPUs: each node in turn takes as many as
 * it can, but leaves one for every further node.  "spread" deals evenly; planes go round by node index until all tasks are
 * dealt.  Gres of the job is dealt by node index, as in select.
 *
 * A start later than now takes the nodes that become free latest, and looks at weight and index only after that, so nodes
 * that are free now stay free for backfill.  On equal nodes this is the classical count of extra nodes.  Contiguous requests
 * take the smallest gap at any time.
 *
 * Ties are broken by node index: the same timeline and request give the same layout, whichever bookings led there.
 *
 * Ownership: a layout owns its memory.  Threads: none (the workspace belongs to the timeline).
 */
#ifndef SL_PLACE_H
#define SL_PLACE_H

#include "timeline/request.h"

/* -- the method -------------------------------------------------------- */

enum sl_place_method {
	SL_PLACE_BESTFIT,	/* Slurm's consecutive-set best fit (below); the default */
	SL_PLACE_CONTIGUOUS,	/* one block of consecutive nodes, the smallest that suffices */
	SL_PLACE_PACK,		/* as few nodes as possible; of suitable nodes the fullest */
	SL_PLACE_SPREAD,	/* as many nodes as allowed, tasks dealt evenly */
	SL_PLACE_TIGHT,		/* best fit in time: nodes whose next booking begins soonest */
	SL_PLACE_LEAST_LOADED,	/* of equal weight the largest fraction of free cores, as Slurm's LLN */
	SL_PLACE_LAST,		/* of equal weight the highest index, as Slurm's pack_serial_at_end */
	/* Of equal weight the best score (score.h), then the lowest index: */
	SL_PLACE_LEAST_LEFT,	/* fewest CPUs and GPUs left after the job: best fit, as the paper calls it */
	SL_PLACE_WORST_FIT,	/* most CPUs and GPUs left */
	SL_PLACE_DOT_PRODUCT,	/* smallest dot product of free amounts and requested amounts */
	SL_PLACE_GPU_PACKING,	/* GPUs in use before idle ones; idle GPUs of nodes in use before idle nodes */
	SL_PLACE_GPU_CLUSTERING,	/* nodes that run jobs of the same type */
	SL_PLACE_FGD,		/* fragmentation gradient descent: fragmentation increases least */
	SL_PLACE_OWN,		/* a score that the policy computes */
	SL_PLACE_BLOCKS,	/* as few blocks (leaf switches) as suffice; whole idle blocks last */
	SL_PLACE_NATIVE,	/* Slurm's select will choose: the layout is an upper bound, chosen as by bestfit */
	SL_PLACE_EXPLICIT,	/* exactly the nodes and cores in *picks*; also for requests with picks of their own */
	SL_PLACE_METHODS
};

/*
 * bestfit follows _eval_nodes() of select/cons_tres: usable nodes of equal weight with consecutive indices form a set.
 * Required nodes come first, then other nodes of their sets (upwards, then downwards).  Then the lowest weight wins; among
 * sets of that weight the smallest that suffices for the rest of the request, else the largest, until the request is
 * satisfied.  If one more node suffices, the tightest of its set is taken.  If max_nodes binds, nodes that are too poor to
 * lead to a fit are skipped, so a fit is found whenever there is one.
 *
 * With a tree of switches, bestfit looks only at the nodes below the lowest switch that has enough nodes of the lowest
 * weights, and among such switches at the one with the fewest.  If that switch is no leaf, it takes as few leaves below it as
 * possible: the largest, and last the smallest that suffices.  This holds for a start at any time, and makes a request wait
 * only if the request limits the leaves.  With such a limit, whatever the method, a single leaf that suffices is taken, the
 * one with the fewest free nodes; otherwise as few leaves as possible.
 *
 * blocks: a block is a leaf switch.  A block is whole while all its nodes are idle for as long as the request runs.  The
 * request gets exactly min_nodes, in as few blocks as suffice; among such choices the one that leaves the most blocks whole;
 * the last block is the smallest that suffices.  With segments, each block gives a multiple of `segment` nodes; the choice
 * leaves the most blocks whole, then uses the fewest blocks.  Segments hold for all methods except native and explicit, and
 * only with a known tree; blocks without segments never make a request wait.  A request that may have fewer nodes than a
 * segment has none.  Each node gives at least an equal part of the units.  Segments of the request itself (request.h) replace
 * these, and hold for native and explicit, too.
 */

struct sl_how {
	enum sl_place_method method;
	const struct sl_pick *picks;	/* for SL_PLACE_EXPLICIT */
	uint32_t count;
	uint32_t least;			/* for a start now: nodes with a lower bundled score are not used */
	uint32_t segment;		/* nodes of a segment; 0: none.  Not with parts */
};

/* True if the method ranks nodes by a bundled score; by any score. */
static inline bool sl_place_has_bundled_score(enum sl_place_method method)
{
	return method >= SL_PLACE_LEAST_LEFT && method <= SL_PLACE_FGD;
}

static inline bool sl_place_has_score(enum sl_place_method method)
{
	return method >= SL_PLACE_LEAST_LEFT && method <= SL_PLACE_OWN;
}

/* The method with this name, as in doc/placement.md ("bestfit", "fgd"; SL_PLACE_OWN has none); -1 with *err, which lists
 * the names. */
int sl_place_method(const char *name, struct sl_error *err);

/* -- the answer -------------------------------------------------------- */

/* What a job gets on one node. */
struct sl_place {
	uint32_t node;
	uint32_t cores;
	uint32_t tasks;			/* 0: unknown */
	int64_t memory;			/* MiB */
	uint16_t gres[SL_MAX_GRES];	/* per kind */
};

struct sl_share {		/* nodes that give the same amount */
	struct sl_nodeset nodes;
	struct sl_resources each;
	uint32_t tasks;			/* on each node; 0: unknown, as on whole nodes, which give all their cores */
};

struct sl_layout {
	struct sl_share *share;		/* disjoint sets */
	uint32_t shares;
	uint32_t room;			/* allocated shares, whose nodesets keep their memory */
	uint32_t nodes;
	int64_t cores;
};

#define SL_LAYOUT_EMPTY { NULL, 0, 0, 0, 0 }

void sl_layout_free(struct sl_layout *l);
void sl_layout_clear(struct sl_layout *l);

/* Add nodes with *tasks* tasks each.  If a share has the same tasks and amounts, they join it.  The caller ensures that
 * the layout does not have the nodes yet. */
int sl_layout_add(struct sl_layout *l, uint32_t first, uint32_t last, uint32_t tasks, const struct sl_resources *each,
		  struct sl_error *err);

/* The layout as a list in node order.  place[] has room for l->nodes.  0, or -1 with *err (memory). */
int sl_layout_places(const struct sl_layout *l, struct sl_place *place, struct sl_error *err);

/* sl_timeline_book(), sl_timeline_book_beneath() and sl_timeline_unbook() for all shares; on failure nothing has changed. */
int sl_layout_book(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
		   struct sl_error *err);
int sl_layout_book_beneath(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
			   struct sl_error *err);
int sl_layout_unbook(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
		     struct sl_error *err);

/* -- why not ----------------------------------------------------------- */

enum sl_lack {
	SL_LACK_NOTHING,
	SL_LACK_NODES,		/* too few nodes have what each node must have */
	SL_LACK_CORES,		/* these nodes together have too few cores for the tasks */
	SL_LACK_GRES,		/* these nodes together have too few gres for the job */
	SL_LACK_REQUIRED,	/* a required node is not suitable */
	SL_LACK_MAX_NODES,	/* more nodes than max_nodes would be needed */
	SL_LACK_BLOCK,		/* no block of consecutive nodes is large enough */
	SL_LACK_LEAVES,		/* not within max_leaves leaf switches */
	SL_LACK_SCORE,		/* enough nodes, but too many have a score that is too low or a refusal */
	SL_LACK_SEGMENTS,	/* enough nodes, but not in whole segments of *have* nodes within one block each */
	SL_LACK_TIME,		/* the start would be after the latest that is allowed */
	SL_LACK_SENSE,		/* impossible on any machine (tasks that do not divide, ...) */
};

struct sl_misfit {
	enum sl_lack lack;
	bool ever;		/* the figures hold for all times: the request can never run on this timeline */
	int64_t need, have;	/* nodes; for CORES tasks (or cores); for GRES gres; for MAX_NODES and BLOCK nodes */
	uint32_t node;		/* for REQUIRED: which node */
};

/* -- fitting ----------------------------------------------------------- */

/*
 * Can the request start at *t* (a time before now means now)?  Returns 1 with the layout, whose booking over [t, t +
 * duration) will succeed; 0 with *misfit (may be NULL) and an empty layout; -1 with *err for misuse or lack of memory.
 * Without a layout (NULL) the call is cheaper.  Books nothing.
 */
int sl_fit_at(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t t,
	      struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err);

/*
 * The earliest start from *from* to *latest* (SL_FOREVER: no limit); a *from* before now means now.  Returns 1 with *start
 * and the layout (may be NULL); 0 with *misfit if there is none; -1 with *err.  No choice of nodes allows an earlier start,
 * with two exceptions: gres of the job together with max_nodes, and max_leaves above 1.  For these a later start may be
 * found.
 */
int sl_fit_earliest(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how,
		    int64_t from, int64_t latest, int64_t *start, struct sl_layout *layout,
		    struct sl_misfit *misfit, struct sl_error *err);

/*
 * The request is placed at *t* on min_nodes nodes, each of which gives the least that it may.  True if another node, beside
 * all bookings, could replace one of them; also true for other kinds of requests, and if that cannot be determined.  Once
 * false, the answer stays false while bookings are only added.
 */
bool sl_fit_may_move(struct sl_timeline *tl, const struct sl_request *r, const struct sl_layout *layout, int64_t t);

/*
 * A lower bound of the cores that the request takes in all, wherever it is placed on this machine.  If fewer cores are free
 * at some instant of its run, it cannot fit.  A job beside EASY's head needs
 *	sl_timeline_cores_at(shadow) + cores of the head's layout
 *		>= its own least cores + the head's least cores
 * even if the head may be placed on other nodes.
 */
int64_t sl_fit_least_cores(const struct sl_timeline *tl, const struct sl_request *r);

/*
 * True if the request has gres of the job, and its tasks fit on empty nodes, but not on as many as there are pieces.  Placement
 * takes at least one of each node; select also takes nodes of which the job has none.  Then *each is what select needs at
 * least: the request with one piece of each node.
 */
bool sl_fit_outgrows_gres(const struct sl_timeline *tl, const struct sl_request *r, struct sl_request *each);

#endif
