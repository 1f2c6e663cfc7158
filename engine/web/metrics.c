/* SPDX-License-Identifier: MIT */
#include "web/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/member.h"
#include "tool/status.h"

/* Slurm's names (without "slurm_") of figures that sdiag has, which are their keys in status.json. */
static const struct { const char *name, *help; } sdiag[] = {
	{ "agent_cnt", "Agent threads." },
	{ "agent_queue_size", "Messages that wait to be sent again." },
	{ "agent_thread_cnt", "Threads that agents have started." },
	{ "backfilled_het_jobs", "Components of heterogeneous jobs that were backfilled." },
	{ "backfilled_jobs", "Jobs that were started ahead of one that waits in the same partition." },
	{ "bf_active", "1 while Slurm's backfill looks at jobs; sched/lua never sets it." },
	{ "bf_cycle_cnt", "Cycles." },
	{ "bf_cycle_last", "Microseconds of the last cycle." },
	{ "bf_cycle_max", "Microseconds of the longest cycle." },
	{ "bf_cycle_tot", "Microseconds of all cycles." },
	{ "bf_depth_tot", "Jobs that all cycles looked at." },
	{ "bf_depth_try_tot", "Jobs that all cycles tried to place." },
	{ "bf_last_depth", "Jobs that the last cycle looked at." },
	{ "bf_last_depth_try", "Jobs that the last cycle tried to place." },
	{ "bf_queue_len", "Entries of the queue in the last cycle." },
	{ "bf_queue_len_tot", "Entries of the queue in all cycles." },
	{ "bf_table_size", "Starts and reservations of the last plan." },
	{ "bf_table_size_tot", "Starts and reservations of all plans." },
	{ "bf_when_last_cycle", "When the last cycle began." },
	{ "last_backfilled_jobs", "Jobs backfilled since sdiag's figures were reset." },
	{ "last_proc_req_start", "Since when sdiag counts." },
	{ "sched_exit_end", "Slurm's main scheduler: came to the end of the queue." },
	{ "sched_exit_lic", "Slurm's main scheduler: blocked on licences." },
	{ "sched_exit_max_depth", "Slurm's main scheduler: default_queue_depth." },
	{ "sched_exit_max_job_start", "Slurm's main scheduler: sched_max_job_start." },
	{ "sched_exit_rpc_cnt", "Slurm's main scheduler: max_rpc_cnt." },
	{ "sched_exit_timeout", "Slurm's main scheduler: max_sched_time." },
	{ "bf_exit_end", "Cycles that came to the end of the queue." },
	{ "bf_exit_max_job_start", "Cycles that ended at bf_max_job_start: none of sched/lua." },
	{ "bf_exit_max_job_test", "Cycles in which the policy's window left jobs out." },
	{ "bf_exit_state_changed", "Cycles that ended as the state had changed: none of sched/lua." },
	{ "bf_exit_table_limit", "Cycles that ended at bf_node_space_size: none of sched/lua." },
	{ "bf_exit_timeout", "Cycles in which the policy's time was up." },
	{ "schedule_cycle_cnt", "Cycles." },
	{ "schedule_cycle_depth", "Jobs that all cycles looked at." },
	{ "schedule_cycle_last", "Microseconds of the last cycle." },
	{ "schedule_cycle_max", "Microseconds of the longest cycle." },
	{ "schedule_cycle_tot", "Microseconds of all cycles." },
	{ "schedule_queue_len", "Entries of the queue in the last cycle." },
	{ "sdiag_job_states_ts", "When sdiag_jobs_pending and sdiag_jobs_running were counted." },
	{ "sdiag_jobs_canceled", "Jobs cancelled since sdiag counts." },
	{ "sdiag_jobs_completed", "Jobs completed since sdiag counts." },
	{ "sdiag_jobs_failed", "Jobs failed since sdiag counts." },
	{ "sdiag_jobs_pending", "Jobs that wait." },
	{ "sdiag_jobs_running", "Jobs that run." },
	{ "sdiag_jobs_started", "Jobs started since sdiag counts." },
	{ "sdiag_jobs_submitted", "Jobs submitted since sdiag counts." },
	{ "sdiag_latency", "Microseconds that gettimeofday() takes a thousand times." },
	{ "server_thread_cnt", "Threads of slurmctld that serve a request." },
	{ "sched_stats_timestamp", "When these figures were taken." },
};

