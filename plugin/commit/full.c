/* SPDX-License-Identifier: GPL-2.0-or-later */
/* full.c - see full.h */
#include "plugin/commit/full.h"

/* May a core belong to several jobs at once, or are cores not counted at all? */
static bool are_cores_shared(const part_record_t *part)
{
	return part->max_share > 1 || slurm_conf.preempt_mode & PREEMPT_MODE_GANG ||
		(xstrcmp(slurm_conf.select_type, "select/linear") &&
		 !(slurm_conf.select_type_param & (CR_CPU | CR_SOCKET | CR_CORE)));
}

/* By node row of the snapshot: cores that jobs have. */
static uint32_t *cores_taken(const struct sl_snapshot *snap)
{
	uint32_t *taken = xcalloc(snap->node.rows + 1, sizeof(*taken)), i;

	/* (only those of jobs: the table also has the rows of reservations and of held places) */
	for (i = 0; i < snap->job.rows; i++) {
		struct sl_range a = snap->job.alloc[i];

		for (uint32_t k = a.first; k < a.first + a.count; k++)
			taken[snap->alloc.node[k]] += snap->alloc.cores[k];
	}
	return taken;
}

static void find_full(struct sl_commit *m)
{
	const struct sl_snapshot *snap = &m->c->snap;
	uint32_t *taken = cores_taken(snap), row;

	m->full = bit_alloc(MAX(node_record_count, 1));
	for (row = 0; row < snap->node.rows; row++)
		if (taken[row] >= snap->node.cores[row] && m->c->node_index[row] < node_record_count)
			bit_set(m->full, m->c->node_index[row]);
	xfree(taken);
}

const bitstr_t *sl_full_nodes(struct sl_commit *m, const job_record_t *job, const part_record_t *part, uint32_t row)
{
	if (job->details->expanding_jobid || m->c->snap.job.flags[row] & SL_JOBF_MAY_PREEMPT || are_cores_shared(part))
		return NULL;
	if (!m->full)
		find_full(m);
	return bit_ffs(m->full) < 0 ? NULL : m->full;
}

void sl_full_free(struct sl_commit *m)
{
	FREE_NULL_BITMAP(m->full);
}
