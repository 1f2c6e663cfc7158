#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Jobs on nodes of other partitions: started through one of all nodes, within the limits of
# those that lend, and back in their own partition when they are requeued.
. "${0%/*}/live.sh"
needs_plugin
schedlua engine --help > /dev/null 2>&1 || "$TOP/.work/inst/bin/schedlua" engine --help > /dev/null 2>&1 ||
	skip_all "this schedlua has no engine"
ALL="PartitionName=all Nodes=ALL RootOnly=YES Hidden=YES MaxTime=INFINITE State=UP"
LIVE_LINES=(
	"PartitionName=home Nodes=n[001-004] Default=YES MaxTime=INFINITE State=UP"
	"PartitionName=gpu Nodes=n[005-008] DefaultTime=30 MaxTime=60 State=UP"
	"PartitionName=fast Nodes=n[001-002] PriorityTier=2 MaxTime=INFINITE State=UP"
	"$ALL"
	ReturnToService=0
)
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.3,lua_wake=50"
chmod 755 "$JOBS"

borrow_site() { # OPTIONS of sched.borrow
	mark_log
	cluster_site <<-EOL
	local sched = require "sched"
	return sched.site { interval = 1, default = { "easy" }, partitions = {
	  ["home,fast"] = { sched.borrow { from = { "gpu" }, through = "all", $1 }, "easy" },
	} }
	EOL
	scontrol reconfigure
	wait_for 15 status_says policy borrow
	wait_for 15 status_is source site
}
borrow_site

job_partition() { squeue -h -a -j "$1" -t all -o %P | head -n 1; }
in_partition() { [ "$(job_partition "$1")" = "$2" ]; }
comment_of() { scontrol -a show job "$1" | sed -n 's/^ *SystemComment=//p' | head -n 1; }
nodes_of_gpu() { expand "$(job_nodes "$1")" | grep -c 'n00[5-8]' || true; }
explains() { schedlua explain --dir="$C/state/schedlua" "$1" 2>/dev/null | grep -qE -- "$2"; } # JOBID REGEX
filled() { starts "$(submit -p fast -N2 --exclusive -t 300)"; }	# n001 and n002 are taken
borrows() { # JOBID
	starts "$1"
	in_partition "$1" all
	[ "$(nodes_of_gpu "$1")" -gt 0 ]
}

# -------------------------------------------------------------------- borrow, return

lent_and_returned() {
	local id own
	filled
	id=$(submit -N4 --exclusive -t 30)
	borrows "$id"
	[ "$(expand "$(job_nodes "$id")" | wc -l)" = 4 ]
	[[ $(comment_of "$id") == *"nodes of gpu borrowed through partition all"* ]]
	own=$(submit -p gpu -N4 --exclusive -t 30)
	stays_pending "$own"
	scancel "$id"
	starts "$own"
	in_partition "$own" gpu
}
it "a job gets idle nodes of another partition, and they are given back" lent_and_returned

explained() {
	local id
	filled
	id=$(submit -N3 --exclusive -t 30)
	borrows "$id"
	wait_for 10 explains "$id" 'started on n\[?.*borrowing nodes of partition gpu through partition all \(everybody may borrow\).*\[borrow\]'
}
it "schedlua explain says whose nodes, through which partition, and why" explained

fits_at_home() {
	local id
	id=$(submit -N4 --exclusive -t 30)
	starts "$id"
	in_partition "$id" home
	[ -z "$(comment_of "$id")" ]
}
it "a job that fits into its own partition stays there" fits_at_home

idle_for_the_walltime() {
	local running own long short
	filled
	running=$(submit -p gpu -N2 --exclusive -t 20)
	starts "$running"
	own=$(submit -p gpu -N4 --exclusive -t 30)	# starts in 20 minutes
	stays_pending "$own"
	long=$(submit -N4 --exclusive -t 30)
	stays_pending "$long"
	short=$(submit -N4 --exclusive -t 15)
	borrows "$short"
	job_is "$long" PENDING
}
it "only nodes that are idle for the whole walltime are lent" idle_for_the_walltime

at_once() {
	local running own id
	filled
	borrow_site 'when = "now"'
	running=$(submit -p gpu -N2 --exclusive -t 20)
	starts "$running"
	own=$(submit -p gpu -N4 --exclusive -t 30)
	stays_pending "$own"
	id=$(submit -N4 --exclusive -t 55)
	borrows "$id"
	borrow_site
}
it "or what is idle at this moment, if the site says so" at_once

by_account() {
	local no yes
	filled
	borrow_site 'accounts = { "chem" }'
	no=$(submit -N3 --exclusive -t 30 -A phys)
	yes=$(submit -N3 --exclusive -t 30 -A chem)
	borrows "$yes"
	job_is "$no" PENDING
	borrow_site
}
it "only jobs of the accounts that are named borrow" by_account

# ---------------------------------------------------------------------------- limits

max_time() {
	local long short
	filled
	long=$(submit -N3 --exclusive -t 61)
	stays_pending "$long"
	short=$(submit -N3 --exclusive -t 60)
	borrows "$short"
}
it "MaxTime of the other partition applies" max_time

max_nodes() {
	local id
	filled
	scontrol update PartitionName=gpu MaxNodes=2
	id=$(submit -N3 --exclusive -t 30)
	stays_pending "$id"
	scontrol update PartitionName=gpu MaxNodes=3
	borrows "$id"
	scontrol update PartitionName=gpu MaxNodes=UNLIMITED
}
it "MaxNodes of the other partition applies" max_nodes

