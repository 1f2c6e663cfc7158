/* SPDX-License-Identifier: MIT */
/*
 * timeline/impl.h - the inside of a timeline, for timeline*.c and place*.c only.
 *
 * Classes are hash-consed: (kind, step function) names at most one of them, and
 * that never changes while the class lives.  What happens to nodes is that they
 * move from class to class.  So the undo log is a list of moves, and taking them
 * back needs no arithmetic; a class that the log names stays in the table, empty
 * if need be (it is pinned).
 *
 * The step function of a class: step[0] reaches from the dawn of time to
 * step[1].t, the last one to its end; times ascend, neighbours differ, and
 * step[1].t is after now (sl_timeline_advance() sees to that).
 *
 * Ownership and threads: as in timeline.h.
 */
#ifndef SL_TIMELINE_IMPL_H
#define SL_TIMELINE_IMPL_H

#include "base/grow.h"
#include "timeline/timeline.h"

#define SL_DAWN INT64_MIN
#define SL_NO_CLASS UINT32_MAX

struct sl_step {
	int64_t t;			/* from here on */
	struct sl_resources free;	/* capacity less bookings, blocked or not */
	uint32_t blocks;		/* how many blocks stand */
};

struct sl_node_class {			/* nodes of one kind with one step function */
	struct sl_nodeset nodes;
	struct sl_step *step;
	uint32_t steps, room;
	uint32_t kind;
	bool rising;			/* no step has less free than the one before, none is blocked */
	bool turned;			/* it is in tl->turned */
	struct sl_resources now_free;	/* nothing when blocked */
	int64_t next;			/* step[1].t, or SL_FOREVER */
	int64_t steady;			/* no less is free before that than now */
	struct sl_resources least;	/* over all time; nothing where it is blocked ever */
	int64_t ebb;			/* begin of the last step at which some amount is at a new minimum */
	uint64_t hash;
	uint32_t chain;			/* next in its bucket, or in the free list */
	uint32_t live;			/* its place in tl->live, SL_NO_CLASS when empty */
	uint32_t pins;			/* entries of the log that name it */
	uint32_t touched;		/* its place in tl->touch during an operation, else SL_NO_CLASS */
};

struct sl_move {
	uint32_t from, to;
	uint32_t run, runs;		/* in tl->log_run */
	uint32_t count;
	int64_t since;			/* from then on other amounts are free on the nodes than before the move */
};

struct sl_touch {			/* nodes of one class that an operation takes in */
	uint32_t class, to;
	struct sl_nodeset nodes;
};

struct sl_change {			/* what an operation does to a step function */
	struct sl_resources each;
	int sign;			/* of each: -1 book, +1 unbook, 0 none */
	int block;			/* +1, -1 or 0 */
	bool beneath;			/* books where blocks stand, too */
	int64_t t0, t1;			/* t0 is SL_DAWN for now */
};

/* What most questions about a class with nodes ask, side by side: there may be as many classes as nodes. */
struct sl_live {
	uint32_t class, kind;
	uint32_t nodes, runs;		/* how many */
	struct sl_run run;		/* of nodes, the first */
	struct sl_resources free;	/* now_free, and so on, of the class */
	int64_t next;
	struct sl_resources least;
};

struct sl_fall {			/* of a class, what those ask who go through all for the sake of few */
	int64_t steady, ebb;		/* less is free from the one on, and from the other on no less than that */
	int32_t cores;			/* free now */
};

struct sl_changed {			/* nodes, of which other amounts are free from then on */
	struct sl_run run;
	int64_t since;
};

struct sl_timeline {
	int64_t now;
	uint32_t nodes;
	struct sl_node_kind *kind;
	struct sl_nodeset *kind_nodes;	/* by kind */
	uint32_t kinds;
	uint32_t *class_of;		/* by node */
	const struct sl_tree *tree;	/* borrowed; NULL: none */
	struct sl_shelf *shelf;		/* likewise */
	struct sl_effort *effort;	/* likewise; NULL: nobody counts */
	const struct sl_devices *devices;	/* likewise */
	struct sl_scoring *scoring;	/* likewise */
	bool late_as_now;		/* sl_timeline_late_as_now() */

	struct sl_node_class *class;
	uint32_t classes;		/* ever used */
	uint32_t spare;			/* free list */
	struct sl_live *live;		/* classes with nodes, in no order */
	struct sl_fall *fall;		/* of each of them */
	uint32_t lives;
	uint32_t *bucket;
	uint32_t buckets, hashed;	/* a power of two; classes in the table */

	/* what is free now */
	uint32_t full_nodes;		/* no core of them */
	uint32_t least_cores, most_cores;	/* of any kind */
	int64_t free_cores;
	uint32_t idle_nodes;
	int64_t watched, watched_cores;	/* an instant, SL_DAWN: none; cores free then */
	int64_t next;			/* no class has a step before it; may be too early */
	uint64_t moment;		/* counts changes of any kind */

