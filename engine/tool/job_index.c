/* SPDX-License-Identifier: MIT */
#include "tool/job_index.h"

int sl_job_index(struct sl_map *m, const struct sl_snapshot *s)
{
	for (uint32_t i = 0; i < s->job.rows; i++)
		if (sl_map_put(m, sl_hash_id(s->job.id[i]), i, NULL))
			return -1;
	return 0;
}
