#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua sim and compare, as their users meet them.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"

# ---------------------------------------------------------------------- schedlua sim

text() { run 0 sim --machine=16x8c2g esp-gpu && out '^policy  *easy$' && out '^utilization  *0\.' && quiet err; }
ok "sim prints figures, and nothing on stderr where that is no terminal" text

json() {
	run 0 sim --machine=16x8c2g --json esp-gpu && quiet err || return 1
	for key in jobs makespan_s utilization wait_mean_s wait_sd_s wait_max_s slowdown_mean slowdown_sd \
		bsld_mean fragmentation_mean spread_mean packing_mean gpu_utilization cycles asked \
		sim_wall_s sim_cpu_s; do
		out "\"$key\": [0-9]" || return 1
	done
	out '"cycle_us": {"p50": .*"p99": .*"max": ' && out '"jobs": 458' && out '"partial": false'
}
ok "sim --json has the documented keys" json

same() {
	run 0 sim --machine=16x8c2g --seed=7 --jobs="$T/a.csv" --json esp-gpu && mv "$T/out" "$T/a" &&
		run 0 sim --machine=16x8c2g --seed=7 --jobs="$T/b.csv" --json esp-gpu && cmp "$T/a.csv" "$T/b.csv" &&
		[ "$(sed 's/"cycle_us".*//' "$T/a")" = "$(sed 's/"cycle_us".*//' "$T/out")" ] &&
		run 0 sim --machine=16x8c2g --seed=8 --jobs="$T/b.csv" --json esp-gpu && ! cmp -s "$T/a.csv" "$T/b.csv"
}
ok "the same seed makes the same bytes, another one others" same

csv() {
	head -n 1 "$T/a.csv" | grep -q '^job,user,account,partition,submit_s,start_s,end_s,wait_s,' &&
		[ "$(wc -l <"$T/a.csv")" = 459 ] && ! grep -q ',,,' "$T/a.csv"
}
ok "--jobs has a line for each job" csv

# 4 cores: job 1 has 3 for 100 s, job 3 the fourth from 2 to 62; job 2 wants all; job 4 is cut at 200 s
cat >"$T/expected" <<-'EOF'
	job_id,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,allocated_resources
	1,0,3,100,1,0,100,100,0,100,0-2
	3,2,1,60,1,2,60,62,0,60,3
	2,1,4,50,1,100,50,150,99,149,0-3
	4,3,1,200,0,150,200,350,147,347,0
EOF
cat >"$T/swf" <<-'EOF'
	1 0 0 100 3 100 1
	2 1 99 50 4 50 1
	3 2 0 60 1 60 1
	4 3 147 200 1 200 0
EOF
others() {
	cat >"$T/h.swf" <<-'EOF'
		; UnixStartTime: 1000
		; MaxProcs: 4
		1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 -1 -1 -1 -1 -1
		2 1 -1 50 4 -1 -1 4 50 -1 1 1 1 -1 -1 -1 -1 -1
		3 2 -1 60 1 -1 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1
		4 3 -1 300 1 -1 -1 1 200 -1 1 1 1 -1 -1 -1 -1 -1
	EOF
	run 0 sim --machine=2x2c --evalys="$T/e.csv" --swf="$T/s.swf" "$T/h.swf" && out '^ended by walltime  *1$' &&
		cut -d, -f1,3-11,13 "$T/e.csv" | cmp - "$T/expected" && grep -v '^;' "$T/s.swf" | cut -d' ' -f1-5,9,11 | cmp - "$T/swf"
}
ok "a schedule is written as evalys and as SWF have it" others

checked() {
	for policy in easy conservative,window=20 fcfs; do
		run 0 sim --check --machine=16x8c2g --policy="$policy" auction:V.2 || return 1
	done
	run 0 sim --check --interval=30 --latency=2 --machine=16x8c2g synthetic:jobs=300
}
ok "schedules pass the check" checked

users() { run 0 sim --users --procs=64 synthetic:jobs=200,users=5 && out '^user  *jobs' && out '^u1 '; }
ok "--users tells the figures of each user" users

