#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua report: what it makes of a journal, a ledger and a snapshot, worked out by hand.  How
# the page looks is t/report/page.t's.
. "${srcdir:-.}/t/tool/tool.sh"

S=$T/state P=$T/page.html
END=1793600000
mkdir "$S" "$T/assets"
printf '<!-- title -->\n<!-- data -->\n' >"$T/assets/page.html"
export SCHEDLUA_REPORT="$T/assets"

cat >"$T/now.json" <<EOT
{ "meta": { "now": $END, "cluster": "home" },
  "nodes": [{ "name": "n1", "cores": 4 }, { "name": "n2", "cores": 4 }, { "name": "n3", "cores": 4 }, { "name": "n4", "cores": 4 }],
  "partitions": [{ "name": "a", "nodes": "n[1-2]" }, { "name": "b", "nodes": "n[3-4]" }],
  "jobs": [{ "id": 2, "user": "bob", "partition": "a", "submit_time": $((END - 300)) },
           { "id": 3, "user": "cat", "partition": "b", "state": "RUNNING", "submit_time": $((END - 95)), "start_time": $((END - 40)),
             "end_time": $((END + 100)) }],
  "reservations": [{ "name": "night", "start_time": $((END + 60)), "end_time": $((END + 900)), "nodes": "n[2-4]" }] }
EOT
"$SCHEDLUA" show --output="$S/last.snap" "$T/now.json" || exit 1

# line SECONDS-AGO REST : of the journal in $J
J=$S
line() { echo "{ \"sequence\": 1, \"now\": $((END - $1)), $2 }" >>"$J/decisions.jsonl"; }
line 200 '"policy": "easy", "full": true, "pending": [{ "job": 1, "why": "resources", "partition": "a" }, { "job": 2, "why": "priority", "partition": "a" }]'
line 150 '"policy": "easy", "started": [{ "job": 9, "partition": "b", "nodes": "n4", "cores": 4, "done": true }]'
line 90 '"policy": "easy", "pending": [{ "job": 3, "why": "resources", "partition": "b" }, { "job": 4, "why": "resources", "partition": "b" }],
	"started": [{ "job": 1, "partition": "a", "nodes": "n[1-2]", "cores": 8, "done": true }]'
line 60 '"policy": "fcfs", "pending": [{ "job": 2, "why": "resources", "partition": "a" }], "gone": [{ "job": 4 }],
	"started": [{ "job": 5, "partition": "b", "nodes": "n3", "cores": 4, "done": false }]'
line 40 '"policy": "fcfs", "started": [{ "job": 3, "partition": "b", "nodes": "n3", "cores": 2, "done": true }]'
sed -i -e ':a' -e '/}$/!{N;s/\n\t/ /;ba' -e '}' "$S/decisions.jsonl"
echo '{ "torn' >>"$S/decisions.jsonl"

at() { date -u -d "@$((END - $1))" +%Y-%m-%dT%H:%M:%S; }
cat >"$T/sacct.txt" <<EOT
JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|NNodes|AllocTRES|State
9|dan|x|b|$(at 149)|$(at 50)|99|4|1|cpu=4,node=1|COMPLETED
1|ann|x|a|$(at 88)|$(at 28)|60|8|2|cpu=8,node=2|COMPLETED
77|eve|x|a|$(at 80)|$(at 70)|10|1|1|cpu=1,node=1|COMPLETED
EOT
if ! "$SCHEDLUA" ledger create --dir="$S" >/dev/null 2>&1; then
	echo "1..0 # SKIP built without SQLite"
	exit
fi
"$SCHEDLUA" ledger import --quiet --dir="$S" "$T/sacct.txt" >/dev/null || exit 1

# rows CLASS : the numbers of these rows
rows() {
	sed -n "/class=\"$1\">/,/<.script>/p" "$P" | sed '1d;$d' | base64 -d | od -An -v -tu1 -w1 |
		awk '{ v += ($1 % 128) * 2 ^ s; s += 7; if ($1 < 128) { printf "%s%d", (n++ ? " " : ""), v; v = s = 0 } } END { print "" }'
}

# key NAME : the text of a key of the workload
key() { sed -n "s/.*\"$1\": *\\(\"[^\"]*\"\\|\\[[^]]*\\]\\|[^,}]*\\).*/\\1/p" "$P" | head -n 1; }

