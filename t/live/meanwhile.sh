# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# meanwhile.sh - something happens between a decision's beginning and its plan, for sourcing after
# live.sh.
#
#   slow_site                      jobs as they ask, in order; the policy works a while before one called "slow"
#   meanwhile OPTIONS COMMAND...   COMMAND, when the policy is at a slow job with those options of sbatch: ID
#   plan_came REGEX                why the plan then did not start it; and cycles go on

# Each job as it asks, in order; before one called "slow" the policy works for a while.
slow_site() {
	reload <<-'EOL'
	local sched = require "sched"
	local slow = { name = "slow" }
	function slow.decide(cluster, plan)
		for job in cluster:queue() do
			local n = 0
			for i = 1, job.name == "slow" and 200000000 or 0 do n = n + i end
			plan:start(job)
		end
	end
	return sched.site { interval = 0.3, budget = 200, default = { slow } }
	EOL
	wait_for 20 log_said 'policy slow loaded'	# its trial makes the engine work, too
	wait_for 20 status_is policy '*slow*'
}

ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# wait_for() would look too seldom on a busy machine.
has_worked() { # PID TICKS
	local i now
	for ((i = 0; i < 6000; i++)); do
		now=$(ticks "$1") || return 1
		[ "$now" -lt "$2" ] || return 0
		sleep 0.02
	done
	return 1
}

# Submit the slow job, and when the policy is at it, hold the engine and run COMMAND: the
# plan comes afterwards.  The job's id is in ID.
meanwhile() { # "OPTIONS of sbatch" COMMAND...
	local options=$1 engine was
	shift
	for _ in {1..20}; do
		wait_for 20 engine_lives
		engine=$(engine_pid)
		# shellcheck disable=SC2086
		ID=$(submit -J slow $options)
		was=$(ticks "$engine" || echo 0)	# (not before: while sbatch takes its time the engine works at cycles without the job)
		if has_worked "$engine" $((was + 15)) && kill -STOP "$engine"; then
			if job_is "$ID" PENDING; then
				"$@"
				mark_log
				kill -CONT "$engine"
				return
			fi
			kill -CONT "$engine"	# a fast machine: it was over before we looked
		fi
		scancel "$ID"
		wait_for 20 queue_is_empty
	done
	false
}

# The plan came, and cycles go on after it.
plan_came() {
	local cycles
	wait_for 30 log_said "JobId=$ID not started: $1"
	cycles=$(status cycles)
	wait_for 10 eval '[ "$(status cycles)" -gt '"$cycles"' ]'
	same_slurmctld
}
