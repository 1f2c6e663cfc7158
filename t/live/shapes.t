#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Jobs that would do with another shape: started as one of their alternatives.
. "${0%/*}/live.sh"
. "${0%/*}/meanwhile.sh"
needs_plugin
PARAMETERS=defer,sched_interval=-1,lua_interval=1
live_begin 16 "SchedulerParameters=$PARAMETERS,lua_shapes=any" SlurmctldDebug=debug \
	"PartitionName=half Nodes=n[009-016] MaxNodes=2 MaxTime=60 State=UP"
needs_engine

reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "easy" } }
EOL
wait_for 30 status_is policy easy || { echo "Bail out! the policy is not taken"; exit 1; }

request() {
	scontrol -o show job "$1" | tr ' ' '\n' |
		grep -E '^(NumNodes|NumTasks|NumCPUs|CPUs/Task|ReqNodeList|MinCPUsNode|NtasksPerN|OverSubscribe|TimeLimit|TresPer|ReqTRES)'
	squeue -h -j "$1" -O mincpus,feature,gres
}
same_request() { request "$1" > "$C/after"; cmp -s "$C/before" "$C/after"; }
asks_again() { wait_for 20 same_request "$1" || { diff "$C/before" "$C/after"; return 1; }; }
gpus_of() { # on all its nodes
	local list gpus n=0
	while read -r list gpus; do
		n=$((n + $(expand "$list" | wc -l) * gpus))
	done < <(scontrol -d show job "$1" | sed -nE 's/^ *Nodes=(\S+) CPU_IDs=.*GRES=gpu:([0-9]+).*/\1 \2/p')
	echo $n
}

fill() { # NODE-LIST : nobody else gets those
	local id
	id=$(submit --exclusive -N "$(expand "$1" | wc -l)" -w "$1")
	starts "$id" 20
}

as_asked() {
	local id
	id=$(submit -N4 --exclusive --comment='sched: -n8')
	starts "$id" 20
	[ "$(expand "$(job_nodes "$id")" | wc -l)" = 4 ]
}
it "a job starts as it asks where that fits" as_asked

alternative() { # ALTERNATIVE NODES TASKS CPUS GPUS OPTION...
	local id alternative=$1 nodes=$2 tasks=$3 cpus=$4 gpus=$5
	shift 5
	fill 'n[001-013]'
	id=$(submit -H --requeue "$@" --comment="project x; sched: $alternative")
	request "$id" > "$C/before"
	scontrol release "$id"
	starts "$id" 20
	[ "$(expand "$(job_nodes "$id")" | wc -l)" = "$nodes" ]
	[ "$(job_get "$id" NumTasks)" = "$tasks" ]
	[ "$(job_get "$id" NumCPUs)" = "$cpus" ]
	[ "$(gpus_of "$id")" = "$gpus" ]
	status_is layout_differs 0
	# it is what it was when it is requeued, and starts again
	scontrol requeuehold "$id"
	wait_for 20 job_is "$id" PENDING
	asks_again "$id"
	scontrol release "$id"
	scontrol update JobId="$id" StartTime=now
	starts "$id" 20
	[ "$(job_get "$id" NumTasks)" = "$tasks" ]
	scancel "$id"
	wait_for 20 job_is "$id" CANCELLED
}
it "a job of many nodes starts on few" alternative '-N2 -n16' 2 16 16 0 -N8 -n8 -t 50
it "a job starts with the GPUs of its alternative" alternative '-N3 --gpus-per-node=2' 3 3 3 6 -N9
it "a job that asks for GPUs starts without any" alternative '-n24' 3 24 24 0 -N4 --gres=gpu:2 -n4
it "a job starts with the cores of a task of its alternative" alternative '-n4 -c3' 2 4 12 0 -N5 --ntasks-per-node=2
it "a job starts with other tasks per node" alternative '-N2 --ntasks-per-node=4 -c2' 2 8 16 0 -N8 --ntasks-per-node=1
it "a job that wants GPUs in all gets them on each task" alternative '-n2 --gpus-per-task=2' 2 2 2 4 -N4 -G8