partial() {
	"$SCHEDLUA" sim --json --jobs="$T/part.csv" --machine=64x8c2g synthetic:jobs=1000000 >"$T/out" 2>"$T/err" &
	pid=$!
	i=0	# interrupts are caught before the file is made
	while [ ! -e "$T/part.csv" ] && [ $i -lt 300 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	kill -INT $pid
	wait $pid
	[ $? = 1 ] && out '"partial": true' && err 'stopped: these are the figures of'
}
ok "an interrupt ends with the figures so far, marked as partial" partial

# ------------------------------------------------------------------------- bad input

unknown() { run 1 sim nosuch && err 'nosuch' && err 'esp-gpu' && quiet out; }
ok "an unknown workload is refused and the known ones are listed" unknown

twice() { run 2 sim --workload=esp esp && err 'there is the argument "esp" already'; }
ok "two workloads are wrong usage" twice

none() { run 2 sim && err 'a workload is missing'; }
ok "no workload is wrong usage" none

unwritable() { run 1 sim --jobs="$T/no/such/file" esp && err "^schedlua: $T/no/such/file: No such file" && quiet out; }
ok "a file that cannot be written is found before the run" unwritable

full() { [ ! -e /dev/full ] || { run 1 sim --machine=16x8c2g --jobs=/dev/full esp && err 'No space left'; }; }
ok "a full disk is an error" full

policy() { run 1 sim --policy=nosuch esp && err "unknown policy 'nosuch'"; }
ok "an unknown policy is refused" policy

latency() { run 2 sim --interval=10 --latency=10 esp && err 'expected less than --interval'; }
ok "a latency as long as the interval is wrong usage" latency

broken() {
	cat >"$T/x.lua" <<-'EOF'
		return { api = 1, name = "x", decide = function(cluster, plan)
			for job in cluster:queue() do
				if job.time_limit == 1846 then error("bang") end
				plan:start(job)
			end
		end }
	EOF
	run 1 sim --policy="$T/x.lua" --machine=16x8c2g esp && err "^schedlua: at .* s: .*x.lua:3: bang"
}
ok "a policy that fails is told with time, file and line" broken

# ------------------------------------------------------------------- schedlua compare

compare() {
	run 0 compare --machine=16x8c2g --seeds=3 --policies="easy fcfs" esp-gpu auction:V.1 && quiet err &&
		out '^workload  *policy  *wait s' && out '^esp-gpu  *fcfs .* ± ' && [ "$(wc -l <"$T/out")" = 5 ]
}
ok "compare prints a line for each workload and policy" compare

parallel() {
	run 0 compare --csv --workers=1 --machine=16x8c2g --seeds=3 --policies="easy fcfs" esp-gpu && mv "$T/out" "$T/a" &&
		run 0 compare --csv --workers=3 --machine=16x8c2g --seeds=3 --policies="easy fcfs" esp-gpu && cmp "$T/a" "$T/out"
}
ok "the output does not depend on how many run at a time" parallel

parts() {
	run 0 compare --csv --runs --machine=16x8c2g --seeds=3 --policies="easy fcfs" esp-gpu && sort "$T/out" >"$T/a"
	for i in 0 1 2 3; do
		run 0 compare --csv --runs --part="$i/4" --machine=16x8c2g --seeds=3 --policies="easy fcfs" esp-gpu &&
			cat "$T/out" || return 1
	done | sort -u | cmp "$T/a" -
}
ok "the parts of a sweep make the whole" parts

one_fails() {
	run 1 compare --json --machine=16x8c2g --policies="easy $T/x.lua" esp && err "x.lua: at .* s: .*x.lua:3: bang" &&
		out '"policy": "easy", .*"runs": 1, "failed": 0' && out 'x.lua", .*"runs": 1, "failed": 1'
}
all_tried() {
	run 1 compare --policies="easy nosuch fcfs,windo=3" nosuchlog && err "^schedlua: nosuch: .*unknown policy" &&
		err "unknown option 'windo' of policy 'fcfs'" && ! err nosuchlog && quiet out
}
ok "compare tells what is wrong with policies before it simulates" all_tried

columns() {
	run 0 compare --csv --procs=8 --seeds=2 --policies="easy,window=5 conservative,reserved=3,window=9 fcfs" synthetic:jobs=50 &&
		head -n 1 "$T/out" | grep -q '^workload,policy,name,option_window,option_reserved,runs,failed,wait_mean_s,wait_mean_s_sd,wait_mean_s_ci95,' &&
		out '^"synthetic:jobs=50","easy,window=5","easy","5",,2,0,' && out ',"conservative","9","3",2,0,' && out '"fcfs","fcfs",,,2,0,' || return 1
	# of two samples the interval is 12.706 / sqrt(2) standard deviations
	awk -F, 'NR > 1 { for (i = 1; i <= NF && $i != 2; i++); if ($(i + 4) < 8.98 * $(i + 3) || $(i + 4) > 8.99 * $(i + 3)) exit 1 }' "$T/out" &&
		run 0 compare --json --procs=8 --seeds=2 --policies="easy,window=5" synthetic:jobs=50 && out '"name": "easy", "options": {"window": "5"}' && out '"ci95": '
}
ok "compare has options as columns, and intervals" columns

sequences() {
	run 0 compare --runs --csv --procs=8 --first=20 --starts="0 15,30" --policies="easy" synthetic:jobs=50 &&
		[ "$(wc -l <"$T/out")" = 4 ] && mv "$T/out" "$T/a" &&
		run 0 compare --runs --csv --procs=8 --first=20 --skip=15 --policies="easy" synthetic:jobs=50 &&
		sed -n 3p "$T/a" >"$T/b" && tail -n 1 "$T/out" | cmp - "$T/b" && grep -q ',0,30,0,' "$T/a"
}
ok "sequences begin where they are told to" sequences

bad_starts() { run 1 compare --starts="1 x" esp && err 'starts=1 x: expected numbers of jobs'; }
ok "starts that are none are refused" bad_starts
ok "one that fails is told and the others count" one_fails

column() { # NAME of CSV, of the last line: its value; names and texts have no commas here
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } END { print $at }' "$T/out"
}

