/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the picture of a cluster that a policy decides on.
 *
 * Written by the plug-in (collect/collect.c), by schedlua-capture, by the JSON reader,
 * by the simulator and by the spec builders, always through image.h; read in
 * place through struct sl_snapshot.  Names are Slurm's where Slurm has one.
 *
 * Units: times are seconds since the epoch, 0 meaning "not set"; durations are
 * seconds, SL_UNLIMITED meaning "no limit"; memory is MiB; cores are physical
 * cores and CPUs are what Slurm counts (cores x threads where hyper-threads
 * are schedulable).  A uint32_t that is not set is SL_NONE unless said
 * otherwise.
 */
#ifndef SL_SNAPSHOT_H
#define SL_SNAPSHOT_H

#include "image/image.h"
#include "image/remember.h"

enum sl_snapshot_table {
	SL_T_META, SL_T_GRES_KIND, SL_T_NODE, SL_T_NODE_GRES, SL_T_PARTITION,
	SL_T_JOB, SL_T_JOB_PARTITION, SL_T_JOB_GRES, SL_T_JOB_LICENSE, SL_T_NODE_TASKS,
	SL_T_ALLOC, SL_T_ALLOC_GRES, SL_T_SHAPE, SL_T_QUEUE, SL_T_WAY,
	SL_T_RESERVATION, SL_T_LICENSE, SL_T_RUN, SL_T_USAGE, SL_T_REMEMBERED, SL_T_HISTORY,
	SL_T_HELD, SL_T_STOPPED, SL_SNAPSHOT_TABLES
};

/* The one row about the cluster as a whole. */
#define SL_META_COLUMNS(X) \
	X(i64, now, -1, 0, "time of the snapshot") \
	X(str, cluster, -1, 0, "ClusterName") \
	X(str, source, -1, 0, "who wrote it: slurmctld, capture, json, sim, spec") \
	X(str, slurm_version, -1, 0, "release of Slurm, empty without one") \
	X(i64, sequence, -1, 0, "number of the cycle; the plan repeats it") \
	X(i64, seed, -1, 1, "seed of cluster:random()") \
	X(u32, select_flags, -1, 0, "SL_SELECT_*") \
	X(i64, conf_stamp, -1, 0, "last_conf_update or the like: changes when node rows may be renumbered") \
	X(i64, job_stamp, -1, 0, "last_job_update") \
	X(i64, node_stamp, -1, 0, "last_node_update") \
	X(i64, part_stamp, -1, 0, "last_part_update") \
	X(i64, resv_stamp, -1, 0, "last_resv_update") \
	/* ends that are not what the limit says */ \
	X(i64, over_time_limit, -1, 0, "OverTimeLimit, seconds") \
	X(i64, kill_wait, -1, 30, "KillWait, seconds") \
	X(i64, unkillable_timeout, -1, 60, "UnkillableStepTimeout, seconds")

#define SL_SELECT_MEMORY		0x1	/* memory is a consumable resource */
#define SL_SELECT_WHOLE_NODE		0x2	/* select/linear: nodes are never shared */
#define SL_SELECT_ONE_TASK_PER_CORE	0x4	/* CR_ONE_TASK_PER_CORE */
#define SL_SELECT_PACK_NODES		0x8	/* CR_PACK_NODES */
#define SL_SELECT_LLN			0x10	/* CR_LLN: least loaded nodes */
#define SL_SELECT_SOCKET		0x20	/* CR_Socket*: whole sockets are allocated */
#define SL_SELECT_LLN_DEALS		0x40	/* with CR_LLN, select deals tasks to several nodes, whatever it is told */
#define SL_SELECT_GRES_IN_TURN		0x80	/* with SOCKET, beside gres select takes a core of each socket in turn */
#define SL_SELECT_SOFT_LIMIT		0x100	/* time_min_as_soft_limit: jobs are expected to run for their time_min */
#define SL_SELECT_TOPO_OPTIONAL		0x200	/* TopoOptional: only jobs with --switches are placed by switches */
#define SL_SELECT_SERIAL_AT_END		0x400	/* pack_serial_at_end: jobs of one CPU go to the last nodes */
#define SL_SELECT_DEALS_ALL		0x800	/* select refuses a job if some of its tasks have no CPU, though it overcommits */
#define SL_SELECT_PARTS_OF_TASKS	0x1000	/* of a node select takes CPUs that make no whole task, unless memory is by CPU */
#define SL_SELECT_DEALS_TO_NODES	0x2000	/* select deals out the tasks of --ntasks-per-node, however few the job has */

/* Kinds of generic resource that nodes have, e.g. ("gpu", "a100"). */
#define SL_GRES_KIND_COLUMNS(X) \
	X(str, key, -1, 0, "name, or name:type where there is a type") \
	X(str, name, -1, 0, "gres name: gpu") \
	X(str, type, -1, 0, "gres type: a100, or empty")

