/* SPDX-License-Identifier: MIT */
/*
 * place_devices.c - gres that use devices: a whole device, or a share of one.
 *
 * Each device is a gres kind of the timeline.  A job keeps its devices while it runs, so a device is free for it if the
 * minimum of its kind over the run says so.  The job gets the first suitable device that is free when it starts, as in select
 * without binding to cores.
 */
#include "timeline/place_impl.h"

#include <string.h>

/* Number of devices in the mask that are completely unused. */
static uint32_t count_untouched(uint16_t mask, const struct sl_resources *capacity, const struct sl_resources *free)
{
	uint32_t n = 0;

	for (int k = 0; k < SL_MAX_GRES; k++)
		n += (mask >> k & 1) && capacity->gres[k] && free->gres[k] == capacity->gres[k];
	return n;
}

static uint16_t most_on_one(uint16_t mask, const struct sl_resources *free)
{
	uint16_t most = 0;

	for (int k = 0; k < SL_MAX_GRES; k++)
		if ((mask >> k & 1) && free->gres[k] > most)
			most = free->gres[k];
	return most;
}

/* A node may have the gres without devices. */
static bool has_devices(uint16_t mask, const struct sl_resources *capacity)
{
	return mask && most_on_one(mask, capacity);
}

void sl_devices_narrow(const struct sl_devices *d, const struct sl_resources *capacity, const struct sl_resources *free,
		       uint16_t *left)
{
	for (int k = 0; k < SL_MAX_GRES; k++) {
		uint32_t most = left[k];

		if (has_devices(d->whole[k], capacity))
			most = count_untouched(d->whole[k], capacity, free);
		else if (has_devices(d->share[k], capacity))
			most = most_on_one(d->share[k], free);
		if (most < left[k])
			left[k] = (uint16_t) most;
	}
}

static bool take_whole(uint16_t mask, uint32_t count, const struct sl_resources *capacity,
		       const struct sl_resources *free, uint16_t *taken)
{
	for (int k = 0; k < SL_MAX_GRES && count; k++) {
		if (!(mask >> k & 1) || !capacity->gres[k] || free->gres[k] != capacity->gres[k] || taken[k])
			continue;
		taken[k] = capacity->gres[k];
		count--;
	}
	return !count;
}

static bool take_share(uint16_t mask, uint16_t count, const struct sl_resources *free, uint16_t *taken)
{
	for (int k = 0; k < SL_MAX_GRES; k++) {
		if (!(mask >> k & 1) || free->gres[k] - taken[k] < count)
			continue;
		taken[k] += count;
		return true;
	}
	return false;
}

bool sl_devices_take(const struct sl_devices *d, const struct sl_resources *capacity, const struct sl_resources *free,
		     uint16_t *taken)
{
	bool could = true;

	for (int k = 0; k < SL_MAX_GRES; k++) {
		if (taken[k] && has_devices(d->whole[k], capacity))
			could &= take_whole(d->whole[k], taken[k], capacity, free, taken);
		else if (taken[k] && has_devices(d->share[k], capacity))
			could &= take_share(d->share[k], taken[k], free, taken);
	}
	return could;
}

/* For shares: select takes the first device with *count* free when the job starts.  Leave only that device in *free*; the
 * job cannot use the others. */
static void leave_one(uint16_t mask, uint32_t count, const struct sl_resources *at, struct sl_resources *free)
{
	bool chosen = false;

	for (int k = 0; k < SL_MAX_GRES; k++) {
		if (!(mask >> k & 1))
			continue;
		if (chosen || at->gres[k] < count)
			free->gres[k] = 0;
		chosen |= at->gres[k] >= count;
	}
}

/* For whole devices: select takes the first devices that are unused when the job starts.  Leave in *free* only those
 * before the first one that is unused then but booked later, because the job would be given that one. */
static void leave_first(uint16_t mask, const struct sl_resources *capacity, const struct sl_resources *at,
			struct sl_resources *free)
{
	bool over = false;

	for (int k = 0; k < SL_MAX_GRES; k++) {
		if (!(mask >> k & 1) || !capacity->gres[k])
			continue;
		over |= at->gres[k] == capacity->gres[k] && free->gres[k] < capacity->gres[k];
		if (over)
			free->gres[k] = 0;
	}
}

void sl_devices_in_turn(const struct sl_node_need *need, const struct sl_resources *capacity, const struct sl_resources *at,
			struct sl_resources *free)
{
	const struct sl_devices *d = need->devices;

	for (uint32_t i = 0; i < need->needs + need->jobs; i++) {
		const struct sl_gres_need *g = &need->need[i];

		for (int k = 0; k < SL_MAX_GRES; k++) {
			if (!(g->kinds >> k & 1))
				continue;
			if (d->whole[k])
				leave_first(d->whole[k], capacity, at, free);
			else if (d->share[k])
				leave_one(d->share[k], g->count, at, free);
		}
	}
}
