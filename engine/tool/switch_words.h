/* SPDX-License-Identifier: MIT */
/*
 * switch_words.h - what becomes of each word of Slurm's SchedulerParameters under sched/lua.
 *
 * Threads: safe; no state.
 */
#ifndef SL_SWITCH_WORDS_H
#define SL_SWITCH_WORDS_H

#include <stddef.h>

enum sl_switch_fate {
	SL_SWITCH_UNKNOWN,	/* no word of any release from 22.05 to 26.05 */
	SL_SWITCH_STAYS,	/* slurmctld's own: it stays in slurm.conf */
	SL_SWITCH_OPTION,	/* an option of the policy, of the same name without "bf_" */
	SL_SWITCH_ELSE,		/* it goes; *why* says what takes its place */
};

/* Of a word with or without its "=value"; *why* is a sentence for SL_SWITCH_OPTION and SL_SWITCH_ELSE. */
enum sl_switch_fate sl_switch_fate(const char *word, const char **why);

/* The words of SL_SWITCH_OPTION by number, with "bf_"; NULL behind the last. */
const char *sl_switch_option(size_t n);

/* The known word that is nearest; NULL where none is near. */
const char *sl_switch_nearest(const char *word);

#endif
