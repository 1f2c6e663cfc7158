/* SPDX-License-Identifier: GPL-2.0-or-later */
/* actions.h - a plan's actions on jobs: cancel, requeue, signal, change a field. */
#ifndef SL_COMMIT_ACTIONS_H
#define SL_COMMIT_ACTIONS_H

#include "plugin/commit/work.h"

/* Carry out action *i* of the plan.  *why: NULL if it was, else a text that says why not.  SL_COMMIT_LOCKS held. */
enum sl_fate sl_commit_action(struct sl_commit *m, uint32_t i, const char **why);

#endif
