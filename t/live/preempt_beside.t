#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Preemption by QOS: each scene under Slurm's own schedulers, and under sched/lua with sched.preempt. What was stopped, and what
# the job that it was stopped for had of it, is printed in the end, a line for each.
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
needs_plugin
needs_database
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"
live_begin 8 SchedulerType=sched/backfill PreemptType=preempt/qos PreemptMode=REQUEUE
needs_engine
export SBATCH_ACCOUNT=lab

qos() { sacctmgr -i -Q add qos "$@" > /dev/null; }
accounting_up() {
	database_with_root && qos low && qos graced GraceTime=30 && qos urgent Preempt=low,graced &&
		sacctmgr -i -Q modify user root set qos=normal,low,graced,urgent > /dev/null && database_enforce associations,limits,qos
}
it "an accounting database comes up" accounting_up

# slurmctld anew, under that scheduler.
under() { # stock|lua
	local plugins=$SL_SLURM_PLUGINS parameters=bf_interval=1,bf_continue,sched_interval=1,sched_min_interval=0,default_queue_depth=2000
	WHO=$1
	[ "$1" = stock ] || plugins=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$plugins parameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50
	cluster_site <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.preempt {}, "easy" } }
	EOL
	cluster_ctld_kill
	cluster_conf "SchedulerParameters=$parameters" "PluginDir=$plugins"
	cluster_ctld_start
	wait_for 30 knows_cluster
	wait_for 60 cluster_nodes_ready "$NODES"
	[ "$1" = stock ] || wait_for 30 status_is source site
	: > "$C/ran"
}
tell() { printf '%-20s %-6s %s\n' "$SCENE" "$WHO" "$*" >> "$C/figures"; }
scene() { # NAME FUNCTION : under both
	SCENE=$1
	for WHO in stock lua; do
		under $WHO
		"$2"
		live_reset
	done
}
: > "$C/figures"

# -------------------------------------------------------------------------------- jobs

# With ENDS=N it ends so many seconds after it is told to, else when GraceTime is over.
runs() { # QOS OPTION... : a job that may be stopped, running; its id is added to LOW
	local script='exec sleep 3000' id
	[ -z "${ENDS-}" ] ||
		script="srun bash -c 'trap \"sleep $ENDS; exit 0\" TERM; echo \$SLURM_JOB_ID >> $C/log/steps; sleep 3000 & wait'; true"
	id=$(sbatch --parsable -o /dev/null --requeue -t 60 --qos="$1" "${@:2}" --wrap "echo \$SLURM_JOB_ID >> $C/ran; $script")
	starts "$id" 30
	[ -z "${ENDS-}" ] || wait_for 30 has_steps "$id"
	LOW+=("$id")
}
has_steps() { [ "$(grep -csx "$1" "$C/log/steps")" = "$(expand "$(job_nodes "$1")" | wc -l)" ]; }	# that hear when it is told to end
urgent() { submit --qos=urgent -t 30 --priority=1000 "$@"; }
told() { [[ $(job_get "$1" PreemptTime) == 2* ]]; }
all_once_and_whole() { local ids; mapfile -t ids < <(stopped "${LOW[@]}"); once_and_whole "${ids[@]}"; }
others_spared() {
	local id
	for id in "${LOW[@]}"; do [ -n "$(stopped "$id")" ] || spared "$id" || return 1; done
}
stopped() { # JOBID... : those that were told to end, or were requeued
	scontrol -o show job | awk -v ids=" $* " '
		/^JobId=/ && index(ids, " " substr($1, 7) " ") && (/ PreemptTime=2/ || !/ Restarts=0 /) { print substr($1, 7) }'
}
count_stopped() { stopped "${LOW[@]}" | wc -l; }
settled() { # nobody is being stopped any more
	local before now
	now=$(stopped "${LOW[@]}" | paste -sd,)
	for _ in 1 2 3 4 5 6; do
		before=$now now=$(stopped "${LOW[@]}" | paste -sd,)
		[ "$before" = "$now" ] || return 1
		sleep 0.5
	done
}
once_and_whole() { # JOBID... : each was requeued, once
	local id
	for id; do [ "$(job_get "$id" Restarts)" = 1 ] && job_is "$id" PENDING && [ "$(grep -cx "$id" "$C/ran")" = 1 ] || return 1; done
}
spared() { local id; for id; do job_is "$id" RUNNING && [ "$(job_get "$id" Restarts)" = 0 ] || return 1; done; }

# ------------------------------------------------------------------------------- scenes

