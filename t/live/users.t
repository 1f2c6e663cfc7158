#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What users of sched/backfill rely on, and see.  The tests that need no sched/lua pass under
# it as well: SL_SCHEDULER=sched/backfill t/live/users.t
. "${0%/*}/live.sh"
live_begin 16 Licenses=lic:8,gone:4

expects() { [[ $(squeue -h -j "$1" -o %S) == 20* ]]; }	# JOBID
sched_nodes() { job_get "$1" SchedNodeList; }
features() { # NODES FEATURES
	scontrol update NodeName="$1" AvailableFeatures="$2" ActiveFeatures="$2"
}

# A job that waits for three whole nodes of "small", two of which run something.
head_of_three() { # JOBS-TIME
	starts "$(submit -p small -N2 --exclusive -t "$1" -w n001,n002)"
	HEAD=$(submit -p small -N3 --exclusive -t 10)
	wait_for 40 expects "$HEAD"
}

native_keeps_off() {
	local long short other
	starts "$(submit -p small -N2 --exclusive -t 20 -w n001,n002)"
	HEAD=$(submit -p small -N4 --exclusive -t 10)
	wait_for 40 expects "$HEAD"
	features n003 f3
	long=$(submit -p small -N1-2 -n2 -t 60 -C f3 --distribution=plane=2)
	other=$(submit -p small -N1-2 -n2 -t 60 -C f3 --distribution=plane=2 --array=1-2)
	stays_pending "$long"
	stays_pending "$other"
	wait_for 10 job_waits_for "$long" '^(Priority|Resources)$'
	short=$(submit -p small -N1-2 -n2 -t 5 -C f3 --distribution=plane=2)
	starts "$short" 40
	[ "$(job_nodes "$short")" = n003 ]
	job_is "$long" PENDING
	[ "$(job_get "$long" ExcNodeList)" = '(null)' ]
	[ "$(job_get "$other" ExcNodeList)" = '(null)' ]
	features n003 ""
}
it "a job whose nodes select chooses is kept off those that the first one waits for" native_keeps_off

reason_is() { [[ $(job_reason "$1") == "$2" ]]; }	# JOBID WORD
node_is() { sinfo -h -N -n "$1" -o %T | grep -qx "$2"; }	# NODE STATE

# The first job that waits, and those behind it: when, where, why.
forecast() {
	head_of_three 20
	local second third node
	second=$(submit -p small -N4 --exclusive -t 10)
	third=$(submit -p small -N4 --exclusive -t 10)
	wait_for 40 expects "$second"
	wait_for 40 expects "$third"
	[ "$(date -d "$(job_get "$third" StartTime)" +%s)" -gt "$(date -d "$(job_get "$second" StartTime)" +%s)" ]
	[ "$(sched_nodes "$second")" = 'n[001-004]' ]
	squeue --start -h -j "$second" -o %Y | grep -qx 'n\[001-004\]'
	wait_for 20 reason_is "$HEAD" Resources
	wait_for 20 job_waits_for "$second" '^(Priority|Resources)$'
	wait_for 20 job_waits_for "$third" '^(Priority|Resources)$'
	[[ $(squeue -h -j "$third" -o %R) =~ ^\((Priority|Resources)\)$ ]]
	node=$(expand "$(sched_nodes "$HEAD")" | grep -E 'n00[34]')
	wait_for 20 node_is "$node" planned
	fails node_is n010 planned
	scancel "$second" "$third" "$HEAD"
	wait_for 20 node_is "$node" idle
}
it "every job that waits has an expected start, its nodes and a reason of Slurm's, idle nodes that wait are planned" \
	forecast

# ------------------------------------------------------------------ reservations

parts_of_nodes() {
	local node
	for node in n001 n002; do
		scontrol create reservation ReservationName="part-$node" Users=$STRANGER StartTime=now Duration=60 \
			Nodes=$node CoreCnt=4
	done
	starts "$(submit -N1 -n4 -w n001)"
	starts "$(submit -N1 -n4 -w n002)"
	stays_pending "$(submit -n1 -N1 -w n002)"
}
it "a reservation of half of each node leaves the other half to others" parts_of_nodes