#define SL_NODE_COLUMNS(X) \
	X(str, name, -1, 0, "NodeName") \
	X(u32, state, -1, 0, "SL_NODE_* flags; 0: usable") \
	X(u32, cores, -1, 1, "physical cores that jobs may use (core specialization taken off)") \
	X(u32, core_spec, -1, 0, "cores that are set aside for the system, beside those") \
	X(u32, threads, -1, 1, "schedulable CPUs per core") \
	X(u32, sockets, -1, 1, "sockets") \
	X(i64, memory, -1, 0, "MiB that jobs may use (MemSpecLimit taken off); 0: not known") \
	X(i64, tmp_disk, -1, 0, "MiB of TmpDisk") \
	X(u32, weight, -1, 1, "Weight: smaller is preferred") \
	X(str, features, -1, 0, "active features, comma-separated") \
	X(range, gres, SL_T_NODE_GRES, 0, "generic resources of the node") \
	X(str, topology, -1, 0, "switches from the root to the node, dot-separated") \
	X(u32, res_cores_per_gpu, -1, 0, "RestrictedCoresPerGPU: cores for each GPU that only jobs with GPUs may have; 0: none") \
	X(u32, owner, -1, SL_NONE, "user id that has the node for himself (ExclusiveUser)") \
	X(i64, boot_time, -1, 0, "when the node came up") \
	X(str, reason, -1, 0, "why it is down or drained") \
	/* power saving and boots */ \
	X(i64, power_time, -1, 0, "when it was told to power down, to power up or to reboot; 0: not known") \
	X(i64, resume_timeout, -1, 60, "ResumeTimeout: seconds within which it has to have booted") \
	X(i64, suspend_timeout, -1, 30, "SuspendTimeout: seconds until it may be booted after it was told to power down") \
	X(i64, suspend_time, -1, SL_UNLIMITED, "SuspendTime: idle seconds after which it is powered down")

#define SL_NODE_DOWN		0x1	/* down, failing, powered off, not responding */
#define SL_NODE_DRAIN		0x2	/* no new jobs */
#define SL_NODE_COMPLETING	0x4	/* a job is still being cleaned up */
#define SL_NODE_MAINT		0x8	/* in a maintenance reservation now */
#define SL_NODE_PLANNED		0x10	/* informative: planned by the last cycle */
#define SL_NODE_POWERED_DOWN	0x20	/* can be woken up: usable, but it has to boot first */
#define SL_NODE_POWERING_DOWN	0x40	/* is being powered down: POWERED_DOWN after its SuspendTimeout */
#define SL_NODE_POWERING_UP	0x80	/* boots for a job or an administrator: usable */
#define SL_NODE_REBOOT_REQUESTED 0x100	/* reboots when its jobs have ended, and goes on; takes none before */
#define SL_NODE_REBOOT_ISSUED	0x200	/* reboots, and goes on */
#define SL_NODE_FUTURE		0x400	/* informative: not there yet (it is DOWN, too) */
#define SL_NODE_DYNAMIC		0x800	/* informative: registered itself */
/* No job may be started now on a node with one of these. */
#define SL_NODE_UNUSABLE	(SL_NODE_DOWN | SL_NODE_DRAIN)

#define SL_NODE_GRES_COLUMNS(X) \
	X(ref, kind, SL_T_GRES_KIND, 0, "what") \
	X(u32, count, -1, 0, "how many") \
	X(u32, no_consume, -1, 0, "1: a job has to find so many there, and uses none up; no job holds any") \
	X(ref, share, SL_T_GRES_KIND, 0, "each of them is a share of one of the node's gres of that kind (shard, mps)")

#define SL_PARTITION_COLUMNS(X) \
	X(str, name, -1, 0, "PartitionName") \
	X(range, nodes, SL_T_RUN, 0, "its nodes") \
	X(u32, flags, -1, 1, "SL_PART_* flags") \
	X(u32, priority_tier, -1, 1, "PriorityTier: higher is served first") \
	X(i64, max_time, -1, SL_UNLIMITED, "MaxTime") \
	X(i64, default_time, -1, 0, "DefaultTime; 0: MaxTime") \
	X(u32, min_nodes, -1, 0, "MinNodes") \
	X(u32, max_nodes, -1, SL_NONE, "MaxNodes") \
	X(u32, max_cpus_per_node, -1, SL_NONE, "MaxCPUsPerNode") \
	X(u32, max_cpus_per_socket, -1, SL_NONE, "MaxCPUsPerSocket") \
	X(u32, oversubscribe, -1, 1, "jobs that may share a core: 0 EXCLUSIVE, 1 NO, n FORCE:n or YES:n") \
	X(str, qos, -1, 0, "partition QOS") \
	X(str, allow_accounts, -1, 0, "AllowAccounts, comma-separated; empty: all") \
	X(str, deny_accounts, -1, 0, "DenyAccounts") \
	X(str, allow_qos, -1, 0, "AllowQos, comma-separated; empty: all") \
	X(str, deny_qos, -1, 0, "DenyQos") \
	X(str, allow_users, -1, 0, "user ids of AllowGroups, comma-separated; -: none; empty: all") \
	/* ends that are not what the limit says */ \
	X(i64, over_time_limit, -1, -1, "OverTimeLimit, seconds; -1: the cluster's") \
	X(u32, block_nodes, -1, 0, "topology/block: the first of BlockSizes, where node.topology has the blocks; 0: another topology")

