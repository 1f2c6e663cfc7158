/* SPDX-License-Identifier: MIT */
/*
 * place_impl.h - the inside of placement, for place*.c only.
 *
 * The way of a request: it is normalised to units (tasks, or cores where tasks are
 * not said) of which a node takes between least and most (struct sl_need).  Each
 * class that could take any makes an offer.  Offers become spans of nodes; a
 * picker takes spans in the order that the method wants; the units are dealt out
 * to the nodes picked.  All arrays live in struct sl_space, which hangs on the
 * timeline, so that fitting allocates nothing once it is warm.
 */
#ifndef SL_PLACE_IMPL_H
#define SL_PLACE_IMPL_H

#include "timeline/choose.h"
#include "timeline/impl.h"

/* What each node of a class (or of a part of it) could take. */
struct sl_offer {
	const struct sl_nodeset *nodes;
	struct sl_resources free;
	bool is_run;			/* the nodes are *run* and no others; unknown where not set */
	struct sl_run run;
	uint32_t class;
	uint32_t units;			/* at most need->cap */
	uint32_t weight;
	uint32_t job[SL_MAX_GRES_NEEDS];	/* gres for the job as a whole, in the order of need->need[needs + i] */
	int64_t key;			/* smaller is taken first; then weight, then key2 */
	uint64_t key2;
};

/* Of an offer, what bestfit reads for each span: there may be as many offers as nodes. */
struct sl_brief {
	uint32_t weight, units;
	int32_t cores;
};

/* Consecutive nodes of one weight, in the sense of bestfit. */
struct sl_set {
	uint32_t span, spans;		/* in space->spans; of a sheet's: none */
	uint32_t first, last;		/* node on offer; the last one of a sheet's set only */
	uint32_t weight;
	uint32_t required;		/* first required node among them, or SL_MAX_NODES */
	uint32_t nodes;
	uint32_t peak;			/* units of its best node */
	int64_t units, cores;
};

struct sl_event {
	int64_t t;
	uint32_t cursor;
};

struct sl_take {		/* what a node could take */
	uint32_t units;
	uint32_t job[SL_MAX_GRES_NEEDS];
};

/* A class on its way through time. */
struct sl_cursor {
	const struct sl_nodeset *nodes;
	uint32_t class, count;		/* of nodes */
	uint32_t step;			/* that holds the time looked at last */
	uint32_t required;		/* required nodes in it */
	uint32_t leaf;			/* contiguous: its first leaf in space->leaf */
	int64_t edge;			/* nothing changes before that */
	struct sl_take now;
};

/* Longest block of consecutive nodes, by nodes and by units. */
struct sl_block {
	uint32_t first, last;		/* nodes spanned; first > last: nothing */
	uint32_t pre, suf, best;	/* nodes */
	int64_t pre_units, suf_units, best_units;
};

/* Sums over offers. */
struct sl_sums {
	int64_t nodes, units;
	int64_t job[SL_MAX_GRES_NEEDS];
	uint32_t required;
};

/* What is on offer below a switch, on nodes of its own and in all. */
struct sl_branch {
	struct sl_sums own, all;
	uint32_t number;		/* of the switch */
	bool taken;
};

/* A block, which is a leaf switch, and its nodes that will do. */
struct sl_lot {
	uint32_t number;		/* of the switch */
	uint32_t size;			/* all its nodes */
	uint32_t nodes, idle, required;
	uint32_t room, taken;		/* segments; without segments nodes */
	bool whole;
};

struct sl_seat {		/* a node that will do */
	uint32_t lot, node, offer, weight;
	bool required;
	int64_t key;
	uint64_t key2;
};

