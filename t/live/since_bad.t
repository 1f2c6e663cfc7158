#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files and flags that contradict one another: what cannot start says why, and nobody else is held up.
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
needs_plugin
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

live_end
