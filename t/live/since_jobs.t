#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What jobs, reservations and preemption have since 23.02: a scene runs under Slurm's own schedulers and under
# sched/lua, on the releases that have what it is about, and nodes, order and expected starts are the same.
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
. "${0%/*}/database.sh"
needs_plugin
beside_live_begin "PartitionName=other Nodes=n[001-002] MaxTime=INFINITE State=UP PriorityTier=1" \
	SelectTypeParameters=CR_Core_Memory Licenses=iop:4,tool:2 PrologFlags=Contain

# -- requeued jobs -------------------------------------------------------------------

# A job fails, and so does the epilog of its node, which is drained: the job is requeued and goes before all others.
expedite_scene() {
	local first second last
	rm -f "$C/failed"
	cluster_slurmd_kill n001	# it reads of the epilog
	cluster_slurmd_start n001
	holds -N6 --exclusive -w 'n[003-008]' > /dev/null
	last=$(holds -N1 --exclusive -w n002)
	first=$(sbatch --parsable -o /dev/null --requeue=expedite --priority=10 -N1 --exclusive --wrap \
		"[ -e $C/failed ] && exec sleep 600; sleep 3; exit 1")
	starts "$first" 30
	echo "it runs on $(job_nodes "$first")"
	second=$(submit -N1 --exclusive --priority=1000000 -t 5)
	stays_pending "$second"
	wait_for 60 job_is "$first" PENDING EXPEDITING
	stays_pending "$second"
	scancel "$last"
	wait_for 60 job_is "$first" RUNNING
	echo "requeued it runs on $(job_nodes "$first"), the other one is $(job_state "$second")"
	as_planned "$first"
}
expedite() {
	needs 25.11 --requeue=expedite
	printf '#!/bin/sh\n[ "$SLURMD_NODENAME" != n001 ] || [ -e %s ] || { touch %s; exit 1; }\n' "$C/failed" "$C/failed" > "$C/epilog"
	chmod 755 "$C/epilog"
	same_as_stock expedite_scene SlurmctldParameters=enable_expedited_requeue "Epilog=$C/epilog"
}
it "--requeue=expedite: a job that is requeued goes before all others" expedite

# -- memory --------------------------------------------------------------------------

memory_scene() {
	local first
	first=$(submit -N1 -n1 --mem=3000 -w n001)
	starts "$first" 30
	as_planned "$first"
	second=$(submit -N1 -n1 --mem=3000 -w n001)
	stays_pending "$second"
	scontrol update "JobId=$first" MinMemoryNode=500
	starts "$second" 30
	echo "the second one runs on $(job_nodes "$second")"
	got -N1 -n1 --mem=500 -w n001
	got -N1 -n1 --mem=3500
}
memory() {
	needs 26.05 "memory of a running job that shrinks"
	same_as_stock memory_scene
}
it "a job whose memory is shrunk while it runs leaves it to others" memory

update_scene() {
	got -N1 -n1 --mem=3000 -w n001 --mem-update=10@1
	stays_pending "$(submit -N1 -n1 --mem=3000 -w n001)"
	got -N1 -n1 --mem=3000 --mem-update=10@1
}
update() {
	needs 26.05 --mem-update
	same_as_stock update_scene
}
it "--mem-update: a job is planned with the memory that it asks for" update

# -- licences --------------------------------------------------------------------------

reclaim_scene() {
	local low high
	low=$(submit -p main -n1 -L tool:2 -w n001)
	starts "$low" 30
	waits_for_tool=$(submit -p main -n1 -L tool:1)
	stays_pending "$waits_for_tool"
	high=$(submit -p above -n1 -L tool:2 -w n002)
	starts "$high" 60
	echo "the one above runs on $(job_nodes "$high"), the other one is $(job_state "$low")"
	job_is "$waits_for_tool" PENDING
}
reclaim() {
	needs 23.02 reclaim_licenses
	same_as_stock reclaim_scene PreemptType=preempt/partition_prio PreemptMode=REQUEUE PreemptParameters=reclaim_licenses
}
it "reclaim_licenses: a job gets licences by preemption" reclaim

# -- preemption --------------------------------------------------------------------------

higher_scene() { priority_scene main above; }
priority() {
	needs 25.05 PreemptMode=PRIORITY
	same_as_stock higher_scene PreemptType=preempt/partition_prio PreemptMode=REQUEUE,PRIORITY
}
it "PreemptMode=PRIORITY: a job preempts jobs of lower priority, and is told when it can start otherwise" priority

