/* SPDX-License-Identifier: MIT */
/*
 * plan_left_out.c - jobs that are not planned for a while: planning took too long (plan_cost.c) or failed, or the checker
 * refused the place.
 *
 * A refused place keeps its nodes idle: a wide job planned there in cycle after cycle would waste them.  So the job is not
 * planned again for some minutes, or until it changes.  A job that took too long is left out for less time, but changes do
 * not help, because its user could repeat them.
 *
 * The list is passed from cycle to cycle with what policies remember (script/left_out.c), so that a decision depends on the
 * snapshot only.
 */
#include "model/plan_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "image/plan_cut.h"

#define COST_S 60
#define CHECK_S 300

void plan_free_left_outs(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->left.count; i++)
		free(p->left.out[i].text);
	free(p->left.out);
	sl_map_free(&p->left.by_id);
}

static struct sl_left_out *find_id(const struct sl_plan *p, uint32_t id)
{
	uint32_t at = sl_map_by_id(&p->left.by_id, id);

	return at == SL_MAP_NOTHING ? NULL : &p->left.out[at];
}

const struct sl_left_out *plan_find_left_out(const struct sl_plan *p, uint32_t job)
{
	const struct sl_left_out *l = p->left.count && job < p->c->snap->job.rows ? find_id(p, p->c->snap->job.id[job]) : NULL;

	return l && l->text && l->stamp != p->c->snap->job.stamp[job] ? NULL : l;
}

void plan_say_left_out(const struct sl_left_out *l, struct sl_refusal *why)
{
	if (l && l->text)
		plan_say(why, SL_WHY_CHECK, "%s", l->text);
	else
		plan_say(why, SL_WHY_COST, "takes too long to plan");
}

void sl_plan_leave_out(struct sl_plan *p, struct sl_left_out left)
{
	const int64_t now = p->c->now;
	struct sl_left_out *l = find_id(p, left.id);
	char *text = left.text ? strdup(left.text) : NULL;

	/* in the past, or the clock was set back */
	if (left.until <= now || left.until > now + (left.text ? CHECK_S : COST_S) || (!left.text && !p->cost.bounded) ||
	    (left.text && !text) ||
	    (!l && (p->left.count == SL_PLAN_LEFT_OUT_MAX || sl_grow_list(&p->left.out, p->left.count, sizeof(*l), NULL) ||
		    sl_map_put(&p->left.by_id, sl_hash_id(left.id), p->left.count, NULL)))) {
		free(text);
		return;
	}
	if (l)
		free(l->text);
	else
		l = &p->left.out[p->left.count++];
	*l = left;
	l->text = text;
}

void plan_leave_out_costly(struct sl_plan *p, uint32_t job)
{
	sl_plan_leave_out(p, (struct sl_left_out) { .id = p->c->snap->job.id[job], .until = p->c->now + COST_S });
}

void plan_leave_out_failed(struct sl_plan *p, uint32_t job, const char *error)
{
	char text[600];

	snprintf(text, sizeof(text), SL_FAULT_WHY ": %s", error);
	sl_plan_leave_out(p, (struct sl_left_out) { .id = p->c->snap->job.id[job], .until = p->c->now + CHECK_S,
						    .stamp = p->c->snap->job.stamp[job], .text = text, .failed = true });
}

const struct sl_left_out *sl_plan_left_out(const struct sl_plan *p, uint32_t *count)
{
	*count = p->left.count;
	return p->left.out;
}

/* -- what the checker refused ------------------------------------------------ */

/* Map JobIds to rows.  0, or -1 without memory. */
static int map_jobs(const struct sl_snapshot *snap, struct sl_map *rows)
{
	if (sl_map_reserve(rows, snap->job.rows, NULL))
		return -1;
	for (uint32_t j = 0; j < snap->job.rows; j++)
		(void) sl_map_put(rows, sl_hash_id(snap->job.id[j]), j, NULL);
	return 0;
}

/* starts[job]: number of its start rows that stay in the plan. */
static void count_starts(const struct sl_plan_image *plan, const struct sl_cuts *cuts, const struct sl_map *rows,
			 uint32_t *starts)
{
	uint32_t row;

	for (uint32_t i = 0; i < plan->start.rows; i++)
		if ((row = sl_map_by_id(rows, plan->start.job[i])) != SL_MAP_NOTHING)
			starts[row]++;
	for (uint32_t i = 0; i < cuts->count; i++)
		if (cuts->cut[i].table == SL_P_START && (row = sl_map_by_id(rows, cuts->cut[i].job)) != SL_MAP_NOTHING)
			starts[row]--;
}

void sl_plan_leave_out_refused(struct sl_plan *p, const struct sl_plan_image *plan, const struct sl_cuts *cuts)
{
	const struct sl_snapshot *snap = p->c->snap;
	struct sl_map rows = { 0 };
	uint32_t *starts = calloc((size_t) snap->job.rows + 1, sizeof(*starts));

	if (starts && !map_jobs(snap, &rows)) {
		count_starts(plan, cuts, &rows, starts);
		for (uint32_t i = 0; i < cuts->count; i++) {
			const struct sl_cut *cut = &cuts->cut[i];
			uint32_t row = sl_map_by_id(&rows, cut->job);
			char text[600];

			if (!cut->waits || !cut->text || (cut->table != SL_P_START && cut->table != SL_P_RESERVE) ||
			    row == SL_MAP_NOTHING || starts[row])
				continue;
			snprintf(text, sizeof(text), SL_CUT_WHY ": %s", cut->text);
			sl_plan_leave_out(p, (struct sl_left_out) { .id = cut->job, .until = p->c->now + CHECK_S,
								    .stamp = snap->job.stamp[row], .text = text });
		}
	}
	free(starts);
	sl_map_free(&rows);
}
