#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Limits of associations and QOS, as an accounting database enforces them.
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
needs_database
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_shapes=any"

export SBATCH_ACCOUNT=lab	# root has an account of its own too

accounting_up() {
	database_up &&
		sacctmgr -i -Q add account lab > /dev/null && sacctmgr -i -Q add user root account=lab > /dev/null &&
		sacctmgr -i -Q add qos narrow MaxTRESPerUser=cpu=8 > /dev/null &&
		sacctmgr -i -Q add qos deny MaxTRESPerJob=cpu=5 Flags=DenyOnLimit > /dev/null &&
		sacctmgr -i -Q add qos above Flags=PartitionMaxNodes,PartitionMinNodes,PartitionTimeLimit > /dev/null &&
		sacctmgr -i -Q modify user root set qos=normal,narrow,deny,above > /dev/null || return 1
	database_enforce associations,limits,qos
}

# Lift what a test has set, whether it succeeded or not.
unlimited() {
	sacctmgr -i -Q modify account lab set GrpTRES=cpu=-1 GrpJobs=-1 > /dev/null
	sacctmgr -i -Q modify user root set MaxJobs=-1 > /dev/null
}

it_limited() { it "$@"; unlimited; }

limit_is() { # WHAT... : slurmctld has heard of it
	wait_for 20 heard "$1"
}
heard() { scontrol show assoc_mgr flags=assoc | grep -q -- "$1"; }

# ---------------------------------------------------------------------- the tests

account_cores() {
	local first second third
	sacctmgr -i -Q modify account lab set GrpTRES=cpu=16
	limit_is "GrpTRES=cpu=16("
	first=$(submit -n 8)
	second=$(submit -n 8)
	third=$(submit -n 8)
	starts "$first"
	starts "$second"
	stays_pending "$third"
	wait_for 20 reason_is "$third" AssocGrpCpuLimit
	scancel "$first"
	starts "$third" 30
	job_is "$second" RUNNING
}
reason_is() { [ "$(job_reason "$1")" = "$2" ]; }

limit_stays() {
	local third i
	sacctmgr -i -Q modify account lab set GrpTRES=cpu=16
	limit_is "GrpTRES=cpu=16("
	starts "$(submit -n 8)"
	starts "$(submit -n 8)"
	third=$(submit -n 8)
	wait_for 20 reason_is "$third" AssocGrpCpuLimit
	for i in 1 2 3 4 5 6; do starts "$(submit -A root -N1 --exclusive)"; done
	for ((i = 0; i < 70; i++)); do
		reason_is "$third" AssocGrpCpuLimit
		sleep 0.2
	done
}
account_jobs() {
	local first second
	sacctmgr -i -Q modify account lab set GrpJobs=1
	limit_is "GrpJobs=1("
	first=$(submit -n 1)
	second=$(submit -n 1)
	starts "$first"
	stays_pending "$second"
	wait_for 20 reason_is "$second" AssocGrpJobsLimit
	sacctmgr -i -Q modify account lab set GrpJobs=2
	starts "$second" 20
}

user_jobs() {
	local first second
	sacctmgr -i -Q modify user root set MaxJobs=1
	limit_is "MaxJobs=1("
	first=$(submit -n 1)
	starts "$first"
	second=$(submit -n 1)
	stays_pending "$second"
	wait_for 20 reason_is "$second" AssocMaxJobsLimit
	scancel "$first"
	starts "$second" 20
}

above_partition() {
	local wide narrow
	scontrol update PartitionName=small MinNodes=2 MaxNodes=3 MaxTime=60
	wide=$(submit -p small -N4 -t 120 --qos=above)
	starts "$wide"
	[ "$(job_get "$wide" NumNodes)" = 4 ]
	[ "$(job_get "$wide" TimeLimit)" = 02:00:00 ]
	scancel "$wide"
	narrow=$(submit -p small -N1 --qos=above)
	starts "$narrow"
	[ "$(job_get "$narrow" NumNodes)" = 1 ]
	stays_pending "$(submit -p small -N4)"
	scontrol update PartitionName=small MinNodes=0 MaxNodes=UNLIMITED MaxTime=INFINITE
}

