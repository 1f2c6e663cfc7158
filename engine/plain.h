/* SPDX-License-Identifier: MIT */
/*
 * plain.h - text from elsewhere, on its way to a log, a terminal or squeue.
 *
 * Names and comments of jobs are what users wrote, and policies quote them: a line
 * end in one could forge a line of a log, an escape sequence change a terminal.
 *
 * Threads: none; no state.
 */
#ifndef SL_PLAIN_H
#define SL_PLAIN_H

/* The length of the UTF-8 sequence at s (no overlong form, no surrogate, nothing
 * beyond U+10FFFF), or 0.  Stops at a NUL by itself. */
unsigned sl_utf8_length(const char *s);

/* Make it one line of plain text, in place: a blank for each control character, a
 * question mark for each byte that is no UTF-8.  Returns text. */
char *sl_plain(char *text);

#endif
