#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The disk of StateSaveLocation/schedlua is full, and has room again.
. "${0%/*}/live.sh"
. "${0%/*}/full_disk.sh"
needs_plugin
# The small disk goes with those who see it.
if [ -z "${DISK_OF_OUR_OWN-}" ] && unshare --mount true 2>/dev/null; then
	DISK_OF_OUR_OWN=1 exec unshare --mount bash "$0" "$@"
fi
[ -n "${DISK_OF_OUR_OWN-}" ] || skip_all "no right to mount a small disk here"
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_capture=1,lua_record=1"
needs_engine
DIR=$C/state/schedlua

leave() {
	rm -f "$C/full"
	live_leave
}
trap leave EXIT

cluster_ctld_kill
mount -t tmpfs -o size=2m,mode=755 tmpfs "$DIR" && cluster_ctld_start || exit 1
CTLD=$(cluster_ctld_pid)

site() { # NAME : each job as it asks, or as an alternative
	reload < <(shapes_site | sed "s/first_fit/$1/")
	wait_for 20 log_said "policy $1 loaded"
}
ended_run() { schedlua ledger export --dir="$DIR" 2>/dev/null | grep -q "^$1|.*|COMPLETED"; }
cycles() { status cycles; }

# Lines of ours in the log, without the time, that stand there again and again.  What fails does so each second and is
# told of once; once more when a write went through in between: what a file that was half written gives back when the
# disk is full may be ours before it is taken.
told_again() {
	log_since | sed 's/^\[[^]]*\] //' | awk '
		/is up to date again/ { for (line in told) if (line ~ /ledger/) delete told[line] }
		/sched\/lua.*(No space|disk is full|ledger|not kept)/ && ++told[$0] == 3'
}
troubles() { log_since | grep -E 'sched/lua.*(No space|disk is full|ledger|not kept)' | sed 's/^\[[^]]*\] //'; }

goes_on() {
	local wide alternative other a what
	site before
	a=$(FOR=0 submit -n1)
	ends "$a"
	wait_for 15 ended_run "$a"
	[ "$(status policy)" = before ] || wait_for 5 status_is policy before
	wait_for 20 grep -q before "$DIR/last-good"
	cp "$DIR/last-good" "$C/last-good"
	fill_disk
	site meanwhile
	a=$(FOR=0 submit -n1)
	ends "$a"
	wide=$(submit -N "$((NODES - 1))" --exclusive)
	starts "$wide"
	alternative=$(submit -N4 --comment='sched: -n3')
	starts "$alternative"
	other=$(submit -N3)
	stays_pending "$other"
	# (which one it is does not stand in the status that cannot be written)
	wait_for 20 eval 'kill -9 "$(pgrep -P "$(cluster_ctld_pid)" -f "schedlua engine")" 2> /dev/null'
	scancel "$wide"
	starts "$other"
	for _ in 1 2 3 4 5 6; do	# what fails, fails every second
		ends "$(FOR=0 submit -n1)"
		sleep 1
	done
	troubles
	[ -z "$(told_again)" ]
	for what in last-good status.json requests ledger last.snap record; do
		echo "in the log: $what"
		wait_for 20 eval 'troubles | grep -q '"$what"
	done
	same_slurmctld
	# nothing half-written is there to be read
	cmp "$DIR/last-good" "$C/last-good"
	tail -n 1 "$DIR/decisions.jsonl" | tail -c 1 | cmp - <(echo)
	ls -la "$DIR"
	fails compgen -G "$DIR/*.new"
	fails compgen -G "$DIR/*.??????"
	echo "$a $alternative" > "$C/ids"
}
it "jobs start while the disk is full, and each thing that is not written is told of once" goes_on

recovers() {
	local a alternative id
	id=$(submit -N5 --exclusive)
	starts "$id"
	alternative=$(submit -N6 --comment='sched: -n3')
	starts "$alternative"
	make_room
	wait_for 20 grep -qs "^$alternative	" "$DIR/requests"
	wait_for 20 eval '! cmp -s "$DIR/last-good" "$C/last-good"'
	read -r a _ < "$C/ids"
	wait_for 20 ended_run "$a"
	wait_for 20 status_is policy meanwhile
	a=$(FOR=0 submit -n1)
	ends "$a"
	wait_for 10 schedlua explain "$a"
	schedlua ledger verify --dir="$DIR"
	# what was written is the set that was live
	echo 'nonsense' > "$C/etc/sched.lua"
	cluster_ctld_kill
	cluster_ctld_start
	wait_for 20 status_is source 'last good'
	scontrol requeuehold "$alternative"
	wait_for 20 job_is "$alternative" PENDING
	wait_for 20 eval '[ "$(job_get '"$alternative"' NumNodes)" = 6-6 ] || [ "$(job_get '"$alternative"' NumNodes)" = 6 ]'
}
it "all of it is written when there is room again" recovers

restarted() {
	local a
	site third
	fill_disk
	cluster_ctld_kill KILL
	mark_log
	cluster_ctld_start
	a=$(FOR=0 submit -n1)
	ends "$a"
	fails log_said 'makes? no sense|expected|not a file|damaged'
	make_room
	wait_for 20 ended_run "$a"
}
it "a slurmctld that was killed starts on a full disk" restarted

live_end
