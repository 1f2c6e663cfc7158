#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shadow mode: Slurm's own scheduler decides as it would without us, the site's policies decide
# beside it, nothing of theirs is carried out, and what both did is told.
SL_BUDGET=	# (an engine that hangs is replaced soon)
. "${0%/*}/live.sh"
needs_plugin
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"

STOCK=bf_interval=1,sched_interval=2,sched_min_interval=0,default_queue_depth=2000
LUA=lua_interval=0.5,lua_wake=50,lua_capture=1
live_begin 8 "SchedulerParameters=lua_shadow=backfill,$STOCK,$LUA"

restart() { # LINE... of slurm.conf
	cluster_ctld_kill
	cluster_conf "$@"
	cluster_ctld_start
	wait_for 20 cluster_nodes_ready "$NODES"
}
shadows() { status_is shadow "$1" && status_is source site; }
cycles_go_on() {
	local n
	n=$(status cycles)
	wait_for 20 eval '[ "$(status cycles)" -gt '$((n + 3))' ]'
}
book() { cat "$C/state/schedlua/shadow.jsonl"; }
book_says() { book | grep -qE -- "$1"; }

both_decide() {
	local id
	wait_for 20 shadows backfill
	wait_for 20 log_has 'shadow mode: sched/backfill decides'
	id=$(submit -N1)
	starts "$id"
	wait_for 20 book_says "\"ran\": \[\{.*\"job\": $id,"
	scancel "$id"
	wait_for 20 book_says "\"ended\": \[\{.*\"job\": $id,"
}
it "Slurm's own backfill decides, and the policies look on" both_decide

# A policy that wants everything otherwise.
meddle() {
	reload <<-'EOL'
	local sched = require "sched"
	local M = { name = "meddler" }
	function M.admit(job)
		if job.name == "refused" then return false, "the meddler refuses it" end
		return true
	end
	function M.decide(cluster, plan)
		local last = {}
		for job in cluster:queue() do table.insert(last, 1, job) end
		for _, job in ipairs(last) do
			if not plan:start(job) then plan:reserve(job) end
			plan:modify(job, { priority = 77, time_limit = 7200 })
			plan:notify(job, "the meddler was here")
			if job.name == "doomed" then plan:cancel(job) end
		end
		for _, job in ipairs(cluster.running) do plan:cancel(job, "the meddler ends it") end
	end
	return sched.site { interval = 0.5, default = { M } }
	EOL
	wait_for 20 status_is policy '*meddler*'
}

# What Slurm's own scheduler makes of a queue: who runs where, and why the others wait.
scene() {
	local all
	all=$(submit -J all -N8 --exclusive -t 300)	# (where there is no limit backfill writes one, the main scheduler none)
	starts "$all"
	submit -J wide -N6 --exclusive -t 100 > /dev/null
	submit -J next -N4 --exclusive -t 50 > /dev/null
	submit -J beside -N2 --exclusive -t 200 > /dev/null
	submit -J refused -N2 --exclusive -t 50 > /dev/null
	submit -J doomed -N1 --exclusive -t 10 > /dev/null
	submit -J small -N1 -n2 -t 10 > /dev/null
	wait_for 20 has_jobs PENDING -eq 6
	sleep_cycles
	picture
	cancel_at_once "$all"
	sleep_cycles
	picture
	cancel_at_once --name=wide
	sleep_cycles
	picture
}
# Its nodes come free one after the other: no scheduler may look before they all are.
cancel_at_once() {
	scontrol update PartitionName=main State=DOWN
	scancel "$@"
	wait_for 60 has_jobs COMPLETING -eq 0
	scontrol update PartitionName=main State=UP
}
# Slurm's schedulers pass each second: a few seconds of them, whoever looks on.
sleep_cycles() {
	local before
	before=$(passes)
	wait_for 30 eval '[ "$(passes)" -ge '$((before + 4))' ]'
}
passes() { sdiag | sed -n '/^Backfilling/,$s/^\tTotal cycles: *//p' | head -n 1; }
picture() {
	echo "--"
	squeue -h -S j -o '%j %T %N %r %l'
	for id in $(squeue -h -S j -o %i); do
		scontrol -o show job "$id" | tr ' ' '\n' |
			grep -E '^(JobName|Priority|SchedNodeList|TimeLimit|Comment|AdminComment|Partition|ReqNodeList)=' | tr '\n' ' ' |
			sed -E 's/Priority=[0-9]+//'
		echo
	done
	sinfo -h -N -o '%N %T' | sort
}

plain() {
	restart SchedulerType=sched/backfill "SchedulerParameters=$STOCK"
	scene > "$C/scene.plain"
	cat "$C/scene.plain"
	grep -q 'beside RUNNING' "$C/scene.plain"	# it did backfill
}
it "plain sched/backfill makes something of a queue" plain

