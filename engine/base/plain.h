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

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The length of the UTF-8 sequence at s (no overlong form, no surrogate, nothing
 * beyond U+10FFFF), or 0.  Stops at a NUL by itself. */
unsigned sl_utf8_length(const char *s);

/* The character at s if a terminal or a reader may be misled by it: a control character,
 * a mark that turns the direction of writing, a line end of Unicode.  Else 0. */
uint32_t sl_utf8_unsafe(const char *s);

/* Make *text* one line of plain text, in place: each byte of an unsafe character (sl_utf8_unsafe()) becomes a blank, each byte
 * that is not valid UTF-8 a question mark.  Returns text. */
char *sl_plain(char *text);

/* True if the texts differ in runs of digits only: the same message about another time or another job. */
bool sl_same_but_numbers(const char *a, const char *b);

/*
 * A stream to a descriptor, which stays the caller's, that makes all that goes through it
 * plain but for line feeds and tabs: what a program prints for people, whatever it
 * quotes.  *buffering*: _IOFBF, _IOLBF, _IONBF.  NULL without memory.
 */
FILE *sl_plain_stream(int fd, int buffering);

#endif
