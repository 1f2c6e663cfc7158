#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua sim --step: an agent decides, one action a line.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"
top=${srcdir:-.}
export SCHEDLUA

# What an agent answers, line by line, whatever it is told: answers OPTION... <answers
answers() { run "$1" sim --step --machine=4x8c "$T/two.swf"; }
cat >"$T/two.swf" <<'EOS'
; UnixStartTime: 1000
1 0 -1 100 32 -1 -1 32 100 -1 1 1 1 -1 -1 -1 -1 -1
2 0 -1 50 16 -1 -1 16 60 -1 1 2 1 -1 -1 -1 -1 -1
EOS

by_hand() {
	printf '%s\n' '{"start": 1}' '{"start": 2}' '{"reserve": 2}' '{"done": true}' '{"start":2}' '{"done":true}' >"$T/in"
	answers 0 <"$T/in" && quiet err && [ "$(wc -l <"$T/out")" = 7 ] && cp "$T/out" "$T/lines.jsonl" || return 1
	sed -n 1p "$T/out" | grep -q '^{"type": "observation", "decision": 1, "now": 0, "cores": 32, "nodes": 4, "gpus": 0, "free_cores": 32, "idle_nodes": 4, "head": null, "last": null, "queue": \[{"job": 1, "submit": 0, "cores": 32, .*"walltime": 100, .*"reserved": null}, {"job": 2, .*\], "running": \[\]}$' &&
		sed -n 2p "$T/out" | grep -q '"free_cores": 0, .*"last": {"action": "start", "job": 1, "taken": true, "why": ""}, "queue": \[{"job": 2,' &&
		sed -n 3p "$T/out" | grep -q '"last": {"action": "start", "job": 2, "taken": false, "why": "[^"]' &&
		sed -n 4p "$T/out" | grep -q '"head": 2, .*"taken": true.*"reserved": 100}' &&
		sed -n 5p "$T/out" | grep -q '"decision": 5, "now": 100, ' &&
		sed -n 7p "$T/out" | grep -q '^{"type": "end", "decisions": 6, "jobs": 2, .*"makespan_s": 150'
}
ok "an agent is shown the queue, told what its action did, and given the figures at the end" by_hand

refused() { # ANSWER WHAT: at the second answer
	printf '%s\n' '{"start": 1}' "$1" >"$T/in"
	answers 1 <"$T/in" && err "^schedlua: at 0 s: step: answer 2: .*: $2" && ! out '"end"'
}
nonsense() {
	for answer in '{"stop": 1}' '{}' '[]' '17' '{"start": 2, "done": true}' '{"done": false}'; do
		refused "$answer" 'expected {"start": JOB}, {"backfill": JOB}, {"reserve": JOB} or {"done": true}' || return 1
	done
	for answer in '{"start": 1}' '{"start": 3}' '{"reserve": "2"}' '{"backfill": 2.5}' '{"start": -1}' '{"start": 1e99}'; do
		refused "$answer" "expected the id of a job of the observation's queue" || return 1
	done
	for answer in 'start 2' '' '{"start": 2' '{"start": 2, "start": 2}' 'ÿ'; do
		refused "$answer" 'no JSON: expected an action' || return 1
	done
	printf '{"start": 1}\n{"done": true}\000x\n' >"$T/in"
	answers 1 <"$T/in" && err '^schedlua: at 0 s: step: answer 2: .*: no JSON: expected an action' && ! out '"end"'
}
ok "an action that means nothing is refused with its place and what was expected" nonsense

endless() {
	run 1 sim --step --machine=4x8c "$T/two.swf" </dev/zero && err 'answer 1: more than 4095 bytes: expected an action on one line' || return 1
	yes '{"reserve": 2}' | head -n 1000 >"$T/in"
	answers 1 <"$T/in" && err 'too many actions at this instant that start nothing: expected {"done": true}'
}
ok "an agent that never ends its line, or its turn, is ended" endless

dead() {
	printf '%s\n' '{"start": 1}' >"$T/in"
	answers 1 <"$T/in" && err 'the agent ended before answer 2: expected an action' || return 1
	# it reads nothing
	{ yes '{"done": true}' 2>/dev/null | "$SCHEDLUA" sim --step --machine=4x8c synthetic:jobs=2000 2>"$T/err"; echo $? >"$T/status"; } | true
	[ "$(cat "$T/status")" = 1 ] && err 'the agent does not read: Broken pipe'
}
ok "an agent that dies ends the simulation, with the place" dead

hangs() {
	mkfifo "$T/fifo" && exec 9<>"$T/fifo"	# nobody writes to it, and it does not end
	run 1 sim --step --timeout=1 --machine=4x8c "$T/two.swf" <"$T/fifo" && err 'no answer to observation 1 within 1 s: expected an action'
	failed=$?
	exec 9>&-
	return $failed
}
ok "an agent that hangs is not waited for longer than --timeout" hangs

never_reads() {	# what it is told fills the pipe; it answers all the same
	exec 9<>"$T/fifo"
	yes '{"done": true}' 2>"$T/yes" | timeout -k 5 600 "$SCHEDLUA" sim --step --timeout=1 --procs=64 synthetic:jobs=2000 >&9 2>"$T/err"
	status=$?
	exec 9>&-
	[ $status = 1 ] && err 'step: the agent has not read line [0-9]* within 1 s$'
}
ok "an agent that never reads is not waited for longer than --timeout" never_reads