# A node of four GPUs: job 1 has three of them and job 2 waits for two, by the snapshot alone.
gpus() {
	mkdir -p "$T/gpus" && printf '{ "meta": { "now": %s, "cluster": "home" }, "gres_kinds": [{ "key": "gpu:a", "name": "gpu", "type": "a" }],
		"nodes": [{ "name": "n1", "cores": 8, "gres": [{ "kind": "gpu:a", "count": 4 }] }], "partitions": [{ "name": "p", "nodes": "n1" }], "jobs": [
		{ "id": 1, "state": "RUNNING", "partition": "p", "submit_time": %s, "start_time": %s, "end_time": %s, "min_cpus": 6,
		"gres": [{ "name": "gpu", "type": "a", "count": 3, "per": "job" }], "alloc": [{ "node": "n1", "cores": 6, "gres": [{ "kind": "gpu:a", "count": 3 }] }] },
		{ "id": 2, "partition": "p", "submit_time": %s, "min_cpus": 4, "gres": [{ "name": "gpu", "count": 2, "per": "node" }] }] }' \
		$END $((END - 60)) $((END - 50)) $((END + 100)) $((END - 30)) >"$T/gpus.json" && "$SCHEDLUA" show --output="$T/gpus/last.snap" "$T/gpus.json" || return 1
	was=$J J=$T/gpus
	line 60 '"policy": "easy", "full": true, "pending": [{ "job": 1, "why": "resources", "partition": "p" }]'
	line 50 '"policy": "easy", "started": [{ "job": 1, "partition": "p", "nodes": "n1", "cores": 6, "done": true }]'
	line 30 '"policy": "easy", "pending": [{ "job": 2, "why": "resources", "partition": "p" }]'
	J=$was
	# row 0 waits, row 1 runs: 50 s on 3 GPUs, cores 0 to 5, GPUs 0 to 2; shapes of one job each: 6 cores and 3 GPUs, 4 and 2
	run 0 report --dir="$T/gpus" --last=5m --output="$P" && [ "$(rows run-jobs)" = "0 11 50 3 1 0 1 6 0 1 0 1 3 0" ] &&
		tr -d ' \n\t' <"$P" | grep -q '"shapes":\[\[6,3,1,1\],\[4,2,1,1\]\]' && case $(rows workload-jobs) in *' 2 '*' 1') ;; *) rows workload-jobs; false ;; esac
}
ok "jobs that run hold the GPUs that the snapshot has, and shapes are those that jobs ask for" gpus

written() { run 0 report --dir="$S" --last=00:01:40 --output="$P" && quiet err && out "^$P: 4 jobs, "; }
ok "a page is written" written

runs() {
	# newest first: 3 runs still; 2 waits; 1 has its times from the ledger; 9 began before the time
	[ "$(rows run-jobs)" = "56 40 0 1 4 1 2 0 0 113 60 0 1 0 2 0 2 99 0 1 6 1 0" ] || rows run-jobs | grep .x
}
ok "runs are where and when they were, also those that began before" runs

whose() { [ "$(key users | grep -o '[a-z]*' | sort | tr '\n' ' ')" = "ann bob cat dan " ]; }
ok "users are those of ledger and snapshot" whose

# reason WORD JOB-SECONDS
reason() { key "$1" | tr -d '[]' | tr ',' '\n' | awk -v want="$2" '{ sum += $1 * 100 / 480 } END { exit sum < want - .01 || sum > want + .01 }'; }
reasons() { reason resources 150 && reason priority 40 && reason policy 0; }
ok "how long jobs waited for what" reasons

says() { grep -q "not drawn.*: 1\. " "$P" && grep -q 'fcfs; before: easy' "$P" && grep -q '"command": "schedlua report --dir=' "$P"; }
ok "it says what is left out, who decided, and what made it" says

same() { cp "$P" "$T/first" && written && cmp "$P" "$T/first"; }
ok "same input, same bytes" same

short() {
	run 0 report --dir="$S" --last=7d --output="$P" && grep -q 'does not go back farther' "$P" &&
		[ "$(key from_s)" -le $((END - 200)) ] && [ "$(key from_s)" -ge $((END - 1500)) ]
}
ok "a time of which the journal knows nothing is left out" short

alone() {
	mkdir "$T/alone" && cp "$S/last.snap" "$S/decisions.jsonl" "$T/alone" && run 0 report --dir="$T/alone" --output="$P" &&
		grep -q 'There is no ledger' "$P" && grep -q 'nobody knows when they ended: 2\.' "$P"
}
ok "without a ledger it says so" alone

# shadowed SECONDS-AGO : a page beside a book of shadow mode that ended then
shadowed() {
	printf '{ "now": %s, "begin": { "stock": "backfill" }, "ran": [{ "job": 99, "user": "zoe", "submit": %s, "start": %s }] }\n' \
		$((END - $1)) $((END - $1 - 20)) $((END - $1 - 10)) >"$T/shadow/shadow.jsonl"
	run 0 report --dir="$T/shadow" --last=00:01:40 --output="$P"
}
over() {
	mkdir "$T/shadow" && cp "$S/last.snap" "$S/decisions.jsonl" "$T/shadow" && shadowed 50 && grep -q 'class="shadow"' "$P" &&
		shadowed 500 && ! grep -q 'class="shadow"' "$P"
}
ok "a shadow mode that was over before the time is not shown" over

