#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Jobs go below as few switches as can be.  (Slurm's own schedulers pass this too, but for what no leaf
# has room for: they look at leaves and at the root.)
. "${0%/*}/live.sh"
live_begin 16
cat > "$C/etc/topology.conf" <<-'EOC'
	SwitchName=leaf1 Nodes=n[001-004]
	SwitchName=leaf2 Nodes=n[005-008]
	SwitchName=leaf3 Nodes=n[009-012]
	SwitchName=leaf4 Nodes=n[013-016]
	SwitchName=left Switches=leaf[1-2]
	SwitchName=right Switches=leaf[3-4]
	SwitchName=root Switches=left,right
EOC
cluster_conf TopologyPlugin=topology/tree
cluster_ctld_kill
cluster_ctld_start
wait_for 30 cluster_nodes_ready 16 || { echo "Bail out! the nodes are not back"; exit 1; }

holds() { # NODES : they are busy
	local id
	id=$(submit -N"$(expand "$1" | wc -l)" --exclusive -w "$1")
	starts "$id"
}

runs_on() { # NODES OPTION...
	local id
	id=$(submit "${@:2}")
	starts "$id"
	echo "$(job_nodes "$id"), $1 expected"
	[ "$(job_nodes "$id")" = "$1" ]
}

one_leaf() {
	holds 'n[001-002,013-016]'
	runs_on 'n[005-007]' -N3 --exclusive
	runs_on 'n[009-012]' -N4 --exclusive
}
it "a job goes below one leaf switch that has room, though nodes before it are free" one_leaf

fullest_leaf() {
	holds 'n[001,005-006,009,013]'
	runs_on 'n[007-008]' -N2 --exclusive
}
it "of leaf switches with room for it the fullest is taken" fullest_leaf

half() {
	holds 'n[003-008]'
	runs_on 'n[009-014]' -N6 --exclusive
}
it "what no leaf has room for goes below the next switch that has" half

everywhere() {
	holds 'n[004,008,012,016]'
	runs_on 'n[001-003,005-007,009-011,013-015]' -N12 --exclusive
}
it "what no switch has room for but the root is spread" everywhere

for_a_while() {
	local id
	holds 'n[001-003,005-007,009-011,013-014]'
	id=$(submit -N2 --exclusive --switches=1@300)
	starts "$id" 60
	[ "$(job_nodes "$id")" = 'n[015-016]' ]
	placed_by_engine "$id"
	id=$(submit -N2 --exclusive --switches=1@300)
	wait_for 60 job_waits_for "$id" 'Resources|needs nodes below 1 leaf switch'
	stays_pending "$id"
	scancel "$id"
	runs_on 'n[004,008]' -N2 --exclusive
}
it "a job that asks for few switches waits for them, another one does not" for_a_while

long_enough() {
	local id
	holds 'n[001-003,005-007,009-011,013-016]'
	id=$(submit -N2 --exclusive --switches=1@300)
	scontrol update JobId="$id" wait-for-switch=8
	starts "$id" 90
	[ "$(job_nodes "$id")" = 'n[004,008]' ]
	[ "$(job_get "$id" Switches)" = 1@00:00:08 ]
	placed_by_engine "$id"
	[ $(($(date -d "$(job_get "$id" StartTime)" +%s) - $(date -d "$(job_get "$id" SubmitTime)" +%s))) -ge 8 ]
}
it "... but for no longer than it is willing to wait" long_enough

two() {
	local id
	holds 'n[001-003,005-007,009-011,013-014]'
	id=$(submit -N3 --exclusive --switches=2@300)
	starts "$id" 60
	[ "$(job_nodes "$id")" = 'n[012,015-016]' ]
	placed_by_engine "$id"
}
it "it may ask for two of them" two

live_end
