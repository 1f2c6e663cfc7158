/* SPDX-License-Identifier: MIT */
/*
 * check.h - is this plan feasible on that snapshot?
 *
 * The checker shares no code with the planner: no timeline, nodeset, place or cluster.  For each node it adds up what runs,
 * what the plan starts and what it reserves, at every instant at which something changes.  Slow and obvious on purpose;
 * O(bookings x log bookings) per node.
 *
 * The rules for plans, which the planner (model/cluster.c, model/plan.c) follows, too:
 *
 * Holding.  A running job holds its allocation until its end; a suspended one for as long as it would still run if it resumed
 * now.  `scontrol suspend` releases the cores (Slurm then sets the priority to 0) but neither memory nor gres; gang-suspended
 * jobs keep everything.
 *
 * Overdue.  A running or suspended job past its time limit holds its allocation for OverTimeLimit (of its partition, else of
 * the cluster) plus KillWait.  If OverTimeLimit is unlimited, it is for its time limit again, or a year if it has none.  A
 * job past even that goes on for as long as it is already overdue, and at least SL_OVERDUE_S; so does a completing job, from
 * its end on.  A job that has been completing for more than KillWait plus UnkillableStepTimeout, and at least SL_HUNG_S,
 * hangs: its nodes take no job at all.
 *
 * Nodes.  A completing node takes no job until its completing jobs are expected to be gone; if none is known, for KillWait.
 * A down or drained node takes no job at all.
 *
 * Power.  A node that is being powered down takes no job until SuspendTimeout after the command (if that is past: as for an
 * overdue job); a node that reboots, until ResumeTimeout after the command; a node with a pending reboot, until ResumeTimeout
 * after its jobs have ended.  A node that has been booting (POWERING_UP, REBOOT_ISSUED) for longer than ResumeTimeout takes
 * no job at all.  An unknown or future time counts as now.  A job on nodes that have to boot (POWERED_DOWN, POWERING_DOWN:
 * ResumeTimeout; POWERING_UP: the rest of it) has them for that much longer, unless it is in a reservation.  The time limit
 * of a running job with POWER_UP begins when its nodes are up.
 *
 * Cores.  A job gets whole cores.  c cores of a node host as many tasks as their usable threads allow (threads_per_core); one
 * per core with CR_ONE_TASK_PER_CORE, or as ntasks_per_core says.  On each node the job gets at least one core, and what
 * pn_min_cpus, ntasks_per_node and (on a single node) num_tasks require; in all enough for num_tasks and min_cpus, no core
 * more than a node can use for tasks, and at most max_cpus.  Exclusive jobs get whole nodes with all their gres.  A job that
 * overcommits needs min_cpus in all, whatever its tasks.  If jobs of a partition share cores n-fold (OverSubscribe=FORCE:n,
 * or YES:n for jobs that ask for it), they count 1/n of their cores (the largest n of such partitions of the node), and are
 * not planned beside jobs that do not share.
 *
 * Tasks.  A place states how many of the job's tasks it has, except for whole nodes and native jobs.  Its cores suffice for
 * them, and one core less (with CR_Socket one socket less) would not, unless a node gives that many in any case.  No node has
 * more than ntasks_per_node and ntasks_per_socket allow.  Gres per task are present for each task.  With an arbitrary
 * distribution (arbitrary_tpn), the job has exactly the listed nodes and tasks.
 *
 * Memory counts if it is a consumable resource and the node's size is known: per node, or per CPU times all threads of the
 * job's cores.  A job that asks for none gets all of the node's (as with --mem=0).
 *
 * TmpDisk.  Each node has at least what the job asks for; it is not used up.
 *
 * Reservations.  No other job runs on a reservation's nodes between its start and end.  A reservation of parts of nodes holds
 * its cores on each node, and its jobs get no others; if the cores are unknown, it holds on a node at most all of its cores
 * but one for each other node.  If reservations on a node together have more cores than it has, a job of one may use cores of
 * the others.  A job in a reservation stays on its nodes, starts within its window and is expected to end with it.  Other
 * reservations bind it, too, unless its own is for maintenance, or overlapping and the other not for maintenance (as in
 * Slurm's job_test_resv()).  If the queue allows several reservations, the plan says which one is used.  A reservation
 * without nodes allows all unreserved nodes.  A flexible reservation limits neither nodes nor time.
 *
 * Expectations.  A row may be booked for less than its walltime, because the policy expects the job to end earlier.  Not for
 * a job with licences, in a reservation, or on nodes on which another reservation begins before its walltime ends.
 *
 * MaxCPUsPerNode limits the CPUs of all jobs of the partition on a node.
 *
 * Borrowing.  A job may use nodes of other partitions, the lenders, if it is started "through" a further partition that has
 * all its nodes and that the job does not ask for.  All these partitions are up and admit the job by walltime and number of
 * nodes (MaxTime, MinNodes, MaxNodes), account, QOS and user (AllowAccounts, AllowQos, AllowGroups, and their opposites);
 * lenders are not RootOnly.  They share nodes in the same way as the job's partition, and none has MaxCPUsPerNode.  The job
 * is not native.
 *
 * Features.  A constraint is evaluated from left to right, "|" and "&" with equal precedence, parentheses (one level) first.
 * Of one list in brackets, joined by "&", all nodes have the same feature.  Counts ("a*2", "[a*2&(b|c)*1]"; at most 8 terms;
 * not with required nodes, switches, contiguous nodes or preferred features): that many nodes satisfy the term, and no node
 * counts for two.  Other nodes need not satisfy any; the job has at least as many nodes as are counted.
 *
 * Switches.  A job that asks for a maximum number of leaf switches uses no more, until it has waited as long as it was
 * willing to, since it was submitted or became eligible.
 *
 * Blocks.  In a partition with block_nodes, a job of several nodes has in each block a multiple of the nodes of its segments.
 * A job without segments, or with segments larger than itself, is one segment.  Segments of whole blocks fill blocks if there
 * are no larger blocks.  (Native jobs are exempt.)
 *
 * Nodes to oneself.  A job that asks for nodes of its user (SL_ASKS_USER_NODES, or its partition has ExclusiveUser) is on no
 * node with another user's job.  A job that asks for nodes of its label (SL_ASKS_MCS) is on no node with jobs of other
 * labels, or without that request.
 *
 * Cores for the system.  A job with its own core specialization (core_spec, SL_ASKS_SPEC_CORES) has whole nodes with all
 * cores but those; no other job gets the rest.
 *
 * Gres that are not used up (no_consume): each node has at least what the job asks for; places do not list them.
 *
 * Devices.  If gres are shares of others (node_gres.share), all devices have the same number of shares, and the plan says
 * which devices are used.  The shares of a job on a node are of one device; a job with a whole device has all its shares.
 *
 * Sockets.  Nodes have at least as many sockets, with as many cores, as the job asks for.  With CR_Socket a job has whole
 * sockets.  Which cores are free is not in the snapshot; select finds them.
 *
 * What comes with gres.  If memory comes with some gres, the job has that memory on a node and no other; on a whole node for
 * all gres of that name.  If CPUs come with them, a node gives at least as many, and a whole node has enough for all its
 * gres; in all no more than the tasks need or, if more, than the gres of all nodes bring.  Tasks with gres of their own have
 * the CPUs of these.
 *
 * Running jobs that others may preempt (safe_until, preempts).  Such a job holds its part of a node until its end, or until a
 * job of the plan that may preempt it begins there, but at least until safe_until.  Slurm decides then whether it is
 * preempted.
 *
 * Stops.  A running job is stopped for another one (plan_image.h, stop) only if Slurm lets that one preempt it now and in
 * that way (preempt_mode, preempt_from, preempts; requeued rather than cancelled if possible; not suspended if it keeps
 * memory or gres), in this run and once.  A gang (components of a heterogeneous job; "gang=NAME" in the comment of a user's
 * jobs; "gang" of an array) is stopped as a whole, except jobs in a gang by comment that Slurm does not let be preempted for
 * that job.  A job is not stopped for one that was itself stopped for it, directly or by a chain of stops that the snapshot
 * lists.  The other job has a reservation on a held place, beginning when the last job stopped for it is gone: after
 * GraceTime, and at least SL_OVERDUE_S.  All other jobs on the place have ended by themselves.  Without any one group of
 * stops something would be missing: on a node, of a device, of the partition's limit there, or of a licence.  A moved job is
 * requeued; its other place is not checked.
 *
 * Held places.  What the snapshot holds for a job (snapshot.h, held), as far as it is free now, is used by no other job until
 * the job's own row begins or the hold ends.  A place that the plan releases or replaces is free.  If several held places are
 * on a node, a later one gets what the earlier one leaves free now, or what the earlier one's job leaves if it starts now.  A
 * place that the plan begins to hold: until the job's row begins, only rows of the plan that were made before may use what is
 * free there now.
 *
 * Shortages.  The plan states that a job would be short of something even without all jobs that could be stopped for it:
 * those that Slurm would let be stopped, that the plan does not spare, and that would be gone by then.  On each node listed
 * as short, less would be free, at some time of the job's run, than it needs on each of its nodes.  All other nodes that it
 * may use are too few (in a row, if it needs contiguous nodes; below the switches for which it waits), or host too few tasks,
 * or have too little of a gres in all; or a licence is short.
 *
 * No reservation is made for a job with NO_RESERVE.
 *
 * Blocked nodes.  A row uses none of the nodes that the plan keeps free within its time, by the blocks that apply to it.
 *
 * Native jobs.  Any job may be native: select chooses its nodes.  Its places are a booking, not a layout, and only their sum
 * is checked.  The planner decides which jobs must be native (model/native.h): select refuses what it cannot place as
 * planned, so nothing is overbooked by a mistake.
 */
