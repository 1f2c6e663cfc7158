#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# demo.sh [--swf FILE[.gz]] [--nodes N] [--short] [--without-stock] [--top FILE] - a day of a cluster in minutes.
#
# A throw-away cluster in compressed time (libfaketime) runs a workload; `easy`
# schedules it; then the policy is changed on disk, then broken; slurmctld stays
# all the while.  A second scene (together.sh) shows what a policy
# that looks at jobs together does for three of them.  A third (beside.sh) runs the same workload under Slurm's own
# scheduler and prints the figures of both beside each other.  ./quickstart demo builds and calls this.
#
# Needs root, SL_PREFIX (where sched/lua is installed), SL_PLUGINDIR.

set -u

HERE=$(cd "$(dirname "$0")" && pwd -P)
TOP=$(cd "$HERE/../.." && pwd -P)
# shellcheck source=t/live/cluster.sh
. "$TOP/t/live/cluster.sh"
# shellcheck source=examples/demo/together.sh
. "$HERE/together.sh"
# shellcheck source=examples/demo/beside.sh
. "$HERE/beside.sh"

# ---------------------------------------------------------------------- options

NODES=128 SWF='' SHORT='' STOCK=1 TOP_TEXT=''
for ((i = 1; i <= $#; i++)); do
	case ${!i} in
	--swf) ((i++)); SWF=${!i-} ;;
	--nodes) ((i++)); NODES=${!i-} ;;
	--short) SHORT=1 ;;
	--without-stock) STOCK='' ;;
	--top) ((i++)); TOP_TEXT=${!i-} ;;
	*) echo "demo.sh: unknown option ${!i}" >&2; exit 2 ;;
	esac
done
case $NODES in
'' | *[!0-9]* | 0) echo "demo.sh: --nodes wants a number, not '$NODES'" >&2; exit 2 ;;
esac
[ -n "${SL_PLUGINDIR-}" ] || { echo "demo.sh: there is no plug-in that was built" >&2; exit 1; }
[ -z "$SWF" ] || [ -r "$SWF" ] || { echo "demo.sh: $SWF: cannot be read" >&2; exit 2; }

if [ -n "$SHORT" ]; then
	HOURS=0.6 JOBS=70 LOAD=1.8 PHASES=(12 12 8)
else
	HOURS=2.4 JOBS=170 LOAD=1.5 PHASES=(65 60 35)
fi
# One minute in a second; in more where the machine has much else to do, as what Slurm's daemons wait for
# is compressed as well (a credential of five minutes lasts five seconds).
FACTOR=${DEMO_FACTOR:-$((60 / $(cluster_busy)))}

# All of it, and all that it starts, lives in compressed time.
if [ -z "${DEMO_INSIDE-}" ]; then
	DEMO_INSIDE=1 DEMO_FACTOR=$FACTOR exec faketime -f "+0 x$FACTOR" "$0" "$@"
fi

pause() { LD_PRELOAD='' sleep "$1"; }			# in the time of people
real_seconds() { LD_PRELOAD='' date +%s; }

# ---------------------------------------------------------------- what it tells

TTY=''
[ ! -t 1 ] || TTY=1
NOTES='' VIEW='' TOLD=0

# Where there is no terminal that is drawn on, what happens is told as it does.
event() {
	echo "$(date +%H:%M)  $*" >> "$NOTES"
}

tell() {
	[ -z "$TTY" ] || return 0
	sed -n "$((TOLD + 1)),\$s/^/          * /p" "$NOTES"
	TOLD=$(wc -l < "$NOTES")
	echo "$(date +%H:%M:%S)  $(schedlua status --check --dir "$C/state/schedlua")"
}

status() { # KEY : of status.json
	schedlua status --json --dir "$C/state/schedlua" 2>/dev/null |
		sed -nE "s/^  \"$1\": (\"([^\"]*)\"|([^,]*)).*/\2\3/p"
}

# In the background of the terminal it may write, and nobody types for it.
start_view() {
	[ -n "$TTY" ] || return 0
	(trap '' TTOU; exec schedlua top --dir "$C/state/schedlua" --interval $((FACTOR / 2)) --notes "$NOTES") < /dev/null &
	VIEW=$!
}

stop_view() {
	[ -n "$VIEW" ] || return 0
	kill "$VIEW" 2>/dev/null
	wait "$VIEW" 2>/dev/null
	VIEW=''
}

leave() {
	local code=$?
	trap '' INT TERM HUP
	stop_view
	cluster_down || code=1
	# faketime keeps its clock in shared memory, and leaves it there when killed
	[ $code -gt 128 ] && [[ ${FAKETIME_SHARED-} =~ ^/(.+)\ /(.+)$ ]] && rm -f "/dev/shm/sem.${BASH_REMATCH[1]}" "/dev/shm/${BASH_REMATCH[2]}"
	exit $code
}

# ------------------------------------------------------------------ the policies

# Put a site file in place the way an administrator should: whole, and at once.
install_site() {
	install -m 644 "$1" "$C/etc/sched.lua.new" && mv "$C/etc/sched.lua.new" "$C/etc/sched.lua"
}