stopped() {	# while the first answer is waited for
	mkfifo "$T/lines" && exec 9<>"$T/fifo" 8<>"$T/lines"
	"$SCHEDLUA" sim --step --machine=4x8c "$T/two.swf" <&9 >&8 2>"$T/err" &
	line=$(timeout 300 head -n 1 <&8)
	kill -INT $!
	end=$(timeout 300 head -n 1 <&8) || kill -9 $!
	wait $!
	status=$?
	exec 9>&- 8>&-
	[ $status = 1 ] && err 'stopped: these are the figures of 0 of 2 jobs$' || return 1
	echo "$line" | grep -q '"decision": 1,' && echo "$end" | grep -q '^{"type": "end", "decisions": 0, '
}
ok "Ctrl-C ends a simulation whose agent thinks, with the figures so far" stopped

never() {
	run 1 sim --step --machine=4x8c "$T/two.swf" <<-'EOA'
		{"done": true}
		{"done": true}
		{"done": true}
	EOA
	err 'nothing runs, nothing arrives, and the'
}
ok "an agent that starts nothing is told so" never

usage() { run 2 sim --step --json esp && run 2 sim --step --site=x esp && run 0 sim --schema && out '"\$schema"'; }
ok "--schema needs no workload, and --step prints nothing else" usage

if ! command -v python3 >/dev/null; then
	echo "ok $((n + 1)) # SKIP no python3"
	echo "1..$((n + 1))"
	exit
fi

# Its output is open elsewhere, too, as a terminal is: whoever reads there, and has not asked for that, is never told EAGAIN.
shared() {
	cat >"$T/shared.py" <<-'EOP'
		import fcntl, os, subprocess, sys, threading
		fd = os.open(sys.argv[1], os.O_RDWR)
		answers = subprocess.Popen(["yes", '{"done": true}'], stdout=subprocess.PIPE)
		agent = subprocess.Popen(sys.argv[2:], stdin=answers.stdout, stdout=fd)
		def read():
		    while os.read(fd, 65536):   # fails with EAGAIN
		        pass
		def fail(failure):
		    print(failure.exc_value)
		    os._exit(1)
		threading.excepthook = fail
		threading.Thread(target=read, daemon=True).start()
		while agent.poll() is None:
		    if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK:
		        print("the open file became O_NONBLOCK")
		        os._exit(1)
		os._exit(0)
	EOP
	timeout -k 5 600 python3 "$T/shared.py" "$T/lines" "$SCHEDLUA" sim --step --procs=64 synthetic:jobs=500 2>"$T/err" &&
		err 'nothing runs, nothing arrives, and the'
}
ok "whoever else has the agent's files open never finds them non-blocking" shared

same_as() { # POLICY OPTION...
	policy=$1
	shift
	run 0 sim --quiet --policy="$policy" --jobs="$T/policy.csv" "$@" &&
		python3 "$top/examples/agent/agent.py" "$policy" --jobs="$T/agent.csv" "$@" >"$T/out" 2>"$T/err" &&
		cmp "$T/policy.csv" "$T/agent.csv" && out '"bsld_mean": '
}
# 60 jobs of 1 to 29 cores on four nodes, which come faster than they end.
awk 'BEGIN { print "; UnixStartTime: 1000"; for (i = 1; i <= 60; i++) { t += i * 37 % 40; n = 1 + i * i * 7 % 29; r = 20 + i * 61 % 400
	print i, t, -1, r, n, -1, -1, n, r + i * 13 % 90, -1, 1, i % 5, 1, -1, -1, -1, -1, -1 } }' >"$T/many.swf"
agent() {
	same_as easy --machine=4x8c "$T/many.swf" && same_as fcfs --machine=4x8c "$T/many.swf" &&
		same_as easy --procs=32 "$T/many.swf" && same_as fcfs --procs=32 synthetic:jobs=60 &&
		same_as easy --machine=4x8c --interval=60 --latency=10 --check "$T/many.swf"
}
ok "an agent that answers as fcfs and easy would makes their schedules, byte for byte" agent

# a learned agent brings its own loop
importable() {
	PYTHONPATH=$top/examples/agent PYTHONDONTWRITEBYTECODE=1 python3 -c 'from agent import Simulation' >"$T/out" 2>"$T/err" &&
		[ ! -s "$T/out" ] && [ ! -s "$T/err" ]
}
ok "the environment is a module for agents of one's own" importable

# All lines that went to and fro.
schema() {
	run 0 sim --schema && cp "$T/out" "$T/schema.json" && cp "$T/in" "$T/in.old" &&
		printf '%s\n' '{"start": 1}' '{"done": true}' '{"backfill": 7}' '{"reserve": 7}' >"$T/actions.jsonl" &&
		printf '%s\n' '{"start": "1"}' >"$T/bad.jsonl" && sed 's/"now": 0, //' "$T/lines.jsonl" | head -n 1 >"$T/bad2.jsonl" &&
		python3 "$top/t/json_schema.py" "$T/schema.json" "$T/lines.jsonl" "$T/actions.jsonl" >"$T/out" 2>"$T/err" &&
		! python3 "$top/t/json_schema.py" "$T/schema.json" "$T/bad.jsonl" >"$T/out" 2>&1 &&
		! python3 "$top/t/json_schema.py" "$T/schema.json" "$T/bad2.jsonl" >"$T/out" 2>&1 && out 'now: missing'
}
ok "lines are as the schema says, and it refuses others" schema

echo "1..$n"
