#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua explain: what happened to a job, its place in the order, and what would start it sooner.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"
small_cluster

J=$T/journal
mkdir "$J"
cat >"$J/decisions.jsonl.1" <<'EOF'
{"sequence": 1, "now": 1793620800, "policy": "easy", "full": true, "pending": [{"job": 7, "why": "window", "by": "easy"}, {"job": 77, "why": "resources"}]}
{"sequence": 2, "now": 1793620810, "policy": "easy", "pending": [{"job": 7, "why": "resources", "text": "needs 2 nodes, 1 is free", "by": "easy"}]}
EOF
cat >"$J/decisions.jsonl" <<'EOF'
{"sequence": 3, "now": 1793620820, "policy": "easy", "full": true, "reserved": [{"job": 5, "start_time": 1793620900, "nodes": "n1"}, {"job": 4, "start_time": 1793620850, "nodes": "n1"}], "pending": [{"job": 7, "why": "resources", "text": "needs 2 nodes, 1 is free", "by": "easy"}, {"job": 77, "why": "resources"}]}
{"sequence": 4, "now": 1793620830, "policy": "easy", "reserved": [{"job": 6, "start_time": 1793621000, "nodes": "n2"}, {"job": 7, "start_time": 1793621000, "nodes": "n[1-2]", "by": "easy"}, {"job": 8, "start_time": 1793629000}], "pending": [{"job": 7, "why": "resources", "text": "needs 2 nodes, 1 is free", "by": "easy"}]}
{"sequence": 5, "now": 1793620860, "policy": "easy", "started": [{"job": 9, "nodes": "n2", "cores": 8, "done": true}, {"job": 10, "nodes": "n2", "done": false, "text": "cancelled meanwhile"}], "gone": [{"job": 77}]}
{"sequence": 5, "now": 1793620870, "policy": "easy", "actions": [{"job": 11, "verb": "notify", "text": "over by ten", "done": true}, {"job": 11, "verb": "signal", "number": 15, "done": false, "why": "already finished"}, {"job": 11, "verb": "partition", "text": "long", "done": true}, {"job": 11, "verb": "time_limit", "number": 1800, "done": true}, {"job": 11, "verb": "priority", "number": 4242, "done": true}]}
{"sequence": 5, "now": 1793620880, "policy": "easy", "held": [{"job": 21, "until": 1793621000, "verdict": "optimal", "cost": 0.4, "bound": 0.4, "because": "stops 2 of 3 jobs", "by": "easy"}], "stopped": [{"job": 22, "preemptor": 21, "cost": 0.3, "by": "easy", "done": true}, {"job": 23, "preemptor": 21, "cost": 0.1, "by": "easy", "done": false, "text": "it has ended"}]}
{"sequence": 5, "now": 1793620890, "policy": "easy", "reserved": [{"job": 24, "start_time": 1793627200}], "pending": [{"job": 24, "why": "resources", "text": "needs 4 nodes, 3 are free", "by": "easy"}], "shortages": [{"job": 24, "what": "nodes", "needs": 4, "has": 3, "text": "with all 14 jobs that may be stopped gone, 3 nodes of the 4 that it needs would have 4 GPUs of type a100", "by": "easy"}]}
{"sequence": 5, "now": 1793620895, "policy": "easy", "held": [{"job": 21, "until": 1793621010, "cost": 0.4, "because": "stops 2 of 3 jobs", "by": "easy"}]}
{"sequence": 6, "now": 17936
EOF

explain_wait() {
	run 0 explain --dir "$J" 7 && sed -n 1p "$T/out" | grep -qFx "Job 7 waits. Expected 12:03 (reserved, by walltimes)." &&
		sed -n 2p "$T/out" | grep -qF \
		"2026-11-02T12:00:30  waits: resources: needs 2 nodes, 1 is free; expected to start at 2026-11-02T12:03:20 on n[1-2]  [easy]" &&
		out "^    ahead of it, with a reservation: job 5 at 2026-11-02T12:01:40, job 6 at 2026-11-02T12:03:20$" &&
		out "^2026-11-02T12:00:10 to 2026-11-02T12:00:30  waits: resources: needs 2 nodes, 1 is free  \[easy\]$" &&
		out "^2026-11-02T12:00:00 to 2026-11-02T12:00:10  waits: window  \[easy\]$" && [ "$(wc -l <"$T/out")" = 5 ]
}
ok "explain tells newest first why a job waits, since when, and who is ahead" explain_wait

# Three sets of policies in one second, the last of which says what the first did; and one that notifies.
explain_deploys() {
	mkdir -p "$T/quick" && cat >"$T/quick/decisions.jsonl" <<-'EOJ'
		{"sequence": 1, "now": 1793620800, "policy": "easy", "pending": [{"job": 7, "why": "resources"}, {"job": 8, "why": "resources"}]}
		{"sequence": 2, "now": 1793620820, "policy": "fcfs", "pending": [{"job": 7, "why": "order"}, {"job": 8, "why": "order"}]}
		{"sequence": 3, "now": 1793620820, "policy": "mine", "pending": [{"job": 7, "why": "policy"}, {"job": 8, "why": "policy"}]}
		{"sequence": 4, "now": 1793620820, "policy": "easy", "pending": [{"job": 7, "why": "resources"}, {"job": 8, "why": "priority"}]}
		{"sequence": 5, "now": 1793620840, "policy": "mine", "pending": [{"job": 9, "why": "policy"}], "actions": [{"job": 9, "verb": "notify", "text": "soon", "done": true}]}
	EOJ
	run 0 explain --dir "$T/quick" 7 && [ "$(grep -c '  waits: ' "$T/out")" = 1 ] && out '^2026-11-02T12:00:00  waits: resources' &&
		run 0 explain --dir "$T/quick" 8 && [ "$(grep -c '  waits: ' "$T/out")" = 2 ] && out '^2026-11-02T12:00:20  waits: priority' &&
		out '^2026-11-02T12:00:00 to 2026-11-02T12:00:20  waits: resources' &&
		run 0 explain --dir "$T/quick" 9 && out '^2026-11-02T12:00:40  notify: soon' && out '^2026-11-02T12:00:40  waits: policy'
}
ok "explain lists no interval without length" explain_deploys

explain_ends() {
	run 0 explain --dir "$J" 9 && out "started on n2 (8 cores)" && ! out "ahead" >/dev/null &&
		run 0 explain --dir "$J" 10 && out "was to start on n2: cancelled meanwhile" &&
		run 0 explain --dir "$J" 77 && out "left the queue, .*dependent or over a limit"
}
ok "explain tells how it ended" explain_ends

explain_actions() {
	run 0 explain --dir "$J" 11 && [ "$(sed 's/^.*:[0-9][0-9]  \(.*\)  \[easy\]$/\1/' "$T/out")" = "\
notify: over by ten
signal 15 failed (already finished)
partition: long
time_limit 00:30:00
priority 4242" ] && run 0 explain --json --dir "$J" 11 && out '"event": "action"' && out '"number": 4242'
}
ok "explain tells an action with what it sets" explain_actions

explain_stops() {
	run 0 explain --dir "$J" 22 && out "stopped for job 21, at a cost of 0.3 (for that one the plan stops 2 of 3 jobs)  \[easy\]$" &&
		run 0 explain --dir "$J" 23 && out "was to be stopped for job 21, .*: it has ended  \[easy\]$" &&
		run 0 explain --dir "$J" 21 && out "its place is held until 2026-11-02T12:03:20 at most (the plan stops 2 of 3 jobs)" &&
		out "2026-11-02T12:01:20 to 2026-11-02T12:01:35  its place is held until 2026-11-02T12:03:20" &&
		out "^    stopped for it: job 22, job 23 (was not)$"
}
ok "explain tells who was stopped for whom, and whose place is held" explain_stops

explain_shortage() {
	run 0 explain --dir "$J" 24 && out "waits: resources: needs 4 nodes, 3 are free; expected .*  \[easy\]$" &&
		out "^    nobody is stopped for it: with all 14 jobs that may be stopped gone, 3 nodes of the 4 that it needs would have 4 GPUs of type a100$" &&
		run 0 explain --json --dir "$J" 24 && out '"shortage": "with all 14 jobs' && run 0 explain --dir "$J" 7 && ! out "nobody is stopped" >/dev/null
}
ok "explain tells why nobody is stopped for a job" explain_shortage

full_cluster
explain_decides() {
	run 0 explain --snapshot="$T/full.json" --site="$T/preempt.lua" 8 &&
		out "^  nobody is stopped for it: with all 2 jobs that may be stopped gone, 2 nodes of the 3 that it needs would have 8 cores$" &&
		run 0 explain --snapshot="$T/full.json" --site="$T/preempt.lua" 7 &&
		out "^  stopped for it: job 1 (the plan stops 1 of 2 jobs that might be, at a cost of 8.133: the cheapest of 1 set" || return 1
	sed 's/, "flags": \["MAY_PREEMPT"\]//; s/"flags": \["MAY_PREEMPT"\]/"flags": []/' "$T/full.json" >"$T/tame.json"
	run 0 explain --snapshot="$T/tame.json" --site="$T/preempt.lua" 8 && ! out "is stopped for it: with" >/dev/null
}
ok "explain of a snapshot tells whom the policies would stop for the job, or why nobody" explain_decides

explain_few() { run 0 explain --events=1 --dir "$J" 7_3 && [ "$(grep -c "waits: " "$T/out")" = 1 ]; }
ok "explain goes back as far as it is told, also for a task of an array" explain_few

explain_json() {
	run 0 explain --json --dir "$J" 7 && out '"job": 7' && out '"start_time": 1793621000' && out '"job": 6' &&
		out '"since": 1793620810' && out '"until": 1793620830'
}
ok "explain --json" explain_json

explain_nothing() {
	run 1 explain --dir "$J" 70 && err "does not know job 70" && quiet out &&
		run 1 explain --dir "$T/nowhere" 7 && err "^schedlua: .*nowhere" && run 2 explain x7 && run 2 explain 7 8
}
ok "explain says when there is nothing to tell" explain_nothing

# COMMAND... : until it succeeds, in half a minute
soon() {
	left=300
	until "$@" >/dev/null; do
		left=$((left - 1))
		[ $left -gt 0 ] && sleep 0.1 || return 1
	done
}
ended() { ! kill -0 "$1" 2>/dev/null; }
watched() { [ "$(grep -c "$1" "$T/watched")" = "$2" ]; }

explain_watch() {
	mkdir "$T/watch" && head -n 1 "$J/decisions.jsonl" >"$T/watch/decisions.jsonl" || return 1
	"$SCHEDLUA" explain --watch --dir "$T/watch" 9 >"$T/watched" 2>"$T/err" &
	pid=$!
	soon err "nothing was decided about job 9 yet" || return 1
	w='"policy": "easy", "pending": [{"job": 9, "why": '
	echo '{"sequence": 4, "now": 1793620850, '"$w"'"priority"}]}' >>"$T/watch/decisions.jsonl"
	soon watched "T12:00:50  waits: priority  .easy.$" 1 || return 1
	# a new file repeats it; what was decided meanwhile stands in the other one
	echo '{"sequence": 5, "now": 1793620855, '"$w"'"resources"}]}' >>"$T/watch/decisions.jsonl"
	mv "$T/watch/decisions.jsonl" "$T/watch/decisions.jsonl.1"
	echo '{"sequence": 6, "now": 1793620858, "full": true, '"$w"'"resources"}]}' >"$T/watch/decisions.jsonl"
	soon watched "T12:00:55  waits: resources" 1 || return 1
	grep '"started"' "$J/decisions.jsonl" >>"$T/watch/decisions.jsonl"
	soon ended "$pid" || { kill "$pid"; return 1; }
	wait "$pid" && watched "started on n2 (8 cores)" 1 && watched "waits: " 2 &&
		run 0 explain --watch --dir "$J" 9 && run 2 explain --watch --json --dir "$J" 9
}
ok "explain --watch prints what is decided from now on, until the job starts" explain_watch

# 2 waits in cpu and is without a place; that of 1 is on its nodes, that of 3 on none of them
mkdir "$T/apart"
cat >"$T/apart/decisions.jsonl" <<'EOF'
{"sequence": 1, "now": 1793620800, "policy": "easy", "full": true, "partitions": {"cpu": "n[1-4]", "gpu": "g[1-2]", "all": "n[1-4],g[1-2]"}, "reserved": [{"job": 1, "start_time": 1793620900, "partition": "all", "nodes": "n[4],g1"}, {"job": 3, "start_time": 1793620850, "partition": "gpu", "nodes": "g[1-2]"}], "pending": [{"job": 2, "why": "resources", "by": "easy", "partition": "cpu"}, {"job": 4, "why": "resources", "by": "easy", "partition": "cpu,gpu"}]}
EOF

explain_apart() {
	run 0 explain --dir "$T/apart" 2 && out "ahead of it, with a reservation: job 1 at 2026-11-02T12:01:40$" &&
		run 0 explain --dir "$T/apart" 4 && out "ahead of it.*: job 3 at [^ ]*, job 1 at [^ ]*$"
}
ok "explain has nobody ahead on nodes that the job could not have" explain_apart

mkdir "$T/order"
cat >"$T/order/site.lua" <<'EOF'
local sched = require "sched"
return sched.site { default = { sched.quota { per_user = "1199 cpu-seconds", limits = "limits.conf" },
	sched.weighted { { 1000, sched.layers { file = "layers.conf" } }, { 2, sched.ageing { per = "15m" } } } } }
EOF
printf '# nobody\nuser bob unlimited cpu-hours\n' >"$T/order/limits.conf"
printf 'default 1\nuser bob 5\n' >"$T/order/layers.conf"

# layer 5 and nothing waited beside 1; ada asks for 2 cores x 600 s
explain_order() {
	run 0 explain --site "$T/order/site.lua" --snapshot "$T/busy.json" 7 &&
		out "^order in p, by quota+weighted+easy, among 2 that may start:" && out "no place: it may not start now" &&
		out "user ada holds 0 of 0.3 cpu-hours, asks for 0.3 (the site file); over it: waits" &&
		out "          1000 = 1000 x layers: layer 1: \"default\" in line 1 of " &&
		run 0 explain --json --site "$T/order/site.lua" --snapshot "$T/busy.json" 9 && out '"order": "order in p' &&
		out "place 2: rank 5000" && out "next ahead of it: job 8 of bob (rank 5000" &&
		out "user bob holds 0 of unlimited cpu-hours, asks for 0.3 (.*user bob.* in line 2 of " &&
		run 1 explain --site "$T/order/site.lua" --snapshot "$T/busy.json" 70 && err "job 70 is not queued"
}
ok "explain computes a job's place in the order from a capture" explain_order

# predictive orders by itself: 9 is smaller than 8, which the queue has before it
explain_own_order() {
	echo 'return require("sched").site { default = { "predictive" } }' >"$T/order/own.lua"
	run 0 explain --site "$T/order/own.lua" --snapshot "$T/busy.json" 8 && out "^order in p, by predictive, among 3 that may start:" &&
		! out "no part of the list ranks\|priority" >/dev/null &&
		out "^    place 3 in its own order, the smallest first: .* of 16 CPUs, 600 s expected and [0-9]* s waited$" &&
		out "^    next ahead of it: job 9 of bob (" && out "^    before the order: it has waited for guard_wait$"
}
ok "explain tells the order of a policy that has one of its own" explain_own_order

# Asia/Tokyo is nine hours ahead of UTC, the clock of all other lines and of squeue
explain_clock() {
	echo 'return require("sched").site { time_zone = "Asia/Tokyo", default = { "easy" } }' >"$T/order/tokyo.lua"
	sed 's/"id": 8,/"id": 8, "submit_time": 1793620800,/' "$T/busy.json" >"$T/order/submitted.json"
	run 0 explain --site "$T/order/tokyo.lua" --snapshot "$T/order/submitted.json" 8 && out "; submitted 2026-11-02T12:00:00$"
}
ok "explain tells all times by the clock of squeue, whatever the site's zone is" explain_clock

# Whom Slurm lets a job preempt is in the plug-in's snapshots, and in no capture.
explain_preempt() {
	echo 'local s = require "sched"; return s.site { default = { s.preempt {}, "easy" } }' >"$T/order/preempt.lua"
	sed 's/"source": "json"/"source": "capture"/' "$T/busy.json" >"$T/order/captured.json"
	run 0 explain --site "$T/order/preempt.lua" --snapshot "$T/busy.json" 8 &&
		out "^    nobody is stopped for it: Slurm lets it preempt nobody$" &&
		run 0 explain --site "$T/order/preempt.lua" --snapshot "$T/order/captured.json" 8 && ! out "nobody is stopped" >/dev/null &&
		out "^    whether others may be stopped for it is not known here; "
}
ok "explain does not take it that nobody is preempted since a capture does not tell" explain_preempt

# The plan stops nobody for these, whatever runs.
explain_never() {
	sed 's/"id": 8,/"id": 8, "flags": ["MAY_PREEMPT"], "het_job_id": 8,/' "$T/busy.json" >"$T/order/het.json"
	sed 's/"id": 8,/"id": 8, "flags": ["MAY_PREEMPT"], "asks": ["BURST_BUFFER"],/' "$T/busy.json" >"$T/order/native.json"
	run 0 explain --site "$T/order/preempt.lua" --snapshot "$T/order/het.json" 8 &&
		out "^    nobody is stopped for it: for components of heterogeneous jobs others are not stopped by the plan$" &&
		run 0 explain --site "$T/order/preempt.lua" --snapshot "$T/order/native.json" 8 &&
		out "^    nobody is stopped for it: only Slurm's select can place it, and so can say whom to stop$"
}
ok "explain says of jobs for which the plan stops nobody why that is" explain_never

# 8 GPUs are free, one on each node; 7 asks for 2 of a node, 8 for one and more cores than are beside it.
awk 'BEGIN { print "{ \"meta\": { \"now\": 1793620800, \"cluster\": \"apart\", \"source\": \"json\", \"sequence\": 1 },"
	print "\"gres_kinds\": [ { \"key\": \"gpu\", \"name\": \"gpu\" } ], \"nodes\": ["
	for (i = 1; i <= 8; i++) printf "%s{ \"name\": \"n%d\", \"cores\": 8, \"gres\": [ { \"kind\": \"gpu\", \"count\": 2 } ] }", (i > 1 ? ",\n" : ""), i
	print "], \"partitions\": [ { \"name\": \"p\", \"nodes\": \"n[1-8]\" } ], \"jobs\": ["
	for (i = 1; i <= 8; i++) printf "{ \"id\": %d, \"user\": \"ada\", \"state\": \"RUNNING\", \"partition\": \"p\", \"start_time\": 1793620000, \"end_time\": 1793627200, \"time_limit\": 7200, \"min_cpus\": 6, \"alloc\": [ { \"node\": \"n%d\", \"cores\": 6, \"gres\": [ { \"kind\": \"gpu\", \"count\": 1 } ] } ] },\n", 100 + i, i
	gpus = "\"gres\": [ { \"name\": \"gpu\", \"per\": \"node\", \"count\": "
	printf "{ \"id\": 7, \"user\": \"ada\", \"partition\": \"p\", \"min_cpus\": 1, \"time_limit\": 600, %s2 } ] },\n", gpus
	printf "{ \"id\": 8, \"user\": \"ada\", \"partition\": \"p\", \"min_cpus\": 4, \"time_limit\": 600, %s1 } ] },\n", gpus
	printf "{ \"id\": 9, \"user\": \"ada\", \"partition\": \"p\", \"min_cpus\": 1, \"time_limit\": 600, %s1 } ] },\n", gpus
	of_job = "\"gres\": [ { \"name\": \"gpu\", \"per\": \"job\", \"count\": "
	printf "{ \"id\": 10, \"user\": \"ada\", \"partition\": \"p\", \"num_tasks\": 8, \"min_cpus\": 8, \"time_limit\": 600, %s8 } ] },\n", of_job
	printf "{ \"id\": 11, \"user\": \"ada\", \"partition\": \"p\", \"num_tasks\": 21, \"min_cpus\": 21, \"time_limit\": 600, %s3 } ] }\n", of_job
	print "], \"queue\": [ { \"job\": 7, \"partition\": \"p\" }, { \"job\": 8, \"partition\": \"p\" }, { \"job\": 9, \"partition\": \"p\" },"
	print "{ \"job\": 10, \"partition\": \"p\" }, { \"job\": 11, \"partition\": \"p\" } ] }" }' >"$T/gpus.json"
printf 'return require("sched").site { default = { "easy" } }\n' >"$T/gpus.lua"
explain_gpus() {
	run 0 explain --site "$T/gpus.lua" --snapshot "$T/gpus.json" 7 && out "^    8 GPUs are free on 8 nodes of p, none has 2$" &&
		run 0 explain --site "$T/gpus.lua" --snapshot "$T/gpus.json" 8 &&
		out "^    8 GPUs are free on 8 nodes of p, 8 have 1 and 0 of these the 4 CPUs beside them$" &&
		run 0 explain --site "$T/gpus.lua" --snapshot "$T/gpus.json" 9 && ! out "GPUs are free" >/dev/null
}
# As many nodes as nobody says: 8 GPUs are on four at least, 21 tasks on three.
explain_gpus_of_the_job() {
	run 0 explain --site "$T/gpus.lua" --snapshot "$T/gpus.json" 10 && out "^    8 GPUs are free on 8 nodes of p, none has 2$" &&
		run 0 explain --site "$T/gpus.lua" --snapshot "$T/gpus.json" 11 &&
		out "^    8 GPUs are free on 8 nodes of p, 8 have 1 and 0 of these the 7 CPUs beside them$"
}
ok "explain tells of GPUs that are free where they are of no use" explain_gpus
ok "explain shares out what a job asks for as a whole over as many nodes as it needs" explain_gpus_of_the_job

# LIST JOB: explained under that list, which shows nothing of the queue's order
ordered_by() {
	echo "return require(\"sched\").site { default = { $1 } }" >"$T/order/own.lua"
	run 0 explain --site "$T/order/own.lua" --snapshot "$T/busy.json" "$2" && ! out "no part of the list ranks\|priority" >/dev/null
}

# 9 takes the cores for longest, 7 is 2 of 16 cores for as long as 8 takes both nodes
explain_critical() {
	ordered_by '"critical", patience=0' 8 && out "^    place 3 in its own order, critical: what it needs would be busy for 0.167 h" &&
		out "^    next ahead of it: job 7 of ada$" && out "^    before the order: it has waited for guard_wait$" &&
		ordered_by '"critical", threshold=1000, guard_wait=0' 8 && out "^    place 3 in its own order, not critical: .* 1 of the machine x 600 s$" &&
		! out "guard_wait" >/dev/null &&
		ordered_by '"critical", window=1' 8 && out "^    not in its order: "
}
ok "explain tells the order of critical" explain_critical

# 9 has twice the walltime of 8, and is worth less by brevity; nobody is worth more than another by Slurm's priority
explain_together() {
	ordered_by '"ip_window"' 9 && out "^    place 3 of the 3 jobs that compete, .*: 0.8706 of " && out "^    next ahead of it: job 8 of bob (1)$" &&
		out "^    which of them start is decided together" && out "^    before the order: it has waited for guard_wait$" &&
		ordered_by '"ip_window", guard_wait=0, max_jobs=2' 9 && out "^    does not compete: " && ! out "guard_wait" >/dev/null &&
		ordered_by '"auction", value="cores", guard_wait=0' 7 && out "^    place 2 by what it is worth, 2; .* the first 200 bid$" &&
		out "^    next ahead of it: job 8 of bob (16)$" && out "^    which of them start is decided together" &&
		ordered_by '"auction", queue=1' 9 && out "^    does not bid: "
}
ok "explain tells what jobs are worth where starts are decided together" explain_together

# 5 holds n1 until 14:00; 6 wants both nodes of p, 7 eight cores for two hours, which would delay it
cat >"$T/full.json" <<'EOF'
{ "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 }, { "name": "m1", "cores": 8 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]" }, { "name": "q", "nodes": "m1", "max_time": 7200 },
    { "name": "r", "nodes": "m1", "max_time": 3600 } ],
  "jobs": [
    { "id": 5, "user": "ada", "state": "RUNNING", "partition": "p", "start_time": 1793620000, "end_time": 1793627200,
      "time_limit": 7200, "min_cpus": 8, "alloc": [ { "node": "n1", "cores": 8 } ] },
    { "id": 6, "user": "ada", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600 },
    { "id": 7, "user": "ada", "partition": "p", "min_nodes": 1, "min_cpus": 8, "num_tasks": 8, "time_limit": 7200 } ],
  "queue": [ { "job": 6, "partition": "p" }, { "job": 7, "partition": "p" } ] }
