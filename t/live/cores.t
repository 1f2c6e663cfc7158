#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which cores of a node a job has: those that are not left to the system.
# As under Slurm's own schedulers (SL_SCHEDULER=sched/backfill).
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 CoreSpecCount=1"
. "${0%/*}/live.sh"
live_begin 4 AllowSpecResourcesUsage=YES

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

thread_spec() {
	local id
	id=$(submit -n6 --thread-spec=2)
	starts "$id"
	[ "$(cpu_ids "$id")" = "CPU_IDs=0-2,4-6 " ]
	placed_by_engine "$id"
}
it "on cores of one thread, threads for the system are cores" thread_spec

live_end
