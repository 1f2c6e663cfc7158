/* SPDX-License-Identifier: MIT */
#include "sim/sleeper.h"

#include <stdlib.h>

static uint32_t find_held(const struct sl_snapshot *snap, uint32_t job)
{
	for (uint32_t i = 0; job != SL_NONE && i < snap->held.rows; i++)
		if (snap->held.job[i] == job)
			return i;
	return SL_NONE;
}

int sl_sleeper_describe(struct sl_sleeper *s, const struct sl_snapshot *snap, const struct sl_cluster *c, uint32_t other, bool *is_told,
			struct sl_error *err)
{
	uint32_t at = find_held(snap, other);
	struct sl_range places = at == SL_NONE ? (struct sl_range) { 0, 0 } : snap->held.places[at];
	struct sl_place *place;

	s->until = other == SL_NONE ? 0 : sl_cluster_end(c, other);
	if (at == SL_NONE)
		return 0;
	s->until = sl_later(sl_cluster_now(c), snap->job.time_limit[other]);
	if (is_told[at])
		return 0;
	place = calloc((size_t) places.count + 1, sizeof(*place));
	if (!place)
		return sl_fail(err, SL_ENOMEM, "simulator: out of memory");
	for (uint32_t i = 0; i < places.count; i++)
		place[i] = (struct sl_place) { .node = snap->alloc.node[places.first + i], .cores = snap->alloc.cores[places.first + i] };
	is_told[at] = true;
	s->before = place;
	s->before_count = places.count;
	return 0;
}
