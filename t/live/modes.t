#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PreemptMode WITHIN and SUSPEND, and bf_hetjob_prio: a scene runs under Slurm's own schedulers and under sched/lua, and
# nodes, order and expected starts are the same.
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
. "${0%/*}/database.sh"
needs_plugin
beside_live_begin

# -- the order of heterogeneous jobs ----------------------------------------------------

# A job between the priorities of two components waits with them for the same nodes.
het_scene() {
	local holder het plain
	holder=$(holds -N8 --exclusive)
	het=$(submit -N4 --exclusive -t 10 --priority=3000 : -N4 --exclusive --priority=1000)
	stays_pending "$het"
	plain=$(submit -N8 --exclusive -t 10 --priority="$1")
	stays_pending "$plain"
	scancel "$holder"
	wait_for 60 eval 'job_moved_on "$het" || job_moved_on "$plain"'
	echo "the heterogeneous job is $(job_state "$het"), the other one $(job_state "$plain")"
}
# Slurm's main scheduler does not know heterogeneous jobs: it must not start the other one before.
STOCK_PARAMETERS=bf_interval=1,bf_continue,bf_resolution=1,defer,sched_interval=-1
TAKES_HET_JOBS=1
het() { # HOW PRIORITY
	PARAMETERS=,bf_hetjob_prio=$1
	same_as_stock "het_of_$2"
}
het_of_2500() { het_scene 2500; }
het_of_1500() { het_scene 1500; }
it "bf_hetjob_prio=min: a heterogeneous job stands where its last component does" het min 1500
it "bf_hetjob_prio=max: ... where its first one does" het max 2500
it "bf_hetjob_prio=avg: ... in the middle, behind a job of higher priority" het avg 2500
it "... and before one of lower priority" het avg 1500
STOCK_PARAMETERS=bf_interval=1,bf_continue,bf_resolution=1,sched_interval=2,sched_min_interval=0
TAKES_HET_JOBS=

# -- preemption --------------------------------------------------------------------------

# A job of a partition above has nodes and cores of one below, which goes on when it has ended.
suspend_scene() {
	local low high
	low=$(submit -p main -N8 --exclusive -t 60)
	starts "$low" 30
	high=$(submit -p above -N2 --exclusive -t 10)
	starts "$high" 60
	wait_for 30 job_is "$low" SUSPENDED
	echo "the one above runs on $(job_nodes "$high"), the other one is $(job_state "$low")"
	scancel "$high"
	wait_for 60 job_is "$low" RUNNING
	stays_pending "$(submit -p main -N1 --exclusive -t 10)"
}
suspend() {
	same_as_stock suspend_scene PreemptType=preempt/partition_prio PreemptMode=SUSPEND,GANG
}
it "PreemptMode=SUSPEND: a job preempts one that has no memory of its own, which goes on after it" suspend

accounting_up() { database_with_root && database_enforce associations,limits,qos; }
database_begin accounting_up

within_scene() { priority_scene main main; }
within() {
	needs_accounting
	same_as_stock within_scene PreemptType=preempt/qos PreemptMode=REQUEUE,WITHIN
}
it "PreemptMode=WITHIN: a job preempts jobs of lower priority of its own QOS" within

live_end