EOF
printf 'return require("sched").site { default = { "easy" } }\n' >"$T/plain.lua"
sooner() { run "$1" explain --sooner --site="$T/plain.lua" --snapshot="$T/full.json" "$2"; }

explain_sooner() {
	sooner 0 7 && out "^as it asks  *2026-11-02T13:56:40 *$" && out "^a walltime of 60 min  *2026-11-02T12:00:00  117 min$" &&
		out "^partition q, where it may  *2026-11-02T12:00:00 " && ! out "partition r" >/dev/null &&
		sooner 0 6 && out "^as it asks  *2026-11-02T13:46:40 *$" && out "^1 node, 8 CPUs  *2026-11-02T12:00:00 " &&
		! out "walltime" >/dev/null && sooner 1 5 && err "job 5 is not queued: it has started" &&
		run 2 explain --sooner --watch 7
}
ok "explain --sooner tries changes of the request and prints those that help" explain_sooner

# Who asks about a job that may not start is told why not.
sed -e 's/"id": 7,/"id": 7, "state_reason": "Dependency",/; s/"id": 8,/"id": 8, "flags": [ "HELD" ], "priority": 0,/' \
	-e 's/{ "job": 7, "partition": "p" }, { "job": 8, "partition": "p" },//' "$T/busy.json" >"$T/waiting.json"
