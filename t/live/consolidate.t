#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sched.consolidate: running jobs are moved so that a node, or a block, becomes free for a job that waits, and start again elsewhere.
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
needs_plugin
SL_NODE_SHAPE="CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2"
live_begin 9 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE GresTypes=gpu DebugFlags=NO_CONF_HASH \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"
needs_engine
beside_begin
PARAMETERS=,lua_interval=0.5,lua_wake=50

consolidates() { # OPTIONS of sched.consolidate
	reload <<-EOL
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.consolidate { $1 }, "easy" } }
	EOL
	wait_for 20 status_is source site
	wait_for 20 log_said 'loaded from'
}

low() { sbatch --parsable --output=/dev/null -J low -p low -t 60 --requeue "$@" --wrap 'exec sleep 600'; }
runs_all() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
runs_again() { job_is "$1" RUNNING && [ "$(job_get "$1" Restarts)" = 1 ]; }
explains() { schedlua explain --dir "$C/state/schedlua" "$1" 2> /dev/null | grep -qE -e "$2"; }
was_requeued() { job_is "$1" PENDING && [ "$(job_get "$1" Restarts)" = 1 ]; }
one_was_requeued() { local id; for id; do ! was_requeued "$id" || { MOVED=$id; return 0; }; done; return 1; }
# MOVED is the one of these that was moved, and runs again. (Slurm has it wait for two minutes, which its user need not.)
one_runs_again() { # JOBID...
	wait_for 30 one_was_requeued "$@"
	starts_soon "$MOVED"
	wait_for 60 runs_again "$MOVED"
}

are_together() { local on; on=$(job_nodes "$1"); [ -n "$on" ] && [ "$on" = "$(job_nodes "$2")" ]; }

# Of the last two nodes a job has one GPU each: the other ones have ended. A job wants both GPUs of one node.
halves() {
	local others ids=()
	others=$(submit -N7 --exclusive -t 60)
	starts "$others" 30
	for _ in 1 2 3 4; do ids+=("$(low --gpus-per-node=1 -N1 -n1)"); done
	wait_for 30 runs_all "${ids[@]}"
	wait_for 10 are_together "${ids[0]}" "${ids[1]}"
	scancel "${ids[1]}" "${ids[3]}"
	wait_for 30 job_done "${ids[1]}"
	wait_for 30 job_done "${ids[3]}"
	PAIR=("${ids[0]}" "${ids[2]}")
}

node() {
	local job moved stayed
	consolidates 'max_price = 100'
	halves
	job=$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)
	starts "$job" 60
	one_runs_again "${PAIR[@]}"
	moved=$MOVED stayed=${PAIR[0]}
	[ "$moved" != "$stayed" ] || stayed=${PAIR[1]}
	job_is "$stayed" RUNNING
	[ "$(job_get "$stayed" Restarts)" = 0 ]
	wait_for 10 are_together "$moved" "$stayed"
	[ "$(job_nodes "$job")" != "$(job_nodes "$moved")" ]
	wait_for 20 status_is moves 1
	wait_for 20 status_is stops 1
	wait_for 20 explains "$moved" "moved for job $job, at a cost of"
	wait_for 20 explains "$job" "^    moved for it: job $moved$"
	# nobody else is moved for the next one: no node has two GPUs for the other half
	job=$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)
	stays_pending "$job"
	job_is "$moved" RUNNING
	job_is "$stayed" RUNNING
}
it "a job with a GPU is moved to another node, so that a node has two, and goes on there" node

dear() {
	local job
	consolidates 'max_price = 0'
	halves
	job=$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)
	stays_pending "$job"
	[ "$(job_get "${PAIR[0]}" Restarts)" = 0 ]
	[ "$(job_get "${PAIR[1]}" Restarts)" = 0 ]
	runs_all "${PAIR[@]}"
}
it "nobody is moved where that costs more than it may" dear

