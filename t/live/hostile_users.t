#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ordinary users who mean harm: whatever a job is called, asks for and says in its comment, nobody else's job
# changes, nobody else waits for it, and the scheduler goes on as before. What is submitted is drawn from a seed
# that is printed: SL_SEED repeats a run.
. "${0%/*}/live.sh"
needs_plugin
SEED=${SL_SEED:-$((RANDOM * 32768 + RANDOM))}
BUDGET_US=2000000
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_budget=2" SlurmctldDebug=debug
needs_engine
echo "# SL_SEED=$SEED"

runuser -u $STRANGER -- test -r "$SLURM_CONF" || skip_all "$TOP: others than root cannot come here"
chmod 1777 "$JOBS"

reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "easy" } }
EOL
wait_for 30 status_is policy easy || { echo "Bail out! the policy is not taken"; exit 1; }

# Bash that the stranger runs, in $JOBS; its functions are those of this file that it names.
as_stranger() { runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" bash -c "cd '$JOBS'; $1"; }

# ------------------------------------------------------------------- other users' jobs

# What their owners said of them, and nothing that time changes.
records() {
	local id
	for id in $VICTIMS; do
		scontrol -o show job "$id" | tr ' ' '\n' | grep -E '^(JobId|JobName|UserId|Account|QOS|Nice|Requeue|TimeLimit|TimeMin|SubmitTime|Deadline|Partition|ReqNodeList|ExcNodeList|NumNodes|NumCPUs|NumTasks|CPUs/Task|NtasksPerN|ReqTRES|Req[A-Z]|MinCPUsNode|MinMemory|Features|OverSubscribe|Dependency|Comment|AdminComment|SystemComment|WorkDir|TresPer|Licenses|Command)' || true
		squeue -h -j "$id" -O jobid,statecompact,priority,mincpus,feature,gres
	done
}
victims_wait_and_run() {
	local running held behind
	running=$(submit -N3 --exclusive -w 'n[001-003]' -t 60)
	starts "$running" 20
	held=$(submit -H -N2 -t 2:00:00 --gres=gpu:1 --comment='mine; sched: -N1 -t 60')
	behind=$(submit -N2 -t 2:00:00 -w 'n[001-002]' -J precious)
	stays_pending "$behind"
	VICTIMS="$running $held $behind"
	records > "$C/before"
	[ "$(grep -c '^JobId=' "$C/before")" = 3 ]
}
nobody_changed() {
	records > "$C/after"
	diff "$C/before" "$C/after"
}
ctld_restarts() { # SIGNAL : with TERM it saves all
	cluster_ctld_kill "$1"
	cluster_ctld_start
	wait_for 30 status_is source site
}

# ------------------------------------------------------------------- what is always asked

quiet_log() {
	fails grep -aE 'error: .*(sched/lua|schedlua)' "$C/log/slurmctld.log"
	fails env LC_ALL=C grep -aP '(sched/lua|schedlua).*([\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\x8e\x8f\xa8-\xae])' \
		"$C/log/slurmctld.log"
}
decides_in_time() {
	local p99
	p99=$(sed -nE 's/^  "decide_us": .*"p99": ([0-9]+).*/\1/p' "$C/state/schedlua/status.json")
	echo "decide p99: $p99 us"
	[ "$p99" -lt "$BUDGET_US" ]
}
goes_on() {
	wait_for 20 status_is source site
	status_is engine_failures 0
	quiet_log
	decides_in_time
	starts "$(submit -N1 -w n004)" 15
}

# --------------------------------------------------------------------------- requests

# A job with an alternative is planned to start, so that the plug-in notes what it asked for.
# Its gres has the lines of that file which would make it what the others asked for.
forged_requests() {
	victims_wait_and_run
	local lines id
	# "gpu:TYPE:0" asks for nothing, and TYPE may be any text
	lines=$'gpu:x\t-\t-\n'
	for id in $VICTIMS; do
		lines+=$id$'\t0\t1\t1\t0\t1\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-\n'
	done
	id=$(as_stranger "sbatch --parsable -o /dev/null -N6 -n6 -t 5 --gres=$(printf %q "${lines}z:0") \
		--comment='sched: -n1' --wrap 'exec sleep 600'")
	wait_for 20 was_weighed "$id"
	cat -A "$C/state/schedlua/requests" || true
	ctld_restarts TERM
	starts "$(submit -N1 -w n004)" 20
	nobody_changed
	goes_on
}
was_weighed() { job_moved_on "$1" || schedlua explain "$1" | grep waits; }
it "lines in a job's gres do not become what others asked for" forged_requests

# A file of a version that wrote texts as they were: what it says of anybody is not believed.
old_requests() {
	local id n
	victims_wait_and_run
	id=$(submit -N6 -n6 -t 5 --requeue --comment='sched: -n1')
	starts "$id" 20
	cluster_ctld_kill TERM
	{
		echo "schedlua requests 1"
		for n in $VICTIMS $id; do
			printf '%s\t0\t1\t1\t0\t1\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-\n' "$n"
		done
	} > "$C/state/schedlua/requests"
	schedlua version 2>&1 | grep 'requests.*written by a version'
	mark_log
	cluster_ctld_start
	wait_for 30 log_said 'requests: a version wrote it that did not escape what users wrote: nothing of it is believed'
	wait_for 30 log_said "1 job .JobId=$id.: they run as alternatives, and what they asked for is not known"
	nobody_changed
	# the job is as it was allocated, and asks for that from now on
	job_is "$id" RUNNING
	scontrol requeuehold "$id"
	wait_for 20 job_is "$id" PENDING
	[ "$(job_get "$id" NumTasks)" = 1 ]
	[ "$(job_get "$id" TimeLimit)" = 00:05:00 ]
	wait_for 20 grep -qx 'schedlua requests 2' "$C/state/schedlua/requests"
	fails eval "schedlua version 2>&1 | grep requests"
}
it "what a version without escapes wrote is not believed, and jobs that ran as alternatives go on" old_requests

# Entries in today's form whose job is another one: by user, submit time or size.
strange_requests() {
	local running held behind submitted field
	victims_wait_and_run
	read -r running held behind <<< "$VICTIMS"
	cluster_ctld_kill TERM
	submitted=$(date -d "$(sed -n 's/^SubmitTime=//p' "$C/before" | tail -n 1)" +%s)
	{
		echo "schedlua requests 2"
		for field in "$held	8	$submitted" "$behind	0	1600000000" "$running	0	$submitted"; do
			printf '%s\t0\t3\t5\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t0\t-\t-\t-\t-\n' "$field"
		done
	} > "$C/state/schedlua/requests"
	mark_log
	cluster_ctld_start
	wait_for 30 log_said 'does not agree with them, and is left out'
	nobody_changed
}
it "an entry whose job has another user, submit time or size is left out" strange_requests

live_end
