/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diag.c - see diag.h */
#include "plugin/records/compat.h"

#include "src/slurmctld/agent.h"

#include "plugin/diag.h"

#define STATS slurmctld_diag_stats

static void add_schedule(const struct sl_diag_cycle *c)
{
	STATS.schedule_cycle_last = (uint32_t) c->us;
	if (c->us > STATS.schedule_cycle_max)
		STATS.schedule_cycle_max = (uint32_t) c->us;
	STATS.schedule_cycle_sum += c->us;
	STATS.schedule_cycle_counter++;
	STATS.schedule_cycle_depth += c->examined;
	STATS.schedule_queue_len = c->queued;
}

static void add_backfill(const struct sl_diag_cycle *c)
{
	STATS.bf_when_last_cycle = c->began;
	STATS.bf_cycle_last = (uint32_t) c->us;
	if (c->us > STATS.bf_cycle_max)
		STATS.bf_cycle_max = (uint32_t) c->us;
	STATS.bf_cycle_sum += c->us;
	STATS.bf_cycle_counter++;
	STATS.bf_last_depth = STATS.bf_last_depth_try = c->examined;
	STATS.bf_depth_sum += c->examined;
	STATS.bf_depth_try_sum += c->examined;
	STATS.bf_queue_len = c->queued;
	STATS.bf_queue_len_sum += c->queued;
	STATS.bf_table_size = c->planned;
	STATS.bf_table_size_sum += c->planned;
	STATS.backfilled_jobs += c->backfilled.jobs;
	STATS.last_backfilled_jobs += c->backfilled.jobs;
	STATS.backfilled_het_jobs += c->backfilled.het;
#if SL_SLURM(23, 11)
	STATS.bf_exit[c->out_of_time ? BF_EXIT_TIMEOUT : c->unseen ? BF_EXIT_MAX_JOB_TEST : BF_EXIT_END]++;
#endif
}

void sl_diag_add(const struct sl_diag_cycle *c)
{
	add_schedule(c);
	add_backfill(c);
}

static void read_exits(struct sl_diag *d)
{
#if SL_SLURM(23, 11)
	d->has_exits = true;
	d->sched_exit_end = STATS.schedule_exit[SCHEDULE_EXIT_END];
	d->sched_exit_max_depth = STATS.schedule_exit[SCHEDULE_EXIT_MAX_DEPTH];
	d->sched_exit_max_job_start = STATS.schedule_exit[SCHEDULE_EXIT_MAX_JOB_START];
	d->sched_exit_lic = STATS.schedule_exit[SCHEDULE_EXIT_LIC];
	d->sched_exit_rpc_cnt = STATS.schedule_exit[SCHEDULE_EXIT_RPC_CNT];
	d->sched_exit_timeout = STATS.schedule_exit[SCHEDULE_EXIT_TIMEOUT];
	d->bf_exit_end = STATS.bf_exit[BF_EXIT_END];
	d->bf_exit_max_job_start = STATS.bf_exit[BF_EXIT_MAX_JOB_START];
	d->bf_exit_max_job_test = STATS.bf_exit[BF_EXIT_MAX_JOB_TEST];
	d->bf_exit_state_changed = STATS.bf_exit[BF_EXIT_STATE_CHANGED];
	d->bf_exit_table_limit = STATS.bf_exit[BF_EXIT_TABLE_LIMIT];
	d->bf_exit_timeout = STATS.bf_exit[BF_EXIT_TIMEOUT];
#else
	(void) d;
#endif
}

static void read_jobs(struct sl_diag *d)
{
	d->sdiag_jobs_submitted = STATS.jobs_submitted;
	d->sdiag_jobs_started = STATS.jobs_started;
	d->sdiag_jobs_completed = STATS.jobs_completed;
	d->sdiag_jobs_canceled = STATS.jobs_canceled;
	d->sdiag_jobs_failed = STATS.jobs_failed;
	d->sdiag_job_states_ts = (int64_t) STATS.job_states_ts;
	d->sdiag_jobs_pending = STATS.jobs_pending;
	d->sdiag_jobs_running = STATS.jobs_running;
}

static void read_backfill(struct sl_diag *d)
{
	d->backfilled_jobs = STATS.backfilled_jobs;
	d->last_backfilled_jobs = STATS.last_backfilled_jobs;
	d->backfilled_het_jobs = STATS.backfilled_het_jobs;
	d->bf_active = STATS.bf_active;
	d->bf_cycle_cnt = STATS.bf_cycle_counter;
	d->bf_cycle_last = STATS.bf_cycle_last;
	d->bf_cycle_max = STATS.bf_cycle_max;
	d->bf_cycle_tot = (int64_t) STATS.bf_cycle_sum;
	d->bf_depth_tot = STATS.bf_depth_sum;
	d->bf_depth_try_tot = STATS.bf_depth_try_sum;
	d->bf_last_depth = STATS.bf_last_depth;
	d->bf_last_depth_try = STATS.bf_last_depth_try;
	d->bf_queue_len = STATS.bf_queue_len;
	d->bf_queue_len_tot = STATS.bf_queue_len_sum;
	d->bf_table_size = STATS.bf_table_size;
	d->bf_table_size_tot = STATS.bf_table_size_sum;
	d->bf_when_last_cycle = STATS.bf_when_last_cycle;
}

void sl_diag_read(struct sl_diag *d)
{
	d->agent_cnt = get_agent_count();
	d->agent_queue_size = retry_list_size();
	d->agent_thread_cnt = get_agent_thread_count();
	d->server_thread_cnt = slurmctld_config.server_thread_count;
	d->schedule_cycle_cnt = STATS.schedule_cycle_counter;
	d->schedule_cycle_depth = STATS.schedule_cycle_depth;
	d->schedule_cycle_last = STATS.schedule_cycle_last;
	d->schedule_cycle_max = STATS.schedule_cycle_max;
	d->schedule_cycle_tot = (int64_t) STATS.schedule_cycle_sum;
	d->schedule_queue_len = STATS.schedule_queue_len;
	d->sdiag_latency = STATS.latency;
	d->last_proc_req_start = last_proc_req_start;
	d->sched_stats_timestamp = time(NULL);
	read_jobs(d);
	read_backfill(d);
	read_exits(d);
}