#define SL_PART_UP		0x1	/* schedules jobs (UP) */
#define SL_PART_DEFAULT		0x2
#define SL_PART_EXCLUSIVE_USER	0x4
#define SL_PART_LLN		0x8
#define SL_PART_FORCE		0x10	/* OversubScribe=FORCE */
#define SL_PART_HIDDEN		0x20
#define SL_PART_ROOT_ONLY	0x40	/* only root may submit there */
#define SL_PART_EXCLUSIVE_TOPO	0x80	/* each job has its switches to itself (from 24.05 on) */
#define SL_PART_BY_SOCKET	0x200	/* its SelectTypeParameters: CR_Socket*, whatever the cluster's say */
#define SL_PART_BY_CORE		0x400	/* ... CR_Core* */
#define SL_PART_BLOCK_LEVELS	0x800	/* beside block_nodes: larger jobs are placed by blocks of several base blocks */
#define SL_PART_OTHER_TOPOLOGY	0x100	/* its topology is not what node.topology says: a ring, a torus, another of topology.yaml, or blocks without block_nodes */

/*
 * Jobs: pending ones, running ones and those that finished a short while ago.
 * Fields keep Slurm's names; "min_cpus", "num_tasks" and the like are the
 * request as slurmctld keeps it, so that nothing is lost on the way.
 */
