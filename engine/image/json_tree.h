/* SPDX-License-Identifier: MIT */
/*
 * json_tree.h - JSON that others wrote, as a tree in memory, which is many times as large as its text.
 *
 * Ownership: a tree is the caller's (json_decref()).  Threads: safe; no state.
 */
#ifndef SL_JSON_TREE_H
#define SL_JSON_TREE_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

#define SL_JSON_TREE_MOST ((size_t) 4 << 30)	/* bytes of a tree */

/*
 * Parse a document in which no key stands twice in an object.  NULL with *err: SL_EFORMAT (NAME:LINE:COLUMN: what is
 * wrong), SL_ELIMIT (before anything is built: the tree would need more than SL_JSON_TREE_MOST bytes).
 */
json_t *sl_json_tree(const char *name, const char *text, size_t size, struct sl_error *err);

#endif
