#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The engine fails in every way there is; scheduling goes on, slurmctld stays.
. "${0%/*}/live.sh"
needs_plugin

for f in "$TOP/.work/build/t/fake_engine" "$TOP/build/t/fake_engine"; do
	[ -x "$f" ] && break
done
[ -x "$f" ] || skip_all "t/fake_engine is not built"
FAKE=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/fake_engine
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_budget=0.5,lua_engine=$FAKE"
CTLD=$(cluster_ctld_pid)

mkdir -p "${FAKE%/*}" && cp "$f" "$FAKE.new" && mv "$FAKE.new" "$FAKE"

end_engine() {
	local pid
	pid=$(status engine_pid)
	[ "${pid:-0}" -gt 1 ] || return 0	# 0 would be ourselves
	kill -9 "$pid" 2>/dev/null || true	# the status may be a second old
}

# The engine in a mode, from its next step on; it is started and told to load anew.
engine() {
	echo "$1" > "$FAKE.mode"
	end_engine || true
	scontrol reconfigure
}

status() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$C/state/schedlua/status.json"; }
status_is() { [ "$(status "$1")" = "$2" ]; }
engine_lives() { status_is source site && [ -d "/proc/$(status engine_pid)" ]; }
same_slurmctld() { [ "$(cluster_ctld_pid)" = "$CTLD" ]; }

# Jobs start while the engine is so: the first at most two intervals (and the
# deadlines of the engine) late.
goes_on() { # MODE
	local a b
	engine "$1"
	a=$(submit -N1)
	starts "$a" 15
	b=$(submit -N2)
	starts "$b" 15
	same_slurmctld
	engine ok
	wait_for 40 status_is source site
	starts "$(submit -N1)" 10
}

for m in exit-hello exit-load exit-decide hang-hello hang-load hang-decide stop-decide garbage truncated \
	wrong-frame wrong-sequence version stale impossible overbook refuse no-plan babble; do
	it "jobs start with an engine in mode $m, and it is used again once it is well" goes_on $m
done

killed_idle() {
	local i
	for i in 1 2 3 4 5; do
		wait_for 20 engine_lives
		end_engine
		starts "$(submit -N1)" 10
	done
	same_slurmctld
}
engine ok
it "an engine killed between cycles is replaced" killed_idle

missing() {
	wait_for 20 engine_lives
	mv "$FAKE" "$FAKE.away"
	end_engine
	starts "$(submit -N1)" 15
	status_is source fallback || wait_for 3 status_is source fallback
	mv "$FAKE.away" "$FAKE"
	wait_for 90 status_is source site
	same_slurmctld
}
it "without the program jobs start in priority order" missing

not_off() {
	local id
	cluster_conf "SchedulerParameters=sched_interval=-1,lua_interval=1,lua_engine=$FAKE"
	scontrol reconfigure
	wait_for 10 status_is source idle
	log_has "own scheduler is not switched off: add SchedulerParameters=defer"
	cluster_conf "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_budget=0.5,lua_engine=$FAKE"
	scontrol reconfigure
	id=$(submit -N1)
	starts "$id" 10
	same_slurmctld
}
it "idles with a message while slurmctld's own scheduler is on, and begins once it is off" not_off

# A launch while slurmctld 22.05 reads its configuration may be lost for two minutes
# (control.t says why): a job ends before each.
reconfigure_loop() {
	local i id
	for i in $(seq 20); do
		id=$(FOR=0 submit -N1)
		wait_for 20 job_done "$id"
		scontrol reconfigure
	done
	wait_for 60 queue_is_empty
	same_slurmctld
}
it "survives reconfigurations while cycles run" reconfigure_loop

# slurmctld saves job states some seconds later; what it forgets is its own.
state_saved() { scontrol show job -o | grep -q "JobState=RUNNING" && [ "$C/state/job_state" -nt "$C/test.mark" ]; }

restart() { # SIGNAL
	local a b
	a=$(submit -N8 --exclusive)
	starts "$a"
	b=$(submit -N8 --exclusive)
	touch "$C/test.mark"
	wait_for 10 state_saved
	cluster_ctld_kill "$1"
	cluster_ctld_start
	job_is "$a" RUNNING
	wait_for 10 job_is "$b" PENDING
	scancel "$a"
	starts "$b" 30
	[ "$(job_get "$b" Restarts)" = 0 ]
	! pgrep -f "^$FAKE" | grep -qv "^$(pgrep -P "$(cluster_ctld_pid)" -f fake_engine)$"
}
it "slurmctld ends and starts with jobs running and pending" restart TERM
it "slurmctld is killed and starts with jobs running and pending" restart KILL

live_end