#define SL_JOB_COLUMNS(X) \
	/* who */ \
	X(u32, id, -1, 0, "JobId") \
	X(i64, stamp, -1, 0, "digest of what a decision depends on: another stamp means another request") \
	X(u32, array_job_id, -1, SL_NONE, "ArrayJobId") \
	X(u32, array_task_id, -1, SL_NONE, "ArrayTaskId") \
	X(u32, array_pending, -1, 0, "tasks of the array that this record still stands for; 0: not an array") \
	X(u32, array_max_running, -1, 0, "array throttle (%n); 0: none") \
	X(u32, het_job_id, -1, SL_NONE, "het job leader") \
	X(u32, het_offset, -1, SL_NONE, "component of a het job") \
	X(str, name, -1, 0, "JobName") \
	X(str, user, -1, 0, "user name") \
	X(u32, uid, -1, SL_NONE, "user id") \
	X(u32, gid, -1, SL_NONE, "group id") \
	X(str, account, -1, 0, "account") \
	X(str, qos, -1, 0, "QOS") \
	X(str, wckey, -1, 0, "WCKey") \
	X(str, comment, -1, 0, "user's comment") \
	X(str, admin_comment, -1, 0, "administrator's comment") \
	/* where */ \
	X(ref, partition, SL_T_PARTITION, 0, "current partition") \
	X(ref, home, SL_T_PARTITION, 0, "started on nodes of other partitions: the one that it waited in") \
	X(range, partitions, SL_T_JOB_PARTITION, 0, "all partitions asked for; empty: just that one") \
	X(str, reservation, -1, 0, "reservation asked for, or in use") \
	/* state */ \
	X(u32, state, -1, 0, "SL_JOB_PENDING, ...") \
	X(u32, flags, -1, 0, "SL_JOBF_* flags") \
	X(i64, priority, -1, 1, "Slurm's priority; 0: held") \
	X(i64, nice, -1, 0, "Nice") \
	X(i64, submit_time, -1, 0, "SubmitTime") \
	X(i64, eligible_time, -1, 0, "EligibleTime") \
	X(i64, begin_time, -1, 0, "not before") \
	X(i64, deadline, -1, 0, "must have ended by then") \
	X(i64, start_time, -1, 0, "running, finished: started; pending: expected start") \
	X(i64, end_time, -1, 0, "running: start + time limit; finished: ended") \
	X(i64, suspend_time, -1, 0, "when last suspended or resumed") \
	X(i64, pre_suspend_s, -1, 0, "seconds run before the last suspension, in all") \
	X(i64, resize_time, -1, 0, "when its size last changed in this run; 0: it has the size that it started with") \
	X(u32, restarts, -1, 0, "times requeued") \
	X(u32, exit_code, -1, 0, "finished: wait status") \
	X(str, state_reason, -1, 0, "why it was pending before this cycle") \
	/* what: time */ \
	X(i64, time_limit, -1, SL_UNLIMITED, "walltime, seconds, with the partition's default and maximum applied") \
	X(i64, time_min, -1, 0, "smallest acceptable walltime, seconds; 0: time_limit") \
	/* what: size */ \
	X(u32, min_nodes, -1, 1, "fewest nodes") \
	X(u32, max_nodes, -1, 0, "most nodes; 0: no limit") \
	X(str, node_counts, -1, 0, "numbers of nodes of which it takes one, in their order: 1,4-6,8; empty: any from min_nodes to max_nodes") \
	X(u32, min_cpus, -1, 1, "CPUs in all") \
	X(u32, max_cpus, -1, 0, "most CPUs in all; 0: no limit") \
	X(u32, num_tasks, -1, 0, "tasks; 0: not said") \
	X(u32, cpus_per_task, -1, 1, "CPUs of a task") \
	X(u32, ntasks_per_node, -1, 0, "tasks on each node; 0: not said (a maximum where num_tasks is said)") \
	X(u32, ntasks_per_socket, -1, 0, "0: not said") \
	X(u32, ntasks_per_core, -1, 0, "0: not said") \
	X(u32, threads_per_core, -1, 0, "0: not said") \
	X(u32, pn_min_cpus, -1, 0, "fewest CPUs on each node") \
	X(i64, memory_per_node, -1, 0, "MiB on each node; 0: not said") \
	X(i64, memory_per_cpu, -1, 0, "MiB per allocated CPU; 0: not said") \
	X(i64, tmp_disk, -1, 0, "MiB of TmpDisk on each node") \
	X(u32, core_spec, -1, 0, "cores set aside on each node, in place of the node's own; 0: not said") \
	X(range, gres, SL_T_JOB_GRES, 0, "generic resources asked for") \
	X(range, licenses, SL_T_JOB_LICENSE, 0, "licences") \
	/* what: which nodes */ \
	X(str, features, -1, 0, "constraint, as written") \
	X(str, prefer, -1, 0, "constraint that would be better, as written: where it can be had as soon") \
	X(range, req_nodes, SL_T_RUN, 0, "nodes that must be among them") \
	X(range, exc_nodes, SL_T_RUN, 0, "nodes that must not") \
	X(u32, switches, -1, 0, "at most so many leaf switches; 0: any") \
	X(i64, switch_wait, -1, 0, "seconds to wait for that") \
	X(u32, segment, -1, 0, "--segment: its nodes are in segments of so many, which topology/block has in one block each; 0: not said") \
	X(range, shapes, SL_T_SHAPE, 0, "alternatives: other shapes that would do as well") \
	X(str, shapes_ignored, -1, 0, "why all alternatives in its comment are ignored; empty: they are not") \
	/* what: anything else */ \
	X(u32, sockets_per_node, -1, 0, "fewest sockets of each node; 0: not said") \
	X(u32, cores_per_socket, -1, 0, "fewest cores of each socket; 0: not said") \
	X(u32, distribution, -1, 0, "SL_DIST_*: how its tasks are to be dealt out") \
	X(u32, plane_size, -1, 0, "SL_DIST_PLANE: tasks that each node gets in its turn; 0: not known") \
	X(range, arbitrary_tpn, SL_T_NODE_TASKS, 0, "SL_DIST_ARBITRARY: tasks of each of its nodes, in node order; empty: Slurm knows of none") \
	X(u32, asks, -1, 0, "SL_ASKS_* flags: what has no column of its own") \
	X(u32, refusals, -1, 0, "placements of it in a row that Slurm's select has refused") \
	X(str, mcs_label, -1, 0, "label of multi-category security") \
	/* what its QOS says */ \
	X(i64, yields_after, -1, 0, "QOS NoReserve under preemption: seconds after its start from which on others may take its nodes; 0: never") \
	X(str, preempts, -1, 0, "whose running jobs it may preempt: QOS=a,b or Partition=a,b; empty: nobody's, or of its flags") \
	X(i64, safe_until, -1, 0, "running: until then nobody gets its nodes by preempting it; 0: as long as it runs") \
	/* how Slurm would preempt it */ \
	X(u32, preempt_mode, -1, 0, "running: SL_STOP_*, what Slurm does to preempt it: REQUEUE only of a job that can be requeued; NONE: nobody may") \
	X(i64, preempt_from, -1, 0, "running: from then on it may be stopped (its PreemptExemptTime is over); 0: never") \
	X(i64, grace_time, -1, 0, "running: GraceTime, seconds between being told to end and being ended") \
	X(i64, preempt_time, -1, 0, "running: when it was told to end for another job; 0: it was not") \
	/* what it has */ \
	X(u32, alloc_nodes, -1, 0, "running, completing, finished: nodes that it has or had; 0: not known") \
	X(u32, alloc_cpus, -1, 0, "likewise: CPUs, as sacct counts them") \
	X(u32, alloc_gpus, -1, 0, "likewise: GPUs") \
	X(range, alloc, SL_T_ALLOC, 0, "running, completing: what it holds")

/* Base states, Slurm's numbers. */
enum sl_job_state {
	SL_JOB_PENDING, SL_JOB_RUNNING, SL_JOB_SUSPENDED, SL_JOB_COMPLETE,
	SL_JOB_CANCELLED, SL_JOB_FAILED, SL_JOB_TIMEOUT, SL_JOB_NODE_FAIL,
	SL_JOB_PREEMPTED, SL_JOB_BOOT_FAIL, SL_JOB_DEADLINE, SL_JOB_OOM,
	SL_JOB_STATES
};

