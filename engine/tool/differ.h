/* SPDX-License-Identifier: MIT */
/*
 * differ.h - what another set would decide otherwise, on one snapshot.
 *
 * Ownership: borrows all.  Threads: none.
 */
#ifndef SL_TOOL_DIFFER_H
#define SL_TOOL_DIFFER_H

#include <stdio.h>

#include "image/snapshot.h"

/*
 * Let both sets decide, and print which jobs would start now or not any more, on other nodes, or are expected at another
 * time; before that, which partitions *after* names and the cluster does not have.  *before* NULL: there is none.  A set of
 * before that fails is said and not compared.  *policy: the name by which *after* goes.  0, or -1 with *err: the set
 * *after* cannot be loaded or fails.
 */
int sl_differ(const char *before, const char *after, const char *path, const struct sl_snapshot *snap, FILE *out,
	      char policy[256], struct sl_error *err);

#endif
