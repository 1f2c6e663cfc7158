#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the stock schedulers do for a job, sched/lua does as well.
. "${0%/*}/live.sh"
needs_plugin
live_begin 16 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1" SlurmctldDebug=debug Licenses=lic:4 \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1" \
	"PartitionName=half Nodes=n[009-016] MaxTime=60 State=UP" \
	"PartitionName=off Nodes=ALL State=DOWN" \
	"PartitionName=excl Nodes=n[001-004] OverSubscribe=EXCLUSIVE State=UP"

cores() { scontrol -d show job "$1" | sed -n 's/^ *Nodes=\([^ ]*\) CPU_IDs=\([^ ]*\) .*/\1 \2/p'; }
tasks_of() { squeue -h -r -t "$2" -o %K -j "$1" 2>/dev/null | wc -l; }
task_count() { [ "$(tasks_of "$1" "$2")" = "$3" ]; }

explains() { schedlua explain --dir="$C/state/schedlua" "$1" 2>/dev/null | grep -qE -- "$2"; }	# JOBID REGEX
placed_by() { # engine|select JOBID
	wait_for 10 explains "$2" 'started on'
	case $1 in
	engine) fails explains "$2" 'select picks the nodes' ;;
	select) explains "$2" 'select picks the nodes' ;;
	esac
}

array() {
	local id
	id=$(submit -N1 --exclusive -a 0-31)
	wait_for 10 task_count "$id" R 16
	[ "$(tasks_of "$id" PD)" = 16 ]
	scancel "${id}_0" "${id}_1"
	wait_for 10 task_count "$id" PD 14
}
it "tasks of an array start, as many as there is room for" array

counts_of() { scontrol show job "$1" | grep -oE 'NumNodes=.* NumTasks=[0-9]+' | head -n 1 | slurm_shows_nodes; }
array_request() {
	local id other
	other=$(submit --hold -n3 -a 0-3%1)
	id=$(submit -n3 -a 0-3%1)
	wait_for 10 task_count "$id" R 1
	echo "$(counts_of "${id}_3"), $(counts_of "$other") expected"
	[ "$(counts_of "${id}_3")" = "$(counts_of "$other")" ]
	fails grep -q 'ReqNodeList=n' < <(scontrol show job "${id}_3")
	scancel "${id}_0"
	wait_for 10 task_count "$id" R 1
}
it "what is left of an array keeps its request" array_request

# A task with a record of its own, which knows no throttle: that is in the array's.
requeued_task() {
	local id begin
	needs_lua
	id=$(submit -n1 --requeue -a 1-3%1)
	wait_for 20 job_is "${id}_1" RUNNING
	scontrol requeue "${id}_1"
	wait_for 60 job_is "${id}_2" RUNNING
	begin=$(($(date +%s) + 3))
	scontrol update JobId="${id}_1" StartTime="$(date -d "@$begin" +%Y-%m-%dT%H:%M:%S)"
	wait_for 10 eval '[ "$(date +%s)" -gt '"$begin"' ]'
	scancel "${id}_2"
	wait_for 60 job_is "${id}_3" RUNNING	# which was submitted earlier
	wait_for 60 job_waits_for "${id}_1" JobArrayTaskLimit
	scancel "${id}_3"
	wait_for 60 job_is "${id}_1" RUNNING
	fails grep -q 'tasks of its array run as may run at once' "$C/state/schedlua/decisions.jsonl"
	scancel "${id}_1"	# (scancel does not find it by the number that it has as a job)
}
it "a task that is requeued is not tried while as many of its array run as may" requeued_task

# What the job asks for, as clients see it.
request() {
	scontrol -o show job "$1" | tr ' ' '\n' |
		grep -E '^(ReqNodeList|ExcNodeList|NumTasks|CPUs/Task|MinCPUsNode|NtasksPerN|Contiguous|OverSubscribe|TimeLimit|TresPer)'
	squeue -h -j "$1" -O mincpus,feature,gres
}

