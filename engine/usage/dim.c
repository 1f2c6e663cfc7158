/* SPDX-License-Identifier: MIT */
/*
 * usage/dim.c - the dimensions of a usage, and the names in them, each found by hash.
 */
#include "usage/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static uint64_t hash_dim(const struct sl_dim *d)
{
	return sl_hash_text(sl_hash_text(sl_hash_text(SL_HASH + d->state, d->user), d->account), d->partition);
}

static bool same_dim(const struct sl_dim *a, const struct sl_dim *b)
{
	return a->state == b->state && !strcmp(a->user, b->user) && !strcmp(a->account, b->account) &&
		!strcmp(a->partition, b->partition);
}

/* Room for one more name, and for so many dimensions. */
static int grow_names(struct names *n, uint32_t dims)
{
	return sl_grow(&n->of, &n->of_room, dims, sizeof(*n->of), NULL) ||
	       sl_grow(&n->text, &n->room, n->count + UINT64_C(1), sizeof(*n->text), NULL) ||
	       sl_map_reserve(&n->by_text, n->count + UINT64_C(1), NULL) ? -1 : 0;
}

/* There is room. */
static void keep_name(struct names *n, uint32_t dim, const char *text)
{
	uint64_t hash = sl_hash_text(SL_HASH, text);

	SL_MAP_EACH(&n->by_text, hash, at)
		if (!strcmp(n->text[at.value], text)) {
			n->of[dim] = at.value;
			return;
		}
	sl_map_put(&n->by_text, hash, n->count, NULL);
	n->of[dim] = n->count;
	n->text[n->count++] = text;
}

uint32_t sl_usage_dim(struct sl_usage *u, const struct sl_dim *d, struct sl_error *err)
{
	struct sl_dim copy = { NULL, NULL, NULL, d->state };
	uint64_t hash = hash_dim(d);

	SL_MAP_EACH(&u->by_dim, hash, at)
		if (same_dim(&u->dim[at.value], d))
			return at.value;
	if (sl_grow(&u->dim, &u->dim_room, u->dims + UINT64_C(1), sizeof(*u->dim), NULL) ||
	    grow_names(&u->names[SL_BY_USER], u->dims + 1) || grow_names(&u->names[SL_BY_ACCOUNT], u->dims + 1) ||
	    sl_map_reserve(&u->by_dim, u->dims + UINT64_C(1), NULL) || usage_cache_grow(u, u->dims + 1))
		goto error;
	copy.user = strdup(d->user);
	copy.account = strdup(d->account);
	copy.partition = strdup(d->partition);
	if (!copy.user || !copy.account || !copy.partition)
		goto error;
	u->dim[u->dims] = copy;
	keep_name(&u->names[SL_BY_USER], u->dims, copy.user);
	keep_name(&u->names[SL_BY_ACCOUNT], u->dims, copy.account);
	sl_map_put(&u->by_dim, hash, u->dims, NULL);
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
		sl_map_free(&u->names[by].by_text);
		free(u->names[by].of);
	}
	free(u->dim);
	sl_map_free(&u->by_dim);
}
