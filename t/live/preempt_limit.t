#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A limit of a QOS, and a plan that would stop others for a job that the limit keeps from starting.
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
needs_plugin
needs_database
live_begin 4 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"

export SBATCH_ACCOUNT=lab

accounting_up() {
	database_with_root && sacctmgr -i -Q add qos one GrpTRES=node=1 > /dev/null &&
		sacctmgr -i -Q modify user root set qos=normal,one > /dev/null && database_enforce associations,limits,qos
}
it "an accounting database comes up" accounting_up
needs_engine

all_run() { local id; for id; do job_is "$id" RUNNING || return 1; done; }

limited() {
	local ids=() holder job
	reload <<-EOL
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.preempt {}, "easy" } }
	EOL
	wait_for 20 status_is source site
	holder=$(submit -p high --qos=one -N1 --exclusive -t 60)
	starts "$holder"
	for _ in 1 2 3; do
		ids+=("$(sbatch --parsable --output=/dev/null -p low -t 60 -N1 --requeue --exclusive --wrap 'exec sleep 3000')")
	done
	wait_for 30 all_run "${ids[@]}"
	job=$(submit -p high --qos=one -N1 --exclusive -t 60)
	wait_for 30 job_waits_for "$job" '^QOSGrpNodeLimit$'
	wait_for 30 log_has 'is not stopped for'
	all_run "${ids[@]}"
	[ "$(status stops)" = 0 ]
	# it is said once, not in each cycle, and so that a place was held; and nothing else keeps it
	[ "$(grep -c 'is not stopped for' "$C/log/slurmctld.log")" = 1 ]
	[ "$(grep -c 'a place is held for' "$C/log/slurmctld.log")" -le 1 ]
	scancel "$holder"
	starts "$job" 60
}
it "nobody is stopped for a job that a limit of its QOS keeps from starting" limited

live_end