# Those that are stopped give their nodes back one after the other, and jobs for one node, of higher priority, wait.
flood_scene() {
	local job i n flood=()
	LOW=()
	for i in 0 1 2 3 4 5 6 7; do ENDS=$((i % 4 * 5)) runs graced -N1 --exclusive; done
	for i in $(seq 20); do flood+=("$(submit -J native -N1 --exclusive -t 60 --hold)"); done
	job=$(urgent -N4 --exclusive)
	wait_for 30 eval '[ "$(count_stopped)" -ge 4 ]'
	i=$(IFS=,; echo "${flood[*]}")
	scontrol release "$i"	# all at once
	scontrol update JobId="$i" Priority=1000000
	if [ "$WHO" = lua ]; then
		starts "$job" 90
		n=$(count_stopped)
		tell "the job starts; jobs stopped for it: $n; jobs of the flood on nodes freed for it: 0"
		[ "$n" = 4 ]
		[ "$(squeue -h -t R -n native -o %i | wc -l)" = 0 ]
		others_spared
	else
		wait_for 60 eval '[ "$(squeue -h -t R -n native -o %i | wc -l)" -ge 4 ]'
		tell "the job is $(job_state "$job"); jobs stopped for it: $(count_stopped); jobs of the flood on nodes freed for it: $(squeue -h -t R -n native -o %i | wc -l)"
		job_is "$job" PENDING
	fi
}
it "a flood of jobs for one node has the nodes that were freed for a wide one under stock, and has none of them here" scene flood flood_scene

# Three nodes: on each a job has the GPUs, and eight others have a core of one of them. A job waits for one GPU of each node.
# (Select moves the last one that it needs to the front, twice as Slurm is set up, and stops all whom it meets before it has enough.)
needless_scene() {
	local job i
	LOW=()
	starts "$(submit --qos=normal -N5 --exclusive -w 'n[004-008]' -t 60)" 30
	for i in 1 2 3 4 5 6 7 8; do runs low -N1 -n1 -w "n00$((i % 3 + 1))"; done
	for i in 1 2 3; do runs low -N1 -n1 --gres=gpu:2 -w "n00$i"; done
	job=$(urgent -N3 -n3 --gres=gpu:1)
	starts "$job" 60
	wait_for 60 settled
	tell "jobs stopped for one GPU on each of three nodes: $(count_stopped) of 11; of these needed: $(stopped "${LOW[@]:8}" | wc -l)"
	if [ "$WHO" = lua ]; then
		[ "$(count_stopped)" = 3 ]
		others_spared
	else
		[ "$(count_stopped)" -gt 3 ]
	fi
	wait_for 60 all_once_and_whole
}
it "nobody is stopped in vain" scene needless needless_scene

# Two jobs want one GPU each. Six jobs have the GPUs of three nodes, one each, and five others have cores beside them: two are enough. (A
# public scheduler stopped eleven for two such jobs.)
story_scene() {
	local jobs=() i
	LOW=()
	starts "$(submit --qos=normal -N5 --exclusive -w 'n[004-008]' -t 60)" 30
	for i in 1 2 3 4 5; do runs low -N1 -n2 -w "n00$((i % 3 + 1))"; done
	for i in 1 2 3 1 2 3; do runs low -N1 -n1 --gres=gpu:1 -w "n00$i"; done
	for i in 1 2; do jobs+=("$(urgent -N1 -n1 --gres=gpu:1)"); done
	for i in "${jobs[@]}"; do starts "$i" 60; done
	wait_for 60 settled
	tell "jobs stopped for two jobs with one GPU each: $(count_stopped) of 11; of these with a GPU: $(stopped "${LOW[@]:5}" | wc -l)"
	if [ "$WHO" = lua ]; then
		[ "$(count_stopped)" = 2 ]
		others_spared
	fi
	wait_for 60 all_once_and_whole
}
it "for two jobs with one GPU each two of eleven are stopped" scene story story_scene

# Of each pair one without the other is of no use.
gang_scene() {
	local job i halves=0 a b
	LOW=()
	for i in a b; do
		runs low -N2 --exclusive --comment="gang=$i" --priority=1
		runs low -N2 --exclusive --comment="gang=$i" --priority=1
	done
	job=$(urgent -N2 --exclusive)
	starts "$job" 60
	wait_for 60 settled
	for i in 0 2; do
		a=$(stopped "${LOW[$i]}") b=$(stopped "${LOW[$((i + 1))]}")
		[ "${a:+1}" = "${b:+1}" ] || halves=$((halves + 1))
	done
	tell "jobs stopped: $(count_stopped); gangs that lost one of their two: $halves"
	[ "$WHO" = stock ] || [ $halves = 0 ]
	wait_for 60 all_once_and_whole
}
it "a gang is stopped whole" scene gangs gang_scene

# Of the four that are stopped two end by themselves, two when GraceTime is over.
grace_scene() {
	local job i
	LOW=()
	for i in 1 2; do ENDS=1 runs graced -N2 --exclusive; done
	for i in 1 2; do runs graced -N2 --exclusive; done
	job=$(urgent -N8 --exclusive)
	wait_for 30 eval '[ "$(count_stopped)" = 4 ]'
	job_is "$job" PENDING
	spared "${LOW[@]:2}"	# told, and running
	starts "$job" 90
	for i in 0 1 2 3; do [ "$(job_get "${LOW[$i]}" Restarts)" -le 1 ]; done
	once_and_whole "${LOW[@]:2}"
	tell "jobs stopped: $(count_stopped); ran on for their GraceTime: 2; requeued more than once: 0"
}
it "GraceTime passes, and who ends by itself is not stopped once more" scene grace grace_scene

sed 's/^/# /' "$C/figures"
live_end