# What is paired job by job is in the mean what the means differ by; equal policies do not differ at all.
paired() {
	run 0 compare --csv --procs=8 --baseline=easy --policies="fcfs easy" synthetic:jobs=400 && mv "$T/out" "$T/a" &&
		tail -n 1 "$T/a" | grep -q ',400,0,0,20,0,0,0,0,' || return 1
	{ sed -n 1p "$T/a"; sed -n 3p "$T/a"; } >"$T/out"
	easy=$(column wait_mean_s) easy_bsld=$(column bsld_mean)
	{ sed -n 1p "$T/a"; sed -n 2p "$T/a"; } >"$T/out"
	[ "$(column paired_jobs)" = 400 ] && [ "$(column paired_blocks)" = 20 ] && [ "$(column paired_longer)" -gt 0 ] &&
		awk "BEGIN { d = $(column wait_mean_s) - $easy - ($(column paired_wait_s)); exit !(d * d < 1e-6) }" &&
		awk "BEGIN { d = $(column bsld_mean) - $easy_bsld - ($(column paired_bsld)); exit !(d * d < 1e-6) }" &&
		awk "BEGIN { exit !($(column paired_wait_s_ci95) > 0) }" &&
		run 0 compare --procs=8 --baseline=easy --policies="fcfs easy" --seeds=3 synthetic:jobs=400 &&
		out '^Differences to easy, job by job; .* over blocks of jobs:$' && out '^Differences to easy, window by window (3)' &&
		[ "$(grep -c '^synthetic' "$T/out")" = 4 ] && [ "$(grep -c '^synthetic.* fcfs  *1200 .* ± ' "$T/out")" = 1 ] &&
		run 0 compare --json --procs=8 --baseline=easy --policies="fcfs easy" --seeds=2 synthetic:jobs=50 &&
		out '"paired": {"baseline": "easy", "jobs": 100, .*"windows": 2, "by_window": {"wait_mean_s": {"mean": .*"ci95": '
}
ok "compare --baseline pairs jobs and windows" paired

paired_wrong() {
	run 1 compare --baseline=sjf --policies="easy fcfs" esp && err 'baseline=sjf: expected one of --policies="easy fcfs"' && quiet out &&
		run 2 compare --runs --baseline=easy esp && run 2 compare --windows=2 --starts="1 2" esp &&
		run 1 compare --machine=16x8c2g --json --baseline=easy --policies="easy $T/x.lua" esp && err 'x.lua:3: bang' &&
		out 'x.lua".*"paired": {"baseline": "easy", "jobs": 0, "shorter": 0, "longer": 0, "blocks": 0, "wait_s": {"mean": null}'
}
ok "a baseline that is none is refused; a policy that fails differs in nothing" paired_wrong