shadowed() {
	restart SchedulerType=sched/lua "SchedulerParameters=lua_shadow=backfill,$STOCK,$LUA"
	meddle
	scene > "$C/scene.shadow"
	cycles_go_on
	status_is actions 0
	status_is starts 0
	diff "$C/scene.plain" "$C/scene.shadow"
	fails log_said "the meddler was here"
	wait_for 20 book_says '"why": "policy", "text": "the meddler refuses it"'
	grep -q '"verb": "cancel".*"fate": "shadow"' "$C/state/schedlua/decisions.jsonl"
}
it "in shadow mode the same jobs run on the same nodes, whatever the policies want" shadowed

broken() {
	local id
	reload <<-'EOL'
	local sched = require "sched"
	local M = { name = "broken" }
	function M.decide(cluster)
		for job in cluster:queue() do
			if job.name == "boom" then error("it was bound to fail") end
		end
	end
	return sched.site { interval = 0.5, default = { M } }
	EOL
	wait_for 20 status_is policy '*broken*'
	submit -J boom -N8 --exclusive > /dev/null
	id=$(submit -J boom -N1)
	wait_for 20 has_jobs RUNNING -ge 1
	wait_for 20 book_says 'failed.*it was bound to fail'
	scancel -t RUNNING -u root
	starts "$id"
	same_slurmctld
	cluster_default_site
	scontrol reconfigure
	wait_for 20 status_is policy '*easy*'
}
CTLD=$(cluster_ctld_pid)
it "a policy that fails is told of, and jobs start as ever" broken

engine_dies() {
	local engine id i
	for i in 1 2 3; do
		wait_for 20 engine_lives
		engine=$(engine_pid)
		kill -KILL "$engine"
		id=$(submit -N1)
		starts "$id"
	done
	wait_for 60 engine_lives
	kill -STOP "$(engine_pid)"	# nor does one that hangs keep anybody waiting
	id=$(submit -N1)
	starts "$id"
	wait_for 90 shadows backfill
	same_slurmctld
}
it "an engine that is killed or hangs keeps no job from starting" engine_dies

reported() {
	wait_for 60 book_says '"sample".*"failures"'
	"$SL_PREFIX/bin/schedlua" shadow report --dir "$C/state/schedlua" --last 1d > "$C/report"
	cat "$C/report"
	grep -qE '^same  *[1-9]' "$C/report"
	grep -q 'the meddler refuses it' "$C/report"
	"$SL_PREFIX/bin/schedlua" shadow report --dir "$C/state/schedlua" --json > "$C/report.json"
	for key in jobs failures refused decisions; do
		grep -qE "^ \"$key\": [1-9]" "$C/report.json"
	done
	"$SL_PREFIX/bin/schedlua" status --dir "$C/state/schedlua" | grep -q 'in the shadow of *backfill'
}
it "what both did is reported" reported

typo() {
	restart "SchedulerParameters=lua_shadow=bakfill,$STOCK,$LUA"
	wait_for 20 shadows backfill
	wait_for 20 log_has 'lua_shadow=bakfill: expected backfill or builtin'
	starts "$(submit -N1)"
}
it "a word that is not known means backfill, and never that the policies decide" typo

# Between two passes of Slurm's, each of which would change the reason.
no_trace() {
	local id
	restart "SchedulerParameters=lua_shadow=backfill,defer,bf_interval=600,sched_interval=600,$LUA"
	wait_for 20 shadows backfill
	id=$(submit -N1 --begin=now+4)
	wait_for 10 job_waits_for "$id" BeginTime
	wait_for 20 book_says "\"plans\": .*\"job\": $id,"
	cycles_go_on
	job_waits_for "$id" BeginTime
}
it "looking at the queue leaves no trace in it" no_trace

builtin() {
	restart "SchedulerParameters=lua_shadow=builtin,$STOCK,$LUA"
	wait_for 20 shadows builtin
	wait_for 20 log_has 'Built-in scheduler plugin loaded|shadow mode: sched/builtin decides'
	starts "$(submit -N1)"
}
it "builtin can be hosted, too" builtin

het() {
	local id
	restart SchedulerType=sched/backfill "SchedulerParameters=lua_shadow=backfill,$STOCK,$LUA" \
		"PluginDir=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$SL_SLURM_PLUGINS"
	wait_for 20 shadows backfill
	id=$(submit -N1 : -N2)
	wait_for 30 eval '[ "$(squeue -h -j '"$id"' -t RUNNING -o %i | wc -l)" = 2 ]'
}
it "under the name sched/backfill it finds Slurm's own, and het jobs run" het

reconfigures() {
	restart SchedulerType=sched/lua "SchedulerParameters=lua_shadow=backfill,$STOCK,$LUA"
	wait_for 20 shadows backfill
	for _ in 1 2 3; do
		scontrol reconfigure
		starts "$(submit -N1)" 30
	done
	wait_for 20 shadows backfill
}
it "it outlives reconfiguration" reconfigures

live() {
	local id
	id=$(submit -N2)
	starts "$id"
	restart "SchedulerParameters=defer,sched_interval=-1,$LUA"
	wait_for 20 shadows ''
	job_is "$id" RUNNING
	starts "$(submit -N1)"
	wait_for 10 eval '[ "$(status starts)" -ge 1 ]'
}
it "going live is a word and a restart" live
live_end
