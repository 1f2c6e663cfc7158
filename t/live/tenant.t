#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nodes of one user (--exclusive=user, ExclusiveUser) and of one label (--exclusive=mcs).  As under
# Slurm's own schedulers (SL_SCHEDULER=sched/backfill).
. "${0%/*}/live.sh"
id -u daemon > /dev/null 2>&1 || skip_all "there is no user daemon here"
[ "$(id -u)" = 0 ] || skip_all "needs to be root, to submit as two users"
live_begin 6 "PartitionName=main Nodes=n[001-004] Default=YES MaxTime=INFINITE State=UP" \
	"PartitionName=own Nodes=n[005-006] ExclusiveUser=YES MaxTime=INFINITE State=UP" \
	MCSPlugin=mcs/user MCSParameters=ondemand,ondemandselect

other() { submit --uid=daemon -D / -o /dev/null "$@"; }

# It starts on these nodes and the engine chose them.
gets() { # NODES JOBID
	starts "$2" 60
	echo "job $2: on $(job_nodes "$2"), $1 expected"
	[ "$(job_nodes "$2")" = "$1" ]
	placed_by_engine "$2"
}
done_with() { scancel "$@"; wait_for 30 has_jobs RUNNING -eq 0; }

kept() { # PARTITION FIRST SECOND OPTION...
	local mine theirs
	mine=$(submit -p "$1" -n1 "${@:4}")
	gets "$2" "$mine"
	theirs=$(other -p "$1" -n1)
	gets "$3" "$theirs"
	gets "$2" "$(submit -p "$1" -n1 "${@:4}")"
	theirs=$(other -p "$1" -n1 -w "$2")
	stays_pending "$theirs"
	scancel "$(squeue -h -t R -u "$(id -un)" -o %i | paste -sd,)" 2>/dev/null || scancel -u "$(id -un)" -t R
	starts "$theirs" 60
	scancel -u daemon
	wait_for 30 has_jobs RUNNING -eq 0
}
it "nodes of one user take his jobs alone, and are free when they have ended" kept main n001 n002 --exclusive=user
it "so are those of a partition with ExclusiveUser" kept own n005 n006

avoids() {
	local theirs mine
	theirs=$(other -n1)
	gets n001 "$theirs"
	mine=$(submit -n1 --exclusive=user -w n001)
	stays_pending "$mine"
	gets n002 "$(submit -n1 --exclusive=user)"
	scancel "$theirs"
	gets n001 "$mine"
	scancel -u "$(id -un)"
	wait_for 30 has_jobs RUNNING -eq 0
}
it "nodes on which others have jobs are none of them until those end" avoids

joins() {
	gets n001 "$(submit -n1)"
	gets n001 "$(submit -n1 --exclusive=user)"
	gets n002 "$(other -n1)"
	scancel -u "$(id -un)"; scancel -u daemon
	wait_for 30 has_jobs RUNNING -eq 0
}
it "his other jobs are no strangers" joins

labelled() {
	gets n001 "$(submit -n1 --exclusive=mcs)"
	gets n001 "$(submit -n1 --exclusive=mcs)"
	gets n002 "$(other -n1 --exclusive=mcs)"
	gets n003 "$(submit -n1)"
	gets n003 "$(other -n1)"
	stays_pending "$(submit -n1 --exclusive=mcs -w n003)"
}
it "nodes of one label take jobs of that label alone" labelled

# A cluster of whose jobs all have nodes of one label, and ask for nothing.
for_all() {
	local waits
	cluster_conf MCSParameters=enforced,select
	cluster_ctld_kill
	cluster_ctld_start
	wait_for 30 cluster_nodes_ready 6
	gets n001 "$(submit -n1)"
	gets n002 "$(other -n1)"
	gets n001 "$(submit -n1)"
	waits=$(submit -n1 -w n002)
	schedlua-capture "$C/jobs/now.snap"
	schedlua show --json "$C/jobs/now.snap" > "$C/out"
	grep "{\"id\": $waits, .*\"MCS\"" "$C/out"
}
it "... all jobs where MCSParameters says so, in captures too" for_all

live_end