raised_limit() {
	local id
	scontrol update PartitionName=small MaxTime=60
	id=$(submit -p small -N1 -t 30 --hold)
	scontrol update JobId="$id" TimeLimit=120
	scontrol release "$id"
	starts "$id"
	[ "$(job_get "$id" TimeLimit)" = 02:00:00 ]
	scontrol update PartitionName=small MaxTime=INFINITE
}

qos_cores() {
	local first second other
	first=$(submit -n 8 --qos=narrow)
	starts "$first"
	second=$(submit -n 1 --qos=narrow)
	other=$(submit -n 8 --qos=normal)
	starts "$other"
	stays_pending "$second"
	wait_for 20 reason_is "$second" QOSMaxCpuPerUserLimit
	scancel "$first"
	starts "$second" 20
}

limited_array() {
	local id
	sacctmgr -i -Q modify account lab set GrpJobs=2
	limit_is "GrpJobs=2("
	rm -f "$JOBS/go"
	id=$(sbatch --parsable -o /dev/null -n 1 --array=1-5 --wrap "until [ -e $JOBS/go ]; do sleep 0.2; done")
	wait_for 20 has_jobs RUNNING -eq 2
	touch "$JOBS/go"
	wait_for 60 array_done "$id" 5
}
# JOBID HOW_MANY
array_done() { [ "$(squeue -h -r -j "$1" -t CD -o %i | grep -c "^$1_")" = "$2" ]; }

behind_limited() {
	local first second other
	sacctmgr -i -Q modify account lab set GrpTRES=cpu=8
	limit_is "GrpTRES=cpu=8("
	first=$(submit -n 6)
	starts "$first"
	second=$(submit -n 4)
	stays_pending "$second"
	other=$(submit -n 2)
	starts "$other" 20
}

# Alternatives: limits hold for the one that starts.
alternatives() {
	local busy id
	reload < <(shapes_site)
	wait_for 30 status_is policy '*first_fit*'
	# what would not have been accepted at submission is not started
	busy=$(submit -N4 --exclusive)
	starts "$busy"
	fails submit -n8 --qos=deny
	id=$(submit -N5 -n5 --qos=deny --comment='sched: -n8 | -N1 -n4')
	starts "$id" 30
	[ "$(job_get "$id" NumTasks)" = 4 ]
	scancel "$id" "$busy"
	wait_for 20 queue_is_empty
	# nor what is too much beside other jobs
	sacctmgr -i -Q modify account lab set GrpTRES=cpu=48
	limit_is "GrpTRES=cpu=48("
	busy=$(submit -N5 --exclusive)
	starts "$busy"
	id=$(submit -N4 -n4 --comment='sched: -n9 | -n8 --gres=gpu:2')
	starts "$id" 30
	[ "$(job_get "$id" NumTasks)" = 8 ]
	[ "$(job_get "$id" TresPerNode)" = "$(slurm_shows_gres gpu:2)" ]
	cluster_default_site
	scontrol reconfigure
}

it "the accounting database comes up and slurmctld enforces its limits" accounting_up
it_limited "an account's limit of cores holds a job back until another ends" account_cores
it_limited "a job over a limit says so, also when nothing is free" limit_stays
it_limited "an account's limit of jobs holds a job back until it is raised" account_jobs
it_limited "a user's limit of running jobs holds the next one back" user_jobs
it_limited "a QOS that is above limits of partitions lets its jobs start" above_partition
it_limited "an administrator raises a job above the limits of its partition" raised_limit
it_limited "a QOS limit holds its own jobs back and no others" qos_cores
it_limited "an array runs within a limit of jobs to its end" limited_array
it_limited "alternatives are held to the limits of accounts and QOS" alternatives
it_limited "a job over a limit does not keep a smaller one behind it from starting" behind_limited
live_end
