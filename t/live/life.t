#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What happens to jobs: cancel, requeue, suspend, nodes that go down, a full queue.
. "${0%/*}/live.sh"
live_begin 16

cancel_running() {
	local id other
	id=$(submit -N "$NODES" --exclusive)
	starts "$id"
	other=$(submit -N1)
	scancel "$id"
	wait_for 20 job_is "$id" CANCELLED
	starts "$other"
}
it "a cancelled job frees its nodes for the next" cancel_running

cancel_pending() {
	local wide id
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	id=$(submit -N1)
	scancel "$id"
	job_is "$id" CANCELLED
	scancel "$wide"
	wait_for 20 has_jobs RUNNING,COMPLETING -eq 0
	job_is "$id" CANCELLED
}
it "a job cancelled while it waits never starts" cancel_pending

cancel_at_once() {
	local i
	for i in {1..50}; do submit -n1 > /dev/null; done
	scancel --user=root
	wait_for 30 queue_is_empty
	scontrol ping | grep -q UP
	i=$(submit -n1)
	starts "$i"
}
it "jobs cancelled while they are being started leave nothing behind" cancel_at_once

# The request of a job, without what a start fills in.
request_of() {
	scontrol -o show job "$1" | tr ' ' '\n' |
		grep -E '^(NumCPUs|NumTasks|CPUs/Task|ReqB:S:C:T|MinCPUsNode|Features|OverSubscribe|Contiguous|ReqNodeList|ExcNodeList|TresPerNode|TimeLimit|Partition)='
	scontrol -o show job "$1" | grep -o 'NumNodes=[0-9]*'
}

requeue_keeps() { # OPTION...
	local id wide before after
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	id=$(submit --requeue "$@")
	before=$(request_of "$id")
	scancel "$wide"
	starts "$id"
	scontrol requeuehold "$id"
	wait_for 30 job_is "$id" PENDING
	after=$(request_of "$id")
	diff <(echo "$before") <(echo "$after")
	[ "$(job_get "$id" Restarts)" = 1 ]
	scontrol release "$id"
	starts_soon "$id"
	starts "$id" 30
}
it "a requeued job keeps its request: tasks" requeue_keeps -n 13
it "a requeued job keeps its request: nodes and tasks per node" requeue_keeps -N3 --ntasks-per-node=2
it "a requeued job keeps its request: GPUs" requeue_keeps -N2 -n2 --gres=gpu:1
it "a requeued job keeps its request: exclusive" requeue_keeps -N2 --exclusive
it "a requeued job keeps its request: named and excluded nodes" requeue_keeps -N3 -w n002 -x n007
it "a requeued job keeps its request: uneven cores on some nodes" requeue_keeps -N3 -n 10 -x n001

requeue_waits() {
	local id
	id=$(submit -N1 --requeue)
	starts "$id"
	scontrol requeue "$id"
	wait_for 30 job_is "$id" PENDING
	stays_pending "$id"
	wait_for 20 job_waits_for "$id" '^BeginTime$'
}
it "a requeued job waits for its begin time, as Slurm sets it" requeue_waits

node_down() {
	local id node
	id=$(submit -N2 --requeue)
	starts "$id"
	node=$(expand "$(job_nodes "$id")" | head -n 1)
	scontrol update NodeName="$node" State=DOWN Reason=test
	wait_for 30 job_is "$id" PENDING
	starts_soon "$id"
	starts "$id" 30
	! expand "$(job_nodes "$id")" | grep -qx "$node"
}
it "a job whose node goes down is requeued and starts on others" node_down

node_down_and_up() {
	local id
	scontrol update NodeName='n[002-016]' State=DOWN Reason=test
	id=$(submit -N2)
	stays_pending "$id"
	scontrol update NodeName='n[002-003]' State=RESUME
	starts "$id" 30
}
it "a job that waits for nodes that are down starts when they return" node_down_and_up

slurmd_since() { scontrol -o show node "$1" | sed -nE 's/.* SlurmdStartTime=(\S+).*/\1/p'; }
slurmd_is_of() { [ "$(slurmd_since "$1")" = "$2" ]; }
slurmd_killed() {
	local id since
	since=$(slurmd_since n003)
	cluster_slurmd_kill n003 KILL
	cluster_slurmd_start n003
	wait_for 30 fails slurmd_is_of n003 "$since"
	id=$(FOR=0 submit -N1 -w n003)
	ends "$id" 30
}
it "a node whose slurmd was killed and started again takes jobs" slurmd_killed

suspend() {
	local id next
	id=$(submit -N "$NODES" --exclusive)
	starts "$id"
	scontrol suspend "$id"
	wait_for 10 job_is "$id" SUSPENDED	# its cores are for others meanwhile
	scontrol resume "$id"
	wait_for 10 job_is "$id" RUNNING
	next=$(submit -N1)
	stays_pending "$next"
}
it "a suspended job is resumed and a waiting one does not take its nodes" suspend

grow() {
	local wide id
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	id=$(submit -N "$NODES" --exclusive)
	scontrol update JobId="$id" NumNodes=2
	scancel "$wide"
	starts "$id"
	[ "$(expand "$(job_nodes "$id")" | wc -l)" = 2 ]
}
it "a job changed while it waits starts as changed" grow

live_end
