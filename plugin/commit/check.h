/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - is a job fit to be started now? */
#ifndef SL_COMMIT_CHECK_H
#define SL_COMMIT_CHECK_H

#include "plugin/collect/collect.h"

/* NULL if the job may start now, in that partition and that way; the record's part_ptr, QOS, reservation and features are
 * then set for select_nodes().  Else a text that says why not.  Job and node write locks held. */
const char *sl_commit_check(job_record_t *job, part_record_t *part, const struct sl_way *way);

/* A text that says why a job in this state cannot be started; NULL if it is pending. */
const char *sl_commit_not_pending(const job_record_t *job);

#endif
