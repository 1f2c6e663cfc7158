/* SPDX-License-Identifier: MIT */
/*
 * place_impl.h - the inside of placement, for place*.c only.
 *
 * The stages: the request becomes a need in units (tasks, or cores if it states no tasks), with a least and a most per node
 * (struct sl_need).  Each class that can take any makes an offer.  Offers become spans of nodes.  A picker takes spans in the
 * order of the method.  The units are dealt out to the picked nodes.  All arrays are in struct sl_space, which belongs to the
 * timeline, so placement seldom allocates.
 */
#ifndef SL_PLACE_IMPL_H
#define SL_PLACE_IMPL_H

#include "timeline/choose.h"
#include "timeline/impl.h"

/* What each node of a class, or of some of its nodes, can take. */
struct sl_offer {
	const struct sl_nodeset *nodes;
	struct sl_resources free;
	bool is_run;			/* the nodes are exactly *run*; false: perhaps not */
	struct sl_run run;
	uint32_t class;
	uint32_t units;			/* at most need->cap */
	uint32_t weight;
	uint32_t job[SL_MAX_GRES_NEEDS];	/* gres of the job that the node can give, in the order of need->need[needs
						 * + i] */
	int64_t key;			/* sort order: smallest key first, then weight, then key2 */
	uint64_t key2;
};

/* What bestfit reads of an offer for each span.  There can be as many offers as nodes. */
struct sl_brief {
	uint32_t weight, units;
	int32_t cores;
};

/* Consecutive nodes of one weight: a set of bestfit. */
struct sl_set {
	uint32_t span, spans;		/* in space->spans; unused if the set comes from a sheet */
	uint32_t first, last;		/* first and last node; only the last is set if the set comes from a sheet */
	uint32_t weight;
	uint32_t required;		/* the first required node in it, or SL_MAX_NODES */
	uint32_t nodes;
	uint32_t peak;			/* most units that one of its nodes can take */
	int64_t units, cores;
};

struct sl_event {
	int64_t t;
	uint32_t cursor;
};

struct sl_take {		/* what a node can take */
	uint32_t units;
	uint32_t job[SL_MAX_GRES_NEEDS];
};

/* A class during a sweep through time. */
struct sl_cursor {
	const struct sl_nodeset *nodes;
	uint32_t class, count;		/* number of nodes */
	uint32_t step;			/* the step that contains the current time */
	uint32_t required;		/* number of required nodes in it */
	uint32_t leaf;			/* for contiguous requests: its first leaf in space->leaf */
	int64_t edge;			/* nothing changes before this time */
	struct sl_take now;
};

/* The longest block of consecutive nodes, by nodes and by units: a node of a segment tree. */
struct sl_block {
	uint32_t first, last;		/* range of nodes; first > last: empty */
	uint32_t pre, suf, best;	/* longest prefix, suffix and block, in nodes */
	int64_t pre_units, suf_units, best_units;
};

/* Sums over all offers. */
struct sl_sums {
	int64_t nodes, units;
	int64_t job[SL_MAX_GRES_NEEDS];
	uint32_t required;
};

/* What the nodes below a switch offer: directly attached nodes (*own*), and all. */
struct sl_branch {
	struct sl_sums own, all;
	uint32_t number;		/* switch number */
	bool taken;
};

/* A block (leaf switch) with its suitable nodes. */
struct sl_lot {
	uint32_t number;		/* switch number */
	uint32_t size;			/* number of nodes in the block, suitable or not */
	uint32_t nodes, idle, required;
	uint32_t room, taken;		/* in segments; in nodes if there are no segments */
	bool whole;
};

struct sl_seat {		/* a suitable node */
	uint32_t lot, node, offer, weight;
	bool required;
	int64_t key;
	uint64_t key2;
};

