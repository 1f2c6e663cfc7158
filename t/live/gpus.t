#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# GPUs that are near cores, and what is asked of them for each socket and each task.
# As under Slurm's own schedulers (SL_SCHEDULER=sched/backfill).
. "${0%/*}/live.sh"

# Four nodes of two sockets, two of one.
cluster_node_lines() { # NODES PORT
	local at="NodeAddr=127.0.0.1 NodeHostname=localhost CPUs=8 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:4"
	echo "NodeName=$(cluster_nodelist 6 1 4) $at Port=[$2-$(($2 + 3))] Sockets=2 CoresPerSocket=4"
	echo "NodeName=$(cluster_nodelist 6 5 6) $at Port=[$(($2 + 4))-$(($2 + 5))] Sockets=1 CoresPerSocket=8"
}

# Two GPUs are near each of two sockets.  (From 23.11 on Slurm wants whole ones.)
cluster_gres_conf() {
	local i file=/dev/tty
	for i in 0 1 2 3; do
		[ -c "$C/dev/gpu$i" ] || mknod "$C/dev/gpu$i" c 1 3 2>/dev/null
	done
	[ ! -c "$C/dev/gpu3" ] || file=$C/dev/gpu
	echo "NodeName=$(cluster_nodelist 6 1 4) Name=gpu File=${file}[0-1] Cores=0-3"
	echo "NodeName=$(cluster_nodelist 6 1 4) Name=gpu File=${file}[2-3] Cores=4-7"
	echo "NodeName=$(cluster_nodelist 6 5 6) Name=gpu File=${file}[0-3] Cores=0-7"
}
live_begin 6 SelectTypeParameters=CR_Core_Memory DefMemPerCPU=100 \
	"PartitionName=two Nodes=n[001-004] Default=YES MaxTime=INFINITE State=UP" \
	"PartitionName=one Nodes=n[005-006] MaxTime=INFINITE State=UP"

# CPUs and GPUs that a job has of each of its nodes, one after the other, as the engine has planned it.
gives() { # "CPUS:GPUS ..." ARGUMENT...
	local want=$1 id line differs=0
	if lua_schedules; then differs=$(status layout_differs); fi
	id=$(submit "${@:2}")
	starts "$id"
	has_each "$id" | tee "$C/each"
	[ "$(cat "$C/each")" = "$want" ]
	lua_schedules || return 0
	wait_for 60 was_explained "$id"
	schedlua explain "$id" > "$C/out"
	cat "$C/out"
	fails grep -q 'select' "$C/out"
	status_is layout_differs "$differs"
}
has_each() { # JOBID
	local line list cpus gpus node
	while read -r line; do
		list=${line%% *} cpus=$(grep -oE 'CPU_IDs=[^ ]+' <<< "$line") gpus=$(grep -oE 'gpu:[0-9]+' <<< "$line")
		for node in $(expand "${list#Nodes=}"); do
			echo "$node $(expand "n[${cpus#*=}]" | wc -l):${gpus#*:}"
		done
	done < <(scontrol -d -o show job "$1" | grep -oE ' Nodes=[^ ]+ CPU_IDs=[^ ]+ Mem=[0-9]+ GRES=[^ ]*' | sed 's/^ //') |
		sort | cut -d ' ' -f 2 | paste -sd ' '
}
more_than_a_socket_has() { fails submit -N1 --exclusive --sockets-per-node=1 --gpus-per-socket=3; }
it "more GPUs than any socket has are select's to refuse" more_than_a_socket_has

# Of the second node it has no GPU.
more_nodes_than_gpus() {
	local id
	id=$(submit -p one -n12 --gpus=1)
	starts "$id"
	[ "$(job_get "$id" NumNodes)" = 2 ]
	scancel "$id"
}
it "tasks that need more nodes than the job has GPUs start" more_nodes_than_gpus

# What a node is to have follows from it.
of_node_and_socket() {
	local id
	id=$(submit -N1 -n1 --gpus-per-node=2 --gpus-per-socket=2 --sockets-per-node=1)
	starts "$id"
	lua_schedules || return 0
	wait_for 60 was_explained "$id"
	schedlua explain "$id" | tee "$C/out"
	grep -q 'select picks' "$C/out"
}
it "GPUs of a socket that are said of the node, too, are select's to find on parts of nodes" of_node_and_socket

it "a node has so many tasks for each of its GPUs" gives "4:2" -N1 --gpus-per-node=2 --ntasks-per-gpu=2
it "... each of several" gives "4:2 4:2" -N2 --gpus-per-node=2 --ntasks-per-gpu=2
it "... of more CPUs" gives "4:1 4:1" -N2 -n4 --gpus-per-node=1 --ntasks-per-gpu=2 -c2
it "... of GPUs of the job on one node, though it may have more" gives "6:3" --gpus=3 --ntasks-per-gpu=2
it "... on several, of each of which it has one" gives "3:1 3:1" -N2 --gpus=2 --ntasks-per-gpu=3
it "... or all" gives "8:4 8:4" -N2 --gpus=8 --ntasks-per-gpu=2
it "... of as many GPUs as there are tasks for" gives "4:2" -n4 --ntasks-per-gpu=2
it "... of whole nodes" gives "8:4 8:4" -N2 --exclusive --gpus-per-node=4 --ntasks-per-gpu=1
it "... and of nodes of one socket" gives "4:2 4:2" -p one -N2 --gpus-per-node=2 --ntasks-per-gpu=2

# (With GPUs near but one of their sockets select may give more cores than tasks take.)
bound_to_sockets() {
	local id differs
	differs=$(status layout_differs)
	id=$(submit -N1 -n2 --gpus-per-task=1 --gres-flags=enforce-binding)
	starts "$id"
	has_each "$id" | tee "$C/each"
	grep -q ':2$' "$C/each"
	starts "$(submit -n1 --gres=gpu:1 --gres-flags=enforce-binding)"
	status_is layout_differs "$differs"
}
it "tasks that are bound to GPUs have the cores that select says" bound_to_sockets
it "cores bound to GPUs of a node of one socket are any of it" gives "3:2" -p one -N1 -n3 --gres=gpu:2 --gres-flags=enforce-binding
it "... of whole nodes all of them" gives "8:4" -N1 --exclusive --gres=gpu:4 --gres-flags=enforce-binding

# No node has as many.
on_more_nodes() {
	local id
	id=$(submit --gpus=6 --ntasks-per-gpu=1)
	starts "$id"
	has_each "$id" | tee "$C/each"
	[ "$(tr ' ' '\n' < "$C/each" | awk -F: '{ n += $2 } END { print n }')" = 6 ]
}
it "... if no node has as many GPUs, select deals them out" on_more_nodes

live_end
