#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The ledger has what slurmctld says that jobs used: exactly, once, and whatever
# is killed meanwhile.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8
DIR=$C/state/schedlua
schedlua ledger verify --dir="$DIR" 2>&1 | grep -q 'built without SQLite' && skip_all "built without SQLite"

# JOBID STATE : the run of a job that ended so, as "START END SECONDS CPUS GPUS NODES".
run_of() {
	schedlua ledger export --dir="$DIR" 2>/dev/null | awk -F'|' -v id="$1" -v state="$2" \
		'$1 == id && $11 == state { split($10, t, /[=,]/); print $5, $6, $7, $8, t[6], $9 }'
}
has_run() { [ -n "$(run_of "$1" "$2")" ]; }
seconds() { # "1-02:03:04"
	echo "$1" | awk -F'[-:]' '{ s = 0; if (NF == 4) { s = $1 * 86400; $1 = ""; $0 = $0; } n = split($0, t, /[-: ]+/);
		print s + t[n - 2] * 3600 + t[n - 1] * 60 + t[n] }'
}
epoch() { date -d "$(job_get "$1" "$2")" +%s; }

# The ledger says what scontrol says, to the second; once.
exact() { # JOBID GPUS [STATE]
	wait_for 15 has_run "$1" "${3:-COMPLETED}"
	[ "$(schedlua ledger export --dir="$DIR" | grep -c "^$1|")" = 1 ]
	echo "ledger: $(run_of "$1" "${3:-COMPLETED}")"
	echo "slurm: $(epoch "$1" StartTime) $(epoch "$1" EndTime) $(seconds "$(job_get "$1" RunTime)")" \
		"$(job_get "$1" NumCPUs) $2 $(job_get "$1" NumNodes)"
	[ "$(run_of "$1" "${3:-COMPLETED}")" = "$(epoch "$1" StartTime) $(epoch "$1" EndTime) \
$(seconds "$(job_get "$1" RunTime)") $(job_get "$1" NumCPUs) $2 $(job_get "$1" NumNodes)" ]
}

simple() {
	local a b
	a=$(FOR=1 submit -N2 -n5 --gres=gpu:1)
	b=$(FOR=0 submit -n3)
	ends "$a"
	ends "$b"
	exact "$a" 2
	exact "$b" 0
	schedlua ledger verify --dir="$DIR"
}
it "a job that ended is in it with its CPUs, GPUs, nodes and seconds" simple

suspended() {
	local a
	rm -f "$JOBS/go"
	a=$(sbatch --parsable -o /dev/null -n2 --wrap "until [ -e $JOBS/go ]; do sleep 0.2; done")
	starts "$a"
	scontrol suspend "$a"
	wait_for 10 job_is "$a" SUSPENDED
	wait_for 10 eval '[ $(($(date +%s) - $(epoch '"$a"' SuspendTime))) -ge 3 ]'
	scontrol resume "$a"
	touch "$JOBS/go"
	ends "$a"
	exact "$a" 0
	[ $(($(epoch "$a" EndTime) - $(epoch "$a" StartTime))) -gt "$(seconds "$(job_get "$a" RunTime)")" ]
}
it "time suspended does not count" suspended

cancelled_asleep() {
	local a
	a=$(submit -n2)
	starts "$a"
	scontrol suspend "$a"
	wait_for 10 job_is "$a" SUSPENDED
	wait_for 10 eval '[ $(($(date +%s) - $(epoch '"$a"' SuspendTime))) -ge 2 ]'
	scancel "$a"
	wait_for 15 job_is "$a" CANCELLED
	exact "$a" 0 CANCELLED
}
it "a job that is cancelled while it is suspended ran until then" cancelled_asleep

# Both runs of a job that was requeued; the first lasted from its start to the requeue.
requeued() {
	local a first before after
	a=$(submit -n4 --requeue)
	starts "$a"
	first=$(epoch "$a" StartTime)
	wait_for 10 eval '[ "$(date +%s)" -ge $(('"$first"' + 2)) ]'
	before=$(date +%s)
	scontrol requeue "$a"
	after=$(date +%s)
	wait_for 20 has_run "$a" REQUEUED
	run_of "$a" REQUEUED
	[ "$(run_of "$a" REQUEUED | cut -d' ' -f1)" = "$first" ]
	[ "$(run_of "$a" REQUEUED | cut -d' ' -f2)" -ge "$before" ]
	[ "$(run_of "$a" REQUEUED | cut -d' ' -f2)" -le "$after" ]
	[ "$(run_of "$a" REQUEUED | cut -d' ' -f4)" = 4 ]
	starts_soon "$a"
	starts "$a" 30
	scancel "$a"
	wait_for 20 has_run "$a" CANCELLED
	[ "$(schedlua ledger export --dir="$DIR" | grep -c "^$a|")" = 2 ]
}
it "a requeued job's runs both count, each once" requeued

