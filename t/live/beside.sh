# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# beside.sh - scenes under Slurm's own schedulers and under sched/lua, for sourcing after live.sh.
#
#   beside_begin                   after live_begin: slurm.conf as it is now is what each scene begins with
#   beside_live_begin [LINE...]    both, with small nodes and two partitions
#   same_as_stock SCENE [LINE...]  what the function prints is the same under both, with these lines of slurm.conf
#   got OPTION...                  in a scene: a job that can start at once
#   waits HOLDER OPTION...         one that can when that job has ended
#   was_left_to_select             the last job that got something is one that the engine does not place
#   holds OPTION...                one that keeps nodes busy
#   topology_with_blocks NODES     topology.yaml: the cluster's own on stdin, and "blocks", the second of which has those nodes
#
# Under sched/lua a job that can start at once has to be started by the first plan that has it: one that Slurm's select
# refuses, and that some later plan starts all the same, fails the scene.

PARAMETERS=		# further words of SchedulerParameters
STOCK_PARAMETERS=bf_interval=1,bf_continue,bf_resolution=1,sched_interval=2,sched_min_interval=0
TAKES_HET_JOBS=		# not empty: scenes have heterogeneous jobs
NODE_WORDS=		# further words of the line of nodes
STOCK_SAYS=		# what Slurm's own schedulers of this release print, a slash, and what sched/lua is to print in its place

# Eight nodes of four cores, and partitions of which jobs of one may preempt those of the other. LINE: of slurm.conf.
# shellcheck disable=SC2034	# for cluster.sh and live.sh
beside_live_begin() { # [LINE...]
	SL_NODE_SHAPE="CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=4000"
	LIVE_LINES=(
		"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1"
		"PartitionName=above Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF"
	)
	live_begin 8 DebugFlags=NO_CONF_HASH "$@"
	needs_engine
	beside_begin
}

beside_begin() {
	cp "$C/etc/slurm.conf" "$C/slurm.conf"
}

# slurmctld anew under that scheduler, with these lines and no others.
anew() { # stock | lua [LINE...]
	local type=sched/lua parameters=defer,sched_interval=-1 plugins=${SL_PLUGINDIR:-$TOP/.work/inst/lib/slurm}
	if [ "$1" = stock ]; then
		type=sched/backfill parameters=$STOCK_PARAMETERS
	elif [ -n "$TAKES_HET_JOBS" ]; then
		type=sched/backfill plugins=$plugins/schedlua:$plugins	# by that name slurmctld takes heterogeneous jobs
	fi
	cluster_ctld_kill
	cp "$C/slurm.conf" "$C/etc/slurm.conf"
	cluster_conf "SchedulerType=$type" "SchedulerParameters=$parameters$PARAMETERS" "PluginDir=$plugins:$SL_SLURM_PLUGINS" "${@:2}"
	sed -i "/^NodeName=/s/\$/ $NODE_WORDS/" "$C/etc/slurm.conf"
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
}

# The function prints the same under Slurm's own schedulers and under sched/lua.
same_as_stock() { # FUNCTION [LINE...]
	trap 'where >&2' ERR	# (what the function prints is compared)
	anew stock "${@:2}"
	"$1" > "$C/stock"
	if [ -n "$STOCK_SAYS" ]; then
		grep -- "${STOCK_SAYS%%/*}" "$C/stock" > /dev/null
		sed -i "s/$STOCK_SAYS/" "$C/stock"
	fi
	live_reset || true
	anew lua "${@:2}"
	"$1" > "$C/lua"
	diff "$C/stock" "$C/lua"
	[ -s "$C/lua" ]
}

# n001:0-2 n002:0-5 : CPUs of a job on each of its nodes
layout() { # JOBID
	scontrol -d show job "$1" | sed -nE 's/^ *Nodes=(\S+) CPU_IDs=(\S+) .*/\1 \2/p' | while read -r list ids; do
		local node
		for node in $(expand "$list"); do echo "$node:$ids"; done
	done | sort | paste -sd' '
}

