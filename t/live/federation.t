#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two clusters in a federation: a job waits in both and runs once, in one of them.  As under
# Slurm's own schedulers (SL_SCHEDULER=sched/backfill).
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
. "${0%/*}/meanwhile.sh"
needs_database
LIVE_LINES=("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
live_begin 2 SlurmctldDebug=debug

# The first cluster is "schedlua", in $C as in other tests; the second one, "sibling", in a directory
# below, has that one's database and key.  All jobs are submitted to the first one.
at_sibling() { # COMMAND...
	local C NODES=2 PORT CLUSTER_PORT_LOCK=
	local -x SCHEDLUA_CLUSTER SLURM_CONF
	cluster_dir "$FIRST/sibling" && "$@"
}
FIRST=$C

sibling_up() {
	local key=$FIRST/munge/key at
	at=$(database_port)
	mkdir -p "$FIRST/sibling/munge" && cp -p "$key" "$FIRST/sibling/munge/key" || return 1
	at_sibling cluster_up 2 "${LIVE_LINES[@]}" ClusterName=sibling AccountingStorageType=accounting_storage/slurmdbd \
		AccountingStorageHost=127.0.0.1 AccountingStoragePort="$at" \
		AccountingStoragePass="$FIRST/sibling/munge/sock"
}

connected() { # to one sibling, in both directions
	[ "$(scontrol show federation | grep -c 'PersistConnSend/Recv:Yes/Yes Synced:Yes')" = 1 ]
}

federation_up() {
	database_up && cluster_ctld_kill && cluster_ctld_start &&
		sacctmgr -i -Q add cluster sibling > /dev/null && sibling_up &&
		sacctmgr -i -Q modify cluster sibling set features=far > /dev/null &&
		sacctmgr -i -Q add federation both clusters=schedlua,sibling > /dev/null &&
		wait_for 30 connected && wait_for 30 at_sibling connected &&
		wait_for 30 cluster_nodes_ready 2 && wait_for 30 at_sibling cluster_nodes_ready 2
}
leave() { at_sibling cluster_down; }

# ----------------------------------------------------------------------------- jobs

# A job that writes a line where it begins.
once() { # OPTION...
	sbatch --parsable -o /dev/null -D / "$@" --wrap "echo \$SLURM_JOB_ID \$SLURM_CLUSTER_NAME >> $JOBS/begun; exec sleep ${FOR:-0}"
}
begun() { grep -c "^$1 " "$JOBS/begun"; }
has_begun() { [ "$(begun "$1")" -ge 1 ]; }
where_begun() { sed -n "s/^$1 //p" "$JOBS/begun" | paste -sd ' '; }

# As the cluster itself has it: without --local scontrol asks all of them, and
# without -a later releases hide who is revoked.
state() {
	scontrol --local -a -o show job "$1" 2>/dev/null | sed -nE 's/.* JobState=(\S+).*/\1/p' |
		sed 's/.*REVOKED.*/REVOKED/; s/[^A-Z].*//'
}
state_is() { [ "$(state "$1")" = "$2" ]; }
sibling_state_is() { at_sibling state_is "$@"; }

# Jobs that have all nodes, of each of these clusters.
fill() { # CLUSTER...
	local cluster id
	FULL=()
	for cluster; do
		id=$(submit -M "$cluster" -N2 --exclusive)
		id=${id%;*}
		FULL+=("$id")
		if [ "$cluster" = sibling ]; then
			wait_for 30 sibling_state_is "$id" RUNNING
		else
			wait_for 30 state_is "$id" RUNNING
		fi
	done
}
# A job of each cluster's own begins: what waited before it there has been looked at since.
goes_on() {
	local cluster id
	for cluster in schedlua sibling; do
		id=$(once -M "$cluster" -n1)
		wait_for 30 has_begun "${id%;*}"
		[ "$(where_begun "${id%;*}")" = "$cluster" ]
	done
}

# Both clusters are empty after it.
it_in_both() {
	local failed=$FAILURES
	: > "$JOBS/begun"
	it "$@"
	[ "$FAILURES" = "$failed" ] || at_sibling cluster_logs 40 2>&1 | sed 's/^/# /'
	at_sibling live_reset
}

# ---------------------------------------------------------------------------- tests

trap 'leave; live_leave' EXIT
CTLD=
federation_up || { echo "Bail out! there is no federation"; cluster_logs; at_sibling cluster_logs; exit 1; }
CTLD=$(cluster_ctld_pid)

overflows() {
	local id
	fill schedlua
	id=$(FOR=600 once -n1)
	wait_for 30 has_begun "$id"
	[ "$(where_begun "$id")" = sibling ]
	wait_for 20 state_is "$id" REVOKED
	scancel "${FULL[@]}"
	goes_on
	[ "$(begun "$id")" = 1 ]
	state_is "$id" REVOKED
	sibling_state_is "$id" RUNNING
	scancel "$id"
	wait_for 20 sibling_state_is "$id" CANCELLED
}
it_in_both "a job whose own cluster is full runs in the other, and there only" overflows

race() {
	local i id ids
	fill schedlua sibling
	for i in {1..12}; do ids+=" $(FOR=1 once -n4)"; done
	for id in $ids; do
		state_is "$id" PENDING
		wait_for 20 sibling_state_is "$id" PENDING
	done
	scancel "${FULL[@]}"
	for id in $ids; do wait_for 60 has_begun "$id"; done
	goes_on
	sort "$JOBS/begun"
	for id in $ids; do [ "$(begun "$id")" = 1 ]; done
	cut -d ' ' -f 2 "$JOBS/begun" | sort | uniq -c | sed 's/^/# /' >&3
}
exec 3>&1
it_in_both "jobs that both clusters could start at the same moment run once each" race

cancelled() {
	local id
	fill schedlua sibling
	id=$(once -n1)
	wait_for 20 sibling_state_is "$id" PENDING
	scancel "$id"
	wait_for 20 state_is "$id" CANCELLED
	wait_for 20 sibling_state_is "$id" ""
	scancel "${FULL[@]}"
	goes_on
	fails has_begun "$id"
}
it_in_both "a job that is cancelled where it was submitted runs nowhere" cancelled

chosen() {
	local id
	id=$(once --cluster-constraint=far -n1)
	wait_for 30 has_begun "$id"
	[ "$(where_begun "$id")" = sibling ]
	fill sibling
	id=$(once --cluster-constraint=far -n1)
	wait_for 20 sibling_state_is "$id" PENDING
	wait_for 20 state_is "$id" REVOKED
	id=$(once --cluster-constraint='!far' -n1)
	wait_for 30 has_begun "$id"
	[ "$(where_begun "$id")" = schedlua ]
}
it_in_both "-M and --cluster-constraint say in which clusters it may run" chosen

narrow() {
	scontrol update JobId="$ID" Clusters=sibling
	wait_for 20 state_is "$ID" REVOKED
}
sent_away() {
	needs_lua
	needs_engine
	fill sibling
	slow_site
	meanwhile -n1 narrow
	plan_came "it is left to other clusters"
	state_is "$ID" REVOKED
	wait_for 20 sibling_state_is "$ID" PENDING
	scancel "${FULL[@]}"
	wait_for 30 sibling_state_is "$ID" RUNNING
	state_is "$ID" REVOKED
}
it_in_both "a job that is taken from a cluster while its policy decides does not run there" sent_away

leave
live_end
