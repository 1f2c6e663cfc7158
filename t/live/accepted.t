#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On random machines (features, sockets, threads, switches, reservations, GPUs, shared cores) with random requests: what the engine
# starts select accepts as it was planned, nothing is given twice, and what waits although its island is idle could
# not be started by select either.  Every other job asks for two words of the list of what is left to select beside what
# (engine/image/words.h): of how many pairs that the engine is to place it was tried is said at the end.  SL_CLAIMS=FILE
# collects them over several runs: t/words/claims, say, from which doc/claims.md is printed (make words-doc).
#
# By hand, for longer, some ten minutes: SL_STARTS=10000 SL_ISLANDS=100 SL_LOAD=5 (arrays of an island) SL_TASKS=60 (of an
# array); SL_SEED=N, SL_POLICY=NAME, and SL_SELECT=CR_Core_Memory,CR_LLN, say.  As often as nothing more fits half of
# the jobs that have nodes are cancelled.
# Nodes are of the cloud: no slurmd, and a job that has nodes stays CONFIGURING.
SL_CLOUD=1
. "${0%/*}/live.sh"
. "${0%/*}/audit.sh"
needs_plugin
[ -x "$SL_BUILD/t/words/words" ] || skip_all "t/words/words is not built"
SEED=${SL_SEED:-1} STARTS=${SL_STARTS:-200} ISLANDS=${SL_ISLANDS:-20} LOAD=${SL_LOAD:-6} TASKS=${SL_TASKS:-5}
NODES_HERE=$((6 * ISLANDS))

cluster_node_lines() { lua5.4 "$HERE/parity.lua" machine "$SEED" "$ISLANDS" "$2" spec; } # NODES PORT
LIVE_LINES=("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=DOWN")
live_begin "$NODES_HERE" SelectTypeParameters=CR_Core_Memory DefMemPerCPU=100 Licenses=lic:10000,few:3 \
	AllowSpecResourcesUsage=YES MaxJobCount=100000 DebugFlags=NO_CONF_HASH SlurmctldDebug=debug
needs_engine
cluster_site <<-EOL
	local sched = require "sched"
	return sched.site { interval = 1, budget = 20, default = { { "${SL_POLICY:-conservative}", window = 10000 } } }
EOL

# A machine of its own for each seed, and what is asked of it while no partition is up.
begin() { # SelectTypeParameters
	local port line id
	cluster_ctld_kill || cluster_ctld_kill KILL
	sed -i '/^NodeName=/d; /^PartitionName=i/d' "$C/etc/slurm.conf"
	port=$(sed -n 's/^SlurmctldPort=//p' "$C/etc/slurm.conf")
	cluster_node_lines "$NODES_HERE" "$port" >> "$C/etc/slurm.conf"
	lua5.4 "$HERE/parity.lua" switches "$SEED" "$ISLANDS" > "$C/etc/topology.conf"
	cluster_conf TopologyPlugin=topology/tree "SelectTypeParameters=$1"
	rm -rf "$C/state"
	mkdir "$C/state"
	: > "$C/log/slurmctld.log"
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES_HERE"
	: > "$C/options"
	"$SL_BUILD/t/words/words" list > "$C/words"
	lua5.4 "$HERE/parity.lua" mix "$SEED" "$ISLANDS" "$LOAD" "$TASKS" "$C/words" > "$C/mix"
	while read -r line; do
		if [[ $line == scontrol* ]]; then
			$line > /dev/null || echo "refused: $line"
		elif ! slurm_does_right "$line"; then
			continue
		# (what could never run is refused)
		elif id=$($line --parsable -o /dev/null --wrap 'sleep 1' 2> /dev/null < /dev/null); then
			echo "$id $line" >> "$C/options"
		fi
	done < "$C/mix"
	wait_for 10 log_has 'sched/lua: the engine runs'
	for ((id = 1; id <= ISLANDS; id++)); do scontrol update PartitionName="$(printf i%03d "$id")" State=UP; done
}

