/* SPDX-License-Identifier: MIT */
/*
 * timeline/impl.h - the inside of a timeline, for timeline*.c and place*.c only.
 *
 * Classes are hash-consed: at most one class has a given kind and step function, and a class never changes these.  A booking
 * therefore moves nodes from class to class.  The undo log is a list of moves, so a rollback needs no arithmetic.  A class
 * that the log refers to stays in the table even without nodes (it is pinned).
 *
 * The step function of a class: step[0] holds from the beginning of time to step[1].t, the last step without end.  Times
 * ascend, neighbouring steps differ, and step[1].t is after now (sl_timeline_advance() ensures that).
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
	int64_t t;			/* the step begins */
	struct sl_resources free;	/* capacity minus bookings, even where the nodes are blocked */
	uint32_t blocks;		/* number of blocks that overlap here */
};

struct sl_node_class {			/* nodes of one kind with one step function */
	struct sl_nodeset nodes;
	struct sl_step *step;
	uint32_t steps, room;
	uint32_t kind;
	bool rising;			/* free resources never decrease from step to step, and no step is blocked */
	bool turned;			/* its number is in tl->turned */
	struct sl_resources now_free;	/* free now; all 0 if blocked */
	int64_t next;			/* step[1].t, or SL_FOREVER */
	int64_t steady;			/* what is free does not decrease before this time */
	struct sl_resources least;	/* minimum over all time; all 0 if any step is blocked */
	int64_t ebb;			/* begin of the last step at which some amount reaches a new minimum */
	uint64_t hash;
	uint32_t chain;			/* next class in the hash bucket, or in the free list */
	uint32_t live;			/* position in tl->live; SL_NO_CLASS: no nodes */
	uint32_t pins;			/* entries of the undo log that refer to it */
	uint32_t touched;		/* position in tl->touch during an operation, else SL_NO_CLASS */
};

struct sl_move {
	uint32_t from, to;
	uint32_t run, runs;		/* in tl->log_run */
	uint32_t count;
	int64_t since;			/* from this time on the nodes have other amounts free than before */
};

struct sl_touch {			/* nodes of one class that an operation changes */
	uint32_t class, to;
	struct sl_nodeset nodes;
};

struct sl_change {			/* what an operation does to a step function */
	struct sl_resources each;
	int sign;			/* -1: book *each*; +1: unbook it; 0: neither */
	int block;			/* +1: block; -1: unblock; 0: neither */
	bool beneath;			/* books on blocked nodes, too */
	int64_t t0, t1;			/* t0 is SL_DAWN for now */
};

/* The fields of a class that most queries read, in one array.  There can be as many classes as nodes. */
struct sl_live {
	uint32_t class, kind;
	uint32_t nodes, runs;		/* numbers */
	struct sl_run run;		/* the first run of its nodes */
	struct sl_resources free;	/* now_free of the class; the rest likewise */
	int64_t next;
	struct sl_resources least;
};

struct sl_fall {			/* fields of a class that a scan over all classes reads */
	int64_t steady, ebb;		/* of the class: free decreases after *steady*, and no more after *ebb* */
	int32_t cores;			/* free now */
};

struct sl_changed {			/* nodes whose free amounts changed from *since* on */
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
	struct sl_effort *effort;	/* likewise; NULL: work is not counted */
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
	uint32_t buckets, hashed;	/* buckets: a power of two; hashed: classes in the table */

	/* summary of what is free now */
	uint32_t full_nodes;		/* nodes without a free core */
	uint32_t least_cores, most_cores;	/* of the smallest and of the largest kind */
	int64_t free_cores;
	uint32_t idle_nodes;
	int64_t watched, watched_cores;	/* sl_timeline_cores_at(): time (SL_DAWN: none) and free cores then */
	int64_t next;			/* lower bound of the first step of any class */
	uint64_t moment;		/* counts changes of any kind */

	/* undo */
	struct sl_move *log;
	uint32_t logged, log_room;
	struct sl_run *log_run;
	uint32_t log_runs, log_run_room;
	struct sl_mark {
		uint32_t logged;
		uint64_t changes;	/* number of changes noted before the mark, dropped ones included */
	} mark[SL_OPEN_MARKS + 1];	/* the last one is for sl_timeline_inner_mark() */
	uint32_t marks;

	/* Nodes that changed class, or whose class changed.  place_sheet.c reads this list to update its sheets.  Changes
	 * are numbered from the first one ever noted.  The list has lost those before *changes_dropped*; *changes_read* is
	 * the position of the sheet that was updated last. */
	bool notes_changes;
	struct sl_changed *change;
	uint32_t changes, change_room;
	uint64_t changes_dropped, changes_read;

