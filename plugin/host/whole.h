/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * whole.h - is a shared object all there?
 *
 * dlopen() maps what the headers promise; where the file ends before that, the first look
 * at it is a bus error, and slurmctld ends.  No ownership, no threads.
 */
#ifndef SL_WHOLE_H
#define SL_WHOLE_H

#include "base/error.h"

/* A regular file that can be read, an ELF object of this machine's word size, and no shorter than
 * its segments and its table of sections want.  0, or -1 with *err, which names the file. */
int sl_whole_elf(const char *path, struct sl_error *err);

#endif
