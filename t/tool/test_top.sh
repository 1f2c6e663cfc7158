#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua top: printed, and drawn on terminals of several sizes (by script(1)).
. "${srcdir:-.}/t/tool/tool.sh"

S=$T/state
mkdir "$S"
now=$(date +%s)
ESC=$(printf '\033')

# A machine of nodes n1 to n40 in two partitions, some of them in use, one down.
snapshot() {
	printf '{ "meta": { "now": %s, "cluster": "home" }, "gres_kinds": [{ "key": "gpu", "name": "gpu" }], "nodes": [' "$now"
	i=0
	while [ $((i += 1)) -le 40 ]; do
		[ $i = 1 ] || printf ', '
		[ $i = 3 ] && printf '{ "name": "n3", "cores": 8, "memory": 1000, "state": ["DOWN"] }' ||
			printf '{ "name": "n%s", "cores": 8, "memory": 1000, "gres": [{ "kind": "gpu", "count": 1 }] }' $i
	done
	printf '], "partitions": [{ "name": "long", "nodes": "n[1-30]" }, { "name": "short", "nodes": "n[31-40]" }], "jobs": ['
	printf '{ "id": 1, "user": "ann", "state": "RUNNING", "partition": "long", "start_time": %s, "end_time": %s, "time_limit": 7200,
		"alloc": [{ "node": "n1", "cores": 8 }, { "node": "n2", "cores": 4, "gres": [{ "kind": "gpu", "count": 1 }] }] },' \
		$((now - 600)) $((now + 6600))
	printf '{ "id": 7, "user": "bob", "partition": "long", "submit_time": %s, "time_limit": 60, "min_nodes": 12, "min_cpus": 96 },
		{ "id": 9, "user": "eve", "partition": "short", "submit_time": %s, "start_time": %s, "time_limit": 60 } ],
		"queue": [{ "job": 7, "partition": "long", "priority": 1 }] }' $((now - 7500)) $((now - 70)) $((now + 7200))
}

# The journal: the first line names all; later ones what is new.
line() { printf "{ \"sequence\": $1, \"now\": %s, \"policy\": \"$2\", $3 }\n" $((now - 100 + $1)) >>"$S/decisions.jsonl"; }
begin_journal() {
	rm -f "$S/decisions.jsonl"
	line 1 easy '"full": true, "pending": [{ "job": 7, "why": "resources" }, { "job": 8, "why": "priority", "partition": "short" },
		{ "job": 9, "why": "priority", "partition": "short" }]'
	line 2 easy '"started": [{ "job": 5, "nodes": "n[9-12]", "cores": 32, "done": true },
		{ "job": 4, "nodes": "n1", "cores": 1, "done": true }],
		"reserved": [{ "job": 7, "start_time": '$((now + 3600))', "nodes": "n4" }],
		"pending": [{ "job": 7, "why": "resources", "text": "wants 12 nodes \\u001b[2Jand more" }]'
	line 3 shortest '"actions": [{ "job": 6, "verb": "cancel", "text": "over its \\u001b[31mquota", "done": true }], "gone": [{ "job": 6 }]'
}

# status KEYS... : of a slurmctld that is not asked for (pid 0)
status() {
	printf '{ "source": "site", "policy": "easy", "pid": 0, "running": 1, "queued": 2, "written": %s, "last_cycle": %s' "$now" "$now" >"$S/status.json"
	for key in "$@"; do printf ', %s' "$key"; done >>"$S/status.json"
	echo ' }' >>"$S/status.json"
}

snapshot >"$T/now.json"
"$SCHEDLUA" show --output="$S/last.snap" "$T/now.json" || exit 1
begin_journal
# a line of the journal is a line
awk '/^\{/ { if (s) print s; s = "" } { s = s $0 } END { print s }' "$S/decisions.jsonl" >"$T/j" && mv "$T/j" "$S/decisions.jsonl"
status

