#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The planner has a fault: what it plans for a job whose id ends in 7 is refused by the checker.  That job waits and says
# why; all others start, and the site's policies go on deciding.
. "${0%/*}/live.sh"
needs_plugin

built=$SL_BUILD/t/tool/faulty_engine
[ -x "$built" ] || skip_all "t/tool/faulty_engine is not built"
FAULTY=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/faulty_engine
mkdir -p "${FAULTY%/*}" && cp "$built" "$FAULTY"
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_engine=$FAULTY"
STATE=$C/state/schedlua

cat > "$C/etc/sched.lua.new" <<'EOL'
local sched = require "sched"
return sched.site { interval = 1, default = { "easy" } }
EOL
mv "$C/etc/sched.lua.new" "$C/etc/sched.lua"
scontrol reconfigure
wait_for 20 status_is source site

# Jobs of one core, the last of which has an id that ends in 7: ids in OTHERS and BAD.
submit_up_to_bad() {
	local id
	OTHERS=()
	while id=$(submit -n1 -t 10); [ "${id: -1}" != 7 ]; do
		OTHERS+=("$id")
	done
	BAD=$id
	for _ in 1 2 3; do
		OTHERS+=("$(submit -n1 -t 10)")
	done
}

is_refused() { squeue -h -j "$1" -o '%r' | grep -q 'the checker refused its place: node n00[12]: has 4097 cores'; }	# JOBID
rows_exceed() { [ "$(status rows_refused)" -gt "$1" ]; }
told_by_status() { schedlua status | grep -q "job $1: start: node n00[12]: has 4097 cores"; }
log_lines() { grep -c 'checker refused' "$C/log/slurmctld.log"; }
was_told() { [ "$(log_lines)" -ge 1 ]; }
kept() { find "$STATE/refused" -name "cycle-*.$1.gz"; }	# snap or plan
is_kept() { [ -n "$(kept "$1")" ]; }
stands_in_journal() { grep -q "\"refused\": *\[{\"job\": *$1," "$STATE/decisions.jsonl"; }

others_start() {
	local id
	mark_log
	submit_up_to_bad
	for id in "${OTHERS[@]}"; do
		starts "$id" 15
	done
	wait_for 10 status_is source site
	job_is "$BAD" PENDING
	wait_for 10 is_refused "$BAD"
	status_is source site
	status_is fallback_cycles 0
	status_is bundled_cycles 0
}
it "one job that is planned where it cannot be waits, and all others start" others_start

is_counted_and_kept() {
	submit_up_to_bad
	wait_for 15 rows_exceed 0
	wait_for 10 told_by_status "$BAD"
	wait_for 10 eval 'schedlua status --openmetrics | grep -q "^schedlua_rows_refused_total [1-9]"'
	wait_for 5 is_kept snap
	wait_for 5 is_kept plan
	wait_for 5 stands_in_journal "$BAD"
	wait_for 20 eval 'schedlua explain "$BAD" | grep -q "the checker refused its place"'
}
it "it is counted, and told by status, metrics, journal and explain" is_counted_and_kept

# As long as the fault lasts: a line of the log for its kind, not for each cycle or job.
is_told_once() {
	local before
	wait_for 20 was_told
	submit_up_to_bad
	before=$(status rows_refused)
	submit_up_to_bad
	wait_for 20 rows_exceed "$before"
	[ "$(log_lines)" -eq 1 ]
	[ "$(kept snap | wc -l)" -eq 1 ]
}
it "the log is told once" is_told_once

# Of the kept snapshot a planner without the fault makes a plan that is feasible.
can_be_repeated() {
	local snap
	snap=$(kept snap)
	schedlua plan --site="$C/etc/sched.lua" "$snap" | grep -q 'check: the plan is feasible'
	fails "$FAULTY" plan --site="$C/etc/sched.lua" "$snap"
	"$FAULTY" plan --site="$C/etc/sched.lua" --json "$snap" > "$C/plan.json" 2> "$C/plan.err" || true
	grep -q '"ok": *false' "$C/plan.json"
	schedlua show --json "$(kept plan)" | grep -q '"refused"'
	grep -q 'the checker refused 1 row of the plan; job 7: start: ' "$C/plan.err"
}
it "the kept snapshot repeats it" can_be_repeated

goes_on_when_repaired() {
	submit_up_to_bad
	wait_for 15 is_refused "$BAD"
	cp "$(command -v schedlua)" "$FAULTY.new"
	mv "$FAULTY.new" "$FAULTY"
	wait_for 20 engine_lives
	kill "$(engine_pid)"
	scontrol update "jobid=$BAD" timelimit=9	# or five minutes later
	starts "$BAD" 30
}
it "with an engine that has no such fault it starts when it is changed" goes_on_when_repaired

live_end
