#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Cores of two threads, and tasks of an odd number of CPUs.  As under Slurm's own schedulers
# (SL_SCHEDULER=sched/backfill).
SL_NODE_SHAPE="CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=16000"
. "${0%/*}/live.sh"
live_begin 4 SelectTypeParameters=CR_CPU

odd_tasks() {
	local id
	for id in 1 2 3; do
		id=$(submit -N1 -w n001 -n3 -c3)
		starts "$id"
	done
	[ "$(job_get "$id" NumCPUs)" = "$1" ]
	stays_pending "$(submit -N1 -w n001 -n3 -c3)"
	starts "$(submit -N1 -w n001 -n1 -c2)"
}
it "of three tasks of three CPUs each two have three cores" odd_tasks 9

odd_tasks_apart() {
	local i
	for i in 1 2 3 4 5; do starts "$(submit -N2 -n2 -c5 -w 'n[001-002]')"; done
	stays_pending "$(submit -N2 -n2 -c5 -w 'n[001-002]')"
	starts "$(submit -N2 -n2 -c2 -w 'n[001-002]')"
}
it "... and on several nodes, each by itself" odd_tasks_apart

whole_cores() {
	local i
	for i in 1 2; do starts "$(submit -N1 -w n001 -n3 -c3 --ntasks-per-core=1)"; done
	stays_pending "$(submit -N1 -w n001 -n3 -c3 --ntasks-per-core=1)"
}
it "a task that shares no core has whole ones" whole_cores

# An independent look at who has which cores; under sched/lua also whether they are those of the plan.
cores_of_all() {
	local options id journal=
	for options in "-n3" "-n5 -c3" "-N2 -n6" "-n7 --ntasks-per-core=1" "-n6 --threads-per-core=1" "-N1 --exclusive"; do
		# shellcheck disable=SC2086	# several words
		id=$(submit $options)
		starts "$id"
	done
	! lua_schedules || { journal=$C/state/schedlua/decisions.jsonl && wait_for 60 was_explained "$id"; }
	scontrol -d -o show job | grep JobState=RUNNING | lua5.4 "$HERE/taken.lua" 16x2 ${journal:+"$journal"}
}
it "no core of two threads is had by two jobs, and each has those of the plan" cores_of_all

if [ "${SL_SCHEDULER:-sched/lua}" = sched/lua ]; then
	as_planned() { status_is layout_differs 0; }
	it "all of it is as planned" as_planned
fi

live_end
