# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# live.sh - tests on a live cluster, for sourcing by t/live/*.t; speaks TAP.
#
#   . "${0%/*}/live.sh"
#   live_begin 16                       the cluster; skips everything without Slurm
#   starts() { id=$(submit -N2 job); wait_for 10 job_is "$id" RUNNING; }
#   it "starts a batch job" starts      a test: every command in it must succeed
#   live_end
#
# A test runs in a subshell under `set -e`; when a command of it fails, the line,
# the queue and the ends of the logs are shown.  Between two tests the queue is
# emptied, reservations are deleted and nodes resumed; the site file stays as the last one left it.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
TOP=$(cd "$HERE/../.." && pwd -P)
# shellcheck source=t/live/cluster.sh
. "$HERE/cluster.sh"
# Where it was built: what tests need that is not installed.
SL_BUILD=${SL_BUILD:-$(cd "$TOP/.work/build" 2>/dev/null || cd "$TOP/build" 2>/dev/null && pwd -P)}

NUMBER=0
FAILURES=0
# A user without rights; not nobody, whom Slurm does not take for one from 25.11 on.
export STRANGER=mail

# A policy is not refused, nor its engine replaced, since the machine did something else for some seconds.  (Empty: as the site
# file says, where a test is about that.)
SL_BUDGET=${SL_BUDGET-300}

LIVE_LINES=(
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
	"PartitionName=small Nodes=n[001-004] MaxTime=INFINITE State=UP"
	ReturnToService=0
)

# ------------------------------------------------------------------- begin, end

skip_all() {
	echo "1..0 # SKIP $*"
	echo "SKIPPED: ${0##*/}: $*" >&2
	exit 0
}

# A site file: each job as it asks, else as the first of its alternatives that fits.
shapes_site() {
	cat <<-'EOL'
	local sched = require "sched"
	local first = { name = "first_fit" }
	function first.decide(cluster, plan)
		for job in cluster:queue() do
			plan:start(job, { shape = "any" })
		end
	end
	return sched.site { interval = 1, default = { first } }
	EOL
}

# slurmctld has never ended since the test noted its pid in CTLD.
same_slurmctld() {
	if slurm_reconfigures_in_process; then [ "$(cluster_ctld_pid)" = "$CTLD" ]; else cluster_ctld_pid > /dev/null; fi
}

live_begin() { # NODES [LINE of slurm.conf...]
	local d
	[ "$(id -u)" = 0 ] || skip_all "a live cluster needs root"
	for d in munged scontrol sbatch; do
		command -v $d > /dev/null || skip_all "no $d: Slurm is not installed"
	done
	[ -d "$SL_SLURM_PLUGINS" ] || skip_all "no Slurm plug-ins found under ${SL_SLURM:-/usr}/lib"
	if [ -z "${SL_PLUGINDIR-}" ] && [ -f "$TOP/.work/inst/lib/slurm/sched_lua.so" ]; then
		SL_PREFIX=$TOP/.work/inst SL_PLUGINDIR=$SL_PREFIX/lib/slurm
		PATH=$SL_PREFIX/bin:$PATH
	fi
	NODES=$1	# at least 8
	cluster_dir "${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}" || exit 1
	trap live_leave EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	rm -f "$C/etc/sched.lua"
	if ! cluster_up "$NODES" "${LIVE_LINES[@]}" "${@:2}"; then
		echo "Bail out! the cluster did not come up"
		exit 1
	fi
	JOBS=$C/jobs
	cd "$JOBS" || exit 1
}

# A test of what only a policy does: not of the lines of C that go on without one.
needs_engine() {
	! lua_schedules || schedlua engine --help > /dev/null 2>&1 || skip "this schedlua has no engine"
}

lua_schedules() { grep -q '^SchedulerType=sched/lua' "$C/etc/slurm.conf"; }
needs_lua() { lua_schedules || skip "this cluster runs a stock scheduler"; }

# Tests of sched/lua itself: without it they are skipped, loudly.
needs_plugin() {
	[ -f "${SL_PLUGINDIR:-$TOP/.work/inst/lib/slurm}/sched_lua.so" ] || skip_all "sched_lua.so is not built"
	[ "${SL_SCHEDULER:-sched/lua}" = sched/lua ] || skip_all "SL_SCHEDULER says $SL_SCHEDULER"
}