struct sl_space {
	struct sl_offer *offer;
	uint32_t offers, offer_room;
	struct sl_offer *whole;		/* the offers before they were narrowed */
	uint32_t wholes, whole_room, whole_sets;
	uint32_t singles;		/* leaves that have enough, the first in ranked */
	struct sl_branch *branch, *ranked;	/* by switch; those with nodes, the best first */
	uint32_t branch_room, ranked_room;
	struct sl_lot *lot, *open;	/* by switch; those to choose from, in their order */
	struct sl_seat *seat;
	uint32_t lot_room, open_room, seat_room;
	struct sl_nodeset **set;	/* parts of classes */
	uint32_t sets, set_room;
	uint8_t *kind_in;		/* by kind: how it lies to the eligible nodes */
	struct sl_spans spans, required, chosen, sorted;
	struct sl_brief *brief;		/* by offer */
	uint32_t brief_room;
	struct sl_set *cons;		/* bestfit's sets: a heap */
	uint32_t conses, cons_room;
	uint32_t *order;		/* offers: a heap */
	uint32_t ordered, order_room;
	uint32_t *hist;			/* nodes by units */
	uint32_t hist_room, hist_top;	/* highest units in it */
	struct sl_cursor *cursor;
	uint32_t cursors, cursor_room;
	struct sl_event *heap;
	uint32_t heaped, heap_room;
	int64_t reached;		/* where the last sweep ended */
	struct sl_block *tree;
	uint32_t tree_room, leaves;	/* leaves: a power of two */
	uint32_t *leaf;			/* leaves by cursor */
	uint32_t leaf_room;
	struct sl_sheets *sheets;	/* NULL: none yet */
	struct sl_outlook *outlook;	/* NULL: none yet */
	struct sl_shelf own_shelf;	/* of a timeline that shares none */
	struct sl_scoring *own_scoring;	/* of a timeline that was told of none */
	bool knows_most;
	uint32_t most_milli;		/* of GPUs on any node, thousandths */
	uint32_t *asked;		/* offers that a score was asked about, a hash table */
	uint32_t asked_room;
};

/* Say in *m why a request does not fit; *m may be NULL.  Returns 0. */
static inline int sl_refuse(struct sl_misfit *m, enum sl_lack lack, int64_t need, int64_t have)
{
	if (m)
		*m = (struct sl_misfit) { .lack = lack, .need = need, .have = have };
	return 0;
}

/* The same of a request that can never fit.  Returns -1. */
static inline int sl_refuse_for_ever(struct sl_misfit *m, enum sl_lack lack, int64_t need, int64_t have)
{
	sl_refuse(m, lack, need, have);
	if (m)
		m->ever = true;
	return -1;
}

/* The workspace of a timeline, made on first use; NULL with *err. */
struct sl_space *sl_space(struct sl_timeline *tl, struct sl_error *err);

/* -- place_need.c ------------------------------------------------------ */

/* Could a node with that free give anything?  Cheap, and never false when it could. */
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

/* place_devices.c.  What is free of each kind on a node, less what its devices do not give. */
void sl_devices_narrow(const struct sl_devices *d, const struct sl_resources *capacity, const struct sl_resources *free,
		       uint16_t *left);

/* Add to what is *taken* of a node the shares of the devices that this comes to; false when there are none. */
bool sl_devices_take(const struct sl_devices *d, const struct sl_resources *capacity, const struct sl_resources *free,
		     uint16_t *taken);

/*
 * Select takes the first device that has enough when the job starts, whatever is planned of it for later.  From the
 * least that is *free* for as long as the job runs take the devices that it then has no turn at, since it would be
 * given others: *at* is free when it starts.
 */
void sl_devices_in_turn(const struct sl_node_need *need, const struct sl_resources *capacity, const struct sl_resources *at,
			struct sl_resources *free);

static inline void sl_need_in_turn(const struct sl_node_need *need, const struct sl_resources *capacity,
				   const struct sl_resources *at, struct sl_resources *free)
{
	if (need->devices && !need->devices->any && !need->whole && need->needs + need->jobs)
		sl_devices_in_turn(need, capacity, at, free);
}

/* Units that a node with *o->free could take, into o->units and o->job; false: none. */
bool sl_need_offer(const struct sl_node_need *need, const struct sl_resources *capacity, struct sl_offer *o);

/* -- place_gather.c ---------------------------------------------------- */

/* How the eligible nodes lie to the kinds, for sl_eligible(). */
int sl_eligible_begin(struct sl_timeline *tl, const struct sl_need *need, struct sl_error *err);

