#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files and flags that contradict one another: what cannot start says why, and nobody else is held up.
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
. "${0%/*}/database.sh"
needs_plugin
LIVE_LINES+=("PartitionName=torn Nodes=ALL MaxTime=INFINITE State=UP")
live_begin 8 DebugFlags=NO_CONF_HASH
needs_engine
beside_begin

# Blocks of which some nodes do not exist, beside a topology that has them all.
unknown_nodes() {
	needs 25.05 topology.yaml
	topology_with_blocks 'x[005-008]' <<< '  flat: true'
	anew lua "$BLOCKS"
	got -N2 --exclusive
	got -p blocks -N2 --exclusive -w 'n[003-004]'
	local id
	id=$(submit -p blocks -N6 --exclusive) || id=
	got -N1 -n1 -w n008
	[ -z "$id" ] || { job_is "$id" PENDING && [ "$(job_reason "$id")" != None ]; }
}
it "topology.yaml names nodes that do not exist" unknown_nodes
rm -f "$C/etc/topology.yaml"

# The file of resources goes while jobs have some and others wait for them.
resources_gone() {
	local has waits
	needs 25.05 resources.yaml
	cat > "$C/etc/resources.yaml" <<-'EOC'
		---
		- resource: water
		  mode: MODE_1
		  layers:
		    - nodes:
		        - "n[001-008]"
		      count: 4
	EOC
	anew lua
	has=$(submit -n1 -L water:3)
	starts "$has" 30
	waits=$(submit -n1 -L water:3)
	stays_pending "$waits"
	rm "$C/etc/resources.yaml"
	anew lua
	got -n1
	job_is "$has" RUNNING
	scancel "$has"
	got -N2 --exclusive
	job_is "$waits" PENDING RUNNING
	job_is "$waits" RUNNING || [ "$(job_reason "$waits")" != None ]
}
it "resources.yaml is removed while some of it is booked" resources_gone

# QOS that reserve nothing and want a reservation, that allow nothing and are above the partition's, which allows nothing
# either and is above the job's.
accounting_up() {
	database_with_root &&
		sacctmgr -i -Q add qos nowhere Flags=NoReserve,RequiresReservation > /dev/null &&
		sacctmgr -i -Q add qos nothing GrpTRES=cpu=0 Flags=OverPartQOS,NoReserve > /dev/null &&
		sacctmgr -i -Q add qos denies GrpTRES=cpu=0 Flags=OverPartQOS,DenyOnLimit > /dev/null &&
		sacctmgr -i -Q add qos large GrpTRES=cpu=64 Flags=OverPartQOS > /dev/null &&
		sacctmgr -i -Q modify user root set qos=normal,nowhere,nothing,denies,large > /dev/null &&
		database_enforce associations,limits,qos
}
database_begin accounting_up

# What becomes of a job: it runs, waits and why, or is not taken.
becomes() { # OPTION...
	local id
	if ! id=$(submit "$@" 2> /dev/null); then
		echo "$*: refused"
		return
	fi
	wait_for 30 eval 'job_moved_on "$id" || { [ "$(job_reason "$id")" != None ] && [ "$(job_reason "$id")" != Priority ]; }'
	stays_pending "$id" || true
	if job_is "$id" PENDING; then
		echo "$*: $(job_reason "$id")"
		[ "$(job_get "$id" Priority)" != 0 ]
	else
		echo "$*: $(job_nodes "$id")"
		scancel "$id"
		wait_for 30 job_done "$id"
	fi
}
torn_scene() {
	scontrol create reservation ReservationName=own StartTime=now Duration=60 Nodes=n008 Accounts=lab > /dev/null
	becomes -N1 -n1 --priority=9000 --qos=nowhere
	becomes -N1 -n1 --priority=9000 --qos=nowhere --reservation=own
	becomes -N1 -n1 --priority=9000 --qos=nothing
	becomes -N1 -n1 --priority=9000 --qos=denies
	becomes -N1 -n1 --priority=9000 -p torn --qos=nothing
	becomes -N1 -n1 --priority=9000 -p torn --qos=large
	becomes -N1 -n1 --priority=9000 -p torn
	got -N7 --exclusive
}
torn() {
	needs_accounting
	same_as_stock torn_scene "PartitionName=torn Nodes=ALL MaxTime=INFINITE State=UP QOS=nothing"
}
it "QOS with flags that contradict one another: their jobs wait with Slurm's reason, and others start" torn

live_end
