/* SPDX-License-Identifier: MIT */
/* devices.c - see model/devices.h */
#include "model/devices.h"
#include "model/cluster_private.h"

#include <string.h>

#define DEVICES 32	/* bits of a mask */

/* Number of gres of a kind on a node. */
static uint32_t count_gres(const struct sl_snapshot *s, uint32_t node, uint32_t kind)
{
	struct sl_range gres = s->node.gres[node];
	uint64_t n = 0;

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		n += s->node_gres.kind[g] == kind ? s->node_gres.count[g] : 0;
	return n < UINT32_MAX ? (uint32_t) n : UINT32_MAX;
}

/* The kind of which this row of node_gres has shares; SL_NONE: none. */
static uint32_t shared_kind(const struct sl_snapshot *s, uint32_t row)
{
	return s->node_gres.share[row] == s->node_gres.kind[row] ? SL_NONE : s->node_gres.share[row];
}

/* Number of shares on each device of the node, for this row of node_gres; 0 if it has no shares, or devices have unequal
 * numbers. */
static uint32_t share_of_each(const struct sl_snapshot *s, uint32_t node, uint32_t row)
{
	uint32_t of = shared_kind(s, row), devices = of == SL_NONE ? 0 : count_gres(s, node, of);

	if (!devices || devices > DEVICES || s->node_gres.count[row] % devices ||
	    s->node_gres.count[row] / devices > UINT16_MAX)
		return 0;
	return s->node_gres.count[row] / devices;
}

/* True if another gres row of the node has shares of the same devices. */
static bool is_shared_twice(const struct sl_snapshot *s, uint32_t node, uint32_t row)
{
	struct sl_range gres = s->node.gres[node];

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (g != row && shared_kind(s, g) == shared_kind(s, row) && s->node_gres.count[g])
			return true;
	return false;
}

/* Largest number of devices with shares on any node, by kind.  False if some node's shares cannot be counted. */
static bool count_devices(struct sl_cluster *c, uint32_t most[SL_MAX_GRES])
{
	const struct sl_snapshot *s = c->snap;
	bool could = true;

	for (uint32_t n = 0; n < s->node.rows; n++) {
		struct sl_range gres = s->node.gres[n];

		for (uint32_t g = gres.first; g < gres.first + gres.count; g++) {
			uint32_t kind = s->node_gres.kind[g], of = shared_kind(s, g), devices;

			if (of == SL_NONE || !s->node_gres.count[g] || kind >= SL_MAX_GRES)
				continue;
			c->devices.share[kind] |= (uint16_t) (1u << of % SL_MAX_GRES);	/* temporarily: the kind of which
											 * it is a share */
			if (of >= SL_MAX_GRES || !c->modelled[of] || !c->modelled[kind] || c->no_consume[of] ||
			    c->no_consume[kind] || !share_of_each(s, n, g) || is_shared_twice(s, n, g)) {
				could = false;
				continue;
			}
			devices = count_gres(s, n, of);
			most[of] = devices > most[of] ? devices : most[of];
		}
	}
	return could;
}

static void leave_shares(struct sl_cluster *c)
{
	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		if (c->devices.share[k])
			c->modelled[k] = false;
	c->devices = (struct sl_devices) { 0 };
}

void cluster_choose_devices(struct sl_cluster *c, uint32_t first)
{
	uint32_t most[SL_MAX_GRES] = { 0 }, all = first;

	bool could = count_devices(c, most);

	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		all += most[k];
	c->has_devices = could && all > first && all <= SL_MAX_GRES;
	if (!c->has_devices) {
		leave_shares(c);
		return;
	}
	for (uint32_t k = 0; k < SL_MAX_GRES; first += most[k++])
		c->devices.whole[k] = (uint16_t) (((1u << most[k]) - 1) << first);
	for (uint32_t k = 0; k < SL_MAX_GRES; k++) {
		uint16_t of = c->devices.share[k], mask = 0;

		for (uint32_t d = 0; d < SL_MAX_GRES; d++)
			mask |= of >> d & 1 ? c->devices.whole[d] : 0;
		c->devices.share[k] = mask;
	}
}

/* The first device kind in a mask; those of one gres kind are consecutive. */
static uint32_t first_in(uint16_t mask)
{
	return (uint32_t) __builtin_ctz(mask);
}

void cluster_device_capacity(const struct sl_cluster *c, uint32_t node, uint16_t *capacity)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range gres = s->node.gres[node];

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++) {
		uint32_t of = shared_kind(s, g), each = share_of_each(s, node, g);

		if (!each || of >= SL_MAX_GRES || !c->devices.whole[of] || is_shared_twice(s, node, g))
			continue;
		for (uint32_t d = 0; d < count_gres(s, node, of); d++)
			capacity[first_in(c->devices.whole[of]) + d] = (uint16_t) each;
	}
}

void cluster_hold_devices(const struct sl_cluster *c, uint32_t node, uint32_t row, uint16_t *gres)
{
	const struct sl_alloc_gres_view *a = &c->snap->alloc_gres;
	const uint16_t *capacity = c->kind[c->kind_of[node]].capacity.gres;
	uint32_t kind = a->kind[row], bits = a->devices[row], of = kind;
	bool share = kind < SL_MAX_GRES && c->devices.share[kind];

	if (share)
		of = a->of[row];
	if (of >= SL_MAX_GRES || !c->devices.whole[of] || !bits)
		return;
	for (uint32_t d = 0; d < DEVICES && first_in(c->devices.whole[of]) + d < SL_MAX_GRES; d++) {
		uint32_t k = first_in(c->devices.whole[of]) + d;

		if (!(bits >> d & 1) || !(c->devices.whole[of] >> k & 1))
			continue;
		if (share && !(bits & (bits - 1)) && a->count[row] < (uint32_t) (capacity[k] - gres[k]))
			gres[k] += (uint16_t) a->count[row];
		else
			gres[k] = capacity[k];
	}
}

uint32_t sl_cluster_devices(const struct sl_cluster *c, const uint16_t *gres, uint32_t kind, uint32_t *of)
{
	uint16_t mask = kind < SL_MAX_GRES ? c->devices.whole[kind] | c->devices.share[kind] : 0;

	*of = SL_NONE;
	for (uint32_t k = 0; k < SL_MAX_GRES; k++) {
		uint32_t bits = 0;

		if (!(mask & c->devices.whole[k]))
			continue;
		for (uint32_t d = first_in(c->devices.whole[k]); d < SL_MAX_GRES; d++)
			if ((c->devices.whole[k] >> d & 1) && gres[d])
				bits |= 1u << (d - first_in(c->devices.whole[k]));
		if (!bits)
			continue;
		if (c->devices.share[kind])
			*of = k;
		return bits;
	}
	return 0;
}