struct sl_space {
	struct sl_offer *offer;
	uint32_t offers, offer_room;
	struct sl_offer *whole;		/* copy of the offers from before they were narrowed */
	uint32_t wholes, whole_room, whole_sets;
	uint32_t singles;		/* leaves that suffice alone: the first ones in ranked */
	struct sl_branch *branch, *ranked;	/* branch: by switch; ranked: switches with nodes, best first */
	uint32_t branch_room, ranked_room;
	struct sl_lot *lot, *open;	/* lot: by switch; open: blocks to choose from, in their order */
	struct sl_seat *seat;
	uint32_t lot_room, open_room, seat_room;
	struct sl_nodeset **set;	/* node sets of offers that cover only some nodes of a class */
	uint32_t sets, set_room;
	uint8_t *kind_in;		/* by kind: SL_KIND_* */
	struct sl_spans spans, required, chosen, sorted;
	struct sl_brief *brief;		/* by offer */
	uint32_t brief_room;
	struct sl_set *cons;		/* heap of bestfit's sets */
	uint32_t conses, cons_room;
	uint32_t *order;		/* heap of offers */
	uint32_t ordered, order_room;
	uint32_t *hist;			/* histogram: nodes by units */
	uint32_t hist_room, hist_top;	/* largest number of units in it */
	struct sl_cursor *cursor;
	uint32_t cursors, cursor_room;
	struct sl_event *heap;
	uint32_t heaped, heap_room;
	int64_t reached;		/* time at which the last sweep ended */
	struct sl_block *tree;
	uint32_t tree_room, leaves;	/* number of leaves of *tree*, a power of two */
	uint32_t *leaf;			/* leaf numbers, grouped by cursor */
	uint32_t leaf_room;
	struct sl_sheets *sheets;	/* NULL: none made yet */
	struct sl_outlook *outlook;	/* NULL: none made yet */
	struct sl_shelf own_shelf;	/* used if the timeline shares none */
	struct sl_scoring *own_scoring;	/* used if no scoring was given to the timeline */
	bool knows_most;
	uint32_t most_milli;		/* GPUs of the largest node, in thousandths */
	uint32_t *asked;		/* hash table of the offers that were scored */
	uint32_t asked_room;
};

/* Set *m (may be NULL) to the reason why a request does not fit.  Returns 0. */
static inline int sl_refuse(struct sl_misfit *m, enum sl_lack lack, int64_t need, int64_t have)
{
	if (m)
		*m = (struct sl_misfit) { .lack = lack, .need = need, .have = have };
	return 0;
}

/* The same for a request that can never fit.  Returns -1. */
static inline int sl_refuse_for_ever(struct sl_misfit *m, enum sl_lack lack, int64_t need, int64_t have)
{
	sl_refuse(m, lack, need, have);
	if (m)
		m->ever = true;
	return -1;
}

/* The workspace of a timeline, created by the first call; NULL with *err. */
struct sl_space *sl_space(struct sl_timeline *tl, struct sl_error *err);

/* -- place_need.c ------------------------------------------------------ */

/* A cheap test.  False: a node with *free* can take nothing.  True: it may be able to. */
static inline bool sl_need_plausible(const struct sl_node_need *need, const struct sl_resources *free,
				     const struct sl_resources *capacity)
{
	if (free->cores < need->least_cores || free->memory < need->least_memory)
		return false;
	if (need->whole && !sl_resources_equal(free, capacity))
		return false;
	if (need->all_memory && free->memory != capacity->memory)
		return false;
	if (need->needs + need->jobs) {
		for (int k = 0; k < SL_MAX_GRES; k++) {
			if (free->gres[k] < need->least_gres[k])
				return false;
		}
	}
	return true;
}

/* place_devices.c.  What is free of each kind on a node, minus what its devices cannot give. */
void sl_devices_narrow(const struct sl_devices *d, const struct sl_resources *capacity, const struct sl_resources *free,
		       uint16_t *left);

/* Add to *taken* the device shares that it implies; false if the devices cannot give them. */
bool sl_devices_take(const struct sl_devices *d, const struct sl_resources *capacity, const struct sl_resources *free,
		     uint16_t *taken);

/*
 * When a job starts, select takes the first device that has enough free, whatever is booked on it for later.  Therefore
 * reduce *free*, the minimum over the job's run, by the devices that select would not reach: with *at* free at the start, it
 * would take an earlier device.
 */
void sl_devices_in_turn(const struct sl_node_need *need, const struct sl_resources *capacity, const struct sl_resources *at,
			struct sl_resources *free);

static inline void sl_need_in_turn(const struct sl_node_need *need, const struct sl_resources *capacity,
				   const struct sl_resources *at, struct sl_resources *free)
{
	if (need->devices && !need->devices->any && !need->whole && need->needs + need->jobs)
		sl_devices_in_turn(need, capacity, at, free);
}

/* Set o->units and o->job to what a node with o->free can take; false: nothing. */
bool sl_need_offer(const struct sl_node_need *need, const struct sl_resources *capacity, struct sl_offer *o);

/* -- place_gather.c ---------------------------------------------------- */

/* Compare the eligible nodes with each kind, for sl_eligible(). */
int sl_eligible_begin(struct sl_timeline *tl, const struct sl_need *need, struct sl_error *err);

enum { SL_KIND_OUT, SL_KIND_IN, SL_KIND_PARTLY };	/* for space->kind_in */

/* The eligible nodes of a class.  Returns 0, *nodes NULL if there are none; or -1 with *err.  sl_eligible_part() is for
 * kinds that are not SL_KIND_IN. */
