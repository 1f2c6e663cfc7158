#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Snapshots recorded on a live cluster, and replayed.
. "${0%/*}/live.sh"
needs_plugin
command -v schedlua > /dev/null || PATH=$TOP/.work/inst/bin:$PATH
schedlua replay --help > /dev/null 2>&1 || skip_all "this schedlua has no replay"
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50,lua_record=1,lua_record_files=50"
RECORD=$C/state/schedlua/record

recorded() { find "$RECORD" -name 'cycle-*.snap.gz' | wc -l; }
recorded_at_least() { [ "$(recorded)" -ge "$1" ]; }
policy_is() { status_is source site && status_is policy "$1"; }

# Is the job seen ended in a recorded snapshot?
seen_ended() {
	local f
	for f in "$RECORD"/cycle-*.snap.gz; do
		schedlua show --json "$f" 2> /dev/null | tr -d ' \n' | grep -q "\"id\":$1,[^{]*\"state\":\"COMPLETED\"" && return 0
	done
	return 1
}

# First come, first served: the short job waits for the wide one, which waits for the
# first, although it would have ended before that.
play() {
	local a b
	reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { "fcfs" } }
	EOL
	wait_for 15 policy_is fcfs
	wait_for 15 recorded_at_least 2
	a=$(FOR=20 submit -N6 --exclusive -t 20)
	starts "$a"
	b=$(FOR=2 submit -N8 --exclusive -t 10)
	SHORT=$(FOR=2 submit -N1 --exclusive -t 10)
	job_is "$SHORT" PENDING
	ends "$b" 60
	ends "$SHORT" 60
	wait_for 20 seen_ended "$SHORT"
	echo "$SHORT" > "$C/short"
	rm -rf "$C/record"
	cp -r "$RECORD" "$C/record"
	cp "$C/state/schedlua/decisions.jsonl" "$C/"
	cp "$C/etc/sched.lua" "$C/fcfs.lua"
}
it "a snapshot a second is recorded while jobs come and go" play

figure() { sed -nE "s/.*\"$1\": ([0-9]+).*/\1/p" "$C/out" | head -n 1; }

again() {
	schedlua replay --quiet --cycles --site="$C/fcfs.lua" --json "$C/record" --journal="$C" > "$C/out"
	cat "$C/out"
	[ "$(figure cycles)" -ge 5 ]
	[ "$(figure same_starts)" -ge 1 ] || echo "no recorded cycle had a start"
	[ "$(figure differing)" = 0 ]
	[ "$(figure reservations_differ)" = 0 ]
}
it "the policy that decided decides each recorded cycle the same again" again

same() {
	schedlua replay --quiet --policy=fcfs --json "$C/record" > "$C/out"
	cat "$C/out"
	[ "$(figure jobs)" = 3 ]
	[ "$(figure same)" = 3 ]
}
it "replayed under the policy of the time, jobs start when they did" same

other() {
	schedlua replay --quiet --policy=easy "$C/record"
	schedlua replay --quiet --policy=easy --json "$C/record" > "$C/out"
	[ "$(figure earlier)" = 1 ]
	[ "$(figure later)" = 0 ]
	grep -q "\"job\": $(cat "$C/short"),.*\"verdict\": \"earlier\"" "$C/out"
}
it "replayed under easy, the short job starts earlier and nobody later" other

its_own() {
	schedlua replay --quiet --policy=easy --json > "$C/out"
	grep -q '"cluster": ' "$C/out"
}
it "without a directory the plug-in's own recording is replayed" its_own

another_second() { [ "$(date +%s)" -gt "$1" ]; }
captured() {
	local id
	schedlua-capture "$C/before.snap"
	wait_for 5 another_second "$(date +%s)"		# which is what snapshots tell
	id=$(FOR=1 submit -N2)
	ends "$id"
	schedlua-capture "$C/after.snap"
	schedlua replay --quiet --policy=easy --json "$C/before.snap" "$C/after.snap" > "$C/out"
	cat "$C/out"
	grep -q "\"job\": $id,.*\"verdict\": \"same\"" "$C/out"
}
it "what schedlua-capture took is a recording, too" captured

bounded() {
	scontrol reconfigure
	sed -i 's/lua_record_files=50/lua_record_files=3/' "$C/etc/slurm.conf"
	scontrol reconfigure
	wait_for 15 three
}
three() { [ "$(recorded)" -le 3 ] && [ "$(recorded)" -ge 1 ]; }
it "as many snapshots are kept as slurm.conf says" bounded

off() {
	sed -i 's/lua_record=1,//' "$C/etc/slurm.conf"
	scontrol reconfigure
	starts "$(submit -N1)"		# the cycle that went on meanwhile has ended
	rm -rf "$RECORD"
	starts "$(submit -N1)"
	starts "$(submit -N1)"
	[ ! -e "$RECORD" ]
}
it "nothing is recorded where slurm.conf does not say so" off

live_end
