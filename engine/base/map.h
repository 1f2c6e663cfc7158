/* SPDX-License-Identifier: MIT */
/*
 * map.h - numbers found by hash, for whoever keeps the things themselves.
 *
 * A map knows no keys: it leads from a hash to the numbers (rows, offsets) that were put in
 * with it, and the caller, who has the things in an array, compares:
 *
 *	SL_MAP_EACH(&m, hash, at)
 *		if (same(&thing[at.value], key))
 *			return at.value;
 *
 * Ownership: begins as zeroes, ends with sl_map_free().  Threads: one map, one thread.
 */
#ifndef SL_MAP_H
#define SL_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* -- hashes: never stored, never sent -------------------------------------- */

#define SL_HASH UINT64_C(0x9e3779b97f4a7c15)	/* where one begins */

/* Of numbers that nobody chooses: rows, offsets, ids. */
static inline uint64_t sl_hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0xff51afd7ed558ccd);
	return hash ^ hash >> 32;
}

/*
 * Of bytes that anybody may have chosen.  It depends on a key that each process draws for itself, so that nobody can
 * make up names that have one hash and are all looked at for each that is looked up.  What is found with a map does not
 * depend on the key; a digest that is kept or sent is another thing (sl_digest()).
 */
uint64_t sl_hash_bytes(uint64_t hash, const void *bytes, size_t n);

static inline uint64_t sl_hash_text(uint64_t hash, const char *text)
{
	return sl_hash_bytes(hash, text, strlen(text));
}

/* SipHash-c-d (Aumasson and Bernstein 2012) of *first*, little-endian, and the bytes behind it where *has_first*. */
uint64_t sl_siphash(const uint64_t key[2], unsigned c, unsigned d, bool has_first, uint64_t first, const void *bytes,
		    size_t n);

/* Hash with that key from now on; for tests.  No map may have anything in it. */
void sl_hash_with_key(const uint64_t key[2]);

/* The same on every machine and in every process, for what is kept in files; *digest*: of what came before, or SL_HASH. */
uint64_t sl_digest(uint64_t digest, const void *bytes, size_t n);

/* Of a number like a job's, one that no other number has: what is found with it is the right one. */
static inline uint32_t sl_hash_id(uint32_t id)
{
	return id * UINT32_C(2654435761);
}

/* -- maps ------------------------------------------------------------------ */

struct sl_map_slot {
	uint32_t hash;
	uint32_t entry;		/* value + 1, 0: free */
};

struct sl_map {
	struct sl_map_slot *slot;
	uint32_t slots;		/* a power of two, or 0 */
	uint32_t count;
};

struct sl_map_at {		/* where a search is */
	uint32_t hash, next;
	uint32_t value;		/* found */
};

/* The next value with the hash of the search; false: there is none. */
static inline bool sl_map_next(const struct sl_map *m, struct sl_map_at *at)
{
	const struct sl_map_slot *s;

	if (!m->slots)
		return false;
	do
		s = &m->slot[at->next++ & (m->slots - 1)];
	while (s->entry && s->hash != at->hash);
	at->value = s->entry - 1;
	return s->entry;
}

#define SL_MAP_EACH(m, h, at) \
	for (struct sl_map_at at = { (uint32_t) (h), (uint32_t) (h), 0 }; sl_map_next(m, &at); )

#define SL_MAP_NOTHING UINT32_MAX

/* What was put in with sl_hash_id(), once for each id; or SL_MAP_NOTHING. */
static inline uint32_t sl_map_by_id(const struct sl_map *m, uint32_t id)
{
	SL_MAP_EACH(m, sl_hash_id(id), at)
		return at.value;
	return SL_MAP_NOTHING;
}

/* Room for so many: as long as there are no more, sl_map_put() cannot fail.  Returns 0, or
 * -1 with *err (SL_ENOMEM): nothing changed. */
int sl_map_reserve(struct sl_map *m, uint64_t count, struct sl_error *err);

/* Put a value < UINT32_MAX in; it is not looked whether it is there.  Of a hash, the lower
 * 32 bits count.  Errors as above. */
int sl_map_put(struct sl_map *m, uint64_t hash, uint32_t value, struct sl_error *err);

/* Take out what was put in so, if it is there. */
void sl_map_remove(struct sl_map *m, uint64_t hash, uint32_t value);

/* Empty it; its room stays. */
void sl_map_clear(struct sl_map *m);

void sl_map_free(struct sl_map *m);

#endif
