/* SPDX-License-Identifier: MIT */
/*
 * check.h - is this plan feasible on that snapshot?
 *
 * Shares no code with what made the plan: no timeline, no nodeset, no place, no
 * cluster.  It adds up, node by node, what runs, what the plan starts and what
 * it reserves, at every instant at which something changes.  Slow and obvious on
 * purpose; O(bookings x log bookings) per node.
 *
 * The rules that a plan obeys, and that its makers (model/cluster.c, model/plan.c) follow:
 *
 * Holding.  A running job holds its allocation until its end, a suspended
 * one for as long as it would still run if it went on now.  `scontrol suspend`
 * gives the cores back (Slurm marks such a job by priority 0) but neither memory
 * nor gres; gang-suspended jobs keep all.
 *
 * Overdue.  A running or suspended job whose time is up holds its allocation for OverTimeLimit (its partition's, else the
 * cluster's) and KillWait more; where OverTimeLimit has no limit, for its time limit once more, or a year if it has
 * none.  One that should have ended even so goes on for as long as it is overdue already, and for SL_OVERDUE_S at least;
 * so does one that is being cleaned up, from its end on.  After KillWait and UnkillableStepTimeout, and SL_HUNG_S at
 * least, a job that is being cleaned up hangs: its nodes take no job at all.
 *
 * Nodes.  A completing node takes no job before the jobs that are being cleaned up there are taken to be gone; where
 * none is known, for KillWait.  A down or drained one takes none at all.
 *
 * Power.  A node that is being powered down takes no job until SuspendTimeout after it was told so (if that is past, as
 * one that is overdue), one that reboots until ResumeTimeout after, one that is to reboot until its jobs have ended and
 * ResumeTimeout after that.  One that boots (POWERING_UP, REBOOT_ISSUED) for longer than ResumeTimeout takes no job at
 * all.  A time that is not known, or is to come, counts as now.  A job on nodes that have to boot (POWERED_DOWN,
 * POWERING_DOWN: ResumeTimeout; POWERING_UP: what is left of it) has them for so much longer, but for one in a reservation.
 * A running job that has POWER_UP has its time limit from when its nodes are up.
 *
 * Cores.  A job gets whole cores.  c cores of a node host as many tasks as
 * their usable threads allow (threads_per_core), one a core where
 * CR_ONE_TASK_PER_CORE or ntasks_per_core say so.  On each node the job gets at
 * least one core and what pn_min_cpus, ntasks_per_node and (on a single node)
 * num_tasks ask for; in all enough for num_tasks and min_cpus, and not a core
 * more than a node can use for tasks, up to max_cpus.  Exclusive jobs get whole
 * nodes, with all their gres.  Overcommit needs min_cpus in all, however many tasks.  Jobs of a
 * partition that shares cores n-fold (OverSubscribe=FORCE:n, or YES:n and asked for) count an nth of
 * their cores (of several such partitions that have the node, the largest n), and none is planned
 * beside one that does not share.
 *
 * Tasks.  A place says how many of the job's tasks it has, but of whole nodes and of native jobs.  Its cores host them,
 * and one core less (with CR_Socket: one socket less) would not, unless a node gives as many in any case.  No node has more than
 * ntasks_per_node and ntasks_per_socket allow.  Gres of tasks are there for each.  With an arbitrary distribution that
 * says how many tasks each node has (arbitrary_tpn), the job has these nodes and no others, with these tasks.
 *
 * Memory counts where it is a consumable resource and the node's size is known:
 * per node, or per CPU times all threads of the cores got; a job that names none
 * gets all of the node's (as with --mem=0).
 *
 * TmpDisk.  Each node has as much as the job asks for of each; nobody uses it up.
 *
 * Reservations.  Nobody else runs on a reservation's nodes between its start and
 * end.  One that holds parts of nodes holds its cores of each, and its jobs have no others; where those are not known,
 * they are at most all but one for each other node.  If several hold more cores of a node than it has, the job of one may have what
 * others hold.  A job in a reservation stays on its nodes,
 * starts within its window and is taken to end with it; other reservations bind it
 * too, unless its own is a maintenance one, or overlapping and the other not
 * maintenance (as in Slurm's job_test_resv()).  Which one it is in, the plan says where the queue
 * has several ways for the job.  One without nodes leaves its jobs all others.  A job in a flexible one is bound to
 * neither its nodes nor its time.
 *
 * Expectations.  A row may be booked for less than its walltime, since the policy expects it to
 * end sooner.  Not so a job with licences, one in a reservation, and one on nodes on which a
 * reservation of others would begin before its walltime ends.
 *
 * MaxCPUsPerNode bounds the CPUs of all jobs of the partition on a node.
 *
 * Borrowing.  A job may have nodes of other partitions, the lenders, when it is started
 * "through" one more that has all of its nodes, and which it does not ask for itself.  All
 * of them are up and within their limits are the job's walltime and number of nodes
 * (MaxTime, MinNodes, MaxNodes) and its account, QOS and user (AllowAccounts, AllowQos,
 * AllowGroups, and their opposites); lenders are not RootOnly.  They share nodes as the
 * job's partition does, and none has MaxCPUsPerNode.  Such a job is not native.
 *
 * Features.  A constraint is read from left to right, "|" no looser than "&"; what is in parentheses,
 * one deep, first.  Of one list in brackets, joined by "&", all nodes have the same feature.  Counts
 * ("a*2", "[a*2&(b|c)*1]", at most 8 terms, not beside required nodes, switches, contiguous nodes or preferred
 * features): so many nodes have it, no node counts twice, others need have nothing; and the job has as many nodes.
 *
 * Switches.  A job that asks for at most so many is below no more leaf switches than that, until it has
 * waited for it, from when it was submitted or might first have started, as long as it was willing to.
 *
 * Blocks.  In a partition with block_nodes a job of several nodes has, in each block, a multiple of the nodes of its segments; one
 * that asks for none, or for larger ones than it has nodes, is a segment itself.  Segments that are a number of blocks fill blocks, where
 * there are no larger blocks.  (A native job is where select puts it.)
 *
 * Nodes to oneself.  A job that asks for nodes of its user (SL_ASKS_USER_NODES, or its partition has ExclusiveUser)
 * is on no node with jobs of another.  One that asks for nodes of its label (SL_ASKS_MCS) is on no node
 * with jobs of another label, nor with such as do not ask for that.
 *
 * Cores for the system.  A job that says how many of each node those are (core_spec, SL_ASKS_SPEC_CORES) has
 * whole nodes, all of their cores but those, and nobody has what it leaves.
 *
 * Gres that nobody uses up (no_consume): each node has as many as the job asks for of each, and these are in no place.
 *
 * Devices.  Where gres are shares of others (node_gres.share), each device has as many; the plan says which devices
 * are had.  Shares of a job are on each node of one device; who has a device whole has all of its shares.
 *
 * Sockets.  Nodes have as many sockets of as many cores as the job asks for.  With CR_Socket a job has whole
 * sockets of each node.  Which cores of a node are free is not in the snapshot, and is select's to find.
 *
 * What comes with gres.  A job that has memory for each of some has that of a node's, and no other; of a whole
 * node that of all gres of the name.  Where CPUs come with them, a node gives as many at least, whole nodes have
 * as many as all of theirs bring; in all there are no more than tasks need or, if that is more, the gres of all
 * nodes bring.  Tasks with gres of their own have the CPUs of these.
 *
 * Running jobs that others may preempt (safe_until, preempts).  On a node such a job holds what it has until its end, or, if
 * it may be preempted by a job that the plan has there, until that one begins, but not before safe_until: whether it is
 * preempted is Slurm's to say when the time has come.
 *
 * Stops.  A running job is stopped for another (plan_image.h, stop) only if Slurm lets that one preempt it, now and in that way
 * (preempt_mode, preempt_from, preempts; requeued rather than cancelled if it can be; not suspended if it keeps memory or gres),
 * in this run and once; a gang (components of a heterogeneous job; "gang=NAME" in the comment of a user's jobs, "gang" of an
 * array) whole, but that of a comment's gang those go on whom Slurm does not let be preempted for it; and not if the other was stopped for it, or for one that was, as far as the snapshot lists it.  The other has a reservation on a place that is held, which begins
 * when the last of those stopped for it is gone: after GraceTime, and SL_OVERDUE_S at least.  All others on the place have ended
 * by themselves.  Without any group of them something of the place would be missing: of a node, of one device, of what the
 * job's partition may have there, or of a licence.  One that is moved is requeued; whether its other place is one, is not checked.
 *
 * Held places.  Of what the snapshot holds for a job (snapshot.h, held) nobody else has anything, as far as it is free now, until the
 * job's own row begins or the time is up until which it is held.  A place that the plan releases, or holds anew, is nobody's.
 * Where several are on one node, the later one has of what is free now what the earlier one leaves, or what its job leaves that starts now.
 * Of a place that the plan begins to hold, until the job's row begins nobody has what is free now but those of the plan's rows that
 * stood before it.
 *
 * Shortages.  The plan says of a job that something would be short even without all who may be stopped for it: whom Slurm would let
 * be stopped and the plan does not spare, and who are gone by then.  On each node that is said to be short of something, less of it
 * would be free, at some instant while the job would run, than the job needs of each of its nodes.  All others that it may have are fewer
 * than its nodes (in a row, if they have to be contiguous; below the switches for which it waits), or host fewer tasks, or have less of a gres, than it needs in
 * all; or there are fewer of a licence.
 *
 * No reservation is of a job for which no nodes are kept free (NO_RESERVE).
 *
 * Blocks.  A row is booked on none of the nodes that the plan keeps free within its time, by the blocks that bind it.
 *
 * Native jobs.  Any job may be native: select chooses its nodes.  Its places are a booking and not a layout, and only
 * their sum is checked.  Which jobs have to be native is the planner's to know (model/native.h): select refuses what
 * it cannot place as planned, and nothing is overbooked by that.
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
