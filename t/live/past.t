#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What users' past teaches: policies know the runs that have ended, whatever becomes of the engine;
# doc/predict.md as an administrator walks it; forecasts that squeue shows.
. "${0%/*}/live.sh"
needs_plugin
live_begin 4
DIR=$C/state/schedlua
schedlua ledger verify --dir="$DIR" 2>&1 | grep -q 'built without SQLite' && skip_all "built without SQLite"
ME=$(id -un)

# A policy that starts all and tells what it knows of this user.
tells() {
	reload <<-EOL
	local sched = require "sched"
	local tells = { name = "tells" }
	function tells.decide(cluster, plan)
		local h, words = cluster.history, {}
		for i, run in ipairs(h:runs { user = "$ME", last = 3 }) do
			words[i] = ("%d/%s/%s"):format(run.job, run.state, run.time_limit and ("%.0f"):format(run.time_limit) or "-")
		end
		local s = h:summary { user = "$ME", name = "long" }
		slurm.log_info("known: %s; %d long; %s; nobody %d", table.concat(words, " "), s.runs, tostring(h.stale),
			#h:runs { user = "nobodyatall" })
		for job in cluster:queue() do plan:start(job) end
	end
	return sched.site { interval = 0.5, default = { tells } }
	EOL
}

knows() { wait_for 60 log_said "$1"; }

history_is_known() {
	local a b c
	tells
	a=$(FOR=1 submit -n1 -t 5 -J long)
	ends "$a" 60
	b=$(FOR=60 submit -n1 -t 7 -J short)
	starts "$b" 60
	scancel "$b"
	mark_log
	knows "known: $b/CANCELLED/420 $a/COMPLETED/300; 1 long; nil; nobody 0"
	c=$(FOR=0 submit -n2 -t 9 -J long)
	ends "$c" 60
	knows "known: $c/COMPLETED/540 $b/CANCELLED/420 $a/COMPLETED/300; 2 long; nil; nobody 0"
	echo "$a $b $c" > "$C/past"
}
it "a policy knows the runs that have ended, with state and walltime" history_is_known

engine_killed() {
	local a b c
	read -r a b c < "$C/past"
	mark_log
	kill -KILL "$(engine_pid)"
	knows "known: $c/COMPLETED/540 $b/CANCELLED/420 $a/COMPLETED/300; 2 long; nil; nobody 0"
}
it "it knows them when the engine was killed" engine_killed

walked() {
	local a
	reload <<-'EOL'
	return require "sched".site { default = { "predictive", guard_wait = "48h" } }
	EOL
	schedlua check "$C/etc/sched.lua" | grep -q predictive
	a=$(FOR=1 submit -n1 -t 5)
	ends "$a" 60
	schedlua predict --dir="$DIR" report | tee "$C/report"
	grep -Eq '^limit  *[1-9]' "$C/report"
	grep -Eq "^$ME  *limit  *[1-9]" "$C/report"
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
	echo "made 0 0.8" > "$C/etc/forecasts.txt"
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

live_end
