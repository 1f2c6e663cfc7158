/* SPDX-License-Identifier: MIT */
/*
 * place_memo.c - what was refused a moment ago.
 *
 * A cycle asks for thousands of jobs whether they could start now, and most are
 * refused by the same lack.  Bookings only take away, so what one request did not
 * find a more demanding one will not find either, until something becomes free.
 */
#include "timeline/place_impl.h"

#include <string.h>

static uint64_t hash_of(const struct sl_timeline *tl, const struct sl_nodeset *eligible)
{
	return !eligible || eligible->count == tl->nodes ? 0 : sl_nodeset_hash(eligible);
}

/* Asks the need for no less of each node, for no less time? */
static bool asks_no_less(const struct sl_memo *m, const struct sl_need *need)
{
	return need->r->duration >= m->duration && need->least_cores >= m->least_cores &&
	       need->most_cores <= m->most_cores && need->r->memory_per_node >= m->memory_per_node &&
	       need->r->memory_per_core >= m->memory_per_core && (need->whole || !m->whole) &&
	       (!(m->needs + m->jobs) || (need->needs == m->needs && need->jobs == m->jobs &&
		need->least >= m->least && !memcmp(need->need, m->need, sizeof(m->need))));
}

static bool units_no_smaller(const struct sl_memo *m, const struct sl_need *need)
{
	return need->unit_cores >= m->unit_cores && need->core_units <= m->core_units && need->most <= m->most;
}

bool sl_memo_refuses(const struct sl_timeline *tl, const struct sl_need *need, struct sl_sums *sums)
{
	const struct sl_space *sp = tl->space;
	bool hashed = false;
	uint64_t eligible = 0;

	for (uint32_t i = 0; sp && i < sp->memos; i++) {
		const struct sl_memo *m = &sp->memo[i];
		bool nodes, units;

		if (m->grown != tl->grown || m->now != tl->now)
			continue;
		nodes = need->min_nodes > m->nodes;
		units = need->units > m->units;
		if (!(nodes || units) || !asks_no_less(m, need) || !(nodes || units_no_smaller(m, need)))
			continue;
		if (!hashed)
			eligible = hash_of(tl, need->r->eligible);
		hashed = true;
		if (m->eligible != eligible)
			continue;
		*sums = (struct sl_sums) { .nodes = m->nodes, .units = m->units };
		return true;
	}
	return false;
}

void sl_memo_keep(struct sl_timeline *tl, const struct sl_need *need, const struct sl_sums *sums)
{
	struct sl_space *sp = tl->space;
	struct sl_memo *m = &sp->memo[sp->next_memo];

	*m = (struct sl_memo) {
		.grown = tl->grown, .moment = tl->moment, .eligible = hash_of(tl, need->r->eligible),
		.now = tl->now, .duration = need->r->duration, .memory_per_node = need->r->memory_per_node,
		.memory_per_core = need->r->memory_per_core, .nodes = sums->nodes,
		/* no node was cut to the units wanted, or there would have been enough */
		.units = sums->units < need->units ? sums->units : INT64_MAX,
		.unit_cores = need->unit_cores, .core_units = need->core_units, .least = need->least,
		.most = need->most, .least_cores = need->least_cores, .most_cores = need->most_cores,
		.needs = need->needs, .jobs = need->jobs, .whole = need->whole,
	};
	memcpy(m->need, need->need, sizeof(m->need));
	sp->next_memo = (sp->next_memo + 1) % SL_MEMOS;
	if (sp->memos < SL_MEMOS)
		sp->memos++;
}

void sl_memo_undo(void *space, uint64_t moment)
{
	struct sl_space *sp = space;

	for (uint32_t i = 0; i < sp->memos; i++) {
		if (sp->memo[i].moment > moment)
			sp->memo[i].now = INT64_MIN;	/* never again */
	}
}
