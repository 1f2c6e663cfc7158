#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua replay --against-reality of accounting: a truth that is known, what explains differences, and dumps that will not do.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"

MACHINE=--procs=64
HEAD='JobIDRaw|User|Account|QOS|Partition|Submit|Eligible|Start|End|ElapsedRaw|Suspended|TimelimitRaw|State|Reason|Priority|Reservation|Constraints|ReqCPUS|NNodes'

# What sacct would print if easy had scheduled: the starts are those of a simulation, in seconds since the epoch.
make_dump() { # FILE
	run 0 sim $MACHINE --policy=easy --quiet --jobs="$T/jobs.csv" synthetic:jobs=300,users=9,load=0.9,days=3,longest=4 || return 1
	awk -F, -v head="$HEAD" 'BEGIN { print head; OFS = "|" }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ b = 1704067200; s = b + $at["submit_s"]; n = $at["nodes"]
		  print $at["job"], $at["user"], "a", $at["job"] % 3 ? "normal" : "high", "all", s, s, b + $at["start_s"], b + $at["end_s"],
			$at["end_s"] - $at["start_s"], "00:00:00", int(($at["walltime_s"] + 59) / 60), "COMPLETED", "None", 1, "", "", $at["cores"], n }' \
		"$T/jobs.csv" >"$1"
}
figure() { sed -nE "s/.*\"$1\": *([0-9.]+|null).*/\1/p" "$T/out" | head -n 1; }

# easy decides by walltime; those that are no whole minutes are rounded up in the dump: so without any difference only most starts.
known() {
	make_dump "$T/dump.txt" || return 1
	run 0 replay --quiet --against-reality --policy=easy --json $MACHINE "$T/dump.txt" || return 1
	[ "$(figure jobs)" -gt 200 ] && [ "$(figure same)" -gt $(($(figure jobs) * 95 / 100)) ] &&
		awk -v e="$(figure job_by_job_error_percent)" 'BEGIN { exit !(e < 5) }'
}
ok "the policy that made the starts makes them again" known

other() {
	run 0 replay --quiet --against-reality --policy=fcfs --json $MACHINE "$T/dump.txt" || return 1
	awk -v e="$(figure job_by_job_error_percent)" 'BEGIN { exit !(e > 10) }'
}
ok "another policy is told apart" other

stock() {
	run 0 replay --quiet --against-reality $MACHINE "$T/dump.txt" && out "^policy  *Slurm's own schedulers" && out '^error by day ' &&
		out '^error by partition ' && out '^width 1 core ' && out '^QOS high ' && out 'moving mean .*not defined' &&
		out 'schedlua-capture --record'
}
ok "without a policy it is Slurm's own schedulers, by days and classes" stock

keys() {
	run 0 replay --quiet --against-reality --json $MACHINE "$T/dump.txt" || return 1
	for key in source policy jobs left_out real_wait_s simulated_wait_s phases spread_s backfill_starts exact_starts median_difference_s same earlier later day width partition qos \
		moving_mean_error_percent job_by_job_error_percent explained; do
		out "\"$key\":" || return 1
		grep -q "$key" "${srcdir:-.}/doc/man/schedlua-replay.txt" || { echo "no $key in the man page"; return 1; }
	done
}
ok "--json has the keys of the man page" keys

# Half a minute does not matter to jobs of hours, but to who starts before whom.
phases() {
	run 0 replay --quiet --against-reality --json $MACHINE "$T/dump.txt" && [ "$(figure phases)" = 12 ] || return 1
	awk -v s="$(figure spread_s)" -v w="$(figure simulated_wait_s)" 'BEGIN { exit !(s > 0 && s < w / 2) }' || return 1
	run 0 replay --quiet --against-reality --json --phases=1 $MACHINE "$T/dump.txt" && [ "$(figure phases)" = 1 ] &&
		[ "$(figure spread_s)" = 0 ] || return 1
	run 0 replay --quiet --against-reality --json --policy=easy $MACHINE "$T/dump.txt" && [ "$(figure phases)" = 1 ] || return 1
	run 0 replay --quiet --against-reality $MACHINE "$T/dump.txt" && out '^simulated  *12 times, with backfill and priorities at other seconds'
}
ok "what the seconds of backfill change is averaged, and said" phases

