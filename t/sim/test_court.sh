#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench/court: the published policies on logs that are odd, one of one's own beside them, and the table again from a tarball.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"
top=$(cd "${srcdir:-.}" && pwd)
SCHEDLUA=$(cd "$(dirname "$SCHEDLUA")" && pwd)/$(basename "$SCHEDLUA")
export SCHEDLUA
if ! command -v lua5.4 >/dev/null || ! command -v bash >/dev/null; then
	echo "1..0 # SKIP no lua5.4"
	exit
fi

brief() {
	n=0
	for file in "$top"/examples/court/*.lua; do
		[ "$(wc -l <"$file")" -le 20 ] || { echo "$file: more than 20 lines"; return 1; }
		run 0 check --quiet "$file" || return 1
		n=$((n + 1))
	done
	[ "$n" -ge 15 ]
}
brief_policies() { (brief); }
ok "at least 15 policies of at most 20 lines each are what check finds fine" brief_policies

# A log of COUNT jobs of USERS users; of each EVERY jobs one ran for no time.
log() { # COUNT USERS EVERY
	awk -v count="$1" -v users="$2" -v every="$3" 'BEGIN { print "; UnixStartTime: 1000\n; MaxProcs: 16"
		for (i = 1; i <= count; i++) { t += i * 37 % 40; n = 1 + i * i * 7 % 13; r = i % every ? 20 + i * 61 % 400 : 0
			print i, t, -1, r, n, -1, -1, n, r + 1 + i * 13 % 90, -1, 1, users ? i % users + 1 : -1, 1, -1, 1, 1, -1, -1 } }'
}
court() { # OUTPUT OPTION...
	output=$1
	shift
	"$top/bench/court" --traces "$T/logs" --windows 2 --jobs 30 --output "$output" "$@" >"$T/out" 2>"$T/err"
}
odd_logs() {
	mkdir "$T/logs" && log 60 0 99 >"$T/logs/odd-no-users.swf" && log 60 1 99 >"$T/logs/odd-one-user.swf" &&
		log 120 5 2 >"$T/logs/odd-no-runtimes.swf" && log 10 3 99 >"$T/logs/odd-ten-jobs.swf" &&
		echo 'return { api = 1, name = "mine", doc = "last come, first served", rank = function(job) return job.submit_time end }' >"$T/mine.lua" &&
		court "$T/table" --only odd --policy "$T/mine.lua" --tarball "$T/table.tar.gz" --with-logs || return 1
	[ "$(grep -c '"workload": "odd-' "$T/table/court.json")" = 72 ] && grep -q '^| mine |' "$T/table/court.md" &&
		! grep -q 'failed\|Failed' "$T/table/court.md" && grep -q '<td[^>]*>mine</td>' "$T/table/court.html"
}
ok "logs without users, with one, without runtimes and of ten jobs are judged, with a policy of one's own" odd_logs

no_runtimes() {
	log 30 5 1 >"$T/zeros.swf" && run 1 sim "$T/zeros.swf" && err 'no job in 32 lines: 30 did not run, expected runtimes above 0' &&
		log 30 5 3 >"$T/zeros.swf" && run 0 sim "$T/zeros.swf" && err '10 jobs that did not run, skipped' && out '^jobs  *20$'
}
ok "jobs that did not run are counted, and a log of nothing else is refused with that" no_runtimes

# Ten jobs make one window, which has no interval.
odd_intervals() {
	awk -F'|' '/^\| policy/ { for (i = 1; i <= NF; i++) if ($i ~ /ten-jobs/) at = i } /^\| easy \|/ { exit $at ~ /±/ }' "$T/table/court.md"
}
ok "one window has no interval" odd_intervals

again() {
	mkdir "$T/elsewhere" && tar -C "$T/elsewhere" -xf "$T/table.tar.gz" && "$T/elsewhere/court/rerun" >"$T/out" 2>"$T/err" &&
		out '^the same, byte for byte$' || return 1
	(cd "$T" && elsewhere/court/rerun logs) >"$T/out" 2>"$T/err" && out '^the same, byte for byte$' || return 1
	! "$T/elsewhere/court/rerun" "$T/none" >"$T/out" 2>"$T/err" && err "rerun: $T/none: expected the directory that has the logs" || return 1
	echo >>"$T/elsewhere/court/logs/odd-ten-jobs.swf"
	! "$T/elsewhere/court/rerun" >"$T/out" 2>&1 && out 'odd-ten-jobs.swf: FAILED'
}
ok "the tarball makes the same table again, and sees that a log is another one" again

pods() {
	mkdir "$T/pods" && awk 'BEGIN {
		print "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
		for (i = 1; i <= 80; i++) printf "p%d,8000,1000,%d,1000,,LS,Succeeded,%d,%d,%d\n", i, i % 9, i * 10, i * 10 + 900, i * 10 }' \
		>"$T/pods/openb_pod_list_default.csv" &&
		"$top/bench/court" --traces "$T/pods" --windows 2 --jobs 30 --only openb --output "$T/podtable" --tarball "$T/pods.tar.gz" \
			--with-logs >"$T/out" 2>"$T/err" || return 1
	[ "$(grep -c '"workload": "openb"' "$T/podtable/court.json")" = 17 ] && grep -q '^| easy |.*±' "$T/podtable/court.md" &&
		tar -C "$T/pods" -xf "$T/pods.tar.gz" && "$T/pods/court/rerun" >"$T/out" 2>"$T/err" && out '^the same, byte for byte$'
}
ok "the pods of openb are a workload too, and in the tarball" pods

broken() {
	echo 'return { api = 1, name = "bad", decide = function(cluster, plan) error("bang") end }' >"$T/bad.lua"
	! court "$T/bad" --only odd-one --policy "$T/bad.lua" && err 'bang' && ! court "$T/none" --only nosuch && err '0 cells'
}
ok "a policy that fails is told and makes the status 1" broken

usage() {
	! court "$T/x" --policy "$T/none.lua" && err 'none.lua: expected a file of a policy' && ! court "$T/x" --windows 0 &&
		err '0: expected a number from 1 on' && ! court "$T/x" --traces "$T/nowhere" && err 'nowhere: expected a directory of logs'
}
ok "what is no file, number or directory is refused" usage

echo "1..$n"
