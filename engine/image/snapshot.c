/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - the schema of snapshots, and what the schema cannot say.
 */
#include "image/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define META(...) SL_COLUMN(meta, __VA_ARGS__)
#define GRES_KIND(...) SL_COLUMN(gres_kind, __VA_ARGS__)
#define NODE(...) SL_COLUMN(node, __VA_ARGS__)
#define NODE_GRES(...) SL_COLUMN(node_gres, __VA_ARGS__)
#define PARTITION(...) SL_COLUMN(partition, __VA_ARGS__)
#define JOB(...) SL_COLUMN(job, __VA_ARGS__)
#define JOB_PARTITION(...) SL_COLUMN(job_partition, __VA_ARGS__)
#define JOB_GRES(...) SL_COLUMN(job_gres, __VA_ARGS__)
#define JOB_LICENSE(...) SL_COLUMN(job_license, __VA_ARGS__)
#define NODE_TASKS(...) SL_COLUMN(node_tasks, __VA_ARGS__)
#define ALLOC(...) SL_COLUMN(alloc, __VA_ARGS__)
#define ALLOC_GRES(...) SL_COLUMN(alloc_gres, __VA_ARGS__)
#define SHAPE(...) SL_COLUMN(shape, __VA_ARGS__)
#define QUEUE(...) SL_COLUMN(queue, __VA_ARGS__)
#define WAY(...) SL_COLUMN(way, __VA_ARGS__)
#define RESERVATION(...) SL_COLUMN(reservation, __VA_ARGS__)
#define LICENSE(...) SL_COLUMN(license, __VA_ARGS__)
#define RUN(...) SL_COLUMN(run, __VA_ARGS__)
#define USAGE(...) SL_COLUMN(usage, __VA_ARGS__)
#define REMEMBERED(...) SL_COLUMN(remembered, __VA_ARGS__)
#define HISTORY(...) SL_COLUMN(history, __VA_ARGS__)
#define HELD(...) SL_COLUMN(held, __VA_ARGS__)
#define STOPPED(...) SL_COLUMN(stopped, __VA_ARGS__)

static const struct sl_column meta_columns[] = { SL_META_COLUMNS(META) };
static const struct sl_column gres_kind_columns[] = { SL_GRES_KIND_COLUMNS(GRES_KIND) };
static const struct sl_column node_columns[] = { SL_NODE_COLUMNS(NODE) };
static const struct sl_column node_gres_columns[] = { SL_NODE_GRES_COLUMNS(NODE_GRES) };
static const struct sl_column partition_columns[] = { SL_PARTITION_COLUMNS(PARTITION) };
static const struct sl_column job_columns[] = { SL_JOB_COLUMNS(JOB) };
static const struct sl_column job_partition_columns[] = { SL_JOB_PARTITION_COLUMNS(JOB_PARTITION) };
static const struct sl_column job_gres_columns[] = { SL_JOB_GRES_COLUMNS(JOB_GRES) };
static const struct sl_column job_license_columns[] = { SL_JOB_LICENSE_COLUMNS(JOB_LICENSE) };
static const struct sl_column node_tasks_columns[] = { SL_NODE_TASKS_COLUMNS(NODE_TASKS) };
static const struct sl_column alloc_columns[] = { SL_ALLOC_COLUMNS(ALLOC) };
static const struct sl_column alloc_gres_columns[] = { SL_ALLOC_GRES_COLUMNS(ALLOC_GRES) };
static const struct sl_column shape_columns[] = { SL_SHAPE_COLUMNS(SHAPE) };
static const struct sl_column queue_columns[] = { SL_QUEUE_COLUMNS(QUEUE) };
static const struct sl_column way_columns[] = { SL_WAY_COLUMNS(WAY) };
static const struct sl_column reservation_columns[] = { SL_RESERVATION_COLUMNS(RESERVATION) };
static const struct sl_column license_columns[] = { SL_LICENSE_COLUMNS(LICENSE) };
static const struct sl_column run_columns[] = { SL_RUN_COLUMNS(RUN) };
static const struct sl_column usage_columns[] = { SL_USAGE_COLUMNS(USAGE) };
static const struct sl_column remembered_columns[] = { SL_REMEMBERED_COLUMNS(REMEMBERED) };
static const struct sl_column history_columns[] = { SL_HISTORY_COLUMNS(HISTORY) };
static const struct sl_column held_columns[] = { SL_HELD_COLUMNS(HELD) };
static const struct sl_column stopped_columns[] = { SL_STOPPED_COLUMNS(STOPPED) };

