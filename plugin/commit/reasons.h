/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reasons.h - what squeue shows of jobs that stay pending. */
#ifndef SL_REASONS_H
#define SL_REASONS_H

#include "plugin/commit/work.h"

/* Set the reasons and the expected starts of pending jobs.  Comes after sl_commit_run().  Takes the locks itself. */
void sl_commit_reasons(struct sl_commit *m);

#endif
