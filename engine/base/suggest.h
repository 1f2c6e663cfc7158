/* SPDX-License-Identifier: MIT */
/*
 * suggest.h - "did you mean": the known word that is nearest to a misspelt one, by the rule
 * of sched.suggest.
 *
 *	struct sl_nearest n = { .word = "chek" };
 *	for each known word: sl_nearest_try(&n, known);
 *	n.best is "check", or NULL where none is near
 *
 * Ownership: the caller's strings.  Threads: none.
 */
#ifndef SL_SUGGEST_H
#define SL_SUGGEST_H

#include <stddef.h>

struct sl_nearest {
	const char *word;	/* of which the first 63 bytes are looked at */
	const char *best;
	size_t distance;
};

void sl_nearest_try(struct sl_nearest *n, const char *known);

#endif
