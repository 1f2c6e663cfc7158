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
	wait_for 10 job_waits_for "$long" 'Priority|Resources|planned'
	short=$(submit -p small -N1 -t 5 -C 'f3|big')
	starts "$short" 40
	[ "$(job_nodes "$short")" = "$node" ]
	job_is "$long" PENDING
	[ "$(job_get "$long" ExcNodeList)" = '(null)' ]
	[ "$(job_get "$other" ExcNodeList)" = '(null)' ]
	features "$node,n016" ""
}
it "a job whose nodes select chooses is kept off those that the first one waits for" native_keeps_off

live_end
