/* SPDX-License-Identifier: MIT */
/*
 * nodelist.h - node lists as people write them: "n[1-4,7],rack[0-3]gpu[01-08]".
 *
 * The form is Slurm's hostlist (hostlist_create() in src/common/hostlist.c): any number of
 * brackets in a name, of which the last one runs fastest; names are separated by commas or
 * blanks, of which there may be several in a row, and at either end of the list.  Beyond that a
 * name may go on behind its last bracket.  Lists keep the order of the nodes.  Ownership: what is returned is the caller's.
 */
#ifndef SL_NODELIST_H
#define SL_NODELIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The list of n names, neighbours joined: malloc'ed, or NULL with *err when there
 * is no memory.  No names: the empty string.
 */
char *sl_nodelist_join(const char *const *name, uint32_t n, struct sl_error *err);

/*
 * Call visit(name, arg) for each name of a list, in order, until it returns
 * non-zero.  Returns 0, what visit returned, or -1 with *err: a list that is no
 * list, names longer than 255 bytes, a range that goes backwards.  Names before the mistake
 * have been visited then.
 */
int sl_nodelist_split(const char *text, int (*visit)(const char *name, void *arg), void *arg,
		      struct sl_error *err);

#endif
