#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tool beside a running cluster: status, explain, top, report, captures and plans.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8

STATE=$C/state/schedlua

by_conf() {
	SLURM_CONF=$SLURM_CONF schedlua status > "$C/out"
	grep -q '^decided by  *site$' "$C/out"
	grep -q "^slurmctld pid  *$(cluster_ctld_pid)\$" "$C/out"
	! grep -q 'is not running' "$C/out"
}
decided() { status_is source site; }
status_by_conf() {
	starts "$(submit -N1)"
	wait_for 10 decided
	by_conf
}
it "status finds the controller's state through slurm.conf" status_by_conf

status_by_scontrol() {
	# a slurm.conf that includes the one with StateSaveLocation: only scontrol knows
	echo "Include $SLURM_CONF" > "$C/jobs/outer.conf"
	wait_for 20 eval 'SLURM_CONF=$C/jobs/outer.conf schedlua status | grep -q "^decided by  *site$"'
}
it "status asks scontrol where slurm.conf does not say it" status_by_scontrol

without_effect() { schedlua status | grep -q "^without effect .*sched.lua:2: no partition 'smal' in this cluster.*mean 'small'?"; }
no_partition() {
	mark_log
	printf 'return (require "sched").site { partitions = {\n  smal = "fcfs" } }\n' | cluster_site
	wait_for 20 without_effect
	wait_for 20 log_said "sched.lua:2: no partition 'smal' in this cluster"
	schedlua check "$C/etc/sched.lua" | grep -q "sched.lua:2: no partition 'smal'"
	scontrol create PartitionName=smal Nodes=n001
	wait_for 20 fails without_effect
	status_is source site
	scontrol delete PartitionName=smal
	wait_for 20 without_effect
	cluster_default_site
	wait_for 20 fails without_effect
}
it "status and check warn of a partition that the cluster does not have, while it has not" no_partition

explained() { schedlua explain "$1" > "$C/out" && grep -qE "$2" "$C/out"; }
in_journal() { grep -q "{\"job\": $1," "$STATE/decisions.jsonl"; }	# JOBID

explain_wait() {
	local first wide behind
	first=$(submit -N "$NODES" --exclusive --time=10)
	starts "$first"
	wide=$(submit -N "$NODES" --exclusive --time=10)
	behind=$(submit -N 1 --time=60)
	wait_for 10 explained "$wide" 'waits.*expected to start at'
	wait_for 10 explained "$behind" "ahead of it, with a reservation: job $wide at "
	grep -q 'waits: ' "$C/out"
	# nothing but the answer, though a capture was taken for the order
	head -n 1 "$C/out" | grep -q "^Job $behind waits for 1 node with "
	sed -n 2p "$C/out" | grep -q 'waits: '
	schedlua explain --json "$behind" > "$C/out"
	grep -q '"order": "order in ' "$C/out"
	[ "$(head -c 1 "$C/out")" = '{' ]
	scancel "$first"
	starts "$wide"
	wait_for 10 explained "$wide" 'started on '
	explained "$wide" 'expected to start at'
}
it "explain tells why a job waits, behind whom, and that it started" explain_wait

planned_on() { # JOBID NODES
	[ "$(squeue -h --start -j "$1" | awk '{ print $8 }')" = "$2" ]
}
planned() {
	local first wide second
	first=$(submit -N "$NODES" --exclusive --time=10)
	starts "$first"
	wide=$(submit -N3 --exclusive --time=10 --nodelist='n[002-004]')
	second=$(submit -N "$NODES" --exclusive --time=10)
	wait_for 10 planned_on "$wide" 'n[002-004]'
	wait_for 10 planned_on "$second" "n[001-00$NODES]"	# foreseen: easy reserves for the first alone
	scancel "$wide"
	wait_for 10 planned_on "$second" "n[001-00$NODES]"
	scancel "$first"
	starts "$second"
	[ "$(squeue -h -j "$second" -O SchedNodes | tr -d ' ')" = '(null)' ]
}
it "squeue --start says on which nodes a job is expected to start" planned

