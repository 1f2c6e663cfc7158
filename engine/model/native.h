/* SPDX-License-Identifier: MIT */
/*
 * native.h - the words of a request (image/words.h): what a pending job asks for, and in what circumstances.
 *
 * The test of each word stands in native.c; circumstances that are sums are added by the piece of want*.c that does
 * them.  A job is native, that is, left to Slurm's select, if sl_words_left() says so of all of them.
 */
#ifndef SL_NATIVE_H
#define SL_NATIVE_H

#include "image/words.h"

struct sl_cluster;
struct sl_ask;
struct sl_entry;
struct want;

/* Words of the nodes of an entry, once they are measured; they are kept in struct part. */
sl_word_set want_node_words(const struct sl_cluster *c, const struct sl_entry *e);

/* Words of the entry of *w*, read into *a*; it is known by then whether it has whole nodes. */
sl_word_set want_words(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a);

#endif
