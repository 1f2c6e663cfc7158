#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A job that nobody's end would help: explain says what stays short, status counts it. When it can be helped, explain names the stopped jobs.
. "${0%/*}/live.sh"
needs_plugin
live_begin 4 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=5" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"
needs_engine

explains() { schedlua explain --dir "$C/state/schedlua" "$1" 2> /dev/null | grep -qE -e "$2"; } # JOB WORDS
all_run() { local id; for id; do job_is "$id" RUNNING || return 1; done; }

proof() {
	local ids=() own job n
	reload <<-EOL
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.preempt {}, "easy" } }
	EOL
	wait_for 20 status_is source site
	wait_for 20 log_said 'loaded from'
	own=$(submit -p main -N1 --exclusive -t 60)
	starts "$own" 30
	for _ in 1 2 3; do
		ids+=("$(sbatch --parsable --output=/dev/null -p low -t 60 --requeue --exclusive -N1 --wrap 'exec sleep 3000')")
	done
	wait_for 30 all_run "${ids[@]}"
	job=$(submit -p high -N4 --exclusive -t 60)
	wait_for 30 explains "$job" \
		'nobody is stopped for it: with all 3 jobs that may be stopped gone, 3 nodes of the 4 that it needs would have [0-9]+ cores?$'
	wait_for 20 status_is shortages 1
	all_run "$own" "${ids[@]}"
	n=$(grep -c '"shortages"' "$C/state/schedlua/decisions.jsonl")
	stays_pending "$job"
	[ "$(grep -c '"shortages"' "$C/state/schedlua/decisions.jsonl")" = "$n" ]
	scancel "$own"
	starts "$job" 90
	wait_for 20 explains "$job" "^    stopped for it: job [0-9]+, job [0-9]+, job [0-9]+$"
	wait_for 20 status_is shortages 0
}
it "why nobody is stopped is said once, with what stays short; and who is, when that helps" proof

live_end
