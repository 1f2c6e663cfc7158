#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Jobs that a plan stops for others, and the place that is held until these start: against a flood of jobs, over the end of
# the engine and of slurmctld. The engine is t/plugin/fake_engine, in which the names of jobs say who is stopped for whom
# (t/plugin/fake_stops.h), and which has select put jobs with other names wherever it likes.
. "${0%/*}/live.sh"
. "${0%/*}/preempt.sh"
needs_plugin
STOCK=bf_interval=1,sched_interval=1,sched_min_interval=0,default_queue_depth=2000
# Under that name heterogeneous jobs are accepted. What is requeued waits for as long as credentials last.
live_begin 8 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=graced Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=30" \
	"PartitionName=patient Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=3000" \
	"PartitionName=paused Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=killed Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=top Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=20 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE "SchedulerParameters=$LUA" \
	SchedulerType=sched/backfill "PluginDir=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$SL_SLURM_PLUGINS"
stops_begin

restart() { # lua|stock|shadow
	local parameters=$LUA plugins=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$SL_SLURM_PLUGINS
	[ "$1" != stock ] || parameters=$STOCK plugins=$SL_SLURM_PLUGINS
	[ "$1" != shadow ] || parameters=$STOCK,lua_shadow=backfill,${LUA#*-1,}
	cluster_conf "SchedulerParameters=$parameters" "PluginDir=$plugins"
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
}
fresh() { cluster_ctld_kill; restart "$1"; }

starts_of() { grep -c "sched/lua: started JobId=$1 " "$C/log/slurmctld.log"; }

# ------------------------------------------------------------------------ scenes

requeues() {
	local job stops
	machine low
	stops=$(status stops)
	job=$(take take_v -N4)
	starts "$job" 60
	in_place "$job"
	wait_for 20 requeued_once "${V[@]}"
	left_alone "${REST[@]}"
	gives_up
	wait_for 10 eval '[ "$(status stops)" = '$((stops + 4))' ]'
	grep -qE "\"stopped\": ?\[\{\"job\": ?${V[0]}, ?\"preemptor\": ?$job," "$C/state/schedlua/decisions.jsonl"
	wait_for 10 eval 'schedlua status | grep -q "^jobs stopped "'
	wait_for 10 eval 'schedlua status --openmetrics | grep -q "^schedlua_stops_total [1-9]"'
	[ "$(starts_of "$job")" = 1 ]
}
it "victims are requeued exactly once and whole, and nobody else is" requeues

all_cancelled() { local id; for id; do job_is "$id" PREEMPTED CANCELLED || return 1; done; }
cancels() {
	local job
	machine killed
	job=$(take take_v -N4)
	starts "$job" 60
	wait_for 20 all_cancelled "${V[@]}"
	left_alone "${REST[@]}"
}
it "victims are cancelled where Slurm has that mode" cancels

graced() {
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	wait_for 10 all_told "${V[@]}"
	runs_all "${V[@]}"
	wait_for 10 job_waits_for "$job" 'waits for 4 jobs that are being stopped for it'
	wait_for 10 status_says places "JobId=$job: .*, 4 jobs left"
	job_is "$job" PENDING
	starts "$job" 90
	in_place "$job"
	wait_for 20 requeued_once "${V[@]}"
	left_alone "${REST[@]}"
}
it "GraceTime passes between being told to end and being ended" graced

flooded() {
	local job
	machine graced 2
	flood_is_ready 40
	job=$(take take_v -N4)
	is_held "$job"
	flood_comes
	wait_for 20 has_ended "${V[0]}"
	wait_for 20 has_ended "${V[1]}"
	stays_pending "$job"
	none_on "$PLACE"
	starts "$job" 90
	in_place "$job"
	none_on "$PLACE"
	left_alone "${REST[@]}"
	# they ended by themselves, and were not stopped once more (later releases requeue who ends within its GraceTime)
	[ "$(job_get "${V[0]}" Restarts)" -le 1 ]
}
it "the place is held against a flood of jobs that select places" flooded

gang_of_het() {
	local job id
	id=$(sbatch --parsable --output=/dev/null -J v -p low -t 60 --requeue -N2 --exclusive : -J v -p low -N2 --exclusive \
		--wrap 'exec sleep 3000')
	wait_for 30 eval '[ "$(squeue -h -j '"$id"' -t R -o %i | wc -l)" = 2 ]'
	PLACE=$(squeue -h -j "$id" -o %N | paste -sd,)
	job=$(take gang_v -N4)
	starts "$job" 60
	in_place "$job"
	wait_for 20 eval '[ "$(squeue -h -j '"$id"' -t PD -o %i | wc -l)" = 2 ]'
	[ "$(scontrol -o show job "$id" | grep -c ' Restarts=1 ')" = 2 ]
}
it "all components of a heterogeneous job are stopped together" gang_of_het

cancelled() {
	local job
	machine patient
	job=$(take take_v -N4)
	is_held "$job"
	scancel "$job"
	gives_up
	wait_for 10 log_has "the place that is held for JobId=$job is given up: the job is gone"
	scancel "${V[@]}"
	flood 4
	wait_for 60 floods
}
it "the place is given up when its job is cancelled" cancelled

held_by_user() {
	local job
	machine patient
	job=$(take take_v -N4)
	is_held "$job"
	scontrol hold "$job"
	gives_up
}
it "the place is given up when its job is held" held_by_user

requeues_itself() {
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	wait_for 10 all_told "${V[@]}"
	scontrol requeue "${V[0]}"
	starts "$job" 90
	in_place "$job"
	wait_for 20 requeued_once "${V[@]}"
	left_alone "${REST[@]}"
}
it "a victim whose user requeues it meanwhile is stopped once" requeues_itself

brief() {
	local job
	machine patient
	job=$(take brief_v -N4)
	wait_for 20 log_has "a place is held for JobId=$job"
	wait_for 20 log_has "the place that is held for JobId=$job is given up: its time is over"
	gives_up
}
it "the place is given up when its time is over" brief

engine_dies() {
	local job pid
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	wait_for 20 engine_lives
	pid=$(engine_pid)
	kill -9 "$pid"
	flood 20
	wait_for 20 cluster_gone "$pid"
	starts "$job" 90
	in_place "$job"
	wait_for 20 requeued_once "${V[@]}"
}
it "the place is held when the engine is killed" engine_dies

without_engine() {
	local job pid
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	wait_for 20 engine_lives
	pid=$(engine_pid)
	mv "$FAKE" "$FAKE.away"
	kill -9 "$pid"
	wait_for 20 status_is source fallback
	flood 20
	starts "$job" 90
	in_place "$job"
	none_on "$PLACE"
	well
}
it "the place is held while nobody but the plug-in decides, which starts the job there" without_engine

killed_between() { # SCHEDULER it comes up with
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	wait_for 10 all_told "${V[@]}"
	saves_jobs
	cluster_ctld_kill KILL
	holds_for "$job"
	restart "$1"
	JOB=$job
}
survives() {
	killed_between lua
	flood 20
	holds_for "$JOB"
	starts "$JOB" 90
	in_place "$JOB"
	none_on "$PLACE"
	wait_for 30 requeued_once "${V[@]}"
	left_alone "${REST[@]}"
	[ "$(starts_of "$JOB")" = 1 ]
}
it "slurmctld is killed between signal and start: the place is held, nobody is stopped or started twice" survives

blocks_nothing() {
	killed_between stock
	wait_for 90 has_ended "${V[0]}"
	starts "$JOB" 90
	fresh lua
	gives_up
}
it "where another scheduler comes up nothing is left that blocks" blocks_nothing

shadowed() {
	local job
	fresh shadow
	wait_for 20 status_is shadow backfill
	machine main
	scontrol update PartitionName=main PreemptMode=REQUEUE
	job=$(take take_v -N4)
	wait_for 20 eval "grep -qE '\"preemptor\": ?$job,.*\"fate\": ?\"shadow\"' $C/state/schedlua/decisions.jsonl"
	holds_nothing
}
it "in shadow mode it is said who would have been stopped" shadowed

with_gang_scheduling() {
	! grep -q '^PreemptMode=SUSPEND' "$C/etc/slurm.conf" || return 0
	cluster_ctld_kill
	cluster_conf PreemptMode=SUSPEND,GANG \
		"PartitionName=paused Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=SUSPEND"
	restart lua
}
suspends() {
	local job
	with_gang_scheduling
	SHARED=1 machine paused	# (no job is put beside one that has its node for itself)
	job=$(submit -J take_v -p high -t 60 -N4 -n4)
	starts "$job" 30
	in_place "$job"
	for id in "${V[@]}"; do wait_for 20 job_is "$id" SUSPENDED; done
	left_alone "${REST[@]}"
	holds_nothing
	scancel "$job"
	ids_run "${V[@]}"
	left_alone "${V[@]}"
}
it "where gang scheduling suspends victims the job starts beside them, and they go on afterwards" suspends

# On each of two nodes a victim has four cores, and another job, which Slurm would stop for the one that waits, the others.
beside() { # PARTITION of those others
	local i
	with_gang_scheduling
	well
	V=() REST=()
	for i in 1 2; do
		V+=("$(victim v paused -N1 -n4 -w "n00$i")")
		REST+=("$(victim rest "$1" -N1 -n4 -w "n00$i")")
	done
	ids_run "${V[@]}" "${REST[@]}"
}
not_beside() { grep -qE "\"stopped\": ?\[\{\"job\": ?[0-9]+, ?\"preemptor\": ?$1,.*on its nodes could be preempted instead" "$C/state/schedlua/decisions.jsonl"; }
spares_others() {
	local job
	beside low
	job=$(submit -J take_v -p high -t 60 -N2 -n16)
	wait_for 30 not_beside "$job"
	stays_pending "$job"
	left_alone "${REST[@]}" "${V[@]}"
}
it "select does not requeue others in the place of those that are suspended" spares_others

suspends_no_others() {
	local job
	beside paused
	job=$(submit -J take_v -p high -t 60 -N2 -n8)
	wait_for 30 not_beside "$job"
	stays_pending "$job"
	left_alone "${REST[@]}" "${V[@]}"
	scancel "${REST[@]}"
	starts "$job" 60
}
it "nor are others suspended in their place" suspends_no_others
cluster_conf PreemptMode=REQUEUE "PartitionName=paused Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE"

# Those that are stopped for one job make room for others, for whom more are stopped.
stock_loses() {
	local job
	fresh stock
	V=()
	for _ in $(seq 8); do V+=("$(victim v graced -N1 --exclusive)"); done
	ids_run "${V[@]}"
	flood_is_ready 40 top
	job=$(submit -J take_v -p high -N4 --exclusive -t 60)
	wait_for 30 eval '[ "$(squeue -h -t R -n v -o %i | while read -r id; do told "$id" && echo; done | wc -l)" -ge 4 ]'
	flood_comes
	wait_for 90 floods
	job_is "$job" PENDING
}
it "under sched/backfill a flood has the nodes that were freed for another job" stock_loses

live_end
