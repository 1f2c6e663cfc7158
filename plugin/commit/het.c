/* SPDX-License-Identifier: GPL-2.0-or-later */
/* het.c - see het.h */
#include "plugin/commit/het.h"

/* The default of cred_expire.  At a site that raises it, the component's next start is refused, and it is requeued. */
#define CREDENTIAL_LASTS_S 1200

static uint32_t leader_of(const struct sl_commit *m, uint32_t start)
{
	uint32_t row = sl_collect_row(m->c, m->plan->start.job[start]);

	return row == SL_NONE ? SL_NONE : m->c->snap.job.het_job_id[row];
}

uint32_t sl_het_count(const struct sl_commit *m, uint32_t start)
{
	uint32_t leader = leader_of(m, start), n = 1;

	while (leader != SL_NONE && start + n < m->plan->start.rows && leader_of(m, start + n) == leader)
		n++;
	return n;
}

static bool give_up(struct sl_start *s, uint32_t count, enum sl_fate fate, uint32_t component, const char *why)
{
	uint32_t k;

	for (k = 0; k < count; k++) {
		s[k].fate = fate;
		snprintf(s[k].text, 160, "component JobId=%u: %s", component, why);
	}
	return false;
}

/* Count the component as running, so that the limits of the next one see it.  NULL if its limits do not allow it. */
static uint64_t *count_in(job_record_t *job, part_record_t *part)
{
	size_t size = slurmctld_tres_cnt * sizeof(uint64_t);
	uint64_t *before = job->tres_alloc_cnt, *asked;

	job->part_ptr = part;
	if (!acct_policy_job_runnable_pre_select(job, false) ||
	    !acct_policy_job_runnable_post_select(job, job->tres_req_cnt, false))
		return NULL;
	asked = xmalloc(size);
	memcpy(asked, job->tres_req_cnt, size);
	job->tres_alloc_cnt = asked;
	sl_acct_begun(job);
	job->tres_alloc_cnt = before;
	return asked;
}

/* Undo count_in(): for accounting the job ends at the moment at which it began. */
static void count_out(job_record_t *job, uint64_t *asked)
{
	uint64_t *before = job->tres_alloc_cnt;
	time_t end_time_exp = job->end_time_exp, end_time = job->end_time;
	uint32_t state = job->job_state;

	job->tres_alloc_cnt = asked;
	job->end_time_exp = time(NULL);
	job->end_time = job->start_time;
	sl_job_set_state(job, JOB_COMPLETE | JOB_COMPLETING);
	sl_acct_ended(job);
	job->end_time_exp = end_time_exp;
	job->end_time = end_time;
	sl_job_set_state(job, state);
	job->tres_alloc_cnt = before;
	xfree(asked);
}

/* How many of the components the limits of accounts and QOS allow to run together. */
static uint32_t count_allowed(struct sl_start *s, uint32_t count)
{
	uint64_t **asked;
	uint32_t n = 0, k;

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS))
		return count;
	asked = xcalloc(count, sizeof(*asked));
	while (n < count && (asked[n] = count_in(s[n].job, s[n].part)))
		n++;
	for (k = n; k-- > 0;)
		count_out(s[k].job, asked[k]);
	xfree(asked);
	return n;
}

bool sl_het_ready(struct sl_start *s, uint32_t count)
{
	const char *why;
	uint32_t i;

	for (i = 0; i < count; i++)
		if ((why = sl_start_find(&s[i])))
			return give_up(s, count, SL_FATE_CHANGED, s[i].job_id, why);
	i = count_allowed(s, count);
	return i == count || give_up(s, count, SL_FATE_LIMIT, s[i].job_id,
				     "a limit does not allow it beside the components before it");
}

void sl_het_take_back(job_record_t *job)
{
	time_t now = time(NULL);

	info("sched/lua: %pJ is taken back: another component of its heterogeneous job did not start", job);
	job->details->begin_time = now + CREDENTIAL_LASTS_S + 1;
	job->end_time = now;
	sl_job_set_state(job, JOB_PENDING | JOB_COMPLETING);
	last_job_update = now;
	build_cg_bitmap(job);
	/* without this flag the logger would have its burst buffer staged out, though it never ran */
	job->bit_flags |= JOB_KILL_HURRY;
	job_completion_logger(job, false);
	job->bit_flags &= ~JOB_KILL_HURRY;	/* the flag was clear when the job started */
	deallocate_nodes(job, false, false, false);
	sl_add_job_submit(job);	/* job_completion_logger() has subtracted it */
	if (!job->node_bitmap_cg || !bit_set_count(job->node_bitmap_cg))
		batch_requeue_fini(job);
}