same_request() {
	request "$1" > "$C/after"
	cmp -s "$C/before" "$C/after"
}

requeue() { # OPTION...
	local id
	id=$(submit -H "$@")
	request "$id" > "$C/before"
	scontrol release "$id"
	starts "$id" 5
	scontrol requeue "$id"
	wait_for 10 job_is "$id" PENDING
	wait_for 3 same_request "$id" || diff "$C/before" "$C/after"
	starts_soon "$id"
	starts "$id" 20
	[ "$(job_get "$id" Restarts)" = 1 ]
}
it "a requeued job has the time limit it was submitted with" requeue -N1 -t 60 --time-min=1 \
	--deadline="$(date -d '+20 minutes' +%Y-%m-%dT%H:%M:%S)"

time_limit() {
	local id
	id=$(submit -p half -N1 -t 5:00:00 2>/dev/null) || id=$(submit -p half -N1 -t 30)
	[ "$(job_get "$id" TimeLimit)" = 00:30:00 ] && { starts "$id" 5; return; }
	stays_pending "$id"
	wait_for 20 job_waits_for "$id" PartitionTimeLimit
}
it "a time limit beyond the partition's is not started" time_limit

exclusive() {
	local a b
	a=$(submit -p excl -N2 -n2)
	starts "$a" 5
	[ "$(job_get "$a" NumCPUs)" = 16 ]
	b=$(submit -N15 --exclusive)
	stays_pending "$b"
	scancel "$a"
	starts "$b" 10
}
it "exclusive jobs get whole nodes" exclusive

licences() {
	local a b
	a=$(submit -N1 -L lic:3)
	starts "$a" 5
	b=$(submit -N1 -L lic:2)
	stays_pending "$b"
	scancel "$a"
	starts "$b" 10
}
it "licences are not given twice" licences

reservation() {
	local a b
	scontrol create reservation ReservationName=r Users=root StartTime=now Duration=10 "Nodes=n[001-014]"
	a=$(submit -N4)
	stays_pending "$a"
	b=$(submit -N4 -n20 --reservation=r)
	starts "$b" 5
	placed_by engine "$b"
	fails log_said "JobId=$b: select gave other cores than planned"
	scancel "$b"
	wait_for 10 job_is "$b" CANCELLED
	scontrol delete ReservationName=r
	starts "$a" 10
}
it "a reservation keeps others off, and its own jobs run in it" reservation

with_features() {
	scontrol update "NodeName=n[003-004]" AvailableFeatures=fast,ib ActiveFeatures=fast,ib
	scontrol update "NodeName=n[005-006]" AvailableFeatures=ib ActiveFeatures=ib
	"$@"
	scontrol update "NodeName=n[003-006]" AvailableFeatures= ActiveFeatures=
}

features() {
	local a b
	a=$(submit -N2 -C fast)
	starts "$a" 5
	[ "$(job_nodes "$a")" = 'n[003-004]' ]
	placed_by engine "$a"
	b=$(submit -N1 -C fast --exclusive)
	stays_pending "$b"
	scancel "$a"
	starts "$b" 10
	placed_by engine "$b"
	a=$(submit -N1 -C 'fast&ib')
	starts "$a" 5
	[[ $(job_nodes "$a") == n00[34] ]]
	placed_by engine "$a"
}
it "a job that names features is placed by the engine, on nodes that have them" with_features features

alternatives() {
	local id
	id=$(submit -N4 -C 'fast|ib')
	starts "$id" 5
	[ "$(job_nodes "$id")" = 'n[003-006]' ]
	placed_by engine "$id"
	id=$(submit -N4 -C 'fast|ib' --exclusive)
	stays_pending "$id"
	scancel "$id"
}
it "... any of them where it names alternatives" with_features alternatives

matching() {
	local id
	id=$(submit -N2 -n3 --ntasks-per-socket=2)
	starts "$id" 5
	placed_by select "$id"
}
it "a job that only select can place is placed by select" with_features matching