explain_gone() {
	local first id
	first=$(submit -N "$NODES" --exclusive)
	starts "$first"
	id=$(submit -N "$NODES")
	wait_for 10 explained "$id" 'waits'
	wait_for 10 in_journal "$id"	# what waits is seen in the cluster, too, before there is a cycle
	scancel "$id"
	wait_for 10 explained "$id" 'left the queue'
}
it "explain tells that a job left the queue" explain_gone

explain_array() {
	local id
	id=$(FOR=1 submit -N1 --array=1-3)
	wait_for 10 explained "${id}_2" 'started on '
	wait_for 20 eval 'schedlua explain --json '"$id"' | grep -q "\"event\": \"start\""'
}
it "explain tells of the tasks of an array" explain_array

# What a capture plans is what happens, held back until it was taken.
capture_and_plan() {
	local id held
	held=$(submit -n1 --hold)
	id=$(submit -N3 --exclusive --hold)
	scontrol release "$id"
	schedlua-capture "$C/jobs/now.snap"
	scancel "$held"
	schedlua show "$C/jobs/now.snap" | grep -q "^nodes  *$NODES "
	schedlua show --json "$C/jobs/now.snap" > "$C/out"
	fails grep WHOLE_SWITCHES "$C/out"	# which nobody asks for
	starts "$id"
	schedlua plan --policy=easy --json "$C/jobs/now.snap" > "$C/plan.json"
	grep -q '"check": {"ok": true' "$C/plan.json"
	grep -q "{\"job\": $id, " "$C/plan.json" || grep -q '"started": \[\]' "$C/plan.json"
}
it "a capture can be planned on" capture_and_plan

last_snapshot() {
	starts "$(submit -N1)"
	wait_for 10 test -f "$STATE/last.snap"
	schedlua plan --site="$C/etc/sched.lua" "$STATE/last.snap" | grep -q 'the plan is feasible'
	schedlua show --json "$STATE/last.snap" | grep -q '"source": "slurmctld"'
}
it "the plug-in's last snapshot can be planned on" last_snapshot

asked() {
	local want=$1
	shift
	schedlua willrun "$@" > "$C/out" && grep -qE "$want" "$C/out"
}
willrun() {
	local first
	first=$(submit -N "$NODES" --exclusive --time=10)
	starts "$first"
	asked '^(may start|gets a reservation: starts) at ' -N1 --exclusive -t 5
	fails schedlua willrun -N $((NODES + 1)) > "$C/out"
	grep -q '^never starts as things are: ' "$C/out"
	scancel "$first"
	wait_for 20 asked "^starts now in partition .* on n" -N "$NODES" --exclusive -t 5
}
it "willrun says when a job would start that is not submitted" willrun

topped() { schedlua top --once > "$C/out" && grep -qE "$1" "$C/out"; }
reported() {
	SCHEDLUA_REPORT=$C/page schedlua report --last=1h --output="$C/page.html" | grep -q ' [1-9][0-9]* jobs, ' &&
		grep -q '"resources"' "$C/page.html"
}
top_and_report() {
	local first behind
	first=$(submit -N "$NODES" --exclusive --time=10)
	starts "$first"
	behind=$(submit -N1 --exclusive --time=10)
	wait_for 10 topped "^ *$behind .*:[0-9]{2}:[0-9]{2}  ."
	topped " OK "
	topped "  job $first started on .* cores\)$"
	topped "[0-9]+/$((NODES * 8)) "
	mkdir -p "$C/page"
	printf '<!-- title -->\n<!-- data -->\n' > "$C/page/page.html"
	wait_for 20 reported		# (the journal has it a moment later)
	fails grep -q 'There is no ledger' "$C/page.html"
	scancel "$first" "$behind"
}
it "top and report tell what the cluster does and did" top_and_report

check_as_production() {
	schedlua check --trust "$C/etc/sched.lua" | grep -q ': OK'
}
it "the site file passes the checks of production" check_as_production

after_the_end() {
	cluster_ctld_kill TERM
	wait_for 10 eval 'schedlua status | grep -q "is not running on this machine"'
	schedlua top --once | grep -q 'CRITICAL'
	cluster_ctld_start
}
it "status and top work, and say so, when slurmctld is down" after_the_end

live_end