half_inside() {
	local id
	scontrol create reservation ReservationName=half Users=root StartTime=now Duration=60 Nodes='n[001-003]' \
		"$(slurm_cores_of_each 4 3)"
	starts "$(submit -n3 -w n001)"
	id=$(submit -N3 -n10 --reservation=half)
	starts "$id"
	placed_by_engine "$id"
	[ "$(job_nodes "$id")" = 'n[001-003]' ]
	stays_pending "$(submit -n3 --reservation=half)"
	id=$(submit -n2 --reservation=half)
	starts "$id"
	placed_by_engine "$id"
	starts "$(submit -N3 -n9 -w 'n[001-003]')"
	stays_pending "$(submit -n1 -w n001)"
}
it "... and its half to its jobs" half_inside

reserved_licenses() {
	local id
	scontrol create reservation ReservationName=lic Users=$STRANGER StartTime=now Duration=60 \
		Flags=LICENSE_ONLY Licenses=lic:6
	id=$(submit -n1 -L lic:3)
	stays_pending "$id"
	wait_for 10 reason_is "$id" Licenses
	scontrol update ReservationName=lic Licenses=lic:2
	starts "$id"
}
it "licences that a reservation sets aside are not for others, and are when it gives them back" \
	reserved_licenses

without_nodes() {
	local in out
	scontrol create reservation ReservationName=any Users=root StartTime=now Duration=60 \
		Flags=LICENSE_ONLY Licenses=lic:6
	out=$(submit -n1 -L lic:4)
	in=$(submit -n1 -L lic:4 --reservation=any)
	starts "$in"
	placed_by_engine "$in"
	job_is "$out" PENDING
	wait_for 10 reason_is "$out" Licenses
}
it "a job in a reservation of licences alone runs on any node" without_nodes

magnet() {
	local first second
	scontrol create reservation ReservationName=magnet Users=root StartTime=now Duration=60 Nodes=n016 \
		Flags=MAGNETIC
	first=$(submit -N1 --exclusive -t 5)
	starts "$first"
	[ "$(job_nodes "$first")" = n016 ]
	# it can wait for nothing else, and is planned for nevertheless
	starts "$(submit -N15 --exclusive -t 30 -w 'n[001-015]')"
	second=$(submit -N1 --exclusive -t 5)
	wait_for 40 expects "$second"
	[ "$(sched_nodes "$second")" = n016 ]
	scancel "$first"
	starts "$second"
	[ "$(job_nodes "$second")" = n016 ]
}
it "a magnetic reservation draws jobs in, and they wait for it" magnet

# From 25.11.1 on it has only jobs that end with it.
magnet_for_short_ones() {
	local id want=n016
	if slurm_since 25.11; then want=n015; fi
	scontrol create reservation ReservationName=magnet Users=root StartTime=now Duration=60 Nodes=n016 Flags=MAGNETIC
	scontrol update NodeName='n[001-014]' State=DRAIN Reason=test
	id=$(submit -N1 --exclusive -t 5:00:00)
	starts "$id"
	[ "$(job_nodes "$id")" = $want ]
	scontrol update NodeName='n[001-014]' State=RESUME
}
it "... those that last longer than it, before 25.11.1" magnet_for_short_ones

magnet_task() {
	local inside array
	scontrol create reservation ReservationName=magnet Users=root StartTime=now Duration=60 Nodes=n016 \
		Flags=MAGNETIC
	inside=$(submit -N1 --exclusive -t 5)
	starts "$inside"
	starts "$(submit -N11 --exclusive -t 30 -w 'n[001-011]')"
	array=$(submit -N1-4 -n4 --exclusive -t 5 --array=1-2)
	starts "${array}_1"
	[ "$(job_nodes "${array}_1")" = 'n[012-015]' ]
	scancel "$inside"
	starts "${array}_2"
	[ "$(job_nodes "${array}_2")" = n016 ]
}
it "... and a task of an array, though one before it had more nodes than are reserved" magnet_task

