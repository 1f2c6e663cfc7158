/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <endian.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_SLOTS 64

/* -- hashes ---------------------------------------------------------------- */

static uint64_t hash_key[2];

/* Before anything else, so that nobody has to think of it, and before a process gives up its system calls. */
__attribute__((constructor)) static void draw_key(void)
{
	struct timespec now;

	if (getrandom(hash_key, sizeof(hash_key), GRND_NONBLOCK) == sizeof(hash_key))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	hash_key[0] = sl_hash_number((uint64_t) now.tv_sec << 30 ^ (uint64_t) now.tv_nsec, (uintptr_t) &now);
	hash_key[1] = sl_hash_number(hash_key[0], (uintptr_t) &draw_key);
}

void sl_hash_with_key(const uint64_t key[2])
{
	memcpy(hash_key, key, sizeof(hash_key));
}

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_rounds(uint64_t v[4], unsigned rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

static inline void sip_word(uint64_t v[4], unsigned rounds, uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, rounds);
	v[0] ^= word;
}

/* Fewer than eight bytes, little-endian.  Some are read twice: that is faster than one after the other. */
static inline uint64_t read_rest(const unsigned char *p, size_t n)
{
	uint32_t low, high;

	if (n < 4)
		return n ? p[0] | (uint64_t) p[n / 2] << 8 * (n / 2) | (uint64_t) p[n - 1] << 8 * (n - 1) : 0;
	memcpy(&low, p, 4);
	memcpy(&high, p + n - 4, 4);
	return le32toh(low) | (uint64_t) le32toh(high) << 8 * (n - 4);
}

static inline uint64_t siphash(const uint64_t key[2], unsigned c, unsigned d, bool has_first, uint64_t first,
			       const void *bytes, size_t n)
{
	uint64_t v[4] = { key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
			  key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573) };
	uint64_t last = (uint64_t) (n + (has_first ? 8 : 0)) << 56, word;
	const unsigned char *p = bytes;

	if (has_first)
		sip_word(v, c, first);
	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		sip_word(v, c, le64toh(word));
	}
	sip_word(v, c, last | read_rest(p, n));
	v[2] ^= 0xff;
	sip_rounds(v, d);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t sl_siphash(const uint64_t key[2], unsigned c, unsigned d, bool has_first, uint64_t first, const void *bytes,
		    size_t n)
{
	return siphash(key, c, d, has_first, first, bytes, n);
}

/* Interning is what collecting a snapshot spends most of its time on, and it does so under Slurm's locks: one round for
 * eight bytes, and three at the end, as the tables of Rust, Python and Perl have it. */
uint64_t sl_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	return siphash(hash_key, 1, 3, hash != SL_HASH, hash, bytes, n);
}

uint64_t sl_digest(uint64_t digest, const void *bytes, size_t n)
{
	static const uint64_t key[2] = { 0, 0 };

	return siphash(key, 2, 4, true, digest, bytes, n);
}

/* -- maps ------------------------------------------------------------------ */

static void put_slot(struct sl_map *m, struct sl_map_slot s)
{
	uint32_t at = s.hash;

	while (m->slot[at & (m->slots - 1)].entry)
		at++;
	m->slot[at & (m->slots - 1)] = s;
}

/* At most half of the slots are taken. */
int sl_map_reserve(struct sl_map *m, uint64_t count, struct sl_error *err)
{
	struct sl_map grown = { .slots = m->slots ? m->slots : FIRST_SLOTS, .count = m->count };

	if (2 * count <= m->slots)
		return 0;
	while (grown.slots < 2 * count && grown.slots < UINT32_C(1) << 31)
		grown.slots *= 2;
	if (grown.slots < 2 * count || !(grown.slot = calloc(grown.slots, sizeof(*grown.slot))))
		return sl_fail(err, SL_ENOMEM, "out of memory");
	for (uint32_t i = 0; i < m->slots; i++)
		if (m->slot[i].entry)
			put_slot(&grown, m->slot[i]);
	free(m->slot);
	*m = grown;
	return 0;
}

int sl_map_put(struct sl_map *m, uint64_t hash, uint32_t value, struct sl_error *err)
{
	if (sl_map_reserve(m, m->count + UINT64_C(1), err))
		return -1;
	put_slot(m, (struct sl_map_slot) { (uint32_t) hash, value + 1 });
	m->count++;
	return 0;
}

void sl_map_remove(struct sl_map *m, uint64_t hash, uint32_t value)
{
	struct sl_map_at found = { (uint32_t) hash, (uint32_t) hash, 0 };
	uint32_t at;

	do {
		if (!sl_map_next(m, &found))
			return;
	} while (found.value != value);
	at = found.next;
	m->slot[(at - 1) & (m->slots - 1)].entry = 0;
	m->count--;
	/* those that follow without a gap may have been put there because of it */
	for (struct sl_map_slot *s; (s = &m->slot[at & (m->slots - 1)])->entry; at++) {
		struct sl_map_slot again = *s;

		s->entry = 0;
		put_slot(m, again);
	}
}

void sl_map_clear(struct sl_map *m)
{
	if (m->slots)
		memset(m->slot, 0, m->slots * sizeof(*m->slot));
	m->count = 0;
}

void sl_map_free(struct sl_map *m)
{
	free(m->slot);
	*m = (struct sl_map) { 0 };
}