# The job runs, and select has refused no plan of it before, nor given it other cores than were planned.
as_planned() { # JOBID
	lua_schedules || return 0
	status_is layout_differs 0
	wait_for 60 was_explained "$1" > /dev/null
	schedlua explain "$1" > "$C/explained"
	! grep 'select:' "$C/explained" >&2
}

got() { # OPTION... : it starts; what it has
	local id
	id=$(submit "$@")
	LAST=$id
	starts "$id" 30 || { echo "$*: $(job_state "$id") $(job_reason "$id")" >&2; return 1; }
	as_planned "$id"
	echo "$*: $(layout "$id")"
}

# Nor has the engine chosen for select where it cannot know: the last job that got something is one of those.
was_left_to_select() { ! lua_schedules || [[ $(was_explained "$LAST") == *"select picks"* ]]; }

start_time() { date -d "$(job_get "$1" "$2")" +%s 2> /dev/null; } # JOBID StartTime|EndTime
is_expected() { [[ $(job_get "$1" StartTime) == 2* ]]; } # JOBID

# When a job is expected: as that one ends, or so many minutes after that.  (Of a job that select has to place the plan
# only knows a bound.)
expected() { # JOBID HOLDER
	local after
	wait_for 30 is_expected "$1"
	after=$((($(start_time "$1" StartTime) - $(start_time "$2" EndTime)) / 60))
	if [ "$after" = 0 ]; then echo "when that one ends"; else echo "$after minutes after that one ends"; fi
}

# It waits, and is neither held nor called impossible: when that job has ended it starts.
waits() { # HOLDER OPTION...
	local id
	id=$(submit "${@:2}")
	stays_pending "$id"
	[ "$(job_get "$id" Priority)" != 0 ]
	scancel "$1"
	starts "$id" 30 || { echo "${*:2}: $(job_state "$id") $(job_reason "$id")" >&2; return 1; }
	echo "${*:2}: $(layout "$id")"
}

is_idle() { [ "$(sinfo -h -N -n "$1" -o %T | sort -u)" = idle ]; } # NODES

holds() { # OPTION... : that they are busy; prints the job
	local id
	id=$(submit -t 30 "$@")
	starts "$id" 30
	as_planned "$id"
	echo "$id"
}

needs() { # SERIES WHAT
	slurm_since "$1" || skip "there is no $2 before $1"
}

# The lines of the cluster's own topology on stdin, without a name; beside it one of two blocks for partitions that say so.
topology_with_blocks() { # NODES of the second block
	{
		printf '%s\n' '---' '- topology: own' '  cluster_default: true'
		cat
		cat <<-EOC
			- topology: blocks
			  cluster_default: false
			  block:
			    block_sizes:
			      - 4
			    blocks:
			      - block: b1
			        nodes: n[001-004]
			      - block: b2
			        nodes: $1
		EOC
	} > "$C/etc/topology.yaml"
}
# shellcheck disable=SC2034	# for the files that source this one
BLOCKS="PartitionName=blocks Nodes=ALL MaxTime=INFINITE State=UP Topology=blocks"

# A job may preempt another one only while its priority is higher.
priority_scene() { # PARTITION of the one that may be preempted, and of the other one
	local low high
	low=$(submit -p "$1" -N8 --exclusive -t 60 --priority=1000)
	starts "$low" 30
	high=$(submit -p "$2" -N8 --exclusive -t 10 --priority=500)	# it may not
	stays_pending "$high"
	echo "the one of lower priority is expected $(expected "$high" "$low")"
	job_is "$low" RUNNING
	scontrol update "JobId=$high" Priority=2000
	starts "$high" 60
	echo "the one of higher priority runs on $(job_nodes "$high"), the other one is $(job_state "$low")"
}
