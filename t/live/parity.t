#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same random jobs on the same machine under sched/backfill and under sched/lua: who starts, with how much, what
# is said of those that wait.  Where they may differ says doc/parity.md.
#
# By hand, for longer: SL_SEED=N (the first), SL_RUNS=N (seeds), SL_ISLANDS=N, SL_LOAD=N (jobs of an island with more
# than fits).  Nodes are of the cloud: no slurmd, and a job that has nodes stays CONFIGURING.
SL_CLOUD=1
. "${0%/*}/live.sh"
. "${0%/*}/audit.sh"
needs_plugin
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"
SEED=${SL_SEED:-1} RUNS=${SL_RUNS:-1} ISLANDS=${SL_ISLANDS:-40} LOAD=${SL_LOAD:-4}
NODES_HERE=$((6 * ISLANDS))
# All nodes sleep, and none comes up while a seed takes; a plan counts the time of a boot.
export SL_BOOTS=600

cluster_node_lines() { lua5.4 "$HERE/parity.lua" machine "$SEED" "$ISLANDS" "$2"; } # NODES PORT
LIVE_LINES=("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=DOWN")
BACKFILL=bf_interval=1,bf_max_job_test=10000,bf_continue,bf_window=20000
BACKFILL+=,sched_interval=1,sched_min_interval=0,default_queue_depth=10000
live_begin "$NODES_HERE" SelectTypeParameters=CR_Core_Memory DefMemPerCPU=100 Licenses=lic:10000,few:3 \
	AllowSpecResourcesUsage=YES DebugFlags=NO_CONF_HASH SlurmctldDebug=debug "ResumeTimeout=$SL_BOOTS"
needs_engine
cluster_site <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, budget = 20, default = { { "conservative", window = 10000 } } }
EOL

# slurmctld anew, under that scheduler, with the state of the queue if there is one.
begin() { # stock | lua | none
	local plugins=$SL_SLURM_PLUGINS parameters=$BACKFILL type=sched/backfill
	case $1 in
	lua) plugins=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$plugins parameters=defer,sched_interval=-1 ;;
	none) parameters=defer,batch_sched_delay=10000,bf_interval=10000 ;;
	esac
	cluster_ctld_kill || cluster_ctld_kill KILL
	cluster_conf "SchedulerType=$type" "SchedulerParameters=$parameters" "PluginDir=$plugins"
	sed -i -E "/^PartitionName=i/s/State=.*/State=$2/" "$C/etc/slurm.conf"
	rm -rf "$C/state"
	if [ -d "$C/queue" ]; then cp -a "$C/queue" "$C/state"; else mkdir "$C/state"; fi
	mark_log
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES_HERE"
}

# The next seed has a cluster of its own.
live_reset() { :; }

# All jobs of a seed, taken in while no partition is up; options keeps "id sbatch OPTION...".
make_queue() {
	local line id port
	rm -rf "$C/queue"
	sed -i '/^NodeName=/d; /^PartitionName=i/d' "$C/etc/slurm.conf"
	port=$(sed -n 's/^SlurmctldPort=//p' "$C/etc/slurm.conf")
	cluster_node_lines "$NODES_HERE" "$port" >> "$C/etc/slurm.conf"
	begin none DOWN
	: > "$C/options"
	id=
	while read -r line; do
		line=${line//LAST/$id}
		if [[ $line == scontrol* ]]; then
			$line > /dev/null
		elif [[ $line == *'*'* ]] && ! slurm_starts_counts "$line"; then
			continue
		# (what could never run is refused)
		elif id=$($line --parsable -o /dev/null --wrap 'sleep 1' 2> /dev/null < /dev/null); then
			echo "$id $line" >> "$C/options"
		fi
	done < <(lua5.4 "$HERE/parity.lua" jobs "$SEED" "$ISLANDS" "$LOAD")
	cluster_save_jobs
	cluster_ctld_kill
	cp -a "$C/state" "$C/queue"
	rm -rf "$C"/queue/{node_state,part_state}* "$C/queue/schedlua"
	echo "$(wc -l < "$C/options") jobs"
}

# 24.11 takes in what could never run, and stock holds it then: no more is said of that than where it is refused.
leave_out_held() {
	local id
	sed -nE 's/^JobId=([0-9]+) .* Reason=BadConstraints .*/\1/p' "$C/stock.jobs" | while read -r id; do
		sed -i "/^$id /d" "$C/options"
	done
}

# Jobs that select did not give what was planned.
elsewhere() { log_since | sed -nE 's/.*JobId=([0-9]+).*: select gave other cores than planned.*/elsewhere \1/p'; }

has_nodes() { squeue -h -r -t R,CF -o %i | wc -l; }

passes() { sdiag | sed -n '/^Backfilling/,$s/^\tTotal cycles: *//p' | head -n 1; }

# Nothing has started for five passes of the scheduler.
LAST=-1 QUIET=0 PASSES=0
quiet() {
	local n passes
	sleep 1
	passes=$(passes)
	[ "${passes:-0}" -gt "$PASSES" ] || return 1
	PASSES=$passes
	n=$(has_nodes)
	if [ "$n" = "$LAST" ] && [ "$n" -gt 0 ]; then QUIET=$((QUIET + 1)); else LAST=$n QUIET=0; fi
	[ "$QUIET" -ge "$1" ]
}

under() { # stock | lua
	begin "$1" UP
	LAST=-1 QUIET=0 PASSES=0
	wait_for 9 quiet 5	# (a second for each look)
	scontrol -d -o show job > "$C/$1.jobs"
	audit_allocations
}

# What sched/lua has not come to yet it may: looked at again for some minutes.
compare() {
	{ scontrol -d -o show job; elsewhere; } > "$C/lua.jobs"
	lua5.4 "$HERE/parity.lua" compare "$TOP/doc/parity.md" "$C/options" "$C/stock.jobs" "$C/lua.jobs" \
		> "$C/compared"
}

alike() {
	local look same=
	make_queue
	under stock
	leave_out_held
	under lua
	wait_for 20 log_has 'sched/lua: the engine runs'
	for look in {1..48}; do
		if compare; then
			same=$look
			break
		fi
		sleep 5
	done
	[ -n "$same" ] || { cat "$C/compared"; false; }
	tail -n 1 "$C/compared" | sed 's/^/# /' >> "$C/summary"
	audit_allocations
	log_since > "$C/said"
	lua5.4 "$HERE/carried.lua" "$C/state/schedlua/decisions.jsonl" "$C/options" "$C/said" > "$C/carried" || true
	sed 's/^/# /' "$C/carried" >> "$C/summary"
}

for ((run = 0; run < RUNS; run++)); do
	it "the same jobs have the same under both schedulers (seed $SEED)" alike
	cat "$C/summary" 2> /dev/null
	rm -f "$C/summary"
	SEED=$((SEED + 1))
done

live_end
