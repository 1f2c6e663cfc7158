/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hidden.h - what slurmctld hides from users: PrivateData, and privatedata in MCSParameters.
 *
 * The caller holds a read lock on the configuration.
 */
#ifndef SL_PLUGIN_HIDDEN_H
#define SL_PLUGIN_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>

/* True if there are users who may not see what the journal says of all jobs. */
bool sl_hidden_jobs(void);

/* PrivateData in slurm.conf's words, comma-separated, and "mcs": for whoever shows what slurmctld would not (schedlua serve). */
void sl_hidden_words(char *words, size_t size);

#endif
