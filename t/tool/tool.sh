# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# tool.sh - for tests of the tool as its users meet it: the real program, its output, its
# exit status.  Sourced; speaks TAP.  $SCHEDLUA is the program (default: ./schedlua), $T a
# directory that goes away at the end; a test file ends with "echo 1..$n".

set -u
SCHEDLUA=${SCHEDLUA:-./schedlua}
T=$(mktemp -d "${TMPDIR:-/tmp}/schedlua-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
unset SLURM_CONF
TZ=UTC
export TZ
n=0

# ok NAME COMMAND... : one test; what the command printed is shown when it fails.
ok() {
	n=$((n + 1))
	name=$1
	shift
	if "$@" >"$T/ok" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' "$T/ok"
		[ ! -f "$T/out" ] || sed 's/^/# out: /' "$T/out" | head -n 40
		[ ! -f "$T/err" ] || sed 's/^/# err: /' "$T/err" | head -n 40
	fi
}

# run STATUS ARGUMENT... : run the tool, expect that status.
run() {
	want=$1
	shift
	"$SCHEDLUA" "$@" >"$T/out" 2>"$T/err"
	got=$?
	[ $got = "$want" ] || { echo "schedlua $*: status $got, expected $want"; return 1; }
}

out() { grep -q -e "$1" "$T/out" || { echo "no \"$1\" on stdout"; return 1; }; }
err() { grep -q -e "$1" "$T/err" || { echo "no \"$1\" on stderr"; return 1; }; }
quiet() { [ ! -s "$T/$1" ] || { echo "$1 is not empty"; return 1; }; }

# A cluster of two nodes with three jobs, and a policy for it: $T/busy.json, $T/mine.lua.
small_cluster() {
cat >"$T/busy.json" <<'EOF'
{
  "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]" } ],
  "jobs": [
    { "id": 7, "user": "ada", "partition": "p", "min_nodes": 2, "min_cpus": 2, "time_limit": 600 },
    { "id": 8, "user": "bob", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600 },
    { "id": 9, "user": "bob", "partition": "p", "min_nodes": 1, "time_limit": 1200 } ],
  "queue": [ { "job": 7, "partition": "p" }, { "job": 8, "partition": "p" }, { "job": 9, "partition": "p" } ]
}
EOF
cat >"$T/mine.lua" <<'EOF'
local M = { api = 1, name = "mine", doc = "nobody but bob" }
M.options = { user = { default = "bob", doc = "who may" } }
function M.admit(job, cluster, opt)
	return job.user == opt.user, "only " .. opt.user
end
return M
EOF
}

# Three nodes; the jobs on two of them may be stopped for job 7, which needs one such node, and for job 8, which needs three: $T/full.json,
# and a site that stops jobs for others: $T/preempt.lua.
full_cluster() {
cat >"$T/full.json" <<'EOF'
{
  "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 }, { "name": "n3", "cores": 4 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-3]" } ],
  "jobs": [
    { "id": 1, "user": "eve", "partition": "p", "state": "RUNNING", "qos": "low", "start_time": 1793617200, "end_time": 1793650000,
      "preempt_mode": "cancel", "preempt_from": 1793617200, "alloc": [ { "node": "n1", "cores": 8 } ] },
    { "id": 2, "user": "eve", "partition": "p", "state": "RUNNING", "qos": "low", "start_time": 1793610000, "end_time": 1793650000,
      "preempt_mode": "cancel", "preempt_from": 1793617200, "alloc": [ { "node": "n2", "cores": 8 } ] },
    { "id": 8, "user": "bob", "partition": "p", "min_nodes": 3, "ntasks_per_node": 8, "num_tasks": 24, "min_cpus": 24, "time_limit": 600,
      "preempts": "QOS=low", "flags": ["MAY_PREEMPT"] },
    { "id": 7, "user": "ada", "partition": "p", "min_nodes": 1, "min_cpus": 8, "time_limit": 600,
      "preempts": "QOS=low", "flags": ["MAY_PREEMPT"] } ],
  "queue": [ { "job": 8, "partition": "p" }, { "job": 7, "partition": "p" } ]
}
EOF
echo 'local sched = require "sched"  return sched.site { default = { sched.preempt {}, "easy" } }' >"$T/preempt.lua"
}

# Four runs of 100 to 400 s that followed each other, of jobs that asked for 1000 s.
predict_log() {
	echo "JobIDRaw|User|Account|Partition|JobName|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocCPUS|NNodes"
	echo "1|anna|a|all|x|2026-11-01T10:00:00|2026-11-01T10:00:00|2026-11-01T10:01:40|100|17|COMPLETED|1|1"
	echo "2|anna|a|all|x|2026-11-01T11:00:00|2026-11-01T11:00:00|2026-11-01T11:03:20|200|17|COMPLETED|1|1"
	echo "3|anna|a|all|x|2026-11-01T12:00:00|2026-11-01T12:00:00|2026-11-01T12:05:00|300|17|COMPLETED|1|1"
	echo "4|anna|a|all|x|2026-11-01T13:00:00|2026-11-01T13:00:00|2026-11-01T13:06:40|400|17|COMPLETED|1|1"
	echo "5|eve|a|all|x|2026-11-01T13:00:00|2026-11-01T13:00:00|2026-11-01T13:06:40|400|17|COMPLETED|1|1"
}