same_jobs() {
	run 0 workload --swf --procs=8 synthetic:jobs=50 && mv "$T/out" "$T/log.swf" || return 1
	run 1 compare --procs=8 --baseline=easy --policies="fcfs easy" --seeds=2 esp "$T/log.swf" && quiet out &&
		err '^schedlua: --baseline with --seeds=2: .*log.swf is a log, which has the same jobs with each seed: expected --windows$' &&
		run 0 compare --procs=8 --baseline=easy --policies="fcfs easy" --windows=2 "$T/log.swf" &&
		run 0 compare --procs=8 --policies="fcfs easy" --seeds=2 "$T/log.swf" &&
		run 1 compare --baseline=easy --policies="fcfs easy" --seeds=2 syntetic && err 'workload "syntetic": no such file'
}
ok "seeds of a log, which has the same jobs with each, are no samples for an interval" same_jobs

windows() {
	run 0 compare --runs --csv --procs=8 --first=10 --windows=3 --policies=easy synthetic:jobs=50 && mv "$T/out" "$T/a" &&
		run 0 compare --runs --csv --procs=8 --first=10 --starts="0 20 40" --policies=easy synthetic:jobs=50 && cmp "$T/a" "$T/out" &&
		run 0 compare --runs --csv --procs=8 --windows=4 --policies=easy --check synthetic:jobs=50 && out ',0,38,0,' &&
		run 1 compare --procs=8 --first=20 --windows=3 --policies=easy synthetic:jobs=50 &&
		err 'windows=3: synthetic:jobs=50 has 50 jobs, expected at least 60$' &&
		run 1 compare --procs=8 --windows=11 synthetic:jobs=10 && err 'has 10 jobs, expected at least 11$' &&
		run 1 compare --machine=16x8c2g --windows=2 esp && err 'esp is one whole, not a log: expected --seeds'
}
ok "compare --windows cuts a workload into windows that do not overlap" windows

bad_part() { run 2 compare --part=1/4 esp && run 1 compare --runs --part=4/4 esp && err 'expected I/N'; }
ok "a part that is none is refused" bad_part

left_out() {
	printf '%s\n' '1 0 5 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1' '2 1 5' \
		'3 9 0 10 500 -1 -1 500 10 -1 1 1 1 -1 1 -1 -1 -1' >"$T/bad.swf"
	run 0 compare --procs=100 --policies="easy fcfs" --seeds=2 "$T/bad.swf" esp &&
		err 'bad.swf: 1 rows that are no jobs, skipped (line 2: 3 numbers, expected 18)$' &&
		err 'bad.swf: 1 jobs larger than the machine, skipped (line 3: job 3 asks for 500 cores)$' &&
		[ "$(wc -l <"$T/err")" = 2 ] && run 0 compare --quiet --procs=100 "$T/bad.swf" && quiet err &&
		run 1 compare --strict --procs=100 --policies=easy "$T/bad.swf" && err '1 rows that are no jobs (line 2:'
}
ok "compare tells once what it leaves out of a workload" left_out

# Jobs of the upper tier have others stopped under the one policy, and nobody stopped under the other.
cat >"$T/preempts.lua" <<-'EOF'
	local sched = require "sched"
	return sched.site { default = { sched.preempt { min_runtime = "10m" }, "easy" } }
EOF
tiers() {
	run 0 compare --check --quiet --machine=16x8c2g --seeds=3 --first=150 --tiers=share=0.2,checkpoint=30 --policies="easy site=$T/preempts.lua" \
		"$@" esp-gpu
}
stops_table() {
	tiers && out '^Jobs that were stopped for others:$' && out '^workload  *policy  *stops  *lost core-h  *lost GPU-h  *% lost' &&
		out '^esp-gpu  *easy  *0 ± 0  *0\.0 ± 0\.0' && out "^esp-gpu  *site=.*  [1-9][0-9]* ± "
}
ok "compare has a table of stops where jobs may be stopped for others" stops_table