# What sacct would print if Slurm's own schedulers had decided, on nodes of one core: the starts of a simulation.
make_stock_dump() { # FILE
	awk -F'|' -v OFS='|' 'NR > 1 { $19 = $18 } { print }' "$T/dump.txt" >"$T/nodes.txt"
	run 0 replay --quiet --against-reality --any-seconds --phases=1 --show=1000 --machine=64x1c "$T/nodes.txt" || return 1
	awk -F'|' -v OFS='|' '
		function seconds(t, p, n) { n = split(t, p, /[-:]/); return n > 3 ? ((p[1] * 24 + p[2]) * 60 + p[3]) * 60 + p[4] : (p[1] * 60 + p[2]) * 60 + p[3] }
		NR == FNR { if (split($0, w, " ") == 7 && w[1] ~ /^[0-9]+$/) wait[w[1]] = seconds(w[7]); next }
		FNR > 1 && $1 in wait { $8 = $7 + wait[$1]; $9 = $8 + $10 }
		{ print }' "$T/out" "$T/nodes.txt" >"$1"
}

seconds() {
	make_stock_dump "$T/stock.txt" || return 1
	run 0 replay --quiet --against-reality --json --machine=64x1c "$T/stock.txt" || return 1
	[ "$(figure backfill_starts)" -ge 5 ] && [ "$(figure exact_starts)" -gt $(($(figure jobs) * 9 / 10)) ] || return 1
	awk -v e="$(figure job_by_job_error_percent)" 'BEGIN { exit !(e < 1) }' || return 1
	run 0 replay --quiet --against-reality --json --any-seconds --machine=64x1c "$T/stock.txt" && [ "$(figure backfill_starts)" = 0 ] || return 1
	run 0 replay --quiet --against-reality --machine=64x1c "$T/stock.txt" && out '^backfill  *came at the seconds that [0-9]'
}
ok "starts tell at which seconds backfill came" seconds

# change AWK: the dump with some fields changed
change() { awk -F'|' -v OFS='|' "$1" "$T/dump.txt" >"$T/changed.txt"; }
row() { out "^  $1  *$2 "; }

explained() {
	change 'NR > 1 && NR <= 101 { $7 += 0; $14 = "Dependency" } NR > 101 && NR <= 111 { $16 = "maint" } NR > 111 && NR <= 116 { $17 = "ib" }
		NR > 116 && NR <= 119 { $13 = "NODE_FAIL" } { print }'
	run 0 replay --quiet --against-reality $MACHINE "$T/changed.txt" && row 'waited for a dependency' '[1-9][0-9]*' &&
		row 'had to do with an advance reservation' 10 && row 'asked for features of nodes' 5 && row 'were requeued, or their node failed' 3 &&
		row 'waited for a begin time' 0 && out 'asked for licences  *not in the dump: Licenses'
}
ok "what held jobs back is counted where the dump has it, and what it has not is named" explained