#define SL_JOBF_BATCH		0x1	/* sbatch; without it srun or salloc waits */
#define SL_JOBF_COMPLETING	0x2	/* ended, still holds nodes */
#define SL_JOBF_EXCLUSIVE	0x4	/* whole nodes */
#define SL_JOBF_CONTIGUOUS	0x8	/* --contiguous */
#define SL_JOBF_SPREAD		0x10	/* --spread-job */
#define SL_JOBF_REQUEUE		0x20	/* may be requeued */
#define SL_JOBF_OVERCOMMIT	0x40	/* -O: one CPU a node */
#define SL_JOBF_OVERSUBSCRIBE	0x80	/* --oversubscribe */
#define SL_JOBF_IMMEDIATE	0x100	/* --immediate: now or never */
#define SL_JOBF_HELD		0x200	/* priority 0 */
#define SL_JOBF_DEPENDENT	0x400	/* waits for other jobs */
#define SL_JOBF_NO_BORROW	0x800	/* another partition refused it a moment ago */
#define SL_JOBF_MAY_PREEMPT	0x1000	/* jobs that run could be preempted for it */
#define SL_JOBF_DEFAULT_TIME	0x2000	/* names no time limit: it gets the partition's */
#define SL_JOBF_MOST_NODES	0x4000	/* wants as many nodes as there are, up to max_nodes */
/* Its QOS, or an administrator, puts it above limits of its partition: */
#define SL_JOBF_ANY_TIME	0x8000	/* MaxTime */
#define SL_JOBF_ANY_MAX_NODES	0x10000	/* MaxNodes, where it says how many at most */
#define SL_JOBF_ANY_MIN_NODES	0x20000	/* MinNodes */
#define SL_JOBF_NO_RESERVE	0x40000	/* QOS NoReserve, or below MinPrioThreshold: no nodes are kept free for it */
#define SL_JOBF_POWER_UP	0x4000000	/* has nodes that boot for it: its time begins when they are up */
#define SL_JOBF_BORROWS		0x20000000	/* --signal=R: Slurm may start it on nodes that a reservation with MaxStartDelay keeps */
#define SL_JOBF_PREEMPTS_LOWER	0x8000000	/* PreemptMode=PRIORITY: of those that it may preempt only jobs of lower priority */
#define SL_JOBF_PREEMPTS_WITHIN	0x10000000	/* PreemptMode=WITHIN: jobs of its own QOS, too, if their priority is lower */

/* How a running job is stopped for another one.  EXPEDITE: requeued as an expedited job, where the release has that. */
enum sl_stop_mode { SL_STOP_NONE, SL_STOP_CANCEL, SL_STOP_REQUEUE, SL_STOP_SUSPEND, SL_STOP_EXPEDITE, SL_STOP_MODES };

enum sl_distribution { SL_DIST_ANY, SL_DIST_BLOCK, SL_DIST_CYCLIC, SL_DIST_PLANE, SL_DIST_ARBITRARY };

#define SL_REFUSALS 3	/* with so many refusals in a row select has to choose the place itself */

/* What a job asks for besides.  These are facts: what becomes of them, whoever reads the
 * snapshot decides. */
#define SL_ASKS_BOARDS		0x1	/* boards, or sockets or tasks for each board */
#define SL_ASKS_CPUS_PER_GRES	0x2
#define SL_ASKS_MEMORY_PER_GRES	0x4
#define SL_ASKS_TASKS_PER_GRES	0x8
#define SL_ASKS_UNCOUNTED_GRES	0x10	/* some of mps, shard and no_consume: not in its list of gres */
#define SL_ASKS_REBOOT		0x80	/* features that nodes get when they boot */
#define SL_ASKS_NODE_COUNTS	0x100	/* one of more numbers of nodes than its list says, or none at all */
#define SL_ASKS_TASK_COUNTS	0x200	/* its own number of tasks for each node, which its list does not say */
#define SL_ASKS_USER_NODES	0x400	/* nodes on which no other user has jobs (--exclusive=user) */
#define SL_ASKS_BURST_BUFFER	0x800
#define SL_ASKS_MCS		0x1000	/* nodes on which all jobs ask for that, with its label */
#define SL_ASKS_EXPAND		0x2000	/* to expand another job */
#define SL_ASKS_ANY_LICENSE	0x4000	/* one of its licences: slurmctld takes the first that is free */
#define SL_ASKS_WHOLE_SWITCHES	0x8000	/* switches on whose nodes nobody else has jobs (--exclusive=topo) */
#define SL_ASKS_SPEC_CORES	0x10000	/* no core set aside on its nodes (--core-spec=0) */
#define SL_ASKS_SPEC_THREADS	0x20000	/* core_spec counts threads (--thread-spec) */
#define SL_ASKS_BOUND_GRES	0x40000	/* cores near its gres alone (--gres-flags=enforce-binding) */
#define SL_ASKS_TASK_GRES	0x80000	/* so many for each task of a gres that its list has by node, job or socket */
#define SL_ASKS_ONE_TYPE	0x100000	/* a gres by name alone, of which select takes all on a node of one type */
#define SL_ASKS_DEFAULT_CPUS	0x200000	/* CPUs for each gres not by itself, but by default (DefCpuPerGPU) */
#define SL_ASKS_SOCKETS_IN_TURN	0x400000	/* a core of each socket of a node in turn (-m block:cyclic) */
#define SL_ASKS_HRES		0x800000	/* resources of resources.yaml, which belong to nodes; not in its list of licences */
#define SL_ASKS_EXTRA		0x1000000	/* nodes whose Extra has what its --extra says (extra_constraints) */
#define SL_ASKS_RECLAIM		0x2000000	/* licences that it may get by preemption (reclaim_licenses); not in its list of licences */
#define SL_ASKS_TASK_TRES	0x4000000	/* something for each task, CPUs too (-c, from 23.11 on), although it overcommits */
#define SL_ASKS_SEGMENT_BLOCKS	0x8000000	/* segments in few blocks, or each in another one (--consolidate-segments, --spread-segments) */

