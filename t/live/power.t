#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nodes that sleep, boot or hang, and jobs that outlast their time, under stock and under sched/lua: the same jobs get the
# same nodes.  (slurmd runs on all nodes; those that are "powered down" just do not answer to jobs.)
. "${0%/*}/live.sh"
needs_plugin
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"
LIVE_LINES=("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP" ReturnToService=2)
BACKFILL=bf_interval=1,bf_continue,bf_resolution=1,sched_interval=1,sched_min_interval=0
live_begin 8 SuspendProgram=/bin/true ResumeProgram=/bin/true SuspendTime=100000 SuspendTimeout=2 ResumeTimeout=600 \
	SuspendRate=0 ResumeRate=0 RebootProgram=/bin/true OverTimeLimit=10 KillWait=1 UnkillableStepTimeout=5 DebugFlags=NO_CONF_HASH
needs_engine
ALL="n[001-008]"

# slurmctld anew, under that scheduler; jobs and nodes are kept.
under() { # stock | lua
	local plugins=$SL_SLURM_PLUGINS parameters=$BACKFILL type=sched/backfill
	[ "$1" = stock ] || type=sched/lua plugins=$SL_PLUGINDIR:$plugins parameters=defer,sched_interval=-1
	cluster_ctld_kill || cluster_ctld_kill KILL
	cluster_conf "SchedulerType=$type" "SchedulerParameters=$parameters" "PluginDir=$plugins"
	cluster_ctld_start
	wait_for 30 cluster_nodes_ready 8
}

node_state() { scontrol -o show node "$1" | sed -nE 's/.* State=([^ ]*) .*/\1/p'; }
nodes_are() { # STATE COUNT
	[ "$(sinfo -h -N -o %N\ %T | grep -c -- "$1\$")" = "$2" ]
}
sleep_now() { # NODES COUNT
	scontrol update "NodeName=$1" State=POWER_DOWN
	wait_for 40 nodes_are 'idle~' "$2"
}
has_nodes() { local n; n=$(job_nodes "$1"); [ -n "$n" ]; }
gets_nodes() { # WHAT JOBID : a line of the scene
	wait_for 40 has_nodes "$2"
	echo "$1: $(job_nodes "$2")"
}

nodes_in() { sinfo -h -N -o '%N %T' | awk -v state="$1\$" '$2 ~ state { print $1 }'; } # STATE
none_sleeps() { [ -z "$(nodes_in '[~%!]')" ]; }

# All nodes up and idle: what sleeps is woken, and its slurmd says that it is there.
wake_all() {
	local n try
	squeue -h -o %A | xargs -r scancel
	wait_for 40 queue_is_empty
	for n in $(nodes_in '[~%!]'); do scontrol update "NodeName=$n" State=POWER_UP; done
	wait_for 60 none_sleeps
	for try in 1 2 3; do	# who boots in the second before the request is not believed
		for n in $(nodes_in '#'); do
			cluster_slurmd_kill "$n"
			"$C/bin/slurmd" -b -N "$n" -d "$C/bin/slurmstepd"	# -b: as if the node had booted
		done
		if wait_for 20 nodes_are idle 8; then return 0; fi
	done
	echo "after $try boots: $(sinfo -h -N -o '%N %T' | tr '\n' ' ')"
	return 1
}

# A scene under both schedulers: what it prints is the same.
alike() { # SCENE
	local by
	for by in stock lua; do
		under $by
		"$1" > "$C/scene.$by" || { cat "$C/scene.$by"; false; }
		wake_all
	done
	diff "$C/scene.stock" "$C/scene.lua"
}

asleep() {
	sleep_now "n[001-004]" 4
	gets_nodes "one core" "$(submit -n1)"
	gets_nodes "another" "$(submit -n1)"
	gets_nodes "what is up, and two more" "$(submit -N5 --exclusive)"
	gets_nodes "one that sleeps, by name" "$(submit -n1 -w n004)"
}
it "nodes that are up come first, and no more are woken than a job needs" alike asleep

weights() {
	scontrol update "NodeName=n[005-008]" Weight=500
	sleep_now "n[001-004]" 4
	gets_nodes "one node" "$(submit -N1 --exclusive)"
	gets_nodes "four nodes" "$(submit -N4 --exclusive)"
	scontrol update "NodeName=n[005-008]" Weight=1
}
it "so they do whatever their weight" alike weights