int sl_eligible_part(struct sl_timeline *tl, const struct sl_need *need, const struct sl_live *l,
		     const struct sl_nodeset **nodes, struct sl_error *err);

static inline int sl_eligible(struct sl_timeline *tl, const struct sl_need *need, const struct sl_live *l,
			      const struct sl_nodeset **nodes, struct sl_error *err)
{
	const struct sl_space *sp = tl->space;

	if (sp->kind_in[l->kind] != SL_KIND_IN)
		return sl_eligible_part(tl, need, l, nodes, err);
	*nodes = &tl->class[l->class].nodes;
	return 0;
}

/* Add to the sums, or (sign -1) subtract.  sl_sums_lack(): what the sums lack to satisfy the need. */
void sl_sums_add(struct sl_sums *s, const struct sl_need *need, uint32_t units, const uint32_t *job,
		 uint32_t nodes, uint32_t required, int sign);
enum sl_lack sl_sums_lack(const struct sl_sums *s, const struct sl_need *need);

/* Fill a misfit from sums. */
void sl_misfit_from(struct sl_misfit *m, const struct sl_need *need, const struct sl_sums *s, enum sl_lack lack);

/* Make all offers at t, and their sums.  Returns 0; -1 with *err; with *ask*, 1 as soon as it is certain that the need can
 * be satisfied (the offers are incomplete then). */
int sl_gather(struct sl_timeline *tl, const struct sl_need *need, int64_t t, bool ask, struct sl_sums *sums,
	      struct sl_error *err);

/* A nodeset of the workspace, valid until the next sl_gather(); NULL with *err. */
struct sl_nodeset *sl_space_set(struct sl_space *sp, struct sl_error *err);

/* Append a copy of *o; its nodes pointer must stay valid.  -1 with *err. */
int sl_offer_push(struct sl_space *sp, const struct sl_offer *o, struct sl_error *err);

/* The first required node that is in no offer, SL_MAX_NODES if there is none. */
uint32_t sl_required_missing(struct sl_timeline *tl, const struct sl_need *need);

/* Histogram of nodes by units; sl_hist_best(): what the best *nodes* nodes take together. */
int sl_hist_clear(struct sl_space *sp, int64_t top, struct sl_error *err);
int64_t sl_hist_best(const struct sl_space *sp, int64_t nodes);

/* -- place_sheet.c, place_sets.c: offers of all nodes, kept from request to request -- */

/*
 * A sheet of what each node offers now to requests with the same needs of a node and the same duration.  NULL if looking at
 * classes of nodes is cheaper, or if sheets do not cover needs of that kind; with *make* false also if there is no valid
 * sheet yet.  With needs that sheets cover, a request fits if the offers of all nodes add up to enough.
 */
struct sl_sheet *sl_sheet_of(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method,
			     bool make);
void sl_sheets_free(struct sl_sheets *ts);

/* sl_shelf_of(): the memory limit of a timeline that has a workspace.  sl_shelf_claim(): count *bytes* of other kept data
 * against it; false if that is too much. */
struct sl_shelf *sl_shelf_of(struct sl_timeline *tl);
bool sl_shelf_claim(struct sl_shelf *shelf, uint64_t bytes);

/* The sums over all nodes. */
const struct sl_sums *sl_sheet_sums(const struct sl_sheet *t);

/* Collect bestfit's sets of eligible nodes (NULL: all are) in node order into space->cons, with their sums. */
int sl_sheet_sets(struct sl_timeline *tl, const struct sl_sheet *t, const struct sl_nodeset *eligible,
		  struct sl_sums *sums, struct sl_error *err);

/* -- place_choose.c, place_bestfit.c, place_block.c --------------------- */

/* Choose nodes into space->chosen for a start at t, from offers that are enough in sum.  1: chosen; 0: impossible (with
 * *misfit); -1 with *err. */
int sl_choose(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
	      struct sl_misfit *misfit, struct sl_error *err);

/* The same from a sheet that has enough in sum, for a start now.  *scored*: the sheet is for a score. */
int sl_choose_from_sheet(struct sl_timeline *tl, const struct sl_need *need, struct sl_sheet *sheet, bool scored,
			 struct sl_misfit *misfit, struct sl_error *err);

struct sl_picker {
	struct sl_space *sp;
	const struct sl_need *need;
	struct sl_timeline *tl;		/* if a sheet is used */
	struct sl_sheet *sheet;		/* NULL: offers were gathered */
	int64_t nodes, units, slots;	/* nodes and units still needed; nodes still allowed */
	int64_t job[SL_MAX_GRES_NEEDS];
	bool look;			/* max_nodes may bind: look ahead */
};

bool sl_picker_done(const struct sl_picker *p);

