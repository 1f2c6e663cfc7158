/* SPDX-License-Identifier: MIT */
/*
 * statedir.h - where the plug-in keeps its journal and status: the directory
 * "schedlua" under slurmctld's StateSaveLocation.
 *
 * Threads: none.
 */
#ifndef SL_STATEDIR_H
#define SL_STATEDIR_H

#include <stddef.h>

#include "base/error.h"

/*
 * Put the directory into *dir*: *option* itself if it is not NULL; else the
 * StateSaveLocation that $SLURM_CONF (or /etc/slurm/slurm.conf) gives, which
 * works when slurmctld is down; else the one that "scontrol show config" gives.
 * Returns 0, or -1 with *err saying what was tried.
 */
int sl_statedir_find(const char *option, char *dir, size_t size, struct sl_error *err);

#endif
