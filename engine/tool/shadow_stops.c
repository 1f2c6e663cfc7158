/* SPDX-License-Identifier: MIT */
/*
 * shadow_stops.c - the book of shadow mode: whom the policies would have stopped for whom, and what became of both under Slurm.
 */
#include "tool/shadow.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"
#include "tool/member.h"

static int take_victims(struct sl_shadow_report *r, const json_t *stop, int64_t now, struct sl_error *err)
{
	const char *verdict = sl_member_text(stop, "verdict");
	json_t *victim;
	size_t i;

	json_array_foreach(json_object_get(stop, "victims"), i, victim) {
		if (sl_grow(&r->stop, &r->stop_room, r->stops + UINT64_C(1), sizeof(*r->stop), err))
			return -1;
		r->stop[r->stops++] = (struct sl_shadow_stop) {
			.victim = victim, .job = (uint32_t) sl_member_integer(victim, "job"),
			.preemptor = (uint32_t) sl_member_integer(stop, "job"), .when = now, .optimal = *verdict == 'o',
		};
		r->moves += json_is_true(json_object_get(victim, "moves"));
		r->stop_cost += sl_member_number(victim, "cost");
	}
	return 0;
}

int sl_shadow_take_stops(struct sl_shadow_report *r, const json_t *line, int64_t now, struct sl_error *err)
{
	json_t *stop;
	size_t i;

	json_array_foreach(json_object_get(line, "stops"), i, stop) {
		r->stopped_for++;
		if (take_victims(r, stop, now, err) < 0)
			return -1;
	}
	return 0;
}

static void find_fate(const struct sl_shadow_report *r, struct sl_shadow_stop *s)
{
	int64_t start = sl_member_integer(s->victim, "start");

	for (uint32_t i = 0; i < r->runs; i++) {
		const struct sl_shadow_run *run = &r->run[i];

		if (!run->ran && run->job == s->job && run->start == start)
			s->ended = run->end;
		if (run->ran && (run->job == s->preemptor || run->group == s->preemptor) && run->start >= s->when &&
		    (!s->started || run->start < s->started))
			s->started = run->start;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct sl_shadow_stop *x = a, *y = b;

	return SL_ORDER(x->when, y->when) ?: SL_ORDER(x->preemptor, y->preemptor) ?: SL_ORDER(x->job, y->job);
}

void sl_shadow_finish_stops(struct sl_shadow_report *r)
{
	if (r->stops)
		qsort(r->stop, r->stops, sizeof(*r->stop), by_time);
	for (uint32_t i = 0; i < r->stops; i++)
		find_fate(r, &r->stop[i]);
}

json_t *sl_shadow_pack_stops(const struct sl_shadow_report *r, uint32_t most)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->stops && i < most; i++) {
		const struct sl_shadow_stop *s = &r->stop[i];
		json_t *o = json_pack("{s:I, s:s, s:I, s:I, s:f, s:s, s:b}", "job", (json_int_t) s->job, "user", sl_member_text(s->victim, "user"),
			"preemptor", (json_int_t) s->preemptor, "time", (json_int_t) s->when, "cost", sl_member_number(s->victim, "cost"),
			"mode", sl_member_text(s->victim, "mode"), "optimal", s->optimal);

		if (json_is_true(json_object_get(s->victim, "moves")))
			json_object_set_new(o, "moves", json_true());
		if (s->ended)
			json_object_set_new(o, "end", json_integer(s->ended));
		if (s->started)
			json_object_set_new(o, "preemptor_start", json_integer(s->started));
		json_array_append_new(list, o);
	}
	return list;
}