all_asleep() {
	sleep_now "$ALL" 8
	gets_nodes "two nodes" "$(submit -N2 --exclusive)"
	gets_nodes "the rest" "$(submit -N6 --exclusive)"
}
it "where none is up nodes are woken" alike all_asleep

# A job waits for a node that is going to sleep, and gets it when it is down; others run meanwhile.
going_down() {
	local named
	scontrol update NodeName=n001 State=POWER_DOWN
	named=$(submit -n1 -w n001)
	gets_nodes "any node" "$(submit -N1 --exclusive)"
	gets_nodes "the one that goes down" "$named"
}
it "a node that is being powered down is free when it is down" alike going_down

# A node that is to reboot takes no job before; its slurmd says then that it has.
rebooting() {
	local named
	scontrol reboot nextstate=resume n001 > /dev/null
	named=$(submit -n1 -w n001)
	gets_nodes "any node" "$(submit -N1 --exclusive)"
	wait_for 40 reboot_is_issued
	fails has_nodes "$named"
	cluster_slurmd_kill n001
	"$C/bin/slurmd" -b -N n001 -d "$C/bin/slurmstepd"
	gets_nodes "the one that reboots" "$named"
}
reboot_is_issued() { [[ $(node_state n001) == *REBOOT_ISSUED* ]]; }
it "a node that reboots is free when it has" alike rebooting

later_than() { # JOBID SECONDS : its expected start
	local at
	at=$(job_get "$1" StartTime)
	[[ $at == 2* ]] && [ $(($(date -d "$at" +%s) - $(date +%s))) -gt "$2" ]
}
is_over_time() { [ "$(date -d "$(job_get "$1" EndTime)" +%s)" -lt "$(date +%s)" ]; }

# A job that may run on for ten minutes after its time, a wide one, and one that takes five minutes.
overtime_scene() {
	local long wide small
	long=$(submit -w n001 --exclusive -t1)
	starts "$long"
	scontrol update "JobId=$long" "EndTime=$(date -d '+1 second' +%FT%T)"
	wait_for 20 is_over_time "$long"
	wide=$(submit -N8 --exclusive -t60)
	wait_for 20 job_waits_for "$wide" Resources
	small=$(submit -N1 --exclusive -t5)
	gets_nodes "beside the wide one" "$small"
	wait_for 40 later_than "$wide" 400
	echo "the wide one waits for $(job_reason "$wide")"
}
overtime() {
	if slurm_expects_overdue_jobs; then
		alike overtime_scene
		return
	fi
	under lua
	overtime_scene > "$C/scene.lua"
	wake_all
	diff - "$C/scene.lua" <<-'EOL'
		beside the wide one: n002
		the wide one waits for Resources
	EOL
}
it "a job may outlast its time by OverTimeLimit, and small ones run meanwhile" overtime

# The epilog of a job does not end: its node answers, and stays COMPLETING.  Slurm's backfill keeps all others from
# starting beside the wide job then, which it expects in a second, again and again.
says_it_hangs() { squeue -h -j "$1" -o %R | grep 'or hangs'; } # JOBID
hung() {
	local job wide small
	printf '#!/bin/sh\nwhile [ -e %s ]; do sleep 0.2; done\n' "$C/hang" > "$C/epilog"
	chmod 755 "$C/epilog"
	touch "$C/hang"
	cluster_conf "Epilog=$C/epilog"
	under lua
	cluster_slurmd_kill n001
	cluster_slurmd_start n001
	job=$(submit -w n001 --exclusive)
	starts "$job"
	scancel "$job"
	wide=$(submit -N8 --exclusive -t60)
	small=$(submit -N1 --exclusive -t5)
	wait_for 100 has_nodes "$small"
	job_is "$job" COMPLETING
	job_is "$wide" PENDING
	wait_for 20 job_waits_for "$wide" ReqNodeNotAvail
	wait_for 20 says_it_hangs "$wide"
	rm "$C/hang"
	wait_for 20 job_is "$job" CANCELLED
}
it "a node that hangs in COMPLETING keeps nobody from starting for long" hung

live_end
