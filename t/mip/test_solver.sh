#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What becomes of a decision when the solver does something else than to solve: a library of
# CoinMP's name (t/mip/fake_coinmp.c) stands in for it.  The policy is told, and the greedy choice
# starts.
. "${0%/*}/../tool/tool.sh"

FAKE=${FAKE_COINMP_SO:-t/mip/.libs/fake_coinmp.so}
if ! [ -f "$FAKE" ]; then
	echo "1..0 # SKIP no CoinMP"
	exit 0
fi
mkdir "$T/lib"
cp "$FAKE" "$T/lib/libCoinMP.so.1"

# Nine jobs that compete for five nodes: more than the greedy choice needs a solver.
cat >"$T/nine.json" <<'EOF'
{
  "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "gres_kinds": [ { "key": "gpu", "name": "gpu" } ],
  "nodes": [
    { "name": "n1", "cores": 8, "gres": [ { "kind": "gpu", "count": 2 } ] },
    { "name": "n2", "cores": 8, "gres": [ { "kind": "gpu", "count": 2 } ] },
    { "name": "n3", "cores": 8, "gres": [ { "kind": "gpu", "count": 2 } ] },
    { "name": "n4", "cores": 8 }, { "name": "n5", "cores": 8 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-5]" } ],
  "jobs": [
    { "id": 1, "partition": "p", "min_nodes": 2, "max_nodes": 2, "num_tasks": 10, "min_cpus": 10, "submit_time": 1793620800, "time_limit": 600, "priority": 99, "gres": [ { "name": "gpu", "count": 1, "per": "node" } ] },
    { "id": 2, "partition": "p", "min_nodes": 3, "max_nodes": 3, "num_tasks": 15, "min_cpus": 15, "submit_time": 1793620800, "time_limit": 1200, "priority": 98 },
    { "id": 3, "partition": "p", "min_nodes": 1, "max_nodes": 1, "num_tasks": 7, "min_cpus": 7, "submit_time": 1793620800, "time_limit": 1800, "priority": 97, "gres": [ { "name": "gpu", "count": 2, "per": "node" } ] },
    { "id": 4, "partition": "p", "min_nodes": 2, "max_nodes": 2, "num_tasks": 12, "min_cpus": 12, "submit_time": 1793620800, "time_limit": 2400, "priority": 96 },
    { "id": 5, "partition": "p", "min_nodes": 1, "max_nodes": 1, "num_tasks": 5, "min_cpus": 5, "submit_time": 1793620800, "time_limit": 3000, "priority": 95, "gres": [ { "name": "gpu", "count": 1, "per": "node" } ] },
    { "id": 6, "partition": "p", "min_nodes": 3, "max_nodes": 3, "num_tasks": 18, "min_cpus": 18, "submit_time": 1793620800, "time_limit": 3600, "priority": 94, "gres": [ { "name": "gpu", "count": 1, "per": "node" } ] },
    { "id": 7, "partition": "p", "min_nodes": 2, "max_nodes": 2, "num_tasks": 14, "min_cpus": 14, "submit_time": 1793620800, "time_limit": 4200, "priority": 93, "gres": [ { "name": "gpu", "count": 2, "per": "node" } ] },
    { "id": 8, "partition": "p", "min_nodes": 1, "max_nodes": 1, "num_tasks": 6, "min_cpus": 6, "submit_time": 1793620800, "time_limit": 4800, "priority": 92 },
    { "id": 9, "partition": "p", "min_nodes": 4, "max_nodes": 4, "num_tasks": 20, "min_cpus": 20, "submit_time": 1793620800, "time_limit": 5400, "priority": 91 } ],
  "queue": [ { "job": 1, "partition": "p" }, { "job": 2, "partition": "p" }, { "job": 3, "partition": "p" }, { "job": 4, "partition": "p" }, { "job": 5, "partition": "p" }, { "job": 6, "partition": "p" }, { "job": 7, "partition": "p" }, { "job": 8, "partition": "p" }, { "job": 9, "partition": "p" } ] }
EOF
cat >"$T/ask.lua" <<'EOF'
local mip = require "sched.mip"
return { api = 1, name = "ask", options = { seconds = { default = 60.0, doc = "for the solver" } }, decide = function(_, _, opt)
	local m = mip.model { sense = "max" }
	local x, y = m:var { ub = 1, integer = true, obj = 2 }, m:var { ub = 1, integer = true, obj = 3 }
	m:add { terms = { x, 1, y, 1 }, hi = 1.5, name = "cap" }
	m:start { 1, 0 }
	local r = m:solve { backend = "coinmp", time_limit = opt.seconds, memory_mb = 200 }
	slurm.log_info("says %s: %s; has %s of %s", r.status, r.message, r.objective, r.source)
end }
EOF

# Nothing here ends by the clock but the solver that never ends by itself: that one has little time, all
# others have more than they need on the slowest machine.
plan() { LD_LIBRARY_PATH=$T/lib FAKE_COINMP=$mode run 0 plan --budget=600 "$@" "$T/nine.json"; }
starts() { sed -n '/^start now/,/^reserved/p' "$T/out"; }
fault() { # MODE MESSAGE
	mode=$1 seconds=60
	[ "$mode" != sleeps ] || seconds=0.1
	plan --policy=ip_window,backend=coinmp,time_limit=$seconds && out "check: the plan is feasible" &&
		starts | cmp - "$T/greedy" &&
		plan --policy=auction,time_limit=$seconds && out "start now: [3-9]" && out "check: the plan is feasible" &&
		plan --policy="$T/ask.lua,seconds=$seconds" && out "says feasible: $2" && out "has 2.0 of start"
}

greedy() {
	mode=none && plan --policy=ip_window,backend=none && starts >"$T/greedy" && grep -q "start now: 4" "$T/greedy"
}
ok "without a solver the greedy choice starts" greedy
ok "a solver that crashes" fault crash "the solver was ended by signal 11"
ok "a solver that is killed" fault killed "the solver was ended by signal 9"
ok "a solver that leaves" fault leaves "the solver ended with status 3"
ok "a solver that is out of memory" fault eats "the solver was ended by signal 6"
ok "a solver that sleeps" fault sleeps "the solver was ended at its time limit"
ok "a solver with a wrong answer" fault wrong "coinmp gave a wrong answer"
ok "a solver that answers with no numbers" fault nonsense "coinmp gave a wrong answer"
ok "a solver that finds everything infeasible" fault infeasible ""
echo "1..$n"