# The words that job_reason_string() has in any release, ten jobs each, and nothing else.
each_reason() {
	for word in "BeginTime:waited for a begin time" "Dependency:waited for a dependency" "DependencyNeverSatisfied:waited for a dependency" \
		"JobHeldUser:were held" "JobHeldAdmin:were held" "JobHoldMaxRequeue:were held" \
		"QOSGrpCpuLimit:waited for a limit of association, QOS or array" "AssocMaxJobsLimit:waited for a limit of association, QOS or array" \
		"AssocGrpCPUMinutesLimit:waited for a limit of association, QOS or array" "JobArrayTaskLimit:waited for a limit of association, QOS or array" \
		"PartitionTimeLimit:waited for a limit of association, QOS or array" "MaxMemPerLimit:waited for a limit of association, QOS or array" \
		"MaxCpuPerAccount:waited for a limit of association, QOS or array" "MaxGRESRunMinsPerUser:waited for a limit of association, QOS or array" \
		"Constraints:asked for features of nodes" "PartitionDown:waited for nodes that were down or drained" \
		"PartitionInactive:waited for nodes that were down or drained" \
		"Reservation:had to do with an advance reservation" "ReservationDeleted:had to do with an advance reservation" \
		"ReqNodeNotAvail:waited for nodes that were down or drained" "NodeDown:waited for nodes that were down or drained" \
		"Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions:waited for nodes that were down or drained"; do
		change 'NR > 101 && NR <= 111 { $14 = "'"${word%%:*}"'" } { print }'
		run 0 replay --quiet --against-reality $MACHINE "$T/changed.txt" && row "${word#*:}" 10 && row 'nothing of that' '[0-9]*' || return 1
		[ "$(sed -n '/^what else/,/nothing of that/p' "$T/out" | grep -c ' 10  *[0-9.]* %$')" = 1 ] || { echo "$word counts elsewhere, too"; return 1; }
	done
	change 'NR > 101 && NR <= 111 { $11 = "00:00:30" } NR > 111 && NR <= 121 { $13 = "PREEMPTED" } NR > 121 && NR <= 126 { $13 = "REQUEUED" } { print }'
	run 0 replay --quiet --against-reality $MACHINE "$T/changed.txt" && row 'were suspended' 10 && row 'were requeued, or their node failed' 10
}
ok "each of Slurm's words for what a job waits for is counted as what it is" each_reason

later() {
	change 'NR > 1 && NR <= 201 && $8 - $7 > 600 { $7 += 500; n++ } { print } END { print n > "/dev/stderr" }' 2>"$T/n"
	run 0 replay --quiet --against-reality $MACHINE "$T/changed.txt" && row 'eligible later than submitted (their wait begins then)' '[1-9][0-9]*'
}
ok "a wait begins when the job became eligible" later

no_starts() {
	change '{ $8 = ""; print }' && sed -i '1s/|[|]/|Start|/' "$T/changed.txt"
	run 1 replay --quiet --against-reality $MACHINE "$T/changed.txt" && err 'changed.txt: it does not say when jobs really started' || return 1
	cut -d'|' -f1-7,9- "$T/dump.txt" >"$T/changed.txt"
	run 1 replay --quiet --against-reality $MACHINE "$T/changed.txt" && err 'changed.txt:1: no column Start: .*sacct -aXPD'
}
ok "a dump without starts is refused, with what prints them" no_starts

no_eligible() {
	cut -d'|' -f1-6,8- "$T/dump.txt" >"$T/changed.txt"
	run 0 replay --quiet --against-reality $MACHINE "$T/changed.txt" && out 'Nothing says when jobs became eligible' &&
		out 'eligible later than submitted .*not in the dump: Eligible'
}
ok "without eligible times waits are from submission, and that is said" no_eligible

negative() {
	change 'NR == 20 || NR == 40 { $8 = $7 - 100; $9 = $8 + $10 } { print }'
	run 0 replay --quiet --against-reality $MACHINE "$T/changed.txt" && out ' [12] that started before they were eligible' || return 1
	change 'NR > 1 { $8 = $7 - 100; $9 = $8 + $10 } { print }'
	run 1 replay --quiet --against-reality $MACHINE "$T/changed.txt" && err 'changed.txt:2: the job starts before it is eligible, as 300 of 300 do'
}
ok "negative waits are left out and counted, and a dump of them is refused with its line" negative

