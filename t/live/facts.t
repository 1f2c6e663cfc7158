#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Words of slurm.conf that change where and when jobs start: a scene runs under Slurm's own schedulers and under sched/lua,
# and nodes, cores and expected starts are the same (t/facts has the list of all such words).
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
needs_plugin
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000"
live_begin 8 DebugFlags=NO_CONF_HASH
needs_engine
beside_begin

# -- where ------------------------------------------------------------------------

serial_scene() {
	got -N1 -n1
	got -N1 -n1 --exclusive
	got -N1 -n1
	got -N1 -n2
	got -N2 -n2
}
serial() {
	PARAMETERS=,pack_serial_at_end
	if slurm_chooses_one_node; then
		same_as_stock serial_scene
	else
		anew lua
		serial_scene > "$C/lua"
		diff - "$C/lua" <<-'EOL'
			-N1 -n1: n008:0
			-N1 -n1 --exclusive: n007:0-7
			-N1 -n1: n008:1
			-N1 -n2: n008:2,4
			-N2 -n2: n001:0 n002:0
		EOL
	fi
}
it "pack_serial_at_end: jobs of one CPU go to the last nodes" serial

two_leaves() {
	cat > "$C/etc/topology.conf" <<-'EOC'
		SwitchName=s1 Nodes=n[001-003]
		SwitchName=s2 Nodes=n[004-008]
		SwitchName=root Switches=s[1-2]
	EOC
}

tree_scene() {
	holds -N1 --exclusive -w n001 > /dev/null
	got -N3 --exclusive
	got -N2 --exclusive --switches=1
}
tree() { # TopologyParam
	two_leaves
	same_as_stock tree_scene TopologyPlugin=topology/tree ${1:+"TopologyParam=$1"}
}
it "topology/tree: jobs are placed below few switches" tree
it "TopoOptional: those that say --switches, and no others" tree TopoOptional
it "dragonfly: as its leaves have it" tree dragonfly
rm -f "$C/etc/topology.conf"

by_socket_scene() {
	got -p sockets -N1 -n1 -w n001
	got -p sockets -N1 -n1 -w n001
	waits "$(holds -p sockets -N1 -n5 -w n002)" -p sockets -N1 -n1 -w n002
	got -p main -N1 -n1 -w n003
	got -p main -N1 -n3 -w n003
}
by_socket() {
	same_as_stock by_socket_scene "PartitionName=sockets Nodes=ALL MaxTime=INFINITE State=UP SelectTypeParameters=CR_Socket"
}
it "SelectTypeParameters of a partition: its jobs have whole sockets, those of others cores" by_socket

by_core_scene() {
	got -p cores -N1 -n1 -w n001
	got -p cores -N1 -n1 -w n001
	got -N1 -n1 -w n002
	got -N1 -n4 -w n002
}
by_core() {
	same_as_stock by_core_scene SelectTypeParameters=CR_Socket \
		"PartitionName=cores Nodes=ALL MaxTime=INFINITE State=UP SelectTypeParameters=CR_Core"
}
it "... and the other way round" by_core

# -- when -------------------------------------------------------------------------

soft_scene() {
	local first wide
	first=$(submit -N6 --exclusive -w 'n[001-006]' -t 60 --time-min=20)
	starts "$first" 30
	wide=$(submit -N8 --exclusive -t 60)
	stays_pending "$wide"
	expected_in "$wide"
	got -N1 --exclusive -t 100 --time-min=10	# it is expected to be gone by then, and keeps its limit
	job_get "$(squeue -h -t R -S -i -o %A | head -n 1)" TimeLimit
	stays_pending "$(submit -N1 --exclusive -t 100)"
}
# Its expected start, to ten minutes.
expected_in() { # JOBID
	wait_for 30 is_expected "$1"
	# shellcheck disable=SC2017	# to ten minutes
	echo "expected in $((($(start_time "$1" StartTime) - $(date +%s) + 300) / 600 * 10)) minutes"
}
soft() {
	needs 23.11 time_min_as_soft_limit
	PARAMETERS=,time_min_as_soft_limit
	slurm_expects_soft_ends || STOCK_SAYS="in 60 minutes/in 20 minutes"
	same_as_stock soft_scene
}
it "time_min_as_soft_limit: jobs are expected to run for their --time-min" soft

# A reservation that begins in half an hour waits for up to five minutes for jobs that can be told to end.
delay_scene() {
	local plain
	scontrol create reservation ReservationName=soon "StartTime=$(date -d '+30 minutes' +%FT%T)" Duration=60 Nodes=ALL Users=root \
		MaxStartDelay=00:05:00 > /dev/null
	plain=$(submit -N1 -t 60)
	stays_pending "$plain"
	starts "$(submit -N2 --exclusive -t 60 --signal=R:USR1@300)" 30
	starts "$(submit -N1 -n1 -t 60 --signal=R:USR1@60)" 30
	stays_pending "$(submit -N1 -t 60 --signal=R:USR1@301)"
	stays_pending "$(submit -N1 -t 60 --signal=USR1@60)"
	got -N1 -n1 -t 20
	echo "the plain one is $(job_state "$plain")"
}
# (From 24.11 on slurmctld refuses --signal=R at submission where PreemptMode is OFF.)
delay() {
	same_as_stock delay_scene PreemptType=preempt/partition_prio PreemptMode=CANCEL
}
it "MaxStartDelay: a job with --signal=R starts into a reservation" delay

live_end