# -- reservations ------------------------------------------------------------------------

allowed_scene() {
	local id
	scontrol create reservation ReservationName=parts StartTime=now Duration=60 "Nodes=n[001-002]" AllowedPartitions=other > /dev/null
	id=$(submit -p main -n1 -w n001 -t 5)
	stays_pending "$id"
	got -p other -n1 --reservation=parts -t 5
	got -p main -n1 -t 5
	echo "the one of the other partition is $(job_state "$id")"
}
allowed() {
	needs 25.11 "AllowedPartitions of a reservation"
	same_as_stock allowed_scene
}
it "AllowedPartitions of a reservation: jobs of such a partition may start in it" allowed

# It began an hour ago, and comes again each day.
forced_scene() {
	local id
	scontrol create reservation ReservationName=daily "StartTime=$(date -d '-10 minutes' +%FT%T)" Duration=60 "Nodes=n[001-004]" \
		Users=root Flags=DAILY,FORCE_START > /dev/null
	id=$(submit -n1 -w n001 -t 5)
	stays_pending "$id"
	got -n1 --reservation=daily -t 5
	got -N4 --exclusive -t 5
	echo "the one on its nodes is $(job_state "$id")"
}
forced() {
	needs 25.05 FORCE_START
	same_as_stock forced_scene
}
it "FORCE_START: a reservation that began before it was made counts" forced

# -- nodes of others -----------------------------------------------------------------------

# A node of State=EXTERNAL is for external jobs alone.
external_scene() {
	local id
	scontrol create NodeName=e001 State=EXTERNAL CPUs=4 RealMemory=4000 > /dev/null
	got -N8 --exclusive
	id=$(submit -N1 -n1)
	stays_pending "$id"
	scontrol update "JobId=$id" ReqNodeList=n003
	scancel -n wrap -t R
	starts "$id" 30
	echo "then: $(layout "$id")"
	as_planned "$id"
	id=$(timeout 20 sbatch --parsable --external -N1 -n2 -w e001 </dev/null)
	starts "$id" 30
	echo "the external one runs on $(job_nodes "$id")"
	scancel "$id"
	wait_for 30 is_idle e001
	scontrol delete NodeName=e001 > /dev/null
}
external() {
	needs 25.11 "external node"
	same_as_stock external_scene MaxNodeCount=20
}
it "nodes of external jobs are theirs alone" external

# -- with an accounting database --------------------------------------------------------------

accounting_up() {
	database_with_root && sacctmgr -i -Q add qos fast > /dev/null && sacctmgr -i -Q modify user root set qos=normal,fast > /dev/null &&
		cluster_conf AccountingStorageTRES=license/iop,license/tool && database_enforce associations,limits,qos
}
database_begin accounting_up

task_licenses_scene() {
	local first
	first=$(submit -n2 -t 30 --tres-per-task=cpu=1,license/iop=1 -w n001)
	starts "$first" 30
	waits_expected "$first" -n3 --tres-per-task=cpu=1,license/iop=1
	got -n1 --tres-per-task=cpu=1,license/iop=1
}
waits_expected() { # HOLDER OPTION...
	local id
	id=$(submit -t 10 "${@:2}")
	stays_pending "$id"
	echo "${*:2}: expected $(expected "$id" "$1")"
	got -n2 --tres-per-task=cpu=1,license/iop=1 -t 5
	scancel -n wrap -t R
	starts "$id" 30
	echo "${*:2}: $(layout "$id")"
	as_planned "$id"
}
task_licenses() {
	needs 24.05 "license in --tres-per-task"
	needs_accounting
	PARAMETERS=,bf_licenses
	same_as_stock task_licenses_scene
}
it "--tres-per-task=license/...: licences for each task" task_licenses

# Only jobs of that QOS may be in it.
qos_scene() {
	local id
	scontrol create reservation ReservationName=quick StartTime=now Duration=60 "Nodes=n[001-002]" QOS=fast > /dev/null
	id=$(submit -n1 -w n001 -t 5 --qos=fast)
	stays_pending "$id"
	got -n1 --reservation=quick --qos=fast -t 5
	got -N6 --exclusive -t 5
	echo "the one beside it is $(job_state "$id")"
}
qos() {
	needs 25.11 "QOS of a reservation"
	needs_accounting
	same_as_stock qos_scene
}
it "QOS of a reservation: jobs of such a QOS may start in it" qos

live_end
