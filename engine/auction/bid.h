/* SPDX-License-Identifier: MIT */
/*
 * bid.h - nodesets, and what jobs bid for in an auction.
 *
 * After Soner and Ozturan, "An Auction Based SLURM Scheduler for Heterogeneous
 * Supercomputers and its Comparative Performance Study", 2013, sections 4 and 5.  A
 * nodeset is a maximal run of consecutive nodes that have at least so many GPUs free
 * each, and a core; a bid is a set of nodes out of them that would satisfy a job, with
 * the cores on each; of a job's bids at most one wins.
 *
 * A bid is made for one moment: what a plan has left free now, for all of the job's
 * walltime.  It books nothing.  Each bid alone can be booked (a layout of SL_PLACE_EXPLICIT
 * from its parts); that two of them can be booked together is what the rows of
 * sl_bid_rows() say.
 *
 * Requests are those of timeline/place.h, and what a node has to offer a request is worked out
 * there too: partition, features, required and excluded nodes, memory, whole nodes,
 * tasks per node and gres are respected because they are part of the request.  Where
 * Slurm's select has to choose (native), and where gres are asked for as a whole and
 * not by node, or nodes of one kind or another or below few switches, a job bids with what the methods of timeline/place.h find.
 *
 * Kinds, as in the paper:
 *	A	a part of one nodeset, aligned to its beginning or its end
 *	B	a part of one nodeset, from its inside
 *	C	neighbouring nodesets combined
 *	slurm	best fit, as if the jobs before it had been placed
 * Elastic bids are an addition to kind C: a job that does not say how many nodes it wants takes
 * whole neighbouring nodesets, and how many cores it gets on each node follows from which
 * other bids win.  (The paper leaves that open in all bids: its r_jn.)
 *
 * Here "nodeset" means the run of nodes of which each can do something for the job: for a
 * job that asks for cores and GPUs these are the paper's.
 *
 * Ownership: a market borrows the plan, and owns its bids until the next call that makes
 * bids.  Threads: none (it uses the timeline's working memory).
 */
#ifndef SL_BID_H
#define SL_BID_H

#include "base/allowance.h"
#include "model/plan.h"

enum sl_bid_kind { SL_BID_SLURM, SL_BID_A, SL_BID_B, SL_BID_C, SL_BID_KINDS };

#define SL_BID_ALL ((1u << SL_BID_KINDS) - 1)
#define SL_MAX_BIDS 500			/* of a job */
#define SL_MAX_BIDS_TOTAL 100000	/* of one call */

struct sl_bid_options {
	unsigned kinds;			/* bits: 1u << enum sl_bid_kind */
	uint32_t max;			/* bids of a job, 1 to SL_MAX_BIDS; its Slurm bid comes on top, and
					 * a job with more shapes than that has one for each */
	uint32_t jobs;			/* jobs that bid: the first so many that can; 0: all */
	uint32_t total;			/* bids of all jobs, Slurm bids not counted; 0: SL_MAX_BIDS_TOTAL.
					 * When they do not suffice for *max*, each job gets fewer. */
	bool contiguous;		/* every job is taken to ask for consecutive nodes */
	uint32_t blocks;		/* a bid may be in so many runs of nodes; 0: any number */
	double spread;			/* its last node - its first + 1, by its nodes; 0: any */
	bool elastic;			/* elastic bids too */
	double topology;		/* what a bid loses that needs the root switch, 0 to 1; 0: nothing */
};

struct sl_bid_part {			/* consecutive nodes that give the same */
	uint32_t first, last;
	struct sl_resources each;
	uint32_t tasks;			/* on each; 0: not said */
};

struct sl_bid {
	struct sl_entry entry;		/* which job, and which of its shapes */
	enum sl_bid_kind kind;
	bool native;			/* nobody can say where: Slurm's select chooses, or the counts of its constraint do */
	bool elastic;			/* each node gives at least what its part says, and all together
					 * *cores*: book it after the others, with 0 cores for each pick */
	double preference;		/* F of equation 12, in (0, 1] */
	int64_t seconds;		/* for so long */
	uint32_t nodes;
	int64_t cores;
	uint32_t sets;			/* nodesets that its nodes come from; 0: a Slurm bid */
	uint32_t blocks;		/* runs of consecutive nodes */
	uint32_t first, last;		/* its nodes lie between */
	uint32_t part, parts;		/* in sl_market_parts(), ascending */
};