has_shape() { schedlua explain "$1" --json | grep "\"shape\": $2"; } # JOBID N : it was started as its Nth alternative
second() {
	local id
	fill 'n[001-015]'
	id=$(submit -N8 --comment='sched: -N4 | -N1 -n2')
	starts "$id" 20
	[ "$(job_get "$id" NumTasks)" = 2 ]
	[ "$(job_get "$id" NumNodes)" = 1 ]
	wait_for 20 has_shape "$id" 2
}
it "the first alternative that fits is taken" second

range() {
	local id
	fill 'n[001-014]'
	starts "$(submit -N2 -n2 --gpus-per-node=1 -w 'n[015-016]')"
	id=$(submit -N2 --gres=gpu:2 --comment='sched: -N2 --gres=gpu:1-1 | -n1 -t 60 --gpus-per-node=1-2')
	starts "$id" 20
	[ "$(gpus_of "$id")" = 2 ]
	wait_for 20 has_shape "$id" 1
	id=$(submit -N2 --gres=gpu:2 --comment='sched: -N2 --gpus-per-node=1-2 | -n1')
	starts "$id" 20
	[ "$(gpus_of "$id")" = 0 ]
	wait_for 20 has_shape "$id" 3
}
it "a job that would do with one or two GPUs starts with what is free" range

behind_head() {
	local head late soon
	starts "$(submit --exclusive -N14 -w 'n[001-014]' -t 30)"
	head=$(submit --exclusive -N16 -t 60)
	wait_for 20 has_expected_start "$head"
	late=$(submit -N4 -t 20 --comment='sched: -N2 -t 40')
	soon=$(submit -N4 -t 20 --comment='sched: -N2 -t 40 | -N2 -t 10')
	starts "$soon" 20
	[ "$(job_get "$soon" TimeLimit)" = 00:10:00 ]
	stays_pending "$late"
	wait_for 10 eval "schedlua explain $late | grep -E 'needs 4 nodes|would delay'"
	job_is "$head" PENDING
}
has_expected_start() { [[ $(squeue -h -j "$1" -o %S) == 20* ]]; }
it "an alternative is backfilled where it does not delay the first job that waits" behind_head

its_time() {
	local id
	fill 'n[001-015]'
	id=$(submit -H -N8 -t 60 --requeue --comment='sched: -N1 -t 2:00:00')
	request "$id" > "$C/before"
	scontrol release "$id"
	starts "$id" 20
	[ "$(job_get "$id" TimeLimit)" = 02:00:00 ]
	scontrol requeuehold "$id"
	wait_for 20 job_is "$id" PENDING
	asks_again "$id"
}
it "an alternative has a time limit of its own" its_time

environment() {
	local id
	fill 'n[001-014]'
	id=$(sbatch --parsable -o "$JOBS/out" -N8 --ntasks-per-node=1 --comment='sched: -N2 -n6' \
		--wrap 'echo $SCHEDLUA_SHAPE $SLURM_NTASKS $SLURM_JOB_NUM_NODES; srun sh -c "echo task"')
	ends "$id" 60
	cat "$JOBS/out"
	[ "$(head -n 1 "$JOBS/out")" = "1 6 2" ]
	[ "$(grep -c '^task$' "$JOBS/out")" = 6 ]
}
it "a script sees which alternative it has, and srun in it starts its tasks" environment

gpu_environment() { # TASKS GPUS ALTERNATIVE OPTION... : GPUs that each task sees
	local id
	fill 'n[001-014]'
	id=$(sbatch --parsable -o "$JOBS/out" "${@:4}" --comment="sched: $3" \
		--wrap 'env | grep -E "SLURM_(.*GPU|TRES)"; srun sh -c "echo task:\${CUDA_VISIBLE_DEVICES-}"')
	ends "$id" 60
	cat "$JOBS/out"
	[ "$(grep -c '^task' "$JOBS/out")" = "$1" ]
	[ "$(sed -n 's/^task://p' "$JOBS/out" | awk -F, '{ print NF }' | sort -u)" = "$2" ]
}
it "an srun in a script has the GPUs of its alternative: not as many in all" gpu_environment 2 1 '-N2 --gpus-per-node=1' -N8 -n8 -G8
it "an srun in a script has the GPUs of its alternative: not as many on a node" gpu_environment 2 1 '-N2 -n2 -G2' -N8 --gpus-per-node=2
it "an srun in a script has the GPUs of its alternative: not as many for a task" gpu_environment 2 1 '-n2 -N2 --gpus-per-task=1' -n4 -N4 --gpus-per-task=2
it "an srun in a script has the GPUs of its alternative: none" gpu_environment 12 0 '-n12' -n4 -N4 --gpus-per-task=2

