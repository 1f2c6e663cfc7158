/* SPDX-License-Identifier: MIT */
/*
 * gres_word.h - a word of a list of generic resources, as slurm.conf, scontrol and sacct have it:
 * "gpu:a100:4(S:0-1)", "gpu:2", "nic", "bandwidth:lustre:no_consume:4G".
 *
 * As _get_gres_cnt() in src/common/gres.c (22.05) and src/interfaces/gres.c have it: behind the name a type, no_consume,
 * and last a number, each of which may be missing; in parentheses, which do not count, the sockets.
 *
 * Threads: safe; no state.
 */
#ifndef SL_GRES_WORD_H
#define SL_GRES_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_GRES_MOST (UINT64_C(1) << 60)	/* of a resource: no sum of a few overflows */

struct sl_gres_word {
	char name[64], type[64];	/* type "": not said */
	uint64_t count;			/* 1 where none is said */
	bool no_consume;
};

/* False for what is no such word: two types, a suffix that is none, names of more than 63 bytes. */
bool sl_gres_word(const char *text, size_t length, struct sl_gres_word *w);

/* The length of the first word of a list: to a comma outside of parentheses, which "(S:0,1)" has too. */
size_t sl_gres_word_length(const char *text);

/* A number with a suffix, as suffix_mult() in src/common/slurm_protocol_defs.c: K and KiB are 1024, KB is 1000. */
bool sl_gres_count(const char *text, uint64_t *n);

#endif
