#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# schedlua explain for ordinary users: by decisions that are published, and without them.
. "${0%/*}/live.sh"
needs_plugin
BASE=defer,sched_interval=-1,lua_interval=1
live_begin 8 "SchedulerParameters=$BASE"
needs_engine
runuser -u $STRANGER -- test -x "$(command -v schedlua)" || skip_all "$TOP: others than root cannot come here"
PUBLIC=$C/public
mkdir -p "$PUBLIC" && chmod 755 "$PUBLIC" && chown "$SL_USER" "$PUBLIC"
rm -f "$PUBLIC"/*

as_stranger() {
	local status=0
	(cd / && runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@" > "$C/out" 2> "$C/err") || status=$?
	head -c 2000 "$C/out" "$C/err" | tr -d '\0'
	return $status
}
told() { grep -qE -- "$1" "$C/out"; }
explains() { as_stranger schedlua explain "$1" && told "$2"; } # JOBID REGEX
says() { # PARAMETERS... : more of SchedulerParameters, and lines of slurm.conf
	cluster_conf "SchedulerParameters=$BASE${1:+,$1}" "${@:2}"
	scontrol reconfigure
}
filled() { starts "$(submit -N "$NODES" --exclusive)"; }
waiting() { id=$(submit --uid=$STRANGER --chdir=/tmp -N2); stays_pending "$id"; }
nothing_published() { [ -z "$(ls -A "$PUBLIC")" ]; }

alone() {
	filled
	waiting
	as_stranger schedlua explain "$id"
	grep -q 'only root and SlurmUser may read the decisions (lua_publish=DIRECTORY' "$C/err"
	told 'order in main.* by easy, among 1 that may start'
	told 'without the ledger'
	fails as_stranger schedlua explain 4711
	grep -q 'job 4711 is not queued' "$C/err"
	install -d -o $STRANGER "$C/jobs/theirs"
	as_stranger schedlua-capture "$C/jobs/theirs/now.snap"
	as_stranger schedlua explain --snapshot="$C/jobs/theirs/now.snap" "$id"
	told 'place 1'
}
it "a user who may not read the decisions is told the order" alone

published() {
	filled
	waiting
	says "lua_publish=$PUBLIC"
	wait_for 20 explains "$id" 'waits: resources.*expected to start at'
	told 'order in main'
	[ ! -s "$C/err" ]
	[ "$(stat -c '%a %U' "$PUBLIC/decisions.jsonl")" = "644 $SL_USER" ]
	[ "$(stat -c %a "$C/state/schedlua/decisions.jsonl")" = 640 ]
}
it "where decisions are published, users see them" published

# on which a reader holds a lock, and which goes away
disturbed() {
	local lock
	filled
	runuser -u $STRANGER -- flock "$PUBLIC/decisions.jsonl" sleep 60 &
	lock=$!
	waiting
	wait_for 20 explains "$id" 'waits: resources'
	mv "$PUBLIC/decisions.jsonl" "$C/jobs/"
	waiting
	wait_for 20 explains "$id" 'waits: '
	pkill -P "$lock" || true
	kill "$lock" || true
}
it "neither a reader who locks them nor one who moves them away is in the way" disturbed

watched() {
	local first pid
	first=$(submit -N "$NODES" --exclusive)
	starts "$first"
	waiting
	wait_for 20 explains "$id" 'waits: '
	(cd / && exec runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" schedlua explain --watch "$id") > "$C/watched" 2>&1 &
	pid=$!
	wait_for 20 grep -q 'waits: ' "$C/watched"
	scancel "$first"
	wait_for 30 cluster_gone "$pid"
	wait "$pid"
	tail -n 1 "$C/watched" | grep -q 'started on '
}
it "explain --watch tells a user that the job started" watched

private() {
	local other
	filled
	[ -s "$PUBLIC/decisions.jsonl" ]
	touch "$PUBLIC/decisions.jsonl.1"
	mark_log
	says "lua_publish=$PUBLIC" PrivateData=jobs
	wait_for 20 nothing_published
	wait_for 20 log_said 'nothing is published \(lua_publish\): PrivateData'
	other=$(submit -N1)
	waiting
	as_stranger schedlua explain "$id"
	grep -q 'no decisions are published there' "$C/err"
	told 'order in main.* by easy, among 1 that may start'	# that of root is not seen
	fails as_stranger schedlua explain "$other"
	nothing_published
	says "lua_publish=$PUBLIC" PrivateData=accounts
	wait_for 20 explains "$other" 'waits: '
}
it "PrivateData takes away what was published, and nothing is until it is gone" private

unsafe() {
	chmod 1777 "$PUBLIC"		# others cannot replace a file there, but make it first
	mark_log
	cluster_ctld_kill
	rm -f "$PUBLIC"/*		# nobody writes there now
	cluster_ctld_start
	starts "$(submit -N1)"
	wait_for 20 log_said "lua_publish: $PUBLIC: writable by everybody"
	ln -s "$C/state/victim" "$PUBLIC/decisions.jsonl"
	chmod 755 "$PUBLIC"
	starts "$(submit -N1)"
	starts "$(submit -N1)"		# what was decided before has been written by now, or not
	[ -L "$PUBLIC/decisions.jsonl" ]
	[ ! -e "$C/state/victim" ]
	rm "$PUBLIC/decisions.jsonl"
	squeue -h -o %A | xargs scancel
	filled
	waiting
	wait_for 20 explains "$id" 'waits: '
}
it "nothing is written where others may write, nor through a link" unsafe

live_end
