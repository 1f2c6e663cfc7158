# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# beside.sh - the demo's third scene, for sourcing by demo.sh: the workload of the first
# scene once more, under Slurm's own scheduler, for the same time; then the figures of
# both beside each other.

# record_jobs FILE [ID]: all jobs, or those after job ID, one a line; FILE.now is when.
record_jobs() {
	date +%Y-%m-%dT%H:%M:%S > "$1.now"
	squeue -h -r -t all -o '%A|%T|%V|%S|%e|%C|%D' | awk -F '|' -v after="${2:-0}" '$1 > after { sub(/^[^|]*\|/, ""); print }' > "$1"
}
recorded_at() { cat "$1.now"; }

last_job() { squeue -h -r -t all -o %A | sort -n | tail -n 1; }
is_stock() { scontrol show config | grep -q '^SchedulerType *= sched/backfill'; }

# Prints what it does; 1 with FAILED set when it does not come out as it should.
stock_scene() {
	local last minutes=0 part
	for part in "${PHASES[@]}"; do ((minutes += part)); done
	wait_for 60 empty_queue || { FAILED="the queue did not empty"; return 1; }
	is_stock || stock_scheduler || { FAILED="slurmctld did not come back with sched/backfill"; return 1; }
	printf '\nThe first scene once more, under sched/backfill: %d jobs, %d minutes of the cluster, %d s of ours\n' \
		"$(wc -l < "$C/workload.tsv")" "$minutes" $((minutes * 60 / FACTOR))
	last=$(last_job)
	submit_workload
	pause $((minutes * 60 / FACTOR))
	record_jobs "$C/stock.txt" "$last"
	kill "$SUBMIT" 2>/dev/null
	lua5.4 "$HERE/summary.lua" --jobs "$C/jobs.txt" --now "$(recorded_at "$C/jobs.txt")" --cores $((NODES * 8)) \
		--beside "$C/stock.txt" --beside-now "$(recorded_at "$C/stock.txt")"
	[ -s "$C/stock.txt" ] || FAILED="no job was submitted under sched/backfill"
	[ -z "$FAILED" ]
}
