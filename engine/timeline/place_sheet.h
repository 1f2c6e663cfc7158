/* SPDX-License-Identifier: MIT */
/*
 * place_sheet.h - the inside of sheets (place_sheet.c, which says what they are), for these and for those who
 * look for sets in them (place_sets.c).
 */
#ifndef SL_PLACE_SHEET_H
#define SL_PLACE_SHEET_H

#include "timeline/score_impl.h"

#define SL_WORD 64		/* nodes, of which each has a bit; and words in a chapter */

/* Of the sets of consecutive nodes that begin somewhere: the fewest cores, the most units. */
struct sl_extremes {
	int64_t cores, units;
};

struct sl_word {
	uint64_t offers;		/* bit i: node i of the word does */
	uint32_t units, cores;		/* of all of them */
	struct sl_extremes begins;	/* unless it is stale */
};

/* 0 units: it offers nothing.  Of a sheet for a score *cores* is the place in that order: smaller is better (sl_sheet_key()). */
struct sl_amount {
	uint16_t units, cores;
};

struct sl_sheet {
	struct sl_node_need need;
	enum sl_place_method method;	/* bestfit, or a bundled score */
	struct sl_word *word;
	struct sl_amount *node;
	struct sl_extremes *chapter;	/* of the words in it */
	uint64_t *stale;		/* bits: words whose *begins* no longer holds */
	int64_t end, after, until;	/* of the request it was mended for; ends that it holds for */
	uint64_t read;			/* changes of the timeline */
	uint64_t used;
	struct sl_sums sums;
};

#define SL_MOST_SHEETS 256

/* Nodes of low weight before others, of equal weight the best score. */
#define SL_MOST_RANKS (UINT16_MAX / (SL_SCORE_BEST + 1) - 1)
static inline uint16_t sl_sheet_key(uint32_t rank, uint32_t score)
{
	return (uint16_t) (rank * (SL_SCORE_BEST + 1) + SL_SCORE_BEST - score);
}

struct sl_sheets {
	uint64_t hash[SL_MOST_SHEETS];
	struct sl_sheet sheet[SL_MOST_SHEETS];
	uint32_t count;
	uint32_t words, chapters;	/* of each */
	uint64_t uses;
	struct sl_shelf *shelf;
	struct sl_sheets *next;		/* on the shelf */
	uint64_t bytes, bytes_each;	/* beside the sheets, and of each */
	uint32_t credit;		/* sheets that may be filled yet: each use of one that is there earns one */
	bool bordered;			/* there are borders */
	uint64_t *border;		/* bits: nodes of another weight than the one before */
	uint32_t *weight;		/* by node */
	uint16_t *rank;			/* by kind, of its weight; NULL: there are too many different weights for scores */
	struct sl_scorer scorer;	/* that is asked now */
	uint32_t *due, dues;		/* classes to be asked again, by their place among those with nodes */
	int64_t after, until;		/* of ends between which that is so */
};

/* The node's offer has changed: mark its words and chapters, whose sets of consecutive nodes have to be worked out anew. */
void sl_sheet_spoil(struct sl_sheet *t, const struct sl_sheets *ts, uint32_t node);

/* Let the picker take nodes first..last, all of one class, as one more offer made from the sheet.  0, or -1 with *err. */
int sl_take_nodes(struct sl_picker *p, uint32_t first, uint32_t last, struct sl_error *err);

#endif