array() {
	local id
	fill 'n[001-014]'
	id=$(submit -H -N4 -t 30 --requeue -a 0-3%2 --comment='sched: -N1 -n3 -t 40')
	request "${id}" > "$C/before"
	scontrol release "$id"
	wait_for 20 eval '[ "$(squeue -h -r -t R -j '"$id"' -o %K | wc -l)" = 2 ]'
	[ "$(squeue -h -r -t R -j "$id" -o '%C %D %l' | sort -u)" = "3 1 40:00" ]
	# the tasks that wait ask for what they did
	squeue -r -j "$id" -o '%i %t %D %l %C'
	[ "$(squeue -h -r -t PD -j "$id" -o '%D %l' | sort -u)" = "4 30:00" ]
	[ "$(scontrol -o show job "${id}_3" | tr ' ' '\n' | grep -E '^NumTasks|^TimeLimit' | xargs)" = "TimeLimit=00:30:00 NumTasks=4" ]
	# and so does one that is requeued
	scontrol requeuehold "${id}_0"
	wait_for 20 eval '[ "$(squeue -h -r -t PD -j '"${id}_0"' -o "%D %l")" = "4 30:00" ]'
}
it "tasks of an array start as an alternative, and what is left of it keeps its request" array

restarted() { # SIGNAL
	local id trimmed
	fill 'n[001-014]'
	id=$(submit -H -N4 -t 30 --requeue --gres=gpu:1 --comment='sched: -N1 -n3')
	request "$id" > "$C/before"
	trimmed=$(submit -N1 -t 60 --requeue --time-min=1 --deadline="$(date -d '+20 minutes' +%Y-%m-%dT%H:%M:%S)")
	scontrol release "$id"
	starts "$id" 20
	starts "$trimmed" 20
	wait_for 20 are_launched "$id" "$trimmed"
	[ "$(job_get "$id" NumTasks)" = 3 ]
	cluster_save_jobs "$trimmed"
	cluster_ctld_kill "$1"
	cluster_ctld_start
	job_is "$id" RUNNING
	[ "$(job_get "$id" NumTasks)" = 3 ]
	scontrol requeuehold "$id"
	scontrol requeuehold "$trimmed"
	wait_for 20 job_is "$id" PENDING
	asks_again "$id"
	wait_for 20 eval '[ "$(job_get '"$trimmed"' TimeLimit)" = 01:00:00 ]'
	# nothing is remembered that is not needed any more
	wait_for 20 forgotten "$id" "$trimmed"
}
forgotten() { ! grep -qE "^($1|$2)	" "$C/state/schedlua/requests"; }
it "a restart of slurmctld does not lose what jobs asked for" restarted TERM
it "a slurmctld that is killed does not lose what jobs asked for" restarted KILL

# What slurmctld has saved is older than what we have: the job waits as it did before.
forgotten_start() {
	local id
	fill 'n[001-014]'
	id=$(submit -H -N4 -n4 -t 30 --requeue --comment='sched: -N1 -n3')
	request "$id" > "$C/before"
	cluster_save_jobs "$(submit -H)"
	touch "$C/mark"
	scontrol release "$id"
	starts "$id" 20
	wait_for 20 grep -q "^$id	" "$C/state/schedlua/requests"
	cluster_ctld_kill KILL
	[ "$C/state/job_state" -ot "$C/mark" ] || skip "slurmctld has saved the start already"
	mark_log
	cluster_ctld_start
	wait_for 20 status_is source site
	job_is "$id" PENDING
	asks_again "$id"
	wait_for 20 forgotten "$id" "$id"
	fails log_said 'does not agree'
}
it "a start that slurmctld has not saved before it was killed is forgotten" forgotten_start

