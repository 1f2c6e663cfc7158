#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The world changes while a decision is made: what the plan names is gone, or is another
# thing of the same name, when the plan comes.  slurmctld stays.
#
# SL_WORLD_SECONDS   how long the last test changes everything at once (default 30)
# SL_WORLD_SHADOW    Slurm's scheduler that decides in that test, with ours in its shadow (backfill)
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
. "${0%/*}/audit.sh"
. "${0%/*}/meanwhile.sh"
needs_plugin
schedlua engine --help > /dev/null 2>&1 || "$TOP/.work/inst/bin/schedlua" engine --help > /dev/null 2>&1 ||
	skip_all "this schedlua has no engine"
DECIDER=defer,sched_interval=-1
[ -z "${SL_WORLD_SHADOW-}" ] || DECIDER=lua_shadow=$SL_WORLD_SHADOW,bf_interval=1,sched_interval=2,sched_min_interval=0
live_begin 8 "SchedulerParameters=$DECIDER,lua_interval=0.3,lua_wake=50" SlurmctldDebug=debug \
	MaxNodeCount=24 "NodeSet=dynamic Feature=dynamic" PreemptType=preempt/qos PreemptMode=REQUEUE \
	"PartitionName=main Nodes=n[001-008] Default=YES MaxTime=INFINITE State=UP" \
	"PartitionName=dyn Nodes=dynamic MaxTime=INFINITE State=UP"
CTLD=$(cluster_ctld_pid)

# -------------------------------------------------------------------- dynamic nodes

# There is no slurmd behind them: what matters is the record.  Where a job is started on
# one, it is over when the node is set down.
node_create() { # NAME [CORES]
	scontrol create NodeName="$1" NodeHostname=localhost NodeAddr=127.0.0.1 CPUs="${2:-8}" Sockets=1 \
		CoresPerSocket="${2:-8}" ThreadsPerCore=1 RealMemory=16000 Feature=dynamic State=CLOUD
}

node_delete() { scontrol delete nodename="$1"; }
node_drain() { scontrol update nodename="$1" state=drain reason=test; }
node_down() { scontrol update nodename="$1" state=down reason=test; }
node_state() { sinfo -h -N -n "$1" -o %T | head -n 1; }
node_is_idle() { [[ $(node_state "$1") == idle* ]]; }
node_gone() { [ -z "$(node_state "$1")" ] || node_delete "$1" 2> /dev/null; }
node_up() { node_create "$@" && wait_for 20 node_is_idle "$1"; }

# ------------------------------------------------- one thing changes, at a known moment

node_deleted() {
	slow_site
	node_up d001
	node_up d002
	node_drain d002		# the partition is not empty afterwards
	meanwhile "-p dyn -N1 -n3" node_delete d001
	plan_came "a node of the plan is gone"
	job_is "$ID" PENDING
	scancel "$ID"
	node_delete d002
}
it "a node that is deleted during a decision gets no job, and slurmctld lives" node_deleted

node_replaced() {
	slow_site
	node_up d001
	replace() { node_delete d001 && node_create e001 && node_drain e001; }
	meanwhile "-p dyn -N1 -n3" replace
	plan_came "a node of the plan is gone"
	job_is "$ID" PENDING
	scancel "$ID"
	node_delete e001
}
it "another node in its place in slurmctld's table is not taken for it" node_replaced

node_of_another_size() {
	slow_site
	node_up d001
	replace() { node_delete d001 && node_create d001 2; }
	meanwhile "-p dyn -N1 -n8" replace
	plan_came "a node of the plan is gone"
	job_is "$ID" PENDING
	scancel "$ID"
	node_delete d001
}
it "nor is one of the same name and another size" node_of_another_size

