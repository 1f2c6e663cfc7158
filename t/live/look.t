#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What users look at: the word that squeue shows, the first line of explain, top.
. "${0%/*}/live.sh"
needs_plugin
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"
LUA=defer,sched_interval=-1,lua_interval=1,lua_capture=1
live_begin 8 "SchedulerParameters=$LUA"
needs_engine

restart() { # LINE... of slurm.conf
	cluster_ctld_kill
	cluster_conf "$@"
	cluster_ctld_start
	wait_for 20 cluster_nodes_ready "$NODES"
}

# Two partitions on the same nodes that all are in use, and three jobs that wait in each.
scene() {
	local all
	all=$(submit -J all -N8 --exclusive -t 30)
	starts "$all" 30
	for name in m1 m2 m3; do
		submit -J $name -N4 --exclusive -t 10 > /dev/null
	done
	for name in s1 s2 s3; do
		submit -J $name -p small -N2 --exclusive -t 5 > /dev/null
	done
}
# (stock's main scheduler says more of the first one of small: it counts no nodes that main's first job may have)
words() { squeue -h -t PD -S j -o '%j %r' | sed 's, Nodes.required.for.*, Resources,' | sort | tr '\n' ','; }
settled() { words > "$C/words"; [ "$(cat "$C/words")" = "$1" ]; }
STOCK="m1 Resources,m2 Priority,m3 Priority,s1 Resources,s2 Priority,s3 Priority,"

as_in_stock() {
	restart SchedulerType=sched/backfill SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=0
	scene
	wait_for 10 settled "$STOCK"
	squeue -h -a -o %A | xargs scancel
	wait_for 60 queue_is_empty
	restart SchedulerType=sched/lua "SchedulerParameters=$LUA"
	scene
	wait_for 10 settled "$STOCK"
}
it "the next in line of each partition waits for Resources, the others for Priority, as in stock" as_in_stock

begins() { schedlua explain "$1" > "$C/out" && head -n 1 "$C/out" | grep -qE "^Job $1 $2"; }
begins_with_when() {
	local first next last held after
	first=$(submit -N8 --exclusive -t 30)
	starts "$first"
	next=$(submit -N8 --exclusive -t 10)
	last=$(submit -N1 -n2 -t 60)
	held=$(submit -N1 --hold)
	after=$(submit -N1 --dependency=afterok:"$first")
	wait_for 20 begins "$next" 'waits for 8 whole nodes\. It is the next in line\. Expected .*[0-9]:[0-9][0-9] \(reserved, by walltimes\)\.$'
	grep -q '^    n\[001-008\] is reserved for it from ' "$C/out" && return 1	# nothing is idle for it
	wait_for 20 begins "$last" 'waits for 1 node with 2 (cores|CPUs)\. 1 job is ahead\. Expected '
	wait_for 20 begins "$held" 'is held by its user: "scontrol release '
	wait_for 20 begins "$after" "waits for other jobs \(afterok:$first"
	wait_for 20 eval 'begins '"$first"' "" || grep -q "started on" "$C/out"'
}
it "explain begins with what a job waits for, who is ahead and when it starts" begins_with_when

# The tier of a partition goes before priority, and whoever is beyond the limits of a partition does not wait in it.
by_tier() {
	local first main small beyond
	scontrol update partition=small PriorityTier=10 MaxTime=60
	first=$(submit -N8 --exclusive -t 30)
	starts "$first"
	main=$(submit -N8 --exclusive -t 10)
	small=$(submit -p small -N4 --exclusive -t 10)
	beyond=$(submit -p small -N1 -t 600)
	wait_for 20 begins "$small" 'waits for 4 whole nodes\. It is the next in line\.'
	grep -q '^  place 1: PriorityTier 10, priority ' "$C/out"
	wait_for 20 begins "$main" 'waits for 8 whole nodes\. 1 job is ahead\.'
	wait_for 20 begins "$beyond" 'cannot start as it asks: it asks for 600 minutes, partition small allows 60\.$'
}
it "explain counts by the tier of partitions, and says which limit of its partition a job is beyond" by_tier
scontrol update partition=small PriorityTier=1 MaxTime=UNLIMITED

runuser -u $STRANGER -- test -x "$(command -v schedlua)" 2> /dev/null && STRANGER_MAY_COME=1
stranger_tops() {
	(cd / && runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" schedlua top --once "$@" > "$C/out" 2> "$C/err") &&
		cat "$C/out" "$C/err"
}
top_for_users() {
	local first behind
	[ -n "${STRANGER_MAY_COME-}" ] || skip "$TOP: others than root cannot come here"
	first=$(submit -N8 --exclusive -t 30)
	starts "$first"
	behind=$(submit -N1 -n2 -t 60)
	stays_pending "$behind"
	wait_for 10 eval 'status_is running 1 && status_is queued 1'	# status.json is written once a second
	stranger_tops
	grep -qE '^ OK .* 1 running, 1 queued' "$C/out"
	chmod 700 "$C/state"
	stranger_tops
	grep -qE ' 1 running, 1 waiting' "$C/out"
	grep -qE '^main +64/64 +100%' "$C/out"
	grep -qE "^ *$behind root .* (Resources|None)" "$C/out"
	stranger_tops --running
	grep -qE "^ *$first root .* [0-9:]+  wrap" "$C/out"
	chmod 755 "$C/state"
	[ ! -s "$C/err" ]
}
it "top shows plain users the cluster as squeue and sinfo do" top_for_users

# a restart: nodes register one after the other, and the picture of before is not shown as that of now
top_after_restart() {
	schedlua top --once > "$C/out"
	cluster_ctld_kill TERM
	cluster_ctld_start
	wait_for 20 cluster_nodes_ready "$NODES"
	schedlua top --once > "$C/out"
	cat "$C/out"
	fails grep -qE '^main .*x' "$C/out"
}
it "top shows no node as down that is up again after a restart" top_after_restart

# Somebody else takes the same directory: by cluster_up, and by ending what is found there.
not_ended() {
	local ctld
	ctld=$(cluster_ctld_pid)
	fails bash -c '. "$1"; cluster_dir "$2"; cluster_up 8' - "$HERE/cluster.sh" "$C" 2> "$C/err"
	grep -q "a cluster runs here already, of pid $$: " "$C/err"
	bash -c '. "$1"; cluster_dir "$2"; cluster_down' - "$HERE/cluster.sh" "$C"
	[ "$(cluster_ctld_pid)" = "$ctld" ]
	starts "$(submit -N1)"
}
it "a cluster is not ended by another one that is started in the same directory" not_ended

live_end