newer() {
	mkdir "$T/newer" && cp "$S/last.snap" "$S/decisions.jsonl" "$T/newer" && sed -i '$d' "$T/newer/decisions.jsonl" || return 1
	J=$T/newer
	line -10 '"started": [{ "job": 2, "partition": "a", "nodes": "n1", "cores": 4, "done": true }]'
	line -9999999999 '"gone": [{ "job": 3 }]'
	echo '{ "now": -9223372036854775807, "gone": [{ "job": 3 }] }' >>"$J/decisions.jsonl"
	sed -i 's/"now": 1179/"now": 99991179/' "$J/decisions.jsonl"
	run 0 report --dir="$T/newer" --last=00:00:30 --output="$P" && out ' 2 jobs, ' && [ "$(rows run-jobs)" = "311 0 0 1 0 1 0 56 50 0 1 4 1 2 0" ]
}
ok "the time ends with the newest line, unless that cannot be" newer

# Two tasks of an array, one of which was requeued and ran again.
array() {
	mkdir "$T/array" && cp "$S/last.snap" "$T/array" || return 1
	J=$T/array
	line 99 '"full": true'
	for ago in 90 90 20; do
		line $ago '"started": [{ "job": 20, "partition": "b", "nodes": "n3", "node_count": 1, "cores": 2, "done": true }]'
	done
	{
		head -n 1 "$T/sacct.txt"
		for run in "20|$(at 89)|$(at 50)|39" "21|$(at 88)|$(at 60)|28" "20|$(at 19)|$(at 9)|10"; do
			echo "$run" | sed 's/|/|fay|x|b|/; s/$/|2|1|cpu=2,node=1|COMPLETED/'
		done
	} >"$T/array.txt"
	run 0 ledger create --dir="$J" && run 0 ledger import --quiet --dir="$J" "$T/array.txt" &&
		run 0 report --dir="$T/array" --last=00:01:40 --output="$P" && out ' 3 jobs, ' && ! grep -q 'not drawn\|nobody knows' "$P" &&
		[ "$(rows run-jobs)" = "2 10 0 1 4 1 2 0 2 39 0 1 4 1 2 0 3 28 0 1 4 1 2 2" ]
}
ok "tasks of an array, and jobs that ran again, have runs of their own" array

planned() {
	mkdir "$T/planned" && cp "$S/last.snap" "$T/planned" || return 1
	J=$T/planned
	line 60 '"full": true, "reserved": [{ "job": 2, "partition": "a", "start_time": '$((END + 50))', "nodes": "n[1-2]", "node_count": 2, "cores": 8 }]'
	line 40 '"started": [{ "job": 3, "partition": "b", "nodes": "n3", "cores": 2, "done": true }]'
	run 0 report --dir="$T/planned" --last=00:01:40 --output="$P" &&
		[ "$(key planned | tr -d ' ')" = "[[0,$((END - 40)),$((END + 100))]" ] && grep -q "$((END + 50)), *$((END + 150))" "$P" &&
		grep -q '"name": "night", "start_s": '"$((END + 60))"', "end_s": '"$((END + 900))"', "nodes": \[1, 3\]' "$P"
}
ok "until when jobs may run, and where those that wait are to start" planned

# The workload and its runs, without the command line
data() { sed -n '/class="workload"/,$p' "$P" | sed 's/"command": "[^"]*"//'; }
own() {
	run 0 report --dir="$S" --last=00:01:40 --user=ann --output="$P" && quiet err && out ': 1 jobs, ' && grep -q '<title>home, jobs of ann, ' "$P" &&
		! data | grep -qE '"(bob|cat|dan|eve|n3|n4|b|night)"' && data | grep -q '"n1"' &&
		reason resources 10 && reason priority 0 && ! grep -q 'not drawn' "$P"
}
ok "a page for one user has only that user's jobs, nodes, partitions and reasons" own

nobody() {
	run 1 report --dir="$S" --last=00:01:40 --user=zoe --output="$T/zoe.html" && err 'user zoe has no job' && [ ! -e "$T/zoe.html" ] &&
		run 2 report --dir="$S" --user= && err 'expected NAME'
}
ok "a user without jobs is an error" nobody

left() {
	mkdir "$T/left" && cp "$S/last.snap" "$T/left" || return 1
	J=$T/left
	line 98 '"pending": [{ "job": 6, "why": "policy" }]'
	line 80 '"full": true, "pending": [{ "job": 2, "why": "priority" }]'
	run 0 report --dir="$T/left" --last=00:01:40 --output="$P" &&
		out ' 1 jobs, '
}
ok "who is not in a line that names all has left the queue" left

wrong() {
	run 2 report --last=yesterday && err 'expected a time such as' && run 2 report --last=0d && run 1 report --dir="$T" --output="$P" &&
		err 'last.snap' && run 1 report --dir="$S" --ledger="$T/none" --output="$P" && err "$T/none" &&
		run 1 report --dir="$S" --output="$T/none/x.html" && err "none/x.html"
}
ok "what cannot be read or written is told" wrong

quoted() {
	run 0 report "--dir=$S" --last=1h "--output=$T/it's here.html" && P="$T/it's here.html" && grep -q "'--output=$T/it'.*here.html'\"" "$P"
}
ok "the command line is told as a shell takes it" quoted

echo "1..$n"