is_told() { schedlua explain "$1" | grep "the alternatives in its comment are ignored: $2"; }	# JOBID WHY
bad() {
	local id
	mark_log
	fill 'n[001-013]'
	id=$(submit -N8 --comment='sched: -n8 or so')
	stays_pending "$id"
	wait_for 10 log_said "JobId=$id: the alternatives in its comment are ignored: 'or' is no option"
	sleep 2.5
	[ "$(log_since | grep -c "JobId=$id.*are ignored")" = 1 ]
	wait_for 20 is_told "$id" "'or' is no option"
	scancel --user=root
	wait_for 20 queue_is_empty
	id=$(submit -N8 --comment='sched: -n8 or so')
	starts "$id" 20
}
it "a comment that makes no sense is ignored, and that is said once" bad

beyond() {
	local id
	fill 'n[009-015]'
	id=$(submit -p half -N2 --exclusive -t 50 --comment='sched: -N1 -t 70 | -N1 -n1 --gres=nothing:1')
	stays_pending "$id"
	stays_pending "$id"
	id=$(submit -p half -N2 --exclusive -t 50 --comment='sched: -N1 -t 70 | -N1 -t 60')
	starts "$id" 20
	[ "$(job_get "$id" TimeLimit)" = 01:00:00 ]
}
it "an alternative that its partition does not allow is not started" beyond

interactive() {
	rm -f "$JOBS/started"
	fill 'n[001-014]'
	timeout 300 srun -N4 -n4 --comment='sched: -N2 -n4' sh -c 'echo $SLURM_JOB_NUM_NODES' > "$JOBS/out"
	cat "$JOBS/out"
	[ "$(sort "$JOBS/out" | uniq -c | xargs)" = "4 2" ]
	timeout 300 salloc -Q -N4 -n4 --comment='sched: -N1 -n4 --gpus-per-node=1' srun hostname > "$JOBS/out"
	[ "$(wc -l < "$JOBS/out")" = 4 ]
	mark_log
	srun -Q -N4 -n4 --comment='sched: -N1 -n2' touch "$JOBS/started" &
	wait_for 20 log_said 'ignored: srun and salloc start the tasks of their command line'
	has_jobs PENDING -eq 1
	kill "$!"
	fails wait "$!"
	[ ! -e "$JOBS/started" ]
}
it "srun and salloc take an alternative that has as many tasks" interactive

cancelled() {
	local id
	fill 'n[001-013]'
	id=$(submit -N8 --comment='sched: -N4')
	stays_pending "$id"
	scancel "$id"
	wait_for 10 job_is "$id" CANCELLED
	id=$(submit -N8 --comment='sched: -N2')
	starts "$id" 20
	scancel "$id"
	wait_for 20 job_is "$id" CANCELLED
	id=$(submit -N3 --exclusive)
	starts "$id" 20
}
it "a job with alternatives can be cancelled before and after it started" cancelled

# The plan starts three tasks as their alternative; two are cancelled before it comes, and the last one takes the record of
# the array.
slow_alternatives() {
	reload <<-'EOL'
		local sched = require "sched"
		local slow = { name = "slow" }
		function slow.decide(cluster, plan)
			for job in cluster:queue() do
				local waits, n = job.name == "slow", 0
				for i = 1, waits and 200000000 or 0 do n = n + i end
				for _ = 1, waits and 3 or 1 do plan:start(job, waits and { shape = 1 } or nil) end
			end
		end
		return sched.site { interval = 0.3, budget = 200, default = { slow } }
	EOL
	wait_for 20 status_is policy '*slow*'
}
cancel_two() { scancel "${ID}_2" "${ID}_3"; }
fewer_tasks() {
	CTLD=$(cluster_ctld_pid)
	slow_alternatives
	meanwhile '-a 1-3 -N4 -n4 --requeue --comment=sched:-n2' cancel_two
	plan_came 'it is not pending any more'
	job_is "${ID}_1" RUNNING
	scontrol -o show job "${ID}_1" | tr ' ' '\n' | grep -E '^Num(Nodes|Tasks)=' > "$C/out"
	cat "$C/out"
	cmp "$C/out" <(printf 'NumNodes=1\nNumTasks=2\n')
	# it is what it was when it is requeued
	scontrol requeuehold "${ID}_1"
	wait_for 20 job_is "${ID}_1" PENDING
	wait_for 20 eval '[ "$(scontrol -o show job "${ID}_1" | grep -o "NumTasks=[0-9]*")" = NumTasks=4 ]'
}
it "the last task of an array runs as its alternative, whatever the plan says of others that are gone" fewer_tasks