few() {
	head -n 11 "$T/dump.txt" >"$T/changed.txt"
	run 1 replay --quiet --against-reality $MACHINE "$T/changed.txt" && err 'changed.txt: [0-9]* jobs can be compared .*expected 30'
}
ok "ten jobs are too few, which is said with their number" few

clock() {
	change 'NR == 33 { $9 += 3600 } { print }'
	run 1 replay --quiet --against-reality $MACHINE "$T/changed.txt" && err 'changed.txt:33: the job ends +3600 s later than Start and ElapsedRaw say' &&
		err 'TZ=UTC' || return 1
	change 'NR == 33 { $9 += 3600; $11 = "01:00:00" } { print }'
	run 0 replay --quiet --against-reality $MACHINE "$T/changed.txt"
}
ok "a change of clocks is found at its line, and a suspension of an hour is none" clock

# zoned FROM FILE ZONE : the dump as if it began at FROM (seconds), with times as clocks of ZONE show them.
zoned() {
	awk -F'|' -v OFS='|' -v by=$(($1 - 1704067200)) 'NR == 1 { print; next }
		{ for (i = 6; i <= 9; i++) $i = strftime("%Y-%m-%dT%H:%M:%S", $i + by); print }' "$T/dump.txt" >"$2"
}

# 2024-10-26 20:00 UTC: clocks of Berlin are set back five hours later, in the middle of the dump.
other_zone() {
	TZ=UTC zoned 1729972800 "$T/utc.txt" && TZ=Europe/Berlin zoned 1729972800 "$T/berlin.txt" || return 1
	grep -q 'T02:' "$T/berlin.txt" || { echo "nothing happens in the hour that comes twice"; return 1; }
	run 0 replay --quiet --against-reality --policy=easy --json $MACHINE "$T/utc.txt" && sed '/"source"/d' "$T/out" >"$T/expected" || return 1
	run 1 replay --quiet --against-reality --policy=easy $MACHINE "$T/berlin.txt" && err 'the clock was changed' || return 1
	run 0 replay --quiet --against-reality --policy=easy --json $MACHINE --zone=Europe/Berlin "$T/berlin.txt" || return 1
	sed '/"source"/d' "$T/out" | diff "$T/expected" -
}
ok "a dump of another time zone, with clocks set back in it, is the same as one of UTC" other_zone

no_zone() {
	run 1 replay --quiet --against-reality $MACHINE --zone=Europe/Nowhere "$T/berlin.txt" && err 'Europe/Nowhere' &&
		run 2 replay --zone=Europe/Berlin "$T/berlin.txt" && err 'zone: expected --against-reality'
}
ok "a zone that is none, or where no dump is read, is refused" no_zone

running() {
	change 'NR > 250 && NR <= 260 { $13 = "RUNNING"; $9 = "Unknown" } NR > 270 && NR <= 280 { $13 = "PENDING"; $8 = "Unknown"; $9 = "Unknown" } { print }'
	run 0 replay --against-reality $MACHINE "$T/changed.txt" && err '10 jobs that have not ended, skipped'
}
ok "jobs that run at the end hold their place, those that wait are counted" running

events() {
	echo '-dt 1.00 -e submit_batch_job | -sim-walltime 10 --uid=u -J j -N 1 -n 1 -t 10 -q a -p all pseudo.job' >"$T/week.events"
	run 1 replay --quiet --against-reality $MACHINE "$T/week.events" &&
		err 'week.events: it does not say when jobs really started: .*schedlua-capture --record'
}
ok "events of a simulator have no starts, and how to record them is said" events

usage() {
	run 2 replay --machine=1x1c "$T/dump.txt" && err 'machine: expected --against-reality' &&
		run 2 replay --against-reality --cycles "$T/dump.txt" && err 'cycles: not with --against-reality' &&
		run 1 replay --against-reality "$T/nowhere.txt" && err 'no such file' &&
		run 1 replay --against-reality "$T/dump.txt" && err 'does not say on which machine'
}
ok "options that do not go together are refused" usage

echo "1..$n"
