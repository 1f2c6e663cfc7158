/* SPDX-License-Identifier: MIT */
#include "tool/job_index.h"

#include <stdlib.h>

static int compare_ids(const void *a, const void *b, void *ids)
{
	uint32_t x = ((const uint32_t *) ids)[*(const uint32_t *) a], y = ((const uint32_t *) ids)[*(const uint32_t *) b];

	return (x > y) - (x < y);
}

uint32_t *sl_job_index(const struct sl_snapshot *s)
{
	uint32_t *index = malloc((s->job.rows + 1u) * sizeof(*index));

	for (uint32_t i = 0; index && i < s->job.rows; i++)
		index[i] = i;
	if (index)
		qsort_r(index, s->job.rows, sizeof(*index), compare_ids, (void *) s->job.id);
	return index;
}

uint32_t sl_job_find(const struct sl_snapshot *s, const uint32_t *index, uint32_t id)
{
	uint32_t low = 0, high = s->job.rows;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->job.id[index[middle]] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->job.rows && s->job.id[index[low]] == id ? index[low] : SL_NONE;
}