enum { SL_KIND_OUT, SL_KIND_IN, SL_KIND_PARTLY };	/* space->kind_in */

/* The eligible nodes of a class: NULL and 0 for none; -1 with *err.  The first one for any but kinds that are in. */
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

/* Whether sums could satisfy the need. */
void sl_sums_add(struct sl_sums *s, const struct sl_need *need, uint32_t units, const uint32_t *job,
		 uint32_t nodes, uint32_t required, int sign);
enum sl_lack sl_sums_lack(const struct sl_sums *s, const struct sl_need *need);

/* Fill a misfit from sums. */
void sl_misfit_from(struct sl_misfit *m, const struct sl_need *need, const struct sl_sums *s, enum sl_lack lack);

/*
 * All offers at t, and their sums.  Returns 0; or -1 with *err; or, when *ask*, 1 as
 * soon as the need can be satisfied for certain (then there is no choosing).
 */
int sl_gather(struct sl_timeline *tl, const struct sl_need *need, int64_t t, bool ask, struct sl_sums *sums,
	      struct sl_error *err);

/* A nodeset of the workspace, until the next gathering; NULL with *err. */
struct sl_nodeset *sl_space_set(struct sl_space *sp, struct sl_error *err);

/* Another offer: *o, whose nodes pointer must hold.  -1 with *err. */
int sl_offer_push(struct sl_space *sp, const struct sl_offer *o, struct sl_error *err);

/* The first required node that no offer has, SL_MAX_NODES when there is none. */
uint32_t sl_required_missing(struct sl_timeline *tl, const struct sl_need *need);

/* Histogram of nodes by units, for asking what the best of them hold. */
int sl_hist_clear(struct sl_space *sp, int64_t top, struct sl_error *err);
int64_t sl_hist_best(const struct sl_space *sp, int64_t nodes);

/* -- place_sheet.c, place_sets.c: what the nodes offer now, kept from request to request -- */

/*
 * A sheet of what each node offers to requests that ask of a node what this one does, for as long, as
 * things are now.  NULL where asking the classes is cheaper, where the request needs more than a sheet has,
 * and without *make* where there is none yet.  With one, enough in sum is enough.
 */
struct sl_sheet *sl_sheet_of(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method,
			     bool make);
void sl_sheets_free(struct sl_sheets *ts);

/* The shelf of a timeline that has a workspace; and so many bytes of it for something else that is kept: false
 * where they are too many. */
struct sl_shelf *sl_shelf_of(struct sl_timeline *tl);
bool sl_shelf_claim(struct sl_shelf *shelf, uint64_t bytes);

/* Of all nodes. */
const struct sl_sums *sl_sheet_sums(const struct sl_sheet *t);

/* bestfit's sets of eligible nodes (NULL: all are), in the order of the nodes, into space->cons; and
 * their sums. */
int sl_sheet_sets(struct sl_timeline *tl, const struct sl_sheet *t, const struct sl_nodeset *eligible,
		  struct sl_sums *sums, struct sl_error *err);

/* -- place_choose.c, place_bestfit.c, place_block.c --------------------- */

/*
 * Choose among the offers gathered, which satisfy the need in sum, for a start at
 * t, into space->chosen.  1: chosen, 0: impossible (with *misfit), -1: *err.
 */
int sl_choose(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
	      struct sl_misfit *misfit, struct sl_error *err);

/* The same of a sheet that has enough in sum, for a start now; *scored*: of one for a score. */
int sl_choose_from_sheet(struct sl_timeline *tl, const struct sl_need *need, struct sl_sheet *sheet, bool scored,
			 struct sl_misfit *misfit, struct sl_error *err);

struct sl_picker {
	struct sl_space *sp;
	const struct sl_need *need;
	struct sl_timeline *tl;		/* with a sheet */
	struct sl_sheet *sheet;		/* NULL: all offers are gathered */
	int64_t nodes, units, slots;	/* still wanted, and nodes still allowed */
	int64_t job[SL_MAX_GRES_NEEDS];
	bool look;			/* max_nodes may bind: look ahead */
};

bool sl_picker_done(const struct sl_picker *p);