partition_replaced() {
	slow_site
	scontrol create PartitionName=tmp "Nodes=n[001-002]" MaxTime=INFINITE State=UP
	replace() {
		scontrol delete PartitionName=tmp
		scontrol create PartitionName=tmp "Nodes=n[003-004]" MaxTime=INFINITE State=UP
	}
	meanwhile "-p tmp,small -N1" replace
	plan_came "it was changed meanwhile"
	starts "$ID" 40
	[ "$(job_get "$ID" Partition)" = small ]
	scontrol delete PartitionName=tmp
}
it "a partition that is deleted and made anew during a decision is another one" partition_replaced

# (slurmctld does not delete a reservation that a job asks for by name.)
reservation_deleted() {
	slow_site
	scontrol create reservation=r Nodes=n001 Users=root StartTime=now Duration=60 Flags=MAGNETIC > /dev/null
	meanwhile "-N1" scontrol delete reservation=r
	starts "$ID" 40
	same_slurmctld
}
it "a job that a deleted reservation would have drawn in starts without it" reservation_deleted

# ----------------------------------------------------------- everything changes at once

database_ready() {
	local why
	! why=$(lacks_database) || skip "$why"
	database_up && sacctmgr -i -Q add account lab > /dev/null &&
		sacctmgr -i -Q add user root account=lab > /dev/null &&
		sacctmgr -i -Q add qos yields GraceTime=1 > /dev/null && sacctmgr -i -Q add qos safe > /dev/null &&
		sacctmgr -i -Q add qos takes Preempt=yields > /dev/null &&
		sacctmgr -i -Q modify user root set qos=normal,yields,safe,takes > /dev/null &&
		database_enforce associations,limits,qos
}

# Again and again, until all has turned; what slurmctld refuses is refused.
turning() { # FUNCTION
	local i=0
	while [ ! -e "$C/turned" ]; do
		i=$((i + 1))
		"$1" $i > /dev/null 2>&1 || true
	done
}

turn_nodes() {
	local n=d00$(($1 % 5 + 1))
	node_create "$n" $((RANDOM % 2 * 4 + 4))
	sleep 0.$((RANDOM % 9))
	node_delete "$n" || { node_down "$n" && node_delete "$n"; }
}

turn_partitions() {
	local p=p$(($1 % 3))
	scontrol create PartitionName=$p Nodes="n[001-00$((RANDOM % 7 + 2))]" PriorityTier=$((RANDOM % 3)) State=UP
	sleep 0.$((RANDOM % 9))
	scontrol update PartitionName=$p Nodes="n00$((RANDOM % 8 + 1))"
	scontrol update PartitionName=p$((RANDOM % 3)) State="$(shuf -n 1 -e UP DOWN DRAIN)"
	scontrol delete PartitionName=p$((RANDOM % 3))
}

turn_reservations() {
	local r=r$(($1 % 3))
	scontrol create reservation=$r Nodes=n00$((RANDOM % 8 + 1)) Users=root StartTime=now Duration=1 \
		Flags="$(shuf -n 1 -e MAGNETIC IGNORE_JOBS FLEX)"
	sleep 0.$((RANDOM % 9))
	scontrol update reservation=$r Nodes=n00$((RANDOM % 8 + 1)) Flags+=IGNORE_JOBS
	scontrol delete reservation=r$((RANDOM % 3))
}

turn_accounts() {
	local a=a$(($1 % 3)) q=q$(($1 % 3))
	slurm_one_at_a_time sacctmgr -i -Q add account $a
	slurm_one_at_a_time sacctmgr -i -Q add user root account=$a
	slurm_one_at_a_time sacctmgr -i -Q add qos $q MaxTRESPerUser=cpu=$((RANDOM % 16 + 1))
	slurm_one_at_a_time sacctmgr -i -Q modify user root set qos+=$q
	# (Enough for all: of one that is made anew slurmctld does not know who has it still.)
	slurm_one_at_a_time sacctmgr -i -Q add resource name=l$(($1 % 3)) count=$((RANDOM % 4 + 100)) server=s type=license \
		cluster=schedlua percentallowed=100
	sleep 0.$((RANDOM % 9))
	slurm_one_at_a_time sacctmgr -i -Q delete resource name=l$((RANDOM % 3))
	slurm_one_at_a_time sacctmgr -i -Q delete qos q$((RANDOM % 3))
	slurm_one_at_a_time sacctmgr -i -Q delete user root account=a$((RANDOM % 3))
	slurm_one_at_a_time sacctmgr -i -Q delete account a$((RANDOM % 3))
}

