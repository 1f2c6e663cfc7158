#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# GPUs of the job as a whole, of several types, slices of them, and gres that nobody uses up.
. "${0%/*}/live.sh"

# Two GPUs of different types on each node, slices of them, and something that nobody uses up.
plain_gres_conf=$(declare -f cluster_gres_conf)
eval "plain_$plain_gres_conf"
cluster_gres_conf() {
	plain_cluster_gres_conf | sed -nE 's/^(Name=gpu) File=(.*)\[0-1\]$/\1 Type=a File=\20\n\1 Type=b File=\21/p'
	echo "Name=shard Count=8"
	echo "Name=bandwidth Flags=CountOnly"
	echo "Name=fpga Type=a Count=2"
	echo "Name=fpga Type=b Count=2"
}
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000"
SL_NODE_SHAPE+=" Gres=gpu:a:1,gpu:b:1,shard:8,bandwidth:no_consume:4,fpga:a:2,fpga:b:2"
live_begin 8 GresTypes=gpu,shard,bandwidth,fpga SelectTypeParameters=CR_Core_Memory \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=100" \
	"PartitionName=each Nodes=ALL MaxTime=INFINITE State=UP DefCpuPerGPU=2 DefMemPerGPU=1200"

# What a job has of a gres on all its nodes, and on how many that are.
gres_of() { # JOBID NAME
	local list gres n=0 nodes=0
	while read -r list gres; do
		nodes=$((nodes + $(expand "$list" | wc -l)))
		n=$((n + $(expand "$list" | wc -l) * $(grep -oE "$2:[0-9]+" <<< "$gres" | awk -F: '{ s += $NF } END { print s + 0 }')))
	done < <(scontrol -d show job "$1" | sed -nE 's/^ *Nodes=(\S+) CPU_IDs=.* GRES=(\S*).*/\1 \2/p')
	echo "$n on $nodes"
}

gpus_of_the_job() { # WHAT ARGUMENT...
	local want=$1 id
	id=$(submit "${@:2}")
	starts "$id"
	echo "GPUs: $(gres_of "$id" 'gpu:[ab]')"
	[ "$(gres_of "$id" 'gpu:[ab]')" = "$want" ]
}
it "a job gets GPUs of several nodes where no node has as many" gpus_of_the_job "5 on 3" --gpus=5
it "... so many of one type" gpus_of_the_job "3 on 3" --gpus=b:3
it "... of each type another number" gpus_of_the_job "$(slurm_gives_two_types)" --gpus=a:2,b:1
it "... with memory for each" gpus_of_the_job "5 on 3" --gpus=5 --mem-per-gpu=100
it "... with CPUs for each" gpus_of_the_job "5 on 3" --gpus=5 --cpus-per-gpu=2
it "... up to a number of nodes" gpus_of_the_job "3 on 2" --gpus=3 -N1-4

# It has started, and select had refused no plan before.
starts_as_planned() { # JOBID
	starts "$1"
	lua_schedules || return 0
	wait_for 60 was_explained "$1"
	schedlua explain "$1" > "$C/out"
	cat "$C/out"
	fails grep -q 'select:' "$C/out"
}

# (Left two cores, and one CPU is all that it takes.)
overcommitted() {
	local id
	starts "$(submit -N1 -n6 -w n001)"
	id=$(submit -n4 -O --gres=gpu:1 -w n001)
	starts_as_planned "$id"
	[ "$(job_nodes "$id")" = n001 ]
}
it "a job that overcommits has its GPUs where there is a core for one of its tasks" overcommitted

# (On how many nodes is select's to say: three in 22.05, six in 25.05.)
overcommitted_by_task() {
	local id
	id=$(submit -n6 -O --gpus-per-task=1)
	starts_as_planned "$id"
	[[ $(gres_of "$id" 'gpu:[ab]') == "6 on "* ]]
}
it "a job that overcommits has a GPU for each of its tasks" overcommitted_by_task