not_queued() {
	for verb in "forecast --policy=fcfs" "explain --sooner --site=$T/plain.lua"; do
		# shellcheck disable=SC2086	# words
		run 1 $verb --snapshot "$T/waiting.json" 7 && err "job 7 is not queued: it may not start yet, Dependency" &&
			run 1 $verb --snapshot "$T/waiting.json" 8 && err "job 8 is not queued: it may not start yet, it is held" || return 1
	done
}
ok "a job that is not queued is told apart from one that may not start" not_queued

# REASON LIMITS WORDS: of a job of that reason that asks for two hours on one node, in a partition of these limits
beyond() {
	sed -e 's/"name": "p", "nodes": "n\[1-2\]"/&, '"$2"'/; s/"id": 7,/&"state_reason": "'"$1"'",/' \
		-e 's/{ "job": 6, "partition": "p" }, { "job": 7, "partition": "p" }//' "$T/full.json" >"$T/beyond.json"
	run 0 explain --site="$T/plain.lua" --snapshot="$T/beyond.json" 7 && sed -n 1p "$T/out" | grep -qFx "Job 7 $3"
}
explain_beyond() {
	beyond PartitionTimeLimit '"max_time": 3600' "cannot start as it asks: it asks for 120 minutes, partition p allows 60." &&
		beyond PartitionNodeLimit '"min_nodes": 2' "cannot start as it asks: it asks for 1 node, partition p is for 2 and more." &&
		beyond PartitionNodeLimit '"max_nodes": 8' "may not start yet (PartitionNodeLimit)." &&
		beyond BeginTime '"max_time": 3600' "may not start yet (BeginTime)."
}
ok "explain tells which limit of its partition a job is beyond" explain_beyond

