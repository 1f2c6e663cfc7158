#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Flags and limits of QOS and partitions that a scheduler has to heed: each scene under sched/backfill, then under
# sched/lua.
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
needs_plugin
needs_database
# (slurmctld 26.05 does not start where a partition has a QOS that the database does not know.)
LIMITED="PartitionName=limited Nodes=ALL MaxTime=INFINITE State=UP"
live_begin 8 "$LIMITED" \
	"PartitionName=noroot Nodes=ALL MaxTime=INFINITE State=UP DisableRootJobs=YES" \
	"PartitionName=booked Nodes=ALL MaxTime=INFINITE State=UP ReqResv=YES"

export SBATCH_ACCOUNT=lab

qos() { sacctmgr -i -Q add qos "$@" > /dev/null; }

# What is wanted of PreemptExemptTime is that it is longer than the gap, and of GraceTime that it can be waited for.
accounting_up() {
	database_up && sacctmgr -i -Q add account lab > /dev/null && sacctmgr -i -Q add user root account=lab > /dev/null &&
		qos partqos GrpTRES=cpu=8 && qos above GrpTRES=cpu=16 Flags=OverPartQOS && qos booked Flags=RequiresReservation &&
		qos standby Flags=NoReserve && qos safe Flags=NoReserve PreemptExemptTime=08:00:00 &&
		qos graced GraceTime=20 && qos modest MinPrioThres=1000 &&
		sacctmgr -i -Q modify qos normal set Preempt=standby,safe,graced > /dev/null &&
		sacctmgr -i -Q modify user root set qos=normal,above,booked,standby,safe,graced,modest > /dev/null || return 1
	! slurm_since 23.11 || { qos tenth GrpTRES=cpu=50 Flags=Relative &&
		sacctmgr -i -Q modify user root set qos+=tenth > /dev/null; } || return 1
	cluster_conf "$LIMITED QOS=partqos"
	database_enforce associations,limits,qos
}

# slurmctld anew, under that scheduler, with that preemption.
restart() { # stock|lua none|qos
	local type=sched/backfill plugins=$SL_SLURM_PLUGINS mode=OFF
	local parameters=bf_interval=1,sched_interval=1,sched_min_interval=0
	[ "$1" = stock ] || type=sched/lua plugins=$SL_PLUGINDIR:$plugins parameters=defer,sched_interval=-1
	[ "$2" = none ] || mode=REQUEUE
	cluster_ctld_kill
	cluster_conf "SchedulerType=$type" "SchedulerParameters=$parameters" "PluginDir=$plugins" \
		"PreemptType=preempt/$2" PreemptMode=$mode
	cluster_ctld_start
	wait_for 30 knows_cluster
	wait_for 60 cluster_nodes_ready "$NODES"
}

# -------------------------------------------------------------------- the scenes

half_full() { starts "$(submit -N4 --exclusive -t 60)"; }
waits_for() { wait_for 20 job_waits_for "$1" "$2"; }
refuses() { # sbatch must not take it
	fails submit "$@"
}

reserves_nothing() { # QOS
	local standby
	half_full
	standby=$(submit -N8 --exclusive -t 60 --priority=100 --qos="$1")
	waits_for "$standby" '^(Resources|Priority)$'
	starts "$(submit -N4 --exclusive -t 600 --priority=50)" 30
	job_is "$standby" PENDING
}

has_reserved() {
	half_full
	HEAD=$(submit -N8 --exclusive -t 60)
	waits_for "$HEAD" '^(Resources|Priority)$'
}

fills_gaps() {
	has_reserved
	starts "$(submit -N2 --exclusive -t 600 --qos=standby)" 30
	stays_pending "$(submit -N2 --exclusive -t 600)"
	job_is "$HEAD" PENDING
}

# Select chooses its nodes, those that are reserved for later among them.
fills_gaps_by_select() {
	local id
	has_reserved
	id=$(submit -N1-2 -n2 --use-min-nodes -m plane=2 -t 600 --qos=standby)
	starts "$id" 30
	[ "$SCHEDULER" = stock ] || { wait_for 60 was_explained "$id" && schedlua explain "$id" | grep 'select picks'; }
	job_is "$HEAD" PENDING
}

is_preempted() {
	local first standby
	first=$(submit -N4 --exclusive -t 60)
	starts "$first"
	HEAD=$(submit -N8 --exclusive -t 60)
	waits_for "$HEAD" '^(Resources|Priority)$'
	standby=$(submit -N2 --exclusive -t 600 --qos=standby)
	starts "$standby" 30
	scancel "$first"
	starts "$HEAD" 60
	wait_for 20 job_is "$standby" PENDING
}

