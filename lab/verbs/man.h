/* SPDX-License-Identifier: MIT */
/*
 * man.h - man pages, as roff: prose from doc/man/, options from the tables that parse them,
 * columns from the schema that reads and writes snapshots.
 *
 * In the prose a blank line ends a paragraph, lines that begin with four spaces stay as they
 * are, "*word*" is bold, "# TITLE" begins a section, and lines that begin with .\" are comments.
 *
 * Threads: none.
 */
#ifndef SL_MAN_H
#define SL_MAN_H

#include "tool/options.h"

/*
 * Print the page whose prose is in that file: schedlua.txt, schedlab.txt,
 * schedlua-VERB.txt or schedlua-snapshot.txt.  0, or -1 with *err.
 */
int sl_man_page(const char *path, FILE *out, struct sl_error *err);

/* A verb's page; its options stand under the section OPTIONS of the prose. */
void sl_verb_man(const struct sl_verb *verb, const char *text, FILE *out);

/* Print prose up to and with the heading of that section (NULL: all of it); returns what stands behind that. */
const char *sl_man_text(const char *text, const char *title, FILE *out);

#endif
