#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua shadow report: a book written by hand, and what it comes to.
. "${srcdir:-.}/t/tool/tool.sh"

S=$T/state
mkdir "$S"
line() { printf '{"now": %s, %s}\n' "$1" "$2" >>"$S/shadow.jsonl"; }
ran() { # JOB USER SUBMIT START [MORE]
	printf '{"job": %s, "user": "%s", "partition": "main", "submit": %s, "start": %s%s}' "$1" "$2" "$3" "$4" "${5:+, $5}"
}
line 1000 "\"begin\": {\"stock\": \"backfill\"}, \"plans\": [{\"job\": 1, \"tasks\": 1}, {\"job\": 10, \"tasks\": 2}], \"ran\": [$(ran 99 zoe 100 900)]"
line 1020 "\"ran\": [$(ran 11 ann 990 1010 '"array": 10')]"
line 1060 '"sample": {"policy": "easy", "cores": 100, "used": 50, "planned": 10, "cycles": 20, "failures": 1, "deaths": 1, "decide_us": 40000, "decide_max_us": 9000}'
line 1100 "\"ran\": [$(ran 2 bob 1000 1100 '"why": "priority", "expected": 4700')]"
line 1120 '"sample": {"policy": "easy", "cores": 100, "used": 90, "cycles": 20, "decide_us": 20000, "decide_max_us": 3000}, "failed": "policy failed: no such job"'
line 1200 '"plans": [{"job": 10, "tasks": 2}], "failed": "engine failed: it ended"'
line 1300 "\"ran\": [$(ran 12 ann 990 1300 '"array": 10'), $(ran 13 ann 990 1300 '"array": 10')], \"failed\": \"policy failed: no such job\""
line 1400 "\"ran\": [$(ran 3 eve 1390 1400 '"why": "policy", "text": "over its quota"'), $(ran 4 eve 1400 1400)]"
line 1600 "\"ran\": [$(ran 1 ann 1000 1600)]"
line 1700 "\"begin\": {\"stock\": \"backfill\"}, \"ran\": [$(ran 1 ann 1000 1600)], \"ended\": [{\"job\": 2, \"start\": 1100, \"end\": 1650}]"
line 1710 '"stops": [{"job": 5, "verdict": "optimal", "cost": 1.5, "victims": [{"job": 6, "user": "bob", "start": 800, "cost": 1, "mode": "requeue"}, {"job": 7, "user": "eve", "start": 850, "cost": 0.5, "mode": "cancel"}]}]'
line 1790 "\"ran\": [$(ran 5 ann 1700 1760)], \"ended\": [{\"job\": 6, \"start\": 800, \"end\": 1770}, {\"job\": 7, \"start\": 1, \"end\": 2}]"
printf '{"now": 1800, "ran": [{"jo' >>"$S/shadow.jsonl"

flat() { tr -d '\n' <"$T/out" | tr -s ' '; }
has() { flat | grep -qF -e "$1" || { echo "not in it: $1"; flat; return 1; }; }
of() { flat | grep -o "{ \"job\": $1,[^}]*}" | grep -qF -e "$2" || { echo "not said of job $1: $2"; return 1; }; }

counts() {
	run 0 shadow report --dir "$S" --json && has '"jobs": 8, "same": 2, "earlier": 4, "later": 1, "refused": 1,' &&
		of 1 '"difference_s": -600' && of 2 '"difference_s": 3600' && of 3 '"verdict": "refused"' &&
		of 3 '"text": "over its quota"' && of 4 '"verdict": "same"' && has '"begins": 2,' &&
		has '"scheduler": "backfill", "policies": "easy", "from": 1000, "to": 1790,'
}
ok "each job is judged by the first plan that starts it, and by the policies' last word" counts
arrays() {
	run 0 shadow report --dir "$S" --json && of 11 '"difference_s": -10' && of 12 '"difference_s": -300' &&
		of 13 '"difference_s": -100'
}
ok "tasks of an array are told apart by how many had begun" arrays
unknown() {
	run 0 shadow report --dir "$S" --json && ! of 99 ''
}
ok "a job that was found running when the book began is not judged" unknown
figures() {
	run 0 shadow report --dir "$S" --json && has '"utilization": 0.6, "planned_utilization": 0.675,' &&
		has '"decisions": 40, "decide_mean_us": 1500.0, "decide_max_us": 9000, "failures": 1, "engine_ends": 1,' &&
		has '{ "text": "policy failed: no such job", "times": 2, "last": 1300 }' &&
		has '{ "text": "engine failed: it ended", "times": 1, "last": 1200 }' &&
		has '"user": "ann", "jobs": 5, "wait_mean_s": 260.0,' && has '"user": "bob", "jobs": 1, "wait_mean_s": 100.0,' &&
		has '"user": "eve", "jobs": 2, "wait_mean_s": 5.0,'
}
ok "utilization, decision times, failures and waits by user" figures
text() {
	run 0 shadow report --dir "$S" && out '^earlier  *4 .*by 00:04:12 on average, 00:10:00 at most' && out '^refused  *1 ' &&
		out 'over its quota' && out 'the differences do not add up' && out '^bob  *1  *00:01:40  *01:01:40'
}
ok "the same for people, with what it does not say" text
stops() {
	run 0 shadow report --dir "$S" --json && has '"stops": 2, "stopped_for": 1, "stop_cost": 1.5, "would_stop": [' &&
		has '"job": 6, "user": "bob", "preemptor": 5, "time": 1710, "cost": 1.0, "mode": "requeue", "optimal": true, "end": 1770, "preemptor_start": 1760' &&
		has '"job": 7, "user": "eve", "preemptor": 5, "time": 1710, "cost": 0.5, "mode": "cancel", "optimal": true, "preemptor_start": 1760' &&
		run 0 shadow report --dir "$S" && out '^would stop  *2 running jobs for 1 others, at a cost of 1.5' &&
		out '^ *6  *bob  *5 .* 00:01:00 later  *00:00:50 later' && out '^ *7  *eve  *5 .* not yet  *00:00:50 later'
}
ok "whom the policies would have stopped for whom, and what became of both" stops
quiet_about_stops() {
	mkdir "$T/calm" && grep -v stops "$S/shadow.jsonl" >"$T/calm/shadow.jsonl" && run 0 shadow report --dir "$T/calm" && ! out 'would stop'
}
ok "nothing is said of stops where there are none" quiet_about_stops
short() {
	run 0 shadow report --dir "$S" --last 00:06:30 --json && has '"jobs": 4,' && has '"stops": 2,'
}
ok "only the time that is asked for" short
nothing() {
	mkdir -p "$T/bare" && run 1 shadow report --dir "$T/bare" && err 'shadow.jsonl: no such file' &&
		run 2 shadow report --dir "$S" --last soon && err 'expected a time' && run 2 shadow tell && err 'expected report'
}
ok "what is not there, and what is wrong, is said" nothing
echo "1..$n"
