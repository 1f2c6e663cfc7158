#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# There is a cycle when something that a policy has asked of the clock changes, although nothing happens in the cluster
# (slurmctld looks after its nodes once in SlurmdTimeout / 3) and the interval ends much later.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=600,lua_wake=50" DebugFlags=NO_CONF_HASH SlurmdTimeout=3600
needs_engine

# JOBID : the line of the decision journal with its start
starting_cycle() { grep -E "\"started\": \[[^]]*\"job\": $1[,}]" "$C/state/schedlua/decisions.jsonl" | tail -n 1; }
now_of() { grep -oE '"now": [0-9]+' | grep -oE '[0-9]+'; }
has_started() { [ -n "$(starting_cycle "$1")" ]; }

# A site file says that jobs start from the second OPENS on, and a job waits for that, well before.  (A machine that is too slow
# for it has it all again with a later second.)  The cycles that follow its submission, up to a second later, are over before:
# none of them can be the one that starts it.
waits_in_time() { # second | minute SITE
	local ahead
	for ahead in 10 30 90 270 810; do
		OPENS=$("$1_from" $(($(date +%s) + ahead)))
		reload < <("$2")
		wait_for 15 log_said 'loaded from'
		wait_for 15 is_live "${2#by_}"
		ID=$(submit -n1)
		stays_pending "$ID" || is_late
		is_late || return 0
		scancel "$ID"
		wait_for 30 job_done "$ID"
	done
	return 1
}
is_live() { status_is policy "*$1*" || is_late; }
is_late() { [ "$(date +%s)" -ge $((OPENS - 2)) ]; }

starts_in_time() { # second | minute SITE
	local now
	waits_in_time "$@"
	wait_for $((OPENS - $(date +%s) + 60)) has_started "$ID"
	now=$(starting_cycle "$ID" | now_of)
	[ "$now" -ge "$OPENS" ]
	[ "$now" -lt $((OPENS + 55)) ]	# and not the minute after
	starts "$ID"
}

# That second, or the first full minute after it.  (Times of the week are minutes.)
second_from() { echo "$1"; }
minute_from() { echo $((($1 + 59) / 60 * 60)); }
shown() { env -u TZ date -d "@$1" +%H:%M; } # SECOND : as the machine's clock shows it

# (Whether another cycle follows the one that a reload is followed by depends on when in a second it came.)
last_cycle() {
	local policy
	for policy in fcfs easy fcfs easy fcfs easy; do
		reload <<-EOL
		return require("sched").site { interval = 600, default = { "$policy" } }
		EOL
		wait_for 15 status_is policy "$policy"
	done
}
it "status.json has the last cycle, although none follows for ten minutes" last_cycle

by_closed() {
	cat <<-EOL
	local sched = require "sched"
	local closed = { name = "closed", admit = function() return false, "closed" end }
	return sched.site {
		interval = 600,
		when = { ["daily $(shown "$OPENS")-$(shown $((OPENS + 3600)))"] = { "easy" }, otherwise = { closed, "easy" } },
	}
	EOL
}
it "a job starts when the lists of the site file change" starts_in_time minute by_closed

by_late() {
	cat <<-EOL
	local sched = require "sched"
	local late = { name = "late" }
	function late.admit(_, cluster)
		return cluster.clock:between("$(shown "$OPENS")", "$(shown $((OPENS + 3600)))"), "it is too early"
	end
	return sched.site { interval = 600, default = { late, "easy" } }
	EOL
}
it "a job starts when a policy that asks the clock gives another answer" starts_in_time minute by_late

by_blocked() {
	cat <<-EOL
	local sched = require "sched"
	local blocked = { name = "blocked" }
	function blocked.decide(cluster, plan)
		if cluster.now < $OPENS then
			plan:block(cluster:nodes(), cluster.now, $OPENS)
		end
		for job in cluster:queue() do
			plan:start(job)
		end
	end
	return sched.site { interval = 600, default = { blocked } }
	EOL
}
it "a job starts when nodes are free again that a policy has blocked until then" starts_in_time second by_blocked

# Select chooses the nodes of the first kind of job: it likes the first ones.
keeps_free() { # NAME [LINE of decide()]
	local id
	reload <<-EOL
	local sched = require "sched"
	local blocked = { name = "$1" }
	function blocked.prepare(cluster, plan)
		plan:block(cluster:nodes { name = "n[001-004]" }, cluster.now + 600, cluster.now + 1200)
	end
	function blocked.decide(cluster, plan)
		${2-}
		for job in cluster:queue() do
			plan:start(job, { place = "native" })
		end
	end
	return sched.site { interval = 1, default = { blocked } }
	EOL
	wait_for 15 status_is policy "$1"
	id=$(submit -N1 -n1 -t 20)
	starts "$id"
	[ "$(job_nodes "$id")" \> n004 ]
	scancel "$id"
	wait_for 30 job_done "$id"
	id=$(submit -N1 -n1 -t 5)
	starts "$id"
	[ "$(job_nodes "$id")" \< n005 ]
}
it "select puts no job on nodes that a policy keeps free within its time" keeps_free keeping
it "... nor does easy on nodes that it keeps free, where that policy fails" keeps_free failing \
	'for _ in cluster:queue() do if cluster.name == "schedlua" then error("bang") end end'

live_end
