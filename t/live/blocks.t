#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# topology/block and --segment: which jobs of several nodes the engine places, where they lie, and that Slurm's own schedulers
# have them lie likewise.  Then a site file with blocks and fragmentation.
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
needs_plugin

SL_NODE_SHAPE="CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2"
live_begin 18 DebugFlags=NO_CONF_HASH
needs_engine
beside_begin

# Three blocks, or racks, of six nodes.
three_blocks() { # [SIZES]
	cat > "$C/etc/topology.conf" <<-EOC
		BlockName=b1 Nodes=n[001-006]
		BlockName=b2 Nodes=n[007-012]
		BlockName=b3 Nodes=n[013-018]
		BlockSizes=${1:-6}
	EOC
}
three_racks() {
	cat > "$C/etc/topology.conf" <<-'EOC'
		SwitchName=r1 Nodes=n[001-006]
		SwitchName=r2 Nodes=n[007-012]
		SwitchName=r3 Nodes=n[013-018]
		SwitchName=root Switches=r[1-3]
	EOC
}

# Of each block that the job has nodes of, how many: the fewest first.
shares() { # JOBID
	local node
	for node in $(expand "$(job_nodes "$1")"); do echo $(((10#${node#n} - 1) / 6)); done | sort | uniq -c | awk '{ print $1 }' |
		sort -n | paste -sd+
}

lies() { # OPTION... : how it lies; the engine has placed it
	local id
	id=$(submit "$@")
	LAST=$id
	starts "$id" 30 || { echo "$*: $(job_state "$id") $(job_reason "$id")" >&2; return 1; }
	as_planned "$id"
	placed_by_engine "$id" > /dev/null
	echo "$*: $(shares "$id")"
}

lies_as() { # SHARES OPTION...
	lies "${@:2}" > "$C/said"
	grep -Fx -- "${*:2}: $1" "$C/said"
}

# The last job ends, and its nodes are idle again.
ends_there() {
	local nodes
	nodes=$(job_nodes "$LAST")
	scancel "$LAST"
	wait_for 30 is_idle "$nodes"
}

# -- topology/block -----------------------------------------------------------------

segments_scene() {
	holds -N1 --exclusive -w n001 > /dev/null
	holds -N2 --exclusive -w 'n[007-008]' > /dev/null
	lies -N12 --exclusive --segment=4
	ends_there
	lies -N10 --exclusive --segment=5
	ends_there
	lies -N8 --exclusive --segment=2
	lies -N2 --ntasks-per-node=2 --gres=gpu:1 --segment=2
}
segments() {
	needs 24.11 "BlockSize in what slurmctld says of blocks"
	three_blocks
	same_as_stock segments_scene TopologyPlugin=topology/block
}
it "--segment: each segment is in one block, and the engine places the job" segments

one_block_scene() {
	local one
	one=$(holds -N3 --exclusive -w 'n[001-003]')
	holds -N2 --exclusive -w 'n[007-008]' > /dev/null
	holds -N2 --exclusive -w 'n[013-014]' > /dev/null
	lies -N3 --exclusive
	lies -N4 --gres=gpu:2
	lies -N4 --exclusive
	waits "$one" -N3 --exclusive > /dev/null
}
one_block() {
	needs 24.11 "BlockSize in what slurmctld says of blocks"
	three_blocks
	same_as_stock one_block_scene TopologyPlugin=topology/block
}
it "... a job without segments is in one block, or waits for one" one_block

# Two blocks have room for three segments in all once half of both is free again.
lacks_segments() { schedlua explain "$1" | grep 'needs its nodes in segments of 4, each in one block' > /dev/null; } # JOBID
wait_scene() {
	local id one
	one=$(holds -N3 --exclusive -w 'n[001-003]')
	holds -N3 --exclusive -w 'n[007-009]' > /dev/null
	id=$(submit -N12 --exclusive --segment=4)
	stays_pending "$id"
	! lua_schedules || wait_for 30 lacks_segments "$id"
	[ "$(job_get "$id" Priority)" != 0 ]
	scancel "$one"
	stays_pending "$id"
	scancel "$(squeue -h -w n007 -o %A)"
	starts "$id" 30
	shares "$id"
}
waiting() {
	needs 24.11 "BlockSize in what slurmctld says of blocks"
	three_blocks
	same_as_stock wait_scene TopologyPlugin=topology/block
}
it "... a job waits for whole segments, and is told so" waiting

left_scene() {
	got -N7 --exclusive
	was_left_to_select
	ends_there
	got -N2-3 --exclusive
	was_left_to_select
	ends_there
	got -N2 --exclusive --segment=2 -w 'n[001-002]'
	was_left_to_select
}
left() {
	needs 24.11 "BlockSize in what slurmctld says of blocks"
	three_blocks
	same_as_stock left_scene TopologyPlugin=topology/block
}
it "... more nodes than a block, a range of nodes, and nodes by name are left to select" left

# Two blocks as a whole, and a job that waits for them.
whole_scene() {
	local one
	one=$(holds -N1 --exclusive -w n001)
	lies -N12 --exclusive
	ends_there
	holds -N1 --exclusive -w n013 > /dev/null
	waits "$one" -N12 --exclusive > /dev/null
}
whole() {
	needs 24.11 "BlockSize in what slurmctld says of blocks"
	three_blocks
	same_as_stock whole_scene TopologyPlugin=topology/block
}
it "... a job of two blocks has whole ones, and the engine places it" whole

large_segments_scene() {
	holds -N1 --exclusive -w n001 > /dev/null
	lies -N12 --exclusive --segment=12
}
large_segments() {
	needs 25.05 "segments that are larger than a block"
	three_blocks
	same_as_stock large_segments_scene TopologyPlugin=topology/block
}
it "... and so has a segment of two" large_segments

# In one of the blocks of two blocks.
levels_scene() {
	got -N12 --exclusive
	was_left_to_select
	ends_there
	lies -N12 --exclusive --segment=6
}
levels() {
	needs 24.11 "BlockSize in what slurmctld says of blocks"
	three_blocks 6,12
	same_as_stock levels_scene TopologyPlugin=topology/block
}
it "... with larger blocks it is left to select" levels

# A node is moved to another block while slurmctld runs: n012 is of the third block then, and a fifth of five.
moved_scene() {
	lies -N6 --exclusive -x 'n[001-006,013]'	# of the second block
	ends_there
	scontrol update nodename=n012 topology=default:b3
	got -N6 --exclusive -x 'n[001-006,018]'		# of the third block
	! lua_schedules || placed_by_engine "$LAST" > /dev/null
}
moved() {
	needs 25.05 "topology= of scontrol update node"
	three_blocks
	same_as_stock moved_scene TopologyPlugin=topology/block
}
it "... a node that is moved to another block is looked for there" moved
rm -f "$C/etc/topology.conf"

# -- a site file ---------------------------------------------------------------------

# (For racks of 6 nodes, and segments of 4.)
put_racks() {
	sed 's/\b18\b/6/g; s/\b12\b/4/g' "$TOP/examples/cookbook/racks.lua" > "$C/etc/sched.lua"
}

racks() {
	local one two
	needs_lua
	slurm_since 26.05 || skip "this is tried on 26.05"
	three_racks
	put_racks
	anew lua TopologyPlugin=topology/tree
	one=$(holds -N1 -n1 --gres=gpu:1 -w n009)
	holds -N1 -n2 --gres=gpu:2 -w n002 > /dev/null		# (there are jobs that need two)
	two=$(submit -N1 -n1 --gres=gpu:1)
	starts "$two" 30
	placed_by_engine "$two"
	[ "$(job_nodes "$two")" = "$(job_nodes "$one")" ]	# the GPU beside one that is in use, not those of an idle node
	lies_as 6 -N6 --exclusive
	ends_there
	lies_as 4+4 -N8 --exclusive
	[[ $(expand "$(job_nodes "$LAST")") != *n01[3-8]* ]]	# of the racks in use: the idle one stays whole
	lies_as 2 -N2 --exclusive
}
it "a site file with blocks and fragmentation: racks in use before idle ones, whole segments, GPUs beside those in use" racks
rm -f "$C/etc/sched.lua" "$C/etc/topology.conf"

live_end