/* The order in which a method takes the offers gathered, into their keys. */
void sl_rank_offers(const struct sl_timeline *tl, const struct sl_picker *p, enum sl_place_method method, int64_t t);

/* Take as many nodes of the span as the need wants and allows, from its end when
 * *back*; the rest of the span is passed over for good. */
int sl_picker_take(struct sl_picker *p, const struct sl_span *span, bool back, struct sl_error *err);

int sl_choose_bestfit(struct sl_picker *p, struct sl_error *err);
int sl_choose_among_sets(struct sl_picker *p, struct sl_error *err);	/* those in space->cons */

/* The same with all nodes of a sheet, if few sets are enough.  1; 0 if it would take many sets (some may have been taken by
 * then); -1. */
int sl_choose_few_sets(struct sl_picker *p, struct sl_error *err);
int sl_choose_by_score(struct sl_picker *p, struct sl_error *err);	/* nodes of a sheet for a score */
int sl_take_from_sheet(struct sl_picker *p, const struct sl_set *set, struct sl_error *err);
int sl_choose_block(struct sl_space *sp, const struct sl_need *need, struct sl_misfit *misfit,
		    struct sl_error *err);

/* The longest blocks while offers come and go: for a sweep. */
int sl_blocks_begin(struct sl_space *sp, struct sl_error *err);
void sl_blocks_set(struct sl_space *sp, uint32_t cursor, uint32_t units);
bool sl_blocks_plausible(const struct sl_space *sp, const struct sl_need *need);

/* -- place_score.c ------------------------------------------------------ */

/*
 * Put the offers gathered in the order of their scores: into key2, smaller is better.  Offers that the score refuses, or whose
 * score is below need->least_score, go.  1; 0: there are not enough any more (with *misfit); -1 with *err.
 */
int sl_rank_by_score(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
		     struct sl_misfit *misfit, struct sl_error *err);

/* -- place_tree.c ------------------------------------------------------ */

/*
 * Narrow the offers gathered to nodes below the lowest switch that will do (place.h).  1; 0 where
 * none does, or that leaves all of them; -1 with *err.  sl_widen() takes that back.
 */
int sl_narrow(struct sl_timeline *tl, const struct sl_need *need, struct sl_error *err);
void sl_widen(struct sl_space *sp);

/*
 * Narrow the offers to the *n*th set of leaves to try, as many as the request allows: single ones that
 * have enough, the one with the fewest nodes first, then several.  1; 0 where there is none
 * any more; -1 with *err.  From 0 on, until it is 0, without sl_widen() between.
 */
int sl_narrow_to_leaves(struct sl_timeline *tl, const struct sl_need *need, uint32_t n, struct sl_error *err);

/* The weight of offers up to which they will do, all over the machine. */
uint32_t sl_heaviest(const struct sl_space *sp, const struct sl_need *need);

/* Leaves that the nodes are below, a node that is below none counted as one. */
uint32_t sl_tree_leaves(const struct sl_tree *tree, const struct sl_nodeset *nodes);

/* True if each leaf has a multiple of *segment* of the nodes, none of which is below no leaf. */
bool sl_tree_has_segments(const struct sl_tree *tree, const struct sl_nodeset *nodes, uint32_t segment);

/* -- place_segments.c --------------------------------------------------- */

/* Choose among the offers gathered in blocks, in whole segments if need->segment (place.h), as sl_choose() does. */
int sl_choose_in_blocks(struct sl_timeline *tl, const struct sl_need *need, int64_t t, struct sl_misfit *misfit,
			struct sl_error *err);

/* -- place_deal.c ------------------------------------------------------ */

/* What the next of *nodes* takes of a *rest*, between *least* and *most*: all it can, while *kept*
 * are left for each of the others. */
int64_t sl_share(int64_t rest, int64_t nodes, int64_t kept, int64_t least, int64_t most);

/* -- place_explicit.c -------------------------------------------------- */

/* The nodes that *how* picks, at the first instant from *from* to *latest* at which they do: *start (may be NULL).  Returns as
 * sl_fit_earliest() does. */
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