# As a user without rights.
as_stranger() { (cd / && setpriv --reuid "$STRANGER" --regid "$STRANGER" --clear-groups "$@"); }

# An ordinary user gives up three of four nodes at the end; slurmctld then says that the job had one.
shrunk() {
	local a start resized
	setpriv --reuid "$STRANGER" --clear-groups test -r "$SLURM_CONF" || skip "a plain user does not get into $C"
	a=$(as_stranger sbatch --parsable -D / -o /dev/null -N4 -n8 --gres=gpu:1 --wrap "exec sleep 600")
	starts "$a"
	start=$(epoch "$a" StartTime)
	wait_for 10 eval '[ "$(date +%s)" -ge $(('"$start"' + 4)) ]'
	as_stranger scontrol update JobId="$a" NumNodes=1
	wait_for 10 eval '[ "$(job_get '"$a"' NumNodes)" = 1 ]'
	wait_for 15 has_run "$a" RESIZING	# before it has ended
	[ "${1-}" != restart ] || kill_keeper
	as_stranger scancel "$a"
	wait_for 20 has_run "$a" CANCELLED
	run_of "$a" RESIZING
	run_of "$a" CANCELLED
	resized=$(date -d "$(job_get "$a" ResizeTime)" +%s)
	[ "$(run_of "$a" RESIZING)" = "$start $resized $((resized - start)) 8 4 4" ]
	[ "$(run_of "$a" CANCELLED | cut -d' ' -f1,4-)" = "$resized $(job_get "$a" NumCPUs) 1 1" ]
	[ "$(run_of "$a" CANCELLED | cut -d' ' -f2)" = "$(epoch "$a" EndTime)" ]
	schedlua ledger verify --dir="$DIR"
}
it "a user who shrinks his job at its end is charged for what it held" shrunk

# No cycle between the end of the job and the end of slurmctld: it looks every ten
# seconds then.
killed_in_between() {
	local a held
	sed -i 's/^SchedulerParameters=.*/&,lua_wake=10000,lua_interval=3600/' "$C/etc/slurm.conf"
	a=$(FOR=4 submit -n6)
	starts "$a" 20
	scontrol reconfigure
	wait_for 20 eval 'grep -q lua_wake <(scontrol show config)'
	wait_for 20 job_is "$a" COMPLETED
	held=$(submit -H -n1)	# something to save
	cluster_save_jobs "$held"
	fails has_run "$a" COMPLETED || skip "a cycle was faster"
	cluster_ctld_kill KILL
	fails has_run "$a" COMPLETED || skip "a cycle was faster"
	sed -i 's/,lua_wake=10000,lua_interval=3600//' "$C/etc/slurm.conf"
	cluster_ctld_start
	scancel "$held"
	exact "$a" 0
	schedlua ledger verify --dir="$DIR"
}
it "slurmctld is killed between a job's end and the next cycle: usage is exact" killed_in_between
sed -i 's/,lua_wake=10000,lua_interval=3600//' "$C/etc/slurm.conf"	# (it may have been skipped)
scontrol reconfigure

keeper_pid() { pgrep -P "$(pgrep -P "$(engine_pid)" -x ledger-watch)" -x ledger-keeper; }
kill_keeper() { wait_for 60 eval 'kill -9 "$(keeper_pid)" 2> /dev/null'; }
killed_keeper() {
	local a pid
	for a in 1 2 3; do
		kill_keeper
		a=$(FOR=0 submit -n1)
		ends "$a"
		exact "$a" 0
	done
	wait_for 20 engine_lives
	pid=$(engine_pid)
	kill -9 "$pid"
	a=$(FOR=0 submit -n1)
	ends "$a"
	exact "$a" 0
	wait_for 10 cluster_gone "$pid"
	# (of this cluster: others may run beside it)
	wait_for 20 few_keepers
	wait_for 10 status_is usage_stale ''
}
few_keepers() { [ "$(pgrep -c -x -s "$(ps -o sid= -p "$(cluster_ctld_pid)" | tr -d ' ')" ledger-keeper)" -le 2 ]; }
it "its keeper and the engine are killed: usage is exact" killed_keeper