printed() {
	run 0 top --once --dir "$S" && quiet err && out 'home  decided by easy (site)' && out ' OK  *1 running, 2 queued' &&
		out 'long  *12/240   5%  *1/29  *[^ ]*x' && out 'short  *0/80   0%  *0/10' &&
		out '^ *7 bob *long *12  *96  *2h0[5-9]m .*wants 12 nodes' && out '^ *8 *short  *- .* priority$' &&
		out 'job 5 started on n\[9-12\] (32 cores)$' && out 'job 4 started on n1 (1 core)$' && out 'shortest decides from here on; before: easy$' && out 'job 6: cancel: over its'
}
ok "top prints bars, queue and what happened where stdout is no terminal" printed

gpus() { out '^GPUS  *1/39  *3%  38 free on 38 nodes, at most 1 on one with a free core$' && ! out BLOCKS >/dev/null; }
ok "top says how far the free GPUs lie together, and nothing of blocks where there are none" gpus

first() { [ "$(grep -E '^ *[789] ' "$T/out" | tr -s ' ' | cut -d' ' -f2 | tr '\n' ' ')" = "7 9 8 " ] && out '^ *9 eve.*:[0-9][0-9]  priority$'; }
ok "who is expected to start first stands first, also where that is but a forecast" first

plain() { ! grep -q "$ESC" "$T/out"; }
ok "what users wrote stays plain text" plain

# Two racks; all GPUs of a node that is up are in use, of two types
blocks() {
	mkdir -p "$T/racks" && cp "$S/status.json" "$T/racks" && printf '{ "meta": { "now": %s }, "gres_kinds": [{ "key": "gpu:a", "name": "gpu", "type": "a" },
		{ "key": "gpu:b", "name": "gpu", "type": "b" }], "nodes": [
		{ "name": "n1", "cores": 8, "topology": "r.x", "gres": [{ "kind": "gpu:a", "count": 2 }] }, { "name": "n2", "cores": 8, "topology": "r.y" },
		{ "name": "n3", "cores": 8, "topology": "r.x", "gres": [{ "kind": "gpu:b", "count": 4 }] }], "partitions": [{ "name": "p", "nodes": "n[1-3]" }],
		"jobs": [{ "id": 1, "state": "RUNNING", "partition": "p", "alloc": [{ "node": "n1", "cores": 4, "gres": [{ "kind": "gpu:a", "count": 2 }] },
		{ "node": "n3", "cores": 4, "gres": [{ "kind": "gpu:b", "count": 3 }] }] },
		{ "id": 2, "partition": "p", "gres": [{ "name": "gpu", "count": 2, "per": "node" }] }], "queue": [{ "job": 2, "partition": "p" }] }' "$now" >"$T/racks.json"
	"$SCHEDLUA" show --output="$T/racks/last.snap" "$T/racks.json" && LC_ALL=C run 0 top --once --dir "$T/racks" &&
		out '^GPUS  *in all  *5/6  *83%  1 free on 1 node$' && out '^  *a  *2/2  *100%  none free$' && out '^  *b  *3/4  *75%  1 free on 1 node$' &&
		out '^  *1 of the free ones is on nodes where the one job that waits for GPUs does not fit$' && out '^BLOCKS 1 of 2 free  8\.$'
}
ok "top shows GPUs by type, those that are of no use, and blocks" blocks

refusal=$(printf 'word%.0s ' $(seq 120))
refused() {
	status '"source": "last good"' "\"refusal\": \"sched.lua:9: $refusal end\"" && run 0 top --dir "$S" && out 'WARNING' &&
		out "sched.lua:9: .*word *end$" && status
}
ok "a refusal is printed to its end" refused

nothing() { run 1 top --dir "$T" && err "status.json: No such file" && run 2 top x && run 2 top --interval=0 --dir "$S"; }
ok "top says where there is nothing to show" nothing

