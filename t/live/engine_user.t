#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurmctld is root, and its engine is not: it becomes who lua_user says, and reads what that
# user may read.
. "${0%/*}/live.sh"
needs_plugin
ENGINE_USER=daemon
[ "$(id -u $ENGINE_USER 2>/dev/null || echo 0)" != 0 ] || skip_all "no user $ENGINE_USER here"
BASE=defer,sched_interval=-1,lua_interval=1
live_begin 8 "SchedulerParameters=$BASE,lua_user=$ENGINE_USER"
[ "$SL_USER" = root ] || skip_all "SlurmUser is $SL_USER: $TOP is not root's"
[ -z "$(cluster_lua_user)" ] || skip_all "$TOP: others than root cannot come here"
needs_engine
CTLD=$(cluster_ctld_pid)
POLICIES=$C/etc/policies
mkdir -p "$POLICIES" && chmod 755 "$POLICIES"

SECRET=$POLICIES/secret.lua
cat > "$SECRET" <<'EOL'
local M = { api = 1, name = "secret", doc = "what is nobody's business" }
function M.rank(job) return -job.min_nodes end
return M
EOL

# From now on the engine is that user (empty: as where nothing is said).
becomes() { # NAME
	mark_log
	cluster_conf "SchedulerParameters=$BASE,lua_path=$POLICIES${1:+,lua_user=$1}"
	scontrol reconfigure
}

is_user() { # NAME : the engine that lives
	local id pid
	id=$(id -u "$1")
	engine_lives && pid=$(engine_pid) && [ "$(runs_as "$pid")" = "$id $id $id 0000000000000000" ]
}

site_of() { # POLICY...
	local list
	printf -v list '"%s", ' "$@"
	cat <<-EOL
	local sched = require "sched"
	return sched.site { interval = 1, default = { $list } }
	EOL
}

named() {
	becomes $ENGINE_USER
	wait_for 20 is_user $ENGINE_USER
	wait_for 10 status_says engine_holds "uid $(id -u $ENGINE_USER), no capabilities"
	[ "$(runs_as "$(cluster_ctld_pid)" | cut -d' ' -f1)" = 0 ]
	same_slurmctld
	starts "$(submit -N2 -n3)"
}
it "the engine of a slurmctld that is root is lua_user, without a capability" named

unnamed() {
	becomes ''
	wait_for 20 is_user nobody
	starts "$(submit -N1)"
}
it "nobody where nothing is said" unnamed

unknown() {
	becomes no-such-user
	wait_for 30 log_said 'there is no user "no-such-user"'
	starts "$(submit -N1)" 30
	same_slurmctld
	becomes $ENGINE_USER
	wait_for 60 is_user $ENGINE_USER
}
it "an engine whose user is not there does not start, and jobs do" unknown

unreadable() {
	chown root:root "$SECRET"
	chmod 600 "$SECRET"
	becomes $ENGINE_USER
	wait_for 20 is_user $ENGINE_USER
	reload < <(site_of easy)
	wait_for 20 status_is source site
	reload < <(site_of secret easy)
	wait_for 20 log_said "policy set refused: .*$SECRET: Permission denied for uid $(id -u $ENGINE_USER), .*mode 644"
	wait_for 20 status_is policy easy
	starts "$(submit -N1)"
	wait_for 20 is_user $ENGINE_USER
	fails schedlua check --trust --user=$ENGINE_USER --path="$POLICIES" "$C/etc/sched.lua" > "$C/check"
	grep -q "$SECRET: Permission denied" "$C/check"
}
it "a policy that lua_user cannot read is refused by name, user and mode, and the last set goes on" unreadable

for_its_group() {
	chgrp $ENGINE_USER "$SECRET"
	chmod 640 "$SECRET"
	schedlua check --trust --user=$ENGINE_USER --path="$POLICIES" "$C/etc/sched.lua"
	mark_log
	scontrol reconfigure
	wait_for 20 status_is policy '*secret*'
	starts "$(submit -N1)"
}
it "one that its group may read is taken" for_its_group

restarted() {
	local pid
	wait_for 20 engine_lives
	pid=$(engine_pid)
	kill -9 "$pid"
	wait_for 20 cluster_gone "$pid"
	wait_for 20 is_user $ENGINE_USER
	wait_for 20 status_is policy '*secret*'
	starts "$(submit -N1)"
}
it "the next engine is that user, too" restarted

live_end