# What was saved is there afterwards: the job that is moved waits, and the one that it was moved for has its place.
killed() {
	local job moved
	consolidates 'max_price = 100'
	halves
	job=$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)
	starts "$job" 60
	wait_for 30 one_was_requeued "${PAIR[@]}"
	moved=$MOVED
	scontrol update JobId="$moved" StartTime=now+1hour	# however long the restart takes
	cluster_save_jobs
	cluster_ctld_kill KILL
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
	was_requeued "$moved"
	one_runs_again "$moved"
	runs_all "$job" "${PAIR[@]}"
	wait_for 10 are_together "${PAIR[0]}" "${PAIR[1]}"
	[ $(($(job_get "${PAIR[0]}" Restarts) + $(job_get "${PAIR[1]}" Restarts) + $(job_get "$job" Restarts))) = 1 ]
	wait_for 20 status_is source site
	stays_pending "$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)"
	runs_all "$job" "${PAIR[@]}"
}
it "slurmctld is killed before a job that was moved runs again: it does, once, and nobody else is moved" killed

# Slurm requeues batch jobs alone: whoever sits at a job of srun or salloc would lose it.
id_of() { squeue -h -n "$1" -t PD,R -o %A; }
has_id() { [ -n "$(id_of "$1")" ]; }
interactive() {
	local others fill srun salloc batch job
	consolidates 'max_price = 100'
	others=$(submit -N7 --exclusive -t 60)
	starts "$others" 30
	srun -J sits -p low -t 60 --gpus-per-node=1 -N1 -n1 sleep 600 > /dev/null 2>&1 &
	wait_for 30 has_id sits
	srun=$(id_of sits)
	fill=$(low --gpus-per-node=1 -N1 -n1)
	wait_for 30 runs_all "$srun" "$fill"
	batch=$(low --gpus-per-node=1 -N1 -n1)
	wait_for 30 runs_all "$batch"
	scancel "$fill"
	wait_for 30 job_done "$fill"
	[ "$(job_nodes "$srun")" != "$(job_nodes "$batch")" ]
	# of the two it is the batch job that is moved, to the node of the other one
	job=$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)
	starts "$job" 60
	one_runs_again "$batch"
	wait_for 10 are_together "$srun" "$batch"
	# and where both are of that kind, neither
	scancel "$job"
	wait_for 30 job_done "$job"
	salloc -J sits2 -p low -t 60 --gpus-per-node=1 -N1 -n1 --no-shell > /dev/null 2>&1
	wait_for 30 has_id sits2
	salloc=$(id_of sits2)
	scancel "$batch"
	wait_for 30 job_done "$batch"
	[ "$(job_nodes "$srun")" != "$(job_nodes "$salloc")" ]
	job=$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)
	stays_pending "$job"
	wait_for 20 explains "$job" 'waits'
	stays_pending "$job"
	runs_all "$srun" "$salloc"
	[ "$(job_get "$srun" Restarts)" = 0 ]
	[ "$(job_get "$salloc" Restarts)" = 0 ]
}
it "jobs of srun and salloc are never moved" interactive

# Three blocks of three nodes, on each of which a job has one.
blocks() {
	local ids=() job id n
	slurm_since 24.11 || skip "before 24.11 slurmctld does not say which blocks there are"
	cat > "$C/etc/topology.conf" <<-'EOC'
		BlockName=b1 Nodes=n[001-003]
		BlockName=b2 Nodes=n[004-006]
		BlockName=b3 Nodes=n[007-009]
		BlockSizes=3
	EOC
	anew lua TopologyPlugin=topology/block
	consolidates 'max_price = 100'
	for _ in 1 2 3; do
		ids+=("$(low -N1 --exclusive)")
		wait_for 30 runs_all "${ids[@]}"
		job=$(submit -N2 --exclusive -t 60)
		starts "$job" 30
	done
	scancel -p main -u "$(id -un)"
	wait_for 30 eval '[ -z "$(squeue -h -p main -o %i)" ]'
	job=$(submit -p high -N3 --exclusive -t 60)
	starts "$job" 60
	one_runs_again "${ids[@]}"
	n=0
	for id in "${ids[@]}"; do n=$((n + $(job_get "$id" Restarts))); done
	[ "$n" = 1 ]
	wait_for 30 runs_all "${ids[@]}"
	[ "$(expand "$(job_nodes "$job")" | while read -r node; do echo $(((10#${node#n} - 1) / 3)); done | sort -u | wc -l)" = 1 ]
}
it "a job is moved so that a block becomes free for a job of three nodes" blocks

live_end