no_parts() {
	mkdir -p "$T/bare" && cp "$S/status.json" "$T/bare" && run 0 top --dir "$T/bare" && out "no journal there" && out "no nodes: .*/last.snap: No such file"
	echo '{ "sequence": 1, "now": 5, "pend' >"$T/bare/decisions.jsonl"
	echo torn >"$T/bare/last.snap" && run 0 top --dir "$T/bare" && out "QUEUE  0 wait"
}
ok "top goes on where a file is missing or torn" no_parts

# many N : so many jobs wait
many() {
	mkdir -p "$T/many" && cp "$S/status.json" "$T/many"
	awk -v n="$1" 'BEGIN { printf "{ \"sequence\": 1, \"now\": 5, \"full\": true, \"pending\": ["
		for (i = 1; i <= n; i++) printf "%s{ \"job\": %d, \"why\": \"resources\" }", (i > 1 ? ", " : ""), i
		print "] }" }' >"$T/many/decisions.jsonl"
	run 0 top --dir "$T/many" && out "QUEUE  $1 wait" && [ "$(wc -l <"$T/out")" -lt 70 ]
}
ok "a queue of 100,000 is one page" many 100000

filtered() {
	run 0 top --dir "$S" --user=bob && out 'only user bob' && out 'QUEUE  1 waits' && out '^ *7 bob' && ! out '^ *9 eve' >/dev/null &&
		run 0 top --dir "$S" --partition short && out 'QUEUE  2 wait$' && out '^ *8 *short' && out '^ *9 eve' && ! out '^ *7 bob' >/dev/null
}
ok "only the jobs of a user or of a partition are shown where that is asked for" filtered

running() {
	run 0 top --dir "$S" --running && out '^RUNNING  1 job; first those that end first$' &&
		out '^ *1 ann *long *2 *12 *1 *1[0-9]m..s  *\(..:..:..\|[A-Z][a-z][a-z] ..:..\)' && ! out QUEUE >/dev/null
}
ok "jobs that run are shown with their ends, cores and GPUs" running

# A cluster whose last.snap is a minute old, all nodes down; a schedlua-capture has them as they are.
mkdir "$T/bin" "$T/conf" && cp "$SCHEDLUA" "$T/bin/schedlua" && mkdir "$T/conf/schedlua" && cp "$S"/*.json* "$T/conf/schedlua"
echo "StateSaveLocation=$T/conf" >"$T/slurm.conf"
old() {
	now=$(date +%s)
	snapshot >"$T/now.json"
	sed "s/\"now\": [0-9]*/\"now\": $((now - 60))/; s/\"memory\": 1000, \"gres\"/\"state\": [\"DOWN\"], &/g" "$T/now.json" >"$T/old.json"
	"$SCHEDLUA" show --output="$T/conf/schedlua/last.snap" "$T/old.json"
}
capturing() { # COMMAND
	printf '#!/bin/sh\n%s\n' "$1" >"$T/bin/schedlua-capture" && chmod +x "$T/bin/schedlua-capture"
}
on_cluster() { SLURM_CONF="$T/slurm.conf" SCHEDLUA_PATH="$(cd "${srcdir:-.}/lua" && pwd)" "$T/bin/schedlua" top "$@" >"$T/out" 2>"$T/err"; }

fresh() {
	old && capturing "cat '$T/now.json'" && on_cluster --once && out 'long  *12/240 .*[^x]' && ! out 'xxxx' >/dev/null && ! out ' ago' >/dev/null
}
ok "nodes of a minute ago do not stand beside a queue of now" fresh

not_fresh() {
	capturing 'exit 1' && on_cluster --once && out '^NODES at .*, 00:0[1-9]:[0-9]* ago: slurmctld does not answer' && out 'xxxx'
}
ok "nodes that cannot be had anew are said to be old" not_fresh

# ---------------------------------------------------------------- on a terminal

if ! command -v script >/dev/null || ! ldd "$SCHEDLUA" 2>/dev/null | grep -q ncurses; then
	echo "1..$n"
	echo "# drawing is not tested: no script(1), or built without ncurses"
	exit
