/* SPDX-License-Identifier: MIT */
/*
 * hostile.h - what users may write who mean harm: texts with line ends, separators, quotes, escapes, marks that
 * turn the direction of writing, bytes that are no UTF-8, forged rows, or as long as slurmctld takes them.
 */
#ifndef T_HOSTILE_H
#define T_HOSTILE_H

#include <stddef.h>

#define HOSTILE_SIZE 1025	/* slurmctld takes texts of up to 1,024 bytes */

/* A random one in *text*, with a NUL; returns it. *row* (may be NULL) is what a forged row of the format looks like. */
char *hostile_text(char text[HOSTILE_SIZE], const char *row);

#endif
