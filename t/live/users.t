#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What users of sched/backfill rely on, and see.  The tests that need no sched/lua pass under
# it as well: SL_SCHEDULER=sched/backfill t/live/users.t
. "${0%/*}/live.sh"
live_begin 16

expects() { [[ $(squeue -h -j "$1" -o %S) == 20* ]]; }	# JOBID
sched_nodes() { job_get "$1" SchedNodeList; }
features() { # NODES FEATURES
	scontrol update NodeName="$1" AvailableFeatures="$2" ActiveFeatures="$2"
}

# A job that waits for three whole nodes of "small", two of which run something.
head_of_three() { # JOBS-TIME
	starts "$(submit -p small -N2 --exclusive -t "$1" -w n001,n002)"
	HEAD=$(submit -p small -N3 --exclusive -t 10)
	wait_for 40 expects "$HEAD"
}

native_keeps_off() {
	head_of_three 20
	local node long short other
	node=$(expand "$(sched_nodes "$HEAD")" | grep -E 'n00[34]')
	features "$node" f3
	features n016 big	# which is not in that partition
	long=$(submit -p small -N1 -t 60 -C 'f3|big')
	other=$(submit -p small -N1 -t 60 -C 'f3|big' --array=1-2)
	stays_pending "$long"
	stays_pending "$other"
	wait_for 10 job_waits_for "$long" '^(Priority|Resources)$'
	short=$(submit -p small -N1 -t 5 -C 'f3|big')
	starts "$short" 40
	[ "$(job_nodes "$short")" = "$node" ]
	job_is "$long" PENDING
	[ "$(job_get "$long" ExcNodeList)" = '(null)' ]
	[ "$(job_get "$other" ExcNodeList)" = '(null)' ]
	features "$node,n016" ""
}
it "a job whose nodes select chooses is kept off those that the first one waits for" native_keeps_off

reason_is() { [[ $(job_reason "$1") == "$2" ]]; }	# JOBID WORD
node_is() { sinfo -h -N -n "$1" -o %T | grep -qx "$2"; }	# NODE STATE

# The first job that waits, and those behind it: when, where, why.
forecast() {
	head_of_three 20
	local second third node
	second=$(submit -p small -N4 --exclusive -t 10)
	third=$(submit -p small -N4 --exclusive -t 10)
	wait_for 40 expects "$second"
	wait_for 40 expects "$third"
	[ "$(date -d "$(job_get "$third" StartTime)" +%s)" -gt "$(date -d "$(job_get "$second" StartTime)" +%s)" ]
	[ "$(sched_nodes "$second")" = 'n[001-004]' ]
	squeue --start -h -j "$second" -o %Y | grep -qx 'n\[001-004\]'
	wait_for 20 reason_is "$HEAD" Resources
	[[ $(job_reason "$second") =~ ^(Priority|Resources)$ ]]
	[[ $(squeue -h -j "$third" -o %R) =~ ^\((Priority|Resources)\)$ ]]
	node=$(expand "$(sched_nodes "$HEAD")" | grep -E 'n00[34]')
	wait_for 20 node_is "$node" planned
	fails node_is n010 planned
	scancel "$second" "$third" "$HEAD"
	wait_for 20 node_is "$node" idle
}
it "every job that waits has an expected start, its nodes and a reason of Slurm's, idle nodes that wait are planned" \
	forecast

live_end
