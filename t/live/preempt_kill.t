#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurmctld, or the engine, is killed after each single step from the plan to stop others to the start of the job that they are
# stopped for (t/live/kill_at.c). Then: nothing is lost, nobody is started or stopped twice, the place is held, and nobody slips in.
#
# SL_STEPS   "first last": of the steps only these, by number (the first seven; the others are preempt_kill_late.t's)
# SL_WHOM    who is killed: slurmctld (default), or the engine (preempt_kill_engine.t)
. "${0%/*}/live.sh"
. "${0%/*}/audit.sh"
. "${0%/*}/preempt.sh"
needs_plugin
KILLER=$SL_BUILD/t/live/.libs/kill_at.so
[ -f "$KILLER" ] || skip_all "t/live/kill_at.so is not built"
live_begin 8 "PartitionName=graced Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=4" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE "SchedulerParameters=$LUA" SlurmctldDebug=debug
stops_begin

# slurmctld anew, which kills itself, or its engine, when that has happened.
armed() { # slurmctld|engine STEPS
	cluster_ctld_kill
	rm -f "$C/killed" "$C/armed"
	LD_PRELOAD=$KILLER SL_KILL_AT=$2 SL_KILL_WHOM=$1 SL_KILL_FROM=$C/armed SL_KILL_SAYS=$C/killed cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
}
is_killed() { [ -e "$C/killed" ]; }

# Two of the victims end when they are told to, two when GraceTime is over. Nobody is stopped before all of this is saved.
plan_comes() { # the job is in JOB
	echo ok > "$FAKE.mode"
	machine graced 2
	JOB=$(take take_v -N4)
	stays_pending "$JOB"
	saves_jobs
	touch "$C/armed"
	echo stops > "$FAKE.mode"
	wait_for 60 is_killed
}

all_stopped() {
	local id
	for id in "${V[@]}"; do
		fails job_is "$id" RUNNING COMPLETING || return 1
		[ "$(job_get "$id" Restarts)" -le 1 ] || return 1
	done
	requeued_once "${V[@]:2}"
}
all_is_well() {
	none_on "$PLACE"
	starts "$JOB" 120
	in_place "$JOB"
	none_on "$PLACE"
	wait_for 60 all_stopped
	left_alone "${REST[@]}"
	wait_for 20 ran_once "$JOB" "${V[@]}" "${REST[@]}"
	audit_allocations
	wait_for 20 status_is places ""
	job_is "$JOB" RUNNING
}

killed_at() { # STEPS
	local pid
	: > "$C/ran"
	armed slurmctld "$1"
	pid=$(cluster_ctld_pid)
	plan_comes
	wait_for 20 cluster_gone "$pid"
	cluster_ctld_start
	flood 12
	all_is_well
}
engine_killed_at() { # STEPS
	: > "$C/ran"
	armed engine "$1"
	CTLD=$(cluster_ctld_pid)
	plan_comes
	flood 12
	all_is_well
	same_slurmctld
}

# ----------------------------------------------------------------------------------- the steps

TOLD='preemption grace time for'
ENDED='to reclaim resources for'
STEPS=(
	"the place is planned"			"a place is held for JobId"
	"the place is on the disk"		"renamed $C/state/schedlua/held;"
	"the first is about to be told"		"is stopped for JobId"
	"the first is being told"		"$TOLD"
	"the second is about to be told"	"is stopped for JobId|is stopped for JobId"
	"three are told"			"$TOLD|$TOLD|$TOLD|is stopped for JobId"
	"the last is being told"		"$TOLD|$TOLD|$TOLD|$TOLD"
	"one has ended by itself"		"$TOLD|$TOLD|$TOLD|$TOLD|_job_complete: JobId="
	"the first was made to end"		"has been requeued $ENDED"
	"the last was made to end"		"has been requeued $ENDED|has been requeued $ENDED"
	"the job is about to be put there"	"is put on the place"
	"the job has started"			"is put on the place|started JobId="
	"the start is saved"			"is put on the place|started JobId=|renamed $C/state/job_state;"
)
read -r FIRST LAST <<< "${SL_STEPS:-1 7}"

case ${SL_WHOM:-slurmctld} in
slurmctld) KILLED=killed_at AT=$(seq 0 $((${#STEPS[@]} / 2 - 1))) ;;
engine) KILLED=engine_killed_at AT="1 5 7 9 10 11" ;;
esac
for i in $AT; do
	((i >= FIRST - 1 && i < LAST)) || continue
	it "${SL_WHOM:-slurmctld} is killed when ${STEPS[2 * i]}" "$KILLED" "${STEPS[2 * i + 1]}"
done
unset LD_PRELOAD

live_end
