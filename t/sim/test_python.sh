#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples/python: sched_core from Python, by lines of JSON.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
LUA=${LUA:-lua5.4}
if ! command -v python3 >/dev/null || ! command -v "$LUA" >/dev/null || [ ! -f .libs/sched_core.so ]; then
	echo "1..0 # SKIP no python3, no lua5.4, or no module"
	exit
fi
LUA_PATH="$top/lua/lib/?.lua;;" LUA_CPATH="$PWD/.libs/?.so;;"
export LUA LUA_PATH LUA_CPATH

example() {
	python3 "$top/examples/python/sched_core.py" >"$T/out" 2>"$T/err" && quiet err && out '^started \[3\] reserved \[(2, 3600)\]$' &&
		out "^refused: mine.lua:1: policy 'mine' has none of " || return 1
	for policy in fcfs easy; do	# what schedlua sim prints of the same jobs
		run 0 sim --quiet --json --policy=$policy --procs=64 --seed=1 synthetic:jobs=300 && cp "$T/out" "$T/sim.json" &&
			python3 "$top/examples/python/sched_core.py" >"$T/out" &&
			python3 - "$T/sim.json" "$T/out" $policy <<-'EOP' || return 1
			import json, sys
			want = json.load(open(sys.argv[1]))
			line = next(line for line in open(sys.argv[2]) if line.split()[0] == sys.argv[3])
			if "mean wait %6.0f s, bounded slowdown %6.2f," % (want["wait_mean_s"], want["bsld_mean"]) not in line:
			    sys.exit("%s: expected a mean wait of %s, got %s" % (sys.argv[3], want["wait_mean_s"], line))
		EOP
	done
}
ok "the example prints what schedlua sim does of the same jobs" example

asked() { printf '%s\n' "$@" | "$LUA" "$top/examples/python/core.lua" >"$T/out" 2>"$T/err"; }

requests() {
	asked '{"call":"check","policy":"easy"}' 'nonsense' '{"call":"check"' '{"call":"fly"}' '[1,2' '{"a":"\q"}' '"x' '' \
		'{"call":"decide","policy":"no_such_policy","cluster":{"nodes":"1x1c"}}' \
		'{"call":"decide","policy":"easy","cluster":{"nodes":"1x1c","pending":[{"id":1,"name":"\u00e4\ud83d\ude00 \"q\""}]}}' &&
		quiet err && [ "$(wc -l <"$T/out")" = 10 ] && sed -n 1p "$T/out" | grep -q '^{"ok":' &&
		[ "$(grep -c '^{"error":"' "$T/out")" = 8 ] && sed -n 10p "$T/out" | grep -q '"job":1[,}]' && out 'byte 1 of the request: expected a value'
}
ok "a request that is none is an error with its place, and the next one is answered" requests

nested() {
	awk 'BEGIN { for (i = 0; i < 100000; i++) printf "["; print "" }' | "$LUA" "$top/examples/python/core.lua" >"$T/out" 2>"$T/err" &&
		out '^{"error":"byte 102 of the request: expected less nesting"}$'
}
ok "a request that is nested without end is refused" nested

# What Python reads is what it wrote: numbers, texts, lists, tables, as a policy's log says them again.
roundtrip() {
	python3 - "$top/examples/python" <<-'EOP'
	import random, sys
	sys.path.insert(0, sys.argv[1])
	from sched_core import Core, source
	random.seed(4)
	policy = source("""return { api = 1, name = "echo", doc = "logs the names", decide = function(cluster, plan)
	  for job in cluster:queue() do print(job.name) end end }""", "echo")
	letters = "aZ09 \"\\/{}[]:,'\u00e9\u4e2d\U0001f600"
	with Core() as core:
	    for _ in range(40):
	        names = ["".join(random.choice(letters) for _ in range(random.randint(1, 30))) for _ in range(random.randint(1, 6))]
	        plan = core.decide(policy, {"nodes": "2x4c", "pending": [{"id": i + 1, "name": n} for i, n in enumerate(names)]})
	        if plan["errors"] or plan["log"] != ["info: " + n for n in names]:
	            sys.exit("%r came back as %r %r" % (names, plan["log"], plan["errors"]))
	EOP
}
ok "texts come back as they were sent" roundtrip

echo "1..$n"