/* The partitions of a job that asked for several, in the order asked. */
#define SL_JOB_PARTITION_COLUMNS(X) \
	X(ref, partition, SL_T_PARTITION, 0, "partition")

#define SL_JOB_GRES_COLUMNS(X) \
	X(str, name, -1, 0, "gpu") \
	X(str, type, -1, 0, "a100; empty: any") \
	X(u32, count, -1, 0, "how many") \
	X(u32, per, -1, 0, "SL_PER_*: of each what") \
	X(u32, cpus, -1, 0, "CPUs for each of them; 0: not said") \
	X(i64, memory, -1, 0, "MiB for each of them, instead of what the job asks for otherwise; 0: not said")

enum sl_per { SL_PER_NODE, SL_PER_JOB, SL_PER_TASK, SL_PER_SOCKET };

#define SL_JOB_LICENSE_COLUMNS(X) \
	X(ref, license, SL_T_LICENSE, 0, "which") \
	X(u32, count, -1, 0, "how many")

#define SL_NODE_TASKS_COLUMNS(X) \
	X(ref, node, SL_T_NODE, 0, "where") \
	X(u32, tasks, -1, 0, "how many")

/* What a running job holds on one node. */
#define SL_ALLOC_COLUMNS(X) \
	X(ref, node, SL_T_NODE, 0, "where") \
	X(u32, cores, -1, 0, "physical cores") \
	X(i64, memory, -1, 0, "MiB") \
	X(range, gres, SL_T_ALLOC_GRES, 0, "generic resources")

#define SL_ALLOC_GRES_COLUMNS(X) \
	X(ref, kind, SL_T_GRES_KIND, 0, "what") \
	X(u32, count, -1, 0, "how many") \
	X(ref, of, SL_T_GRES_KIND, 0, "shares: of devices of that kind") \
	X(u32, devices, -1, 0, "where devices have shares, which of that kind they are, as bits: 1 is its first on the node; 0: not known")

/* Another shape that a job would accept ("-N64 --gpus-per-node=2 | -n512"). */
#define SL_SHAPE_COLUMNS(X) \
	X(u32, min_nodes, -1, 1, "fewest nodes") \
	X(u32, max_nodes, -1, 0, "most nodes; 0: no limit") \
	X(u32, num_tasks, -1, 0, "tasks; 0: not said") \
	X(u32, cpus_per_task, -1, 1, "CPUs of a task") \
	X(u32, ntasks_per_node, -1, 0, "tasks on each node; 0: not said") \
	X(i64, time_limit, -1, 0, "seconds; 0: the job's") \
	X(u32, refused, -1, 0, "1: Slurm refused to start the job so a moment ago; 2 to 5: it asks for more nodes, CPUs, gres or time than the job") \
	X(range, gres, SL_T_JOB_GRES, 0, "generic resources asked for")

/* What may be started at all, in the order Slurm would look at it: a job
 * stands here once for each partition it asked for. */
#define SL_QUEUE_COLUMNS(X) \
	X(ref, job, SL_T_JOB, 0, "a pending job") \
	X(ref, partition, SL_T_PARTITION, 0, "in this partition") \
	X(i64, priority, -1, 1, "its priority there") \
	X(range, ways, SL_T_WAY, 0, "reservations that it may start in, in the order of trying; empty: as it asks")

/* A reservation that draws jobs in, or one of several that a job names. */
#define SL_WAY_COLUMNS(X) \
	X(ref, reservation, SL_T_RESERVATION, 0, "in this one; none: in none of them")

#define SL_RESERVATION_COLUMNS(X) \
	X(str, name, -1, 0, "ReservationName") \
	X(i64, start_time, -1, 0, "from") \
	X(i64, end_time, -1, 0, "to") \
	X(range, nodes, SL_T_RUN, 0, "its nodes") \
	X(u32, flags, -1, 0, "SL_RESV_* flags") \
	X(str, users, -1, 0, "who may use it, comma-separated") \
	X(str, accounts, -1, 0, "which accounts may, comma-separated") \
	X(u32, cores, -1, 0, "cores in all, where it holds parts of nodes; 0: whole nodes") \
	X(range, parts, SL_T_ALLOC, 0, "then: its cores of each node, in node order; empty: not known") \
	X(range, licenses, SL_T_JOB_LICENSE, 0, "licences set aside for its jobs")

#define SL_RESV_MAINT		0x1
#define SL_RESV_FLEX		0x2
#define SL_RESV_IGNORE_JOBS	0x4
#define SL_RESV_OVERLAP		0x8
#define SL_RESV_ANY_NODES	0x10	/* of licences and the like: it has no nodes, its jobs run on any */
#define SL_RESV_GRES		0x20	/* of gres: some of those of its nodes are set aside */