#ifndef SL_CHECK_H
#define SL_CHECK_H

#include "image/plan_cut.h"
#include "image/plan_image.h"
#include "image/snapshot.h"

#define SL_OVERDUE_S 1		/* least time in seconds after which something overdue is expected to end */
#define SL_HUNG_S 60		/* least time in seconds after which a completing job counts as hung */
#define SL_YEAR_S (365 * 86400)

/*
 * Returns 0 if every start and reservation is feasible: sequence and stamps match; the job is queued in that partition; no
 * job occurs twice (an array record: no more often than it has tasks, and than its throttle allows); nodes are in the
 * partition and usable; requested and excluded nodes are respected; node and task counts match the request; cores, memory and
 * gres of every node are within its capacity at every instant; MaxCPUsPerNode and licences are respected; no start is before
 * its begin time or after the deadline.  Otherwise -1 with *err: the first violation, naming the job, the node and the
 * figures.
 */
int sl_check_plan(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_error *err);

/*
 * The same, but rows that violate a rule are listed in *cuts*, which the caller frees, and the check goes on with the others.
 * For a heterogeneous job all its rows are listed, for an array only the row.  If rows do not fit beside each other, the one
 * that begins last is listed; among several the one planned last.  Without the listed rows (sl_plan_cut()) the plan is
 * feasible.  The cost is about that of checking a feasible plan.  Returns 0; or -1 with *err if the fault is in no row: the
 * plan is for another snapshot, or memory is lacking.
 */
int sl_check_rows(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_cuts *cuts,
		  struct sl_error *err);

/*
 * Was this schedule feasible?  It has the form of a plan with one reservation per run of a job, at the time when it started;
 * end[i] is when the run of row i ended.  The rules are those above, for what the jobs really had: no start before submission
 * or begin time; no run longer than the time limit; no node over its capacity at any instant; reservations of the snapshot
 * respected.  A job may run twice only if the earlier run was stopped: such a run has a row in the plan's table of stops, by
 * job and start_time; the job may be requeued, and the preemptor (0: none) may preempt it and was submitted before.  Jobs
 * need not be queued in the snapshot, but must belong to the partition.  Returns 0, or -1 with *err, the first violation.
 */
int sl_check_schedule(const struct sl_snapshot *snap, const struct sl_plan_image *schedule, const int64_t *end,
		      struct sl_error *err);

#endif
