/* SPDX-License-Identifier: MIT */
/*
 * usage/memory.c - a usage whose source is its own memory: the pieces of each day.
 */
#include "usage/private.h"

#include <stdlib.h>
#include <string.h>

/* Into each of its days it goes; what takes a piece back has negative amounts. */
int usage_memory_note(struct sl_usage *u, const struct sl_piece *p, struct sl_error *err)
{
	int64_t first = sl_day_of(p->start), end = usage_end_day(p), lo, hi;
	struct pieces *by_day;

	lo = u->days && u->first_day < first ? u->first_day : first;
	hi = u->days && u->first_day + u->days > end ? u->first_day + u->days : end;
	if (hi - lo > 1 << 20)
		return sl_fail(err, SL_EINVAL, "usage: times that are %lld days apart", (long long) (hi - lo));
	if (!u->days || lo < u->first_day || hi > u->first_day + u->days) {
		hi += u->days / 2;
		by_day = calloc((size_t) (hi - lo), sizeof(*by_day));
		if (!by_day)
			return sl_fail(err, SL_ENOMEM, "usage: out of memory");
		if (u->days)
			memcpy(by_day + (u->first_day - lo), u->by_day, u->days * sizeof(*by_day));
		free(u->by_day);
		u->by_day = by_day;
		u->first_day = lo;
		u->days = (uint32_t) (hi - lo);
	}
	for (int64_t day = first; day < end; day++)
		if (usage_pieces_add(&u->by_day[day - u->first_day], p))
			return sl_fail(err, SL_ENOMEM, "usage: out of memory");
	return 0;
}

static int memory_days(void *arg, int64_t first, int64_t end, bool apart, sl_usage_each_day *each, void *to,
		       struct sl_error *err)
{
	struct sl_usage *u = arg;

	(void) apart;
	(void) err;
	if (first < u->first_day)
		first = u->first_day;
	if (end > u->first_day + u->days)
		end = u->first_day + u->days;
	for (int64_t day = first; day < end; day++)
		for (uint32_t i = 0; i < u->by_day[day - u->first_day].count; i++) {
			const struct sl_piece *p = &u->by_day[day - u->first_day].piece[i];
			int64_t amount[SL_UNITS];

			for (int k = 0; k < SL_UNITS; k++)
				amount[k] = sl_piece_part(p, (enum sl_unit) k, day * SL_DAY, (day + 1) * SL_DAY);
			each(to, p->dim, day, amount);
		}
	return 0;
}

static int memory_pieces(void *arg, int64_t day, sl_usage_each_piece *each, void *to, struct sl_error *err)
{
	struct sl_usage *u = arg;

	(void) err;
	if (day >= u->first_day && day < u->first_day + u->days)
		for (uint32_t i = 0; i < u->by_day[day - u->first_day].count; i++)
			each(to, &u->by_day[day - u->first_day].piece[i]);
	return 0;
}

struct sl_usage *sl_usage_create_memory(struct sl_error *err)
{
	struct sl_usage_source source = { .days = memory_days, .pieces = memory_pieces };
	struct sl_usage *u = sl_usage_create(&source, err);

	if (u) {
		u->source.arg = u;
		u->in_memory = true;
	}
	return u;
}

void usage_memory_free(struct sl_usage *u)
{
	for (uint32_t i = 0; i < u->days; i++)
		free(u->by_day[i].piece);
	free(u->by_day);
}

struct sl_usage *sl_usage_of_snapshot(const struct sl_snapshot *snap, struct sl_error *err)
{
	const struct sl_usage_view *v = &snap->usage;
	struct sl_usage *u = sl_usage_create_memory(err);

	for (uint32_t i = 0; u && i < v->rows; i++) {
		struct sl_dim dim = { sl_snapshot_str(snap, v->user[i]), sl_snapshot_str(snap, v->account[i]),
				      sl_snapshot_str(snap, v->partition[i]), v->state[i] };
		struct sl_piece p = { .start = v->start_time[i], .end = v->end_time[i],
				      .amount = { v->cpu_s[i], v->gpu_s[i], v->node_s[i] } };

		p.dim = sl_usage_dim(u, &dim, err);
		if (p.dim == SL_NONE || sl_usage_note(u, &p, 1, err)) {
			sl_usage_destroy(u);
			return NULL;
		}
	}
	return u;
}
