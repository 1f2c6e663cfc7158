#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which cores of a node a job has: those that are not left to the system, and of which sockets.
# As under Slurm's own schedulers (SL_SCHEDULER=sched/backfill).
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2"
SL_NODE_KINDS="CoreSpecCount=1 Feature=plain"
. "${0%/*}/live.sh"
LIVE_LINES=(
	"PartitionName=main Nodes=n[001-004] Default=YES MaxTime=INFINITE State=UP"
	"PartitionName=plain Nodes=n[005-008] MaxTime=INFINITE State=UP"
	ReturnToService=0
)
live_begin 8 AllowSpecResourcesUsage=YES

cpu_ids() { scontrol -d -o show job "$1" | grep -oE 'CPU_IDs=[^ ]+' | tr '\n' ' '; }

# Under sched/lua the engine has chosen nodes and numbers, and select gave just that.
placed_by_engine() {
	lua_schedules || return 0
	wait_for 60 was_explained "$1"
	fails eval "schedlua explain $1 | grep 'select picks'"
	status_is layout_differs 0
}

core_spec() {
	local id other
	id=$(submit -n12 --core-spec=2)
	starts "$id"
	[ "$(cpu_ids "$id")" = "CPU_IDs=0-2,4-6 " ]
	[ "$(job_get "$id" NumNodes)" = 2 ]
	placed_by_engine "$id"
	other=$(submit -N1 -w "$(expand "$(job_nodes "$id")" | head -n 1)" -n1)
	stays_pending "$other"
}
it "a job that leaves cores to the system has all others of whole nodes, and nobody those" core_spec

all_cores() {
	local id
	id=$(submit -N1 -n8 --core-spec=0)
	starts "$id"
	[ "$(cpu_ids "$id")" = "CPU_IDs=0-7 " ]
	placed_by_engine "$id"
	id=$(submit -N1 -n7)
	starts "$id"
	[ "$(cpu_ids "$id")" = "CPU_IDs=0-6 " ]
	placed_by_engine "$id"
}
it "... or those of the system too" all_cores

# Its allocation says the core of its task alone.
beside_gres() {
	local id other
	id=$(submit -n1 --core-spec=0 --gres=gpu:1)
	starts "$id"
	other=$(submit -n1 -w "$(job_nodes "$id")")
	stays_pending "$other"
	! lua_schedules || status_is failed_starts 0
}
it "... and beside gres nobody else is on its nodes either" beside_gres

thread_spec() {
	local id
	id=$(submit -n6 --thread-spec=2)
	starts "$id"
	[ "$(cpu_ids "$id")" = "CPU_IDs=0-2,4-6 " ]
	placed_by_engine "$id"
}
it "on cores of one thread, threads for the system are cores" thread_spec

sockets() { # NODES OPTION...
	local id
	id=$(submit -p plain --exclusive "${@:2}")
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = "$1" ]
	[ "$(cpu_ids "$id")" = "CPU_IDs=0-7 " ]
	placed_by_engine "$id"
}
it "whole nodes have as many tasks as their sockets may have" sockets 2 -n6 --ntasks-per-socket=2
it "... of tasks of several CPUs too" sockets 3 -n3 -c2 --ntasks-per-socket=1 --ntasks-per-node=1
it "... and are taken where they have such sockets" sockets 1 -n8 -B 2:4

# Two tasks on each node, whatever else is there.
parts() {
	local id
	id=$(submit -p plain -N2 --ntasks-per-node=4 --ntasks-per-socket=2)
	starts "$id"
	scontrol -d -o show job "$id" | grep -q 'Nodes=n\[005-006\] CPU_IDs=0-1,4-5 '
	placed_by_engine "$id"
	scancel "$id"
	id=$(submit -p plain -N1 -n5 --cores-per-socket=3)
	starts "$id"
	[ "$(job_get "$id" NumCPUs)" = 5 ]
	placed_by_engine "$id"
}
it "parts of nodes have what sockets a job asks for" parts

# As many tasks on each of several nodes, where the user has not said so.
even() {
	local id
	id=$(submit -p plain -N2 -n8 --ntasks-per-socket=2)
	starts "$id"
	scontrol -d -o show job "$id" | grep -q 'Nodes=n\[005-006\] CPU_IDs=0-1,4-5 '
	placed_by_engine "$id"
	scancel "$id"
	id=$(submit -p plain -N2 -n6 -B 2:4)
	starts "$id"
	[ "$(job_get "$id" NumCPUs)" = 6 ]
	placed_by_engine "$id"
}
it "parts of several nodes have as many tasks each" even

beside_gpus() {
	local id
	id=$(submit -p plain -N1 -n4 --ntasks-per-socket=2 --gres=gpu:1)
	starts "$id"
	[ "$(job_get "$id" NumCPUs)" = 4 ]
	scancel "$id"
	id=$(submit -p plain -N2 -n6 --cores-per-socket=2 --gres=gpu:2)
	starts "$id"
	[ "$(job_get "$id" NumCPUs)" = 6 ]
}
it "... beside GPUs select says which" beside_gpus

# Two of four cores are free on each socket, which select sees: four in all make sure of one socket only.
unsure() {
	local id
	starts "$(submit -p plain -N1 -w n005 -n4 --distribution=block:cyclic)"
	id=$(submit -p plain -N1 -w n005 -n2 --ntasks-per-socket=1)
	starts "$id"
	starts "$(submit -p plain -N1 -w n005 -n2)"
	id=$(submit -p plain -N1 -w n005 -n1 --sockets-per-node=2)
	stays_pending "$id"
	status_is layout_differs 0
}
it "... by select where too few cores are free to be sure of them" unsure

# What a node has room for by such an option, select wants the GPUs of.
gpus_of_a_socket() {
	local id
	id=$(submit -p plain -N2 -n3 --exclusive --gpus-per-task=1 --ntasks-per-socket=2)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 2 ]
	fails submit -p plain -N2 -n3 --exclusive --gpus-per-task=1 --ntasks-per-socket=3
}
it "a whole node has GPUs for all tasks that a socket may have, or Slurm does not take the job" gpus_of_a_socket

one_of_several() {
	local id
	id=$(submit -p plain -N1 -n1 --ntasks-per-node=4)
	if slurm_starts_one_of_several; then
		starts "$id"
		placed_by_engine "$id"
	else
		stays_pending "$id"
	fi
	! lua_schedules || status_is layout_differs 0
}
it "a task that may be one of several on its node starts where select has CPUs for it" one_of_several

live_end
