#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What holds a job back: holds, dependencies, times, throttles, partitions.
. "${0%/*}/live.sh"
live_begin 16

hold() {
	local id
	id=$(submit -N1 --hold)
	stays_pending "$id"
	[ "$(job_reason "$id")" = JobHeldUser ]
	scontrol release "$id"
	starts "$id"
}
it "a held job waits until it is released" hold

hold_pending() {
	local wide id
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	id=$(submit -N1)
	scontrol hold "$id"
	scancel "$wide"
	wait_for 20 has_jobs RUNNING -eq 0
	stays_pending "$id"
	scontrol release "$id"
	starts "$id"
}
it "a job held while it waits does not start when the cluster empties" hold_pending

after_ok() {
	local first second
	first=$(FOR=1 submit -N1 --hold)	# (it must not have ended before the other one is there)
	second=$(submit -N1 --dependency=afterok:"$first")
	[ "$(job_reason "$second")" = Dependency ]
	scontrol release "$first"
	starts "$second" 20
	job_is "$first" COMPLETED COMPLETING
	wait_for 20 job_is "$first" COMPLETED
}
it "a dependent job waits for the one before it and then starts" after_ok

after_not_ok() {
	local first second
	first=$(sbatch --parsable -o /dev/null -N1 --wrap 'exit 3')
	second=$(submit -N1 --dependency=afterok:"$first" --kill-on-invalid-dep=yes)
	wait_for 60 job_is "$second" CANCELLED
}
it "a job whose dependency can never be met is cancelled when it asked for that" after_not_ok

after_start() {
	local first second
	first=$(submit -N1)
	second=$(submit -N1 --dependency=after:"$first")
	starts "$first"
	starts "$second" 20
	job_is "$first" RUNNING
}
it "a job may depend on the start of another" after_start

singleton() {
	local first second
	first=$(FOR=1 submit -N1 -J lonely --dependency=singleton)
	second=$(submit -N1 -J lonely --dependency=singleton)
	starts "$first"
	starts "$second" 30
	job_is "$first" COMPLETED COMPLETING
	wait_for 20 job_is "$first" COMPLETED
}
it "singletons of one name run one after the other" singleton

change_dependency() {
	local first second
	first=$(submit -N1)
	second=$(submit -N1 --dependency=afterany:"$first")
	starts "$first"
	stays_pending "$second"
	scontrol update JobId="$second" Dependency=
	starts "$second" 20
}
it "a job starts when its dependency is taken away" change_dependency

begin_time() {
	local id began now
	now=$(date +%s)
	id=$(submit -N1 --begin=now+20)
	[ "$(job_reason "$id")" = BeginTime ]
	starts "$id" 60
	began=$(date -d "$(job_get "$id" StartTime)" +%s)
	[ $((began - now)) -ge 20 ]
}
it "a job does not start before its begin time and soon after it" begin_time

deadline_trims() {
	local id limit
	id=$(submit -N1 --time=120 --time-min=1 --deadline=now+10minutes)
	starts "$id"
	limit=$(squeue -h -j "$id" -o %L)
	echo "time left: $limit"
	[[ $limit =~ ^[0-9]:[0-9]{2}$ || $limit == 10:00 ]]
}
it "the time limit of a job is trimmed to its deadline" deadline_trims

# When a running job ends, in seconds since 1970, and the seconds until then; years where it has no limit.
job_end() {
	local end
	end=$(job_get "$1" EndTime)
	[ "$end" != Unknown ] || end=2099-01-01
	date -d "$end" +%s
}
left() { echo $(($(job_end "$1") - $(date +%s))); }

deadline_without_limit() {
	local id
	id=$(submit -N1 --requeue --deadline=now+10minutes)
	starts "$id"
	echo "time left: $(left "$id") s"
	[ "$(left "$id")" -le 600 ]
	scontrol requeuehold "$id"
	wait_for 10 job_is "$id" PENDING
	wait_for 5 eval '[ "$(job_get '"$id"' TimeLimit)" = UNLIMITED ]'
}
it "a job that names no time limit is trimmed to its deadline, and only that run of it" deadline_without_limit

deadline_in_a_short_partition() {
	local id
	scontrol update PartitionName=small MaxTime=60
	id=$(submit -N1 -p small --deadline=now+10minutes)
	starts "$id"
	echo "time left: $(left "$id") s"
	[ "$(left "$id")" -le 600 ]
	scontrol update PartitionName=small MaxTime=INFINITE
}
it "its partition's longest time is no limit that it named" deadline_in_a_short_partition

