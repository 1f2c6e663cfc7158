#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurmctld restarted, killed and reconfigured while jobs run and wait: none is
# lost, none is started twice.
. "${0%/*}/live.sh"
live_begin 8

# A job that writes a line to $JOBS/ran when it starts.
recorded() { # OPTION... : prints its id
	sbatch --parsable --output=/dev/null "$@" \
		--wrap "echo \$SLURM_JOB_ID \$SLURM_RESTART_COUNT >> $JOBS/ran; ${UNTIL-exec sleep ${FOR:-600}}"
}

# It runs until it is let go.  (An end that slurmctld takes, and is killed before it has saved it, Slurm itself
# learns of from the next registration of the node, minutes later.)
TOLD="until [ -e $JOBS/go ]; do sleep 0.2; done"

# So many have been launched, too (what has not when slurmctld is killed is launch.t's).
have_begun() { [ "$(wc -l < "$JOBS/ran")" -ge "$1" ]; }

none_active() { [ -z "$(squeue -h -t PD,R,CG,CF -o %i)" ]; }

ran_once() { # ID... : each of them, and nothing else, ran exactly once
	sort -n "$JOBS/ran" > "$JOBS/ran.sorted"
	printf '%s \n' "$@" | sed 's/ $//' | sort -n | diff - <(sed 's/ .*//' "$JOBS/ran.sorted")
}

through_restart() { # SIGNAL
	local i ids=()
	rm -f "$JOBS/ran" "$JOBS/go"
	for i in 1 2 3 4; do ids+=("$(UNTIL=$TOLD recorded -N2 --exclusive --no-requeue)"); done
	for i in 1 2 3 4 5 6; do ids+=("$(FOR=0 recorded -N3 --exclusive --no-requeue)"); done
	wait_for 20 has_jobs RUNNING -eq 4
	wait_for 20 have_begun 4
	cluster_save_jobs
	cluster_ctld_kill "$1"
	touch "$JOBS/go"
	cluster_ctld_start
	wait_for 90 none_active
	ran_once "${ids[@]}"
	for i in "${ids[@]}"; do job_is "$i" COMPLETED; done
}
it "slurmctld is stopped and started: every job runs, once" through_restart TERM
it "slurmctld is killed with SIGKILL and started: every job runs, once" through_restart KILL

killed_while_starting() {
	local i ids=()
	rm -f "$JOBS/ran"
	for i in {1..60}; do ids+=("$(FOR=0 recorded -n4 --no-requeue)"); done
	cluster_ctld_kill TERM
	cluster_ctld_start
	wait_for 90 none_active
	ran_once "${ids[@]}"
}
it "slurmctld is stopped while it starts jobs: every job runs, once" killed_while_starting

# The first three tasks run on, so that none starts or ends between the save and the end.
array_through_restart() {
	local id
	rm -f "$JOBS/ran" "$JOBS/go"
	id=$(sbatch --parsable --output=/dev/null -N2 --exclusive --array=1-10%3 --no-requeue \
		--wrap "echo \$SLURM_JOB_ID >> $JOBS/ran; $TOLD")
	wait_for 20 has_jobs RUNNING -eq 3
	wait_for 20 have_begun 3
	cluster_save_jobs
	cluster_ctld_kill KILL
	touch "$JOBS/go"
	cluster_ctld_start
	wait_for 90 none_active
	[ "$(wc -l < "$JOBS/ran")" = 10 ]
	[ "$(squeue -h -r -t COMPLETED -j "$id" -o %i | wc -l)" = 10 ]
}
it "an array goes on after slurmctld was killed: every task runs, once" array_through_restart

engine_after_kill() {
	local pid
	needs_lua
	needs_engine
	wait_for 10 engine_lives
	pid=$(engine_pid)
	submit --hold > /dev/null	# something to save: else job ids come again
	cluster_save_jobs
	cluster_ctld_kill KILL
	wait_for 10 cluster_gone "$pid"
	cluster_ctld_start
}
it "the engine ends when slurmctld is killed" engine_after_kill

# Launches are kept apart from the reconfigurations: while slurmctld 22.05 reads
# its configuration again, messages that it sends find no AuthInfo and so the
# wrong munge socket, also with the stock scheduler; Slurm requeues the job two
# minutes later.  Cycles do run meanwhile: there is a queue to decide on.
many_reconfigures() {
	local i ids=() blocker waiting
	slurm_needs_safe_reconfigure
	rm -f "$JOBS/ran"
	CTLD=$(cluster_ctld_pid)
	blocker=$(submit -N $((NODES - 1)) --exclusive)
	starts "$blocker"
	for i in {1..50}; do submit -N2 --exclusive > /dev/null; done
	waiting=$(jobs_in_state PENDING)
	for i in {1..200}; do
		scontrol reconfigure
		[ $((i % 20)) = 0 ] || continue
		ids+=("$(FOR=0 recorded -n1 -t1 --priority=TOP --no-requeue)")
		wait_for 20 job_done "${ids[-1]}"
	done
	ran_once "${ids[@]}"
	job_is "$blocker" RUNNING
	[ "$(jobs_in_state PENDING)" = "$waiting" ]
	same_slurmctld
}
it "two hundred reconfigurations while cycles run: no job is lost or started twice" many_reconfigures