	/* undo */
	struct sl_move *log;
	uint32_t logged, log_room;
	struct sl_run *log_run;
	uint32_t log_runs, log_run_room;
	struct sl_mark {
		uint32_t logged;
		uint64_t changes;	/* noted before, those dropped too */
	} mark[SL_OPEN_MARKS + 1];	/* the last one is inner */
	uint32_t marks;

	/* Nodes that went to another class, or whose class changed: by this list sheets are brought up to date
	 * (place_sheet.c).  A change is numbered from the first that was ever noted.  Those before *changes_dropped*
	 * have left the list; *changes_read* is where the sheet that was brought up to date last stands. */
	bool notes_changes;
	struct sl_changed *change;
	uint32_t changes, change_room;
	uint64_t changes_dropped, changes_read;

	/* Classes that have other nodes, or none any more, until somebody has read them. */
	bool notes_turns;
	uint32_t *turned;		/* there is room for all classes */
	uint32_t turns;

	/* working memory */
	struct sl_touch *touch;
	uint32_t touches, touch_room;
	struct sl_step *step;		/* a step function being made */
	uint32_t step_room;
	struct sl_class *view;
	struct sl_nodeset *view_set;
	uint32_t view_room;

	/* place.c's */
	void *space;
	void (*space_free)(void *space);
};

/* A mark that is there even when all that callers may have are open.  It is closed
 * before a caller gets to open another. */
static inline uint32_t sl_timeline_inner_mark(struct sl_timeline *tl)
{
	tl->mark[tl->marks] = (struct sl_mark) { tl->logged, tl->changes_dropped + tl->changes };
	return tl->marks++;
}

/* -- timeline/class.c -------------------------------------------------- */

/* The class of a kind with that step function, made if there is none; SL_NO_CLASS
 * with *err.  A new one is empty and must get nodes or be dropped. */
uint32_t sl_node_class_intern(struct sl_timeline *tl, uint32_t kind, const struct sl_step *step, uint32_t steps,
			      struct sl_error *err);

/* Forget a class that is empty and not pinned; others stay. */
void sl_node_class_drop(struct sl_timeline *tl, uint32_t id);

/* Move nodes from one class to another, which differs from the time *since* on, and log it.  On failure nothing
 * happened. */
int sl_node_class_move(struct sl_timeline *tl, uint32_t from, uint32_t to, const struct sl_nodeset *set,
		       int64_t since, struct sl_error *err);

/* Note that other amounts are free of nodes from then on: who changes them does, undoing itself. */
void sl_note_changes(struct sl_timeline *tl, const struct sl_nodeset *set, int64_t since);

/* Undo the log down to its first *moves* entries, or forget all of it. */
void sl_node_class_undo(struct sl_timeline *tl, uint32_t moves);
void sl_node_class_forget(struct sl_timeline *tl);

/* Put nodes into a class without a log: sl_timeline_create(). */
int sl_node_class_fill(struct sl_timeline *tl, uint32_t id, const struct sl_nodeset *set, struct sl_error *err);

/* Drop the steps before now of a class that has reached its next one, and merge it
 * into an equal one if there is.  The log is empty.  Returns 0, or -1 with *err. */
int sl_node_class_age(struct sl_timeline *tl, uint32_t id, struct sl_error *err);

void sl_node_class_free_all(struct sl_timeline *tl);

bool sl_step_equal(const struct sl_step *a, const struct sl_step *b);	/* but for their times */

/* -- timeline/step.c --------------------------------------------------- */

/* Number of the step that holds t. */
uint32_t sl_step_at(const struct sl_node_class *g, int64_t t);

/* Cores free at t. */
static inline int64_t sl_step_cores(const struct sl_node_class *g, int64_t t)
{
	const struct sl_step *s = &g->step[t < g->next ? 0 : sl_step_at(g, t)];

	return s->blocks ? 0 : s->free.cores;
}

/* Least free over [t0, t1); false (and nothing free) when blocked somewhere. */
bool sl_step_min(const struct sl_node_class *g, int64_t t0, int64_t t1, struct sl_resources *least);

/* The same from some time within step *i* on. */
bool sl_step_min_from(const struct sl_node_class *g, uint32_t i, int64_t t1, struct sl_resources *least);

/* The same from now on, of the class that is number *i* of those with nodes; false also without a core. */
static inline bool sl_live_min(const struct sl_timeline *tl, uint32_t i, int64_t t1, struct sl_resources *least)
{
	const struct sl_live *l = &tl->live[i];
	const struct sl_fall *f = &tl->fall[i];

	if (t1 > f->steady && t1 <= f->ebb)
		return sl_step_min(&tl->class[l->class], tl->now, t1, least);
	*least = t1 <= f->steady ? l->free : l->least;
	return least->cores > 0;
}

/* May the change be made to this class?  0, or -1 with *err naming the node. */
int sl_step_check(const struct sl_timeline *tl, const struct sl_node_class *g, const struct sl_change *ch,
		  uint32_t node, struct sl_error *err);

/* Make the changed step function in tl->step.  Its number of steps, 0 with *err. */
uint32_t sl_step_change(struct sl_timeline *tl, const struct sl_node_class *g, const struct sl_change *ch,
			struct sl_error *err);

#endif
