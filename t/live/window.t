#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A window does not hold up what is behind it: a cycle that started jobs and did not see all of the queue is followed
# by the next, and jobs that no time can help do not count.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=600,lua_wake=50"
CTLD=$(cluster_ctld_pid)

site() { # LIST
	reload <<-EOL
	local slow = { name = "slow" }
	function slow.prepare() local n = 0; for i = 1, 200000000 do n = n + i end end
	return require("sched").site { interval = 600, budget = 100, default = { $1 } }
	EOL
	wait_for 15 status_is source site
	wait_for 15 log_said 'loaded from'
}

none_pending() { has_jobs PENDING -eq 0; }

# Did a cycle that started something follow another one at once?  One that is due because of what the last has changed comes
# later, by seven times what that one took (REST_AFTER in plugin/due.c): the policy takes its time.
at_once() {
	sed -nE 's/.*"now": ([0-9]+).*"total_us": ([0-9]+).*"started".*/\1 \2/p' "$C/state/schedlua/decisions.jsonl" |
		awk '{ print $1, $2 / 1e6, $1 - now; if (now && $1 - now < 2 * took + 1) good = 1; now = $1; took = $2 / 1e6 } END { exit !good }'
}

released() {
	local ids=()
	site '{ slow, "easy", window = 2 }'
	for _ in {1..8}; do ids+=("$(FOR=600 submit -n1 --hold)"); done
	scontrol release "$(IFS=,; echo "${ids[*]}")"
	wait_for 60 none_pending
	wait_for 10 at_once
	same_slurmctld
}
it "jobs behind the window follow at once, and not an interval later" released

hopeless() {
	local node last
	node=$(sinfo -h -N -o %N | head -n 1)
	site '{ "easy", window = 2 }'
	scontrol update NodeName="$node" State=DRAIN Reason=test
	for _ in {1..12}; do FOR=0 submit -n1 -w "$node" > /dev/null; done
	last=$(FOR=1 submit -n1)
	starts "$last" 60
	has_jobs PENDING -eq 12
	scontrol update NodeName="$node" State=RESUME
	wait_for 60 none_pending
	same_slurmctld
}
it "jobs that wait for a drained node are not in the way of those behind them" hopeless

live_end
