/* SPDX-License-Identifier: MIT */
/*
 * faulty_engine.c - the program with three faults in its planner: it plans a job whose id ends in 7 on more cores
 * than its first node has, and fails at one whose name is "trap", and at making bids of one whose name is "dear".
 *
 * The linker's --wrap puts the first fault between the planner, which lays out its plan row by row, and the
 * builder, the second before the planner looks whether a job fits now, the third before it looks whether a job may be
 * bid for now.  What becomes of these from there on (checker,
 * engine, plug-in) is the real thing.
 */
#include <stdint.h>
#include <string.h>

#include "image/plan_image.h"
#include "model/plan_private.h"

int __real_plan_fits_now(struct attempt *a, int64_t seconds, bool layout, struct sl_error *err);
int __wrap_plan_fits_now(struct attempt *a, int64_t seconds, bool layout, struct sl_error *err);

int __wrap_plan_fits_now(struct attempt *a, int64_t seconds, bool layout, struct sl_error *err)
{
	if (!strcmp(cluster_str(a->p->c, a->p->c->snap->job.name[a->w->entry.job]), "trap"))
		return sl_fail(err, SL_EINVAL, "no room for a trap");
	return __real_plan_fits_now(a, seconds, layout, err);
}

int __real_plan_gate_now(struct sl_plan *p, const struct want *w, struct sl_refusal *r, struct sl_error *err);
int __wrap_plan_gate_now(struct sl_plan *p, const struct want *w, struct sl_refusal *r, struct sl_error *err);

/* (Only calls from other files than that of the function come here: those of model/prospect.c.) */
int __wrap_plan_gate_now(struct sl_plan *p, const struct want *w, struct sl_refusal *r, struct sl_error *err)
{
	if (!strcmp(cluster_str(p->c, p->c->snap->job.name[w->entry.job]), "dear"))
		return sl_fail(err, SL_EINVAL, "no bid is high enough");
	return __real_plan_gate_now(p, w, r, err);
}

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
