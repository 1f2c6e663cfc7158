/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - is a job fit to be started now? */
#ifndef SL_COMMIT_CHECK_H
#define SL_COMMIT_CHECK_H

#include "plugin/collect/collect.h"

/*
 * May the job start in that partition now, in that way?  NULL when it may, with
 * part_ptr, QOS, reservation and features set for select_nodes(); else why not.  Job and
 * node write locks held.
 */
const char *sl_commit_check(job_record_t *job, part_record_t *part, const struct sl_way *way);

/* Why a job in this state cannot be started, for the journal; NULL if the job is pending. */
const char *sl_commit_not_pending(const job_record_t *job);

#endif
