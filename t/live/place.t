#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where jobs go: nodes, cores and GPUs are the ones asked for.
. "${0%/*}/live.sh"
live_begin 16

# CPUs of a job on each of its nodes: "n001 4" a line.
layout() {
	scontrol -d show job "$1" | sed -nE 's/^ *Nodes=(\S+) CPU_IDs=(\S+) .*/\1 \2/p' | while read -r list ids; do
		local node
		for node in $(expand "$list"); do echo "$node $(count_ids "$ids")"; done
	done
}

count_ids() {	# 0-3,5 : 5
	local part n=0
	for part in ${1//,/ }; do
		case $part in
		*-*) n=$((n + ${part#*-} - ${part%-*} + 1)) ;;
		*) n=$((n + 1)) ;;
		esac
	done
	echo $n
}


node_list() {
	local id
	id=$(submit -N2 -w n007,n011)
	starts "$id"
	[ "$(job_nodes "$id")" = "n[007,011]" ]
}
it "a job gets the nodes that it names" node_list

node_list_and_more() {
	local id
	id=$(submit -N3 -w n009)
	starts "$id"
	[ "$(expand "$(job_nodes "$id")" | wc -l)" = 3 ]
	expand "$(job_nodes "$id")" | grep -qx n009
}
it "a job that names some of its nodes gets them and others" node_list_and_more

mincpus() {
	local busy id
	busy=$(submit -n6 -w n005)
	starts "$busy"
	id=$(submit -N1 --mincpus=3 -w n005)
	stays_pending "$id"
	scancel "$busy"
	starts "$id"
	[ "$(job_nodes "$id")" = n005 ]
}
it "--mincpus looks for nodes that have as many free" mincpus

excluded() {
	local id
	id=$(submit -N4 -x 'n[001-010]')
	starts "$id"
	[ "$(expand "$(job_nodes "$id")" | sort | head -n 1)" \> n010 ]
}
it "a job does not get nodes that it excludes" excluded

excluded_all_busy() {
	local busy id
	busy=$(submit -N6 --exclusive -w 'n[011-016]')
	starts "$busy"
	id=$(submit -N1 -x 'n[001-010]')
	stays_pending "$id"
	scancel "$busy"
	starts "$id"
}
it "a job that excludes all free nodes waits" excluded_all_busy

exclusive() {
	local small id
	small=$(submit -n1 -w n001)
	starts "$small"
	id=$(submit -N1 -n1 --exclusive)
	starts "$id"
	[ "$(job_nodes "$id")" != n001 ]
	layout "$id"
	[ "$(layout "$id")" = "$(job_nodes "$id") 8" ]
	small=$(submit -n1 -w "$(job_nodes "$id")")
	stays_pending "$small"
}
it "an exclusive job gets a whole node and shares it with nobody" exclusive

exclusive_waits() {
	local id i
	for i in $(seq 1 "$NODES"); do submit -n1 -w "$(printf 'n%03d' "$i")" > /dev/null; done
	wait_for 20 has_jobs RUNNING -eq "$NODES"
	id=$(submit -N1 --exclusive)
	stays_pending "$id"
}
it "an exclusive job does not start on a node in use" exclusive_waits

shared() {
	local i
	for i in {1..8}; do submit -n1 -w n005 > /dev/null; done
	wait_for 20 has_jobs RUNNING -eq 8
	[ "$(squeue -h -t R -w n005 -o %i | wc -l)" = 8 ]
}
it "eight jobs of one core share a node" shared

overbooked() {
	local i
	for i in {1..9}; do submit -n1 -w n005 > /dev/null; done
	wait_for 20 has_jobs RUNNING -eq 8
	sleep 1
	has_jobs RUNNING -eq 8
	has_jobs PENDING -eq 1
}
it "the ninth job on a node of eight cores waits" overbooked

tasks_per_node() {
	local id
	id=$(submit -n 9 --ntasks-per-node=3)
	starts "$id"
	layout "$id"
	[ "$(layout "$id" | awk '{ print $2 }' | sort | uniq -c | xargs)" = "3 3" ]
}
it "tasks per node are honoured" tasks_per_node

cpus_per_task() {
	local id
	id=$(submit -N2 --ntasks-per-node=2 -c3)
	starts "$id"
	layout "$id"
	[ "$(layout "$id" | awk '{ print $2 }' | sort | uniq -c | xargs)" = "2 6" ]
}
it "CPUs per task are honoured" cpus_per_task

uneven() {
	local id
	id=$(submit -N3 -n 13)
	starts "$id"
	layout "$id"
	[ "$(layout "$id" | wc -l)" = 3 ]
	[ "$(layout "$id" | awk '{ n += $2 } END { print n }')" = 13 ]
}
it "a job of thirteen tasks on three nodes gets thirteen cores on three nodes" uneven

node_range_idle() {
	local id
	id=$(submit -N1-20)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = "$NODES" ]
	scancel "$id"
	wait_for 20 queue_is_empty	# (its nodes come free one after the other)
	id=$(submit -N1-5 --use-min-nodes)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 1 ]
	id=$(submit -N2-9 -n4)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 4 ]
}
it "a job with a range of nodes gets as many as there are" node_range_idle