time_min_without_limit() {
	local id
	scontrol create reservation ReservationName=soon Users=$STRANGER StartTime=now+30minutes Duration=60 Nodes=ALL \
		Flags=IGNORE_JOBS
	trap 'scontrol delete ReservationName=soon' EXIT
	id=$(submit -N1 --time-min=10)
	starts "$id"
	echo "time left: $(left "$id") s"
	[ "$(left "$id")" -le 1800 ]
}
it "a job with a minimum time and no limit ends when the nodes are reserved" time_min_without_limit

# The head needs all nodes when the first job ends; the second one must not be in its way.
head_keeps_its_time() {
	local first head id
	first=$(submit -N$((NODES - 1)) --exclusive -t 30)
	starts "$first"
	head=$(submit -N "$NODES" --exclusive -t 30)
	id=$(submit -N1 --time-min=5)
	starts "$id"
	echo "it ends at $(job_get "$id" EndTime), the first at $(job_get "$first" EndTime)"
	[ "$(job_end "$id")" -le $(($(job_end "$first") + 60)) ]
	job_is "$head" PENDING
}
it "a job with a minimum time and no limit does not delay the head" head_keeps_its_time

deadline_passes() {
	local wide id
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	id=$(submit -N1 --time=1 --deadline=now+90)
	job_is "$id" PENDING
	wait_for 120 job_is "$id" DEADLINE
}
it "a job that can no longer end by its deadline is ended" deadline_passes

throttle() {
	local id most
	id=$(FOR=1 submit -n1 --array=1-6%2)
	while ! none_active; do has_jobs RUNNING -le 2; done
	[ "$(squeue -h -r -t COMPLETED -j "$id" -o %i | wc -l)" = 6 ]
	most=$(most_at_once "$id")	# (whatever happened between two looks)
	echo "at most $most at once"
	[ "$most" -ge 1 ]
	[ "$most" -le 2 ]
}
# A task that starts in the second in which another one ends may have started after that.
most_at_once() { # JOBID of an array
	squeue -h -r -t all -j "$1" -o '%S %e' | awk '{ print $1, 1; print $2, -1 }' | sort -k1,1 -k2,2n |
		awk '{ n += $2; if (n > most) most = n } END { print most + 0 }'
}
none_active() { [ -z "$(squeue -h -t PD,R,CG -o %i)" ]; }
it "an array with a throttle never has more tasks running than it says" throttle

partition_down() {
	local id
	scontrol update PartitionName=small State=DOWN
	id=$(submit -N1 -p small)
	stays_pending "$id"
	wait_for 10 job_waits_for "$id" 'Partition.*([Dd]own|[Ii]nactive|not_up)'
	scontrol update PartitionName=small State=UP
	starts "$id" 20
}
it "a job for a partition that is down waits, says why, and starts when it is up" partition_down

partition_limit() {
	local id
	id=$(submit -N6 -p small 2>&1) || { [[ $id == *[Nn]ode* ]]; return; }
	stays_pending "$id"
	[ "$(job_reason "$id")" = PartitionNodeLimit ]
}
it "a job larger than its partition does not start" partition_limit

two_partitions() {
	needs_engine
	local full id
	full=$(submit -N4 --exclusive -p small)
	starts "$full"
	id=$(submit -N1 --exclusive -p small,main)
	starts "$id"
	[ "$(job_get "$id" Partition)" = main ]
	[[ $(job_nodes "$id") != n00[1-4] ]]
}
it "a job for several partitions starts in one that has room" two_partitions

shared_nodes() {
	local full id
	full=$(submit -N "$NODES" --exclusive -p main)
	starts "$full"
	id=$(submit -N1 -p small)
	stays_pending "$id"
	scancel "$full"
	starts "$id"
	[[ $(job_nodes "$id") == n00[1-4] ]]
}
it "two partitions that share nodes do not give them twice" shared_nodes

reason_resources() {
	local wide id
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	id=$(submit -N2)
	wait_for 10 job_waits_for "$id" 'Resources|Priority'
}
it "a job that waits for resources says so" reason_resources

expected_start() {
	needs_engine
	local wide id
	wide=$(submit -N "$NODES" --exclusive -t 30)
	starts "$wide"
	id=$(submit -N "$NODES" -t 10)
	wait_for 40 has_expected_start "$id"
}
has_expected_start() { [[ $(squeue -h -j "$1" -o %S) == 20* ]]; }
it "the first job that waits has an expected start" expected_start

live_end
