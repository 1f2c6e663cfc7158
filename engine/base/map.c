/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>

#define FIRST_SLOTS 64

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
