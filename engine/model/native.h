/* SPDX-License-Identifier: MIT */
/*
 * native.h - the words of a request (image/words.h): what a pending job asks for, and in which circumstances.
 *
 * Each word has a test in native.c; words for circumstances that need a sum are added by the part of want*.c that computes
 * it.  A job is native, that is, left to Slurm's select, if sl_words_left() returns any of its words.
 */
#ifndef SL_NATIVE_H
#define SL_NATIVE_H

#include "image/words.h"

struct sl_cluster;
struct sl_ask;
struct sl_entry;
struct want;

/* Words that depend only on the nodes of the entry; kept in struct part. */
sl_word_set want_node_words(const struct sl_cluster *c, const struct sl_entry *e);

/* Words of the entry of *w*, whose request is *a*.  Whether it has whole nodes must be known. */
sl_word_set want_words(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a);

#endif
