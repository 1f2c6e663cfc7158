#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nodes of the cloud, so no slurmd: many starts at once, and what may go wrong meanwhile.
SL_CLOUD=1
. "${0%/*}/live.sh"
needs_plugin
NODES_HERE=400
# (no room for more: the site's policy has all of them in one plan)
LIVE_LINES=("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP" ReturnToService=2)
live_begin $NODES_HERE MaxJobCount=2500 MaxArraySize=3001

shut() { scontrol update PartitionName=main State=DOWN; }
open() { scontrol update PartitionName=main State=UP; }
all_have_nodes() { [ "$(squeue -h -r -t PD -o %i | wc -l)" -eq "${1:-0}" ]; }

# A slurmctld that remembers nothing: nodes that are being powered up are none for new jobs once
# it has been reconfigured.
fresh() {
	cluster_ctld_kill
	cluster_ctld_start -c
	CTLD=$(cluster_ctld_pid)
	wait_for 20 cluster_nodes_ready $NODES_HERE
}

# An independent check of who has which cores; nothing of ours is left in a request.
check_taken() { scontrol -d -o show job | lua5.4 "$HERE/taken.lua" 8 "$@"; }

# Jobs of every shape that fit all at once, 300 of them.
submit_mix() {
	submit -n3 --array=0-99
	submit -N1 -n2 --array=0-99
	submit -N2 --ntasks-per-node=3 --array=0-49
	submit -n11 --array=0-19
	submit -N1 --exclusive --array=0-9
	submit -N2 --ntasks-per-node=2 --ntasks-per-socket=1 --array=0-9
	submit -N2 -n4 --ntasks-per-node=2 --distribution=plane=2 --array=0-9
}

many() {
	fresh
	shut
	submit_mix
	open
	wait_for 60 all_have_nodes
	check_taken
	[ "$(squeue -h -r -t R,CF -o %i | wc -l)" = 300 ]
}
it "starts of every shape leave no core with two jobs and nothing in a request" many

# The plan's nodes are those that jobs have.
as_planned() {
	local i
	fresh
	shut
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do submit -n$((i * 3)); done
	open
	wait_for 30 all_have_nodes
	check_taken "$C/state/schedlua/decisions.jsonl"
}
it "each job has the nodes and cores of the plan" as_planned

reconfigured() {
	local i
	slurm_needs_safe_reconfigure
	fresh
	shut
	submit_mix
	open
	for i in 1 2 3 4 5 6; do scontrol reconfigure; done
	# (nor are they for those of this test)
	wait_for 90 all_have_nodes || squeue -r -t PD -o '%i %r'
	all_have_nodes
	same_slurmctld
	check_taken
}
it "is reconfigured again and again while jobs start" reconfigured

# JobId of a task that has a node from 191 on; those nodes leave slurm.conf.
vanish() {
	local wide held
	fresh
	# (on nodes that leave: those that are being powered up are none for others in the next slurmctld)
	held=$(cluster_nodelist $NODES_HERE 1 $((NODES_HERE - 10)))
	scontrol update "NodeName=$held" Weight=9
	submit -N2 --exclusive
	wait_for 30 all_have_nodes
	fails schedlua_names n001
	wide=$(submit -N$NODES_HERE --exclusive)	# waits, with all nodes set aside
	wait_for 20 job_waits_for "$wide" Resources
	cp "$C/etc/slurm.conf" "$C/slurm.conf.before"
	sed -i "s/^NodeName=[^ ]*/NodeName=$held/; s/NodeHostname=[^ ]*/NodeHostname=$held/" "$C/etc/slurm.conf"
	cluster_ctld_kill
	cluster_ctld_start
	fails schedlua_names "n$NODES_HERE"
	submit -n1
	squeue -h -o %i | xargs scancel
	wait_for 20 queue_is_empty
	wide=$(submit -N$((NODES_HERE - 10)))
	wait_for 30 all_have_nodes
	check_taken
}
back() {
	cp "$C/slurm.conf.before" "$C/etc/slurm.conf"
	cluster_ctld_kill
	cluster_ctld_start
}
schedlua_names() { squeue -h -t R,CF -o %N | xargs -n 1 scontrol show hostnames | grep -q "^$1\$"; }
vanished() { vanish; back; }
it "nodes leave slurm.conf while jobs wait for them" vanished

# A task that starts is a record of its own: there is room for so many.
full() {
	local n
	fresh
	n=$(submit -n1 --array=0-2399)
	submit -n1 --hold --array=0-97
	wait_for 60 eval '[ "$(squeue -h -r -t R,CF -o %i | wc -l)" -ge 1500 ]'
	cluster_ctld_answers
	same_slurmctld
	check_taken
	scancel "$n"
}
it "goes on when there are as many jobs as MaxJobCount allows" full

# Their nodes go down, and jobs that were to have them wait again, for what they asked for.
no_power() {
	local id
	fresh
	cluster_conf ResumeTimeout=3
	scontrol reconfigure
	id=$(submit -N2 --requeue -x n001 --ntasks-per-node=3)
	wait_for 120 eval '[ "$(job_get '"$id"' Restarts)" -ge 1 ]'
	[ "$(job_get "$id" ReqNodeList)" = "(null)" ]
	[ "$(job_get "$id" ExcNodeList)" = n001 ]
	same_slurmctld
	cluster_conf ResumeTimeout=60000
	scontrol reconfigure
}
it "nodes do not come up: the job waits again, with what it asked for" no_power
live_end