# ------------------------------------------------------- alternatives and what job_submit accepts

easy_site() {
	reload <<-'EOL'
		local sched = require "sched"
		return sched.site { interval = 1, default = { "easy" } }
	EOL
}
shapes_are() { cluster_conf "SchedulerParameters=$PARAMETERS,lua_shapes=$1"; }	# within, any or off

says_beyond() { schedlua explain "$1" | grep -x "    $2"; }	# JOBID WHAT

none_offered() {
	local id
	shapes_are off
	easy_site
	fill 'n[001-015]'
	id=$(submit -N2 -n2 --comment='sched: -N1')
	stays_pending "$id"
	wait_for 20 is_told "$id" 'this site offers none (lua_shapes=off)'
	shapes_are any
	scontrol reconfigure
	starts "$id" 20
}
it "a site may offer no alternatives, and change its mind" none_offered

time_is() { [ "$(job_get "$1" TimeLimit)" = "$2" ]; }
# (the partition of the moment, half, has a MaxTime of an hour)
time_within() {
	local id
	shapes_are within
	scontrol reconfigure
	easy_site
	fill 'n[001-015]'
	id=$(submit -p main,half -N2 -t 90 --comment='sched: -N1 -t 91 | -N1 -t 80')
	starts "$id" 20
	time_is "$id" 01:20:00
	scancel "$id"
	wait_for 20 job_is "$id" CANCELLED
	id=$(submit -p main,half -N2 --comment='sched: -N1 -t 2-0')
	starts "$id" 20
	time_is "$id" 2-00:00:00
	scancel "$id"
	wait_for 20 job_is "$id" CANCELLED
	id=$(submit -p main,half -N2 -t 90 --time-min=30 --comment='sched: -N1 -t 91 | -N1 -t 80')
	starts "$id" 20
	time_is "$id" 01:20:00
}
it "an alternative may have the time that its job names, whichever partition it is looked at in" time_within

# A site's rule, of which it is not asked again when a job starts as an alternative: one node.
one_node_rule() {
	[ -f "$SL_SLURM_PLUGINS/job_submit_lua.so" ] || skip "this Slurm has no job_submit/lua"
	cat > "$C/etc/job_submit.lua" <<-'EOL'
		function slurm_job_submit(job, parts, uid)
			if job.min_nodes ~= slurm.NO_VAL and job.min_nodes > 1 then return slurm.ERROR end
			return slurm.SUCCESS
		end
		function slurm_job_modify(job, rec, parts, uid) return slurm.SUCCESS end
		return slurm.SUCCESS
	EOL
	cluster_conf JobSubmitPlugins=lua
	easy_site
	fails submit -N2
}
within() {
	local first id
	mark_log
	shapes_are within
	starts "$(submit -N16 --ntasks-per-node=7 -t 60)" 20
	one_node_rule
	first=$(submit -N1 -n4 -t 30 --comment='sched: -N4 -n4')
	stays_pending "$first"
	wait_for 20 says_beyond "$first" 'alternative 1 asks for more nodes than the job, and is not offered'
	wait_for 20 log_said "JobId=$first: alternative 1 asks for more nodes than the job, and is not offered .lua_shapes=within"
	stays_pending "$first"
	# tasks of which it does not say where stay where the job may be
	id=$(submit -N1 -n4 -t 30 --comment='sched: -n3')
	stays_pending "$id"
	stays_pending "$id"
	scancel "$id"
	id=$(submit -N1 -n4 -t 30 --comment='sched: -N4 -n4 | -N1 -n1 -t 40 | -N1 -n1 -t 30')
	starts "$id" 20
	[ "$(job_get "$id" NumNodes)" = 1 ]
	wait_for 20 has_shape "$id" 3
	wait_for 20 says_beyond "$id" 'alternative 1 asks for more nodes than the job; 2 alternatives are not offered'
	fails log_said "JobId=$id.*ignored"
	# what the site has not to allow
	scancel "$id"
	wait_for 20 job_is "$id" CANCELLED
	shapes_are any
	scontrol reconfigure
	starts "$first" 20
	[ "$(job_get "$first" NumNodes)" = 4 ]
}
it "an alternative that asks for more than job_submit has seen is not started, and its user reads why" within

live_end
