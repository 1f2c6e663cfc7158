/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

struct sl_range place(struct built_plan *p, uint32_t node, uint32_t cores, int64_t memory, uint32_t gpus)
{
	struct sl_plan_place_row row = { .node = node, .cores = cores, .memory = memory };
	struct sl_plan_place_gres_row gres = { .kind = 0, .count = gpus };

	if (gpus)
		row.gres = (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE_GRES, &gres), 1 };
	return (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE, &row), 1 };
}

struct sl_range places(struct built_plan *p, uint32_t first, uint32_t last, uint32_t cores)
{
	struct sl_range r = place(p, first, cores, 0, 0);

	for (uint32_t n = first + 1; n <= last; n++, r.count++)
		place(p, n, cores, 0, 0);
	return r;
}

struct sl_range on_two(struct built_plan *p, uint32_t cores0, uint32_t tasks0, uint32_t cores1, uint32_t tasks1)
{
	struct sl_plan_place_row row = { .node = 0, .cores = cores0, .tasks = tasks0 };
	struct sl_range r = { sl_builder_append(p->builder, SL_P_PLACE, &row), 2 };

	row = (struct sl_plan_place_row) { .node = 1, .cores = cores1, .tasks = tasks1 };
	sl_builder_append(p->builder, SL_P_PLACE, &row);
	return r;
}

struct sl_plan_start_row start_row(uint32_t job, struct sl_range places)
{
	struct sl_plan_start_row row = sl_plan_start_row();

	row.job = job;
	row.stamp = job + 1000;
	row.partition = 0;
	row.places = places;
	return row;
}

void put_start(struct built_plan *p, uint32_t job, struct sl_range places)
{
	struct sl_plan_start_row row = start_row(job, places);

	sl_builder_append(p->builder, SL_P_START, &row);
}

void put_reservation(struct built_plan *p, uint32_t job, int64_t in, struct sl_range places)
{
	struct sl_plan_reserve_row row = sl_plan_reserve_row();

	row.job = job;
	row.start_time = BUILD_NOW + in;
	row.partition = 0;
	row.places = places;
	sl_builder_append(p->builder, SL_P_RESERVE, &row);
}

void expect(struct build *b, struct built_plan *p, const char *words)
{
	struct sl_error err = { 0 };
	const struct sl_snapshot *snap = build_open(b);
	int rc = sl_check_plan(snap, build_plan_open(p), &err);

	if (!words && rc)
		fail_msg("refused: %s", err.text);
	if (words && !rc)
		fail_msg("not refused (%s)", words);
	if (words && !strstr(err.text, words))
		fail_msg("\"%s\" has no \"%s\"", err.text, words);
	build_plan_destroy(p);
}

struct build *one(struct build_job j)
{
	struct build *b = build_create("4x8c2g");

	j.id = 2;
	build_pending(b, j);
	return b;
}
