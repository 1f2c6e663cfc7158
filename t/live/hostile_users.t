#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ordinary users who mean harm: whatever a job is called, asks for and says in its comment, nobody else's job
# changes, nobody else waits for it, and the scheduler goes on as before. What is submitted is drawn from a seed
# that is printed: SL_SEED repeats a run, SL_HOSTILE_JOBS submits more.
. "${0%/*}/live.sh"
needs_plugin
SEED=${SL_SEED:-$((RANDOM * 32768 + RANDOM))}
MANY=${SL_HOSTILE_JOBS:-60}
BUDGET_US=2000000
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_budget=30" SlurmctldDebug=debug
needs_engine
echo "# SL_SEED=$SEED"

runuser -u $STRANGER -- test -r "$SLURM_CONF" || skip_all "$TOP: others than root cannot come here"
chmod 1777 "$JOBS"

reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "easy" } }
EOL
wait_for 30 status_is policy easy || { echo "Bail out! the policy is not taken"; exit 1; }

# Bash that the stranger runs, in $JOBS; its functions are those of this file that it names.
as_stranger() { runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" bash -c "cd '$JOBS'; $1"; }

# ------------------------------------------------------------------- other users' jobs

# What their owners said of them, and nothing that time changes.
# (slurmctld of 26.05 prints NumNodes=2-2 until it is restarted, and 2 from then on.)
records() {
	local id
	for id in $VICTIMS; do
		scontrol -o show job "$id" | tr ' ' '\n' | grep -E '^(JobId|JobName|UserId|Account|QOS|Nice|Requeue|TimeLimit|TimeMin|SubmitTime|Deadline|Partition|ReqNodeList|ExcNodeList|NumNodes|NumCPUs|NumTasks|CPUs/Task|NtasksPerN|ReqTRES|Req[A-Z]|MinCPUsNode|MinMemory|Features|OverSubscribe|Dependency|Comment|AdminComment|SystemComment|WorkDir|TresPer|Licenses|Command)' |
			sed -E 's/^NumNodes=([0-9]+)-\1$/NumNodes=\1/' || true
		squeue -h -j "$id" -O jobid,statecompact,priority,mincpus,feature,gres
	done
}
victims_wait_and_run() {
	local running held behind
	mark_log
	# where the strangers' jobs cannot come in the way of those that are to start
	scontrol create reservation ReservationName=own Users=root StartTime=now Duration=600 Nodes=n004
	running=$(submit -N3 --exclusive -w 'n[001-003]' -t 60)
	starts "$running" 20
	held=$(submit -H -N2 -t 2:00:00 --gres=gpu:1 --comment='mine; sched: -N1 -t 60')
	behind=$(submit -N2 -t 2:00:00 -w 'n[001-002]' -J precious)
	stays_pending "$behind"
	VICTIMS="$running $held $behind"
	records > "$C/before"
	[ "$(grep -c '^JobId=' "$C/before")" = 3 ]
}
nobody_changed() {
	records > "$C/after"
	diff "$C/before" "$C/after"
}
ctld_restarts() { # SIGNAL : with TERM it saves all
	cluster_ctld_kill "$1"
	cluster_ctld_start
	wait_for 30 status_is source site
}

# ------------------------------------------------------------------- what is always asked

quiet_log() {
	log_since > "$C/since"
	fails grep -aE 'error: .*(sched/lua|schedlua)' "$C/since"
	fails env LC_ALL=C grep -aP '(sched/lua|schedlua).*([\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\x8e\x8f\xa8-\xae])' "$C/since"
}
# Microseconds of a processor: an engine that stood still while others had it did not take long.
engine_worked() {
	local ticks
	ticks=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$(engine_pid)/stat")
	echo "it worked for $ticks ticks" >&2
	echo $((ticks * 1000000 / $(getconf CLK_TCK)))
}
# Microseconds that it has waited for a processor.
engine_waited() { awk '{ print int($2 / 1000) }' "/proc/$(engine_pid)/schedstat"; }
decides_in_time() {
	local max
	wait_for 20 engine_lives
	max=$(sed -nE 's/^  "decide_us": .*"max": ([0-9]+).*/\1/p' "$C/state/schedlua/status.json")
	echo "longest decision: $max us"
	[ "$max" -lt "$BUDGET_US" ] || [ $((max - $(engine_waited))) -lt "$BUDGET_US" ] || [ "$(engine_worked)" -lt "$BUDGET_US" ]
}
goes_on() {
	wait_for 20 status_is source site
	status_is engine_failures 0
	quiet_log
	decides_in_time
	starts "$(submit -N1 --reservation=own)" 15
}

# --------------------------------------------------------------------------- requests

# A job with an alternative is planned to start, so that the plug-in notes what it asked for.
# Its gres has the lines of that file which would make it what the others asked for.
forged_requests() {
	victims_wait_and_run
	local lines id
	# "gpu:TYPE:0" asks for nothing, and TYPE may be any text
	lines=$'gpu:x\t-\t-\n'
	for id in $VICTIMS; do
		lines+=$id$'\t0\t1\t1\t0\t1\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-\n'
	done
	id=$(as_stranger "sbatch --parsable -o /dev/null -N5 -n5 -t 5 --gres=$(printf %q "${lines}z:0") \
		--comment='sched: -n1' --wrap 'exec sleep 600'")
	wait_for 20 was_weighed "$id"
	wait_for 20 is_told_why "$id"
	cat -A "$C/state/schedlua/requests" || true
	ctld_restarts TERM
	starts "$(submit -N1 --reservation=own)" 20
	nobody_changed
	goes_on
}
is_told_why() { schedlua explain "$1" | grep 'ignored: what it asks for cannot be kept while it runs as another'; }
was_weighed() { job_moved_on "$1" || schedlua explain "$1" | grep waits; }
it "lines in a job's gres do not become what others asked for" forged_requests

# A file of a version that wrote texts as they were: what it says of anybody is not believed.
old_requests() {
	local id n
	victims_wait_and_run
	id=$(submit -N5 -n5 -t 5 --requeue --comment='sched: -n1')
	starts "$id" 20
	cluster_ctld_kill TERM
	{
		echo "schedlua requests 1"
		for n in $VICTIMS $id; do
			printf '%s\t0\t1\t1\t0\t1\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-\n' "$n"
		done
	} > "$C/state/schedlua/requests"
	schedlua version 2>&1 | grep 'requests.*written by a version'
	mark_log
	cluster_ctld_start
	wait_for 30 log_said 'requests: a version wrote it that did not escape what users wrote: nothing of it is believed'
	wait_for 30 log_said "1 job .JobId=$id.: they run as alternatives, and what they asked for is not known"
	nobody_changed
	# the job is as it was allocated, and asks for that from now on
	job_is "$id" RUNNING
	scontrol requeuehold "$id"
	wait_for 20 job_is "$id" PENDING
	[ "$(job_get "$id" NumTasks)" = 1 ]
	[ "$(job_get "$id" TimeLimit)" = 00:05:00 ]
	wait_for 20 grep -qx 'schedlua requests 2' "$C/state/schedlua/requests"
	# it waits, and runs as nothing: it is not named again
	cluster_ctld_kill TERM
	rm "$C/state/schedlua/requests"
	mark_log
	cluster_ctld_start
	wait_for 30 status_is source site
	starts "$(submit -N1 --reservation=own)" 20
	fails log_said 'they run as alternatives'
	fails eval "schedlua version 2>&1 | grep requests"
}
it "what a version without escapes wrote is not believed, and jobs that ran as alternatives go on" old_requests

# Entries in today's form whose job is another one: by user, submit time or size.
strange_requests() {
	local running held behind submitted field
	victims_wait_and_run
	read -r running held behind <<< "$VICTIMS"
	cluster_ctld_kill TERM
	submitted=$(date -d "$(sed -n 's/^SubmitTime=//p' "$C/before" | tail -n 1)" +%s)
	{
		echo "schedlua requests 2"
		for field in "$held	8	$submitted" "$behind	0	1600000000" "$running	0	$submitted"; do
			printf '%s\t0\t3\t5\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t0\t-\t-\t-\t-\n' "$field"
		done
	} > "$C/state/schedlua/requests"
	mark_log
	cluster_ctld_start
	wait_for 30 log_said 'does not agree with them, and is left out'
	nobody_changed
}
it "an entry whose job has another user, submit time or size is left out" strange_requests

# --------------------------------------------------------------------------- a crowd

# What the stranger runs: submissions drawn from a seed, and updates of what was submitted meanwhile. Most are refused.
crowd() { # SEED JOBS VICTIM...
	local many=$2 i id ids=() victims=("${@:3}")
	local -a pieces numbers options
	RANDOM=$1
	# shellcheck disable=SC2054	# a comma is one of them
	pieces=($'\n' $'\t' $'\r' $'\e[31m' $'\e]0;x\a' $'\x01' $'\x7f' $'\xe2\x80\xae' $'\xe2\x80\xa8' $'\xff' $'\xc0\x80' '"' "'" \\ '\n' '|' ','
		';' '#' '"}' '"},{"' '%s%n%n' '$(id)' '../..' 'sched: -n1' '; sched: -N1 -n4' 'sched: -N99999999' 'gpu:1' 'n[001-099999]' '[a*2&b]'
		$'\t-\t-\n1\t0\t1\t0\t7' '(((((((' 4294967295 -1 a ' ' ä 💥)
	numbers=(0 1 2 7 99 65535 65536 4294967294 4294967295 4294967296 18446744073709551615 -1 1e9 0x10 00000001)
	text() { # the words in TEXT, some of them as long as slurmctld takes them
		local n=$((RANDOM % 9 ? RANDOM % 8 + 1 : 1024))
		TEXT=
		while [ ${#TEXT} -lt $n ]; do TEXT+=${pieces[RANDOM % ${#pieces[@]}]}; done
		TEXT=${TEXT:0:1024}
	}
	number() { NUMBER=${numbers[RANDOM % ${#numbers[@]}]}; }
	option() {
		text
		number
		case $((RANDOM % 34)) in
		0) options+=(--job-name="$TEXT") ;;
		1) options+=(--comment="$TEXT") ;;
		2 | 3) options+=(--comment="sched: -N1 -n1 | $TEXT") ;;
		4) options+=(--comment="sched: -N1 -n$NUMBER -t $NUMBER") ;;
		5) options+=(--gres="gpu:$TEXT:0") ;;
		6) options+=(--gres="gpu:$NUMBER") ;;
		7) options+=(--constraint="$TEXT") ;;
		8) options+=(--constraint="$(printf 'a|%.0s' {1..500})b") ;;
		9) options+=(--wckey="$TEXT") ;;
		10) options+=(--dependency="afterany:$NUMBER") ;;
		11) options+=(--nodelist="$TEXT") ;;
		12) options+=(--exclude="n[001-00$((RANDOM % 8 + 1))]") ;;
		13) options+=(--licenses="$TEXT") ;;
		14) options+=(--nodes="$NUMBER") ;;
		15) options+=(--ntasks="$NUMBER") ;;
		16) options+=(--cpus-per-task="$NUMBER") ;;
		17) options+=(--time="$NUMBER" --time-min=1) ;;
		18) options+=(--mem="$NUMBER") ;;
		19) options+=(--mem-per-cpu="$NUMBER") ;;
		20) options+=(--nice="$NUMBER") ;;
		21) options+=(--begin="now+$((RANDOM % 3))") ;;
		22) options+=(--deadline="now+$((RANDOM % 90 + 5))minutes" --time-min=1) ;;
		23) options+=(--array="0-$((RANDOM % 40))%$((RANDOM % 5 + 1))") ;;
		24) options+=(--switches="1@$((RANDOM % 9)):00") ;;
		25) options+=(--tmp="$NUMBER") ;;
		26) options+=(--mincpus="$NUMBER") ;;
		27) options+=(--ntasks-per-node="$NUMBER") ;;
		28) options+=(--gpus="$NUMBER" --ntasks-per-gpu=1) ;;
		29) options+=(--partition="main,small,$TEXT") ;;
		30) options+=("--partition=small,main" --exclusive) ;;
		31) options+=(--core-spec="$NUMBER") ;;
		32) options+=(--distribution="plane=$NUMBER") ;;
		33) options+=(--prefer="$TEXT" --contiguous) ;;
		esac
	}
	update() { # a job of its own, or somebody else's
		local job=${ids[RANDOM % ${#ids[@]}]} key keys
		[ $((RANDOM % 4)) != 0 ] || job=${victims[RANDOM % ${#victims[@]}]}
		text
		number
		keys=(Comment JobName Features Gres Licenses NumNodes NumTasks NumCPUs TimeLimit MinMemoryNode ReqNodeList ArrayTaskThrottle
			Nice Partition StartTime Deadline WCKey AdminComment SystemComment TresPerNode ExcNodeList)
		key=${keys[RANDOM % ${#keys[@]}]}
		[ $((RANDOM % 2)) = 0 ] || TEXT=$NUMBER
		timeout 10 scontrol update JobId="$job" "$key=$TEXT" > /dev/null 2>&1 || true
		[ $((RANDOM % 5)) != 0 ] || scancel --quiet "$job" 2> /dev/null || true
		[ $((RANDOM % 5)) != 0 ] || scontrol requeuehold "$job" > /dev/null 2>&1 || true
	}
	for ((i = 0; i < many; i++)); do
		options=()
		option
		[ $((RANDOM % 2)) = 0 ] || option
		[ $((RANDOM % 4)) != 0 ] || option
		# parts of a het job
		[ $((RANDOM % 10)) != 0 ] || { options+=(:); option; }
		if id=$(timeout 10 sbatch --parsable --requeue -o /dev/null -t 5 "${options[@]}" "$SCRIPT" 2> /dev/null) && [[ $id =~ ^[0-9]+$ ]]; then
			ids+=("$id")
		fi
		[ ${#ids[@]} = 0 ] || [ $((RANDOM % 2)) = 0 ] || update
	done
	echo "${#ids[@]} of $many taken"
}

# Files that others read are whole.
files_are_whole() {
	local id
	for id in $VICTIMS; do schedlua explain "$id" > /dev/null || [ $? = 1 ]; done
	schedlua status > /dev/null || [ $? -lt 3 ]
	fails env LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]' "$C/state/schedlua/status.json" "$C/state/schedlua/decisions.jsonl"
	[ ! -f "$C/state/schedlua/requests" ] || [ "$(head -n 1 "$C/state/schedlua/requests")" = 'schedlua requests 2' ]
}

a_crowd() {
	local restart=$1
	victims_wait_and_run
	printf '#!/bin/sh\nexec sleep 600\n' > "$JOBS/job.sh"
	as_stranger "$(declare -f crowd); SCRIPT=job.sh; crowd $2 $MANY $VICTIMS"
	nobody_changed
	goes_on
	files_are_whole
	# one that is killed has to have saved them, and which numbers were given to jobs that run
	cluster_save_jobs "$(submit -H -N1)"
	ctld_restarts "$restart"
	nobody_changed
	goes_on
	files_are_whole
}
it "a crowd of hostile jobs changes nobody's, whatever was drawn, and others start" a_crowd TERM "$SEED"
it "... nor does another one, after slurmctld was killed" a_crowd KILL $((SEED + 1))

live_end
