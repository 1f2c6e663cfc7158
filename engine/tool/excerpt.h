/* SPDX-License-Identifier: MIT */
/*
 * excerpt.h - the line of a policy that an error names, with a mark under what is meant.
 *
 * Threads: none.
 */
#ifndef SL_EXCERPT_H
#define SL_EXCERPT_H

#include <stdio.h>

/*
 * A message that has "FILE.lua:LINE:" in it: print that line and a caret under the name
 * that the message quotes, or under where the line begins; in colour on a terminal, unless
 * NO_COLOR says otherwise.  Nothing where there is no such line.  Only Lua is shown: a
 * policy writes its own messages, and could have lines of other files printed.
 * *out* is stdout or stderr.
 */
void sl_excerpt(const char *message, FILE *out);

#endif
