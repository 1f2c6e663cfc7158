#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Cores that several jobs may have (OverSubscribe=YES:n and FORCE:n).  As under Slurm's own schedulers
# (SL_SCHEDULER=sched/backfill), but for the job of five minutes, which those do not start.
. "${0%/*}/live.sh"
live_begin 4 "PartitionName=main Nodes=n[001-003] Default=YES MaxTime=INFINITE State=UP" \
	"PartitionName=may Nodes=n001 OverSubscribe=YES:2 MaxTime=INFINITE State=UP" \
	"PartitionName=must Nodes=n002 OverSubscribe=FORCE:3 MaxTime=INFINITE State=UP"

# So many of more jobs of a core each run at once.
run_at_once() { # JOBS SBATCH-OPTION...
	local most=$1
	shift
	submit -n1 "$@" -a "1-$((most + 2))"
	wait_for 40 has_jobs RUNNING -eq "$most"
	sleep 1
	has_jobs RUNNING -eq "$most"
}
it "two jobs have each core where jobs may share them, and ask to" run_at_once 16 -p may -s
it "one job has each core of those that do not ask to" run_at_once 8 -p may
it "three jobs have each core where jobs must share them" run_at_once 24 -p must

wide() {
	local id waits
	id=$(submit -p must -n5)
	starts "$id"
	starts "$(submit -p must -n5)"
	starts "$(submit -p must -n5)"
	waits=$(submit -p must -n5)
	stays_pending "$waits"
	echo "$waits" > "$C/waits"
	scancel "$id"
	wait_for 20 has_jobs RUNNING -eq 3
}
it "a job's cores are not shared by itself" wide

kept_off() {
	local busy id
	busy=$(submit -n1 -w n001)
	starts "$busy"
	id=$(submit -p may -s -n1)
	stays_pending "$id"
	scancel "$busy"
	starts "$id"
	busy=$(submit -n1 -w n001)
	stays_pending "$busy"
	scancel "$id"
	starts "$busy"
}
it "jobs that share are on no node with others, nor others with them" kept_off

# It waits for the first job; what would run for longer than that would keep it off.
reserved() {
	local busy head
	busy=$(submit -n1 -w n001 -t 10)
	starts "$busy"
	head=$(submit -p may -s -n1 -t 60)
	stays_pending "$head"
	stays_pending "$(submit -n1 -w n001 -t 60)"
	starts "$(submit -n1 -w n001 -t 5)"
	job_is "$head" PENDING
}
it "a job that waits to share is not put off by those who do not" reserved

# Whoever may find a row, and is not sure of it, select is asked for, and may be refused: a fourth job of five cores.
# When the first one ends select may know before the engine does.
placed() {
	[ -z "${SL_SCHEDULER:-}" ] || return 0
	[ "$(status layout_differs)" -eq 0 ]
	sed -nE 's/.*\{"job": ([0-9]+), [^}]*"native": true[^}]*"done": true.*/\1/p' "$C/state/schedlua/decisions.jsonl" > "$C/by_select"
	fails grep -vx "$(cat "$C/waits")" "$C/by_select"
}
it "the engine places them all, and select takes the places" placed

live_end