# The first job can start when the one of an hour ends: what runs beside will be preempted then.
is_expected_soon() {
	local low
	starts "$(submit -N4 --exclusive -t 60)"
	low=$(submit -N2 --exclusive -t 600 --qos=graced)
	starts "$low"
	HEAD=$(submit -N8 --exclusive -t 60)
	wait_for 30 starts_within "$HEAD" 4000
	stays_pending "$(submit -N2 --exclusive -t 600)"
	job_is "$low" RUNNING
}
starts_within() { # JOBID SECONDS
	local at
	at=$(date -d "$(squeue -h -j "$1" -o %S)" +%s 2> /dev/null) && [ $((at - $(date +%s))) -le "$2" ]
}

# (Under stock it would start, and keep the first job waiting for eight hours.)
safe_is_no_filler() {
	has_reserved
	stays_pending "$(submit -N2 --exclusive -t 600 --qos=safe)"
}

safe_for_long() {
	local safe
	safe=$(submit -N8 --exclusive -t 600 --qos=safe)
	starts "$safe"
	stays_pending "$(submit -N8 --exclusive -t 60)"
	job_is "$safe" RUNNING
}

graced() {
	local low high
	low=$(submit -N8 --exclusive -t 600 --qos=graced)
	starts "$low"
	high=$(submit -N8 --exclusive -t 60)
	stays_pending "$high"
	starts "$high" 90
	wait_for 20 job_is "$low" PENDING COMPLETED FAILED CANCELLED PREEMPTED
}

partition_limit() {
	local second
	starts "$(submit -p limited -n8)"
	second=$(submit -p limited -n4)
	waits_for "$second" '^QOSGrpCpuLimit$'
	starts "$(submit -p limited -n8 --qos=above)"
	stays_pending "$second"
}

relative() {
	local half=$((NODES * $(sinfo -h -N -n n001 -o %c | head -n 1) / 2)) over
	starts "$(submit -n "$half" --qos=tenth)"
	over=$(submit -n1 --qos=tenth)
	waits_for "$over" '^QOSGrpCpuLimit$'
}

needs_reservation() { # OPTION
	refuses "$1" -N1
	scontrol create reservation ReservationName=mine StartTime=now Duration=60 Users=root Nodes=n001 > /dev/null
	starts "$(submit "$1" -N1 -t 5 --reservation=mine)"
}

not_for_root() {
	refuses -p noroot -N1
	chmod 755 "$C"
	(cd /tmp && fails setpriv --reuid="$STRANGER" --clear-groups env HOME=/tmp sbatch -p noroot -A none --wrap true)
}

scenes_of_none() { # SCHEDULER
	it "under $1 nothing is reserved for a job of a QOS with NoReserve" reserves_nothing standby
	it "under $1 nor for one whose priority is below MinPrioThreshold" reserves_nothing modest
	it "under $1 the QOS of a partition limits its jobs, but those of a QOS with OverPartQOS" partition_limit
	it "under $1 a QOS with RequiresReservation is for jobs of reservations" needs_reservation --qos=booked
	it "under $1 a partition with ReqResv is for jobs of reservations" needs_reservation --partition=booked
	it "under $1 root's jobs are refused where DisableRootJobs says so" not_for_root
	! slurm_since 23.11 || it "under $1 a limit may be relative to the machine" relative
}

scenes_of_qos() { # SCHEDULER
	it "under $1 a job with NoReserve starts beside what is reserved for who may preempt it" fills_gaps
	it "under $1 so does one whose nodes select chooses" fills_gaps_by_select
	it "under $1 it is preempted when that one's time has come" is_preempted
	it "under $1 a job is expected when those that it may not preempt have ended" is_expected_soon
	it "under $1 PreemptExemptTime keeps a job from being preempted" safe_for_long
	it "under $1 GraceTime passes before others have the nodes of one that is preempted" graced
}

accounting_up || { echo "Bail out! the accounting database did not come up"; exit 1; }
for SCHEDULER in stock lua; do
	restart $SCHEDULER none
	scenes_of_none $SCHEDULER
	restart $SCHEDULER qos
	scenes_of_qos $SCHEDULER
done
it "what may not be preempted for long starts beside no reservation" safe_is_no_filler

live_end
