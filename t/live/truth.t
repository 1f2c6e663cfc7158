#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The accounting of a stock slurmctld, and a recording of it, against a replay of them.
SL_SCHEDULER=sched/backfill
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
. "${0%/*}/truth.sh"
needs_database
PATH=${SL_PREFIX:+$SL_PREFIX/bin:}$TOP/.work/inst/bin:$PATH
schedlua replay --help 2> /dev/null | grep -q against-reality || skip_all "this schedlua has no replay --against-reality"
live_begin 8 "${TRUTH_LINES[@]}" SchedulerParameters=bf_interval=5

COUNT=60

# Jobs of a few seconds, twice as many as the machine can hold: seconds after the beginning, nodes, tasks, minutes, seconds.
play() {
	truth_database
	awk -v count=$COUNT 'BEGIN { OFS = "\t"; for (i = 0; i < count; i++) {
		nodes = i % 7 == 0 ? 4 : i % 3 == 0 ? 2 : 1
		print int(i / 4), "batch", nodes, nodes * (i % 2 ? 8 : 3), 0, 1 + i % 3, 3 + i * 5 % 7, 0, "j" } }' > "$C/workload.tsv"
	truth_record_begin 2
	truth_submit 1 "$C/workload.tsv"
	wait_for 300 truth_has_ended
	truth_record_end
	truth_dump "$C/sacct.txt"
	[ "$(wc -l < "$C/sacct.txt")" = $((COUNT + 1)) ]
}
it "a stock slurmctld schedules short jobs, which are accounted for and recorded" play

figure() { sed -nE "s/.*\"$1\": *([0-9.]+|null).*/\1/p" "$C/out" | head -n 1; }

# What both have to do with each other is not that of seconds: on a busy machine a start is late by several of those.
is_near() {
	cat "$C/out"
	[ "$(figure jobs)" -ge 30 ]
	awk -v r="$(figure real_wait_s)" -v s="$(figure simulated_wait_s)" 'BEGIN { exit !(s > r / 2 && s < r * 2) }'
}

accounted() {
	schedlua replay --quiet --against-reality --json --machine="$C/etc/slurm.conf" "$C/sacct.txt" > "$C/out"
	is_near
	schedlua replay --quiet --against-reality --machine="$C/etc/slurm.conf" "$C/sacct.txt" | grep "^policy *Slurm's own schedulers"
}
it "what sacct says, replayed, waits about as long as it did" accounted

recorded() {
	schedlua replay --quiet --against-reality --json --machine="$C/etc/slurm.conf" "$C/record" > "$C/out"
	is_near
}
it "what schedlua-capture --record took, too" recorded

dependent() {
	grep -q 'Dependency' "$C/sacct.txt" || skip "no job had to wait for another"
	schedlua replay --quiet --against-reality --machine="$C/etc/slurm.conf" "$C/sacct.txt" | grep -E 'waited for a dependency +[1-9]'
}
it "jobs that waited for others are counted" dependent

away() {
	cluster_ctld_kill
	fails schedlua-capture --record="$C/none" --every=1
	cluster_ctld_start
}
it "a recording that cannot begin says so" away

live_end