#define TABLE(n, ...) { .name = #n, SL_COLUMNS_OF(n), .view_offset = offsetof(struct sl_snapshot, n), __VA_ARGS__ }

static const struct sl_table tables[SL_SNAPSHOT_TABLES] = {
	[SL_T_META] = TABLE(meta, .plural = "meta", .key = -1, .single = true),
	[SL_T_GRES_KIND] = TABLE(gres_kind, .plural = "gres_kinds", .key = 0),
	[SL_T_NODE] = TABLE(node, .plural = "nodes", .key = 0),
	[SL_T_NODE_GRES] = TABLE(node_gres, .plural = "node_gres", .key = -1, .nested = true),
	[SL_T_PARTITION] = TABLE(partition, .plural = "partitions", .key = 0),
	[SL_T_JOB] = TABLE(job, .plural = "jobs", .key = 0),
	[SL_T_JOB_PARTITION] = TABLE(job_partition, .plural = "job_partitions", .key = -1, .nested = true),
	[SL_T_JOB_GRES] = TABLE(job_gres, .plural = "job_gres", .key = -1, .nested = true),
	[SL_T_JOB_LICENSE] = TABLE(job_license, .plural = "job_licenses", .key = -1, .nested = true),
	[SL_T_NODE_TASKS] = TABLE(node_tasks, .plural = "node_tasks", .key = -1, .nested = true),
	[SL_T_ALLOC] = TABLE(alloc, .plural = "allocs", .key = -1, .nested = true),
	[SL_T_ALLOC_GRES] = TABLE(alloc_gres, .plural = "alloc_gres", .key = -1, .nested = true),
	[SL_T_SHAPE] = TABLE(shape, .plural = "shapes", .key = -1, .nested = true),
	[SL_T_QUEUE] = TABLE(queue, .plural = "queue", .key = -1),
	[SL_T_WAY] = TABLE(way, .plural = "ways", .key = -1, .nested = true),
	[SL_T_RESERVATION] = TABLE(reservation, .plural = "reservations", .key = 0),
	[SL_T_LICENSE] = TABLE(license, .plural = "licenses", .key = 0),
	[SL_T_RUN] = TABLE(run, .plural = "runs", .key = -1, .nested = true, .nodelist = true),
	[SL_T_USAGE] = TABLE(usage, .plural = "usage", .key = -1),
	[SL_T_REMEMBERED] = TABLE(remembered, .plural = "remembered", .key = -1),
	[SL_T_HISTORY] = TABLE(history, .plural = "history", .key = -1),
	[SL_T_HELD] = TABLE(held, .plural = "held", .key = -1),
	[SL_T_STOPPED] = TABLE(stopped, .plural = "stopped", .key = -1),
};