struct sl_market;

/* For the plan as it is, and as it becomes: what was worked out is kept as long as
 * nothing is booked.  NULL with *err without memory. */
struct sl_market *sl_market_create(struct sl_plan *p, struct sl_error *err);
void sl_market_destroy(struct sl_market *m);

/* Limit the memory of each of the following calls, and name the flag that ends it.  A call that is ended so fails; the market stays
 * usable. */
void sl_market_allow(struct sl_market *m, const struct sl_allowance *allowance);

/*
 * Make the bids of these entries, in the order given.  Each entry's Slurm bid is made as if the entries before it
 * had been placed as their Slurm bids say.  An entry that cannot start now gets no bid.  The bids of a job stand
 * together, in falling order of preference within a kind.  The bids of its shapes (alternatives) follow, and count
 * towards the same cap.  No two bids of a job have the same nodes and cores.  Returns 0, or -1 with *err: SL_EINVAL
 * for options out of range or an entry that is not queued.
 */
int sl_market_bid(struct sl_market *m, const struct sl_entry *entry, uint32_t entries,
		  const struct sl_bid_options *opt, struct sl_error *err);

const struct sl_bid *sl_market_bids(const struct sl_market *m, uint32_t *count);
const struct sl_bid_part *sl_market_parts(const struct sl_market *m);

/* -- nodesets ---------------------------------------------------------- */

/* The paper's 4-tuple (n_i, n_j, c, g). */
struct sl_bid_set {
	uint32_t first, last;
	int64_t cores;
	uint32_t gpus;
};

/*
 * The nodesets of what is free from now on for so many seconds, of all numbers of GPUs
 * from 0 to the most that a node has free; by number of GPUs, then by node.  All are
 * found in one pass over the nodes.  *set is the market's, until its next call.  Returns
 * how many, or -1 with *err.
 */
int64_t sl_market_nodesets(struct sl_market *m, int64_t seconds, const struct sl_bid_set **set,
			   struct sl_error *err);

/* -- set packing ------------------------------------------------------- */

/*
 * Which bids can win together: for every set of nodes on which the same bids lie, what
 * they take of it is at most what is free, at all times.  Sets of nodes that say the same
 * or less than others are left out, and so are rows that can never bind; then a choice of
 * bids that satisfies all rows can be booked wholly.
 */
enum sl_bid_row_kind {
	SL_ROW_JOB,		/* at most one bid of a job; which: the job's row */
	SL_ROW_CORES, SL_ROW_MEMORY,	/* on a node; which: a node */
	SL_ROW_GRES,		/* of a kind, on a node */
	SL_ROW_LICENSE,		/* which: the licence's row */
	SL_ROW_ARRAY,		/* tasks of an array whose number is limited; which: a job of it */
	SL_ROW_ELASTIC,		/* cores on all nodes of an elastic bid; which: the bid */
	SL_ROW_ONE_ELASTIC,	/* at most one of them on a node */
	SL_ROW_SHARERS,		/* if a bidder gets the node, no bidder gets it whose jobs may not share it; which: the node */
};

struct sl_bid_term {
	uint32_t bid;
	int64_t amount;
};

struct sl_bid_row {
	enum sl_bid_row_kind kind;
	uint32_t which, gres;
	int64_t most;
	uint32_t term, terms;		/* in *terms of struct sl_bid_rows, by bid */
};

struct sl_bid_rows {
	struct sl_bid_row *row;
	uint32_t rows, row_room;
	struct sl_bid_term *term;
	uint32_t terms, term_room;
};

/*
 * The rows of *count* bids, whose parts begin at part[bid.part].  They may come from
 * several calls of sl_market_bid(), between which nothing was booked.  Fills *rows, whose
 * memory is used again.  0, or -1 with *err.
 */
int sl_market_rows(struct sl_market *m, const struct sl_bid *const *bid, const struct sl_bid_part *const *part,
		   uint32_t count, struct sl_bid_rows *rows, struct sl_error *err);
void sl_bid_rows_free(struct sl_bid_rows *rows);

const char *sl_bid_kind_word(enum sl_bid_kind kind);

#endif
