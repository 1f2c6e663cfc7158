#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A place is held for a job, and nodes come free elsewhere: the job starts there, which is earlier, and nobody else waits for its place.
. "${0%/*}/live.sh"
needs_plugin
KILLER=$SL_BUILD/t/live/.libs/kill_at.so
[ -f "$KILLER" ] || skip_all "t/live/kill_at.so is not built"
live_begin 8 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=90" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"
needs_engine
HELD=$C/state/schedlua/held

reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.preempt {}, "easy" } }
EOL
wait_for 20 status_is source site

low() { sbatch --parsable --output=/dev/null -J low -p low -t 60 --requeue --exclusive "$@" --wrap 'exec sleep 3000'; }
all_run() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
told() { local id; for id; do [[ $(job_get "$id" PreemptTime) == 2* ]] || return 1; done; }
left_alone() { local id; for id; do job_is "$id" RUNNING && [ "$(job_get "$id" Restarts)" = 0 ] && ! told "$id" || return 1; done; }
restarted_once() { local id; for id; do [ "$(job_get "$id" Restarts)" = 1 ] || return 1; done; }
is_held() { grep -q "^P[[:space:]]$1[[:space:]]" "$HELD" 2> /dev/null; }
victims_of() { awk -v job="$1" '$1 == "S" && $3 == job { print $2 }' "$HELD"; }

earlier() {
	local ids=() job victims others id next
	for _ in $(seq 8); do ids+=("$(low -N1)"); done
	wait_for 30 all_run "${ids[@]}"
	job=$(submit -p high -N3 --exclusive -t 60)
	wait_for 20 is_held "$job"
	mapfile -t victims < <(victims_of "$job")
	[ ${#victims[@]} = 3 ]
	wait_for 10 told "${victims[@]}"
	others=()
	for id in "${ids[@]}"; do [[ " ${victims[*]} " == *" $id "* ]] || others+=("$id"); done
	scancel "${others[@]:0:3}"
	starts "$job" 20
	all_run "${victims[@]}"		# GraceTime goes on
	wait_for 20 log_has "JobId=$job has started earlier on other nodes than the place that is held for it, which is released; jobs that were told"
	wait_for 10 status_is places ""
	# what comes free is for the next one, for whom nobody else is stopped
	next=$(submit -p high -N3 --exclusive -t 60)
	starts "$next" 180
	wait_for 20 restarted_once "${victims[@]}"
	left_alone "${others[@]:3}"
}
it "a job starts earlier elsewhere, its place is released, and whoever comes next has what is freed" earlier

# Three nodes are reserved for two minutes. slurmctld is killed when the book has the victims, and before the first is told. When it is
# back the nodes are free, and the job starts there. (The job may not start before slurmctld has saved it and the reservation.)
before_signal() {
	local ids=() job pid end i
	for i in 1 2 3 4 5; do ids+=("$(low -w "n00$i")"); done
	wait_for 30 all_run "${ids[@]}"
	wait_for 30 are_launched "${ids[@]}"
	cluster_ctld_kill
	rm -f "$C/killed" "$C/armed"
	LD_PRELOAD=$KILLER SL_KILL_AT="renamed $HELD;" SL_KILL_WHOM=slurmctld SL_KILL_FROM=$C/armed SL_KILL_SAYS=$C/killed cluster_ctld_start
	wait_for 60 cluster_nodes_ready 8
	pid=$(cluster_ctld_pid)
	end=$(($(date +%s) + 120))
	scontrol create reservation ReservationName=late StartTime=now EndTime="$(date -d "@$end" +%Y-%m-%dT%H:%M:%S)" Users=nobody \
		Nodes=n00[6-8] > /dev/null
	scontrol update PartitionName=high State=DOWN
	job=$(submit -p high -N3 --exclusive -t 60)
	cluster_save_jobs "${ids[0]}"
	wait_for 60 grep -qaF late "$C/state/resv_state"
	touch "$C/armed"
	scontrol update PartitionName=high State=UP
	wait_for 60 eval '[ -e '"$C/killed"' ]'
	wait_for 20 cluster_gone "$pid"
	is_held "$job"
	wait_for 150 eval '[ "$(date +%s)" -gt '$((end + 1))' ]'
	# (The nodes are back one after the other: as long as one of the three is not, somebody could be stopped in its place.)
	cluster_site <<-'EOL'
		local sched = require "sched"
		return sched.site { interval = 0.5, default = { sched.preempt { after = "1h" }, "easy" } }
	EOL
	cluster_ctld_start
	starts "$job" 60
	wait_for 20 log_has "the place that is held for JobId=$job is given up: those that were to be stopped for it are not: (it starts elsewhere|the plan releases it)"
	wait_for 10 status_is places ""
	left_alone "${ids[@]}"
	[ -z "$(victims_of "$job")" ]
}
it "nobody is told after a restart of slurmctld to end for a job that starts without that" before_signal
unset LD_PRELOAD

live_end
