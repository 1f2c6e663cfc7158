/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remembered.h - what policies remember (image/remember.h) while slurmctld is not there.
 *
 * From cycle to cycle it is kept in memory.  A slurmctld that ends in order, and from
 * Slurm 23.11 on that is each one that is reconfigured, leaves it in a file for the
 * next one, who removes the file when it has read it: after a crash policies begin
 * anew rather than with what they knew long ago.
 *
 * Knows nothing of Slurm.
 */
#ifndef SL_REMEMBERED_H
#define SL_REMEMBERED_H

#include "image/remember.h"

/* Write the file, or remove it where nothing is remembered.  0, or -1 with *err. */
int sl_remembered_save(const struct sl_remember *m, const char *file, struct sl_error *err);

/* Read the file into *m, if there is one, and remove it.  0; -1 with *err and *m empty
 * where it is damaged, not ours, or of another version. */
int sl_remembered_load(struct sl_remember *m, const char *file, struct sl_error *err);

#endif
