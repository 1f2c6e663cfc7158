#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The disk of StateSaveLocation/schedlua is full when others are to be stopped for a job, or moved, or while its place is held.
. "${0%/*}/live.sh"
. "${0%/*}/full_disk.sh"
needs_plugin
# The small disk goes with those who see it.
if [ -z "${DISK_OF_OUR_OWN-}" ] && unshare --mount true 2>/dev/null; then
	DISK_OF_OUR_OWN=1 exec unshare --mount bash "$0" "$@"
fi
[ -n "${DISK_OF_OUR_OWN-}" ] || skip_all "no right to mount a small disk here"
live_begin 4 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=40" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"
needs_engine
DIR=$C/state/schedlua
HELD=$DIR/held

leave() {
	rm -f "$C/full"
	live_leave
}
trap leave EXIT

cluster_ctld_kill
mount -t tmpfs -o size=2m,mode=755 tmpfs "$DIR" && cluster_ctld_start || exit 1
wait_for 60 cluster_nodes_ready "$NODES"
reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.preempt {}, "easy" } }
EOL
wait_for 20 status_is source site

low() { sbatch --parsable --output=/dev/null -J low -p low -t 60 --requeue --exclusive "$@" --wrap 'exec sleep 3000'; }
all_run() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
left_alone() { local id; for id; do job_is "$id" RUNNING && [ "$(job_get "$id" Restarts)" = 0 ] && [[ $(job_get "$id" PreemptTime) != 2* ]] || return 1; done; }
restarted() { local id n=0; for id; do n=$((n + $(job_get "$id" Restarts))); done; echo $n; }
is_held() { grep -q "^P[[:space:]]$1[[:space:]]" "$HELD" 2> /dev/null; }
four_low() { # in IDS
	IDS=()
	for _ in 1 2 3 4; do IDS+=("$(low -N1)"); done
	wait_for 30 all_run "${IDS[@]}"
	wait_for 30 are_launched "${IDS[@]}"
}
says_why() { log_since | grep -q 'sched/lua.*/held: .*no job is stopped for another one'; }

nobody_is_told() {
	local job
	four_low
	fill_disk
	job=$(submit -p high -N2 --exclusive -t 60)
	wait_for 30 says_why
	stays_pending "$job"
	left_alone "${IDS[@]}"
	fails is_held "$job"
	status_is places ""
	status_is stops 0
	wait_for 20 log_said "is not stopped for JobId=$job: no place is held for it: it could not be written"
	# once, not in each cycle; and so that others are not stopped
	[ "$(log_since | grep -c 'no job is stopped for another one')" = 1 ]
	[ "$(log_since | grep -c "is not stopped for JobId=$job: no place is held for it: it could not be written")" = 1 ]
	make_room
	starts "$job" 90
	wait_for 20 eval '[ "$(restarted '"${IDS[*]}"')" = 2 ]'
}
it "nobody is told to end before the book of places is on the disk, and when there is room they are" nobody_is_told

place_stays() {
	local job
	four_low
	job=$(submit -p high -N2 --exclusive -t 60)
	wait_for 20 is_held "$job"
	cluster_save_jobs "${IDS[3]}"
	fill_disk
	cp "$HELD" "$C/held"
	cluster_ctld_kill KILL
	cmp "$HELD" "$C/held"
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
	for _ in 1 2 3 4; do submit -N1 -n1 -t 10 --priority=100000000 > /dev/null; done
	starts "$job" 90
	wait_for 30 eval '[ "$(restarted '"${IDS[*]}"')" = 2 ]'
	fails compgen -G "$DIR/held.*"
	make_room
	job_is "$job" RUNNING
	wait_for 20 eval '! is_held '"$job"
}
it "a place that was written before the disk was full is held over the end of slurmctld" place_stays

# Of each of two nodes a job has one of two GPUs: one of them could be moved to the other.
nobody_is_moved() {
	local job
	reload <<-'EOL'
		local sched = require "sched"
		return sched.site { interval = 0.5, default = { sched.consolidate { max_price = 100 }, "easy" } }
	EOL
	wait_for 20 log_said 'loaded from'
	starts "$(submit -N2 --exclusive -t 60)" 30
	IDS=()
	for _ in 1 2 3 4; do
		IDS+=("$(sbatch --parsable --output=/dev/null -p low -t 60 --requeue --gpus-per-node=1 -N1 -n1 --wrap 'exec sleep 3000')")
		wait_for 30 all_run "${IDS[@]}"
	done
	[ "$(job_nodes "${IDS[0]}")" = "$(job_nodes "${IDS[1]}")" ]
	scancel "${IDS[1]}" "${IDS[3]}"
	wait_for 30 job_done "${IDS[1]}"
	wait_for 30 job_done "${IDS[3]}"
	IDS=("${IDS[0]}" "${IDS[2]}")
	mark_log
	fill_disk
	job=$(submit -p high --gpus-per-node=2 -N1 -n1 -t 60)
	wait_for 30 log_said "is not stopped for JobId=$job: no place is held for it: it could not be written"
	stays_pending "$job"
	left_alone "${IDS[@]}"
	fails is_held "$job"
	make_room
	starts "$job" 90
	wait_for 20 eval '[ "$(restarted '"${IDS[*]}"')" = 1 ]'
	wait_for 20 status_is moves 1
}
it "nobody is moved before the book of places is on the disk, and when there is room one is" nobody_is_moved

live_end
