/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diag.c - see diag.h */
#include <stdlib.h>

#include "base/map.h"
#include "plugin/host/diag.h"

/* The starts that were carried out, by the ids of their jobs.  0, or -1 without memory. */
static int index_starts(struct sl_map *m, const struct sl_plan_image *plan, const struct sl_carried *carried)
{
	uint32_t i;

	for (i = 0; i < plan->start.rows; i++)
		if (carried[i].fate == SL_FATE_DONE && sl_map_put(m, sl_hash_id(plan->start.job[i]), i, NULL))
			return -1;
	return 0;
}

/* Starts of that job in that partition: an array may have several; *any: it has one at all. */
static uint32_t count_starts(const struct sl_map *m, const struct sl_plan_image *plan, uint32_t job, uint32_t partition, bool *any)
{
	uint32_t n = 0;

	*any = false;
	SL_MAP_EACH(m, sl_hash_id(job), at) {
		if (plan->start.job[at.value] != job)
			continue;
		*any = true;
		n += plan->start.partition[at.value] == partition;
	}
	return n;
}

struct sl_backfilled sl_diag_backfilled(const struct sl_snapshot *snap, const struct sl_plan_image *plan,
					const struct sl_carried *carried)
{
	bool *waits = carried ? calloc(snap->partition.rows + 1u, sizeof(*waits)) : NULL;	/* somebody waits in that partition */
	struct sl_backfilled b = { 0 };
	struct sl_map starts = { 0 };
	uint32_t i, n, job, partition;
	bool started;

	if (!waits || index_starts(&starts, plan, carried))
		goto done;
	for (i = 0; i < snap->queue.rows; i++) {
		job = snap->queue.job[i];
		partition = snap->queue.partition[i];
		n = count_starts(&starts, plan, snap->job.id[job], partition, &started);
		if (n && waits[partition]) {
			b.jobs += n;
			b.het += snap->job.het_job_id[job] != SL_NONE ? n : 0;
		}
		waits[partition] |= !started;
	}
done:
	sl_map_free(&starts);
	free(waits);
	return b;
}
