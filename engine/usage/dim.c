/* SPDX-License-Identifier: MIT */
/*
 * usage/dim.c - the dimensions of a usage, and the names in them, each found by hash.
 */
#include "usage/private.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint32_t hash_dim(const struct sl_dim *d)
{
	uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325) + d->state, d->user);

	hash = hash_text(hash_text(hash, d->account), d->partition);
	return (uint32_t) (hash >> 32 ^ hash);
}

static bool same_dim(const struct sl_dim *a, const struct sl_dim *b)
{
	return a->state == b->state && !strcmp(a->user, b->user) && !strcmp(a->account, b->account) &&
		!strcmp(a->partition, b->partition);
}

static uint32_t *find_slot(const struct sl_usage *u, const struct sl_dim *d)
{
	uint32_t at = hash_dim(d) & (u->slots - 1);

	while (u->slot[at] && !same_dim(&u->dim[u->slot[at] - 1], d))
		at = (at + 1) & (u->slots - 1);
	return &u->slot[at];
}

static int grow_slots(struct sl_usage *u)
{
	uint32_t slots = u->slots ? 2 * u->slots : 64, *old = u->slot;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -1;
	u->slot = slot;
	u->slots = slots;
	for (uint32_t i = 0; i < u->dims; i++)
		*find_slot(u, &u->dim[i]) = i + 1;
	free(old);
	return 0;
}

static uint32_t *find_name(const struct names *n, const char *text)
{
	uint32_t at = (uint32_t) (hash_text(UINT64_C(0xcbf29ce484222325), text) >> 20) & (n->slots - 1);

	while (n->slot[at] && strcmp(n->text[n->slot[at] - 1], text))
		at = (at + 1) & (n->slots - 1);
	return &n->slot[at];
}

/* Room for one more name, and for *dims* dimensions. */
static int grow_names(struct names *n, uint32_t dims)
{
	uint32_t slots = n->slots ? 2 * n->slots : 64, room = n->room ? 2 * n->room : 32, *slot;
	void *p = realloc(n->of, dims * sizeof(*n->of));

	if (!p)
		return -1;
	n->of = p;
	if (n->count < n->room)
		return 0;
	p = realloc(n->text, room * sizeof(*n->text));
	if (!p)
		return -1;
	n->text = p;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -1;
	free(n->slot);
	n->slot = slot;
	n->slots = slots;
	n->room = room;
	for (uint32_t i = 0; i < n->count; i++)
		*find_name(n, n->text[i]) = i + 1;
	return 0;
}

static void keep_name(struct names *n, uint32_t dim, const char *text)
{
	uint32_t *slot = find_name(n, text);

	if (!*slot) {
		n->text[n->count++] = text;
		*slot = n->count;
	}
	n->of[dim] = *slot - 1;
}

static int grow_dims(struct sl_usage *u)
{
	uint32_t room = u->dim_room ? 2 * u->dim_room : 64;
	struct sl_dim *p;

	if (u->dims < u->dim_room)
		return 0;
	p = realloc(u->dim, room * sizeof(*p));
	if (!p)
		return -1;
	u->dim = p;
	u->dim_room = room;
	return 0;
}

uint32_t sl_usage_dim(struct sl_usage *u, const struct sl_dim *d, struct sl_error *err)
{
	struct sl_dim copy = { NULL, NULL, NULL, d->state };
	uint32_t *slot;

	if (u->slots && *(slot = find_slot(u, d)))
		return *slot - 1;
	if (grow_dims(u) || grow_names(&u->names[SL_BY_USER], u->dim_room) ||
	    grow_names(&u->names[SL_BY_ACCOUNT], u->dim_room) || (2 * (u->dims + 1) > u->slots && grow_slots(u)) ||
	    usage_cache_grow(u, u->dims + 1))
		goto error;
	copy.user = strdup(d->user);
	copy.account = strdup(d->account);
	copy.partition = strdup(d->partition);
	if (!copy.user || !copy.account || !copy.partition)
		goto error;
	u->dim[u->dims] = copy;
	keep_name(&u->names[SL_BY_USER], u->dims, copy.user);
	keep_name(&u->names[SL_BY_ACCOUNT], u->dims, copy.account);
	*find_slot(u, &copy) = u->dims + 1;
	return u->dims++;
error:
	free((char *) copy.user);
	free((char *) copy.account);
	free((char *) copy.partition);
	sl_fail(err, SL_ENOMEM, "usage: out of memory");
	return SL_NONE;
}

uint32_t sl_usage_dims(const struct sl_usage *u)
{
	return u->dims;
}

const struct sl_dim *sl_usage_dim_of(const struct sl_usage *u, uint32_t dim)
{
	return &u->dim[dim];
}

void usage_dims_free(struct sl_usage *u)
{
	for (uint32_t i = 0; i < u->dims; i++) {
		free((char *) u->dim[i].user);
		free((char *) u->dim[i].account);
		free((char *) u->dim[i].partition);
	}
	for (int by = 0; by < SL_BYS; by++) {
		free(u->names[by].text);
		free(u->names[by].slot);
		free(u->names[by].of);
	}
	free(u->dim);
	free(u->slot);
}
