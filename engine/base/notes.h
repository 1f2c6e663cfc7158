/* SPDX-License-Identifier: MIT */
/*
 * notes.h - lines that somebody who reads a file has to say of it, and that are no failure.
 *
 * No more than SL_NOTES are kept; of the others the number is.  Lack of memory drops a note and
 * counts it.
 *
 * Ownership: begins as zeroes, ends with sl_notes_free().  Threads: none.
 */
#ifndef SL_NOTES_H
#define SL_NOTES_H

#include <stdint.h>
#include <stdio.h>

#define SL_NOTES 200

struct sl_notes {
	char **text;
	uint32_t count, room;
	uint64_t dropped;
};

void sl_notes_add(struct sl_notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append those of *from*, which is empty afterwards. */
void sl_notes_move(struct sl_notes *to, struct sl_notes *from);

/* Print them, one a line, each begun by *prefix*, and how many were dropped. */
void sl_notes_print(const struct sl_notes *n, const char *prefix, FILE *out);

void sl_notes_free(struct sl_notes *n);

#endif