allow_accounts() {
	local no yes
	filled
	scontrol update PartitionName=gpu AllowAccounts=chem
	no=$(submit -N3 --exclusive -t 30 -A phys)
	stays_pending "$no"
	yes=$(submit -N3 --exclusive -t 30 -A chem)
	borrows "$yes"
	scontrol update PartitionName=gpu AllowAccounts=ALL
}
it "AllowAccounts of the other partition applies" allow_accounts

# of a user who is not root
submit_as() { # USER OPTION...
	local user=$1
	shift
	submit --uid="$user" --chdir=/tmp "$@"
}

allow_groups() {
	local id
	filled
	scontrol update PartitionName=gpu AllowGroups=daemon
	id=$(submit_as "$STRANGER" -N3 --exclusive -t 30)
	stays_pending "$id"
	scontrol update PartitionName=gpu AllowGroups=ALL
	borrows "$id"
	scancel "$id"
}
it "AllowGroups applies, and the partition of all nodes may be for root only" allow_groups

through_down() {
	local id
	filled
	scontrol update PartitionName=all State=DOWN
	id=$(submit -N3 --exclusive -t 30)
	stays_pending "$id"
	scontrol update PartitionName=all State=UP
	borrows "$id"
}
it "while the partition of all nodes is down, nothing is borrowed" through_down

# --------------------------------------------------------------------------- requeue

back_home() { # JOBID PARTITIONS...
	wait_for 20 waits_in "$@"
	[ -z "$(comment_of "$1")" ]
}
waits_in() { # JOBID PARTITIONS...
	local partitions
	job_is "$1" PENDING || return 1
	for partitions in "${@:2}"; do ! in_partition "$1" "$partitions" || return 0; done
	return 1
}

requeued() {
	local id
	filled
	id=$(submit -N3 --exclusive -t 30)
	borrows "$id"
	scontrol requeuehold "$id"
	back_home "$id" home
}
it "a job that is requeued waits in its own partition again" requeued

several_partitions() {
	local id
	filled
	starts "$(submit -N1 --exclusive -t 300)"
	id=$(submit -p home,fast -N2 --exclusive -t 30)
	borrows "$id"
	scontrol requeuehold "$id"
	back_home "$id" home,fast fast,home
}
it "a job of several partitions gets all of them back" several_partitions

restarted() { # SIGNAL
	local id
	filled
	id=$(submit -N3 --exclusive -t 30)
	borrows "$id"
	cluster_save_jobs "$id"
	cluster_ctld_kill "$1"
	cluster_ctld_start
	wait_for 20 job_is "$id" RUNNING
	in_partition "$id" all
	scontrol requeuehold "$id"
	back_home "$id" home
}
it "also when slurmctld was restarted meanwhile" restarted TERM
it "also when slurmctld was killed meanwhile" restarted KILL

# The scheduler of slurmctld is another one from now on.
scheduler() { # TYPE PARAMETERS
	cluster_conf "SchedulerType=$1" "SchedulerParameters=$2"
	cluster_ctld_kill
	cluster_ctld_start
}

# The commands that doc/borrowing.md gives, as they stand there.
documented() { sed -n '/^## What Slurm keeps/,$p' "$TOP/doc/borrowing.md" | sed -n '/^```$/,/^```$/{/^```/d;p}'; }

gone_back() {
	local id several parameters
	parameters=$(sed -n 's/^SchedulerParameters=//p' "$C/etc/slurm.conf")
	filled
	id=$(submit -N3 --exclusive -t 30)
	borrows "$id"
	several=$(submit -p home,fast -N1 --exclusive -t 30)
	borrows "$several"
	[ -n "$(documented)" ]
	scheduler sched/backfill bf_interval=1
	wait_for 20 job_is "$id" RUNNING
	# what runs is left alone
	bash -ec "$(documented)"
	in_partition "$id" all,home || in_partition "$id" all
	scontrol requeuehold "$id"
	scontrol requeuehold "$several"
	wait_for 20 job_is "$id" PENDING
	wait_for 20 job_is "$several" PENDING
	[[ $(comment_of "$id") == *borrowed* ]]
	bash -ec "$(documented)"
	bash -ec "$(documented)"
	in_partition "$id" home
	in_partition "$several" home,fast || in_partition "$several" fast,home
	scontrol release "$id"
	starts_soon "$id"
	scancel --state=RUNNING -p fast
	starts "$id"
	in_partition "$id" home
	scheduler sched/lua "$parameters"
	# what is left of the comment goes away when sched/lua is back
	wait_for 20 cluster_nodes_ready 8
	back_home "$several" home,fast fast,home
}
it "under Slurm's own scheduler the documented commands put requeued jobs right" gone_back

walltime() {
	local id
	id=$(submit -p gpu -N1 --exclusive)
	starts "$id"
	[ "$(job_get "$id" TimeLimit)" = 00:30:00 ]
	scancel "$id"
	filled
	id=$(submit -N3 --exclusive)	# home has no walltime to give
	stays_pending "$id"
}
it "a job without a walltime has its own partition's, which others may not allow" walltime

arrays() {
	local id
	id=$(submit --array=0-9 -N1 --exclusive -t 30)
	wait_for 20 has_jobs RUNNING -eq 8
	[ "$(squeue -h -a -t R -o %P | grep -c all)" = 4 ]
	[ "$(squeue -h -a -j "$id" -t PD -o %P | head -n 1)" = home ]
	scontrol requeuehold "$(squeue -h -a -t R -o '%P %A' | sed -n 's/^all //p' | head -n 1)"
	wait_for 20 has_jobs RUNNING -eq 8
	wait_for 20 no_pending_elsewhere
}
no_pending_elsewhere() { ! squeue -h -a -t PD -o %P | grep -qv '^home$'; }
it "tasks of an array borrow one by one; the rest of it stays in its partition" arrays

live_end
