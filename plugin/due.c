/* SPDX-License-Identifier: GPL-2.0-or-later */
/* due.c - see due.h */
#include "plugin/records/compat.h"
#include "plugin/due.h"

#include <string.h>

#include "base/clock.h"

/*
 * After a cycle nothing is done for so many times as long as that cycle took, whatever
 * changes meanwhile.  While a thousand jobs end one after the other each of them is a change,
 * and slurmctld needs its processors for other things than a cycle for each.
 */
#define REST_AFTER 7

static void read_stamps(struct sl_stamps *s)
{
	s->job = last_job_update;
	s->node = last_node_update;
	s->part = last_part_update;
	s->resv = last_resv_update;
	s->conf = slurm_conf.last_update;
	s->submitted = slurmctld_diag_stats.jobs_submitted;
	s->ended = slurmctld_diag_stats.jobs_completed + slurmctld_diag_stats.jobs_canceled +
		slurmctld_diag_stats.jobs_failed;
}

/*
 * The stamps have a resolution of a second.  A change later in the second of the
 * snapshot leaves them as they were; so once that second is over, one more
 * cycle looks (trailing).
 */
void sl_due_begin(struct sl_due *d)
{
	d->last_start = sl_clock_s();
	d->snapshot_second = time(NULL);
	d->was_trailing = d->trailing;
	d->again = false;
	d->wake = 0;
	read_stamps(&d->seen);
	d->trailing = MAX(MAX(d->seen.job, d->seen.node), MAX(d->seen.part, d->seen.resv)) >= d->snapshot_second;
}

void sl_due_wake(struct sl_due *d, time_t t)
{
	d->wake = t > d->snapshot_second ? t : 0;	/* once */
}

void sl_due_done(struct sl_due *d, time_t before, bool started, bool unseen)
{
	d->again = started && unseen;
	/* what others wrote in that second may be news */
	if (last_job_update != before && (started || !d->was_trailing))
		d->trailing = true;
	d->seen.job = last_job_update;
	d->seen.node = last_node_update;
	if (d->trailing)
		d->snapshot_second = MAX(d->seen.job, d->seen.node);
}

uint64_t sl_due_end(struct sl_due *d)
{
	d->last_end = sl_clock_s();
	return (uint64_t) ((d->last_end - d->last_start) * 1e6);
}

bool sl_due_now(const struct sl_due *d, double interval_s)
{
	double now = sl_clock_s(), cost = d->last_end - d->last_start;
	struct sl_stamps s;

	/* what is behind those that started has its turn at once; a cycle that starts nothing ends that */
	if (d->again || now - d->last_start >= interval_s)
		return true;
	if (now - d->last_end < MIN(REST_AFTER * cost, interval_s))
		return false;
	if (d->wake && time(NULL) >= d->wake)
		return true;
	if (d->trailing && time(NULL) > d->snapshot_second)
		return true;
	memset(&s, 0, sizeof(s));
	read_stamps(&s);
	return memcmp(&s, &d->seen, sizeof(s)) != 0;
}

bool sl_due_waits(const struct sl_options *o)
{
	slurmctld_lock_t locks = { .job = READ_LOCK };
	bool completing;

	if (o->max_rpc_cnt > 0 && slurmctld_config.server_thread_count >= o->max_rpc_cnt)
		return true;
	if (!slurm_conf.complete_wait || o->completing_frag)
		return false;
	lock_slurmctld(locks);
	completing = job_is_completing(NULL);
	unlock_slurmctld(locks);
	return completing;
}
