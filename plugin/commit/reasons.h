/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reasons.h - what the users of jobs that stay pending are told. */
#ifndef SL_REASONS_H
#define SL_REASONS_H

#include "plugin/commit/work.h"

/* State reasons and expected starts, after sl_commit_run().  Takes the locks itself. */
void sl_commit_reasons(struct sl_commit *m);

#endif
