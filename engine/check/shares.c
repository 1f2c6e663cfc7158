/* SPDX-License-Identifier: MIT */
/*
 * check/shares.c - devices that are used as a whole or by shares (GPUs; shard, mps).
 *
 * If a gres row of a node is a share of another kind, its count is that of all devices of that kind together; each of them
 * has the same number of shares.  A job with a whole device has all its shares.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 32	/* bits of a mask */

static bool is_share(const struct sl_snapshot *s, uint32_t row)
{
	return s->node_gres.share[row] != SL_NONE && s->node_gres.share[row] != s->node_gres.kind[row] &&
		s->node_gres.count[row];
}

static uint64_t count_of(const struct sl_snapshot *s, uint32_t node, uint32_t kind)
{
	struct sl_range g = s->node.gres[node];
	uint64_t n = 0;

	for (uint32_t i = g.first; i < g.first + g.count; i++)
		n += s->node_gres.kind[i] == kind ? s->node_gres.count[i] : 0;
	return n;
}

/* Number of shares per device of a kind; 0: no shares.  With *by: of that kind of share. */
static uint64_t shares_of_each(const struct sl_snapshot *s, uint32_t node, uint32_t kind, const uint32_t *by)
{
	struct sl_range g = s->node.gres[node];
	uint64_t devices = count_of(s, node, kind);

	for (uint32_t i = g.first; devices && i < g.first + g.count; i++)
		if (is_share(s, i) && s->node_gres.share[i] == kind && s->node_gres.count[i] % devices == 0 &&
		    (!by || s->node_gres.kind[i] == *by))
			return s->node_gres.count[i] / devices;
	return 0;
}

static bool has_shares(const struct sl_snapshot *s, uint32_t node, uint32_t kind)
{
	struct sl_range g = s->node.gres[node];

	for (uint32_t i = g.first; i < g.first + g.count; i++)
		if (is_share(s, i) && s->node_gres.kind[i] == kind)
			return true;
	return false;
}

/* -- one layout -------------------------------------------------------------- */

static int fail_device(const struct check *c, const struct row *r, uint32_t place, const char *what)
{
	return check_fail_at(c, r, c->plan->place.node[place], "%s", what);
}

static int check_gres_row(struct check *c, const struct row *r, uint32_t place, uint32_t g)
{
	const struct sl_plan_place_gres_view *v = &c->plan->place_gres;
	uint32_t node = c->plan->place.node[place], kind = v->kind[g], bits = v->devices[g], devices;
	bool share = has_shares(c->snap, node, kind);
	uint32_t of = share ? v->of[g] : kind;

	if (of >= c->snap->gres_kind.rows)
		return fail_device(c, r, place, "shares of what is not said");
	if (!share && !shares_of_each(c->snap, node, kind, NULL))
		return 0;
	if (!share && !c->names_devices)
		return 0;	/* all shares are left to select */
	devices = (uint32_t) __builtin_popcount(bits);
	if (devices != (share ? 1 : v->count[g]) || (uint64_t) bits >> count_of(c->snap, node, of))
		return fail_device(c, r, place, share ? "has shares of not one device" : "its devices are not as many as it has");
	if (share && v->count[g] > shares_of_each(c->snap, node, of, &kind))
		return fail_device(c, r, place, "has more shares than a device has");
	return 0;
}

bool check_names_devices(const struct sl_plan_image *plan)
{
	for (uint32_t g = 0; g < plan->place_gres.rows; g++)
		if (plan->place_gres.devices[g])
			return true;
	return false;
}

int check_devices(struct check *c, const struct row *r, uint32_t i)
{
	struct sl_range gres = c->plan->place.gres[i];

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (check_gres_row(c, r, i, g) < 0)
			return -1;
	return 0;
}

/* -- at every instant ---------------------------------------------------- */

int check_devices_begin(struct check *c, struct device_use *u)
{
	size_t n = ((size_t) c->snap->gres_kind.rows + 1) * DEVICES;

	u->all = calloc(n, sizeof(*u->all));
	u->planned = calloc(n, sizeof(*u->planned));
	return u->all && u->planned ? 0 : sl_fail(c->err, SL_ENOMEM, "check: out of memory");
}

void check_devices_end(struct device_use *u)
{
	free(u->all);
	free(u->planned);
}

void check_devices_clear(const struct check *c, struct device_use *u)
{
	size_t n = (size_t) c->snap->gres_kind.rows * DEVICES;

	memset(u->all, 0, n * sizeof(*u->all));
	memset(u->planned, 0, n * sizeof(*u->planned));
}

/* Number of shares that a bill uses of each device named in row *k* of its gres: all shares if it has the whole device.
 * *of: kind of the devices.  0 if these have no shares. */
static int64_t shares_in(const struct check *c, const struct bill *b, uint32_t k, uint32_t *of)
{
	bool share = has_shares(c->snap, b->node, b->kind[k]);
	uint64_t all;
	int64_t each;

	*of = share ? b->of[k] : b->kind[k];
	all = *of < c->snap->gres_kind.rows ? shares_of_each(c->snap, b->node, *of, NULL) : 0;
	each = share && !(b->devices[k] & (b->devices[k] - 1)) ? b->count[k] : (int64_t) all;
	if (b->native && each > (int64_t) all)
		each = (int64_t) all;	/* a native job may get the whole node */
	return all ? each : 0;
}

int64_t check_devices_of(const struct check *c, const struct bill *b, uint32_t device)
{
	int64_t n = 0;

	for (uint32_t k = 0; k < b->kinds; k++) {
		uint32_t of;
		int64_t each = shares_in(c, b, k, &of);

		n += of == device / DEVICES && (b->devices[k] >> device % DEVICES & 1) ? each : 0;
	}
	return n;
}

void check_devices_count(const struct check *c, struct device_use *u, const struct bill *b, int sign)
{
	for (uint32_t k = 0; k < b->kinds; k++) {
		uint32_t of;
		int64_t each = shares_in(c, b, k, &of);

		for (uint32_t d = 0; each && d < DEVICES; d++) {
			if (!(b->devices[k] >> d & 1))
				continue;
			u->all[of * DEVICES + d] += sign * each;
			if (b->planned)
				u->planned[of * DEVICES + d] += sign * each;
		}
	}
}

bool check_devices_over(const struct check *c, const struct device_use *u, uint32_t node, uint32_t *device, int64_t *used,
			int64_t *have)
{
	for (uint32_t kind = 0; kind < c->snap->gres_kind.rows; kind++) {
		*have = (int64_t) shares_of_each(c->snap, node, kind, NULL);
		for (uint32_t i = kind * DEVICES; *have && i < (kind + 1) * DEVICES; i++) {
			*used = u->all[i];
			*device = i;
			if (u->planned[i] && *used > *have)
				return true;
		}
	}
	return false;
}