/* Slurm's means: the quotient of two of them. */
static const struct { const char *name, *sum, *count, *help; } means[] = {
	{ "bf_depth_mean", "bf_depth_tot", "bf_cycle_cnt", "Mean of jobs that a cycle looks at." },
	{ "bf_mean_cycle", "bf_cycle_tot", "bf_cycle_cnt", "Mean microseconds of a cycle." },
	{ "bf_mean_table_sz", "bf_table_size_tot", "bf_cycle_cnt", "Mean of starts and reservations of a plan." },
	{ "bf_queue_len_mean", "bf_queue_len_tot", "bf_cycle_cnt", "Mean of entries of the queue." },
	{ "bf_try_depth_mean", "bf_depth_try_tot", "bf_cycle_cnt", "Mean of jobs that a cycle tries to place." },
	{ "sched_mean_cycle", "schedule_cycle_tot", "schedule_cycle_cnt", "Mean microseconds of a cycle." },
	{ "sched_mean_depth_cycle", "schedule_cycle_depth", "schedule_cycle_cnt", "Mean of jobs that a cycle looks at." },
};

static void head(const char *name, const char *help, FILE *out)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void put_sdiag(const json_t *figures, FILE *out)
{
	char name[80];

	for (size_t i = 0; i < sizeof(sdiag) / sizeof(sdiag[0]); i++) {
		const json_t *v = json_object_get(figures, sdiag[i].name);

		if (!json_is_number(v))
			continue;
		snprintf(name, sizeof(name), "slurm_%s", sdiag[i].name);
		head(name, sdiag[i].help, out);
		fprintf(out, "%s %.15g\n", name, json_number_value(v));
	}
	for (size_t i = 0; figures && i < sizeof(means) / sizeof(means[0]); i++) {
		double count = sl_member_number(figures, means[i].count);

		snprintf(name, sizeof(name), "slurm_%s", means[i].name);
		head(name, means[i].help, out);
		fprintf(out, "%s %.0f\n", name, count ? sl_member_number(figures, means[i].sum) / count : 0);
	}
}

/* -- the cluster --------------------------------------------------------------- */

/* What is counted of the cluster, or of a partition. */
struct count {
	int64_t jobs, pending, running, suspended, completing, held, job_cpus, job_gpus, job_nodes;
	int64_t nodes, idle, alloc, mixed, down, drain, node_completing, maint, planned, powered_down, powering_up;
	int64_t cpus, cpus_alloc, cores, cores_used, gpus, gpus_used, gpus_stranded;
	int64_t waiting, longest_wait_s;
};

#define FIGURE(field, name, help) { offsetof(struct count, field), name, help }
static const struct figure {
	size_t offset;
	const char *name, *help;
} slurm_figures[] = {
	FIGURE(jobs, "jobs", "Jobs that wait, run or are suspended."),
	FIGURE(pending, "jobs_pending", "Jobs that wait, those that are held included."),
	FIGURE(running, "jobs_running", "Jobs that run."),
	FIGURE(suspended, "jobs_suspended", "Jobs that are suspended."),
	FIGURE(completing, "jobs_completing", "Jobs that have ended and still hold nodes."),
	FIGURE(held, "jobs_hold", "Jobs that are held."),
	FIGURE(job_cpus, "jobs_cpus_alloc", "CPUs that jobs have."),
	FIGURE(job_gpus, "jobs_gpus_alloc", "GPUs that jobs have."),
}, node_figures[] = {
	FIGURE(nodes, "nodes", "Nodes."),
	FIGURE(alloc, "nodes_alloc", "Nodes of which all cores are allocated."),
	FIGURE(mixed, "nodes_mixed", "Nodes of which some cores are allocated."),
	FIGURE(idle, "nodes_idle", "Nodes that are up and on which no job is."),
	FIGURE(down, "nodes_down", "Nodes that are down."),
	FIGURE(drain, "nodes_drain", "Nodes that are drained or draining."),
	FIGURE(maint, "nodes_maint", "Nodes in maintenance."),
	FIGURE(planned, "nodes_planned", "Nodes that are kept for a job that waits."),
}, whole_figures[] = {
	FIGURE(job_nodes, "jobs_nodes_alloc", "Nodes that jobs have."),
	FIGURE(node_completing, "nodes_completing", "Nodes on which a job is cleaned up."),
	FIGURE(powered_down, "nodes_powered_down", "Nodes that are powered down."),
	FIGURE(powering_up, "nodes_power_up", "Nodes that are powered up."),
}, part_figures[] = {
	FIGURE(cpus, "cpus", "CPUs of a partition."),
	FIGURE(cpus_alloc, "nodes_cpus_alloc", "CPUs of a partition's nodes that are allocated."),
	FIGURE(gpus, "gpus", "GPUs of a partition."),
}, own_figures[] = {
	FIGURE(cores, "cores", "Cores of a partition's nodes."),
	FIGURE(cores_used, "cores_used", "Cores of a partition's nodes that jobs hold."),
	FIGURE(gpus, "gpus", "GPUs of a partition's nodes."),
	FIGURE(gpus_used, "gpus_used", "GPUs of a partition's nodes that jobs hold."),
	FIGURE(gpus_stranded, "gpus_stranded", "GPUs that are free on nodes of which jobs hold others."),
	FIGURE(longest_wait_s, "longest_wait_seconds", "How long the job has waited that could have started and waits longest."),
};
#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