# 7 has the higher priority, 6 is in the partition of the higher tier, whose nodes are the same
explain_tier() {
	sed -e 's/"name": "q", "nodes": "m1"/"name": "q", "nodes": "n[1-2]", "priority_tier": 10/; s/"id": 6, "user": "ada", "partition": "p"/"id": 6, "user": "ada", "partition": "q"/' \
		-e 's/"job": 6, "partition": "p"/"job": 6, "partition": "q"/' "$T/full.json" >"$T/tier.json"
	run 0 explain --site="$T/plain.lua" --snapshot="$T/tier.json" 6 && out "^  place 1: PriorityTier 10, priority 1; " &&
		run 0 explain --site="$T/plain.lua" --snapshot="$T/tier.json" 7 && out "^  next ahead of it: job 6 of ada (PriorityTier 10, priority 1)$"
}
ok "explain tells the tier beside the priority" explain_tier

# What is tried is what is printed: of 3 nodes no quarter, and 2 of them with half the CPUs are 2 nodes.
sed -e 's/"id": 6, "user": "ada", "partition": "p", "min_nodes": 2, "min_cpus": 16/"id": 6, "user": "ada", "partition": "p", "min_nodes": 3, "min_cpus": 12/' \
	-e 's/n\[1-2\]/n[1-3]/; s/{ "name": "m1"/{ "name": "n3", "cores": 8 }, &/' \
	-e 's/"id": 7,.*"num_tasks": 8,/"id": 7, "user": "ada", "partition": "p", "ntasks_per_node": 8, "min_cpus": 16, "num_tasks": 16,/' \
	"$T/full.json" >"$T/three.json"
