#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua forecast: when jobs are expected to start, and what such forecasts are worth.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"
small_cluster

forecast() {
	run 0 forecast --policy=fcfs --snapshot "$T/busy.json" 8 && out "^ *8  2026-11-02T" && ! out "^ *9 " >/dev/null &&
		run 0 forecast --policy=fcfs --snapshot "$T/busy.json" && out "^ *9  " && out "^not calibrated: how many jobs start within is not known yet (--calibration)" &&
		run 0 forecast --json --policy=fcfs --snapshot "$T/busy.json" 7 &&
		out '"calibrated": false, "draws": 40, "known": 0, "jobs": .{"job": 7, "not_before": 1793620800, "likely": 1793620800, "not_after": 1793620800}' &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" 70 && err "job 70 is not queued" &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" 8 70 && err "job 70 is not queued" &&
		run 0 forecast --policy="$T/mine.lua,user=eve" --snapshot "$T/busy.json" 7 && out "^ *7  not seen  *not seen  *not seen *$" &&
		run 1 forecast --snapshot "$T/busy.json" && err "expected --site or --policy" &&
		run 2 forecast x && run 2 forecast --workload=esp 7 && run 2 forecast --site="$T/plain.lua" --policy=easy &&
		err "exclude each other" && run 2 forecast --workload=esp --dir="$T" && run 2 forecast --workload=esp --ledger=x &&
		run 2 forecast --arrivals --policy=easy --snapshot "$T/busy.json" && err "--arrivals goes with --workload" &&
		run 2 forecast --workload=esp --output=x
}
ok "forecast says when jobs will start, as an interval" forecast

# A site reads them again, and tells them.
forecast_file() {
	run 0 forecast --policy=fcfs --snapshot "$T/busy.json" --output="$T/forecasts.txt" && quiet out &&
		grep -q "^made 1793620800 0.8$" "$T/forecasts.txt" && grep -q "^job 7 1793620800 1793620800 1793620800$" "$T/forecasts.txt" &&
		echo "return require 'sched'.site { default = { 'fcfs' }, forecasts = 'forecasts.txt' }" >"$T/telling.lua" &&
		mv "$T/forecasts.txt" "$T/later.txt" && run 0 check "$T/telling.lua" && out "no file 'forecasts.txt'" &&
		mv "$T/later.txt" "$T/forecasts.txt" && run 0 check "$T/telling.lua" && ! out "no file" >/dev/null &&
		run 0 plan --site="$T/telling.lua" --json "$T/busy.json" && cp "$T/out" "$T/told" &&
		at=$(sed -n 's/^job 8 [0-9]* \([0-9]*\) .*/\1/p' "$T/forecasts.txt") && [ -n "$at" ] &&
		grep -q "\"job\": 8, \"start_time\": $at}" "$T/told" &&
		echo "job 8 x 2 3" >"$T/forecasts.txt" && run 1 check "$T/telling.lua" &&
		out "forecasts.txt:1: .x.: expected seconds since the epoch, or -"
}
ok "forecast --output writes what a site tells squeue" forecast_file

# Of a queue whose forecasts are more than a policy may read, those of the jobs that come first; nothing but files.
awk 'BEGIN { print "{ \"meta\": { \"now\": 1793620800, \"cluster\": \"long\", \"source\": \"json\", \"sequence\": 1 },"
	print "\"nodes\": [ { \"name\": \"n1\", \"cores\": 8 } ], \"partitions\": [ { \"name\": \"p\", \"nodes\": \"n1\" } ], \"jobs\": ["
	for (i = 1000000000; i < 1000050000; i++) { printf "%s{ \"id\": %d, \"partition\": \"p\", \"time_limit\": 60 }", (n++ ? ",\n" : ""), i
		queue = queue (n > 1 ? ", " : "") "{ \"job\": " i ", \"partition\": \"p\" }" }
	print "], \"queue\": [" queue "] }" }' >"$T/many.json"
echo 'return { api = 1, name = "idle", doc = "nothing", decide = function() end }' >"$T/idle.lua"
forecast_late() {
	run 1 forecast --policy=easy --snapshot "$T/many.json" --seconds=1 &&
		err "none of 40 draws came to its end within 1 s; expected more --seconds"
}
ok "forecast says when no draw came to its end" forecast_late

forecast_file_long() {
	run 0 forecast --policy="$T/idle.lua" --draws=10 --snapshot "$T/many.json" --output="$T/forecasts.txt" &&
		err "forecasts.txt: the last 69 of 50000 jobs are left out: policies read 1048576 bytes at most" &&
		[ "$(wc -c <"$T/forecasts.txt")" -le 1048576 ] && [ "$(tail -n 1 "$T/forecasts.txt" | wc -w)" = 5 ] &&
		ln -s forecasts.txt "$T/link.txt" &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" --output="$T/link.txt" && err "link.txt: not a regular file" &&
		[ -L "$T/link.txt" ]
}
ok "forecast --output writes no more than policies read, and into files only" forecast_file_long

# As they stand in the page, of files that are not there.
predict_page() {
	program=$(realpath "$SCHEDLUA") && grep '^schedlua ' "${0%/*}/../../doc/predict.md" >"$T/page" || return 1
	while read -r line; do
		(cd "$T" && eval "'$program' ${line#schedlua}") >"$T/out" 2>"$T/err" </dev/null
		[ $? != 2 ] || { echo "$line"; return 1; }
	done <"$T/page"
}
ok "what the page on predictions has administrators type is understood" predict_page