# A node has 16000 MiB and eight cores.
beside_one_another() {
	starts "$(submit -N1 -n1 -w n001 --gres=gpu:a:1 --mem-per-gpu=8000 --cpus-per-gpu=4)"
	starts "$(submit -N1 -n1 -w n001 --gres=gpu:b:1 --mem-per-gpu=8000 --cpus-per-gpu=4)"
	stays_pending "$(submit -N1 -n1 -w n001)"
}
it "memory and CPUs are taken for the GPUs that there are, and no others" beside_one_another

# CPUs and memory that a job has of each of its nodes, as the engine has planned it.
each_node_gives() { # "CPUS MIB" ARGUMENT...
	local want=$1 id differs=0
	if lua_schedules; then differs=$(status layout_differs); fi
	id=$(submit "${@:2}")
	starts_as_planned "$id"
	scontrol -d -o show job "$id" | grep -o ' Nodes=.*' | grep -oE 'Nodes=\S+ CPU_IDs=\S+ Mem=[0-9]+' |
		while read -r _ cpus memory; do
			echo "$(expand "n[${cpus#*=}]" | wc -l) ${memory#*=}"
		done | sort -u > "$C/each"
	cat "$C/each"
	[ "$(cat "$C/each")" = "$want" ]
	lua_schedules || return 0
	fails grep -q 'select picks' "$C/out"
	status_is layout_differs "$differs"
}
it "a node gives the memory of its GPUs" each_node_gives "1 3000" -N1 -n1 --gres=gpu:2 --mem-per-gpu=1500
it "... and the CPUs, where tasks take fewer" each_node_gives "6 3000" -N1 -n1 --gres=gpu:2 --mem-per-gpu=1500 --cpus-per-gpu=3
it "... those of the tasks, where they take more" each_node_gives "5 1500" -N1 -n5 --gres=gpu:a:1 --mem-per-gpu=1500 --cpus-per-gpu=3
it "... of several nodes each" each_node_gives "6 3000" -N3 --gres=gpu:2 --mem-per-gpu=1500 --cpus-per-gpu=3
it "... however few tasks a node has" each_node_gives "6 400" -N3 --ntasks-per-node=1 --gres=gpu:2 --mem-per-gpu=200 --cpus-per-gpu=3
it "... of two types the memory of both" each_node_gives "1 3000" -N2 --gres=gpu:a:1,gpu:b:1 --mem-per-gpu=1500
it "... of whole nodes that of all their GPUs" each_node_gives "8 3000" -N2 --exclusive --gres=gpu:1 --mem-per-gpu=1500 --cpus-per-gpu=4

it "... of a GPU for each task" each_node_gives "6 600" -N2 -n4 --gpus-per-task=1 --mem-per-gpu=300 --cpus-per-gpu=3
it "... and its memory alone" each_node_gives "1 300" -N2 -n2 --gpus-per-task=1 --mem-per-gpu=300
it "... of GPUs of the job, on one node" each_node_gives "6 600" -N1 --gpus=2 --mem-per-gpu=300 --cpus-per-gpu=3
it "... however many nodes it may have for one GPU" each_node_gives "7 300" --gpus=1 --mem-per-gpu=300 --cpus-per-gpu=7
it "... or for more" each_node_gives "6 600" --gpus=2 --mem-per-gpu=300 --cpus-per-gpu=3
it "... on the fewest of a range" each_node_gives "6 600" -N2-4 --gpus=4 --mem-per-gpu=300 --cpus-per-gpu=3
it "... on several, of each of which it has one" each_node_gives "3 300" -N3 --gpus=3 --mem-per-gpu=300 --cpus-per-gpu=3
it "... or all" each_node_gives "6 600" -N2 --gpus=4 --mem-per-gpu=300 --cpus-per-gpu=3
it "... of the job memory alone" each_node_gives "1 300" -N2 --gpus=2 --mem-per-gpu=300
it "... as the partition has it" each_node_gives "4 2400" -p each -N2 --gres=gpu:2
it "... also of GPUs of the job" each_node_gives "2 1200" -p each -N3 --gpus=3
it "... also for each task" each_node_gives "4 2400" -p each -N2 -n4 --gpus-per-task=1

too_much_for_whole_nodes() {
	fails submit -N1 --exclusive --gres=gpu:1 --cpus-per-gpu=5
	fails submit -N1 --exclusive --gres=gpu:1 --mem-per-gpu=8001
	starts "$(submit -N1 --exclusive --gres=gpu:1 --cpus-per-gpu=4 --mem-per-gpu=8000)"
}
it "a whole node without enough for all its GPUs is none" too_much_for_whole_nodes

# It is planned for when both are free: whoever would keep it from that waits.
waits_for_memory() {
	local first head short
	first=$(submit -N1 -n1 -w n001 --gres=gpu:a:1 --mem-per-gpu=12000 --cpus-per-gpu=1 -t 10)
	starts "$first"
	head=$(submit -N1 -n1 -w n001 --gres=gpu:b:1 "$@" -t 60)
	stays_pending "$head"
	wait_for 20 fails job_waits_for "$head" '^None$'
	stays_pending "$(submit -N1 -n1 -w n001 "${BESIDE[@]}" -t 60)"
	short=$(submit -N1 -n1 -w n001 --mem=3000 -t 5)
	starts "$short"
	scancel "$first" "$short"
	starts "$head"
}
BESIDE=(--mem=4000)
it "a job waits for its GPUs' memory" waits_for_memory --mem-per-gpu=12001
BESIDE=(-c2)
it "... and for their CPUs" waits_for_memory --cpus-per-gpu=8 --mem-per-gpu=1000

too_many_gpus() {
	local id all
	all=$(submit --gpus=14)
	starts "$all"
	[ "$(gres_of "$all" 'gpu:[ab]')" = "14 on 7" ]
	id=$(submit --gpus=3)
	stays_pending "$id"
	scancel "$all"
	starts "$id"
}
it "a job waits for GPUs of several nodes until there are so many" too_many_gpus

by_default() {
	scontrol update PartitionName=main JobDefaults=DefMemPerGPU=12000
	waits_for_memory
	scontrol update PartitionName=main JobDefaults=
}
BESIDE=(--mem=4001)
it "... also where the partition says how much" by_default

uncounted() {
	local id other
	id=$(submit --gres=bandwidth:3)
	other=$(submit -N8 --gres=bandwidth:4)
	starts_as_planned "$id"
	starts_as_planned "$other"
	is_placed "$other"
}
# (explain: by the engine, with select's word on nothing.)
is_placed() { # JOBID
	lua_schedules || return 0
	fails grep -qi 'select' "$C/out"
}
it "a gres that nobody uses up keeps no job from starting" uncounted

too_few_of_uncounted() {
	fails submit --gres=bandwidth:5
}
it "... where nodes have so many" too_few_of_uncounted

shards() {
	local id i ids=()
	for i in 1 2 3 4; do ids+=("$(submit -w n001 --gres=shard:2)"); done
	for id in "${ids[@]}"; do
		starts_as_planned "$id"
		is_placed
	done
	id=$(submit -w n001 --gres=shard:1)
	stays_pending "$id"
	scancel "${ids[0]}"
	starts_as_planned "$id"
	is_placed
}
it "slices of GPUs are given out until they are used up" shards

# Each GPU has four.
of_one_gpu() {
	local first second id
	first=$(submit -n1 -w n001 --gres=shard:3)
	starts_as_planned "$first"
	second=$(submit -n1 -w n001 --gres=shard:3)
	starts_as_planned "$second"
	is_placed
	id=$(submit -n1 -w n001 --gres=shard:2)	# two are free, of different GPUs
	stays_pending "$id"
	starts "$(submit -n1 -w n001 --gres=shard:1)"
	scancel "$second"
	starts_as_planned "$id"
	is_placed
}
it "... those of a job are of one GPU" of_one_gpu

whole_or_sliced() {
	local whole part id both
	whole=$(submit -n1 -w n001 --gres=gpu:1)
	starts "$whole"
	part=$(submit -n1 -w n001 --gres=shard:4)
	starts_as_planned "$part"
	is_placed
	id=$(submit -n1 -w n001 --gres=shard:1)
	stays_pending "$id"
	both=$(submit -n1 -w n001 --gres=gpu:2)
	scancel "$whole"
	starts_as_planned "$id"
	is_placed
	stays_pending "$both"
	scancel "$part" "$id"
	starts_as_planned "$both"
	is_placed
}
it "... a GPU is whole or in slices" whole_or_sliced

# All in one cycle, on nodes that are all alike.
many_slices() {
	local id ids=()
	scontrol update PartitionName=main State=DOWN
	for id in {1..6}; do
		ids+=("$(submit -n1 --gres=shard:3)" "$(submit -n1 --gres=gpu:1)" "$(submit -N2 --ntasks-per-node=1 --gres=shard:1)")
	done
	scontrol update PartitionName=main State=UP
	for id in "${ids[@]}"; do starts_as_planned "$id"; is_placed; done
}
it "... many jobs have some in one cycle" many_slices

# Without files select gives a job all that it has of a node of one type.
of_one_type() {
	local first id
	first=$(submit -w n001 --gres=fpga:a:1)
	starts "$first"
	starts "$(submit -w n001 --gres=fpga:b:1)"
	id=$(submit -w n001 --gres=fpga:2)
	stays_pending "$id"
	starts "$(submit -w n001 --gres=fpga:b:1)"
	scancel "$first"
	starts "$id" 40
	lua_schedules || return 0
	wait_for 60 was_explained "$id"
	schedlua explain "$id" > "$C/out"
	cat "$C/out"
	fails grep -qE '\([0-9]+ cores?\): select:' "$C/out"
}
it "a gres of types without files is left to select, which takes one of them" of_one_type

# Its tasks are dealt out by select, which gives it the node and the GPU that were booked.
beside_select() {
	local native id
	scontrol update PartitionName=main State=DOWN
	native=$(submit -N1-2 -n2 --use-min-nodes -w n001 -m plane=2 --gres=gpu:a:1)
	id=$(submit -N1 -n1 -w n001 --gres=gpu:b:1)
	scontrol update PartitionName=main State=UP
	starts "$native"
	starts "$id"
	lua_schedules || return 0
	wait_for 60 was_explained "$native"
	schedlua explain "$native" | grep 'select picks'
	wait_for 60 was_explained "$id"
	schedlua explain "$id" > "$C/out"
	cat "$C/out"
	fails grep -q 'select has put a job there' "$C/out"
}
it "a job beside one to which select gives what was booked starts with it" beside_select

# Select finds no two sockets with all cores free on the first node, which the plan cannot tell, and takes the second
# one: there an alternative was planned, which is no worse for that.
strays_onto_an_alternative() {
	local native id cycles failed
	starts "$(submit -N1 -n1 -w n001)"
	failed=$(status failed_starts)
	scontrol update PartitionName=main State=DOWN
	native=$(submit -N1 -n2 --gpus-per-socket=1 --sockets-per-node=2 --cores-per-socket=4)
	id=$(submit -N8 --exclusive -w n002 --comment='sched: -N1 -n8')
	scontrol update PartitionName=main State=UP
	starts "$native"
	[ "$(job_nodes "$native")" = n002 ]
	needs_lua
	cycles=$(status cycles)
	wait_for 30 cycles_since "$cycles"
	schedlua explain "$id" > "$C/out"
	cat "$C/out"
	grep -q 'select has put a job there' "$C/out"
	status_is failed_starts "$failed"
	scancel "$native"
	starts "$id"
}
cycles_since() { [ "$(status cycles)" -gt $(($1 + 2)) ]; }
it "an alternative is not blamed for a job that select has put in its place" strays_onto_an_alternative

live_end
