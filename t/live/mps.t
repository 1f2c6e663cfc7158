#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shares of GPUs by MPS: of any GPU where gres.conf says so (all_sharing), else of one GPU of a node at a time.
. "${0%/*}/live.sh"

plain_gres_conf=$(declare -f cluster_gres_conf)
eval "plain_$plain_gres_conf"
MPS_FLAGS=" Flags=all_sharing"
cluster_gres_conf() {
	plain_cluster_gres_conf | sed -nE 's/^(Name=gpu) File=(.*)\[0-1\]$/\1 Type=a File=\20\n\1 Type=a File=\21/p'
	echo "Name=mps Count=200$MPS_FLAGS"
}
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:a:2,mps:200"
live_begin 4 GresTypes=gpu,mps

# It has started, by the plan of the engine (or of select), and select had refused none before.
starts_as_planned() { # JOBID [WHOSE]
	starts "$1"
	lua_schedules || return 0
	wait_for 60 was_explained "$1"
	schedlua explain "$1" > "$C/out"
	cat "$C/out"
	if [ "${2-}" = select ]; then grep 'select picks' "$C/out"; else fails grep -q select "$C/out"; fi
}

of_any_gpu() {
	local first second id
	first=$(submit -n1 -w n001 --gres=mps:60)
	starts_as_planned "$first"
	second=$(submit -n1 -w n001 --gres=mps:60)	# of the other one
	starts_as_planned "$second"
	id=$(submit -n1 -w n001 --gres=mps:50)
	stays_pending "$id"
	starts_as_planned "$(submit -n1 -w n001 --gres=mps:40)"
	scancel "$second"
	starts_as_planned "$id"
}
it "a job gets a share of a GPU that has so much left" of_any_gpu

beside_whole_ones() {
	local whole id
	whole=$(submit -n1 -w n001 --gres=gpu:1)
	starts_as_planned "$whole"
	starts_as_planned "$(submit -n1 -w n001 --gres=mps:30)"
	starts_as_planned "$(submit -n1 -w n001 --gres=mps:70)"
	id=$(submit -n1 -w n001 --gres=gpu:1)
	stays_pending "$id"
	scancel "$whole"
	starts_as_planned "$id"
}
it "... of none that another job has, and nobody has one of which there are shares" beside_whole_ones

# (Select gives shares of the first GPU that has enough, for which the head waits: not of the other one.)
head_keeps_its_time() {
	local head
	needs_lua
	starts "$(submit -n1 -w n001 --gres=mps:60 -t 10)"
	starts "$(submit -n1 -w n001 --gres=mps:60 -t 60)"
	head=$(submit -n1 -w n001 --gres=mps:70 -t 60)
	stays_pending "$head"
	stays_pending "$(submit -n1 -w n001 --gres=mps:40 -t 600)"
	starts_as_planned "$(submit -n1 -w n001 --gres=mps:40 -t 5)"
	squeue -h -t R -o '%A %l' | awk '$2 != "1:00:00" { print $1 }' | xargs scancel
	starts_as_planned "$head"
}
it "a job that waits for shares has its turn" head_keeps_its_time

# With the configuration as it is now, and no jobs.
begin_anew() {
	local node
	cluster_ctld_kill || cluster_ctld_kill KILL
	for node in n00{1..4}; do cluster_slurmd_kill "$node"; done
	rm -rf "$C/state"
	mkdir "$C/state"
	cluster_ctld_start
	for node in n00{1..4}; do cluster_slurmd_start "$node"; done
	wait_for 60 cluster_nodes_ready 4
}

one_at_a_time() {
	MPS_FLAGS=
	cluster_gres_conf > "$C/etc/gres.conf"
	begin_anew
	starts_as_planned "$(submit -n1 -w n001 --gres=mps:60)" select
	stays_pending "$(submit -n1 -w n001 --gres=mps:50)"
	starts_as_planned "$(submit -n1 -w n001 --gres=mps:40)" select
}
it "shares of one GPU at a time are select's" one_at_a_time

very_many() {
	local one
	one=$(cluster_gres_conf | head -n 1)
	printf '%s\nName=mps Count=100000 Flags=all_sharing\n' "$one" > "$C/etc/gres.conf"
	sed -i 's/Gres=gpu:a:2,mps:200/Gres=gpu:a:1,mps:100000/' "$C/etc/slurm.conf"
	begin_anew
	starts_as_planned "$(submit -n1 -w n001 --gres=mps:70000)" select
}
it "... and so are those of a GPU that has more than the engine counts" very_many

live_end
