/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep.h - the last good policy set, in memory and in a file under
 * StateSaveLocation, so that it outlives the engine, slurmctld and a fail-over.
 *
 * Knows nothing of Slurm, nor what is in the set: bytes that the engine made and
 * gets back.  The cycle thread only.
 */
#ifndef SL_KEEP_H
#define SL_KEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct sl_keep {
	char file[3072];		/* ""; in memory only */
	void *bytes;			/* NULL: none */
	size_t size;
	bool unsaved;			/* in memory only, since it could not be written */
};

/* Which file.  Another one than before: what was kept is read from it at need. */
void sl_keep_file(struct sl_keep *k, const char *file);

/* Keep these bytes (copied); written when they differ, whole or not at all.  0, or -1
 * with *err, and then they are kept in memory only. */
int sl_keep_set(struct sl_keep *k, const void *bytes, size_t size, struct sl_error *err);

/* Write what could not be written before.  0, also when there is no such, or -1 with *err. */
int sl_keep_again(struct sl_keep *k, struct sl_error *err);

/* Is there one?  Reads the file where none is in memory.  1, 0, or -1 with *err when
 * the file is not to be used. */
int sl_keep_get(struct sl_keep *k, struct sl_error *err);

void sl_keep_clear(struct sl_keep *k);

#endif
