/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memo.h - a number for a job that must be remembered from cycle to cycle:
 * how often select refused it, the time limit it had before it was trimmed.
 *
 * Small and bounded: when it is full, the oldest entry goes.  A value; all
 * bytes zero is empty.  No threads.
 */
#ifndef SL_MEMO_H
#define SL_MEMO_H

#include <stdint.h>
#include <string.h>

#define SL_MEMO_SIZE 4096	/* a power of two */
#define SL_MEMO_PROBES 16

struct sl_memo {
	struct { uint32_t job; uint64_t value, age; } slot[SL_MEMO_SIZE];
	uint64_t clock;
};

static inline uint64_t sl_memo_get(const struct sl_memo *m, uint32_t job)
{
	uint32_t i, at = job * 2654435761u >> 16;

	for (i = 0; job && i < SL_MEMO_PROBES; i++, at++)
		if (m->slot[at % SL_MEMO_SIZE].job == job)
			return m->slot[at % SL_MEMO_SIZE].value;
	return 0;
}

/* Value 0 forgets the job. */
static inline void sl_memo_set(struct sl_memo *m, uint32_t job, uint64_t value)
{
	uint32_t i, at = job * 2654435761u >> 16, best = at % SL_MEMO_SIZE;

	for (i = 0; i < SL_MEMO_PROBES; i++, at++) {
		uint32_t s = at % SL_MEMO_SIZE;

		if (m->slot[s].job == job) {
			best = s;
			break;
		}
		if (m->slot[s].age < m->slot[best].age)
			best = s;
	}
	if (!value && m->slot[best].job != job)
		return;
	m->slot[best].job = value ? job : 0;
	m->slot[best].value = value;
	m->slot[best].age = value ? ++m->clock : 0;
}

#endif
