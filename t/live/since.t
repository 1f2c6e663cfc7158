#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What Slurm's select heeds since 23.02 and the engine does not know: such jobs start, wait and end up on the same
# nodes as under Slurm's own schedulers.  A scene runs under both, on the releases that have what it is about.
. "${0%/*}/live.sh"
. "${0%/*}/beside.sh"
needs_plugin

# Each GPU is near the cores of a socket.
plain_gres_conf=$(declare -f cluster_gres_conf)
eval "plain_$plain_gres_conf"
cluster_gres_conf() {
	plain_cluster_gres_conf | sed -nE 's/^(Name=gpu) File=(.*)\[0-1\]$/\1 File=\20 Cores=0-3\n\1 File=\21 Cores=4-7/p'
}
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2"
live_begin 8 DebugFlags=NO_CONF_HASH
needs_engine
beside_begin

two_blocks() {
	cat > "$C/etc/topology.conf" <<-'EOC'
		BlockName=b1 Nodes=n[001-004]
		BlockName=b2 Nodes=n[005-008]
		BlockSizes=4
	EOC
}

# -- blocks -----------------------------------------------------------------------

uneven_scene() {
	holds -N1 -n5 -w n001 > /dev/null
	holds -N1 -n2 -w n002 > /dev/null
	got -N2 -n9 -w 'n[001-002]'
	got -N2 -n11
	got -N3 -n17 -w 'n[005-007]'
	was_left_to_select
}
uneven() {
	needs 24.05 "topology/block of that form"
	two_blocks
	same_as_stock uneven_scene TopologyPlugin=topology/block
}
it "topology/block: jobs with unequal numbers of cores on their nodes get what they ask for" uneven

one_block_scene() {
	local one
	holds -N3 --exclusive -w 'n[001-003]' > /dev/null
	got -N2 --exclusive
	slurm_since 24.11 || was_left_to_select
	scancel -n wrap -w 'n[005-008]'
	wait_for 30 has_jobs R -eq 1
	holds -N2 --exclusive -w 'n[005-006]' > /dev/null
	one=$(holds -N1 --exclusive -w n007)
	waits "$one" -N2 --exclusive
	got -N1 --exclusive
}
one_block() {
	needs 24.05 "topology/block of that form"
	two_blocks
	same_as_stock one_block_scene TopologyPlugin=topology/block
}
it "... a job waits for nodes of one block, and others pass it" one_block

segments_scene() {
	holds -N2 --exclusive -w 'n[001-002]' > /dev/null
	local one
	one=$(holds -N1 --exclusive -w n005)
	got -N4 --exclusive --segment=2
	waits "$one" -N2 --exclusive --segment=2
}
segments() {
	needs 24.05 --segment
	two_blocks
	same_as_stock segments_scene TopologyPlugin=topology/block
}
it "--segment: each segment is in a block" segments

spread_scene() {
	got -N2 --exclusive --segment=1 --spread-segments
	got -N2 --exclusive --segment=1 --consolidate-segments
	got -N2 --exclusive --segment=2
}
spread() {
	needs 25.11 --spread-segments
	two_blocks
	same_as_stock spread_scene TopologyPlugin=topology/block
}
it "--spread-segments, --consolidate-segments" spread

own_block_scene() {
	local first
	first=$(holds -N1 -n1 --exclusive=topo)
	job_nodes "$first"
	got -N2 -n2
	waits "$first" -N4 -n4 --exclusive=topo
}
own_block() {
	needs 24.05 --exclusive=topo
	two_blocks
	same_as_stock own_block_scene TopologyPlugin=topology/block
}
it "--exclusive=topo: nobody else is in the block" own_block

# -- several topologies ------------------------------------------------------------

several_scene() {
	local one
	holds -N3 --exclusive -w 'n[001-003]' > /dev/null
	got -p blocks -N2 --exclusive	# not n004 and one of the other block
	scancel -n wrap -p blocks
	wait_for 30 has_jobs R -eq 1
	holds -N2 --exclusive -w 'n[005-006]' > /dev/null
	one=$(holds -N1 --exclusive -w n007)
	waits "$one" -p blocks -N2 --exclusive
	scancel -n wrap -p blocks
	wait_for 30 has_jobs PD,R -eq 2
	holds -N2 --exclusive -w 'n[007-008]' > /dev/null
	scancel "$(squeue -h -w n005 -o %A)"
	wait_for 30 is_idle 'n[005-006]'
	got -N3 --exclusive
}
several() {
	needs 25.05 topology.yaml
	topology_with_blocks 'n[005-008]' <<-'EOC'
		  tree:
		    switches:
		      - switch: root
		        children: leaf[1-2]
		      - switch: leaf1
		        nodes: n[001-003]
		      - switch: leaf2
		        nodes: n[004-008]
	EOC
	same_as_stock several_scene "$BLOCKS"
}
it "topology.yaml: each partition has its own topology" several
rm -f "$C/etc/topology.yaml"