# The head wants all but one of the nodes when the first job ends.
node_range_beside_the_head() {
	local head id
	starts "$(submit -N3 --exclusive -t 30)"
	head=$(submit -N $((NODES - 1)) --exclusive -t 10)
	stays_pending "$head"
	id=$(submit -N1-20 --exclusive -t 60)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 1 ]
	id=$(submit -N1-20 --exclusive -t 15)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = $((NODES - 4)) ]
	job_is "$head" PENDING
}
it "... but none that would delay the head" node_range_beside_the_head

node_range() {
	local busy id
	busy=$(submit -N $((NODES - 3)) --exclusive)
	starts "$busy"
	id=$(submit -N2-5 -n5)
	starts "$id"
	id=$(expand "$(job_nodes "$id")" | wc -l)
	[ "$id" -ge 2 ]
	[ "$id" -le 3 ]
}
it "a job with a range of nodes starts on what is free of it" node_range

# The most nodes that are free of those that it lists, and none between.
node_counts() {
	local head id
	slurm_since 23.02 || skip "sbatch -N has no lists before 23.02"
	id=$(submit -N1,2,4,20)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 4 ]
	placed_by_engine "$id"
	id=$(submit -N2-20:5 -n24)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 12 ]
	placed_by_engine "$id"
	scancel -u root
	wait_for 20 has_jobs RUNNING -eq 0
	starts "$(submit -N $((NODES - 3)) --exclusive -t 30)"
	id=$(submit -N2,4 --exclusive -t 60)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 2 ]
	placed_by_engine "$id"
	head=$(submit -N4,6,20 --exclusive -t 10)
	stays_pending "$head"
	id=$(submit -N1 --exclusive -t 60)
	starts "$id"
	job_is "$head" PENDING
}
it "a job that lists numbers of nodes has one of these, the most that are free" node_counts

# What is left of the array asks for the same.  (What is requeued waits until its old credential is no good any more.)
node_counts_of_arrays() {
	slurm_since 23.02 || skip "sbatch -N has no lists before 23.02"
	submit -N2,7 --array=1-3 --exclusive > /dev/null
	wait_for 30 has_jobs RUNNING -eq 3
	[ "$(squeue -h -t R -o %D | sort -n | paste -sd,)" = 2,7,7 ]
	scontrol requeue "$(squeue -h -t R -o '%D %i' | sed -n 's/^7 //p' | head -n 1)"
	wait_for 180 has_jobs RUNNING -eq 3
	[ "$(squeue -h -t R -o %D | sort -n | paste -sd,)" = 2,7,7 ]
}
it "... so has each task of an array, also when it was requeued" node_counts_of_arrays