live_end() {
	live_stop
	echo "1..$NUMBER"
	[ $FAILURES = 0 ] || exit 1
}

live_stop() {
	trap - EXIT
	cd / || exit 1
	NUMBER=$((NUMBER + 1))
	if cluster_down 2> "$C/down.err" && cluster_is_empty && [ -z "$(cluster_sanitizers)" ]; then
		echo "ok $NUMBER - the cluster ends and leaves no process behind"
	else
		FAILURES=$((FAILURES + 1))
		echo "not ok $NUMBER - the cluster ends and leaves no process behind"
		{ cat "$C/down.err"; cluster_logs; } 2>&1 | sed 's/^/# /'
	fi
}

live_leave() {
	cd / || true
	cluster_down
}

# ------------------------------------------------------------------------ tests

it() { # SENTENCE FUNCTION [ARGUMENT...]
	local sentence=$1 out=$C/test.out status began=$SECONDS
	shift
	NUMBER=$((NUMBER + 1))
	[ -z "${LIVE_ONLY-}" ] || [[ $sentence == *"$LIVE_ONLY"* ]] || {
		echo "ok $NUMBER - $sentence # SKIP LIVE_ONLY"
		return
	}
	(
		set -eE
		trap where ERR
		"$@"
	) > "$out" 2>&1
	status=$?
	if [ $status = 0 ]; then
		echo "ok $NUMBER - $sentence"
	elif [ $status = 77 ]; then
		echo "ok $NUMBER - $sentence # SKIP $(tail -n 1 "$out")"
	else
		FAILURES=$((FAILURES + 1))
		echo "not ok $NUMBER - $sentence"
		live_diagnose "$out" 2>&1 | sed 's/^/# /'
	fi
	live_reset
	[ $((SECONDS - began)) -lt 4 ] || echo "# that took $((SECONDS - began)) s"
}