# An editor that replaces the file, one that writes it in place and slowly, one that is wrong.
edited_in_a_storm() {
	local i ids=() name
	slurm_needs_safe_reconfigure
	needs_lua
	needs_engine
	CTLD=$(cluster_ctld_pid)
	rm -f "$JOBS/ran"
	site_named() {
		cat <<-EOL
		local sched = require "sched"
		local p = { name = "$1" }
		function p.decide(cluster, plan)
			for job in cluster:queue() do plan:start(job) end
		end
		return sched.site { interval = 1, default = { p } }
		EOL
	}
	mark_log
	for i in {1..40}; do
		name=storm$i
		case $((i % 4)) in
		0) cluster_site < <(site_named "$name") ;;
		1) site_named "$name" | head -c 150 > "$C/etc/sched.lua" ;;
		2) site_named "$name" > "$C/etc/sched.lua" ;;
		3) rm "$C/etc/sched.lua" ;;
		esac
		scontrol reconfigure
		[ $((i % 8)) = 4 ] || continue
		ids+=("$(FOR=0 recorded -n1 -t1 --no-requeue)")
		wait_for 20 job_done "${ids[-1]}"
	done
	wait_for 20 status_is policy storm40
	wait_for 20 status_is source site
	ran_once "${ids[@]}"
	# none that was cut off was ever live
	for i in {1..40..4}; do fails log_said "policy storm$i loaded"; done
	same_slurmctld
	cluster_default_site
}
it "a site file that is edited in a storm of reconfigurations: the last one is live, and no part of one" edited_in_a_storm

bad_conf() {
	cp "$C/etc/slurm.conf" "$C/etc/slurm.conf.good"
	cluster_conf "SelectTypeParameters=CR_Nonsense"
	scontrol reconfigure 2>&1 || true
	mv "$C/etc/slurm.conf.good" "$C/etc/slurm.conf"
	# (it may be on its way out)
	wait_for 60 eval 'cluster_ctld_answers || ! cluster_ctld_pid > /dev/null'
	cluster_ctld_pid > /dev/null || cluster_ctld_start
	scontrol reconfigure
	starts "$(submit -N1)" 20
}
it "a slurm.conf that Slurm refuses, then repaired: jobs start" bad_conf

main_scheduler_on() {
	local id params
	needs_lua
	params=$(sed -n 's/^SchedulerParameters=//p' "$C/etc/slurm.conf")
	mark_log
	cluster_conf "SchedulerParameters=defer"
	scontrol reconfigure
	wait_for 10 log_said 'add .*SchedulerParameters=sched_interval=-1'
	wait_for 10 status_is source idle
	cluster_conf "SchedulerParameters=$params"
	scontrol reconfigure
	id=$(submit -N1)
	starts "$id" 15
}
it "with slurmctld's own scheduler on it starts nothing and says the line to add" main_scheduler_on

engine_stopped() {
	needs_lua
	needs_engine
	local ctld params
	params=$(sed -n 's/^SchedulerParameters=//p' "$C/etc/slurm.conf")
	cluster_conf SchedulerParameters=defer,sched_interval=-1,lua_budget=1
	scontrol reconfigure
	ctld=$(cluster_ctld_pid)
	wait_for 10 engine_lives
	kill -STOP "$(engine_pid)"
	starts "$(submit -N1)" 10
	wait_for 15 status_is source site
	starts "$(submit -N1)" 5
	wait_for 20 log_has 'engine failed: .*no answer in time'
	wait_for 20 eval 'schedlua status | grep -q "^engine kills  *[1-9]"'
	[ "$(cluster_ctld_pid)" = "$ctld" ]
	cluster_conf "SchedulerParameters=$params"
	scontrol reconfigure
}
it "the engine stopped with SIGSTOP is replaced and jobs start" engine_stopped

engine_killed() {
	needs_lua
	needs_engine
	local i ids=() ctld pid
	ctld=$(cluster_ctld_pid)
	for i in {1..40}; do
		ids+=("$(FOR=0 submit -n1)")
		[ $((i % 4)) != 0 ] || ! pid=$(pgrep -P "$ctld" -f 'schedlua engine') || kill -9 "$pid" || true
	done
	wait_for 60 none_active
	for i in "${ids[@]}"; do
		job_is "$i" COMPLETED
		[ "$(job_get "$i" Restarts)" = 0 ]
	done
	[ "$(cluster_ctld_pid)" = "$ctld" ]
}
it "the engine killed again and again while it decides: every job runs, once" engine_killed

live_end