static const struct sl_word select_flags[] = {
	{ SL_SELECT_MEMORY, "MEMORY" }, { SL_SELECT_WHOLE_NODE, "WHOLE_NODE" },
	{ SL_SELECT_ONE_TASK_PER_CORE, "ONE_TASK_PER_CORE" }, { SL_SELECT_PACK_NODES, "PACK_NODES" },
	{ SL_SELECT_LLN, "LLN" }, { SL_SELECT_SOCKET, "SOCKET" }, { SL_SELECT_LLN_DEALS, "LLN_DEALS" },
	{ SL_SELECT_GRES_IN_TURN, "GRES_IN_TURN" }, { SL_SELECT_SOFT_LIMIT, "SOFT_LIMIT" },
	{ SL_SELECT_TOPO_OPTIONAL, "TOPO_OPTIONAL" }, { SL_SELECT_SERIAL_AT_END, "SERIAL_AT_END" },
	{ SL_SELECT_DEALS_ALL, "DEALS_ALL" }, { SL_SELECT_PARTS_OF_TASKS, "PARTS_OF_TASKS" },
	{ SL_SELECT_DEALS_TO_NODES, "DEALS_TO_NODES" },
};
static const struct sl_word node_states[] = {
	{ SL_NODE_DOWN, "DOWN" }, { SL_NODE_DRAIN, "DRAIN" }, { SL_NODE_COMPLETING, "COMPLETING" },
	{ SL_NODE_MAINT, "MAINT" }, { SL_NODE_PLANNED, "PLANNED" }, { SL_NODE_POWERED_DOWN, "POWERED_DOWN" },
	{ SL_NODE_POWERING_DOWN, "POWERING_DOWN" }, { SL_NODE_POWERING_UP, "POWERING_UP" },
	{ SL_NODE_REBOOT_REQUESTED, "REBOOT_REQUESTED" }, { SL_NODE_REBOOT_ISSUED, "REBOOT_ISSUED" },
	{ SL_NODE_FUTURE, "FUTURE" }, { SL_NODE_DYNAMIC, "DYNAMIC" },
};
static const struct sl_word partition_flags[] = {
	{ SL_PART_UP, "UP" }, { SL_PART_DEFAULT, "DEFAULT" }, { SL_PART_EXCLUSIVE_USER, "EXCLUSIVE_USER" },
	{ SL_PART_LLN, "LLN" }, { SL_PART_FORCE, "FORCE" }, { SL_PART_HIDDEN, "HIDDEN" },
	{ SL_PART_ROOT_ONLY, "ROOT_ONLY" }, { SL_PART_EXCLUSIVE_TOPO, "EXCLUSIVE_TOPO" },
	{ SL_PART_OTHER_TOPOLOGY, "OTHER_TOPOLOGY" }, { SL_PART_BY_SOCKET, "BY_SOCKET" }, { SL_PART_BY_CORE, "BY_CORE" },
	{ SL_PART_BLOCK_LEVELS, "BLOCK_LEVELS" },
};
static const struct sl_word job_states[] = {
	{ SL_JOB_PENDING, "PENDING" }, { SL_JOB_RUNNING, "RUNNING" }, { SL_JOB_SUSPENDED, "SUSPENDED" },
	{ SL_JOB_COMPLETE, "COMPLETED" }, { SL_JOB_CANCELLED, "CANCELLED" }, { SL_JOB_FAILED, "FAILED" },
	{ SL_JOB_TIMEOUT, "TIMEOUT" }, { SL_JOB_NODE_FAIL, "NODE_FAIL" }, { SL_JOB_PREEMPTED, "PREEMPTED" },
	{ SL_JOB_BOOT_FAIL, "BOOT_FAIL" }, { SL_JOB_DEADLINE, "DEADLINE" }, { SL_JOB_OOM, "OUT_OF_MEMORY" },
};
static const struct sl_word job_flags[] = {
	{ SL_JOBF_BATCH, "BATCH" }, { SL_JOBF_COMPLETING, "COMPLETING" }, { SL_JOBF_EXCLUSIVE, "EXCLUSIVE" },
	{ SL_JOBF_CONTIGUOUS, "CONTIGUOUS" }, { SL_JOBF_SPREAD, "SPREAD" }, { SL_JOBF_REQUEUE, "REQUEUE" },
	{ SL_JOBF_OVERCOMMIT, "OVERCOMMIT" }, { SL_JOBF_OVERSUBSCRIBE, "OVERSUBSCRIBE" },
	{ SL_JOBF_IMMEDIATE, "IMMEDIATE" }, { SL_JOBF_HELD, "HELD" }, { SL_JOBF_DEPENDENT, "DEPENDENT" },
	{ SL_JOBF_NO_BORROW, "NO_BORROW" }, { SL_JOBF_MAY_PREEMPT, "MAY_PREEMPT" },
	{ SL_JOBF_DEFAULT_TIME, "DEFAULT_TIME" }, { SL_JOBF_MOST_NODES, "MOST_NODES" },
	{ SL_JOBF_ANY_TIME, "ANY_TIME" }, { SL_JOBF_ANY_MAX_NODES, "ANY_MAX_NODES" },
	{ SL_JOBF_ANY_MIN_NODES, "ANY_MIN_NODES" }, { SL_JOBF_NO_RESERVE, "NO_RESERVE" },
	{ SL_JOBF_POWER_UP, "POWER_UP" }, { SL_JOBF_PREEMPTS_LOWER, "PREEMPTS_LOWER" },
	{ SL_JOBF_PREEMPTS_WITHIN, "PREEMPTS_WITHIN" }, { SL_JOBF_BORROWS, "BORROWS" },
};
static const struct sl_word stop_modes[SL_STOP_MODES] = {
	{ SL_STOP_NONE, "none" }, { SL_STOP_CANCEL, "cancel" }, { SL_STOP_REQUEUE, "requeue" },
	{ SL_STOP_SUSPEND, "suspend" }, { SL_STOP_EXPEDITE, "expedite" },
};
static const struct sl_word distributions[] = {
	{ SL_DIST_ANY, "any" }, { SL_DIST_BLOCK, "block" }, { SL_DIST_CYCLIC, "cyclic" }, { SL_DIST_PLANE, "plane" },
	{ SL_DIST_ARBITRARY, "arbitrary" },
};
static const struct sl_word asks[] = {
	{ SL_ASKS_BOARDS, "BOARDS" }, { SL_ASKS_CPUS_PER_GRES, "CPUS_PER_GRES" },
	{ SL_ASKS_MEMORY_PER_GRES, "MEMORY_PER_GRES" }, { SL_ASKS_TASKS_PER_GRES, "TASKS_PER_GRES" },
	{ SL_ASKS_UNCOUNTED_GRES, "UNCOUNTED_GRES" }, { SL_ASKS_REBOOT, "REBOOT" },
	{ SL_ASKS_NODE_COUNTS, "NODE_COUNTS" }, { SL_ASKS_TASK_COUNTS, "TASK_COUNTS" },
	{ SL_ASKS_USER_NODES, "USER_NODES" }, { SL_ASKS_BURST_BUFFER, "BURST_BUFFER" }, { SL_ASKS_MCS, "MCS" },
	{ SL_ASKS_EXPAND, "EXPAND" }, { SL_ASKS_ANY_LICENSE, "ANY_LICENSE" },
	{ SL_ASKS_WHOLE_SWITCHES, "WHOLE_SWITCHES" }, { SL_ASKS_SPEC_CORES, "SPEC_CORES" },
	{ SL_ASKS_SPEC_THREADS, "SPEC_THREADS" }, { SL_ASKS_BOUND_GRES, "BOUND_GRES" },
	{ SL_ASKS_TASK_GRES, "TASK_GRES" }, { SL_ASKS_ONE_TYPE, "ONE_TYPE" },
	{ SL_ASKS_DEFAULT_CPUS, "DEFAULT_CPUS" }, { SL_ASKS_SOCKETS_IN_TURN, "SOCKETS_IN_TURN" },
	{ SL_ASKS_HRES, "HRES" }, { SL_ASKS_EXTRA, "EXTRA" }, { SL_ASKS_RECLAIM, "RECLAIM" },
	{ SL_ASKS_TASK_TRES, "TASK_TRES" }, { SL_ASKS_SEGMENT_BLOCKS, "SEGMENT_BLOCKS" },
};
static const struct sl_word per_words[] = {
	{ SL_PER_NODE, "node" }, { SL_PER_JOB, "job" }, { SL_PER_TASK, "task" }, { SL_PER_SOCKET, "socket" },
};
static const struct sl_word resv_flags[] = {
	{ SL_RESV_MAINT, "MAINT" }, { SL_RESV_FLEX, "FLEX" }, { SL_RESV_IGNORE_JOBS, "IGNORE_JOBS" },
	{ SL_RESV_OVERLAP, "OVERLAP" }, { SL_RESV_ANY_NODES, "ANY_NODES" },
	{ SL_RESV_GRES, "GRES" },
};

