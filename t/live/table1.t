#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Table 1 of the IPSCHED paper: three jobs that fit together only when they are
# looked at together.  128 nodes; bench/table1 has the paper's 1024.
. "${0%/*}/live.sh"
. "$HERE/table1.sh"
needs_plugin
live_begin 128 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1" MinJobAge=10 \
	DebugFlags=NO_CONF_HASH
needs_engine

all_run() { job_is "$J1" RUNNING && job_is "$J2" RUNNING && job_is "$J3" RUNNING; }
shows() { # JOB TEXT
	table1_show "$1"
	[ "$(table1_show "$1")" = "$2" ]
}

together() {
	reload < <(table1_site)
	wait_for 30 status_is policy '*ip_window*'
	table1_submit "$NODES"
	job_is "$J1" PENDING
	job_is "$J2" PENDING
	job_is "$J3" PENDING
	table1_release
	wait_for 60 all_run
	shows "$J1" "128 nodes, 4 cores on each, 0 GPUs on each"
	shows "$J2" "64 nodes, 4 cores on each, 2 GPUs on each"
	shows "$J3" "64 nodes, 4 cores on each, 2 GPUs on each"
	status_is layout_differs 0
	echo "commit_hold_us: $(status commit_hold_us)"
	# nobody shares a core: all of the machine is in use, once
	[ "$(sinfo -h -o %C)" = 1024/0/0/1024 ]
}
it "three jobs that fit together run at once, one of them on four cores of every node" together

request_of() { scontrol -o show job "$1" | tr ' ' '\n' | grep -E '^(NumTasks|CPUs/Task|ReqNodeList|ExcNodeList|TresPer|MinCPUsNode)'; }

requeued() {
	local before
	table1_submit "$NODES" --requeue
	before=$(request_of "$J1")
	table1_release
	wait_for 60 all_run
	scontrol requeuehold "$J1"
	wait_for 30 job_is "$J1" PENDING
	diff <(echo "$before") <(request_of "$J1")
}
it "the job on all nodes asks for what it did when it is requeued" requeued

stock() {
	cluster_ctld_kill
	cluster_conf SchedulerType=sched/backfill \
		SchedulerParameters=bf_interval=1,bf_continue,sched_interval=1,sched_min_interval=0,default_queue_depth=1000
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
	table1_submit "$NODES"
	table1_release
	wait_for 60 job_is "$J2" RUNNING
	job_is "$J1" RUNNING
	shows "$J1" "64 nodes, 8 cores on each, 0 GPUs on each"
	table1_show "$J2"
	[[ $(table1_show "$J2") == "64 nodes, "*", 2 GPUs on each" ]]	# its cores are spread unevenly
	wait_for 30 job_waits_for "$J3" '^(Resources|Priority)$'
	stays_pending "$J3"
}
it "the same queue under sched/backfill leaves the third job pending" stock

live_end
