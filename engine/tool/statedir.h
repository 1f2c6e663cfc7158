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

/* The same without asking scontrol, which may wait for a slurmctld that is down: SL_ENOENT where slurm.conf does not say. */
int sl_statedir_find_here(const char *option, char *dir, size_t size, struct sl_error *err);

/*
 * The same for who only reads the journal: where that directory is not for this user to read, the
 * one where it is published (lua_publish).  SL_ETRUST where there is none.
 */
int sl_statedir_find_journal(const char *option, char *dir, size_t size, struct sl_error *err);

/* The site file, as slurm.conf has it: lua_site, or beside it.  0, or -1. */
int sl_statedir_site(char *path, size_t size);

/* The words of PrivateData, and "mcs" where MCSParameters has privatedata.  0, or -1: nothing says. */
int sl_statedir_private(char *words, size_t size);

/*
 * Slurm's scheduler in whose shadow the policies are, as status.json in *dir* says; where that cannot be read and *only*
 * is NULL, as slurm.conf does (lua_shadow).  "" where the policies decide.
 */
void sl_statedir_shadow(const char *only, const char *dir, char *stock, size_t size);

#endif