#define WORDS(id, row, field, is_flags, list) \
	{ id, offsetof(struct sl_##row##_row, field), is_flags, list, sizeof(list) / sizeof(list[0]) }

static const struct sl_words words[] = {
	WORDS(SL_T_META, meta, select_flags, true, select_flags),
	WORDS(SL_T_NODE, node, state, true, node_states),
	WORDS(SL_T_PARTITION, partition, flags, true, partition_flags),
	WORDS(SL_T_JOB, job, state, false, job_states),
	WORDS(SL_T_JOB, job, flags, true, job_flags),
	WORDS(SL_T_JOB, job, distribution, false, distributions),
	WORDS(SL_T_JOB, job, preempt_mode, false, stop_modes),
	WORDS(SL_T_JOB, job, asks, true, asks),
	WORDS(SL_T_USAGE, usage, state, false, job_states),
	WORDS(SL_T_HISTORY, history, state, false, job_states),
	WORDS(SL_T_JOB_GRES, job_gres, per, false, per_words),
	WORDS(SL_T_RESERVATION, reservation, flags, true, resv_flags),
};

const struct sl_schema sl_snapshot_schema = {
	.name = "snapshot", .magic = 0x4e534c53 /* "SLSN" */, .version = 2,
	.tables = SL_SNAPSHOT_TABLES, .table = tables,
	.words = sizeof(words) / sizeof(words[0]), .word = words,
};

/* Is the word one of "a,b,c"? */
static bool is_in_list(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; n && (at = strstr(at, word)); at++)
		if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

bool sl_snapshot_preempts(const struct sl_snapshot *snap, uint32_t job, uint32_t running)
{
	const struct sl_job_view *v = &snap->job;
	const char *list = sl_snapshot_str(snap, v->preempts[job]);
	bool by_partition = !strncmp(list, "Partition=", strlen("Partition="));
	bool is_lower = v->priority[running] < v->priority[job];

	if (v->flags[job] & SL_JOBF_PREEMPTS_WITHIN && *sl_snapshot_str(snap, v->qos[job]) &&
	    !strcmp(sl_snapshot_str(snap, v->qos[running]), sl_snapshot_str(snap, v->qos[job])))
		return is_lower;
	if (v->flags[job] & SL_JOBF_PREEMPTS_LOWER && !is_lower && !(by_partition && v->priority[running] == v->priority[job]))
		return false;
	return sl_snapshot_is_preempted(snap, v->preempts[job], running);
}

bool sl_snapshot_is_preempted(const struct sl_snapshot *snap, uint32_t preempts, uint32_t running)
{
	static const char by_qos[] = "QOS=", by_partition[] = "Partition=";
	const char *list = sl_snapshot_str(snap, preempts);
	uint32_t partition = snap->job.partition[running];

	if (!strncmp(list, by_qos, strlen(by_qos)))
		return is_in_list(list + strlen(by_qos), sl_snapshot_str(snap, snap->job.qos[running]));
	return !strncmp(list, by_partition, strlen(by_partition)) && partition != SL_NONE &&
		is_in_list(list + strlen(by_partition), sl_snapshot_str(snap, snap->partition.name[partition]));
}

bool sl_snapshot_may_stop(const struct sl_snapshot *snap, uint32_t job, uint32_t running)
{
	const struct sl_job_view *v = &snap->job;
	int64_t from = v->preempt_from[running];

	return job != running && v->state[running] == SL_JOB_RUNNING && !(v->flags[running] & SL_JOBF_COMPLETING) &&
		v->preempt_mode[running] && from > 0 && from <= snap->meta.now[0] && !v->preempt_time[running] &&
		sl_snapshot_may_preempt(snap, job) && sl_snapshot_preempts(snap, job, running);
}

bool sl_snapshot_may_stop_so(const struct sl_snapshot *snap, uint32_t running, uint32_t mode)
{
	uint32_t own = snap->job.preempt_mode[running];
	/* (whom Slurm cancels after a GraceTime it cancels by itself) */
	bool requeues = snap->job.flags[running] & SL_JOBF_REQUEUE &&
		(own == SL_STOP_REQUEUE || (own == SL_STOP_CANCEL && !snap->job.grace_time[running]));

	return own != SL_STOP_NONE && (mode == SL_STOP_NONE || mode == own ||
				       (requeues && (mode == SL_STOP_REQUEUE || mode == SL_STOP_EXPEDITE)));
}

const char *sl_job_state_word(uint32_t state)
{
	return state < SL_JOB_STATES ? job_states[state].word : "UNKNOWN";
}

const char *sl_stop_mode_word(uint32_t mode)
{
	return mode < SL_STOP_MODES ? stop_modes[mode].word : "unknown";
}

/* A node list (nodelist.h) is two references and nothing else. */
_Static_assert(sizeof(struct sl_run_row) == 8, "a run is two rows of nodes");

/* -- what the schema cannot say ----------------------------------------- */

/* References that must name something.  Others may be SL_NONE. */
static int check_refs(const struct sl_snapshot *s, struct sl_error *err)
{
	const struct {
		const char *what;
		const uint32_t *value;
		uint32_t rows;
	} ref[] = {
		{ "node_gres.kind", s->node_gres.kind, s->node_gres.rows },
		{ "job_partition.partition", s->job_partition.partition, s->job_partition.rows },
		{ "job_license.license", s->job_license.license, s->job_license.rows },
		{ "node_tasks.node", s->node_tasks.node, s->node_tasks.rows },
		{ "alloc.node", s->alloc.node, s->alloc.rows },
		{ "alloc_gres.kind", s->alloc_gres.kind, s->alloc_gres.rows },
		{ "queue.job", s->queue.job, s->queue.rows },
		{ "queue.partition", s->queue.partition, s->queue.rows },
		{ "held.job", s->held.job, s->held.rows },
		{ "held.partition", s->held.partition, s->held.rows },
		{ "run.first", s->run.first, s->run.rows },
		{ "run.last", s->run.last, s->run.rows },
	};

	for (size_t i = 0; i < sizeof(ref) / sizeof(ref[0]); i++)
		for (uint32_t r = 0; r < ref[i].rows; r++)
			if (ref[i].value[r] == SL_NONE)
				return sl_fail(err, SL_EFORMAT, "snapshot: %s of row %" PRIu32 " is missing",
					       ref[i].what, r);
	return 0;
}

static int check_runs(const struct sl_snapshot *s, struct sl_error *err)
{
	for (uint32_t r = 0; r < s->run.rows; r++)
		if (s->run.first[r] > s->run.last[r])
			return sl_fail(err, SL_EFORMAT, "snapshot: run[%" PRIu32 "]: from node %" PRIu32
				       " back to %" PRIu32, r, s->run.first[r], s->run.last[r]);
	return 0;
}

#define MOST_TIME (INT64_C(1) << 40)	/* some 35,000 years */

/* Seconds since 1970, and all that is planned begins now: there must be room behind it. */
static int check_clock(const struct sl_snapshot *s, struct sl_error *err)
{
	if (s->meta.now[0] < 0 || s->meta.now[0] > MOST_TIME)
		return sl_fail(err, SL_EFORMAT, "snapshot: meta.now: %" PRId64 " is no time", s->meta.now[0]);
	return 0;
}

/* Usage is of a time that runs forward and is no mistake. */
static int check_usage(const struct sl_snapshot *s, struct sl_error *err)
{
	for (uint32_t r = 0; r < s->usage.rows; r++)
		if (s->usage.start_time[r] > s->usage.end_time[r] || s->usage.start_time[r] < -MOST_TIME ||
		    s->usage.end_time[r] > MOST_TIME)
			return sl_fail(err, SL_EFORMAT, "snapshot: usage[%" PRIu32 "]: from %" PRId64 " to %" PRId64
				       " is no time", r, s->usage.start_time[r], s->usage.end_time[r]);
	return 0;
}

static int check_queue(const struct sl_snapshot *s, struct sl_error *err)
{
	for (uint32_t r = 0; r < s->queue.rows; r++) {
		uint32_t job = s->queue.job[r];

		if (s->job.state[job] != SL_JOB_PENDING)
			return sl_fail(err, SL_EFORMAT, "snapshot: queue[%" PRIu32 "]: job %" PRIu32 " is %s, expected PENDING",
				       r, s->job.id[job], sl_job_state_word(s->job.state[job]));
	}
	return 0;
}

/* No two jobs share rows of allocations and none has a node twice.  The first
 * also bounds the time that readers spend on them. */
static int check_allocs(const struct sl_snapshot *s, struct sl_error *err)
{
	uint32_t *seen;		/* by node: 1 + row of the last job that has it */
	uint64_t total = 0;
	int rc = 0;

	if (!s->alloc.rows)
		return 0;
	for (uint32_t j = 0; j < s->job.rows; j++) {
		total += s->job.alloc[j].count;
		if (total > s->alloc.rows)
			return sl_fail(err, SL_EFORMAT, "snapshot: job %" PRIu32 " shares rows of alloc with another",
				       s->job.id[j]);
	}
	seen = calloc(s->node.rows, sizeof(*seen));
	if (!seen)
		return sl_fail(err, SL_ENOMEM, "snapshot: no memory to check it");
	for (uint32_t j = 0; j < s->job.rows && !rc; j++) {
		for (uint32_t i = 0; i < s->job.alloc[j].count && !rc; i++) {
			uint32_t node = s->alloc.node[s->job.alloc[j].first + i];

			if (seen[node] == j + 1)
				rc = sl_fail(err, SL_EFORMAT, "snapshot: job %" PRIu32 " has node %s twice",
					     s->job.id[j], sl_snapshot_str(s, s->node.name[node]));
			seen[node] = j + 1;
		}
	}
	free(seen);
	return rc;
}

/* Likewise, and the nodes of each rise. */
static int check_node_tasks(const struct sl_snapshot *s, struct sl_error *err)
{
	uint64_t total = 0;

	for (uint32_t j = 0; j < s->job.rows; j++) {
		struct sl_range r = s->job.arbitrary_tpn[j];

		total += r.count;
		if (total > s->node_tasks.rows)
			return sl_fail(err, SL_EFORMAT, "snapshot: job %" PRIu32 " shares rows of node_tasks with another",
				       s->job.id[j]);
		for (uint32_t i = r.first + 1; i < r.first + r.count; i++)
			if (s->node_tasks.node[i] <= s->node_tasks.node[i - 1])
				return sl_fail(err, SL_EFORMAT, "snapshot: job %" PRIu32 ": its arbitrary_tpn has node %s behind %s",
					       s->job.id[j], sl_snapshot_str(s, s->node.name[s->node_tasks.node[i]]),
					       sl_snapshot_str(s, s->node.name[s->node_tasks.node[i - 1]]));
	}
	return 0;
}

/* What a held place has of each node, and no rows of that shared by two places. */
static int check_held(const struct sl_snapshot *s, struct sl_error *err)
{
	uint64_t total = 0;

	for (uint32_t r = 0; r < s->held.rows; r++) {
		struct sl_range p = s->held.places[r];
		uint32_t job = s->held.job[r];

		total += p.count;
		if (total > s->alloc.rows)
			return sl_fail(err, SL_EFORMAT, "snapshot: the place held for job %" PRIu32 " shares rows of alloc with another",
				       s->job.id[job]);
		if (s->job.state[job] != SL_JOB_PENDING)
			return sl_fail(err, SL_EFORMAT, "snapshot: held[%" PRIu32 "]: job %" PRIu32 " is %s, expected PENDING", r,
				       s->job.id[job], sl_job_state_word(s->job.state[job]));
		for (uint32_t i = p.first + 1; i < p.first + p.count; i++)
			if (s->alloc.node[i] <= s->alloc.node[i - 1])
				return sl_fail(err, SL_EFORMAT, "snapshot: the place held for job %" PRIu32 " has node %s behind %s",
					       s->job.id[job], sl_snapshot_str(s, s->node.name[s->alloc.node[i]]),
					       sl_snapshot_str(s, s->node.name[s->alloc.node[i - 1]]));
	}
	return 0;
}

/* Node lists are written with these. */
static int check_node_names(const struct sl_snapshot *s, struct sl_error *err)
{
	for (uint32_t r = 0; r < s->node.rows; r++) {
		const char *name = sl_snapshot_str(s, s->node.name[r]);

		if (!*name || strpbrk(name, ",[] \t\n"))
			return sl_fail(err, SL_EFORMAT, "snapshot: node[%" PRIu32 "].name: \"%.64s\" is no node name",
				       r, name);
	}
	return 0;
}

static uint64_t hash_key(const struct sl_snapshot *s, bool text, uint32_t key)
{
	return text ? sl_hash_text(SL_HASH, sl_snapshot_str(s, key)) : sl_hash_number(SL_HASH, key);
}

static bool same_key(const struct sl_snapshot *s, bool text, uint32_t a, uint32_t b)
{
	return a == b || (text && !strcmp(sl_snapshot_str(s, a), sl_snapshot_str(s, b)));
}

/* No two rows have the same name (a str column) or number. */
static int check_unique(const struct sl_snapshot *s, const char *column, const uint32_t *key, uint32_t rows,
			bool text, struct sl_error *err)
{
	struct sl_map row_of = { 0 };
	int rc = 0;

	if (sl_map_reserve(&row_of, rows, NULL))
		return sl_fail(err, SL_ENOMEM, "snapshot: no memory to check it");
	for (uint32_t r = 0; r < rows && !rc; r++) {
		uint64_t hash = hash_key(s, text, key[r]);

		SL_MAP_EACH(&row_of, hash, at) {
			if (!same_key(s, text, key[at.value], key[r]))
				continue;
			rc = text ? sl_fail(err, SL_EFORMAT, "snapshot: %s: rows %" PRIu32 " and %" PRIu32
					    " are both \"%.64s\"", column, at.value, r, sl_snapshot_str(s, key[r])) :
				    sl_fail(err, SL_EFORMAT, "snapshot: %s: rows %" PRIu32 " and %" PRIu32
					    " are both %" PRIu32, column, at.value, r, key[r]);
			break;
		}
		sl_map_put(&row_of, hash, r, NULL);
	}
	sl_map_free(&row_of);
	return rc;
}

static int check_keys(const struct sl_snapshot *s, struct sl_error *err)
{
	if (check_node_names(s, err) < 0 ||
	    check_unique(s, "node.name", s->node.name, s->node.rows, true, err) < 0 ||
	    check_unique(s, "partition.name", s->partition.name, s->partition.rows, true, err) < 0 ||
	    check_unique(s, "gres_kind.key", s->gres_kind.key, s->gres_kind.rows, true, err) < 0 ||
	    check_unique(s, "job.id", s->job.id, s->job.rows, false, err) < 0 ||
	    check_unique(s, "held.job", s->held.job, s->held.rows, false, err) < 0)
		return -1;
	return 0;
}

int sl_snapshot_open(struct sl_snapshot *snap, const void *bytes, size_t size, struct sl_error *err)
{
	struct sl_snapshot s;

	if (sl_image_open(&s.image, &s, &sl_snapshot_schema, bytes, size, err) < 0 ||
	    check_clock(&s, err) < 0 || check_refs(&s, err) < 0 || check_runs(&s, err) < 0 ||
	    check_queue(&s, err) < 0 || check_usage(&s, err) < 0 || check_allocs(&s, err) < 0 ||
	    check_node_tasks(&s, err) < 0 || check_held(&s, err) < 0 || check_keys(&s, err) < 0 ||
	    sl_remembered_check(&s.image, &s.remembered, err) < 0)
		return -1;
	*snap = s;
	return 0;
}