# (Slurm has it start there alone, or outside.)
magnet_too_small() {
	local id
	scontrol create reservation ReservationName=magnet Users=root StartTime=now Duration=60 Nodes=n016 \
		Flags=MAGNETIC,FLEX
	mark_log
	id=$(submit -N2 -n9 -t 5)
	starts "$id"
	placed_by_engine "$id"
	fails log_said 'policy failed'
	starts "$(submit -n2 -t 5 -w n016)"
}
it "a job that asks for more nodes than a magnetic reservation that is flexible starts without that" magnet_too_small

either() {
	local id busy
	scontrol create reservation ReservationName=left Users=root StartTime=now Duration=60 Nodes=n001
	scontrol create reservation ReservationName=right Users=root StartTime=now Duration=60 Nodes=n002
	busy=$(submit -N1 --exclusive --reservation=left)
	starts "$busy"
	id=$(submit -N1 --exclusive --reservation=left,right)
	starts "$id"
	[ "$(job_nodes "$id")" = n002 ]
	id=$(submit -N1 --exclusive --reservation=left,right)
	stays_pending "$id"
	scancel "$busy"
	starts "$id"
	[ "$(job_nodes "$id")" = n001 ]
}
it "a job that names two reservations starts in the one that has room" either

outside() {
	local id
	scontrol create reservation ReservationName=flex Users=root StartTime=now Duration=60 Nodes=n001 Flags=FLEX
	starts "$(submit -N1 --exclusive --reservation=flex -w n001)"
	id=$(submit -N1 --exclusive --reservation=flex)
	starts "$id"
	placed_by_engine "$id"
}
it "a job of a flexible reservation that is full starts outside" outside

inside_first() {
	local id
	scontrol create reservation ReservationName=flex Users=root StartTime=now Duration=60 Nodes='n[009-010]' Flags=FLEX
	id=$(submit -n2 --reservation=flex)
	starts "$id"
	[ "$(job_nodes "$id")" = n009 ]
	placed_by_engine "$id"
	id=$(submit -N3 -n15 --reservation=flex)
	starts "$id"
	[ "$(expand "$(job_nodes "$id")" | grep -cE 'n009|n010')" = 2 ]
	placed_by_engine "$id"
}
it "... its nodes are filled first" inside_first

nodes_of_reservation() { scontrol show reservation "$1" -o | sed -n 's/.* Nodes=\([^ ]*\) .*/\1/p'; }

# When a job has taken its nodes Slurm puts others in their place.
replaced() {
	local id was
	scontrol create reservation ReservationName=replaced Users=root StartTime=now Duration=60 PartitionName=main NodeCnt=2 \
		Flags=REPLACE
	was=$(nodes_of_reservation replaced)
	[ -n "$was" ]
	id=$(submit -N2 -n9 --reservation=replaced)
	starts "$id"
	[ "$(job_nodes "$id")" = "$was" ]
	placed_by_engine "$id"
	[ "$(nodes_of_reservation replaced)" != "$was" ]
	starts "$(submit -N2 -n9 --reservation=replaced)"
}
it "a reservation that replaces its nodes gets others as soon as a job has them" replaced

ahead() {
	local id
	scontrol create reservation ReservationName=flex Users=root StartTime=now+30minutes Duration=60 \
		Nodes='n[001-016]' Flags=FLEX
	id=$(submit -N2 -n9 -t 60)
	stays_pending "$id"
	id=$(submit -N2 -n9 -t 60 --reservation=flex)
	starts "$id"
	placed_by_engine "$id"
}
it "... they are there for it before it begins" ahead

astride() {
	local id
	scontrol create reservation ReservationName=flex Users=root StartTime=now Duration=60 Nodes='n[001-002]' Flags=FLEX
	starts "$(submit -N1 --exclusive --reservation=flex -w n001)"
	starts "$(submit -N13 --exclusive -w 'n[004-016]')"
	id=$(submit -N2 --exclusive --reservation=flex)
	starts "$id"
	[ "$(job_nodes "$id")" = 'n[002-003]' ]
	placed_by_engine "$id"
}
it "... or on nodes of both sides together" astride