immediate() {
	timeout 300 srun --immediate=120 -N2 true
	submit -N16 --exclusive > "$C/id"
	starts "$(cat "$C/id")" 5
	! timeout 120 srun --immediate=2 -N1 true
}
it "--immediate starts at once or not at all" immediate

het() {
	fails sbatch -o /dev/null -N1 : -N1 --wrap true 2> "$C/het"
	grep -qi 'het\|heterogeneous\|not supported\|invalid' "$C/het"
}
it "a heterogeneous job is refused at submission" het

tiers() { # on | off : jobs of "half" may preempt those of the others
	if [ "$1" = on ]; then
		cluster_conf PreemptType=preempt/partition_prio PreemptMode=REQUEUE \
			"PartitionName=half Nodes=n[009-016] MaxTime=60 State=UP PriorityTier=10"
	else
		cluster_conf PreemptType=preempt/none PreemptMode=OFF \
			"PartitionName=half Nodes=n[009-016] MaxTime=60 State=UP"
	fi
	scontrol reconfigure
}

preemption() {
	local a b
	tiers on
	a=$(submit -N16 --exclusive)
	starts "$a" 5
	b=$(submit -p half -N2)
	starts "$b" 20
	job_is "$a" PENDING || wait_for 10 job_is "$a" PENDING
	[ "$(job_get "$a" Restarts)" = 1 ]
	tiers off
}
it "a job of a higher tier preempts" preemption

# One that does not end when it is told to: its node is not free before KillWait is over.
stubborn() {
	# shellcheck disable=SC2016	# for the job
	sbatch --parsable --output=/dev/null "$@" --wrap 'trap "" TERM; touch "stubborn.$SLURM_JOB_ID"; while :; do sleep 0.2; done'
}

preempts_no_more() {
	local id i victims=()
	tiers on
	starts "$(submit -N12 --exclusive -w 'n[001-012]' -p main)"
	for i in 1 2 3 4; do victims+=("$(stubborn -N1 --exclusive)"); done
	for id in "${victims[@]}"; do wait_for 20 test -e "stubborn.$id"; done
	id=$(submit -p half -N1 --exclusive -x 'n[009-012]')
	starts "$id" 40
	[ "$(squeue -h -p main -t R -o %i | wc -l)" = 4 ]
	tiers off
}
it "while that one ends no others are preempted for the same job" preempts_no_more

preempts_within_limits() {
	local a b c
	tiers on
	reload <<-'EOL'
	local guard = { name = "guard" }
	function guard.allow(job)
	  if job.name == "over" then return false, "over its quota" end
	  return true
	end
	return require "sched".site { interval = 1, default = "easy", partitions = { half = { guard } } }
	EOL
	wait_for 15 status_is policy '*guard*'
	a=$(submit -N16 --exclusive)
	starts "$a" 10
	b=$(submit -p half -N2 -J over)
	wait_for 10 job_waits_for "$b" 'over its quota'
	stays_pending "$b"
	[ "$(job_get "$a" Restarts)" = 0 ]
	c=$(submit -p half -N2)
	starts "$c" 20
	job_is "$b" PENDING
	reload <<-'EOL'
	return require "sched".site { interval = 1, default = "easy" }
	EOL
	tiers off
}
it "a job that the policies do not let start preempts nobody" preempts_within_limits

cycles_in_all() { sdiag | sed -n 's/^\tTotal cycles: *//p' | head -n 1; }
stats() {
	local before
	before=$(cycles_in_all)
	starts "$(submit -N1)" 5
	wait_for 20 eval '[ "$(cycles_in_all)" -gt '"$before"' ]'
}
it "sdiag counts the cycles" stats

soon() {
	cluster_conf SchedulerParameters=defer,sched_interval=-1,lua_interval=600
	scontrol reconfigure
	starts "$(submit -N1)" 20
	timeout 300 srun -N1 true
}
it "an interactive job on an idle cluster does not wait for the interval" soon

live_end
