#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The engine fails in every way there is; scheduling goes on, slurmctld stays.
. "${0%/*}/live.sh"
needs_plugin

built=$SL_BUILD/t/plugin/fake_engine
[ -x "$built" ] || skip_all "t/plugin/fake_engine is not built"
FAKE=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/fake_engine
live_begin 8 Licenses=one:1 SlurmctldDebug=debug \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_budget=1.5,lua_engine=$FAKE"
CTLD=$(cluster_ctld_pid)

mkdir -p "${FAKE%/*}" && cp "$built" "$FAKE.new" && mv "$FAKE.new" "$FAKE"

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

engine_lives() { status_is source site && [ -d "/proc/$(status engine_pid)" ]; }

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

# (It knows of no licences.)
unlicensed() {
	local has wants
	wait_for 40 engine_lives
	mark_log
	has=$(submit -N1 -L one)
	starts "$has" 15
	wants=$(submit -N1 -L one)
	wait_for 20 job_waits_for "$wants" '^Licenses$'
	wait_for 20 log_said "JobId=$wants not started: not enough licences"
	goes_on_for 8
	fails log_said 'none of the starts that it planned was possible'
	wait_for 30 status_is source site
	scancel "$has"
	starts "$wants" 60
}
goes_on_for() { local n; n=$(($(status cycles) + $1)); wait_for 60 eval '[ "$(status cycles)" -ge '"$n"' ]'; }
it "a job that an engine plans for and that may not run rests, and the engine decides for the others" unlicensed

# The job's name says how many cores the fake engine plans on each node: five of n001 and two of n002.
#
# Before 23.11 the plug-in enforces that by a temporary reservation of all other cores.  A job with --signal=R: may have the cores of
# reservations without MaxStartDelay; the second test shows that the temporary one keeps it off these cores all the same.
#
# If the engine is not asked before the job starts, select chooses the cores.  That is no fault here, so the test tries three times.
cores_on() { scontrol -d -o show job "$1" | grep -oE 'Nodes=n[0-9]+ CPU_IDs=[^ ]+' | tr '\n' ';'; }
is_dealt() { [ "$(cores_on "$1")" = "Nodes=n001 CPU_IDs=0-4;Nodes=n002 CPU_IDs=0-1;" ]; }
dealt() { # OPTION...
	local id
	for _ in 1 2 3; do
		wait_for 40 engine_lives
		echo layout > "$FAKE.mode"
		id=$(submit -J u_5_2 -N2 -n7 "$@")
		starts "$id"
		if is_dealt "$id"; then break; fi	# (its cores are what they are when it runs)
		scancel "$id"
		wait_for 20 queue_is_empty
	done
	echo ok > "$FAKE.mode"
	is_dealt "$id"
}
it "a job has as many cores of each node as the plan says" dealt
it "... one with a warning that lets it into reservations, too" dealt --signal=R:USR1@0

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
	wait_for 3 status_is source fallback
	mv "$FAKE.away" "$FAKE"
	wait_for 90 status_is source site
	same_slurmctld
}
it "without the program jobs start in priority order" missing

# What has counts select does not look at again: a plan that does not heed them is refused, and in the end select
# chooses.
heeds_counts() {
	local id
	engine blind
	wait_for 40 status_is source site
	scontrol update "NodeName=n[001-002]" AvailableFeatures=red ActiveFeatures=red
	scontrol update "NodeName=n[003-004]" AvailableFeatures=blue,fast ActiveFeatures=blue,fast
	mark_log
	id=$(submit --exclusive -N2 -C '[red*1&(blue&fast)*1]')
	starts "$id" 20
	wait_for 20 log_said 'none of the starts that it planned was possible'
	[[ $(job_nodes "$id") =~ ^n.00[12],00[34].$ ]]
	same_slurmctld
}
it "nodes without the features that a constraint counts are refused" heeds_counts

live_end
