#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A machine whose slurm.conf has blocks beside it, and jobs in segments: where a simulation has their nodes.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"

put_slurm() { # PLUGIN
	printf '%s\n' SelectType=select/cons_tres SelectTypeParameters=CR_Core "TopologyPlugin=topology/$1" 'NodeName=n[1-12] CPUs=8' \
		'PartitionName=p Nodes=ALL Default=YES' >"$T/slurm.conf"
}
put_conf() { # SIZES
	rm -f "$T/topology.yaml"
	printf '%s\n' 'BlockName=a Nodes=n[1-4]' 'BlockName=b Nodes=n[5-8]' 'BlockName=c Nodes=n[9-12]' "BlockSizes=$1" >"$T/topology.conf"
}
put_yaml() {
	rm -f "$T/topology.conf"
	cat >"$T/topology.yaml" <<-'EOF'
		- topology: racks
		  cluster_default: true
		  block:
		    block_sizes: [4]
		    blocks:
		      - block: a
		        nodes: n[1-4]
		      - block: b
		        nodes: n[5-8]
		      - block: c
		        nodes: n[9-12]
	EOF
}

# Whole nodes, all for ten minutes, one job a second: NODES SEGMENT
put_log() {
	echo 'JobIDRaw|Submit|ElapsedRaw|TimelimitRaw|State|ReqCPUS|NNodes|SegmentSize' >"$T/log.txt"
	job=0
	while read -r nodes segment; do
		job=$((job + 1))
		echo "$job|$((100 + job))|600|10|COMPLETED|$((8 * nodes))|$nodes|$segment" >>"$T/log.txt"
	done
}
simulated() { run 0 sim --check --machine="$T/slurm.conf" --jobs="$T/jobs.csv" "$@" "$T/log.txt"; }
has() { # JOB SECOND NODES
	awk -F, -v job="$1" -v at="$2" -v nodes="$3" '$1 == job { split($0, f, "\""); there = $6 == at && (f[2] ? f[2] : $NF) == nodes }
		END { exit !there }' "$T/jobs.csv" || { cat "$T/jobs.csv"; return 1; }
}
put_slurm block

# Three nodes are free together in b and in c once a has three jobs; a segment of two fits beside them, four nodes do not.
placed() {
	put_log <<-'EOF'
		1 0
		2 0
		3 0
		2 0
		4 2
		6 3
	EOF
	simulated && has 1 0 n1 && has 2 1 'n[2-3]' && has 3 2 'n[5-7]' && has 4 3 'n[9-10]' && has 5 600 'n[1,4,11-12]' &&
		has 6 1200 'n[1-3,5-7]'
}

in_conf() { put_conf 4 && placed; }
ok "jobs of a log are in blocks of topology.conf, those with SegmentSize in segments" in_conf
in_yaml() { put_yaml && placed; }
ok "... and of topology.yaml" in_yaml

whole() {
	put_log <<-'EOF'
		1 0
		8 0
		8 0
		3 0
	EOF
	put_conf 4 && simulated && has 1 0 n1 && has 2 1 'n[5-12]' && has 3 601 'n[5-12]' && has 4 3 'n[2-4]'
}
ok "a job of two blocks has whole ones, and one that fits beside them does not wait" whole

# Below a tree nobody heeds --segment but a policy that says so.
by_policy() {
	put_log <<-'EOF'
		2 0
		6 3
	EOF
	put_slurm tree
	rm -f "$T/topology.yaml"
	printf 'SwitchName=%s\n' 'a Nodes=n[1-4]' 'b Nodes=n[5-8]' 'c Nodes=n[9-12]' 'r Switches=a,b,c' >"$T/topology.conf"
	echo 'local sched = require "sched" return sched.site { default = { sched.place { "blocks", segment = function(job) return job.segment end }, "easy" } }' >"$T/site.lua"
	simulated --site="$T/site.lua" && has 1 0 'n[1-2]' && has 2 1 'n[5-7,9-11]' && simulated && has 2 1 'n[3-8]'
	got=$?
	put_slurm block
	return $got
}
ok "a policy heeds the segments of a log where Slurm does not" by_policy

again() {
	put_conf 4 && placed && cp "$T/jobs.csv" "$T/before.csv" &&
		run 0 workload --machine="$T/slurm.conf" --json --output="$T/log.json" "$T/log.txt" && grep -q '"segment": 2' "$T/log.json" &&
		grep -q '"block_nodes": 4' "$T/log.json" && run 0 sim --check --jobs="$T/jobs.csv" "$T/log.json" && cmp "$T/before.csv" "$T/jobs.csv"
}
ok "a workload in JSON keeps segments and blocks" again

bad() {
	put_log <<-'EOF'
		2 0
	EOF
	put_conf 4,6
	run 1 sim --machine="$T/slurm.conf" "$T/log.txt" && err 'topology.conf:4: BlockSizes: 6: expected the first size, 4, times a power of two'
}
ok "sizes of blocks that slurmctld would refuse are refused with the line" bad

echo "1..$n"
