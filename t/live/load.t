#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Least loaded nodes: with CR_LLN, and in a partition of LLN=YES, the same jobs one after the other get the same
# nodes under sched/backfill and under sched/lua, where the engine chooses them.
SL_NODE_KINDS="Weight=1 Weight=2"
. "${0%/*}/live.sh"
needs_plugin
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"
SEED=${SL_SEED:-1} STEPS=${SL_STEPS:-20} AT_ONCE=7
LIVE_LINES+=("PartitionName=least Nodes=ALL MaxTime=INFINITE State=UP LLN=YES")
live_begin 12 SelectTypeParameters=CR_Core_Memory
needs_engine

# slurmctld anew, under that scheduler.
restart() { # stock | lua
	local plugins=$SL_SLURM_PLUGINS type=sched/backfill
	local parameters=bf_interval=1,sched_interval=1,sched_min_interval=0
	[ "$1" = stock ] || type=sched/lua plugins=$SL_PLUGINDIR:$plugins parameters=defer,sched_interval=-1
	cluster_ctld_kill
	cluster_conf "SchedulerType=$type" "SchedulerParameters=$parameters" "PluginDir=$plugins"
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
}

# Jobs of one node are compared where Slurm chooses it.
LEAST=1
slurm_chooses_one_node || LEAST=2

# Into REQUEST (a subshell would have random numbers of its own).  There is room for any beside AT_ONCE - 1 others.
request() {
	local n=$((LEAST + RANDOM % (4 - LEAST)))
	case $((RANDOM % (7 - LEAST))) in
	0) REQUEST="-n$((LEAST + RANDOM % (7 - LEAST)))" ;;
	1) REQUEST="-N$n -n$((n + RANDOM % 4))" ;;
	2) REQUEST="-N$n --ntasks-per-node=$((1 + RANDOM % 2))" ;;
	3) REQUEST="-n$n -c2" ;;
	4) REQUEST="-N$n --mem=$((1000 + RANDOM % 1000))" ;;
	5) printf -v REQUEST -- '-n1 -w n%03d' $((1 + RANDOM % NODES)) ;;
	esac
}

# (How many cores each node gives is the plan's too before 23.11: accepted.t looks at that.)
engine_chose() {
	wait_for 60 was_explained "$1" >&2
	[[ $(was_explained "$1") != *"select picks"* ]]
}

# A line for each job: what it asks for and where it goes.
in_turn() { # OPTION...
	local step id
	local -a ids=()
	RANDOM=$SEED
	for ((step = 1; step <= STEPS; step++)); do
		if [ ${#ids[@]} -ge $AT_ONCE ]; then
			scancel "${ids[0]}"
			wait_for 30 job_done "${ids[0]}"
			wait_for 30 eval '[ -z "$(sinfo -h -N -t comp -o %N)" ]'
			ids=("${ids[@]:1}")
		fi
		request
		# shellcheck disable=SC2086	# words of a command line
		id=$(submit --mem=100 "$@" $REQUEST)
		starts "$id" 30
		echo "$REQUEST: $(job_nodes "$id")"
		ids+=("$id")
	done
	# (from 26.05 on select deals the tasks of several nodes itself there)
	! lua_schedules || [ $LEAST = 2 ] || engine_chose "$id"
}

alike() { # OPTION...
	restart stock
	in_turn "$@" > "$C/stock.nodes"
	live_reset
	restart lua
	in_turn "$@" > "$C/lua.nodes"
	diff "$C/stock.nodes" "$C/lua.nodes"
}

cluster_wide() {
	cluster_conf SelectTypeParameters=CR_Core_Memory,CR_LLN
	alike
}

# Each is less loaded than the one before, and the first ones are preferred by their weight.
by_turns() {
	local id n
	restart lua
	for n in n001 n002 n003 n004; do
		id=$(submit -p least -N1 -n1 --mem=100)
		starts "$id" 30
		engine_chose "$id"
		[ "$(job_nodes "$id")" = $n ]
	done
}

# The request does not say how many tasks each node has: the plan does, and select is told.
dealt() {
	local request id count=0
	restart lua
	for request in "-N2 -n3" "-N3 -n7" "-n11" "-N2-3 -n5 -c2"; do
		# shellcheck disable=SC2086	# words of a command line
		id=$(submit -p least --mem=100 $request)
		starts "$id" 30
		engine_chose "$id"
		count=$((count + 1))
		wait_for 30 status_is starts $count
		[ "$(status layout_differs)" = 0 ]
		scontrol -o show partition least | grep -q ' LLN=YES '
	done
}

it "jobs of one node get the least loaded one" by_turns
it "in a partition of least loaded nodes several give what the plan says, and select is asked for no other" dealt
it "in a partition of least loaded nodes jobs get the nodes that Slurm gives them" alike -p least
it "with CR_LLN jobs get the nodes that Slurm gives them" cluster_wide

live_end