turn_configuration() {
	sleep 3
	site_that_preempts
	slurm_one_at_a_time scontrol reconfigure
}

# Jobs that may be stopped for others, half of them two and two; and those others.  (sbatch may not hear that slurmctld took its
# job, while that reads its configuration: then it is found by its name.)
preempting_job() { # KIND GANG OPTION...
	local id name=$1-$SRANDOM
	id=$(sbatch --parsable -J "$name" -o /dev/null -t 5 --mem=1 -q "$1" --requeue "${@:3}" --wrap "
		echo start \$SLURM_JOB_ID \$(date +%s.%N) >> $C/ran
		sleep $((RANDOM % 6 + $([ "$1" = yields ] && echo 12 || echo 2)))
		echo end \$SLURM_JOB_ID \$(date +%s.%N) >> $C/ran") || id=$(squeue -h -n "$name" -o %i)
	[ -n "$id" ] || return 0
	echo "$id $1 $2" >> "$C/kinds"
}
turn_preemption() {
	local gang=g$1
	preempting_job yields "$gang" -n6 --comment="gang=$gang"
	preempting_job yields "$gang" -n6 --comment="gang=$gang"
	preempting_job yields - -N1 --exclusive
	preempting_job yields - -N2 -n10
	[ $((RANDOM % 3)) != 0 ] || preempting_job safe - -n$((RANDOM % 6 + 1))
	sleep 0.$((RANDOM % 9))
	preempting_job takes - "$(shuf -n 1 -e -- -n12 -N1 -N2 -n2)" --priority=1000000
}

# Who is stopped is a component's choice, or a policy's own.
site_that_preempts() {
	cluster_site <<-EOL
	local sched = require "sched"
	local own = { name = "own" }
	function own.decide(cluster, plan)
		for job in cluster:queue() do
			if not plan:start(job) and job.may_preempt and not plan:preempt(job, { max_victims = 4 }) then
				plan:reserve(job)
			end
		end
	end
	return sched.site { interval = 1, default = $(shuf -n 1 -e '{ sched.preempt {}, "easy" }' '{ sched.preempt { max_an_hour = 200 }, "conservative" }' '{ own }') }
	EOL
}

turn_jobs() {
	# Of a job that says no memory slurmctld looks at its partition's first node, which may be one that is gone.
	local -a option=(-n$((RANDOM % 8 + 1)) --mem=1)
	[ $((RANDOM % 3)) != 0 ] || option+=(-p "$(shuf -n 1 -e dyn small,p0 p1 p2,main)")
	[ $((RANDOM % 4)) != 0 ] || option+=(-A "a$((RANDOM % 3))")
	[ $((RANDOM % 4)) != 0 ] || option+=(-q "q$((RANDOM % 3))")
	[ $((RANDOM % 4)) != 0 ] || option+=(-L "l$((RANDOM % 3))@s")
	[ $((RANDOM % 5)) != 0 ] || option+=(--reservation="r$((RANDOM % 3))")
	[ $((RANDOM % 5)) != 0 ] || option+=(--array=1-3)
	FOR=$((RANDOM % 3)) submit "${option[@]}" >> "$C/submitted"
	[ $((RANDOM % 6)) != 0 ] || scancel "$(shuf -n 1 "$C/submitted")"
}

# Nobody is stopped who may not be, nobody twice, no half of a gang (stopped.lua); nobody was requeued for any other reason; and there
# was somebody to be stopped.
preempted_as_permitted() {
	local id said
	[ -z "${SL_WORLD_SHADOW-}" ] || return 0
	said=$(lua5.4 "$HERE/stopped.lua" "$C/log/slurmctld.log" "$C/ran" "$C/kinds") || { echo "$said"; return 1; }
	echo "$said" >> "$C/audited"
	while read -r id _; do
		[ "$(job_get "$id" Restarts | grep . || echo 0)" -le "$(grep -cE "preempted JobId=$id has been requeued" "$C/log/slurmctld.log")" ] ||
			{ echo "job $id was requeued, and not stopped"; return 1; }
	done < "$C/kinds"
	lacks_database > /dev/null || [[ $said != "stopped: 0 "* ]]
}

# What is wrong, and how often there were two jobs to compare.
audit() { sleep 0.5; audit_allocations >> "$C/audit" 2>> "$C/audited" || echo "shared" >> "$C/audit"; }

# The time is over, and there was something to look at, which takes longer on a busy machine.
has_turned() { [ $SECONDS -ge "$UNTIL" ] && [ -s "$C/audited" ] && somebody_was_stopped; }
somebody_was_stopped() {
	[ -n "${SL_WORLD_SHADOW-}" ] || lacks_database > /dev/null || log_has 'preempted JobId=[0-9]+ has been requeued'
}

accounted() { # JOBID : slurmctld knows it, or it has ended and that is written
	scontrol show job "$1" > /dev/null 2>&1 || grep -q "^JobId=$1 " "$C/log/jobcomp.txt"
}

world_turns() {
	local f id pids=() cycles turns=(turn_nodes turn_partitions turn_reservations turn_accounts turn_jobs turn_preemption audit)
	site_that_preempts
	scontrol reconfigure
	wait_for 30 status_is source site
	: > "$C/submitted"
	: > "$C/ran"
	: > "$C/kinds"
	: > "$C/audit"
	: > "$C/audited"
	rm -f "$C/turned"
	trap 'touch "$C/turned"' EXIT
	UNTIL=$((SECONDS + ${SL_WORLD_SECONDS:-30}))
	! slurm_reconfigures_safely || turns+=(turn_configuration)
	for f in "${turns[@]}"; do
		turning "$f" &
		pids+=($!)
	done
	wait_for $((${SL_WORLD_SECONDS:-30} + 300)) has_turned || true	# (what is missing then is missed below)
	touch "$C/turned"
	wait "${pids[@]}"
	same_slurmctld
	[ -z "$(find "$C/log" "$C/state" -maxdepth 1 -name 'core*')" ]
	cat "$C/audit"
	[ ! -s "$C/audit" ]
	[ -s "$C/audited" ]
	preempted_as_permitted
	grep -q '^[0-9]' "$C/submitted"
	for id in $(grep '^[0-9]' "$C/submitted" | shuf -n 100); do accounted "$id"; done
	# and it goes on as if nothing had been (from 23.11 on each reconfiguration begins to count anew)
	cycles=$(status cycles)
	wait_for 20 eval '[ "$(status cycles)" != "'"$cycles"'" ]'
	scontrol show node | sed -n 's/^NodeName=\(d[0-9]*\) .*/\1/p' | while read -r id; do node_down "$id" || true; done
	scontrol show reservation -o | sed -n 's/^ReservationName=\([^ ]*\).*/\1/p' > "$C/left"
	squeue -h -a -o %A | xargs -r scancel --quiet
	wait_for 30 queue_is_empty
	while read -r id; do scontrol delete reservation="$id"; done < "$C/left"
	wait_for 20 status_is source site
	starts "$(submit -N1)" 20
}

it "the accounting database comes up" database_ready
lacks_database > /dev/null || export SBATCH_ACCOUNT=lab	# root has an account of its own too
CTLD=$(cluster_ctld_pid)	# which began anew with it
it "slurmctld lives while nodes, partitions, reservations, accounts, QOS and licences come and go" world_turns
live_end
