/* SPDX-License-Identifier: MIT */
/*
 * text.h - what the tool prints for people: durations, times, tables.
 *
 * Ownership: a table owns copies of its cells, as plain text (plain.h).  Threads: none.
 */
#ifndef SL_TEXT_H
#define SL_TEXT_H

#include <stdint.h>
#include <stdio.h>

#define SL_TEXT_SIZE 32		/* of a duration's or a time's buffer */

/* Slurm's form of a duration in seconds: "00:30:00", "1-02:03:04", "UNLIMITED". */
const char *sl_text_duration(char text[SL_TEXT_SIZE], int64_t seconds);

/* Slurm's form of a time, local: "2026-11-03T12:00:00"; "-" for 0. */
const char *sl_text_time(char text[SL_TEXT_SIZE], int64_t when);

/* A time as people say it at *now*, local: "15:31" of today, "Sun 15:31" within six days, "22 Nov 15:31", with
 * the year where it is another one. */
const char *sl_text_clock(char text[SL_TEXT_SIZE], int64_t when, int64_t now);

/* A table with a line of titles, columns as wide as their widest cell. */
struct sl_text_table;

/* *titles*: comma-separated; one that begins with ">" is aligned to the right. */
struct sl_text_table *sl_text_table_create(const char *titles);
void sl_text_table_destroy(struct sl_text_table *t);

/* Append a cell, row by row; NULL is "".  Lack of memory is reported by print. */
void sl_text_table_add(struct sl_text_table *t, const char *text);
void sl_text_table_addf(struct sl_text_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Print it, each line after *indent* spaces.  0, or -1 on lack of memory. */
int sl_text_table_print(const struct sl_text_table *t, int indent, FILE *out);

#endif
