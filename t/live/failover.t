#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two controllers on one machine, each with a host name of its own: the backup takes
# over, with all that the first one knew, and gives it back.
. "${0%/*}/live.sh"
needs_plugin
unshare --mount --uts sh -c 'mount --bind /etc/hosts /etc/hosts && hostname other' 2>/dev/null ||
	skip_all "no right to give a slurmctld a host name of its own here"

# From now on: controller 1 unless $CONTROLLER says 2.
cluster_ctld_start() { # [-c]
	local n=${CONTROLLER:-1} conf=$C/etc/slurm.conf
	printf '127.0.0.1 localhost ctl1\n127.0.0.2 ctl2\n' > "$C/etc/hosts"
	if [ "$n" = 2 ]; then
		conf=$C/etc/slurm-2.conf
		sed 's/slurmctld\.pid/slurmctld-2.pid/; s/slurmctld\.log/slurmctld-2.log/' "$C/etc/slurm.conf" > "$conf"
	fi
	# shellcheck disable=SC2016
	unshare --mount --uts sh -c 'mount --bind "$1" /etc/hosts; hostname "$2"; shift 2; exec "$@"' sh "$C/etc/hosts" \
		"ctl$n" "$C/bin/slurmctld" -f "$conf" "$@" > "$C/log/slurmctld.out" 2>&1 ||
		{ cat "$C/log/slurmctld.out" >&2; return 1; }
	[ "$n" = 1 ] || return 0
	wait_for 45 first_decided	# 24.11 takes half a minute to give control back
	first_answers
}
first_answers() { scontrol ping 2>/dev/null | grep -q "at ctl1 is UP"; }
first_decided() { first_answers || tail -n 5 "$C/log/slurmctld.log" | grep -q '\] fatal: '; }
pid_of() { # CONTROLLER
	cluster_pid_of "$C/run/slurmctld$([ "$1" = 1 ] || echo -2).pid"
}
cluster_ctld_pid() { pid_of 1 || pid_of 2; }
cluster_ctld_answers() { scontrol ping 2>/dev/null | grep -q "at ctl. is UP"; }

live_begin 8 'SlurmctldHost=ctl1(127.0.0.1)\nSlurmctldHost=ctl2(127.0.0.2)' SlurmctldTimeout=10 \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=1"
needs_engine
DIR=$C/state/schedlua
: > "$C/log/slurmctld-2.log"
leave() {
	local pid
	if pid=$(pid_of 2); then
		kill "$pid" && wait_for 15 cluster_gone "$pid"
	fi
}
trap 'leave; live_leave' EXIT
CONTROLLER=2 cluster_ctld_start

serves() { # CONTROLLER : it has nodes and jobs in its charge, and its engine decides, and no other
	status_is pid "$(pid_of "$1")" && engine_lives && [ "$(engines)" = "$(engine_pid)" ] &&
		[ "$(awk '$1 == "PPid:" { print $2 }' "/proc/$(engine_pid)/status")" = "$(pid_of "$1")" ]
}
engines() { # the processes beside it have the same command line, and names of their own
	local pid
	for pid in $(pgrep -f "schedlua engine .*--state=$DIR\$"); do
		if [[ $(cat "/proc/$pid/comm" 2>/dev/null) == schedlua ]]; then echo "$pid"; fi
	done
	return 0
}
ended_run() { [ "$(schedlua ledger export --dir="$DIR" 2>/dev/null | grep -c "^$1|.*|COMPLETED")" = 1 ]; }
takeover() { scontrol takeover > /dev/null 2>&1; wait_for 30 serves 2; }
starts_of() { cat "$C"/log/slurmctld*.log | grep -c "sched/lua: started JobId=$1 "; }

# Each decision takes the better part of a second.
slow_site() {
	cat <<-'EOL'
	local sched = require "sched"
	local slow = { name = "slow" }
	function slow.decide(cluster, plan)
		local n = 0
		for i = 1, 30000000 do n = n + i % 7 end
		for job in cluster:queue() do
			local ok = plan:start(job)
			for i = 1, #job.shapes do
				ok = ok or plan:start(job, { shape = i })
			end
		end
	end
	return sched.site { interval = 1, default = { slow } }
	EOL
}

in_a_cycle() {
	local ids id i before shaped wide
	wait_for 20 serves 1
	reload < <(slow_site)
	wait_for 20 log_said 'policy slow loaded'
	before=$(FOR=0 submit -n1)
	ends "$before" 30
	wide=$(submit -N7 --exclusive)
	starts "$wide" 20
	shaped=$(submit -N4 -n4 -t 30 --requeue --comment='sched: -N1 -n2 -t 20')
	starts "$shaped" 20
	wait_for 20 ended_run "$before"
	echo 'nonsense' | cluster_site	# the last good one goes on
	wait_for 20 status_is source 'last good'
	scancel "$wide"
	for i in 1 2 3 4 5 6 7 8; do ids+=" $(submit -n1)"; done
	takeover
	squeue
	for id in $ids; do starts "$id" 30; done
	for id in $ids; do [ "$(starts_of "$id")" = 1 ]; done
	wait_for 30 status_is source 'last good'
	wait_for 30 status_is policy slow
	job_is "$shaped" RUNNING
	[ "$(job_get "$shaped" NumTasks)" = 2 ]
	scontrol requeuehold "$shaped"
	wait_for 20 job_is "$shaped" PENDING
	wait_for 20 eval '[ "$(job_get '"$shaped"' NumTasks) $(job_get '"$shaped"' TimeLimit)" = "4 00:30:00" ]'
	id=$(FOR=0 submit -n1)
	ends "$id" 30
	wait_for 20 ended_run "$id"
	ended_run "$before"
	schedlua ledger verify --dir="$DIR"
}
it "a take-over in the middle of a cycle: one engine decides, and nothing is lost or done twice" in_a_cycle

back() {
	local id
	id=$(submit -n1)
	starts "$id" 30
	slurm_backup_lets_go "$(pid_of 2)" "$C/log/slurmctld-2.log" &
	cluster_ctld_start
	wait $!
	wait_for 60 serves 1
	job_is "$id" RUNNING
	cluster_site < <(shapes_site)
	wait_for 20 status_is policy first_fit
	starts "$(submit -n1)" 30
}
it "the first controller comes back, and the backup's engine ends" back

killed() {
	local id pid
	wait_for 20 serves 1
	id=$(submit -n1)
	starts "$id"
	wait_for 20 engine_lives
	pid=$(engine_pid)
	cluster_save_jobs "$id"
	kill -9 "$(pid_of 1)"
	wait_for 10 cluster_gone "$pid"
	wait_for 60 serves 2
	wait_for 30 status_is policy first_fit
	job_is "$id" RUNNING
	[ "$(starts_of "$id")" = 1 ]
	starts "$(submit -n1)" 30
}
it "the first controller is killed and the backup takes over, for the second time" killed

leave
live_end
