/* SPDX-License-Identifier: MIT */
/*
 * plan_cost.c - limits on the work of planning a job, and which jobs are left out because of them.
 *
 * A user decides what a job asks for, but a cycle serves all users.  So each job has an allowance of work per decision: the
 * base, which is twenty times the work for a plain job, plus what is left of its user's allowance for work beyond the bases
 * of all his jobs; at most sl_plan_most_effort().  A job that needs more is refused, and left out of decisions for a minute,
 * so that other jobs get their turn (plan_left_out.c).
 *
 * Work is counted in units (base/effort.h), not time, so that a replayed decision is the same.  Simulations have no limits.
 */
#include "model/plan_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* In units of 10 to 20 ns.  On 10,000 nodes a job may take at most 20 to 40 ms, that is, 1 to 2 % of the default budget,
 * and a user's jobs together 80 to 160 ms beyond their bases. */
uint64_t sl_plan_most_effort(const struct sl_plan *p)
{
	return 1000000 + 100 * (uint64_t) p->c->snap->node.rows;
}

#define BASE_PART 20		/* base: 1/20 of the most */
#define USER_TIMES 4		/* a user's allowance: 4 times the most */
#define NOTED_PART 8		/* attempts below 1/8 of the base are not summed up */

static uint64_t base_effort(const struct sl_plan *p)
{
	return sl_plan_most_effort(p) / BASE_PART;
}

void plan_free_costs(struct sl_plan *p)
{
	free(p->cost.of_job.item);
	free(p->cost.of_user.item);
	sl_map_free(&p->cost.of_job.by_number);
	sl_map_free(&p->cost.of_user.by_number);
}

/* -- sums ------------------------------------------------------------------ */

static uint64_t spent_by(const struct spendings *s, uint32_t number)
{
	uint32_t at = sl_map_by_id(&s->by_number, number);

	return at == SL_MAP_NOTHING ? 0 : s->item[at].units;
}

/* Add work to the sum of a job or user.  Without memory it is not counted, which only leaves more allowance. */
static void add_spending(struct spendings *s, uint32_t number, uint64_t units)
{
	uint32_t at = sl_map_by_id(&s->by_number, number);

	if (at == SL_MAP_NOTHING) {
		at = s->count;
		if (sl_grow_list(&s->item, at, sizeof(*s->item), NULL) ||
		    sl_map_put(&s->by_number, sl_hash_id(number), at, NULL))
			return;
		s->item[s->count++] = (struct spending) { .number = number };
	}
	s->item[at].units += units;
}

static uint64_t beyond_base(const struct sl_plan *p, uint64_t units)
{
	return units > base_effort(p) ? units - base_effort(p) : 0;
}

/* Units that the job may still take in this decision. */
static uint64_t allowance_of(const struct sl_plan *p, uint32_t job)
{
	uint64_t most = sl_plan_most_effort(p), spent = spent_by(&p->cost.of_job, job);
	uint64_t user = spent_by(&p->cost.of_user, p->c->snap->job.uid[job]), own = beyond_base(p, spent), allowed;

	user = user < USER_TIMES * most ? USER_TIMES * most - user : 0;
	allowed = base_effort(p) + own + user;	/* the user's sum includes this job's own */
	allowed = allowed < most ? allowed : most;
	return allowed > spent ? allowed - spent : 0;
}

static void settle(struct sl_plan *p, uint32_t job, uint64_t units)
{
	uint64_t before = spent_by(&p->cost.of_job, job);

	if (units < base_effort(p) / NOTED_PART)
		return;
	add_spending(&p->cost.of_job, job, units);
	if (beyond_base(p, before + units) > beyond_base(p, before))
		add_spending(&p->cost.of_user, p->c->snap->job.uid[job],
			     beyond_base(p, before + units) - beyond_base(p, before));
}

int plan_refuse_work(struct sl_plan *p, const struct sl_entry *e, struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why;

	plan_say_left_out(plan_find_left_out(p, e->job), &why);
	return plan_refuse(p, e, &why, refusal, err);
}

/* -- an attempt ------------------------------------------------------------ */

void plan_bound_costs(struct sl_plan *p)
{
	p->cost.bounded = strcmp(cluster_str(p->c, p->c->snap->meta.source[0]), "sim") != 0;
}

bool plan_begin_work(struct sl_plan *p, uint32_t job)
{
	uint64_t allowed;

	if (!p->cost.bounded || job >= p->c->snap->job.rows || p->cost.inside++)
		return true;
	p->cost.is_well_asked = false;
	allowed = plan_find_left_out(p, job) ? 0 : allowance_of(p, job);
	p->cost.begun = p->c->effort.spent;
	p->c->effort.limit = p->cost.begun + allowed;
	if (allowed)
		return true;
	p->c->effort.limit = 0;
	p->cost.inside--;
	return false;
}

void plan_charge_nobody(struct sl_plan *p, uint64_t units)
{
	if (!p->cost.inside)
		return;
	p->cost.begun += units;
	p->c->effort.limit += units;
}

/* True if the planner failed on valid arguments.  Not for lack of memory, which would hit the next job as well, nor for
 * errors that a policy raised. */
static bool is_fault(const struct sl_plan *p, const struct sl_error *err)
{
	return p->cost.is_well_asked && err->code != SL_ENOMEM && err->code != SL_ESCRIPT && err->code != SL_ETIME;
}

int plan_spare_others(struct sl_plan *p, const struct sl_entry *e, struct sl_refusal *refusal, struct sl_error *err)
{
	if (!p->cost.bounded || e->job >= p->c->snap->job.rows || !(err->code == SL_EEFFORT || is_fault(p, err)))
		return -1;
	if (err->code == SL_EEFFORT)
		plan_leave_out_costly(p, e->job);
	else
		plan_leave_out_failed(p, e->job, err->text);
	err->code = SL_OK;
	return plan_refuse_work(p, e, refusal, err);
}

int plan_end_work(struct sl_plan *p, const struct sl_entry *e, int rc, struct sl_refusal *refusal, struct sl_error *err)
{
	if (!p->cost.bounded || e->job >= p->c->snap->job.rows || --p->cost.inside)
		return rc;
	p->c->effort.limit = 0;
	settle(p, e->job, p->c->effort.spent - p->cost.begun);
	return rc < 0 ? plan_spare_others(p, e, refusal, err) : rc;
}