# The value of a column in the line of a policy.
column() { awk -F, -v name="$2" -v policy="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } index($2, policy) { print $at }' "$1"; }
stops_csv() {
	tiers --csv --baseline=easy && cp "$T/out" "$T/stops.csv" && tiers --runs --csv && cp "$T/out" "$T/runs.csv" || return 1
	[ "$(column "$T/stops.csv" stops easy)" = 0 ] && [ "$(column "$T/stops.csv" lost_core_s_ci95 easy)" = 0 ] &&
		[ "$(column "$T/stops.csv" diff_stops preempts)" = "$(column "$T/stops.csv" stops preempts)" ] &&
		[ "$(column "$T/stops.csv" diff_lost_core_share preempts)" = "$(column "$T/stops.csv" lost_core_share preempts)" ] &&
		column "$T/runs.csv" lost_core_s preempts | awk -v mean="$(column "$T/stops.csv" lost_core_s preempts)" \
			'{ sum += $1 } END { exit !(NR == 3 && sum > 0 && sum / 3 - mean < 1e-3 && mean - sum / 3 < 1e-3) }'
}
ok "compare's figures of stops are means of the runs', with differences to the baseline" stops_csv

no_stops() {
	run 0 compare --csv --machine=16x8c2g --policies=easy --first=50 esp-gpu && ! out stops && ! out lost_core_s &&
		run 0 compare --machine=16x8c2g --policies=easy --first=50 esp-gpu && ! out stopped &&
		run 0 compare --csv --stops --machine=16x8c2g --policies=easy --first=50 esp-gpu && out ',stops,.*,lost_core_share,' &&
		run 0 compare --json --stops --machine=16x8c2g --policies=easy --first=50 esp-gpu && out '"stops": {"mean": 0'
}
ok "compare has no figures of stops where nobody may be stopped, but if they are asked for" no_stops

runs_table() {
	run 0 compare --runs --machine=16x8c2g --policies="easy fcfs" --first=20 esp-gpu && [ "$(wc -l <"$T/out")" = 3 ] &&
		[ "$(awk '{ print NF }' "$T/out" | tail -n 1)" = 14 ]
}
ok "compare --runs prints a line for each run" runs_table

# ---------------------------------------------------------------------- schedlua tune

cat >"$T/site.lua" <<-'EOF'
	local sched = require "sched"
	-- what sched.site { } returns
	return sched.site {
		default = { "mine", size = 3 },
	}
EOF
cat >"$T/mine.lua" <<-'EOF'
	local M = { api = 1, name = "mine", doc = "first come first served, or with any other size the smallest first" }
	M.options = { size = { default = 1, min = 1, max = 9, tune = { 1, 2, 3 } }, loud = { default = false, tune = true },
		other = { default = 5 } }
	function M.rank(job, _, opt) return opt.size == 3 and 0 or -(job.num_tasks or 1) * job.time_limit end
	return M
EOF
tuned() { run "$1" tune --quiet --site="$T/site.lua" --workload=synthetic:jobs=8000,load=0.95,users=99 --procs=64 --window=0.5 --trials=6 "$2" "$3" "$4"; }
tune() {
	tuned 0 --output="$T/tuned.lua" --workers=1 --seed=3 && quiet err && out '^setting  *wait s  *bounded slowdown' &&
		out '^\* 1 ' && out '^1: .*mine\.size=[12]' && out 'that is more than the noise' && cp "$T/out" "$T/whole" &&
		grep -q '^return sched.site { tuned = { .*\["mine"\] = { .*size = [12], } }, -- schedlua tune$' "$T/tuned.lua" &&
		run 0 check "$T/tuned.lua" && cp "$T/tuned.lua" "$T/again.lua"
}
ok "tune finds a better setting on windows that it did not learn from, and writes it" tune

state() {
	tuned 0 --state="$T/st" --workers=1 --seed=3 && grep -v written "$T/whole" | cmp - "$T/out" || return 1
	lines=$(wc -l <"$T/st/all.tune")
	head -n 9 "$T/st/all.tune" >"$T/few" && sed -n '10s/ ;$//p' "$T/st/all.tune" | tr -d '\n' >>"$T/few" && mv "$T/few" "$T/st/all.tune"
	tuned 0 --state="$T/st" --workers=1 --seed=3 && grep -v written "$T/whole" | cmp - "$T/out" &&
		[ "$(wc -l <"$T/st/all.tune")" = $((lines + 1)) ]
}
ok "tune goes on from what is kept, a line that was cut off left out" state

parts() {
	: >"$T/err"
	while tuned 0 --state="$T/parts" --part=0/2 --seed=3 && quiet out; do	# a step is missing until all parts are done
		tuned 0 --state="$T/parts" --part=1/2 --seed=3 || return 1
	done >/dev/null
	out '^setting' && [ "$(find "$T/parts" -name '*.tune' | wc -l)" = 2 ] && tuned 0 --state="$T/parts" --workers=1 --seed=3 &&
		grep -v written "$T/whole" | cmp - "$T/out"
}
ok "tune's parts meet in a directory and come to the same" parts

hours() { tuned 1 --state="$T/hours" --hours=0.00001 --seed=3 && err 'stopped after [0-9]* simulations; the same command goes on'; }
ok "tune ends after its hours, and says so" hours

noise() {
	sed 's/size = 3 }/size = 1 }/' "$T/site.lua" >"$T/s1" && sed 's/opt.size == 3/opt.size == 7/' "$T/mine.lua" >"$T/m1" &&
		mkdir "$T/n" && mv "$T/s1" "$T/n/site.lua" && mv "$T/m1" "$T/n/mine.lua" &&
		run 0 tune --quiet --site="$T/n/site.lua" --workload=synthetic:jobs=2000 --procs=64 --window=0.7 --trials=3 --output="$T/no.lua" &&
		out 'may as well be noise, so the present setting stays' && [ ! -e "$T/no.lua" ]
}
ok "tune says when a difference is noise, and writes nothing" noise

tune_stops() {
	mkdir -p "$T/p" && cat >"$T/p/stopper.lua" <<-'EOF' && cat >"$T/p/site.lua" <<-'EOS' || return 1
		local M = { api = 1, name = "stopper", doc = "stops others for jobs that may preempt, or does not" }
		M.options = { stop = { default = true, tune = { true, false } } }
		function M.decide(cluster, plan, opt)
			for job in cluster:queue() do
				plan:start(job, opt.stop and { preempt = true } or nil)
			end
		end
		return M
	EOF
		local sched = require "sched"
		return sched.site {
			default = { "stopper" },
		}
	EOS
	run 0 tune --quiet --site="$T/p/site.lua" --workload=synthetic:jobs=3000,load=0.8 --procs=64 --window=0.4 --trials=2 \
		--tiers=share=0.2 --objective=stops --state="$T/p/st" && out '^setting .* stops  *lost core-h  *preempt' &&
		out 'Setting 1, .* changes the stops$' && out '^1: .*stop=false' && out 'that is more than the noise' && cp "$T/out" "$T/p/out" &&
		run 0 tune --quiet --site="$T/p/site.lua" --workload=synthetic:jobs=3000,load=0.8 --procs=64 --window=0.4 --trials=2 \
			--tiers=share=0.2 --objective=stops --state="$T/p/st" && cmp "$T/out" "$T/p/out" &&
		run 0 tune --quiet --site="$T/p/site.lua" --workload=synthetic:jobs=3000,load=0.8 --procs=64 --window=0.4 --trials=2 \
			--tiers=share=0.01 --objective=stops --state="$T/p/st" && ! cmp -s "$T/out" "$T/p/out"
}
ok "tune may have the work that is lost to stops as its objective" tune_stops

tune_refuses() {
	run 1 tune --quiet --site="$T/site.lua" --workload=synthetic:jobs=100 --procs=64 &&
		err 'windows of 7 days with 50 jobs or more; needed are 6, so at least 300 jobs in 42 days' || return 1
	echo 'return require("sched").site { default = "fcfs" }' >"$T/f.lua"
	run 1 tune --quiet --site="$T/f.lua" --workload=esp && err 'expected "sched.site {" in it' || return 1
	echo 'local sched = require "sched" return sched.site { default = "fcfs" }' >"$T/f.lua"
	run 1 tune --quiet --site="$T/f.lua" --workload=esp && err 'says which values to try' &&
		run 1 tune --site="$T/site.lua" --workload=esp --objective=best && err 'expected bsld, wait' &&
		run 2 tune --site="$T/site.lua" --workload=esp --part=0/2 && run 2 tune --site="$T/site.lua"
}
ok "tune says what it needs" tune_refuses

# ------------------------------------------------------------------- schedlua replay

# A recording of one node: job 2 waits behind job 1, and 3 behind both.
snapshot() { # FILE NOW JOBS QUEUE
	cat >"$T/$1" <<-EOL
	{"meta": {"now": $2, "cluster": "tiny", "sequence": $2}, "nodes": [{"name": "n1", "cores": 2}],
	 "partitions": [{"name": "all", "nodes": "n1"}], "jobs": [$3],
	 "queue": [$4]}
	EOL
}
job() { # ID CORES LIMIT REST
	echo "{\"id\": $1, \"user\": \"ada\", \"partition\": \"all\", \"submit_time\": 1000, \"min_cpus\": $2, \"num_tasks\": $2, \"time_limit\": $3 ${4-}}"
}
recording() {
	snapshot r1.json 1010 "$(job 1 1 100 ', "state": "RUNNING", "start_time": 1000, "alloc": [{"node": "n1", "cores": 1}]'),
		$(job 2 2 50), $(job 3 1 60)" '{"job": 2, "partition": "all"}, {"job": 3, "partition": "all"}'
	snapshot r2.json 1300 "$(job 1 1 100 ', "state": "COMPLETED", "start_time": 1000, "end_time": 1100'),
		$(job 2 2 50 ', "state": "COMPLETED", "start_time": 1100, "end_time": 1150'),
		$(job 3 1 60 ', "state": "COMPLETED", "start_time": 1150, "end_time": 1210')" ''
}
recording

replayed() {
	run 0 replay --policy=easy "$T/r1.json" "$T/r2.json" && quiet err && out '^jobs  *2 compared; 1 ran already' &&
		out '^earlier  *1, ' && out '^later  *0, ' && out '^3  *ada  *all ' && out '00:02:20 earlier$'
}
ok "replay says which jobs would have started earlier" replayed

replay_json() {
	run 0 replay --policy=easy --json "$T/r2.json" "$T/r1.json" && quiet err &&
		out '"job": 3, .*"recorded_start": 1150, "replayed_start": 1010, "difference_s": -140, "verdict": "earlier"' &&
		out '"wait_mean_s": {"recorded": 125, "replayed": 55}' && out '"utilization": {"recorded": 0.*"replayed": 0' &&
		run 0 replay --policy=fcfs --json "$T/r1.json" "$T/r2.json" && out '"same": 2, "earlier": 0, "later": 0,'
}
ok "replay --json has the documented keys, whatever the order of the files" replay_json

replay_cycles() {
	mkdir -p "$T/journal" && cat >"$T/journal/decisions.jsonl" <<-EOL
	{"sequence": 1010, "now": 1010, "policy": "fcfs", "full": true, "reserved": [{"job": 2, "start_time": 1100}], "pending": [{"job": 2, "why": "resources"}, {"job": 3, "why": "priority"}]}
	EOL
	run 0 replay --cycles --policy=fcfs --journal="$T/journal" --json "$T/r1.json" && quiet err &&
		out '"cycles": 1, "differing": 0, "without_record": 0' &&
		run 0 replay --cycles --policy=easy --journal="$T/journal" --json "$T/r1.json" &&
		out '"differing": 1' && out '"only_replayed": \[3\]' && out '"reservations_same": 1, "reservations_differ": 0' &&
		run 0 replay --cycles --policy=easy --journal="$T/journal" "$T/r1.json" &&
		out '^starts  *0 the same, 0 of them on other nodes; 0 only recorded, 1 only replayed$'
}
ok "replay --cycles decides each cycle anew and compares it with the journal" replay_cycles

replay_wrong() {
	run 1 replay "$T/r1.json" && err '1 snapshot: expected two at least' &&
		run 1 replay "$T" && err 'no recorded snapshots' &&
		run 1 replay "$T/none.snap" "$T/r1.json" && err 'none.snap: No such file' &&
		run 2 replay --cycles "$T/r1.json" && err 'expected the directory of a recording, or --journal' &&
		run 1 replay --cycles --journal="$T/none" "$T/r1.json" && err 'no journal there' &&
		run 2 replay --latency=3 "$T/r1.json" && err 'expected less than --interval' &&
		run 1 replay --policy=none "$T/r1.json" "$T/r2.json" && err 'none' &&
		printf '\037\213torn' >"$T/torn.snap.gz" && run 1 replay "$T/torn.snap.gz" "$T/r1.json" && err 'torn.snap.gz: the compressed data'
}
ok "replay tells what is wrong with a recording" replay_wrong

echo "1..$n"
