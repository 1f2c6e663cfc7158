#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sched.preempt in a site file: the engine chooses who is stopped, Slurm stops them, and the place is held.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=5" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"
needs_engine
HELD=$C/state/schedlua/held

preempts() { # OPTIONS of sched.preempt
	reload <<-EOL
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.preempt { $1 }, "easy" } }
	EOL
	wait_for 20 status_is source site
	wait_for 20 log_said 'loaded from'
}

low() { sbatch --parsable --output=/dev/null -J low -p low -t 60 --requeue --exclusive "$@" --wrap 'exec sleep 600'; }
all_run() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
restarted() { # how many of these jobs were requeued, and each once
	local id n=0
	for id; do
		[ "$(job_get "$id" Restarts)" -le 1 ] || return 1
		n=$((n + $(job_get "$id" Restarts)))
	done
	echo $n
}
is_held() { grep -q "^P[[:space:]]$1[[:space:]]" "$HELD" 2> /dev/null; }

cheapest() {
	local ids=() id job
	preempts ""
	for _ in $(seq 8); do ids+=("$(low -N1)"); done
	wait_for 30 all_run "${ids[@]}"
	job=$(submit -p high -N3 --exclusive -t 60)
	wait_for 20 is_held "$job"
	for _ in $(seq 10); do submit -N1 -n1 -t 10 --priority=100000000 > /dev/null; done
	starts "$job" 90
	wait_for 30 eval '[ "$(restarted '"${ids[*]}"')" = 3 ]'
	for id in "${ids[@]}"; do [ "$(job_get "$id" Restarts)" = 1 ] || job_is "$id" RUNNING; done
	grep -qE "\"stopped\": ?\[.*\"preemptor\": ?$job," "$C/state/schedlua/decisions.jsonl"
	[ "$(status stops)" = 3 ]
}
it "as few are stopped as make room for the job, each once, and nobody else has their nodes" cheapest

whole() {
	local wide job
	preempts ""
	wide=$(low -N8)
	wait_for 30 all_run "$wide"
	job=$(submit -p high -N1 --exclusive -t 60)
	starts "$job" 90
	[ "$(restarted "$wide")" = 1 ]
}
it "a job is stopped as a whole" whole

spared() {
	local id job
	preempts 'min_runtime = "1h"'
	id=$(low -N8)
	wait_for 30 all_run "$id"
	job=$(submit -p high -N1 --exclusive -t 60)
	stays_pending "$job"
	job_is "$id" RUNNING
	fails is_held "$job"
}
it "who has run for less than min_runtime is not stopped" spared

live_end
