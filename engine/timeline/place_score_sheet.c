/* SPDX-License-Identifier: MIT */
/*
 * place_score_sheet.c - choosing nodes by score from a sheet.
 *
 * Each word of 64 nodes and each chapter of 64 words keeps the best sort key (sl_sheet_key()) of its nodes.  Nodes with equal
 * keys form a level, within which they are taken by index.  Most jobs have one node: the first of the best level.
 */
#include "timeline/place_sheet.h"

#define NO_LEVEL INT64_MAX

static int64_t best_in_word(const struct sl_sheet *t, uint32_t word)
{
	int64_t best = NO_LEVEL;

	for (uint64_t bits = t->word[word].offers; bits; bits &= bits - 1) {
		uint16_t key = t->node[word * SL_WORD + (uint32_t) __builtin_ctzll(bits)].cores;

		best = key < best ? key : best;
	}
	return best;
}

static void look_again(struct sl_sheet *t, const struct sl_sheets *ts)
{
	for (uint32_t c = 0; c < ts->chapters; c++) {
		uint32_t first = c * SL_WORD, words = ts->words - first < SL_WORD ? ts->words - first : SL_WORD;

		if (!t->stale[c])
			continue;
		t->chapter[c].cores = NO_LEVEL;
		for (uint32_t w = first; w < first + words; w++) {
			if (t->stale[c] >> (w - first) & 1)
				t->word[w].begins.cores = best_in_word(t, w);
			if (t->word[w].begins.cores < t->chapter[c].cores)
				t->chapter[c].cores = t->word[w].begins.cores;
		}
		t->stale[c] = 0;
	}
}

/* The first node of the run from *n* on whose key is in (above, most]; a node beyond the run if there is none. */
static uint32_t next_between(const struct sl_sheet *t, uint32_t n, uint32_t last, int64_t above, int64_t most)
{
	while (n <= last) {
		if (t->chapter[n / SL_WORD / SL_WORD].cores > most) {
			n = (n / SL_WORD / SL_WORD + 1) * SL_WORD * SL_WORD;
		} else if (t->word[n / SL_WORD].begins.cores > most) {
			n = (n / SL_WORD + 1) * SL_WORD;
		} else {
			if (t->node[n].units && t->node[n].cores > above && t->node[n].cores <= most)
				return n;
			n++;
		}
	}
	return n;
}

/* The best key above *above* among the nodes of the runs. */
static int64_t next_level(const struct sl_sheet *t, const struct sl_run *run, uint32_t runs, int64_t above)
{
	int64_t best = NO_LEVEL;

	for (uint32_t r = 0; r < runs; r++)
		for (uint32_t n = run[r].first; (n = next_between(t, n, run[r].last, above, best - 1)) <= run[r].last; n++)
			best = t->node[n].cores;
	return best;
}

static int take_level(struct sl_picker *p, const struct sl_run *run, int64_t level, struct sl_error *err)
{
	const struct sl_sheet *t = p->sheet;

	for (uint32_t n = run->first; (n = next_between(t, n, run->last, level - 1, level)) <= run->last; n++)
		if (sl_picker_done(p) || sl_take_nodes(p, n, n, err))
			return sl_picker_done(p) ? 0 : -1;
	return 0;
}

int sl_choose_by_score(struct sl_picker *p, struct sl_error *err)
{
	const struct sl_nodeset *eligible = p->need->r->eligible;
	const struct sl_run all = { 0, p->tl->nodes - 1 };
	bool any = !eligible || eligible->count == p->tl->nodes;
	const struct sl_run *run = any ? &all : eligible->run;
	uint32_t runs = any ? 1 : eligible->runs;
	int64_t level = -1;

	look_again(p->sheet, p->sp->sheets);
	while (!sl_picker_done(p) && p->slots > 0) {
		if (sl_effort_spend(p->tl->effort, p->sp->sheets->words, err))
			return -1;
		level = next_level(p->sheet, run, runs, level);
		if (level == NO_LEVEL)
			break;
		for (uint32_t r = 0; r < runs && !sl_picker_done(p); r++)
			if (take_level(p, &run[r], level, err))
				return -1;
	}
	return 0;
}
