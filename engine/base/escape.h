/* SPDX-License-Identifier: MIT */
/*
 * escape.h - text that users wrote, as one field of a line in a file of ours.
 *
 * A file of lines and separators that is read again has each text in it written by sl_escape_put() and
 * read by sl_unescape(): whatever the text holds, it neither ends its field nor begins a line. For text
 * that is only shown there is plain.h, which loses what it makes harmless.
 *
 * What is written: printable ASCII and UTF-8 as it is. Every other byte, those of characters that
 * sl_utf8_unsafe() names, a backslash and the format's separators become "\xHH" (two lower-case digits).
 *
 * Ownership: texts are the caller's. Threads: none; no state.
 */
#ifndef SL_ESCAPE_H
#define SL_ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

/* Write the text; *separators* are the ASCII characters besides line ends that end a field of this format. */
void sl_escape_put(FILE *out, const char *text, const char *separators);

/*
 * Turn what sl_escape_put() wrote with these separators back into the text, in place. False for what it
 * cannot have written: a bare byte that it escapes, a backslash that begins no escape, an escape of NUL. The
 * text is then of no use.
 */
bool sl_unescape(char *text, const char *separators);

/* Write the text as a field of CSV, in quotes where RFC 4180 wants that: other programs read it. */
void sl_csv_put(FILE *out, const char *text);

/* True if a character of the text is a control character, would mislead a reader (sl_utf8_unsafe()), or is
 * no UTF-8. */
bool sl_text_is_unsafe(const char *text);

#endif
