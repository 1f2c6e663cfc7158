/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - all figures, as OpenMetrics text: the scheduler's (tool/status.h), the cluster's, and those of Slurm's own
 * metrics/openmetrics (25.11 and later) under the names that Slurm gives them, so that dashboards made for it go on.
 *
 * Of Slurm's names there are those of /metrics/scheduler, from the figures of sdiag in status.json, and those of jobs,
 * nodes and partitions that a snapshot tells.  Jobs that have ended are not counted: a snapshot has only the last of them.
 *
 * Ownership: the text is the caller's.  Threads: none.
 */
#ifndef SL_WEB_METRICS_H
#define SL_WEB_METRICS_H

#include "tool/look.h"

/*
 * malloc'ed, or NULL without memory.  *counts* false: leave out what is counted from jobs, nodes and partitions, as Slurm's
 * own metrics do where PrivateData is set.
 */
char *sl_web_metrics(const struct sl_look *look, bool counts, int64_t now, size_t *size);

#endif