placed() { # PLUGIN YAML
	printf '%s\n' '---' '- topology: first' '  cluster_default: true' > "$C/etc/topology.yaml"
	cat >> "$C/etc/topology.yaml"
}
ring_scene() {
	local one n
	for n in 2 4 5 6 7; do holds -N1 --exclusive -w "n00$n" > /dev/null; done
	got -N2 --exclusive		# the first and the last, which are neighbours
	was_left_to_select
	scancel -n wrap
	wait_for 30 is_idle 'n[001-008]'
	one=$(holds -N1 --exclusive -w n002)
	holds -N1 -n3 -w n005 > /dev/null
	got -N2 -n12 -w 'n[005-006]'
	got -N2 -n11
	waits "$one" -N2 -w 'n[001-002]' --exclusive
}
ring() {
	needs 26.05 topology/ring
	placed <<-'EOC'
		  ring:
		    rings:
		      - ring: r1
		        nodes: n[001-008]
	EOC
	same_as_stock ring_scene
}
it "topology/ring: likewise" ring

torus_scene() {
	local one
	one=$(holds -N1 --exclusive -w n002)
	got -N4 -n21
	waits "$one" -N4 --exclusive
}
torus() {
	needs 26.05 topology/torus3d
	placed <<-'EOC'
		  torus3d:
		    toruses:
		      - name: t1
		        dims: {x: 2, y: 2, z: 2}
		        nodes: n[001-008]
		        placements:
		          - dims: {x: 1, y: 1, z: 1}
		          - dims: {x: 2, y: 2, z: 1}
	EOC
	same_as_stock torus_scene
}
it "topology/torus3d: likewise" torus
rm -f "$C/etc/topology.yaml"

# -- cores --------------------------------------------------------------------------

restricted_scene() {
	local one
	one=$(holds -N1 -n4 -w n001)
	waits "$one" -N1 -n3 -w n001
	got -N1 -n4 -w n002
	got -N1 -n2 --gres=gpu:1 -w n002
	got -N2 -n7
	got -N8 -n8 --gres=gpu:1
}
restricted() {
	needs 24.05 RestrictedCoresPerGPU
	NODE_WORDS="RestrictedCoresPerGPU=2"
	same_as_stock restricted_scene
}
it "RestrictedCoresPerGPU: cores are kept for jobs with GPUs" restricted

socket_scene() {
	local one
	one=$(holds -N1 -n4 -w n001)
	layout "$one"
	waits "$one" -N1 -n3 -w n001
	got -N2 -n7 -w 'n[002-003]'
	got -N1 -n8 -w n004 -p other
	got -N5 -n12
}
socket() {
	needs 23.02 MaxCPUsPerSocket
	same_as_stock socket_scene "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP MaxCPUsPerSocket=2" \
		"PartitionName=other Nodes=ALL MaxTime=INFINITE State=UP"
}
it "MaxCPUsPerSocket: a partition has so many CPUs of each socket" socket

# -- resources -----------------------------------------------------------------------

hres_scene() {
	local one by=--licenses
	! slurm_since 25.11 || by=--resources
	one=$(holds -N1 -n1 -L water:3 -w n001)
	layout "$one"
	got -N1 -n1 -L water:3
	got -N1 -n1 -L water:1
	waits "$one" -N1 -n1 "$by=water:3"
}
hres() {
	needs 25.05 resources.yaml
	cat > "$C/etc/resources.yaml" <<-EOC
		---
		- resource: water
		  mode: ${1-MODE_1}
		  layers:
		    - nodes:
		        - "n[001-004]"
		      count: 4
		    - nodes:
		        - "n[005-008]"
		      count: 4
	EOC
	same_as_stock hres_scene
}
it "resources.yaml: a job gets nodes that have the resource" hres
it "... of all layers" hres MODE_2

# Each node uses up what the job asks for, of its own layer and of the one above, which has less than these together.
tree_of_resources_scene() {
	local one
	one=$(holds -N2 --exclusive --resources=power:2)
	layout "$one"
	got -N1 -n1 --resources=power:2
	got -N1 -n1 -w n003
	waits "$one" -N2 --exclusive --resources=power:1
	got -N1 -n1 --resources=power:2
}
tree_of_resources() {
	needs 25.11 "MODE_3 of resources.yaml"
	cat > "$C/etc/resources.yaml" <<-'EOC'
		---
		- resource: power
		  mode: MODE_3
		  layers:
		    - nodes:
		        - "n[001-008]"
		      count: 6
		    - nodes:
		        - "n[001-004]"
		      count: 4
		    - nodes:
		        - "n[005-008]"
		      count: 4
	EOC
	same_as_stock tree_of_resources_scene
}
it "... by node, summed up in a tree" tree_of_resources
rm -f "$C/etc/resources.yaml"

extra_scene() {
	local id
	scontrol update NodeName=n005 Extra='{"rack": 5}'
	scontrol update NodeName=n007 Extra='{"rack": 6}'
	got -N1 -n1 --extra='rack=5'
	id=$(submit -N1 -n1 --extra='rack=7')
	stays_pending "$id"
	[ "$(job_get "$id" Priority)" != 0 ]
	scontrol update NodeName=n007 Extra='{"rack": 7}'
	starts "$id" 60
	layout "$id"
}
extra() {
	needs 23.11 extra_constraints
	PARAMETERS=,extra_constraints
	same_as_stock extra_scene
}
it "--extra: a job waits for a node whose Extra meets it, and is not held" extra

external_scene() {
	local id
	id=$(timeout 20 sbatch --parsable --external -N2 -n5 </dev/null)
	starts "$id" 30
	layout "$id"
	got -N1 -n8 -w n003
}
external() {
	needs 25.11 "external job"
	same_as_stock external_scene
}
it "an external job is planned like any other" external

live_end
