/* SPDX-License-Identifier: MIT */
/* place_sheet.h - the inside of sheets, for place_sheet.c, which explains them, and place_sets.c. */
#ifndef SL_PLACE_SHEET_H
#define SL_PLACE_SHEET_H

#include "timeline/score_impl.h"

#define SL_WORD 64		/* nodes in a word, one bit each; also words in a chapter */

/* Over all sets of consecutive nodes that begin in a word or chapter: the fewest cores and the most units of a set. */
struct sl_extremes {
	int64_t cores, units;
};

struct sl_word {
	uint64_t offers;		/* bit i: node i of the word can take something */
	uint32_t units, cores;		/* sums over its nodes */
	struct sl_extremes begins;	/* invalid if the word is stale */
};

/* What a node offers; units 0: nothing.  In a sheet for a score, *cores* is the rank of the node by score: smaller is
 * better (sl_sheet_key()). */
struct sl_amount {
	uint16_t units, cores;
};

struct sl_sheet {
	struct sl_node_need need;
	enum sl_place_method method;	/* bestfit, or a bundled score */
	struct sl_word *word;
	struct sl_amount *node;
	struct sl_extremes *chapter;	/* extremes over the words of each chapter */
	uint64_t *stale;		/* bit per word: *begins* has to be computed again */
	int64_t end, after, until;	/* end of the request it was updated for; it holds for ends in (after, until] */
	uint64_t read;			/* number of timeline changes that it includes */
	uint64_t used;
	struct sl_sums sums;
};

#define SL_MOST_SHEETS 256

/* Sort key: low weight first, then the best score. */
#define SL_MOST_RANKS (UINT16_MAX / (SL_SCORE_BEST + 1) - 1)
static inline uint16_t sl_sheet_key(uint32_t rank, uint32_t score)
{
	return (uint16_t) (rank * (SL_SCORE_BEST + 1) + SL_SCORE_BEST - score);
}

struct sl_sheets {
	uint64_t hash[SL_MOST_SHEETS];
	struct sl_sheet sheet[SL_MOST_SHEETS];
	uint32_t count;
	uint32_t words, chapters;	/* number of words and chapters in each sheet */
	uint64_t uses;
	struct sl_shelf *shelf;
	struct sl_sheets *next;		/* next in the shelf's list */
	uint64_t bytes, bytes_each;	/* of the shared arrays; of each sheet */
	uint32_t credit;		/* sheets that may still be filled: each use of an existing sheet earns one */
	bool bordered;			/* *border* has been filled */
	uint64_t *border;		/* bit per node: its weight differs from that of the node before */
	uint32_t *weight;		/* [node] */
	uint16_t *rank;			/* [kind] rank of its weight; NULL: too many different weights for sheets by score */
	struct sl_scorer scorer;	/* the scorer in use */
	uint32_t *due, dues;		/* classes to be looked at again, as positions in tl->live */
	int64_t after, until;		/* *due* is valid for request ends between these */
};

/* The offer of this node has changed: mark its word and chapter stale. */
void sl_sheet_spoil(struct sl_sheet *t, const struct sl_sheets *ts, uint32_t node);

/* Let the picker take the nodes first..last of one class, as an offer made from the sheet.  0, or -1 with *err. */
int sl_take_nodes(struct sl_picker *p, uint32_t first, uint32_t last, struct sl_error *err);

#endif
