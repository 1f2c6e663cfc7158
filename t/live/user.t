#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurmctld is not root: SlurmUser is a plain user.
. "${0%/*}/live.sh"
needs_plugin
for SL_SLURM_USER in slurm daemon; do
	id -u "$SL_SLURM_USER" > /dev/null 2>&1 && break
done
[ "$(id -u "$SL_SLURM_USER" 2>/dev/null || echo 0)" != 0 ] || skip_all "neither a user slurm nor a user daemon here"
export SL_SLURM_USER
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_capture=1"
[ "$SL_USER" = "$SL_SLURM_USER" ] || { echo "Bail out! SlurmUser is $SL_USER"; exit 1; }
needs_engine
DIR=$C/state/schedlua

plain() { id=$(id -u "$SL_USER"); echo "$id $id $id 0000000000000000"; }
site_of() { sed "s/easy/$1/" <<- 'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "easy" } }
	EOL
}

ended_run() { schedlua ledger export --dir="$DIR" 2>/dev/null | grep -q "^$1|.*|COMPLETED"; }

powerless() {
	local pid
	[ "$(runs_as "$(cluster_ctld_pid)" | cut -d' ' -f1)" = "$(id -u "$SL_USER")" ]
	wait_for 20 engine_lives
	runs_as "$(engine_pid)"
	[ "$(runs_as "$(engine_pid)")" = "$(plain)" ]
	wait_for 10 eval 'pgrep -x ledger-keeper -s "$(ps -o sid= -p "$(cluster_ctld_pid)" | tr -d " ")"'
	for pid in $(pgrep -x ledger-keeper -s "$(ps -o sid= -p "$(cluster_ctld_pid)" | tr -d ' ')"); do
		[ "$(runs_as "$pid")" = "$(plain)" ]
	done
}
it "slurmctld, the engine and the keeper run as SlurmUser and have no capability" powerless

works() {
	local id
	id=$(FOR=1 submit -N2 -n3)
	starts "$id"
	ends "$id"
	wait_for 15 ended_run "$id"
	wait_for 10 schedlua explain "$id"
	ls -la "$DIR"
	for file in status.json decisions.jsonl ledger.db last-good last.snap; do
		[ "$(stat -c %U "$DIR/$file")" = "$SL_USER" ]
	done
	[ "$(stat -c %a "$DIR/last-good")" = 600 ]
}
it "jobs start, and what it keeps is SlurmUser's" works

trusted() {
	mark_log
	cluster_site < <(site_of fcfs)
	wait_for 20 log_said 'policy fcfs loaded'
	cluster_site < <(site_of easy)
	chown "$SL_USER" "$C/etc/sched.lua"
	wait_for 20 log_said 'policy easy loaded'
	# not from somebody else, nor from where somebody else may write
	site_of fcfs > "$C/etc/other"
	chown nobody "$C/etc/other"
	mv "$C/etc/other" "$C/etc/sched.lua"
	wait_for 20 log_said 'policy set refused: .*sched.lua'
	mark_log
	site_of fcfs > "$C/etc/other"
	chmod 664 "$C/etc/other"
	mv "$C/etc/other" "$C/etc/sched.lua"
	wait_for 20 log_said 'policy set refused: .*sched.lua'
	status_is policy easy
	starts "$(submit -N1)"
}
it "a site file of root or SlurmUser is read, and no other" trusted

last_good() {
	mark_log
	cluster_ctld_kill
	cluster_ctld_start
	wait_for 20 status_is source 'last good'
	status_is policy easy
	starts "$(submit -N1)"
	# a last good set that others could have written is none
	cluster_ctld_kill
	chmod 666 "$DIR/last-good"
	mark_log
	cluster_ctld_start
	wait_for 20 log_said 'last good policy set: .*only SlurmUser can write'
	wait_for 20 status_is source bundled
	starts "$(submit -N1)"
	cluster_site < <(site_of fcfs)
	wait_for 20 status_is source site
	wait_for 10 eval '[ "$(stat -c "%U %a" "$DIR/last-good")" = "$SL_USER 600" ]'
}
it "the last good set is brought back, unless others could have written it" last_good

killed() {
	local id pid
	wait_for 20 engine_lives
	pid=$(engine_pid)
	kill -9 "$pid"
	id=$(FOR=0 submit -N1)
	ends "$id"
	wait_for 20 ended_run "$id"
	wait_for 20 engine_lives
	pid=$(engine_pid)
	cluster_ctld_kill KILL
	wait_for 10 cluster_gone "$pid"
	cluster_ctld_start
	starts "$(submit -N1)"
	wait_for 20 ended_run "$id"
	schedlua ledger verify --dir="$DIR"
}
it "the engine, and slurmctld, are killed and come back" killed

live_end
