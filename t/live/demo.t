#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The demo, short: its own cluster, in compressed time.
. "${0%/*}/live.sh"
needs_plugin
command -v faketime > /dev/null || skip_all "no faketime"
[ "$(id -u)" = 0 ] || skip_all "a live cluster needs root"
: "${SL_PREFIX:=$TOP/.work/inst}" "${SL_PLUGINDIR:=$SL_PREFIX/lib/slurm}"
export SL_PREFIX SL_PLUGINDIR PATH=$SL_PREFIX/bin:$PATH

cluster_dir "$TOP/.work/cluster-demo" || exit 1
OUT=$C/demo.out
"$TOP/examples/demo/demo.sh" --short --nodes 64 > "$OUT" 2>&1
STATUS=$?

check() { # SENTENCE COMMAND...
	local sentence=$1
	shift
	NUMBER=$((NUMBER + 1))
	if "$@" > /dev/null; then
		echo "ok $NUMBER - $sentence"
	else
		FAILURES=$((FAILURES + 1))
		echo "not ok $NUMBER - $sentence"
		sed 's/^/# /' "$OUT"
	fi
}

check "the demo ends well" [ $STATUS = 0 ]
one_slurmctld() { ! slurm_reconfigures_in_process || grep -E 'pid ([0-9]+) before, \1 after' "$OUT"; }
check "it changes the policy in one slurmctld" one_slurmctld
check "it has a broken policy refused with file and line" grep -E 'refused: .*sched\.lua:[0-9]+:' "$OUT"
check "it starts jobs after that" grep -E '[1-9][0-9]* jobs started since then' "$OUT"
check "it says how the jobs and the scheduler fared" grep -E 'utilization +[0-9.]+ %' "$OUT"
check "its second scene starts all three jobs with ip_window" grep -A4 'under the policy ip_window' "$OUT"
together() { [ "$(grep -A3 "$1" "$OUT" | grep -c "$2")" = "$3" ]; }
check "one of them on four cores of every node" together 'under the policy' 'J1  RUNNING   64 nodes, 4 cores on each, 0 GPUs' 1
check "the others on half of the nodes each" together 'under the policy' 'J[23]  RUNNING   32 nodes, 4 cores on each, 2 GPUs' 2
check "sched/backfill leaves the third one pending" together 'under sched/backfill' 'J3  PENDING   Resources' 1
beside() { grep -E '^ +jobs submitted +[1-9][0-9]* +[1-9]' "$OUT" && grep -E '^ +utilization +[0-9.]+ % +[0-9.]+ %' "$OUT"; }
check "its day under sched/backfill stands beside it" beside
check "it leaves no process behind" cluster_is_empty
echo "1..$NUMBER"
exit $FAILURES
