#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Limits stay in force whatever fails: the policy, what guards, the engine.
. "${0%/*}/live.sh"
needs_plugin
REAL=$(command -v schedlua || echo "$TOP/.work/inst/bin/schedlua")
"$REAL" engine --help > /dev/null 2>&1 || skip_all "this schedlua has no engine"
ENGINE=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/engine
mkdir -p "${ENGINE%/*}" && ln -sfn "$REAL" "$ENGINE"
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.3,lua_wake=50,lua_budget=5,lua_engine=$ENGINE"
CTLD=$(cluster_ctld_pid)

# A user may hold one CPU-hour in "small"; what else stands in that list and what it says comes
# from the test.  A job called trigger makes bomb and guard fail.
site() { # LIST
	reload <<-EOL
	local sched = require "sched"
	local bomb = { name = "bomb" }
	function bomb.decide(cluster, plan)
	  for job in cluster:queue() do if job.name == "trigger" then error("bang") end end
	  for job in cluster:queue() do plan:start(job) end
	end
	local guard = { name = "guard" }
	function guard.admit(job)
	  if job.name == "trigger" then error("lost") end
	  return true
	end
	local quota = sched.quota { per_user = "1 cpu-hour" }
	return sched.site { interval = 1, default = "easy", partitions = { small = { $1 } } }
	EOL
	wait_for 15 status_is source site
	wait_for 15 status_is policy "$2"
}

over() { submit -p small -n1 -t 600 "$@"; }
within() { submit -p small -n1 -t 10 "$@"; }

policy_fails() {
	local no trigger
	site 'quota, bomb' '*bomb*'
	no=$(over)
	wait_for 10 job_waits_for "$no" 'quota'
	trigger=$(within -J trigger)
	starts "$trigger" 15
	wait_for 20 log_said 'bang'
	starts "$(submit -N1)" 15
	stays_pending "$no"
	wait_for 10 job_waits_for "$no" 'quota'
	wait_for 20 log_said "within the site's limits"
	same_slurmctld
}
it "when a policy fails easy decides, and a quota beside it stays in force" policy_fails

guard_fails() {
	local trigger held
	site 'quota, guard' '*guard*'
	trigger=$(within -J trigger)
	wait_for 10 job_waits_for "$trigger" 'held.*lost'
	held=$(within)
	starts "$(submit -N1)" 15
	wait_for 10 job_waits_for "$held" 'held.*lost'
	stays_pending "$held"
	wait_for 20 status_says held 'small: .*lost'
	wait_for 20 log_said 'held: nothing starts in small'
	scancel "$trigger"
	starts "$held" 90
	wait_for 5 status_is held ''
	wait_for 20 log_said 'nothing is held any more'
	same_slurmctld
}
it "when what guards a partition fails nothing starts there, and that is said" guard_fails

guard_fails_open() {
	local trigger
	site 'quota, guard, on_failure = "easy"' '*guard*'
	trigger=$(within -J trigger)
	starts "$trigger" 15
	same_slurmctld
}
it "unless the site wants easy to decide then" guard_fails_open

no_engine() {
	local held
	site 'quota' '*quota*'
	starts "$(within)"
	rm -f "$ENGINE"
	kill_engine
	held=$(within)
	starts "$(submit -p main -N1)" 20
	wait_for 10 job_waits_for "$held" 'held'
	wait_for 5 status_is source fallback
	wait_for 20 status_says held 'only small'
	stays_pending "$held"
	cluster_ctld_kill
	cluster_ctld_start
	CTLD=$(cluster_ctld_pid)
	starts "$(submit -p main -N1)" 30
	stays_pending "$held"
	ln -sfn "$REAL" "$ENGINE"
	scontrol reconfigure
	starts "$held" 90
}
it "without the engine the plug-in holds what the site wants held, also after a restart" no_engine
CTLD=$(cluster_ctld_pid)

endless() {
	site 'quota' '*quota*'
	cluster_site <<-'EOL'
	local sched = require "sched"
	local loop = { name = "loop" }
	function loop.decide(cluster) while cluster.name ~= "probe" do end end
	return sched.site { interval = 1, default = { loop } }
	EOL
	[ "$1" = disk ] || scontrol reconfigure
	wait_for 15 status_says refusal 'budget'
	starts "$(submit -N1)" 15
	wait_for 5 status_is source 'last good'
	fails grep -q loop "$C/state/schedlua/last-good"
	same_slurmctld
}
it "a set that never ends on the real cluster is refused when it is reloaded" endless reload
CTLD=$(cluster_ctld_pid)
it "and when it is found on disk" endless disk

live_end