forecast_worth() {
	run 0 forecast --workload=synthetic:jobs=400,load=0.95,users=9 --procs=64 --policy=easy --calibration="$T/worth.json" &&
		out "^intervals that held  .*expected 80 %" && out "^of the reservations" && cp "$T/out" "$T/worth" &&
		run 0 forecast --workload=synthetic:jobs=400,load=0.95,users=9 --procs=64 --policy=easy && cmp "$T/worth" "$T/out" &&
		run 0 forecast --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/worth.json" && out "^80 of 100 jobs start within, as far as past forecasts tell$" &&
		sed 's/"scores":\[[^]]*\]/"scores":[]/g' "$T/worth.json" >"$T/nothing.json" &&
		run 0 forecast --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/nothing.json" && out "^not calibrated: " &&
		run 0 forecast --json --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/nothing.json" 7 && out '"calibrated": false,' &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/worth.json" --confidence=0.9 &&
		err "is of a confidence of 0.8, expected 0.9"
}
ok "forecast says what forecasts would have been worth, twice the same, and keeps it" forecast_worth

forecast_submission() {
	run 0 forecast --submission --workload=synthetic:jobs=400,load=0.95,users=9 --procs=64 --policy=easy --quiet &&
		out "^of [0-9]* jobs that had to wait, [0-9]* forecasts$" && out "^of the plan, by walltimes [0-9]* s$" &&
		run 2 forecast --submission --policy=easy && err "^schedlua: --submission goes with --workload"
}
ok "forecast --submission makes forecasts of jobs when they are submitted" forecast_submission

# The service sees 7 and 8 wait; ten minutes later 8 runs, and 7 was cancelled; then nothing is left to be learnt.
forecast_learn() {
	mkdir -p "$T/learn/forecasts" && echo "return require('sched').site { default = { 'fcfs' } }" >"$T/learn/sched.lua" &&
		sed 's/"now": 1793620800/"now": 1793620900/; s/"id": 8,/"id": 8, "state": "RUNNING", "start_time": 1793620860, "end_time": 1793629000, "alloc": [ { "node": "n2", "cores": 1 } ],/
			s/"id": 7,/"id": 71,/; s/{ "job": 7, "partition": "p" }, { "job": 8, "partition": "p" },//' "$T/busy.json" >"$T/learn/later.json" &&
		run 0 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/busy.json" --output="$T/learn/starts.txt" || return 1
	awaited=$T/learn/forecasts/calibration.json.awaited
	[ "$(stat -c %a "$awaited")" = 600 ] && grep -q '"job":8,' "$awaited" && cp "$awaited" "$T/learn/first" || return 1
	run 0 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/busy.json" && cmp "$awaited" "$T/learn/first" || return 1
	for again in 1 2; do
		run 0 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/learn/later.json" || return 1
		if [ "$(grep -oE '"scores":.-?[0-9]' "$T/learn/forecasts/calibration.json" | wc -l)" != 1 ] || grep -q '"job":8,' "$awaited"; then
			echo "learnt $again times"
			return 1
		fi
	done
	echo "{" >"$awaited" && run 1 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/busy.json" && err "calibration.json.awaited:" &&
		run 2 forecast --learn --workload=esp && err "^schedlua: --learn goes with neither" && run 2 forecast --learn --policy=easy 7 &&
		run 1 forecast --learn --policy=fcfs --snapshot="$T/busy.json" && err "^schedlua: --learn: expected --calibration"
}
ok "forecast --learn learns once of each job what became of its forecast" forecast_learn

# On a terminal, where it takes more than a second.
forecast_progress() {
	log=synthetic:jobs=2500,load=0.95,users=9
	command -v script >/dev/null || return 0
	script -qec "$SCHEDLUA forecast --workload=$log --procs=64 --policy=easy" /dev/null </dev/null >"$T/out" 2>&1 &&
		out "of [0-9]* reservations, " && out " of 2500 jobs, [0-9]* a second, " &&
		script -qec "$SCHEDLUA forecast --quiet --every=9 --workload=$log --procs=64 --policy=easy" /dev/null </dev/null >"$T/out" 2>&1 &&
		out "of [0-9]* reservations, " && ! out "a second" >/dev/null && predict_log >"$T/odd.txt" && echo "5|odd" >>"$T/odd.txt" &&
		run 0 forecast --workload="$T/odd.txt" --procs=4 --policy=easy && err "odd.txt" &&
		run 0 forecast --quiet --workload="$T/odd.txt" --procs=4 --policy=easy && quiet err
}

# Nobody has to wait.
forecast_nothing() {
	run 0 forecast --workload=synthetic:jobs=9,load=0.01,users=2 --procs=640 --policy=easy &&
		out "^of 0 reservations, no forecast .*: there is nothing to compare$" && ! out "median" >/dev/null &&
		run 0 forecast --json --workload=synthetic:jobs=9,load=0.01,users=2 --procs=640 --policy=easy &&
		out '"reservations": 0, "forecasts": 0, "confidence": 0.8}$'
}
ok "forecast says where there is nothing to compare" forecast_nothing
ok "forecast shows how far it is, and nothing with --quiet" forecast_progress

echo "1..$n"