static int64_t value_of(const struct count *c, const struct figure *f)
{
	int64_t v;

	memcpy(&v, (const char *) c + f->offset, sizeof(v));
	return v;
}

static void count_job(struct count *c, const struct sl_snapshot *s, uint32_t j)
{
	uint32_t state = s->job.state[j];
	bool holds = state == SL_JOB_RUNNING || s->job.flags[j] & SL_JOBF_COMPLETING;

	c->pending += state == SL_JOB_PENDING;
	c->running += state == SL_JOB_RUNNING;
	c->suspended += state == SL_JOB_SUSPENDED;
	c->jobs += state == SL_JOB_PENDING || state == SL_JOB_RUNNING || state == SL_JOB_SUSPENDED;
	c->completing += (s->job.flags[j] & SL_JOBF_COMPLETING) != 0;
	c->held += state == SL_JOB_PENDING && s->job.flags[j] & SL_JOBF_HELD;
	c->job_cpus += holds ? s->job.alloc_cpus[j] : 0;
	c->job_gpus += holds ? sl_look_gpus_held(s, j) : 0;
	c->job_nodes += holds ? s->job.alloc[j].count : 0;
}

static void count_node(struct count *c, const struct sl_look *l, uint32_t n)
{
	const struct sl_snapshot *s = &l->snap;
	uint32_t state = s->node.state[n], gpus = sl_look_node_gpus(s, n), used = l->used[n], cores = s->node.cores[n];

	c->nodes++;
	c->down += (state & SL_NODE_DOWN) != 0;
	c->drain += (state & SL_NODE_DRAIN) != 0;
	c->maint += (state & SL_NODE_MAINT) != 0;
	c->planned += (state & SL_NODE_PLANNED) != 0;
	c->node_completing += (state & SL_NODE_COMPLETING) != 0;
	c->powered_down += (state & SL_NODE_POWERED_DOWN) != 0;
	c->powering_up += (state & SL_NODE_POWERING_UP) != 0;
	c->alloc += used && used >= cores;
	c->mixed += used && used < cores;
	c->idle += !used && !(state & SL_NODE_UNUSABLE);
	c->cores += cores;
	c->cores_used += used;
	c->cpus += (int64_t) cores * s->node.threads[n];
	c->cpus_alloc += (int64_t) used * s->node.threads[n];
	c->gpus += gpus;
	c->gpus_used += l->gpus[n];
	if (l->gpus[n] && l->gpus[n] < gpus && !(state & SL_NODE_UNUSABLE))
		c->gpus_stranded += gpus - l->gpus[n];
}

/* The queue has those that could start: held, dependent and limited ones do not stand in it. */
static void count_waits(struct count *parts, struct count *all, const struct sl_snapshot *s)
{
	for (uint32_t i = 0; i < s->queue.rows; i++) {
		uint32_t j = s->queue.job[i];
		int64_t since = s->job.eligible_time[j] ? s->job.eligible_time[j] : s->job.submit_time[j];
		int64_t wait = since && s->meta.now[0] > since ? s->meta.now[0] - since : 0;
		struct count *of[] = { all, &parts[s->queue.partition[i]] };

		for (size_t k = 0; k < LENGTH(of); k++)
			if (wait > of[k]->longest_wait_s)
				of[k]->longest_wait_s = wait;
	}
}