gpus() {
	local id
	id=$(submit -N2 -n2 --gres=gpu:2)
	starts "$id"
	scontrol -d show job "$id" | grep 'Nodes=.* GRES=gpu:2(IDX:0-1)'
}
it "a job gets the GPUs it asks for on each node" gpus

gpus_busy() {
	local i id
	for ((i = 0; i < 2 * NODES; i++)); do submit -n1 --gres=gpu:1 > /dev/null; done
	wait_for 30 has_jobs RUNNING -eq $((2 * NODES))
	id=$(submit -n1 --gres=gpu:1)
	stays_pending "$id"
	scancel "$(squeue -h -t R -o %i | head -n 1)"
	starts "$id"
}
it "GPUs are not given twice" gpus_busy

gpus_never() {
	local id
	id=$(submit -n1 --gres=gpu:3 2>&1) || return 0
	stays_pending "$id"
}
it "a job that asks for more GPUs than a node has never starts" gpus_never

contiguous() {
	local busy id
	busy=$(submit -N2 --exclusive -w n004,n009)
	starts "$busy"
	id=$(submit -N6 --contiguous --exclusive)
	starts "$id"
	[ "$(job_nodes "$id")" = "n[010-015]" ] || [ "$(job_nodes "$id")" = "n[011-016]" ]
}
it "a contiguous job gets nodes in a row" contiguous

contiguous_waits() {
	local busy id
	busy=$(submit -N4 --exclusive -w n004,n008,n012,n016)
	starts "$busy"
	id=$(submit -N4 --contiguous --exclusive)
	stays_pending "$id"
	scancel "$busy"
	starts "$id"
}
it "a contiguous job waits when free nodes are not in a row" contiguous_waits

overcommit() {
	local id
	id=$(submit -N1 -n 16 -O)
	starts "$id"
}
it "a job that overcommits starts with more tasks than cores" overcommit

spread() {
	local id
	id=$(submit -n 8 --spread-job)
	starts "$id"
	[ "$(expand "$(job_nodes "$id")" | wc -l)" = 8 ]
}
it "a job that wants to be spread is" spread

drained() {
	local id
	scontrol update NodeName='n[001-012]' State=DRAIN Reason=test
	id=$(submit -N4 --exclusive)
	starts "$id"
	[ "$(job_nodes "$id")" = "n[013-016]" ]
	id=$(submit -N1)
	stays_pending "$id"
	scontrol update NodeName=n001 State=RESUME
	starts "$id" 20
	[ "$(job_nodes "$id")" = n001 ]
}
it "drained nodes get no job, and resumed ones do" drained

maintenance() {
	local id
	scontrol create reservation ReservationName=maint Users=root StartTime=now+20minutes Duration=60 Nodes=ALL \
		Flags=MAINT,IGNORE_JOBS
	id=$(submit -N1 -t 120)
	stays_pending "$id"
	id=$(submit -N1 -t 5)
	starts "$id"
	scontrol delete ReservationName=maint
}
it "a job does not start where it would run into a maintenance reservation" maintenance

# CPUs on each of its nodes, as the engine has dealt them out and as select does.
gives() { # CPUS,CPUS... OPTION...
	local id want=$1
	shift
	id=$(submit "$@")
	starts "$id"
	layout "$id"
	[ "$(layout "$id" | cut -d' ' -f2 | paste -sd,)" = "$want" ]
	placed_by_engine "$id"
	scancel "$id"
}

planes() {
	local busy
	gives 6,6 -N2 -n12 -m plane=3
	gives 6,5 -N2 -n11 -m plane=3
	gives 4,3 -N2 -n7 -m plane=4
	gives 4,2,2 -N3 -n4 -c2 -m plane=1
	gives 8,8 -N2 -n3 --exclusive -m plane=2
	gives 5 -N1 -n5 -m plane=2
	busy=$(submit -w n001 -n6)
	starts "$busy"
	gives 2,7 -N2 -w 'n[001-002]' -n9 -m plane=4
	gives 4,3,2 -N3 -w 'n[014-016]' -n9 -m plane=2
	scancel "$busy"
}
it "tasks go round the nodes in planes while there is room" planes