sooner_says() {
	run 0 explain --sooner --site="$T/plain.lua" --snapshot="$T/three.json" 6 && out "^2 nodes, 6 CPUs  *2026-11-02T12:00:00 " &&
		! out "^1 node" >/dev/null && ! out "^3 CPUs" >/dev/null &&
		run 0 explain --sooner --site="$T/plain.lua" --snapshot="$T/three.json" 7 && ! out "no --nodes" >/dev/null
}
ok "explain --sooner prints the change that it tried" sooner_says

# A policy that fails for one of the changes, and one under which nobody knows when the job starts as it is.
cat >"$T/picky.lua" <<'EOF'
return { api = 1, name = "picky", doc = "fails for half an hour, starts what takes 15 minutes at once, promises nothing",
  decide = function(cluster, plan)
    for job in cluster:queue() do
      if job.time_limit == 1800 then error("half an hour") end
      if job.time_limit > 900 then plan:refuse(job, "too long") else plan:start(job) end
    end
  end }
EOF
printf 'return require("sched").site { default = { "picky" } }\n' >"$T/picky_site.lua"
sooner_fails() {
	run 0 explain --sooner --site="$T/picky_site.lua" --path="$T" --snapshot="$T/full.json" 7 &&
		out "^as it asks  *not known" && out "^a walltime of 15 min  *2026-11-02T12:00:00$" &&
		! out "^a walltime of 60 min" >/dev/null && out "^1 of 7 changes could not be tried: .*half an hour"
}
ok "explain --sooner goes on where a change cannot be tried, and prints only what is surely sooner" sooner_fails

