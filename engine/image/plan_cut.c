/* SPDX-License-Identifier: MIT */
/* plan_cut.c - see plan_cut.h */
#include "image/plan_cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "image/copy.h"

/* -- the list ---------------------------------------------------------------- */

int sl_cuts_add(struct sl_cuts *cuts, const struct sl_cut *cut, const char *text, struct sl_error *err)
{
	char *copy = cuts->count < SL_PLAN_REFUSED_MAX ? strdup(text) : NULL;

	if ((!copy && cuts->count < SL_PLAN_REFUSED_MAX) ||
	    sl_grow(&cuts->cut, &cuts->room, cuts->count + UINT64_C(1), sizeof(*cuts->cut), NULL)) {
		free(copy);
		return sl_fail(err, SL_ENOMEM, "check: out of memory");
	}
	cuts->cut[cuts->count] = *cut;
	cuts->cut[cuts->count++].text = copy;
	return 0;
}

void sl_cuts_free(struct sl_cuts *cuts)
{
	for (uint32_t i = 0; i < cuts->count; i++)
		free(cuts->cut[i].text);
	free(cuts->cut);
	*cuts = (struct sl_cuts) { 0 };
}

/* -- the copy ---------------------------------------------------------------- */

struct cutting {
	const struct sl_plan_image *plan;
	const struct sl_cuts *cuts;
	struct sl_image_copy copy;
	bool *out[SL_PLAN_TABLES];	/* by row; NULL: all rows of that table stay */
	uint32_t *kept, *kept_starts;	/* [reservation], [start] those before it that stay */
	struct sl_map jobs;		/* job ids that lost a place -> their first cut */
};

static bool is_place(const struct sl_cut *cut)
{
	return cut->table == SL_P_START || cut->table == SL_P_RESERVE;
}

/* The first start or reservation of the job that is taken out; NULL: it loses none. */
static const struct sl_cut *lost_place(const struct cutting *x, uint32_t job)
{
	uint32_t at = sl_map_by_id(&x->jobs, job);

	return at == SL_MAP_NOTHING ? NULL : &x->cuts->cut[at];
}

static int list_cuts(struct cutting *x, struct sl_error *err)
{
	const struct sl_plan_image *p = x->plan;
	const uint32_t rows[SL_PLAN_TABLES] = { [SL_P_START] = p->start.rows, [SL_P_RESERVE] = p->reserve.rows,
		[SL_P_PENDING] = p->pending.rows, [SL_P_ACTION] = p->action.rows, [SL_P_SHORTAGE] = p->shortage.rows };

	x->kept = calloc((size_t) p->reserve.rows + 1, sizeof(*x->kept));
	x->kept_starts = calloc((size_t) p->start.rows + 1, sizeof(*x->kept_starts));
	if (!x->kept || !x->kept_starts || sl_map_reserve(&x->jobs, x->cuts->count, NULL))
		return sl_fail(err, SL_ENOMEM, "plan: out of memory");
	for (int t = 0; t < SL_PLAN_TABLES; t++)
		if (rows[t] && !(x->out[t] = calloc(rows[t], sizeof(bool))))
			return sl_fail(err, SL_ENOMEM, "plan: out of memory");
	for (uint32_t i = 0; i < x->cuts->count; i++) {
		const struct sl_cut *cut = &x->cuts->cut[i];

		x->out[cut->table][cut->row] = true;
		if (is_place(cut) && !lost_place(x, cut->job))
			(void) sl_map_put(&x->jobs, sl_hash_id(cut->job), i, NULL);
	}
	for (uint32_t r = 0; r < p->reserve.rows; r++)
		x->kept[r + 1] = x->kept[r] + !x->out[SL_P_RESERVE][r];
	for (uint32_t r = 0; r < p->start.rows; r++)
		x->kept_starts[r + 1] = x->kept_starts[r] + !x->out[SL_P_START][r];
	return 0;
}

/* Of the first so many reservations those that stay. */
static uint32_t kept_of(const struct cutting *x, uint32_t reservations)
{
	return x->kept[reservations < x->plan->reserve.rows ? reservations : x->plan->reserve.rows];
}

static void copy_starts(struct cutting *x)
{
	for (uint32_t i = 0; i < x->plan->start.rows; i++) {
		struct sl_plan_start_row row;

		if (x->out[SL_P_START][i])
			continue;
		sl_image_copy_row(&x->copy, SL_P_START, i, &row);
		row.behind = kept_of(x, row.behind);
		sl_builder_append(x->copy.to, SL_P_START, &row);
	}
}

static void copy_preempting(struct cutting *x)
{
	for (uint32_t i = 0; i < x->plan->preempt.rows; i++) {
		struct sl_plan_preempt_row row;

		if (lost_place(x, x->plan->preempt.job[i]))
			continue;
		sl_image_copy_row(&x->copy, SL_P_PREEMPT, i, &row);
		row.behind = kept_of(x, row.behind);
		sl_builder_append(x->copy.to, SL_P_PREEMPT, &row);
	}
}

/* The rows of a table that stay.  *job*: ids of the jobs, where what is said of one that lost its place goes
 * with it; or NULL. */
static void copy_rest(struct cutting *x, enum sl_plan_table table, uint32_t rows, const uint32_t *job)
{
	_Alignas(8) unsigned char row[512];

	for (uint32_t i = 0; i < rows; i++) {
		if ((x->out[table] && x->out[table][i]) || (job && lost_place(x, job[i])))
			continue;
		sl_image_copy_row(&x->copy, (int) table, i, row);
		sl_builder_append(x->copy.to, (int) table, row);
	}
}

