#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sched.preempt in a site file: the engine chooses who is stopped, Slurm stops them, and the place is held.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=5" \
	"PartitionName=graced Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=20" \
	"PartitionName=quick Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE SlurmctldParameters=enable_expedited_requeue MaxArraySize=2001 \
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

low() { sbatch --parsable --output=/dev/null -J low -p low -t 60 --requeue --exclusive "$@" --wrap 'exec sleep 3000'; }
all_run() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
restarted() { # how many of these jobs were requeued, and each once
	local id n=0
	for id; do
		[ "$(job_get "$id" Restarts)" -le 1 ] || return 1
		n=$((n + $(job_get "$id" Restarts)))
	done
	echo $n
}
has_restarted() { [ "$(restarted "${@:2}")" = "$1" ]; } # HOW_MANY JOBID...
is_held() { grep -q "^P[[:space:]]$1[[:space:]]" "$HELD" 2> /dev/null; }

cheapest() {
	local ids=() id job
	preempts ""
	for _ in $(seq 8); do ids+=("$(low -N1)"); done
	wait_for 30 all_run "${ids[@]}"
	job=$(submit -p high -N3 --exclusive -t 60)
	wait_for 20 log_has "a place is held for JobId=$job"	# (GraceTime is short: it may start before anybody has looked)
	for _ in $(seq 10); do submit -N1 -n1 -t 10 --priority=100000000 > /dev/null; done
	starts "$job" 90
	wait_for 30 has_restarted 3 "${ids[@]}"
	for id in "${ids[@]}"; do [ "$(job_get "$id" Restarts)" = 1 ] || job_is "$id" RUNNING; done
	grep -qE "\"stopped\": ?\[.*\"preemptor\": ?$job," "$C/state/schedlua/decisions.jsonl"
	wait_for 20 status_is stops 3
}
it "as few are stopped as make room for the job, each once, and nobody else has their nodes" cheapest

whole() {
	local wide job
	preempts ""
	wide=$(low -N8)
	wait_for 30 all_run "$wide"
	job=$(submit -p high -N1 --exclusive -t 60)
	starts "$job" 90
	wait_for 20 has_restarted 1 "$wide"	# (one of its nodes may be free before the others)
}
it "a job is stopped as a whole" whole

# (A victim without GraceTime would be gone at once, whoever stopped it: Slurm's select too.)
cycles_since() { [ "$(status cycles)" -ge $(($1 + 8)) ]; }
spared() { # OPTIONS of sched.preempt
	local id job cycles
	preempts "$1"
	id=$(low -p quick -N8)
	wait_for 30 all_run "$id"
	job=$(submit -p high -N1 --exclusive -t 60)
	stays_pending "$job"
	cycles=$(status cycles)
	for _ in 1 2 3; do submit -p main -N1 --exclusive -t 60 > /dev/null; done	# (more to decide on)
	wait_for 30 cycles_since "$cycles"
	job_is "$job" PENDING
	job_is "$id" RUNNING
	[ "$(job_get "$id" Restarts)" = 0 ]
	fails is_held "$job"
}
it "who has run for less than min_runtime is not stopped, by Slurm's select neither" spared 'min_runtime = "1h"'
it "nor is anybody for a job that has not waited for long" spared 'after = "1h"'
it "nor whom a function of the site spares" spared 'may = function() return false end'
it "nor where to wait costs less" spared 'wait_price = 0'