# Each of its nodes as often as it is to have tasks, in any order.  Before 23.11 slurmctld is told each once, and deals them
# out as those of any job.
arbitrary() {
	if ! slurm_since 23.11; then
		gives 2,1,1 -m arbitrary -w n001,n002,n002,n003 -n4
		gives 4,2 -m arbitrary -w n003,n005,n005 -n3 -c2
		gives 8,8 -m arbitrary -w n003,n005,n005 --exclusive
		return
	fi
	gives 1,2,1 -m arbitrary -w n001,n002,n002,n003
	gives 1,2,3 -m arbitrary -w n005,n003,n003,n001,n005,n005
	gives 2,4 -m arbitrary -w n003,n005,n005 -c2
	gives 8,8 -m arbitrary -w n003,n005,n005 --exclusive
	gives 3 -m arbitrary -w n003,n003,n003
	printf '%s\n' n009 n010 n009 > "$C/hosts"
	SLURM_HOSTFILE=$C/hosts gives 2,1
}
it "nodes have as many tasks as they are named for" arbitrary

arbitrary_gpus() {
	local id
	slurm_since 23.11 || skip "slurmctld does not know the tasks of each node before 23.11"
	id=$(submit -m arbitrary -w n003,n005,n005 --gpus-per-task=1)
	starts "$id"
	scontrol -d show job "$id" | grep 'Nodes=n003 .* GRES=gpu:1('
	scontrol -d show job "$id" | grep 'Nodes=n005 .* GRES=gpu:2('
	placed_by_engine "$id"
}
it "... and GPUs for these" arbitrary_gpus

arbitrary_waits() {
	local busy id
	slurm_since 23.11 || skip "slurmctld does not know the tasks of each node before 23.11"
	busy=$(submit -n6 -w n002)
	starts "$busy"
	id=$(submit -m arbitrary -w n001,n002,n002,n002)
	stays_pending "$id"
	! lua_schedules || wait_for 60 eval 'schedlua explain '"$id"' | grep "requires node n002, which is not free"'
	scancel "$busy"
	starts "$id"
	[ "$(layout "$id" | cut -d' ' -f2 | paste -sd,)" = 1,3 ]
}
it "... and wait for these, whatever else is free" arbitrary_waits

# slurmctld itself forgets that each task of an array has to have these numbers of its own: without sched/lua it does not
# outlive that the tasks are forgotten.
arbitrary_arrays() {
	local id
	needs_lua
	slurm_since 23.11 || skip "slurmctld does not know the tasks of each node before 23.11"
	slurm_needs_safe_reconfigure
	cluster_conf MinJobAge=2
	scontrol reconfigure
	id=$(FOR=1 submit -m arbitrary -w n001,n002,n002 --array=1-3)
	wait_for 60 eval '[ -z "$(squeue -h)" ]'
	wait_for 120 eval '[[ $(scontrol show job '"$id"' 2>&1) == *"Invalid job id"* ]]'
	gives 1,2 -m arbitrary -w n001,n002,n002
	cluster_conf MinJobAge=3600
	scontrol reconfigure
}
it "... as does each task of an array, also when others are forgotten" arbitrary_arrays

# Of three tasks two are on one node: the engine books them on one, and behind that the next node.
behind_select() {
	local spread id
	scontrol update PartitionName=main State=DOWN
	spread=$(submit -n3 --ntasks-per-socket=1)
	id=$(submit -N1 --ntasks-per-node=8)
	scontrol update PartitionName=main State=UP
	starts "$spread"
	starts "$id"
	lua_schedules || return 0
	wait_for 60 was_explained "$id"
	schedlua explain "$id" > "$C/out"
	cat "$C/out"
	fails grep -q 'select:' "$C/out"
}
it "what is planned behind a job that select puts elsewhere is planned anew, not refused" behind_select

live_end