# What users are told rests on other runtimes than what is tried.
echo "return require('sched').site { default = { 'picky' }, forecasts = 'told.txt' }" >"$T/told_site.lua"
printf 'made 1793620800 0.8\njob 7 1793630000 1793630000 1793630000\n' >"$T/told.txt"
sooner_told() {
	run 0 explain --sooner --site="$T/told_site.lua" --path="$T" --snapshot="$T/full.json" 7 &&
		out "^as it asks  *not known" && ! out "T14:33:20" >/dev/null
}
ok "explain --sooner does not take what users are told for a start" sooner_told

# Behind a thousand others, of which each has to have its time before; what the engine tells in 20 ms ends long before that.
awk 'BEGIN { print "{ \"meta\": { \"now\": 1793620800, \"cluster\": \"long\", \"source\": \"json\", \"sequence\": 1 },"
	print "\"nodes\": [ { \"name\": \"n1\", \"cores\": 8 } ], \"partitions\": [ { \"name\": \"p\", \"nodes\": \"n1\" } ], \"jobs\": ["
	for (i = 1; i <= 1200; i++) { printf "%s{ \"id\": %d, \"user\": \"ada\", \"partition\": \"p\", \"min_cpus\": 8, \"time_limit\": 3600 }", (i > 1 ? ",\n" : ""), i
		queue = queue (i > 1 ? ", " : "") "{ \"job\": " i ", \"partition\": \"p\" }" }
	print "], \"queue\": [" queue "] }" }' >"$T/long.json"
sooner_behind() {
	run 0 explain --sooner --site="$T/plain.lua" --snapshot="$T/long.json" 1200 && out "^as it asks  *2026-12-22T11:00:00 *$"
}
ok "explain --sooner knows when a job starts that stands far behind" sooner_behind

# The cluster as it is, from a schedlua-capture beside the program, which writes down what it finds.
LUA=$(cd "${srcdir:-.}/lua" && pwd)
mkdir "$T/bin" "$T/live" "$T/tmp" && cp "$SCHEDLUA" "$T/bin/schedlua"
cat >"$T/bin/schedlua-capture" <<EOF
#!/bin/sh
echo "\$*" >"$T/asked"
ls -A "$T/tmp" >>"$T/asked"
cat "$T/full.json"
EOF
chmod +x "$T/bin/schedlua-capture"
cat >"$T/known.lua" <<'EOF'
return { api = 1, name = "known", doc = "nobody without a past", admit = function(job, cluster)
    return cluster.history:runs { user = job.user, last = 1 }[1] ~= nil, "no past"
  end }
