#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What users' past teaches, on a real cluster: doc/predict.md as an administrator walks it; forecasts that squeue
# shows.  What policies are told of the past: t/live/ledger.t.
. "${0%/*}/live.sh"
needs_plugin
live_begin 4
DIR=$C/state/schedlua
schedlua ledger verify --dir="$DIR" 2>&1 | grep -q 'built without SQLite' && skip_all "built without SQLite"
ME=$(id -un)

reported() { schedlua predict --dir="$DIR" report | grep -E "$1"; }	# REGEX

walked() {
	local a
	reload <<-'EOL'
	return require "sched".site { default = { "predictive", guard_wait = "48h" } }
	EOL
	schedlua check "$C/etc/sched.lua" | grep -q predictive
	a=$(FOR=1 submit -n1 -t 5)
	ends "$a" 60
	wait_for 60 reported "^limit  *[1-9]"		# once the ledger has it
	reported "^$ME  *limit  *[1-9]"
	reload <<-'EOL'
	return require "sched".site { default = { "easy" } }
	EOL
	a=$(FOR=0 submit -n1)
	ends "$a" 60
}
it "prediction is switched on, looked at and switched off as doc/predict.md has it" walked

starts_at() { [ "$(date -d "$(job_get "$1" StartTime)" +%s 2>/dev/null)" = "$2" ]; }	# JOBID TIME

forecast_shown() {
	local first second at
	starts "$(submit -N4 --exclusive -t 60)"
	reload <<-'EOL'
	return require "sched".site { interval = 0.5, default = { "easy" }, forecasts = { file = "forecasts.txt", show = "not_after" } }
	EOL
	first=$(submit -N1 -t 10)
	second=$(submit -N1 -t 10)
	schedlua forecast --dir="$DIR" --draws=10 --output="$C/etc/forecasts.txt"
	grep -q "^job $second " "$C/etc/forecasts.txt"
	at=$(($(date +%s) + 5000))
	sed -i "s/^job $first .*/job $first $at $at $((at + 60))/; s/^job $second .*/job $second $at $at $((at + 120))/" \
		"$C/etc/forecasts.txt"
	wait_for 60 starts_at "$first" $((at + 60))
	wait_for 60 starts_at "$second" $((at + 120))
	squeue --start -h -j "$second" -o %i | grep -qx "$second"
}
it "squeue --start shows forecasts where the site file says so" forecast_shown

# The cluster is full, and one job waits; then that one starts.
willrun_foreseen() {
	local first second
	first=$(submit -N4 --exclusive -t 60)
	starts "$first"
	second=$(submit -N1 -t 10)
	mkdir -p "$C/etc/forecasts"
	schedlua forecast --dir="$DIR" --draws=10 --learn --output="$C/etc/forecasts.txt"
	test -f "$C/etc/forecasts/calibration.json"
	grep -q "\"job\":$second," "$C/etc/forecasts/calibration.json.awaited"
	fails grep -q '"scores":.[-0-9]' "$C/etc/forecasts/calibration.json"
	schedlua willrun --dir="$DIR" -N1 --exclusive -t 5 > "$C/out"
	grep -qE '^(may start|gets a reservation: starts) at ' "$C/out"
	grep -qE '^expected .* \(80 %: .*not calibrated' "$C/out"
	schedlua willrun --dir="$DIR" -N1 --exclusive -t 5 --json | grep -q '"forecast": {"not_before": [0-9]'
	scancel "$first"
	starts "$second"
	schedlua forecast --dir="$DIR" --draws=10 --learn --output="$C/etc/forecasts.txt"
	grep -q '"scores":.[-0-9]' "$C/etc/forecasts/calibration.json"
	fails grep -q "\"job\":$second," "$C/etc/forecasts/calibration.json.awaited"
}
it "willrun says an interval from the same forecasts, and these learn" willrun_foreseen

live_end