policy_is() { [[ $(status policy) == *"$1"* ]]; }
was_refused() { log_line "$1" > /dev/null; }
log_line() { sed -n "$LOG_FROM,\$p" "$C/log/slurmctld.log" | grep -m1 -E "$1"; }
mark_log() { LOG_FROM=$(($(wc -l < "$C/log/slurmctld.log") + 1)); }

reload() { # SITE-FILE
	mark_log
	install_site "$1" && scontrol reconfigure
}

change_policy() {
	local before after
	before=$(cluster_ctld_pid)
	event "the site file is changed on disk: shortest job first; scontrol reconfigure"
	reload "$HERE/shortest.lua"
	if wait_for 15 policy_is shortest; then
		after=$(cluster_ctld_pid)
		event "the new policy decides from the next cycle on; slurmctld: pid $before before, $after after"
		[ "$before" = "$after" ] || ! slurm_reconfigures_in_process || FAILED="slurmctld's pid has changed"
	else
		FAILED="the new policy did not come into force: $(status last_error)"
	fi
}

break_policy() {
	local line
	event "a broken site file is installed; scontrol reconfigure"
	reload "$HERE/broken.lua"
	if wait_for 15 was_refused 'sched\.lua:[0-9]+:'; then
		line=$(log_line 'sched\.lua:[0-9]+:')
		event "refused: ${line#*\] }"
		event "the policy before it stays: $(status policy)"
	else
		FAILED="the broken policy was not refused"
	fi
}

started_since() { sed -n "$LOG_FROM,\$p" "$C/log/slurmctld.log" | grep -c 'sched/lua: started JobId='; }
some_started() { [ "$(started_since)" -gt 0 ]; }
goes_on() {
	wait_for 60 some_started || FAILED="no job started after the broken policy"
	event "$(started_since) jobs started since then"
}

# ------------------------------------------------------------------------- runs

begin_cluster() {
	cluster_dir "$TOP/.work/cluster-demo" || exit 1
	trap leave EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	mkdir -p "$C/etc/policies"
	chmod 755 "$C/etc" "$C/etc/policies"
	install -m 644 "$TOP"/examples/policies/*.lua "$C/etc/policies/"
	install_site "$HERE/easy.lua"
	# What Slurm waits for in seconds of people must last: a second is 1/60 here.
	local -a lines=(MessageTimeout=100 BatchStartTimeout=3600 UnkillableStepTimeout=3600 SlurmctldTimeout=3600
		SlurmdTimeout=0 KillWait=60 MinJobAge=100000 MaxJobCount=20000)
	lines+=("SchedulerParameters=defer,sched_interval=-1,lua_path=$C/etc/policies,lua_wake=2000")
	echo "starting $NODES nodes; a minute of theirs is $(awk "BEGIN { print 60 / $FACTOR }") s of ours"
	cluster_up "$NODES" "${lines[@]}" || exit 1
	NOTES=$C/notes
	: > "$NOTES"
}

submit_workload() {
	"$HERE/submit.sh" "$C/workload.tsv" > "$C/log/submit.out" 2>&1 < /dev/null &
	SUBMIT=$!
	disown
}

run_workload() {
	lua5.4 "$HERE/workload.lua" --nodes "$NODES" --hours "$HOURS" --jobs "$JOBS" --load "$LOAD" ${SWF:+--swf "$SWF"} > "$C/workload.tsv" ||
		exit 1
	event "$(wc -l < "$C/workload.tsv") jobs come in through sbatch, srun and salloc; the policy is $(status policy)"
	submit_workload
}

phase() { # MINUTES of the cluster
	local until=$(($(real_seconds) + $1 * 60 / FACTOR))
	while [ "$(real_seconds)" -lt "$until" ]; do
		tell
		pause 4
	done
}

FAILED=''
if [ -n "$SWF" ]; then SWF=$(cd "$(dirname "$SWF")" && pwd -P)/${SWF##*/}; fi
BEGAN=$(real_seconds)
begin_cluster
run_workload
start_view
phase "${PHASES[0]}"
[ -z "$TOP_TEXT" ] || schedlua top --once --dir "$C/state/schedlua" > "$TOP_TEXT"
change_policy
phase "${PHASES[1]}"
break_policy
phase "${PHASES[2]}"
goes_on
stop_view
status_file=$C/status.json
schedlua status --json --dir "$C/state/schedlua" > "$status_file" 2>/dev/null || rm -f "$status_file"
echo
echo "What happened (in the cluster's time)"
sed 's/^/  /' "$NOTES"
echo
record_jobs "$C/jobs.txt"
lua5.4 "$HERE/summary.lua" --jobs "$C/jobs.txt" --cores $((NODES * 8)) \
	--status "$status_file" --factor "$FACTOR" --now "$(recorded_at "$C/jobs.txt")"
kill "$SUBMIT" 2>/dev/null
if [ -z "$FAILED" ] && [ "$NODES" -ge 4 ]; then
	second_scene || true
fi
if [ -z "$FAILED" ] && [ -n "$STOCK" ]; then
	stock_scene || true
fi
echo
echo "  the demo took             $(($(real_seconds) - BEGAN)) s; next: ./quickstart shell, doc/cookbook.md"
if [ -n "$FAILED" ]; then
	echo "demo.sh: $FAILED" >&2
	cluster_logs 20
	exit 1
fi
