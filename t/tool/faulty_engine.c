/* SPDX-License-Identifier: MIT */
/*
 * faulty_engine.c - the program with a fault in its planner: it plans a job whose id ends in 7 on more cores
 * than its first node has.
 *
 * The linker's --wrap puts the fault between the planner, which lays out its plan row by row, and the
 * builder.  What becomes of such a row from there on (checker, engine, plug-in) is the real thing.
 */
#include <stdint.h>

#include "image/plan_image.h"

uint32_t __real_sl_builder_append(struct sl_builder *b, int table, const void *row);
uint32_t __wrap_sl_builder_append(struct sl_builder *b, int table, const void *row);

static void misplace(struct sl_builder *b, uint32_t job, struct sl_range places)
{
	struct sl_plan_place_row place;

	if (job % 10 != 7 || !places.count || sl_builder_row(b, SL_P_PLACE, places.first, &place))
		return;
	place.cores += 4096;
	sl_builder_update(b, SL_P_PLACE, places.first, &place);
}

uint32_t __wrap_sl_builder_append(struct sl_builder *b, int table, const void *row)
{
	if (sl_builder_schema(b) == &sl_plan_schema && table == SL_P_START)
		misplace(b, ((const struct sl_plan_start_row *) row)->job, ((const struct sl_plan_start_row *) row)->places);
	if (sl_builder_schema(b) == &sl_plan_schema && table == SL_P_RESERVE)
		misplace(b, ((const struct sl_plan_reserve_row *) row)->job, ((const struct sl_plan_reserve_row *) row)->places);
	return __real_sl_builder_append(b, table, row);
}