fi

# draw ROWS COLUMNS OPTION... : what a terminal of that size gets, until q is pressed
draw() {
	rows=$1 columns=$2
	shift 2
	printf q | TERM=${TERMINAL-xterm-256color} LC_ALL=C.UTF-8 script -qec \
		"stty rows $rows cols $columns; exec $SCHEDLUA top --dir '$S' $*" "$T/out" >/dev/null 2>&1
}

drawn() { draw 24 80 && out "$ESC\[?1049h" && out "$ESC\[?1049l" && out 'wants 12' && out 'LAST' && ! grep -q PARTITION "$T/out"; }
ok "it is drawn on 80x24, q ends it and gives the terminal back" drawn

tamed() { ! grep -qE "$ESC\[2Jand|$ESC\[31mquota" "$T/out"; }
ok "no escape sequence of the journal reaches the terminal" tamed

wide() { draw 60 200 && out PARTITION && out 'LAST'; }
ok "on 200x60 there is room for more" wide

tiny() { draw 3 12 && draw 1 1; }
ok "a terminal may be tiny" tiny

dumb() { TERMINAL=dumb draw 24 80 && ! grep -q "$ESC" "$T/out" && out 'QUEUE  3 wait'; }
ok "a dumb terminal gets plain text" dumb

# typed KEYS OPTION... : the page when these keys have been pressed; ^L has it drawn as a whole
typed() {
	keys=$1
	shift
	printf '%b\014q' "$keys" | TERM=xterm-256color LC_ALL=C.UTF-8 script -qec \
		"stty rows 40 cols 120; exec $SCHEDLUA top --dir '$S' $*" "$T/all" >/dev/null 2>&1
	sed "s/${ESC}\[2J/\n&/g" "$T/all" | awk -v begin="${ESC}[2J" 'index($0, begin) { page = "" } { page = page $0 "\n" } END { print page }' >"$T/out"
}

keys() {
	typed '?' && out 'this help, and back' && typed r && out 'RUNNING' && out 'ENDS' && typed 'ubob\n' && out 'user bob' &&
		typed 'pshort\n' && out 'partition short' && typed j && out 'from number 2 on' && typed 'uqx\010\010\n' && ! out 'user q' >/dev/null
}
ok "keys show help, running jobs, one user or partition, and scroll" keys

q_in_a_name() { typed 'uq\n' && out 'user q' && out '0 wait'; }
ok "a q that is typed in a name does not quit" q_in_a_name

notes() {
	printf '%s\n' a b c d e f g h i j "before it" "$refusal end of the note" >"$T/notes" && draw 24 80 --notes "$T/notes" &&
		out 'end of the note' && draw 60 80 --notes "$T/notes" && out 'end of the note' && out 'before it'
}
ok "the newest notes are shown, and none is cut" notes

# wait_out PATTERN : until it is drawn, a minute at most
wait_out() {
	tries=0
	until grep -q "$1" "$T/out" 2>/dev/null; do
		[ $((tries += 1)) -lt 600 ] || return 1
		sleep 0.1
	done
}
resized() {
	rm -f "$T/out" "$T/keys" && mkfifo "$T/keys" || return 1
	TERM=xterm LC_ALL=C.UTF-8 script -qfec "tty >'$T/tty'; stty rows 24 cols 80; exec $SCHEDLUA top --dir '$S' --interval 0.5" \
		"$T/out" <"$T/keys" >/dev/null 2>&1 &
	exec 4>"$T/keys"
	wait_out LAST && stty rows 40 cols 120 <"$(cat "$T/tty")" && wait_out PARTITION &&
		mv "$S/status.json" "$S/away" && wait_out 'does slurmctld run' && mv "$S/away" "$S/status.json"
	status=$?
	printf q >&4
	exec 4>&-
	wait $! && return $status
}
ok "it is drawn anew when the terminal gets another size, and when the status goes away" resized

echo "1..$n"