# ------------------------------------------------------------------------- would it run?

# Says when and where, in seconds since 1970 and a node list; slurmctld answers by itself.
would_start() { # OPTION...
	sbatch --test-only "$@" --wrap 'sleep 1' 2>&1 | tee "$C/said" |
		sed -nE 's/.*to start at (\S+) .*using ([0-9]+) processors on nodes (\S+) in partition .*/\1 \3/p' > "$C/when"
	cat "$C/said"
	read -r WHEN WHERE < "$C/when"
	WHEN=$(date -d "$WHEN" +%s)
}

# A minute more or less: limits are counted in minutes, and slurmctld rounds.
about() { [ "$1" -ge $(($2 - 60)) ] && [ "$1" -le $(($2 + 60)) ]; } # TIME TIME

test_only() {
	local busy ends before
	before=$(squeue -h -t all -o %i | wc -l)
	would_start -N2 --exclusive -t 5
	about "$WHEN" "$(date +%s)"
	[ "$(expand "$WHERE" | wc -l)" = 2 ]
	[ "$(squeue -h -t all -o %i | wc -l)" = "$before" ]
	fails sbatch --test-only -N99 --wrap 'sleep 1'
	busy=$(submit -N14 --exclusive -t 30)
	starts "$busy"
	ends=$(date -d "$(job_get "$busy" EndTime)" +%s)
	would_start -N4 --exclusive -t 5
	about "$WHEN" "$ends"
	would_start -N2 --exclusive -t 5
	about "$WHEN" "$(date +%s)"
	[ "$(expand "$WHERE" | wc -l)" = 2 ]
	fails expand_has "$(job_nodes "$busy")" "$WHERE"
	has_jobs PENDING -eq 0
	[ "$(squeue -h -t all -o %i | wc -l)" = $((before + 1)) ]
}
expand_has() { comm -12 <(expand "$1" | sort) <(expand "$2" | sort) | grep -q .; } # LIST LIST : a node is in both
it "sbatch --test-only says when and where, and leaves no job behind" test_only

# -------------------------------------------------------------- what is not there any more

feature_gone() {
	local id
	features n005 rare
	starts "$(submit -N1 --exclusive -w n005)"
	id=$(submit -N1 -C rare)
	wait_for 10 reason_is "$id" Resources
	features n005 ""
	wait_for 20 job_waits_for "$id" 'PartitionConfig.*no node of partition main has rare|BadConstraints'
	starts "$(submit -N1)"
}
it "a job whose feature nobody has any more says so and holds up nobody" feature_gone

# As slurmctld takes them: the first that is free when the job starts.
either_license() {
	local id other
	slurm_since 25.05 || skip "sbatch -L has no alternatives before 25.05"
	starts "$(submit -n1 -L gone:4)"
	id=$(submit -n1 -L 'gone:2|lic:3')
	starts "$id"
	[ "$(job_get "$id" LicensesAlloc)" = lic:3 ]
	placed_by_engine "$id"
	other=$(submit -n1 -L 'lic:3|gone:1')
	starts "$other"
	[ "$(job_get "$other" LicensesAlloc)" = lic:3 ]
	id=$(submit -n1 -L 'gone:1|lic:3')
	wait_for 10 reason_is "$id" Licenses
	starts "$(submit -N1)"
	scancel "$other"
	starts "$id"
	[ "$(job_get "$id" LicensesAlloc)" = lic:3 ]
	placed_by_engine "$id"
}
it "of alternative licences a job has the first that is free" either_license

# (What becomes of the job that waits for it is Slurm's.)
license_gone() {
	local id
	starts "$(submit -n1 -L gone:4)"
	id=$(submit -n1 -L gone:2)
	wait_for 10 reason_is "$id" Licenses
	cluster_conf Licenses=lic:8
	scontrol reconfigure
	starts "$(submit -N1)" 30
	slurm_let_go_of_licence "$id"
}
it "a licence that is taken away while jobs wait for it holds up nobody" license_gone

live_end
