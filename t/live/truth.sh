# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# truth.sh - a stock cluster whose accounting says when its jobs really started, for sourcing after database.sh.
#
#   TRUTH_LINES                lines of slurm.conf: Slurm's own schedulers by their defaults, multifactor priorities, two partitions
#   truth_database             the accounting database, an account, a QOS that goes before others
#   truth_submit SEED FILE     the jobs of examples/demo/workload.lua, each at its time, as batch jobs without GPUs; one in
#                              eight is of QOS high, one in eight of partition few if it is small, one in twenty depends on another
#   truth_has_ended            nothing waits or runs
#   truth_dump FILE            what sacct says of all of them since the last truth_forget
#   truth_waits FILE           job id and wait of each, in the order of their submission
#   truth_forget               what has run by now is not dumped any more
#   truth_record_begin EVERY | truth_record_end     schedlua-capture --record, into $C/record

# (With weights so large that it does not matter that accounting has whole numbers for priorities.)
# shellcheck disable=SC2034	# for who sources this
TRUTH_LINES=(
	SchedulerType=sched/backfill SchedulerParameters=bf_interval=30 PriorityType=priority/multifactor PriorityWeightAge=1000000
	PriorityMaxAge=0-06:00:00 PriorityWeightQOS=2000000 PriorityWeightJobSize=100000 PriorityCalcPeriod=00:05:00
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
	"PartitionName=few Nodes=n[001-004] MaxTime=INFINITE State=UP"
)

truth_database() {
	database_up && sacctmgr -i -Q add account lab > /dev/null && sacctmgr -i -Q add qos high Priority=1000 > /dev/null &&
		sacctmgr -i -Q add user root account=lab qos=normal,high defaultqos=normal > /dev/null || return 1
	# shellcheck disable=SC2153	# theirs
	cluster_ctld_kill && cluster_ctld_start -c && wait_for 600 knows_cluster && wait_for 600 cluster_nodes_ready "$NODES"
}

truth_submit() { # SEED FILE
	local begin=$EPOCHSECONDS at nodes tasks minutes runtime exclusive wait_s n=0 last=''
	RANDOM=$1
	while IFS=$'\t' read -r at _ nodes tasks _ minutes runtime exclusive _; do
		local -a request=(-A lab -N "$nodes" -n "$tasks" -t "$minutes")
		n=$((n + 1))
		[ "$exclusive" = 0 ] || request+=(--exclusive)
		[ $((RANDOM % 8)) != 0 ] || request+=(-q high)
		[ $((RANDOM % 8)) != 0 ] || [ "$nodes" -gt 2 ] || request+=(-p few)
		[ $((RANDOM % 20)) != 0 ] || [ -z "$last" ] || request+=(-d "afterany:$last")
		wait_s=$((begin + at - EPOCHSECONDS))
		[ $wait_s -le 0 ] || sleep $wait_s
		last=$(sbatch --parsable -o /dev/null "${request[@]}" --wrap "exec sleep $runtime" < /dev/null)
	done < "$2"
}

truth_has_ended() { [ -z "$(squeue -h -t PENDING,RUNNING,COMPLETING -o %i)" ]; }

truth_is_written() { ! sacct -aXPn -S 1970-01-02 --format=State 2> /dev/null | grep -Eq 'PENDING|RUNNING'; }

TRUTH_LAST=0
truth_of_now() { awk -F'|' -v last="$TRUTH_LAST" 'NR == 1 || $1 > last'; }
truth_forget() { TRUTH_LAST=$(sacct -aXPn -S 1970-01-02 --format=JobIDRaw | sort -n | tail -n 1); }

truth_waits() { # FILE
	SLURM_TIME_FORMAT=%s sacct -aXPD -S 1970-01-02 --format=JobIDRaw,Eligible,Start | truth_of_now |
		awk -F'|' 'NR > 1 { print $1, $3 - $2 }' | sort -n > "$1"
}

truth_dump() { # FILE
	wait_for 3600 truth_is_written || return 1
	TZ=UTC sacct -aXPD -S 1970-01-02 --format=JobIDRaw,User,UID,Account,QOS,Partition,Submit,Eligible,Start,End,ElapsedRaw,Suspended,TimelimitRaw,State,Reason,Priority,Reservation,Constraints,ReqCPUS,AllocCPUS,ReqNodes,NNodes,ReqTRES,AllocTRES,NodeList,SubmitLine |
		truth_of_now > "$1"
}

truth_has_recorded() { [ -n "$(find "$C/record" -name '*.snap*' -print -quit)" ]; }

# Until the first snapshot is there: what cannot begin is not found out in the end.
truth_record_begin() { # EVERY
	rm -rf "$C/record"
	mkdir -p "$C/record"
	schedlua-capture --record="$C/record" --every="$1" 2> "$C/log/record.log" &
	TRUTH_RECORDER=$!
	wait_for 600 truth_records_or_failed
	if ! kill -0 "$TRUTH_RECORDER" 2> /dev/null; then
		cat "$C/log/record.log"
		return 1
	fi
}
truth_records_or_failed() { truth_has_recorded || ! kill -0 "$TRUTH_RECORDER" 2> /dev/null; }

truth_record_end() {
	kill -TERM "$TRUTH_RECORDER"
	wait "$TRUTH_RECORDER"
}