EOF
printf 'return require("sched").site { default = { "known", "easy" } }\n' >"$T/known_site.lua"
printf '%s\n' 'JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|NNodes|AllocTRES|State' \
	'4|ada|x|p|2026-11-01T10:00:00|2026-11-01T11:00:00|3600|8|1|cpu=8,node=1|COMPLETED' >"$T/past.sacct"
live() {
	printf '{}' >"$T/live/status.json"
	TMPDIR="$T/tmp" SCHEDLUA_PATH="$LUA" "$T/bin/schedlua" explain "$1" --site="$T/known_site.lua" --path="$T" --dir="$T/live" 7 >"$T/out" 2>"$T/err"
}
without_files() {
	live --sooner && [ "$(cat "$T/asked")" = - ] && out "without the ledger" && out "^as it asks  *not known"
}
ok "a picture of the cluster is never a file that an interrupted command leaves behind" without_files
own_ledger() {
	live --sooner && out "^as it asks  *2026-11-02T13:56:40" && ! out "without the ledger" >/dev/null
}
if "$SCHEDLUA" ledger create --dir="$T/live" >/dev/null 2>&1 &&
	"$SCHEDLUA" ledger import --quiet --dir="$T/live" "$T/past.sacct" >/dev/null; then
	ok "explain --sooner asks the cluster's own ledger, and policies the past" own_ledger
fi

# ---------------------------------------------------------------- the first line

# 5 holds n1; 7 to 16 do not compete, each for a reason of Slurm's; 20 and 21 do
cat >"$T/aside.json" <<'EOF'
{ "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 }, "gres_kinds": [ { "key": "gpu", "name": "gpu" } ],
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 }, { "name": "s1", "cores": 8, "threads": 2 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]" }, { "name": "smt", "nodes": "s1" } ],
  "jobs": [
    { "id": 5, "user": "bob", "account": "phys", "qos": "long", "state": "RUNNING", "partition": "p", "start_time": 1793620000,
      "end_time": 1793627200, "time_limit": 7200, "min_cpus": 8, "alloc": [ { "node": "n1", "cores": 8 } ] },
    { "id": 6, "user": "eve", "account": "chem", "qos": "long", "state": "RUNNING", "partition": "p", "start_time": 1793620000,
      "end_time": 1793624400, "time_limit": 7200, "min_cpus": 4, "alloc": [ { "node": "n2", "cores": 4 } ] },
    { "id": 7, "user": "ada", "account": "phys", "qos": "long", "partition": "p", "state_reason": "AssocGrpCpuLimit" },
    { "id": 8, "user": "ada", "account": "phys", "qos": "long", "partition": "p", "state_reason": "QOSMaxCpuPerJobLimit" },
    { "id": 9, "user": "ada", "account": "phys", "qos": "long", "partition": "p", "state_reason": "QOSMaxJobsPerUserLimit" },
    { "id": 10, "user": "ada", "partition": "p", "flags": ["HELD"], "priority": 0, "state_reason": "JobHeldUser" },
    { "id": 11, "user": "ada", "partition": "p", "flags": ["HELD"], "priority": 0, "state_reason": "JobHeldAdmin" },
    { "id": 12, "user": "ada", "partition": "p", "flags": ["DEPENDENT"], "state_reason": "Dependency" },
    { "id": 13, "user": "ada", "partition": "p", "begin_time": 1793630000, "state_reason": "BeginTime" },
    { "id": 14, "user": "ada", "account": "phys", "partition": "p", "state_reason": "AssocGrpCPUMinutesLimit" },
    { "id": 15, "user": "ada", "account": "phys", "qos": "long", "partition": "p", "state_reason": "QOSGrpNodeLimit" },
    { "id": 16, "user": "ada", "partition": "p", "state_reason": "JobArrayTaskLimit" },
    { "id": 20, "user": "ada", "partition": "p", "min_nodes": 2, "min_cpus": 4, "gres": [ { "name": "gpu", "count": 2 } ] },
    { "id": 21, "user": "ada", "partition": "p", "flags": ["EXCLUSIVE"], "start_time": 1793713600 },
    { "id": 22, "user": "ada", "partition": "smt", "min_cpus": 3 } ],
  "queue": [ { "job": 20, "partition": "p" }, { "job": 21, "partition": "p" }, { "job": 22, "partition": "smt" } ] }
EOF
# JOB LINE [SITE] : the first line about the job
begins() {
	run 0 explain --site="${3-$T/plain.lua}" --snapshot="$T/aside.json" "$1" || return 1
	[ "$(head -n 1 "$T/out")" = "$2" ] || { echo "job $1: expected: $2"; return 1; }
}

begins_running() { begins 5 'Job 5 runs since 11:46 and ends by 13:46.'; }
ok "explain begins with when a running job ends" begins_running

begins_waiting() {
	begins 20 'Job 20 waits for 2 nodes with 4 cores in all and 2 GPUs on each. It is the next in line. When is not known yet.' &&
		begins 21 'Job 21 waits for 1 whole node. 1 job is ahead. Expected Tue 13:46 (by walltimes).' &&
		begins 22 'Job 22 waits for 1 node with 3 CPUs. It is the next in line. When is not known yet.'
}
ok "explain begins with what a job waits for, how many are ahead and when it starts" begins_waiting

