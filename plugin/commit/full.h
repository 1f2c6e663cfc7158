/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * full.h - nodes all of whose cores are taken: of a native job select need not look at them,
 * and on a large machine that is full, looking is most of what its start costs.
 */
#ifndef SL_FULL_H
#define SL_FULL_H

#include "plugin/commit/work.h"

/*
 * Those that were full when the snapshot was taken; NULL: none, or the job might share a core
 * or have other jobs preempted.  Row: of the job in the snapshot.  It is the plan's, freed by
 * sl_full_free().  Job and node read locks held.
 */
const bitstr_t *sl_full_nodes(struct sl_commit *m, const job_record_t *job, const part_record_t *part, uint32_t row);

void sl_full_free(struct sl_commit *m);

#endif