/* Whose reservation is refused has no place to hold; what it gives back it gives back. */
static void copy_holds(struct cutting *x)
{
	const struct sl_plan_hold_view *v = &x->plan->hold;

	for (uint32_t i = 0; i < v->rows; i++) {
		struct sl_plan_hold_row row;

		if (!v->release[i] && lost_place(x, v->job[i]))
			continue;
		sl_image_copy_row(&x->copy, SL_P_HOLD, i, &row);
		row.behind = kept_of(x, row.behind);
		row.starts = x->kept_starts[row.starts < x->plan->start.rows ? row.starts : x->plan->start.rows];
		sl_builder_append(x->copy.to, SL_P_HOLD, &row);
	}
}

/* Why each job waits that lost its place. */
static void say_why(struct cutting *x)
{
	for (uint32_t i = 0; i < x->cuts->count; i++) {
		const struct sl_cut *cut = &x->cuts->cut[i];
		char text[600];
		struct sl_plan_pending_row row = { .job = cut->job, .why = SL_WHY_CHECK };

		if (!is_place(cut) || !cut->waits || lost_place(x, cut->job) != cut)
			continue;
		snprintf(text, sizeof(text), SL_CUT_WHY "%s%s", cut->text ? ": " : "", cut->text ? cut->text : "");
		row.text = sl_builder_str(x->copy.to, text);
		row.by = sl_builder_str(x->copy.to, "checker");
		sl_builder_append(x->copy.to, SL_P_PENDING, &row);
	}
}

/* The columns that starts and reservations share. */
#define KEEP_PLACE(to, from) do {						\
	(to)->partition = (from).partition;				\
	(to)->native = (from).native;					\
	(to)->reservation = (from).reservation;				\
	(to)->shape = (from).shape;					\
	(to)->time_limit = (from).time_limit;				\
	(to)->expected = (from).expected;				\
	(to)->license = (from).license;					\
	(to)->places = (from).places;					\
	(to)->through = (from).through;					\
	(to)->lenders = (from).lenders;					\
	(to)->by = (from).by;						\
} while (0)

static void keep_refused(struct cutting *x)
{
	for (uint32_t i = 0; i < x->cuts->count; i++) {
		const struct sl_cut *cut = &x->cuts->cut[i];
		struct sl_plan_refused_row row = sl_plan_refused_row();

		row.job = cut->job;
		row.text = sl_builder_str(x->copy.to, cut->text ? cut->text : "");
		if (cut->table == SL_P_START) {
			struct sl_plan_start_row from;

			sl_image_copy_row(&x->copy, SL_P_START, cut->row, &from);
			row.was = SL_REFUSED_START;
			row.start_time = x->plan->meta.now[0];
			KEEP_PLACE(&row, from);
		} else if (cut->table == SL_P_RESERVE) {
			struct sl_plan_reserve_row from;

			sl_image_copy_row(&x->copy, SL_P_RESERVE, cut->row, &from);
			row.was = SL_REFUSED_RESERVATION;
			row.start_time = from.start_time;
			KEEP_PLACE(&row, from);
		} else {
			row.was = cut->table == SL_P_ACTION ? SL_REFUSED_ACTION :
				cut->table == SL_P_SHORTAGE ? SL_REFUSED_SHORTAGE : SL_REFUSED_REASON;
		}
		sl_builder_append(x->copy.to, SL_P_REFUSED, &row);
	}
}

int sl_plan_cut(const struct sl_plan_image *plan, const struct sl_cuts *cuts, const struct sl_remember *memory,
		struct sl_builder *to, struct sl_error *err)
{
	const uint32_t *map[SL_PLAN_TABLES] = { 0 };
	struct cutting x = { .plan = plan, .cuts = cuts,
		.copy = { .image = &plan->image, .view = plan, .to = to, .map = map } };
	int rc = list_cuts(&x, err);

	if (!rc) {
		sl_image_copy_table(&x.copy, SL_P_META);
		copy_starts(&x);
		copy_rest(&x, SL_P_RESERVE, plan->reserve.rows, NULL);
		copy_rest(&x, SL_P_PENDING, plan->pending.rows, plan->pending.job);
		say_why(&x);
		copy_rest(&x, SL_P_ACTION, plan->action.rows, NULL);
		copy_preempting(&x);
		copy_rest(&x, SL_P_FORECAST, plan->forecast.rows, plan->forecast.job);
		copy_holds(&x);
		copy_rest(&x, SL_P_STOP, plan->stop.rows, plan->stop.preemptor);
		copy_rest(&x, SL_P_SHORTAGE, plan->shortage.rows, NULL);
		sl_image_copy_table(&x.copy, SL_P_BLOCK);
		sl_image_copy_table(&x.copy, SL_P_LOG);
		if (memory)
			sl_remember_encode(memory, to, SL_P_REMEMBERED);
		else
			sl_image_copy_table(&x.copy, SL_P_REMEMBERED);
		sl_image_copy_table(&x.copy, SL_P_HISTORY);
		sl_image_copy_table(&x.copy, SL_P_REFUSED);
		keep_refused(&x);
	}
	for (int t = 0; t < SL_PLAN_TABLES; t++)
		free(x.out[t]);
	free(x.kept);
	free(x.kept_starts);
	sl_map_free(&x.jobs);
	return rc;
}
