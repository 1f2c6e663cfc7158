/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diag.h - sdiag's figures, as status.json has them, and which starts were backfills.
 *
 * Knows nothing of Slurm; plugin/diag.c reads and fills slurmctld's.  Only the cycle thread touches it.
 */
#ifndef SL_HOST_DIAG_H
#define SL_HOST_DIAG_H

#include <stdint.h>

#include "image/journal.h"

/* Named as metrics/openmetrics of Slurm 25.11 names them, without "slurm_". */
#define SL_DIAG_FIGURES(X) \
	X(agent_cnt) X(agent_queue_size) X(agent_thread_cnt) X(server_thread_cnt) \
	X(backfilled_jobs) X(last_backfilled_jobs) X(backfilled_het_jobs) \
	X(bf_active) X(bf_cycle_cnt) X(bf_cycle_last) X(bf_cycle_max) X(bf_cycle_tot) \
	X(bf_depth_tot) X(bf_depth_try_tot) X(bf_last_depth) X(bf_last_depth_try) X(bf_queue_len) X(bf_queue_len_tot) \
	X(bf_table_size) X(bf_table_size_tot) X(bf_when_last_cycle) \
	X(schedule_cycle_cnt) X(schedule_cycle_depth) X(schedule_cycle_last) X(schedule_cycle_max) X(schedule_cycle_tot) \
	X(schedule_queue_len) \
	X(sdiag_jobs_submitted) X(sdiag_jobs_started) X(sdiag_jobs_completed) X(sdiag_jobs_canceled) X(sdiag_jobs_failed) \
	X(sdiag_job_states_ts) X(sdiag_jobs_pending) X(sdiag_jobs_running) X(sdiag_latency) \
	X(last_proc_req_start) X(sched_stats_timestamp)

/* Those that Slurm has from 23.11 on. */
#define SL_DIAG_EXITS(X) \
	X(sched_exit_end) X(sched_exit_max_depth) X(sched_exit_max_job_start) X(sched_exit_lic) X(sched_exit_rpc_cnt) \
	X(sched_exit_timeout) \
	X(bf_exit_end) X(bf_exit_max_job_start) X(bf_exit_max_job_test) X(bf_exit_state_changed) X(bf_exit_table_limit) \
	X(bf_exit_timeout)

#define SL_DIAG_FIELD(name) int64_t name;
struct sl_diag {
	SL_DIAG_FIGURES(SL_DIAG_FIELD)
	bool has_exits;		/* those that follow are there */
	SL_DIAG_EXITS(SL_DIAG_FIELD)
};

/* Starts that were carried out while a job ahead of them, by Slurm's order of the same partition, waits on. */
struct sl_backfilled {
	uint32_t jobs, het;	/* het: those of them that are components of heterogeneous jobs */
};

/* *carried*: what became of the plan's starts, in their order; NULL: nothing was carried out.  Without memory it counts none. */
struct sl_backfilled sl_diag_backfilled(const struct sl_snapshot *snap, const struct sl_plan_image *plan,
					const struct sl_carried *carried);

#endif
