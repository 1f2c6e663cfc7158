/* SPDX-License-Identifier: MIT */
#include "sim/audit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "check/check.h"
#include "model/devices.h"
#include "model/request.h"

struct sl_audit {
	const struct sl_cluster *c;
	const struct sl_snapshot *snap;
	struct sl_builder *b;
	int64_t *end;			/* of each reservation row */
	struct run { struct sl_plan_reserve_row row; uint32_t loan; } *run;	/* as they were added */
	uint32_t jobs, room, run_room;
	uint32_t *last;			/* [job row] of its runs the last one + 1; 0: none */
};

struct sl_audit *sl_audit_create(const struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(c);
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_audit *a = calloc(1, sizeof(*a));

	if (!a) {
		sl_fail(err, SL_ENOMEM, "audit: out of memory");
		return NULL;
	}
	a->c = c;
	a->snap = snap;
	a->b = sl_builder_create(&sl_plan_schema, err);
	a->last = calloc((size_t) snap->job.rows + 1, sizeof(*a->last));
	if (!a->b || !a->last) {
		if (a->b)
			sl_fail(err, SL_ENOMEM, "audit: out of memory");
		sl_audit_destroy(a);
		return NULL;
	}
	meta.sequence = snap->meta.sequence[0];
	meta.now = snap->meta.now[0];
	sl_builder_append(a->b, SL_P_META, &meta);
	return a;
}

void sl_audit_destroy(struct sl_audit *a)
{
	if (!a)
		return;
	sl_builder_destroy(a->b);
	free(a->end);
	free(a->run);
	free(a->last);
	free(a);
}

static struct sl_range gres_rows(struct sl_audit *a, const struct sl_place *place, uint16_t kinds)
{
	struct sl_range range = { sl_builder_rows(a->b, SL_P_PLACE_GRES), 0 };

	for (uint32_t k = 0; k < a->snap->gres_kind.rows && k < SL_MAX_GRES; k++) {
		struct sl_plan_place_gres_row row = { .kind = k, .count = place->gres[k] };

		if (!row.count || !(kinds >> k & 1))
			continue;
		row.devices = sl_cluster_devices(a->c, place->gres, k, &row.of);
		sl_builder_append(a->b, SL_P_PLACE_GRES, &row);
		range.count++;
	}
	return range;
}

static void add_loan(struct sl_audit *a, const struct sl_loan *loan, struct sl_plan_reserve_row *job)
{
	if (!loan)
		return;
	job->through = loan->through;
	job->lenders = (struct sl_range) { sl_builder_rows(a->b, SL_P_LENDER), loan->lenders };
	for (uint32_t i = 0; i < loan->lenders; i++) {
		struct sl_plan_lender_row row = { .partition = loan->lender[i] };

		sl_builder_append(a->b, SL_P_LENDER, &row);
	}
}

static struct sl_range put_places(struct sl_audit *a, uint32_t job, bool native, const struct sl_place *places, uint32_t count, uint16_t kinds)
{
	struct sl_range range = { sl_builder_rows(a->b, SL_P_PLACE), count };

	for (uint32_t i = 0; i < count; i++) {
		int64_t memory = a->snap->node.memory[places[i].node];
		struct sl_plan_place_row row = sl_plan_place_row();

		row.node = places[i].node;
		row.cores = native || !sl_request_core_spec(a->snap, job) ? places[i].cores :
			    sl_request_node_cores(a->snap, job, row.node);
		row.tasks = native ? 0 : places[i].tasks;
		row.memory = places[i].memory < memory ? places[i].memory : memory > 0 ? memory : 0;
		row.gres = gres_rows(a, &places[i], kinds);
		sl_builder_append(a->b, SL_P_PLACE, &row);
	}
	return range;
}

static int add_run(struct sl_audit *a, uint32_t job, const struct run *run, int64_t end, struct sl_error *err)
{
	if (sl_grow(&a->end, &a->room, a->jobs + UINT64_C(1), sizeof(*a->end), err) ||
	    sl_grow(&a->run, &a->run_room, a->jobs + UINT64_C(1), sizeof(*a->run), err))
		return -1;
	sl_builder_append(a->b, SL_P_RESERVE, &run->row);
	a->run[a->jobs] = *run;
	a->end[a->jobs++] = end;
	a->last[job] = a->jobs;
	return 0;
}

int sl_audit_job(struct sl_audit *a, struct sl_entry e, const struct sl_loan *loan, int64_t start, int64_t end,
		 const struct sl_place *places, uint32_t count, uint16_t kinds, bool native,
		 struct sl_error *err)
{
	struct run run = { sl_plan_reserve_row(), e.loan };
	struct sl_plan_reserve_row *job = &run.row;

	job->job = a->snap->job.id[e.job];
	job->partition = e.partition;
	add_loan(a, loan, job);
	job->shape = e.shape;
	job->native = native;
	job->start_time = start;
	job->places = put_places(a, e.job, native, places, count, kinds);
	return add_run(a, e.job, &run, end, err);
}

int sl_audit_resumed(struct sl_audit *a, uint32_t job, int64_t start, int64_t end, const struct sl_place *places, uint32_t count,
		     struct sl_error *err)
{
	struct run run;

	if (!a->last[job])	/* it ran when the workload began */
		return 0;
	run = a->run[a->last[job] - 1];
	run.row.start_time = start;
	run.row.lenders = (struct sl_range) { 0, 0 };
	add_loan(a, sl_cluster_loan(a->c, run.loan), &run.row);
	run.row.places = put_places(a, job, run.row.native, places, count, 0);
	return add_run(a, job, &run, end, err);
}

void sl_audit_stopped(struct sl_audit *a, const struct sl_sim_stop *stop)
{
	struct sl_plan_stop_row row = { .job = a->snap->job.id[stop->job], .start_time = stop->start_s, .mode = stop->mode };

	if (!a->last[stop->job])	/* it ran when the workload began */
		return;
	row.preemptor = stop->preemptor == SL_NONE ? 0 : a->snap->job.id[stop->preemptor];
	a->end[a->last[stop->job] - 1] = stop->end_s;
	sl_builder_append(a->b, SL_P_STOP, &row);
}

int sl_audit_check(struct sl_audit *a, struct sl_error *err)
{
	struct sl_plan_image schedule;
	const void *bytes;
	size_t size;

	if (sl_builder_finish(a->b, &bytes, &size, err) < 0 || sl_plan_image_open(&schedule, bytes, size, err) < 0)
		return -1;
	return sl_check_schedule(a->snap, &schedule, a->end, err);
}
