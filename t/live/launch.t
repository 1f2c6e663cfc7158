#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurmctld killed between the starts of a plan and the launches of their scripts.
. "${0%/*}/live.sh"
needs_plugin
FREEZE=$SL_BUILD/t/live/freeze
[ -x "$FREEZE" ] || skip_all "t/live/freeze is not built"
SL_NODE_SHAPE="CPUs=32 Sockets=2 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2"
PARAMETERS="SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_batch=1"
live_begin 8 "$PARAMETERS"
needs_engine
TASKS=150
TRIES=4

hold_all() {
	scontrol -Q create ReservationName=hold StartTime=now Duration=7-0 Users=root Flags=IGNORE_JOBS Nodes=ALL > /dev/null
}
saved() { [ "$C/state/job_state" -nt "$C/mark" ]; }
none_active() { [ -z "$(squeue -h -t PD,R,CG,CF -o %i)" ]; }
configuring() { squeue -h -r -t CF -o %i | wc -l; }

# The plug-in's thread stands still from its first start on: slurmctld saves what it knows
# then, and is killed.  1: it did not come out so.
kill_between() { # PID OTHER-JOB
	local answer i update from to
	coproc FREEZER { exec "$FREEZE" "$1" sched_lua "$C/log/slurmctld.log" 'sched/lua: started'; }
	from=${FREEZER[0]} to=${FREEZER[1]}	# which bash forgets, and closes, once it has ended
	read -r -t 20 answer <&"$from"
	[ "$answer" = waiting ] || skip "threads cannot be stopped here"
	scontrol -Q delete ReservationName=hold
	read -r -t 60 answer <&"$from" && [ "$answer" = frozen ] || return 1
	touch "$C/mark"
	scontrol update JobId="$2" Comment=save &	# has it save the jobs, once it gets the lock
	update=$!
	for ((i = 0; i < 200; i++)); do
		sleep 0.05
		kill -0 $update 2> /dev/null || break
		echo step >&"$to"
		read -r -t 10 answer <&"$from" || return 1
	done
	wait_for 20 saved || true
	kill -KILL "$1"
	wait_for 20 cluster_gone "$1"
	wait $update || true
	exec {to}>&-
	if [ -s "$JOBS/ran" ] || ! saved; then return 1; fi
}

# The jobs of a try: ID of an array, and of another job.
submit_held() {
	rm -f "$JOBS/ran"
	hold_all
	OTHER=$(submit --hold)
	ID=$(sbatch --parsable -o /dev/null -n1 --no-requeue -a 1-$TASKS --wrap "echo \$SLURM_ARRAY_TASK_ID >> $JOBS/ran")
	cluster_save_jobs "$OTHER"
}

# What slurmctld had not saved is not undone, either.
restart() {
	cluster_ctld_start
	CONFIGURING=$(configuring)
	scontrol -Q delete ReservationName=hold > /dev/null 2>&1 || true
	scancel "$OTHER"
}

killed() {
	local try
	for ((try = 0; try < TRIES; try++)); do
		submit_held
		if kill_between "$(cluster_ctld_pid)" "$OTHER"; then
			restart
			[ "$CONFIGURING" = 0 ] || break
		fi
		# nodes may know jobs whose numbers will be given again: begin anew
		cluster_up "$NODES" "${LIVE_LINES[@]}" "$PARAMETERS"
	done
	[ $try -lt $TRIES ] || skip "slurmctld was never caught between starts and launches"
	echo "$CONFIGURING tasks had been started, and none launched"
	wait_for 120 none_active
	[ "$(sort -n "$JOBS/ran" | uniq | wc -l)" = $TASKS ]
	[ "$(wc -l < "$JOBS/ran")" = $TASKS ]
	[ "$(squeue -h -r -t COMPLETED -j "$ID" -o %i | wc -l)" = $TASKS ]
}
it "jobs that were started and not launched yet when slurmctld is killed run, once" killed

live_end
