#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua willrun: when and where a job that nobody has submitted would start.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"

# 5 holds n1 until 14:00; 6 waits for both nodes of p, and 7, which was submitted before it, behind it
cat >"$T/full.json" <<'EOT'
{ "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "gres_kinds": [ { "key": "gpu:a100", "name": "gpu", "type": "a100" } ],
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 },
    { "name": "g1", "cores": 8, "gres": [ { "kind": "gpu:a100", "count": 4 } ] } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]", "flags": [ "UP", "DEFAULT" ], "max_time": 86400 },
    { "name": "q", "nodes": "g1", "max_time": 7200, "default_time": 600, "allow_accounts": "a,b" } ],
  "jobs": [
    { "id": 5, "user": "ada", "account": "a", "state": "RUNNING", "partition": "p", "start_time": 1793620000,
      "end_time": 1793628000, "time_limit": 8000, "min_cpus": 8, "alloc": [ { "node": "n1", "cores": 8 } ] },
    { "id": 6, "user": "ada", "account": "a", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600,
      "submit_time": 1793620100 },
    { "id": 7, "user": "bob", "account": "b", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600,
      "submit_time": 1793620050 } ],
  "queue": [ { "job": 6, "partition": "p", "priority": 90 }, { "job": 7, "partition": "p", "priority": 80 } ] }
EOT

# STATUS ARGUMENT... : asked of that cluster, under easy
ask() {
	status=$1
	shift
	run "$status" willrun --policy=easy --snapshot="$T/full.json" "$@"
}

willrun_now() {
	ask 0 --user=ada -n4 -t 30 && out "^starts now in partition p on n2$" && out "^  n2  *4 " &&
		ask 0 --user=bob -p q --gres=gpu:2 -n 2 -c2 && out "^starts now in partition q on g1$" &&
		out "^  g1  *4  *0  gpu:a100:2$" && ask 0 --user=bob -p p,q -n8 && out "^starts now in partition q on g1$"
}
ok "willrun says that it starts now, where, and what it gets of each node" willrun_now

# at 14:00 6 starts, ten minutes later 7
willrun_later() {
	ask 0 --user=bob -n8 -t 4:00:00 && out "^may start at 2026-11-02T14:20:00, in [0-9:]*, in partition p on n1$" &&
		out "^not now: priority: would delay job 6$" &&
		ask 0 --user=bob -N2 --priority=100 && out "^gets a reservation: starts at 2026-11-02T14:00:00, in 02:00:00, in partition p on n\[1-2\]$" &&
		run 0 willrun --policy=fcfs --snapshot="$T/full.json" --user=bob -n4 -t 30 && out "^not now: .*waits behind job 6$"
}
ok "willrun says when it starts, and why not now" willrun_later

willrun_never() {
	ask 1 --user=bob -n64 && out "^never starts as things are: never: needs room for 64 tasks" &&
		ask 1 --user=bob -p q --gpus=a100:5 && out "^never starts" &&
		ask 1 --user=bob -p q -t 1-0 && out "^never starts .*asks for 1440 minutes, partition q allows 120$" &&
		ask 1 --user=bob -p q -A z && out "^never starts .*partition q does not admit account \"z\"$" &&
		run 1 willrun --policy="$T/none.lua" --snapshot="$T/full.json" --user=bob && out "^does not start now, and when is not known: policy: only ada$"
}
cat >"$T/none.lua" <<'EOT'
return { api = 1, name = "none", doc = "nobody but ada", admit = function(job) return job.user == "ada", "only ada" end }
EOT
ok "willrun says that it never starts, or that nothing is known" willrun_never

# 7 was overtaken, so bob's next one is like it; nobody came after 6
willrun_priority() {
	ask 0 --user=bob && out "^as a job of user bob, account b, QOS (not known), with the priority of job 7$" &&
		ask 0 --user=ada && out "^as a job of user ada, .*, behind all others" &&
		ask 0 --user=bob -A a && out "behind all others" && ask 0 --user=bob --priority=100 --json && out '"priority": 100, "priority_of": 0'
}
ok "willrun gives it the priority of the user's last job, where there is an order but that of submission" willrun_priority

willrun_memory() {
	sed 's/"sequence": 1 }/"sequence": 1, "select_flags": [ "MEMORY" ] }/; s/"cores": 8,/"cores": 8, "memory": 1000,/; s/"cores": 8 }/"cores": 8, "memory": 1000 }/g' \
		"$T/full.json" >"$T/memory.json"
	run 0 willrun --policy=easy --snapshot="$T/memory.json" --user=bob -t30 -n2 --mem-per-cpu=100 && out "^  n2  *2  *200$" &&
		! out "all memory" >/dev/null && run 0 willrun --policy=easy --snapshot="$T/memory.json" --user=bob -t30 && out "^  n2  *1  *1000$" &&
		out "^with all memory of its nodes: " && run 1 willrun --policy=easy --snapshot="$T/memory.json" --user=bob --mem=1G
}
ok "willrun counts memory, and says so where the job has all of it" willrun_memory

willrun_wrong() {
	ask 2 -Nx && err "^schedlua: --nodes: expected N or N-M, got 'x'$" && ask 2 --user=bob -p no &&
		err "^schedlua: --partition=no: expected names of partitions; there is no \"no\"$" &&
		ask 2 --mem=x && err "^schedlua: --mem=x: expected an amount of memory" && ask 2 -n && err "^schedlua: -n: N is missing$" &&
		ask 2 "--gres=gpu;x" && err "^schedlua: --gres=gpu;x: expected NAME" && ask 2 --gres=gpu:1-2 && err "not a range$" &&
		ask 2 -N4 -n2 && err "^schedlua: --nodes, --ntasks.* do not go together: .* 2 tasks on 4 nodes$" &&
		ask 2 -Z3 && err "^schedlua: unknown option -Z3$" && ask 2 more && err "one argument too many" &&
		run 1 willrun --snapshot="$T/full.json" && err "expected --site or --policy" &&
		run 1 willrun --policy=easy --snapshot="$T/nowhere" && err "nowhere"
}
ok "willrun says which option is wrong, and what was expected" willrun_wrong

willrun_json() {
	ask 0 --user=bob -p q --gpus-per-node=2 --json &&
		out '"answer": "now", "start_time": 1793620800, "in_s": 0, "partition": "q", "nodelist": "g1", "native": false, "places": \[{"node": "g1", "cores": 1, "memory": 0, "gres": {"gpu:a100": 2}}\]' &&
		ask 1 --user=bob -n64 --json && out '"answer": "never", "why": "never", "text": "needs room' &&
		ask 0 --user=bob -N2 --priority=100 --json && out '"answer": "reserved", "start_time": 1793628000, "in_s": 7200'
}
ok "willrun --json" willrun_json

echo "1..$n"
