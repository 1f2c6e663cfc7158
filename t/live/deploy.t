#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A new site file is deployed: checked, compared, installed and waited for; taken back; refused; and seen by monitoring.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_capture=1"
needs_engine
SITE=$C/etc/sched.lua

new() { echo "$1" > "$C/new.lua"; }
said() { grep -qE -- "$1" "$C/out" || { echo "no \"$1\" in:"; cat "$C/out"; return 1; }; }
nothing_is_left() { ! compgen -G "$SITE.*deploy*" > /dev/null; }
deploys() { schedlua deploy "$@" > "$C/out" 2>&1; }
SHORT='local s = require "sched"
return s.site { interval = 1, default = { { name = "short_first", rank = function(job) return -job.time_limit end }, "easy" } }'

# all is full; what is expected of the two that wait is another matter under the new set
deployed() {
	local all long short owner
	all=$(submit -N8 --exclusive -t 30)
	starts "$all"
	long=$(submit -N8 --exclusive -t 20)
	short=$(submit -N8 --exclusive -t 5)
	wait_for 20 job_waits_for "$short" .
	chmod 444 "$SITE"
	cp "$SITE" "$C/was.lua"
	owner=$(stat -c '%U:%G' "$SITE")
	new "$SHORT"
	deploys --dry-run "$C/new.lua"
	cmp "$SITE" "$C/was.lua"
	said '^2 jobs would start differently on the cluster as it is:$'
	said "^$C/new.lua: OK \\("
	fails said 'sched.lua.deploy' > /dev/null
	said "^  1 are expected earlier: $short$"
	said "^  1 are expected later: $long$"
	deploys "$C/new.lua"
	said '^it decides: .*short_first'
	status_is policy '*short_first*'
	status_is source site
	cmp "$SITE" "$C/new.lua"
	cmp "$SITE.before" "$C/was.lua"
	nothing_is_left
	for file in "$SITE" "$SITE.before"; do [ "$(stat -c '%a %U:%G' "$file")" = "444 $owner" ]; done
	deploys --undo
	said '^it decides: '
	cmp "$SITE" "$C/was.lua" && status_is policy easy
}
it "deploy says which jobs would start differently, and waits until the new set decides; --undo goes back" deployed

# last.snap may be older than a partition
new_partition() {
	new 'local s = require "sched"
return s.site { interval = 1, partitions = { fresh = "fcfs", stale = "fcfs" } }'
	scontrol create PartitionName=fresh Nodes=ALL > /dev/null
	deploys --dry-run "$C/new.lua"
	scontrol delete PartitionName=fresh
	said "^$C/new.lua:2: no partition 'stale' in this cluster"
	fails said "no partition 'fresh'" > /dev/null
}
it "deploy knows a partition from the moment on that the cluster has it" new_partition

not_deployed() {
	cp "$SITE" "$C/was.lua"
	new 'return oops'
	fails deploys "$C/new.lua"
	said 'nothing was changed: the new set does not pass'
	said "^$C/new.lua:1: "
	fails said 'sched.lua.deploy' > /dev/null
	cp "$SITE" "$C/same.lua"
	fails deploys "$C/same.lua"
	said 'the same text already'
	fails deploys "$C/nowhere.lua"
	said 'no such file'
	cmp "$SITE" "$C/was.lua" && nothing_is_left
}
it "what does not pass the checks of production is not installed" not_deployed

checked() { schedlua status --check > "$C/out" 2>&1; }
seen() { fails checked && said "$1"; }
set_refused() { schedlua status --openmetrics | grep -q "^schedlua_set_refused $1\$"; }
broken_by_hand() {
	wait_for 20 checked
	reload <<- 'EOL'
	return oops(
	EOL
	wait_for 20 seen 'WARNING: .*sched.lua'
	wait_for 10 set_refused 1
	starts "$(submit -N1)"
	cluster_default_site
	wait_for 20 checked
	wait_for 10 set_refused 0
}
it "scontrol reconfigure with a broken set is seen by status --check and by metrics" broken_by_hand

live_end