/* Set the keys of the offers to the order in which the method takes them. */
void sl_rank_offers(const struct sl_timeline *tl, const struct sl_picker *p, enum sl_place_method method, int64_t t);

/* Take as many nodes of the span as the need wants and allows, from its end if *back*.  The rest of the span will not be
 * considered again. */
int sl_picker_take(struct sl_picker *p, const struct sl_span *span, bool back, struct sl_error *err);

int sl_choose_bestfit(struct sl_picker *p, struct sl_error *err);
int sl_choose_among_sets(struct sl_picker *p, struct sl_error *err);	/* the sets in space->cons */

/* As sl_choose_among_sets(), with all nodes of a sheet, if few sets suffice.  1; 0 if many would be needed (some may be
 * taken already); -1. */
int sl_choose_few_sets(struct sl_picker *p, struct sl_error *err);
int sl_choose_by_score(struct sl_picker *p, struct sl_error *err);	/* from a sheet for a score */
int sl_take_from_sheet(struct sl_picker *p, const struct sl_set *set, struct sl_error *err);
int sl_choose_block(struct sl_space *sp, const struct sl_need *need, struct sl_misfit *misfit,
		    struct sl_error *err);

/* The longest blocks while offers change, for a sweep. */
int sl_blocks_begin(struct sl_space *sp, struct sl_error *err);
void sl_blocks_set(struct sl_space *sp, uint32_t cursor, uint32_t units);
bool sl_blocks_plausible(const struct sl_space *sp, const struct sl_need *need);

/* -- place_score.c ------------------------------------------------------ */

/* Sort the offers by score: key2, smaller is better.  Offers that the score refuses, or that score below
 * need->least_score, are removed.  1; 0 if too few are left (with *misfit); -1 with *err. */
int sl_rank_by_score(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
		     struct sl_misfit *misfit, struct sl_error *err);

/* -- place_tree.c ------------------------------------------------------ */

/* Reduce the offers to the nodes below the lowest switch that suffices (place.h).  1; 0 if no switch does, or that switch
 * has all of them; -1 with *err.  sl_widen() restores the offers. */
int sl_narrow(struct sl_timeline *tl, const struct sl_need *need, struct sl_error *err);
void sl_widen(struct sl_space *sp);

/*
 * Reduce the offers to the *n*th set of leaves within the limit of the request: first single leaves that suffice, fewest
 * nodes first, then several leaves.  1; 0 if there is no nth set; -1 with *err.  Call with n = 0, 1, ... until it returns 0,
 * without sl_widen() in between.
 */
int sl_narrow_to_leaves(struct sl_timeline *tl, const struct sl_need *need, uint32_t n, struct sl_error *err);

/* The smallest weight such that the offers up to that weight suffice, over the whole machine. */
uint32_t sl_heaviest(const struct sl_space *sp, const struct sl_need *need);

/* Number of leaves above the nodes; a node below no leaf counts as one. */
uint32_t sl_tree_leaves(const struct sl_tree *tree, const struct sl_nodeset *nodes);

/* True if the number of nodes below each leaf is a multiple of *segment*, and every node is below a leaf. */
bool sl_tree_has_segments(const struct sl_tree *tree, const struct sl_nodeset *nodes, uint32_t segment);

/* -- place_segments.c --------------------------------------------------- */

/* As sl_choose(), but in blocks, and in whole segments if need->segment is set (place.h). */
int sl_choose_in_blocks(struct sl_timeline *tl, const struct sl_need *need, int64_t t, struct sl_misfit *misfit,
			struct sl_error *err);

/* -- place_deal.c ------------------------------------------------------ */

/* Number of units that the next of *nodes* nodes takes of *rest*: between *least* and *most*, as many as possible while
 * *kept* are left for each of the others. */
int64_t sl_deal_share(int64_t rest, int64_t nodes, int64_t kept, int64_t least, int64_t most);

/* -- place_explicit.c -------------------------------------------------- */

/* Check the nodes that *how* picks, and find the first instant from *from* to *latest* at which they are free: *start (may
 * be NULL).  Returns as sl_fit_earliest() does. */
int sl_explicit_fit(struct sl_timeline *tl, const struct sl_need *need, const struct sl_how *how, int64_t from,
		    int64_t latest, int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err);

/* -- place_parts.c: sl_fit_at() and sl_fit_earliest() for requests with parts ------ */

int sl_parts_at(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t t,
		struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err);
int sl_parts_earliest(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t from,
		      int64_t latest, int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit,
		      struct sl_error *err);

/* -- place_sweep.c ----------------------------------------------------- */

int sl_sweep(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t from,
	     int64_t latest, int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit,
	     struct sl_error *err);

#endif