#define SL_LICENSE_COLUMNS(X) \
	X(str, name, -1, 0, "licence") \
	X(u32, total, -1, 0, "in all") \
	X(u32, used, -1, 0, "in use by running jobs") \
	X(u32, reserved, -1, 0, "set aside by reservations that do not say so themselves")

/* Consecutive nodes, both ends included: the rows of a node list. */
#define SL_RUN_COLUMNS(X) \
	X(ref, first, SL_T_NODE, 0, "from") \
	X(ref, last, SL_T_NODE, 0, "to")

/*
 * What was used in the past, where a snapshot brings that along: in specs, and in
 * snapshots that were written for others to read.  slurmctld's come without: the
 * ledger knows (usage/usage.h says how a row is spread over its time).
 */
#define SL_USAGE_COLUMNS(X) \
	X(str, user, -1, 0, "user name") \
	X(str, account, -1, 0, "account") \
	X(str, partition, -1, 0, "PartitionName") \
	X(u32, state, -1, SL_JOB_COMPLETE, "how the run ended") \
	X(i64, start_time, -1, 0, "began") \
	X(i64, end_time, -1, 0, "ended; the same as start_time: all of it counts at that instant") \
	X(i64, cpu_s, -1, 0, "CPU-seconds") \
	X(i64, gpu_s, -1, 0, "GPU-seconds") \
	X(i64, node_s, -1, 0, "node-seconds")

/*
 * Runs that have ended, for policies that learn from them: in specs, and in recorded snapshots
 * those that the decision rested on (usage/history.h).  slurmctld's come without.
 */
#define SL_HISTORY_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(str, user, -1, 0, "user name") \
	X(str, account, -1, 0, "account") \
	X(str, partition, -1, 0, "PartitionName") \
	X(str, name, -1, 0, "JobName") \
	X(u32, state, -1, SL_JOB_COMPLETE, "how the run ended; PENDING: it was requeued") \
	X(i64, start_time, -1, 0, "began") \
	X(i64, end_time, -1, 0, "ended") \
	X(i64, runtime, -1, 0, "seconds that it ran") \
	X(i64, time_limit, -1, 0, "walltime, seconds; 0: not known") \
	X(u32, cpus, -1, 0, "CPUs") \
	X(u32, gpus, -1, 0, "GPUs") \
	X(u32, nodes, -1, 0, "nodes") \
	X(i64, expected, -1, 0, "seconds that its user's runs before it let one expect; 0: to be worked out")

/*
 * Places that are held for jobs for which others were stopped (plan_image.h, hold), from the first signal until the job starts.
 * Whoever carries plans out remembers them.  Of each node the job has the amounts of its place for itself, as far as they are
 * free: nobody else is started there, and a native start of another job may have none of these nodes.  A place whose node
 * failed is still listed; its row ends when the job starts, no longer waits, *until* is past, or the plan releases it.
 */
#define SL_HELD_COLUMNS(X) \
	X(ref, job, SL_T_JOB, 0, "the job that waits for it") \
	X(ref, partition, SL_T_PARTITION, 0, "in this partition") \
	X(i64, since, -1, 0, "when the first of the running jobs was told to end") \
	X(i64, until, -1, 0, "it is held until then at most") \
	X(range, places, SL_T_ALLOC, 0, "what it is to have of each node, in node order")

/* Jobs that were stopped for others: for an hour, and for as long as the stopped job waits to run again. */
#define SL_STOPPED_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(u32, preemptor, -1, 0, "JobId of the job for which it was stopped") \
	X(i64, time, -1, 0, "when it was told to end") \
	X(str, user, -1, 0, "its user") \
	X(ref, partition, SL_T_PARTITION, 0, "the partition in which it ran") \
	X(u32, started, -1, 0, "1: the job for which it was stopped has started since (of an array a task of it)")

SL_DECLARE_TABLE(meta, SL_META_COLUMNS)
SL_DECLARE_TABLE(gres_kind, SL_GRES_KIND_COLUMNS)
SL_DECLARE_TABLE(node, SL_NODE_COLUMNS)
SL_DECLARE_TABLE(node_gres, SL_NODE_GRES_COLUMNS)
SL_DECLARE_TABLE(partition, SL_PARTITION_COLUMNS)
SL_DECLARE_TABLE(job, SL_JOB_COLUMNS)
SL_DECLARE_TABLE(job_partition, SL_JOB_PARTITION_COLUMNS)
SL_DECLARE_TABLE(job_gres, SL_JOB_GRES_COLUMNS)
SL_DECLARE_TABLE(job_license, SL_JOB_LICENSE_COLUMNS)
SL_DECLARE_TABLE(node_tasks, SL_NODE_TASKS_COLUMNS)
SL_DECLARE_TABLE(alloc, SL_ALLOC_COLUMNS)
SL_DECLARE_TABLE(alloc_gres, SL_ALLOC_GRES_COLUMNS)
SL_DECLARE_TABLE(shape, SL_SHAPE_COLUMNS)
SL_DECLARE_TABLE(queue, SL_QUEUE_COLUMNS)
SL_DECLARE_TABLE(way, SL_WAY_COLUMNS)
SL_DECLARE_TABLE(reservation, SL_RESERVATION_COLUMNS)
SL_DECLARE_TABLE(license, SL_LICENSE_COLUMNS)
SL_DECLARE_TABLE(run, SL_RUN_COLUMNS)
SL_DECLARE_TABLE(usage, SL_USAGE_COLUMNS)
SL_DECLARE_TABLE(history, SL_HISTORY_COLUMNS)
SL_DECLARE_TABLE(held, SL_HELD_COLUMNS)
SL_DECLARE_TABLE(stopped, SL_STOPPED_COLUMNS)

