#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# examples/sweep.sbatch: a comparison as a job array, on a live cluster.
. "${0%/*}/live.sh"
needs_plugin
command -v schedlua > /dev/null || PATH=$TOP/.work/inst/bin:$PATH
schedlua compare --help > /dev/null 2>&1 || skip_all "this schedlua has no compare"
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"

rm -rf sweep.* tune	# an earlier run's
array_is_over() { [ -z "$(squeue -h -j "$1" -o %i 2> /dev/null)" ]; }

sweep() {
	local id
	export POLICIES="easy fcfs" WORKLOADS="esp" SEEDS=3
	id=$(sbatch --parsable --array=0-3 --cpus-per-task=1 --time=60 "$TOP/examples/sweep.sbatch")
	wait_for 300 array_is_over "$id"
	cat sweep.*.log
	[ "$(find . -name 'sweep.*.csv' | wc -l)" = 4 ]
	awk 'FNR > 1 || NR == 1' sweep.*.csv | sort > joined.csv
	schedlua compare --csv --runs --quiet --seeds=3 --policies="$POLICIES" $WORKLOADS | sort > whole.csv
	[ "$(wc -l < whole.csv)" = 7 ]
	diff joined.csv whole.csv
}
it "the parts of examples/sweep.sbatch, joined, are the whole comparison" sweep

elsewhere() {
	rm -f sweep.*
	# numbers of an array need not begin at 0
	starts "$(POLICIES=easy WORKLOADS=esp SEEDS=2 sbatch --parsable --array=5-6 --cpus-per-task=1 --time=60 "$TOP/examples/sweep.sbatch")"
	wait_for 300 both
	awk 'FNR > 1 || NR == 1' sweep.5.csv sweep.6.csv | sort > joined.csv
	schedlua compare --csv --runs --quiet --seeds=2 --policies=easy esp | sort | diff joined.csv -
}
both() { [ -f sweep.5.csv ] && [ -f sweep.6.csv ]; }
it "an array that begins elsewhere makes the same parts" elsewhere

search() {
	mkdir tune && cd tune || return 1
	echo 'return require "sched".site { default = "critical" }' | sed 's/require "sched".site/sched.site/; s/^/local sched = require "sched" /' > site.lua
	export SITE=$PWD/site.lua WORKLOAD=synthetic:jobs=1500 NEXT=$TOP/examples/tune.sbatch STATE=$PWD/state
	export OPTIONS="--procs=64 --window=0.25 --trials=5"
	# shellcheck disable=SC2086
	schedlua tune --quiet --site="$SITE" --workload="$WORKLOAD" $OPTIONS > whole
	starts "$(sbatch --parsable --array=0-2 --cpus-per-task=1 --time=60 "$NEXT")"
	wait_for 300 test -s tune.out
	wait_for 300 queue_is_empty	# (by then it is whole)
	cat tune.*.log
	[ "$(find state -name '*.tune' | wc -l)" -ge 2 ]
	grep -v ' is written' tune.out | diff whole -
}
it "a search as job arrays that follow each other comes to the same" search

live_end