	/* Classes whose node set changed, until place_outlook.c has read them. */
	bool notes_turns;
	uint32_t *turned;		/* has room for all classes */
	uint32_t turns;

	/* working memory */
	struct sl_touch *touch;
	uint32_t touches, touch_room;
	struct sl_step *step;		/* the step function that is being built */
	uint32_t step_room;
	struct sl_class *view;
	struct sl_nodeset *view_set;
	uint32_t view_room;

	/* workspace of placement (place_impl.h) */
	void *space;
	void (*space_free)(void *space);
};

/* A mark beyond the SL_OPEN_MARKS that callers may have open.  The caller closes it before anybody opens another mark. */
static inline uint32_t sl_timeline_inner_mark(struct sl_timeline *tl)
{
	tl->mark[tl->marks] = (struct sl_mark) { tl->logged, tl->changes_dropped + tl->changes };
	return tl->marks++;
}

/* -- timeline/class.c -------------------------------------------------- */

/* The class with this kind and step function, created if necessary; SL_NO_CLASS with *err.  A new class has no nodes: give
 * it some or drop it. */
uint32_t sl_node_class_intern(struct sl_timeline *tl, uint32_t kind, const struct sl_step *step, uint32_t steps,
			      struct sl_error *err);

/* Remove a class if it has no nodes and is not pinned. */
void sl_node_class_drop(struct sl_timeline *tl, uint32_t id);

/* Move nodes to another class, which differs from the first one from *since* on, and log the move.  On failure nothing has
 * changed. */
int sl_node_class_move(struct sl_timeline *tl, uint32_t from, uint32_t to, const struct sl_nodeset *set,
		       int64_t since, struct sl_error *err);

/* Note that the free amounts of these nodes changed from *since* on.  Called for every change; a rollback calls it itself. */
void sl_note_changes(struct sl_timeline *tl, const struct sl_nodeset *set, int64_t since);

/* Undo the log down to its first *moves* entries, or forget all of it. */
void sl_node_class_undo(struct sl_timeline *tl, uint32_t moves);
void sl_node_class_forget(struct sl_timeline *tl);

/* Put nodes into a class without logging; for sl_timeline_create(). */
int sl_node_class_fill(struct sl_timeline *tl, uint32_t id, const struct sl_nodeset *set, struct sl_error *err);

/* Drop the past steps of a class once its next step has begun, and merge it with a class that is equal then.  The undo log
 * must be empty.  Returns 0, or -1 with *err. */
int sl_node_class_age(struct sl_timeline *tl, uint32_t id, struct sl_error *err);

void sl_node_class_free_all(struct sl_timeline *tl);

bool sl_step_equal(const struct sl_step *a, const struct sl_step *b);	/* compares all but the times */

/* -- timeline/step.c --------------------------------------------------- */

/* Number of the step that contains t. */
uint32_t sl_step_at(const struct sl_node_class *g, int64_t t);

/* Cores free at t. */
static inline int64_t sl_step_cores(const struct sl_node_class *g, int64_t t)
{
	const struct sl_step *s = &g->step[t < g->next ? 0 : sl_step_at(g, t)];

	return s->blocks ? 0 : s->free.cores;
}

/* Minimum of what is free over [t0, t1).  False, with all amounts 0, if the class is blocked at some time. */
bool sl_step_min(const struct sl_node_class *g, int64_t t0, int64_t t1, struct sl_resources *least);

/* The same over [t0, t1) for some t0 within step *i*. */
bool sl_step_min_from(const struct sl_node_class *g, uint32_t i, int64_t t1, struct sl_resources *least);

/* The same over [now, t1) for the class tl->live[i]; false also if no core is free. */
static inline bool sl_live_min(const struct sl_timeline *tl, uint32_t i, int64_t t1, struct sl_resources *least)
{
	const struct sl_live *l = &tl->live[i];
	const struct sl_fall *f = &tl->fall[i];

	if (t1 > f->steady && t1 <= f->ebb)
		return sl_step_min(&tl->class[l->class], tl->now, t1, least);
	*least = t1 <= f->steady ? l->free : l->least;
	return least->cores > 0;
}

/* 0 if the change can be made to this class; -1 with *err, which names the node. */
int sl_step_check(const struct sl_timeline *tl, const struct sl_node_class *g, const struct sl_change *ch,
		  uint32_t node, struct sl_error *err);

/* Build the changed step function in tl->step.  Returns the number of steps, or 0 with *err. */
uint32_t sl_step_change(struct sl_timeline *tl, const struct sl_node_class *g, const struct sl_change *ch,
			struct sl_error *err);

#endif