# Two cycles have gone by in which nothing started.
CYCLES=0 BEGUN=-1
settled() {
	local cycles begun
	cycles=$(status cycles) begun=$(status starts)
	[ "${begun:-0}" = "$BEGUN" ] || { BEGUN=${begun:-0} CYCLES=${cycles:-0}; return 1; }
	[ "${cycles:-0}" -ge $((CYCLES + 2)) ]
}
settle() { BEGUN=-1; wait_for 300 settled; }

# (a task by its array: slurmctld knows no other name of one to cancel)
with_nodes() { squeue -h -r -t R,CF -o %i; }
cancel_half() { with_nodes | awk -v seed="$1" 'BEGIN { srand(seed) } rand() < 0.5' | xargs -r scancel -Q; }

# What has not started once is alone, on a machine that is idle as often as it takes.
leave_the_rest() {
	local turn
	for turn in {1..20}; do
		squeue -h -r -t R,CF -o %F | sort -u | xargs -r scancel -Q
		settle
		[ -n "$(with_nodes)" ] || return 0
	done
	echo "still some start after $turn turns"
	return 1
}

# True if the job is held, and select called it never runnable as it was submitted, before the engine saw it.  slurmctld would
# have refused it if its partition had been up, and its own schedulers hold such a job, too.  --test-only may expect it to start
# all the same: on 24.11 where whole sockets are allocated, on nodes of one socket with CpuSpecList.
held_by_slurm() { # JOBID
	[ "$(job_reason "$1")" = BadConstraints ] && grep -q "_pick_best_nodes: JobId=$1 never runnable" "$C/log/slurmctld.log"
}

# All is idle: whoever waits should not start according to select either.
wait_in_vain() {
	local id line soon wrong=0 held=0
	soon=$(date -d '+60 seconds' +%FT%T)
	while read -r id; do
		line=$(sed -n "s/^$id //p" "$C/options")
		# shellcheck disable=SC2086	# words of a command line
		$line --test-only --wrap 'sleep 1' 2>&1 < /dev/null |
			sed -nE 's/.*to start at ([^ ]*) .*using .*/\1/p' > "$C/when"
		if ! [ -s "$C/when" ] || ! [[ $(cat "$C/when") < $soon ]]; then
			continue
		elif held_by_slurm "$id"; then
			held=$((held + 1))
		else
			wrong=$((wrong + 1))
			echo "select would start $id ($(job_reason "$id")): $line"
		fi
	done < <(squeue -h -t PD -o %F | sort -u)
	echo "waiting on an idle machine, though select would start them: $wrong; held, since it called them never runnable: $held" |
		tee -a "$C/verdict"
	return $((wrong > 0))
}

accepted() { # SelectTypeParameters
	local turn=0 barren=0 wrong=0 before
	begin "$1"
	settle
	audit_allocations
	while [ "$(status starts)" -lt "$STARTS" ] && [ $barren -lt 5 ]; do
		before=$(status starts) turn=$((turn + 1)) barren=$((barren + 1))
		cancel_half "$SEED$turn"
		settle
		[ "$(status starts)" = "$before" ] || barren=0
		audit_allocations 2> /dev/null
		echo "turn $turn: $(status starts) starts, $(status failed_starts) failed, $(status layout_differs) elsewhere"
	done
	leave_the_rest
	lua5.4 "$HERE/carried.lua" "$C/state/schedlua/decisions.jsonl" "$C/options" "$C/log/slurmctld.log" \
		"$C/words" "$(slurm_series)" "$1" > "$C/verdict" || wrong=1
	wait_in_vain || wrong=1
	cat "$C/verdict"
	return $wrong
}

live_reset() { :; }
for select in ${SL_SELECT:-CR_Core_Memory CR_Socket_Memory}; do
	it "what the engine starts select accepts as planned ($select, seed $SEED)" accepted "$select"
	sed 's/^/# /' "$C/verdict"
done
live_end
