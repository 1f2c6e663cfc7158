#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A plan of 60,000 starts and as many reservations, each as it may be, from an engine that
# does not care whether they fit: slurmctld's locks are given up all the time.
. "${0%/*}/live.sh"
needs_plugin
PLANNED=60000		# so many does t/plugin/fake_hostile.c plan
JOBS_IN_QUEUE=$((PLANNED + 200))
BATCH=20		# ms

built=$SL_BUILD/t/plugin/fake_engine
[ -x "$built" ] || skip_all "t/plugin/fake_engine is not built"
FAKE=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/fake_engine
mkdir -p "${FAKE%/*}" && cp "$built" "$FAKE.new" && mv "$FAKE.new" "$FAKE"
echo no-plan > "$FAKE.mode"
live_begin 8 MaxArraySize=$((JOBS_IN_QUEUE + 2)) MaxJobCount=$((2 * JOBS_IN_QUEUE)) \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_budget=30,lua_batch=$BATCH,lua_engine=$FAKE"
CTLD=$(cluster_ctld_pid)

# KEY FIGURE : of the times in status.json, microseconds
times() { sed -nE "s/^  \"$1\": .*\"$2\": ([0-9]+).*/\1/p" "$C/state/schedlua/status.json"; }
looked_at() { echo $(($(status starts) + $(status failed_starts) + $(status stale))); }

# What was added to the holds' sum since it was COUNT times MEAN, by their number: microseconds.
mean_since() { # COUNT MEAN
	local count mean
	count=$(times commit_hold_us count) mean=$(times commit_hold_us mean)
	echo $(((count * mean - $1 * $2) / (count - $1)))
}

carried_out() {
	local id before count mean
	id=$(submit -n1 --hold --array=0-$JOBS_IN_QUEUE)
	# each task that is changed by itself gets a record of its own
	scontrol update jobid="${id}_[0-$((JOBS_IN_QUEUE - 1))]" name=each
	scontrol release "$id"
	wait_for 60 eval '[ "$(status queued)" -ge '$PLANNED' ]'
	before=$(looked_at) count=$(times commit_hold_us count) mean=$(times commit_hold_us mean)
	echo plan-flood > "$FAKE.mode"
	wait_for 180 eval '[ "$(looked_at)" -ge '$((before + PLANNED))' ]'
	timeout 60 scontrol ping
	same_slurmctld
	cat "$C/state/schedlua/status.json"
	# Each hold is over when its time is, or a step later; held until all is done it would be
	# seconds.  (On a machine that does much else a single one may last long: not the mean.)
	[ "$(times commit_hold_us count)" -gt $((count + 20)) ]
	[ "$(mean_since "$count" "$mean")" -lt $((10 * BATCH * 1000)) ]
	cluster_ctld_kill KILL		# to cancel so many takes slurmctld minutes
	cluster_ctld_start -c
}
it "a plan of 60,000 starts and reservations is carried out a few milliseconds at a time" carried_out
live_end
