#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What policies remember goes on, whatever becomes of the engine.
SL_BUDGET=	# (the site file says it)
. "${0%/*}/live.sh"
needs_plugin
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.3,lua_wake=50,lua_record=0.01"
RECORD=$C/state/schedlua/record

# A policy that counts its cycles and tells, and starts the jobs that it has seen before.
counts() { # [LINE [LINE [BUDGET]]] : after, and before it remembers
	reload <<-EOL
	local sched = require "sched"
	local counts = { name = "counts" }
	function counts.decide(cluster, plan)
		local n = (cluster:recall("n") or 0) + 1
		${2-}
		plan:remember("n", n)
		slurm.log_info("counted %d", n)
		${1-}
		local before, seen = cluster:recall("seen") or {}, {}
		for job in cluster:queue() do
			seen[job.id] = true
			if before[job.id] then
				plan:start(job)
			end
		end
		plan:remember("seen", seen)
	end
	return sched.site { interval = 0.3, budget = ${3-10}, default = { counts } }
	EOL
}

counted() { log_since | sed -nE 's/.*sched\/lua: counted ([0-9]+).*/\1/p'; }
last_count() { counted | tail -n 1; }
counts_beyond() { local n; n=$(last_count); [ "${n:-0}" -gt "$1" ]; }
begins_anew() { counted | grep -qx 1; }

each_by_one() {
	counts
	wait_for 20 begins_anew
	wait_for 20 counts_beyond 5
	counted > "$C/counted"		# (it goes on)
	seq "$(head -n 1 "$C/counted")" "$(tail -n 1 "$C/counted")" | diff "$C/counted" -
}
it "a policy counts its cycles" each_by_one

engine_killed() {
	local n pid
	for _ in 1 2 3; do
		n=$(last_count)
		wait_for 20 engine_lives
		pid=$(engine_pid)
		kill -9 "$pid"
		wait_for 20 cluster_gone "$pid"
		mark_log
		wait_for 20 counts_beyond "$((n + 2))"
		[ "$(counted | head -n 1)" -ge "$n" ]
		begins_anew && return 1
	done
	starts "$(submit -N1)"
}
it "an engine that is killed takes nothing along: the count goes on" engine_killed

recorded() {
	local a
	local -a newest
	a=$(submit -N2)
	starts "$a"
	wait_for 60 was_explained "$a"
	mkdir -p "$C/record"
	cp "$RECORD"/*.snap.gz "$C/record/"
	cp "$C/state/schedlua/decisions.jsonl" "$C/"
	newest=("$C"/record/*.gz)
	schedlua show --json "${newest[-1]}" | grep -A6 '"remembered"' | grep -q '"key": "n"'
	schedlua replay --quiet --cycles --site="$C/etc/sched.lua" --json "$C/record" --journal="$C" > "$C/out"
	grep -E '"(cycles|differing|same_starts)"' "$C/out" | head -n 3
	grep -q '"differing": 0' "$C/out"
	grep -qE '"same_starts": [1-9]' "$C/out"
	# a policy that remembers nothing starts the job when it comes
	schedlua replay --quiet --cycles --policy=easy --json "$C/record" --journal="$C" > "$C/out"
	grep -qE '"differing": [1-9]' "$C/out"
}
it "recorded snapshots have it, and are decided the same again" recorded

slurmctld_ends() {
	local n
	n=$(last_count)
	cluster_ctld_kill
	[ -f "$C/state/schedlua/remembered" ]
	mark_log
	cluster_ctld_start
	wait_for 20 counts_beyond "$n"
	begins_anew && return 1
	[ ! -e "$C/state/schedlua/remembered" ]
}
it "a slurmctld that ends leaves it to the next one" slurmctld_ends

slurmctld_killed() {
	cluster_ctld_kill KILL
	mark_log
	cluster_ctld_start
	wait_for 20 begins_anew
}
it "a slurmctld that is killed does not" slurmctld_killed

changed() {
	wait_for 20 counts_beyond 3
	counts "-- another set"
	wait_for 20 begins_anew
}
it "a set whose files changed begins anew" changed

poisoned() {
	counts "if n == 7 then error('seven is too much') end"
	wait_for 20 log_said 'seven is too much'
	mark_log
	wait_for 20 begins_anew
	wait_for 20 counts_beyond 3
	status_is source site
}
it "a policy that fails begins anew instead of failing for ever" poisoned

# It is ended by the budget each time, before it could remember anything else.
endless() {
	counts "" "while n == 7 do end" 0.3
	wait_for 20 begins_anew
	wait_for 20 counts_beyond 5
	wait_for 20 log_said 'the set rests for 5 s, repaired or not, .*; scontrol reconfigure ends that'
	mark_log
	wait_for 20 begins_anew
	wait_for 20 counts_beyond 3
	starts "$(submit -N1)"
}
it "a set that what it remembers makes fail in another way begins anew after three times" endless

live_end