it "a job is shrunk, and the keeper is killed before it ends: what it held is charged" shrunk restart

damaged() {
	local a b
	a=$(FOR=0 submit -n1)
	ends "$a"
	wait_for 15 has_run "$a" COMPLETED
	schedlua ledger export --dir="$DIR" > "$C/saved"
	mark_log
	dd if=/dev/zero of="$DIR/ledger.db" bs=4096 count=1 conv=notrunc status=none
	b=$(FOR=0 submit -n1)
	ends "$b"
	wait_for 15 status_says usage_stale 'import or create'
	ls "$DIR"/ledger.db.damaged-*
	[ ! -e "$DIR/ledger.db" ]
	wait_for 20 log_said 'what was used may be out of date'
	schedlua ledger import --dir="$DIR" "$C/saved"
	wait_for 20 status_is usage_stale ''
	exact "$a" 0
	exact "$b" 0
	rm "$DIR"/ledger.db.damaged-*
	schedlua ledger verify --dir="$DIR"
}
it "a damaged ledger is set aside, and what ended meanwhile is in the one that is imported" damaged

asked() {
	local total
	reload <<- 'END'
	local sched = require "sched"
	return sched.site { default = { { name = "asks", admit = function(job, cluster)
		local used = 0
		for _, seconds in pairs(cluster.usage:past { by = "user", unit = "cpu" }) do
			used = used + seconds
		end
		return false, ("used %d, %s"):format(used, cluster.usage.stale or "up to date")
	end } } }
	END
	total=$(schedlua ledger show --json --dir="$DIR" | sed -n 's/.*"cpu_s": \([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
	a=$(submit -n1)
	wait_for 15 eval 'scontrol show job '"$a"' | grep -q "used '"$total"', up to date" || job_waits_for '"$a"' "used '"$total"', up to date"'
}
it "a policy is told what was used" asked

# A job that waits says what its policy knows of its user's last run.  (Without a ledger that is kept
# what ends meanwhile is not known: what was stays, and is said to be old.)
told() { # TEXT [OPTION...] : of a new job
	local id
	id=$(submit -n1 "${@:2}")
	wait_for 60 job_waits_for "$id" "$1"
}

last_runs() {
	local mine theirs ours
	reload <<- 'END'
	return require "sched".site { interval = 1, default = { "easy" } }
	END
	mine=$(FOR=0 submit -n2 -t 7 -J vasp)
	theirs=$(FOR=1 submit --uid="$STRANGER" --chdir=/tmp -n3 -t 9 -J blast)
	ends "$mine" 60
	ends "$theirs" 60
	wait_for 60 has_run "$mine" COMPLETED
	wait_for 60 has_run "$theirs" COMPLETED
	reload <<- 'END'
	local sched = require "sched"
	return sched.site { default = { { name = "asks", admit = function(job, cluster)
		local history = cluster.history
		local run, all = history:runs({ user = job.user, last = 1 })[1], history:summary { user = job.user, last = 1 }
		return false, run and ("%s %d %s %d cpus limit %d ran %d mean %d %s"):format(job.user, run.job, run.name, run.cpus,
			run.time_limit, run.runtime, all.mean, history.stale or "up to date") or "no run"
	end } } }
	END
	mine="root $mine vasp 2 cpus limit 420 ran $(run_of "$mine" COMPLETED | awk '{ print $3 " mean " $3 }')"
	theirs="$STRANGER $theirs blast 3 cpus limit 540 ran $(run_of "$theirs" COMPLETED | awk '{ print $3 " mean " $3 }')"
	ours=(--uid="$STRANGER" --chdir=/tmp)
	told "$mine up to date"
	told "$theirs up to date" "${ours[@]}"
	kill_engine
	told "$mine up to date"
	told "$theirs up to date" "${ours[@]}"
	dd if=/dev/zero of="$DIR/ledger.db" bs=4096 count=1 conv=notrunc status=none
	kill_keeper
	wait_for 60 status_says usage_stale 'import or create'
	told "$theirs .*import or create" "${ours[@]}"
	wait_for 10 eval 'schedlua status --dir="$DIR" | grep "usage is old"'
}
it "a policy is told of the runs that ended, by user, after a restart of the engine too, and when that is old" last_runs

live_end