/* A snapshot, opened: snap.job.id[row], snap.node.cores[row], ... */
struct sl_snapshot {
	struct sl_image image;
	struct sl_meta_view meta;
	struct sl_gres_kind_view gres_kind;
	struct sl_node_view node;
	struct sl_node_gres_view node_gres;
	struct sl_partition_view partition;
	struct sl_job_view job;
	struct sl_job_partition_view job_partition;
	struct sl_job_gres_view job_gres;
	struct sl_job_license_view job_license;
	struct sl_node_tasks_view node_tasks;
	struct sl_alloc_view alloc;
	struct sl_alloc_gres_view alloc_gres;
	struct sl_shape_view shape;
	struct sl_queue_view queue;
	struct sl_way_view way;
	struct sl_reservation_view reservation;
	struct sl_license_view license;
	struct sl_run_view run;
	struct sl_usage_view usage;
	struct sl_remembered_view remembered;
	struct sl_history_view history;
	struct sl_held_view held;
	struct sl_stopped_view stopped;
};

extern const struct sl_schema sl_snapshot_schema;

/*
 * Validate and open a snapshot: sl_image_open(), and what a schema cannot say:
 * runs with first <= last; queue entries that are pending; what a node has, a job
 * holds, asks for or queues in is named; no node twice in a job's allocation, nor in its
 * arbitrary_tpn, where they rise, no rows of these shared by two jobs; held places of pending jobs, one for each job at
 * most, with nodes that rise; node names that can stand
 * in a node list; no two nodes, partitions, gres kinds or jobs of one name or id; what is remembered as
 * remember.h has it.  Returns 0, or -1
 * with *err.  The bytes must outlive the snapshot.
 */
int sl_snapshot_open(struct sl_snapshot *snap, const void *bytes, size_t size, struct sl_error *err);

static inline const char *sl_snapshot_str(const struct sl_snapshot *snap, uint32_t str)
{
	return sl_image_str(&snap->image, str);
}

/* The partition that a job counts for, whoever's nodes it has; SL_NONE if it is gone. */
static inline uint32_t sl_snapshot_home(const struct sl_snapshot *snap, uint32_t job)
{
	return snap->job.home[job] != SL_NONE ? snap->job.home[job] : snap->job.partition[job];
}

/* True if select allocates whole sockets in that partition, by its SelectTypeParameters or the cluster's. */
static inline bool sl_snapshot_by_socket(const struct sl_snapshot *snap, uint32_t partition)
{
	uint32_t own = snap->partition.flags[partition] & (SL_PART_BY_SOCKET | SL_PART_BY_CORE);

	return own ? own & SL_PART_BY_SOCKET : snap->meta.select_flags[0] & SL_SELECT_SOCKET;
}

/* May Slurm preempt other jobs for that one?  Then it is native, too. */
static inline bool sl_snapshot_may_preempt(const struct sl_snapshot *snap, uint32_t job)
{
	return snap->job.flags[job] & SL_JOBF_MAY_PREEMPT;
}

/*
 * True if the running job is one of those that the other may preempt (preempt_p_preemptable() of preempt/qos and
 * preempt/partition_prio).  The second function asks that of all jobs with such a list of names ("preempts").
 */
bool sl_snapshot_preempts(const struct sl_snapshot *snap, uint32_t job, uint32_t running);
bool sl_snapshot_is_preempted(const struct sl_snapshot *snap, uint32_t preempts, uint32_t running);

/*
 * True if Slurm lets the running job be stopped now for the other: its PreemptMode is not off, its PreemptExemptTime is over, the
 * other may preempt it, and no stop of it is under way.  sl_snapshot_may_stop_so(): in that way, SL_STOP_NONE being Slurm's own.  What
 * is milder is allowed: to requeue rather than to cancel.
 */
bool sl_snapshot_may_stop(const struct sl_snapshot *snap, uint32_t job, uint32_t running);
bool sl_snapshot_may_stop_so(const struct sl_snapshot *snap, uint32_t running, uint32_t mode);

/* True if its priority decides whom it may preempt, too, so that its list does not say all. */
static inline bool sl_snapshot_preempts_by_priority(const struct sl_snapshot *snap, uint32_t job)
{
	return snap->job.flags[job] & (SL_JOBF_PREEMPTS_LOWER | SL_JOBF_PREEMPTS_WITHIN);
}

/* The word for SL_STOP_*: "requeue".  Never NULL. */
const char *sl_stop_mode_word(uint32_t mode);

/* Slurm's word for a state: "PENDING".  Never NULL. */
const char *sl_job_state_word(uint32_t state);

#endif