# The command that failed, and the calls that led to it.
where() {
	local i
	echo "failed: $BASH_COMMAND"
	for ((i = 1; i < ${#FUNCNAME[@]} - 2; i++)); do
		echo "    in ${FUNCNAME[$i]}, line ${BASH_LINENO[$((i - 1))]} of ${BASH_SOURCE[$i]##*/}"
	done
}

# In a test: this must not succeed.  ("!" does not do: set -e does not look at it.)
fails() { ! "$@"; }

# In a test: this one cannot be run here.
skip() { echo "$*"; exit 77; }

live_diagnose() {
	cat "$1"
	echo "--- squeue"
	squeue -o '%.8i %.9P %.8j %.3t %.8M %.5D %R' | head -n 20
	sinfo -N -h -o '%N %T %E' | grep -vw idle | head -n 10
	cluster_logs 30
}

# The cluster as a test expects to find it.
live_reset() {
	if ! cluster_ctld_pid > /dev/null; then
		echo "# slurmctld is gone: starting it again"
		cluster_ctld_start || { echo "Bail out! slurmctld does not start"; exit 1; }
	fi
	squeue -h -a -o %A 2>/dev/null | xargs -r scancel --quiet 2>/dev/null
	wait_for 20 queue_is_empty || echo "# the queue did not empty"
	live_unreserve
	if [ -n "$(sinfo -h -N -t drain,down,fail,reserved,maint -o %N)" ]; then
		scontrol update NodeName=ALL State=RESUME 2>/dev/null
		wait_for 20 cluster_nodes_ready "$NODES" || echo "# not all nodes are back"
	fi
}

live_unreserve() {
	local name
	scontrol -o show reservation 2>/dev/null | sed -n 's/^ReservationName=\([^ ]*\).*/\1/p' | while read -r name; do
		scontrol delete ReservationName="$name"
	done
}

queue_is_empty() { [ -z "$(squeue -h -a -o %i)" ]; }

# ------------------------------------------------------------------------- jobs

# submit [OPTION...] : a job that runs until it is cancelled, or for the seconds
# in $FOR; prints its id.
submit() {
	sbatch --parsable --output=/dev/null "$@" --wrap "exec sleep ${FOR:-3600}"
}

# job_get JOBID FIELD : a field of scontrol show job.
job_get() {
	scontrol -o show job "$1" 2>/dev/null | head -n 1 | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

job_state() { squeue -h -j "$1" -t all -o %T 2>/dev/null | head -n 1; }
job_reason() { squeue -h -j "$1" -t all -o %r 2>/dev/null | head -n 1; }
job_nodes() { squeue -h -j "$1" -t all -o %N 2>/dev/null | head -n 1; }
job_is() { local s; s=$(job_state "$1"); shift; [[ " $* " == *" $s "* ]]; }
job_done() { job_is "$1" COMPLETED FAILED CANCELLED TIMEOUT DEADLINE NODE_FAIL; }
job_waits_for() { [[ $(job_reason "$1") =~ $2 ]]; }	# JOBID REGEX
jobs_in_state() { squeue -h -r -t "$1" -o %i | wc -l; }
has_jobs() { test "$(jobs_in_state "$1")" "$2" "$3"; }	# STATE -eq N

# (no answer from a busy slurmctld is no news)
job_moved_on() { local s; s=$(job_state "$1"); [ -n "$s" ] && [ "$s" != PENDING ] && [ "$s" != CONFIGURING ]; }

# JOBID... : their scripts have been launched.  A job that is RUNNING need not have been: if slurmctld ends before its node has
# answered, the launch is taken back and the job is requeued, and held (what of that is the scheduler's is launch.t's).
are_launched() { local id; for id; do has_step_daemon "$id" || return 1; done; }
has_step_daemon() {
	local pid
	for pid in $(pgrep -f "^slurmstepd: \[$1\.batch\]"); do
		if [[ /proc/$pid/cwd -ef $C/log ]]; then return 0; fi	# (of this cluster)
	done
	return 1
}

# JOBID [SECONDS] : it starts; what ends without having run is not waited for.
starts() { wait_for "${2:-15}" job_moved_on "$1"; job_is "$1" RUNNING COMPLETED COMPLETING; }
ends() { wait_for "${2:-30}" job_done "$1"; job_is "$1" COMPLETED; }

# JOBID : one that was requeued need not wait for the two minutes that Slurm has it wait, since its nodes refuse the credentials
# of its first life.  Those are of an earlier second: two are enough.
starts_soon() { scontrol update JobId="$1" StartTime=now+2; }

# A bounded while in which something must not happen: three scheduling cycles.
stays_pending() { # JOBID
	local i
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		job_is "$1" PENDING || return 1
		sleep 0.1
	done
}

# ----------------------------------------------------------------- the scheduler

status() { sed -nE "s/^  \"$1\": (\"([^\"]*)\"|([^,]*)).*/\2\3/p" "$C/state/schedlua/status.json" 2>/dev/null; }
# shellcheck disable=SC2053	# a pattern
status_is() { [[ $(status "$1") == $2 ]]; }	# KEY PATTERN
status_says() { grep -E "^  \"$1\": " "$C/state/schedlua/status.json" 2>/dev/null | grep -qE -- "$2"; }
engine_pid() { local p; p=$(status engine_pid); [ "${p:-0}" -gt 1 ] && echo "$p"; }
engine_lives() { local p; p=$(engine_pid) && ! cluster_gone "$p"; }
# The engine ends as if it had crashed.  (Which it is says the status, after a while.)
kill_engine() { wait_for 20 eval 'kill -9 "$(engine_pid)" 2> /dev/null'; }

# PID : whom that process runs as, and what it may beyond that
runs_as() { awk '$1 == "Uid:" { print $2, $3, $4 } $1 == "CapEff:" { print $2 }' "/proc/$1/status" | xargs; }

# JOBID : the engine chose its nodes, not Slurm's select, which gave it those.
was_explained() { schedlua explain "$1" | grep 'started.* on '; }
placed_by_engine() {
	lua_schedules || return 0
	wait_for 60 was_explained "$1"
	[[ $(was_explained "$1") != *"select picks"* ]]
	status_is layout_differs 0
}

# Remember how far the log is; look only at what came since.
mark_log() { wc -l < "$C/log/slurmctld.log" > "$C/log.mark"; }
log_since() { tail -n +$(($(cat "$C/log.mark") + 1)) "$C/log/slurmctld.log"; }
log_said() { log_since | grep -qE -- "$1"; }

# A site file on stdin, in force from the next cycle on (or refused).
reload() {
	mark_log
	cluster_site && scontrol reconfigure
}

expand() { scontrol show hostnames "$1"; }
log_has() { grep -qE -- "$1" "$C/log/slurmctld.log"; }
