#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What slurmctld does where the plug-in for its release is missing, broken or another's: it
# starts, Slurm's backfill schedules, and everybody is told.  doc/operating.md, "Upgrading Slurm".
. "${0%/*}/live.sh"
needs_plugin

live_begin 8
GOOD=$SL_PLUGINDIR
REAL=$(basename "$(echo "$GOOD"/schedlua/sched_lua-*.so)")
BACKFILL=bf_interval=1	# not half a minute

# A PluginDir of its own, to break; slurmctld is started with it.  The directory stays: a slurmd that
# a reconfigure reaches while there is none ends.
take() { # LINE of slurm.conf...
	mkdir -p "$C/plugins/schedlua"
	rm -f "$C/plugins/schedlua"/sched_lua-*.so
	cp --remove-destination "$GOOD/sched_lua.so" "$C/plugins/"
	cp --remove-destination "$GOOD/schedlua/sched_backfill.so" "$GOOD/schedlua/$REAL" "$C/plugins/schedlua/"
	cluster_conf "PluginDir=$C/plugins:$SL_SLURM_PLUGINS" "SchedulerParameters=defer,sched_interval=-1,$BACKFILL" "$@"
}

restart() {
	cluster_ctld_kill
	mark_log
	cluster_ctld_start
}

stock_decides() { # WHY
	wait_for 10 log_said "sched/lua: no policy decides on Slurm .*$1.*backfill schedules"
	wait_for 20 status_is source stock
	wait_for 20 status_says last_error "$1"
	[[ $(schedlua status) == *"decided by          stock"* ]]
	fails schedlua status --check > "$C/check.out"
	grep -q 'CRITICAL: stock: no policy decides' "$C/check.out"
}

site_decides() { wait_for 20 status_is source site; }

# One runs, one has all nodes to wait for, and a later one may not overtake it.
goes_on_without() { # WHY BREAK...
	local why=$1 runs waits last
	shift
	take
	restart
	site_decides
	runs=$(submit -N8 --exclusive)
	starts "$runs"
	waits=$(submit -N8 --exclusive)
	last=$(submit -N8 --exclusive)
	stays_pending "$waits"
	"$@"
	restart
	stock_decides "$why"
	job_is "$runs" RUNNING
	stays_pending "$waits"
	scancel "$runs"
	starts "$waits" 40
	job_is "$last" PENDING
	scontrol reconfigure
	wait_for 10 log_said "backfill schedules$"
	take
	restart
	site_decides
	wait_for 20 log_said 'sched/lua.*for Slurm|the engine runs'
	job_is "$waits" RUNNING
	scancel "$waits"
	starts "$last"
}

# (what slurmctld has mapped is not written to)
is_missing() { rm "$C/plugins/schedlua/$REAL"; }
is_another() { mv "$C/plugins/schedlua/$REAL" "$C/plugins/schedlua/sched_lua-20.11.7.so"; }
is_replaced_by() { "$@" > "$C/odd.so" && mv "$C/odd.so" "$C/plugins/schedlua/$REAL"; }
other_release() {	# built for another release, under this one's name
	local file=$C/other.so at
	cp "$C/plugins/schedlua/$REAL" "$file"
	at=$(nm -D "$file" | awk '$3 == "plugin_version" { print $1 }')
	printf '\001' | dd of="$file" bs=1 seek=$((16#$at)) conv=notrunc status=none
	cat "$file"
}

it "the plug-in missing" goes_on_without "there is no .*/schedlua/$REAL" is_missing
it "only another release's there: it is named" goes_on_without "there is 20.11.7" is_another
it "another release's under the name of this one's" goes_on_without "built for Slurm" is_replaced_by other_release
it "the plug-in cut off" goes_on_without "cut off" is_replaced_by head -c 100000 "$GOOD/schedlua/$REAL"
it "some other file in its place" goes_on_without "no shared object" is_replaced_by echo no plug-in

not_readable() {
	take
	[ "$SL_USER" = root ] || skip "SlurmUser is $SL_USER already"
	chmod 0 "$C/plugins/schedlua/$REAL"
	cluster_ctld_kill
	chown -R "$STRANGER" "$C/state" "$C/log" "$C/run"
	cluster_conf "SlurmUser=$STRANGER"
	chown "$STRANGER" "$C/munge/sock" "$C/etc/slurm.conf"
	mark_log
	cluster_ctld_start
	stock_decides "Permission denied"
	cluster_ctld_kill
	cluster_conf SlurmUser=root
	take
	chown -R root "$C/state" "$C/log" "$C/run"
	cluster_ctld_start
	site_decides
}
it "the plug-in not readable for SlurmUser" not_readable

# Under the name that heterogeneous jobs need: the loader is not to take itself for Slurm's backfill.
by_the_other_name() {
	take "PluginDir=$C/plugins/schedlua:$C/plugins:$SL_SLURM_PLUGINS" SchedulerType=sched/backfill
	restart
	site_decides
	is_missing
	restart
	stock_decides "there is no .*/schedlua/$REAL"
	starts "$(submit -N1)" 40
	take SchedulerType=sched/lua
	restart
	site_decides
}
it "under the name of backfill, the plug-in missing" by_the_other_name

# Backfill knows nothing of quotas.
held_is_not_started() {
	local id
	take
	restart
	reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { sched.quota { per_user = "500 cpu-hours" }, "easy" } }
	EOL
	wait_for 15 grep -q '^\(all\|only\)' "$C/state/schedlua/last-good.hold"
	is_missing
	restart
	wait_for 10 log_said 'nothing is started, as all.* is to be held'
	wait_for 20 status_is source idle
	id=$(submit -N1)
	stays_pending "$id"
	echo none > "$C/state/schedlua/last-good.hold"
	restart
	stock_decides "there is no"
	starts "$id" 40
	cluster_default_site
	take
	restart
	site_decides
}
it "where a site holds partitions nothing starts, until its word is taken back" held_is_not_started

live_end