# Three are told to end, and before they have the node of one of them fails. What the other two give is for the job still: one more
# is stopped in the place of the one that is lost, and no more. (How often the failed one was requeued is Slurm's to count.)
node_fails() { # STATE of the node
	local ids=() id job victims failed
	local -A node=()
	preempts ""
	for _ in $(seq 8); do ids+=("$(low -p graced -N1)"); done
	wait_for 30 all_run "${ids[@]}"
	for id in "${ids[@]}"; do node[$id]=$(job_nodes "$id"); done
	job=$(submit -p high -N3 --exclusive -t 60)
	wait_for 20 is_held "$job"
	mapfile -t victims < <(awk -v job="$job" '$1 == "S" && $3 == job { print $2 }' "$HELD")
	failed=${node[${victims[0]}]}
	scontrol update NodeName="$failed" State="$1" Reason=test
	starts "$job" 120
	[[ " $(expand "$(job_nodes "$job")" | paste -sd' ') " != *" $failed "* ]]
	mapfile -t ids < <(printf '%s\n' "${ids[@]}" | grep -vx "${victims[0]}")
	wait_for 30 has_restarted 3 "${ids[@]}"
	for id in "${ids[@]}"; do [ "$(job_get "$id" Restarts)" = 1 ] || { job_is "$id" RUNNING && ! [[ $(job_get "$id" PreemptTime) == 2* ]]; }; done
	scontrol update NodeName="$failed" State=RESUME
	wait_for 30 cluster_nodes_ready "$NODES"
}
node_goes_down() { node_fails DOWN; }
it "where a node of the place fails meanwhile one more is stopped for what is missing, and nobody else" node_goes_down
node_is_drained() { node_fails DRAIN; }
it "nor where a node of the place is drained meanwhile" node_is_drained

# A task of the array has its place at once, and so has the next one: a place on which a task has started is none that has failed.
array_of_two() {
	local ids=() array
	preempts ""
	for _ in $(seq 8); do ids+=("$(low -N1)"); done
	wait_for 30 all_run "${ids[@]}"
	array=$(submit -p high -N2 --exclusive -t 60 --array=1-3)
	wait_for 90 eval '[ "$(squeue -h -r -j '"$array"' -t R -o %i | wc -l)" = 3 ]'
	wait_for 20 has_restarted 6 "${ids[@]}"
	wait_for 20 fails stops_for "$array"
}
stops_for() { awk -v job="$1" '$1 == "S" && $3 == job' "$HELD" | grep -q .; } # JOBID : others are being stopped for it
it "for each task of an array others are stopped as soon as the one before has started" array_of_two

# From 25.11 on Slurm keeps the nodes of a job that is requeued as expedited for that job. Stopped for another one it is
# requeued as all are, neither held nor before the job that it was stopped for.
expedited() {
	local ids=() id job
	slurm_since 25.11 || skip "there is no --requeue=expedite before 25.11"
	preempts 'mode = "expedite"'
	for _ in 1 2 3 4; do ids+=("$(low -N2 --requeue=expedite)"); done
	wait_for 30 all_run "${ids[@]}"
	job=$(submit -p high -N4 --exclusive -t 60)
	starts "$job" 90
	wait_for 30 has_restarted 2 "${ids[@]}"
	for id in "${ids[@]}"; do
		[ "$(job_get "$id" Restarts)" = 0 ] || { job_is "$id" PENDING && [ "$(job_get "$id" Priority)" != 0 ]; }
	done
}
it "a job with --requeue=expedite gives its nodes away, and waits as all others do" expedited

# More jobs that may have others stopped than there is to stop.
many() {
	local ids=() id
	preempts ""
	for _ in $(seq 8); do ids+=("$(low -N1)"); done
	wait_for 30 all_run "${ids[@]}"
	for _ in 1 2 3 4 5; do submit -p high -N1 --exclusive -t 60 --array=1-200 > /dev/null; done
	wait_for 90 eval '[ "$(squeue -h -p high -t R -o %i | wc -l)" = 8 ]'
	wait_for 30 has_restarted 8 "${ids[@]}"
	status_is engine_failures 0
	wait_for 30 status_is places ""
	fails grep -E 'error: .*(sched/lua|schedlua)' "$C/log/slurmctld.log"
}
it "of a thousand jobs that may have others stopped as many do as there are others, each of whom is stopped once" many

live_end
