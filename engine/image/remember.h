/* SPDX-License-Identifier: MIT */
/*
 * remember.h - what policies remember from one cycle to the next.
 *
 * A policy's state is as new as its cycle; what has to last travels.  The engine puts
 * it into the plan, who carries the plan out puts the same rows into the next
 * snapshot.  So a decision is a function of the snapshot alone, memory is in each one
 * that is recorded, and an engine that dies takes nothing along.
 *
 * A row is a key and a value (value.h) of a group of partitions that decides by
 * itself; groups do not see each other's.  Each names the policy set that remembered
 * it, by a digest of its files: another set begins without a memory.  An empty name is
 * any set's (specs, files written by hand).
 *
 * Rows are in rising order of set, group and key, and within the ceilings below, in
 * every image that was opened.
 *
 * Ownership: a memory owns all it holds.  Threads: one object, one thread.
 */
#ifndef SL_REMEMBER_H
#define SL_REMEMBER_H

#include "image/image.h"

#define SL_REMEMBERED_COLUMNS(X) \
	X(str, set, -1, 0, "digest of the policy set that remembers it; empty: any") \
	X(str, group, -1, 0, "group of partitions that decides by itself") \
	X(str, key, -1, 0, "name that the policy gave it") \
	X(str, value, -1, 0, "plain value as text, {1,2,name=true}")

SL_DECLARE_TABLE(remembered, SL_REMEMBERED_COLUMNS)

/* Ceilings, in bytes but for the last. */
#define SL_REMEMBERED_SET 32
#define SL_REMEMBERED_GROUP 1024
#define SL_REMEMBERED_KEY 64
#define SL_REMEMBERED_VALUE (256u << 10)
#define SL_REMEMBERED_ALL (1u << 20)	/* of keys and values, and SL_REMEMBERED_ROW for each row */
#define SL_REMEMBERED_ROW 64
#define SL_REMEMBERED_KEYS 256		/* of a group */

/* Are the rows of an image as they should be?  0, or -1 with *err: what is wrong with
 * which row (SL_EFORMAT, SL_ELIMIT). */
int sl_remembered_check(const struct sl_image *image, const struct sl_remembered_view *rows, struct sl_error *err);

struct sl_remember;

/* NULL with *err: out of memory. */
struct sl_remember *sl_remember_create(struct sl_error *err);
void sl_remember_destroy(struct sl_remember *m);

void sl_remember_clear(struct sl_remember *m);
bool sl_remember_empty(const struct sl_remember *m);

/*
 * Hold the rows of an opened image and nothing else: all of them as they are; or, where
 * *set* is not NULL, those of that set and of any, which are that set's from then on.
 * 0, or -1 with *err (SL_ENOMEM), and it is empty.
 */
int sl_remember_load(struct sl_remember *m, const struct sl_image *image, const struct sl_remembered_view *rows,
		     const char *set, struct sl_error *err);

/* -- of one set (loaded with its name) ---------------------------------- */

/* The text of a value; NULL if there is none.  Valid until the next change. */
const char *sl_remember_get(const struct sl_remember *m, const char *group, const char *key);

/*
 * Remember a value, text of value.h, or with NULL forget it.  0; -1 with *err and
 * nothing changed: SL_ELIMIT, SL_ENOMEM.
 */
int sl_remember_set(struct sl_remember *m, const char *group, const char *key, const char *text, struct sl_error *err);

/* All that a group remembers is gone. */
void sl_remember_forget(struct sl_remember *m, const char *group);

/* Append the rows to a table that has none, of either schema. */
void sl_remember_encode(const struct sl_remember *m, struct sl_builder *b, int table);

#endif