/* A job that waits counts in each partition that it asks for. */
static void count_in_partitions(struct count *parts, const struct sl_snapshot *s, uint32_t j)
{
	struct sl_range asked = s->job.partitions[j];

	if (s->job.state[j] == SL_JOB_PENDING && asked.count)
		for (uint32_t i = asked.first; i < asked.first + asked.count; i++)
			count_job(&parts[s->job_partition.partition[i]], s, j);
	else if (s->job.partition[j] != SL_NONE)
		count_job(&parts[s->job.partition[j]], s, j);
}

static void count_all(struct count *parts, struct count *all, const struct sl_look *l)
{
	const struct sl_snapshot *s = &l->snap;

	for (uint32_t j = 0; j < s->job.rows; j++) {
		count_job(all, s, j);
		count_in_partitions(parts, s, j);
	}
	for (uint32_t n = 0; n < s->node.rows; n++)
		count_node(all, l, n);
	for (uint32_t p = 0; p < s->partition.rows; p++) {
		struct sl_range runs = s->partition.nodes[p];

		for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
			for (uint32_t n = s->run.first[i]; n <= s->run.last[i]; n++)
				count_node(&parts[p], l, n);
	}
	count_waits(parts, all, s);
}

static void put_whole(const struct figure *f, size_t n, const char *prefix, const struct count *all, FILE *out)
{
	char name[80];

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, f[i].name);
		head(name, f[i].help, out);
		fprintf(out, "%s %" PRId64 "\n", name, value_of(all, &f[i]));
	}
}

static void put_by_partition(const struct figure *f, size_t n, const char *prefix, const struct count *parts,
			     const struct sl_snapshot *s, FILE *out)
{
	char name[80];

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%spartition_%s", prefix, f[i].name);
		head(name, f[i].help, out);
		for (uint32_t p = 0; p < s->partition.rows; p++) {
			fprintf(out, "%s{partition=\"", name);
			sl_metrics_label(sl_snapshot_str(s, s->partition.name[p]), out);
			fprintf(out, "\"} %" PRId64 "\n", value_of(&parts[p], &f[i]));
		}
	}
}

static void put_fragmentation(const struct count *all, FILE *out)
{
	int64_t idle = all->gpus - all->gpus_used;

	head("schedlua_gpu_fragmentation_ratio", "Of the GPUs that are free, the share on nodes of which jobs hold others.", out);
	fprintf(out, "schedlua_gpu_fragmentation_ratio %.6f\n", idle > 0 ? (double) all->gpus_stranded / (double) idle : 0);
}

static void put_cluster(const struct sl_look *l, FILE *out)
{
	const struct sl_snapshot *s = &l->snap;
	struct count *parts = calloc(s->partition.rows + 1u, sizeof(*parts)), all = { 0 };

	if (!parts)
		return;
	count_all(parts, &all, l);
	put_whole(slurm_figures, LENGTH(slurm_figures), "slurm_", &all, out);
	put_whole(node_figures, LENGTH(node_figures), "slurm_", &all, out);
	put_whole(whole_figures, LENGTH(whole_figures), "slurm_", &all, out);
	head("slurm_partitions", "Partitions.", out);
	fprintf(out, "slurm_partitions %" PRIu32 "\n", s->partition.rows);
	put_by_partition(slurm_figures, LENGTH(slurm_figures), "slurm_", parts, s, out);
	put_by_partition(node_figures, LENGTH(node_figures), "slurm_", parts, s, out);
	put_by_partition(part_figures, LENGTH(part_figures), "slurm_", parts, s, out);
	put_whole(own_figures, LENGTH(own_figures), "schedlua_", &all, out);
	put_by_partition(own_figures, LENGTH(own_figures), "schedlua_", parts, s, out);
	put_fragmentation(&all, out);
	free(parts);
}

char *sl_web_metrics(const struct sl_look *l, bool counts, int64_t now, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	if (l->status) {
		sl_status_metrics_put(l->status, sl_status_alive(l->status), sl_status_ledger_time(l->dir), counts, out);
		put_sdiag(json_object_get(l->status, "sdiag"), out);
	}
	if (l->bytes) {
		head("schedlua_snapshot_age_seconds", "How old the snapshot is that the figures of jobs and nodes are from.", out);
		fprintf(out, "schedlua_snapshot_age_seconds %" PRId64 "\n", now > l->snap.meta.now[0] ? now - l->snap.meta.now[0] : 0);
		if (counts)
			put_cluster(l, out);
	}
	fputs("# EOF\n", out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