begins_forecast() {
	echo "return require('sched').site { forecasts = 'told.txt' }" >"$T/said.lua"
	printf 'made 1793620800 0.8\njob 20 1793626000 1793628000 1793630000\njob 21 1793626000 - -\njob 22 1793626000 1793628000 -\n' >"$T/told.txt"
	begins 20 'Job 20 waits for 2 nodes with 4 cores in all and 2 GPUs on each. It is the next in line. Expected 14:00 (80 %: 13:26 to 14:33).' "$T/said.lua" &&
		begins 21 'Job 21 waits for 1 whole node. 1 job is ahead. Expected later than is foreseen (80 %: not before 13:26).' "$T/said.lua" &&
		begins 22 'Job 22 waits for 1 node with 3 CPUs. It is the next in line. Expected 14:00 (80 %: not before 13:26).' "$T/said.lua"
}
ok "explain begins with the interval of the site's forecasts" begins_forecast

begins_own() { begins 21 'Job 21 waits for 1 whole node. Expected Tue 13:46 (by walltimes).' "$T/order/own.lua"; }
echo 'return require("sched").site { default = { "predictive" } }' >"$T/order/own.lua"
ok "explain counts nobody ahead where the policy has an order of its own" begins_own

begins_limited() {
	begins 7 'Job 7 waits: account phys: at a limit (AssocGrpCpuLimit). Running jobs hold 8 CPUs (bob 8); job 5 of bob ends first, by 13:46.' &&
		begins 15 'Job 15 waits: QOS long: at a limit (QOSGrpNodeLimit). Running jobs hold 2 nodes (bob 1, eve 1); job 6 of eve ends first, by 13:00.' &&
		begins 9 'Job 9 waits: user ada, QOS long: at a limit (QOSMaxJobsPerUserLimit). No running job of it is seen.' &&
		begins 8 'Job 8 cannot start as it asks: QOS long: the limit for one job does not allow that (QOSMaxCpuPerJobLimit).' &&
		begins 14 'Job 14 waits: account phys: what may be used is used up (AssocGrpCPUMinutesLimit).'
}
ok "explain begins with who holds a limit of an account or QOS, and until when" begins_limited

begins_one_line() {
	sed 's/"name": "gpu", "count": 2/"name": "gpu", "type": "a\\nJob 5 is fine.\\u001b[2J", "count": 2/; s/"AssocGrpCpuLimit"/"Odd\\nJob 5 is fine."/' \
		"$T/aside.json" >"$T/forged.json"
	for job in 7 20; do
		run 0 explain --site="$T/plain.lua" --snapshot="$T/forged.json" $job && out "is fine" && ! out "^Job 5" || return 1
	done
}
ok "explain's first line is one, whatever users have written into a request" begins_one_line

# a capture queues all that is neither held nor dependent
begins_captured() {
	sed 's/"queue": \[/&{ "job": 7, "partition": "p" }, { "job": 13, "partition": "p" }, /' "$T/aside.json" >"$T/captured.json" &&
		run 0 explain --site="$T/plain.lua" --snapshot="$T/captured.json" 7 && out "^Job 7 waits: account phys: at a limit" &&
		run 0 explain --site="$T/plain.lua" --snapshot="$T/captured.json" 13 && out "^Job 13 does not start before 14:33, its begin time.$"
}
ok "explain does not take a job for one that competes since a capture has it in the queue" begins_captured

begins_aside() {
	begins 10 'Job 10 is held by its user: "scontrol release 10" lets it compete.' &&
		begins 11 'Job 11 is held by an administrator, who can release it.' && begins 12 'Job 12 waits for other jobs.' &&
		begins 13 'Job 13 does not start before 14:33, its begin time.' && begins 16 'Job 16 may not start yet (JobArrayTaskLimit).'
}
ok "explain begins with what holds a job back that does not compete" begins_aside

# 6 has a reservation of n1 and n2 from the end of 5 on: 4 of 16 cores are idle for two hours
reserved() {
	mkdir -p "$T/idle" && echo '{}' >"$T/idle/status.json"
	echo '{"sequence": 1, "now": 1793620800, "policy": "easy", "full": true, "reserved": [{"job": 6, "start_time": 1793627200, "nodes": "n[1-2]"}], "pending": [{"job": 6, "why": "resources", "text": "needs 2 nodes, 1 is free"}]}' >"$T/idle/decisions.jsonl"
	SCHEDLUA_PATH="$LUA" "$T/bin/schedlua" explain "$@" --site="$T/plain.lua" --dir="$T/idle" 6 >"$T/out" 2>"$T/err"
}
priced() {
	reserved && [ "$(head -n 1 "$T/out")" = "Job 6 waits for 2 nodes with 16 cores in all. It is the next in line. Expected 13:46 (reserved, by walltimes)." ] &&
		out "^    n\[1-2\] is reserved for it from 13:46: 14 core-hours are idle before that, less what is backfilled$" &&
		reserved --json && out '"idle_core_s": 51200.0' && out '"when": "Job 6 waits for 2 nodes'
}
ok "explain tells how long nodes are idle for a reservation" priced

shadowed() {
	reserved && echo '{ "shadow": "backfill" }' >"$T/idle/status.json" &&
		SCHEDLUA_PATH="$LUA" "$T/bin/schedlua" explain --site="$T/plain.lua" --dir="$T/idle" 6 >"$T/out" 2>"$T/err" &&
		[ "$(head -n 1 "$T/out")" = "Job 6 waits for 2 nodes with 16 cores in all. Slurm's backfill decides, the policies only look on (shadow mode). For them it is the next in line. They would start it 13:46 (reserved, by walltimes)." ] &&
		out "^shadow mode: Slurm's backfill decides; what follows is what the policies would have done$" && echo '{}' >"$T/idle/status.json"
}
ok "explain does not read as if the policies decided in shadow mode" shadowed

echo "1..$n"
