/* SPDX-License-Identifier: MIT */
/*
 * bid_impl.h - the inside of a market, for bid*.c only.
 *
 * A view is what is free on all nodes from now on for so long, as spans in node order;
 * walltimes between which nothing is taken share one.  A profile is a view as a kind of
 * request sees it: blocks (its nodesets), each made of pieces of nodes that could take
 * the same number of units.  A candidate is some pieces, cut to what a job wants.
 */
#ifndef SL_BID_IMPL_H
#define SL_BID_IMPL_H

#include "auction/bid.h"
#include "base/grow.h"
#include "model/prospect.h"
#include "timeline/choose.h"

struct view_class {
	const struct sl_node_kind *kind;
	struct sl_resources free;
	uint32_t number;		/* the timeline's */
	uint32_t gpus;
};

struct view {
	struct sl_timeline *tl;
	uint32_t level;			/* breaks of the timeline that lie before its end */
	struct view_class *cls;
	uint32_t classes, class_room;
	struct sl_spans spans, sorted;	/* of nodes with a core free; offer: a class */
	struct sl_bid_set *set;		/* nodesets of all levels, when they were asked for */
	uint32_t sets, set_room;
	bool has_sets;
};

/* Instants at which less becomes free somewhere, ascending: by timeline. */
struct breaks {
	struct sl_timeline *tl;
	uint64_t moment;		/* of the timeline when they were found */
	int64_t *t;
	uint32_t count, room;
};

struct piece {
	uint32_t first, last;
	uint32_t cls;
	uint32_t units;			/* on each node */
};

struct stretch {
	uint32_t first, last;		/* nodes */
	uint32_t piece, pieces;
	int64_t units;
};

/* What of a need the blocks depend on. */
struct profile_key {
	const struct view *view;
	const struct sl_nodeset *eligible;
	struct sl_node_need need;
};

struct profile {
	struct profile_key key;
	uint64_t hash;
	struct piece *piece;
	struct stretch *block;
	uint32_t pieces, piece_room, blocks, block_room;
	uint32_t longest;		/* nodes of the longest block */
};

#define PROFILES 32

/* Nodes chosen for a bid, in node order. */
struct candidate {
	enum sl_bid_kind kind;
	uint32_t sets;
	struct piece *piece;
	uint32_t pieces, room;
	int64_t nodes, units;
};

/* Blocks that could make a bid, best first; ties go to the lower node. */
struct ranked {
	uint32_t from, to;		/* blocks */
	uint64_t key;			/* smaller is better */
};

/* The walk of one entry. */
struct bidder {
	struct sl_market *m;
	const struct sl_bid_options *opt;
	struct sl_prospect e;
	struct sl_request request;	/* for so many seconds: e's, or the least it takes */
	struct sl_need need;
	struct view *view;
	const struct profile *profile;
	uint32_t number;		/* of the entry in the list: spreads bids of kind B */
	uint32_t begin;			/* the job's first bid */
	uint32_t left;			/* bids that it may still make */
	bool block;			/* consecutive nodes only */
	bool elastic;			/* it does not say how many nodes: the paper's job type 1 */
};

struct sl_market {
	struct sl_plan *p;
	struct sl_cluster *c;
	const struct sl_snapshot *snap;
	struct sl_allowance allowance;
	uint64_t moment;
	uint16_t gpu_kinds;
	struct breaks *breaks;
	uint32_t break_lists;
	struct view **view;		/* pointers: profiles name them */
	uint32_t views, view_room;
	uint64_t view_bytes;		/* of those in use */
	struct profile profile[PROFILES];
	uint32_t profiles, next_profile;
	struct sl_bid *bid;
	uint32_t bids, bid_room;
	struct sl_bid_part *part;
	uint32_t parts, part_room;
	struct sl_bid *slurm;		/* by entry of the list; nodes 0: none */
	uint32_t slurm_room;
	struct sl_layout layout;
	struct candidate candidate;
	uint32_t *unit;			/* by class of a view: what it offers */
	uint32_t unit_room;
	struct ranked *tight;		/* blocks, tightest first */
	struct ranked *chain;		/* neighbouring blocks that suffice together */
	uint32_t tights, tight_room, chains, chain_room;
	uint32_t depth;			/* levels of switches; 0: none, or not looked at */
};

/* bid_view.c */
/* Forget the views when something was booked since. */
void market_refresh(struct sl_market *m);
/* What is free from now on for so long; NULL with *err. */
struct view *market_view(struct sl_market *m, struct sl_timeline *tl, int64_t seconds, struct sl_error *err);
/* Find the nodesets of a view, into v->set. */
int view_nodesets(struct view *v, struct sl_error *err);
/* A view as a need sees it; until the next refresh or PROFILES other needs. */
const struct profile *market_profile(struct sl_market *m, const struct view *v, const struct sl_need *need,
				     struct sl_error *err);
void market_views_free(struct sl_market *m);

/* bid_make.c: the bids of kinds A, B and C, at most b->left of them. */
int bidder_make(struct bidder *b, struct sl_error *err);

/* One on any nodes as best fit has them: those that are up first.  0, or -1 with *err. */
int bidder_wake(struct bidder *b, struct sl_error *err);

/* bid.c: a bid of the layout in m->layout; 1, 0 when the job has it already, -1.  *elastic*:
 * cores in all, of which the layout has the least on each node; else 0. */
int bidder_keep(struct bidder *b, enum sl_bid_kind kind, uint32_t sets, int64_t elastic, struct sl_error *err);

#endif
