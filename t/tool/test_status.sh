#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua status: in words, for monitoring, and as figures.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"

mkdir -p "$T/state/schedlua"
cat >"$T/state/schedlua/status.json" <<'EOF'
{ "version": "0.1.0", "source": "site", "policy": "easy", "pid": 2147483646, "cycles": 12, "starts": 3,
  "last_cycle": 1793620800, "refused": 0, "shortages": 4, "strikes": 2, "brand_new": [1, 2],
  "cycle_us": { "count": 12, "last": 1500, "mean": 1000, "p50": 900, "p99": 2000, "max": 2500 } }
EOF

status() {
	run 0 status --dir "$T/state/schedlua" && out "^slurmctld (pid .*), which wrote this, is not running" &&
		out "runs now does so elsewhere, or without sched.lua" && out "^policy *easy$" && out "^strikes *2$" && out "^no stop would help *4$" &&
		out "^last cycle *2026-11-02T12:00:00$" && out "last 1.50 ms, median 0.90" && out "^brand_new *\[1,2\]$" &&
		! out "refused" >/dev/null
}
ok "status prints what it knows in words, what it does not as it is" status

status_json() { run 0 status --json --dir "$T/state/schedlua" && out '"cycles": 12'; }
ok "status --json prints the file" status_json

status_past() {
	mkdir -p "$T/past" && echo '{ "source": "site", "last_error": "x", "last_error_time": 5, "last_cycle": 9 }' \
		>"$T/past/status.json" && run 0 status --dir "$T/past" && out "^last error, past *x$" &&
		echo '{ "source": "bundled", "last_error": "x", "last_error_time": 5, "last_cycle": 9 }' \
		>"$T/past/status.json" && run 0 status --dir "$T/past" && out "^last error *x$"
}
ok "status tells an error that is over from one that is not" status_past

status_conf() {
	printf '# StateSaveLocation=/wrong\nClusterName=x\nstatesavelocation = %s # here\n' "$T/state" >"$T/slurm.conf"
	SLURM_CONF=$T/slurm.conf run 0 status && out "^policy *easy$"
}
ok "status finds the directory through slurm.conf" status_conf

status_none() {
	run 1 status --dir "$T" && err "^schedlua: $T/status.json: No such file.*SchedulerType" &&
		echo '{' >"$T/status.json" && run 1 status --dir "$T" && err "^schedlua: $T/status.json:[0-9]"
}
ok "status says where it looked, and where the file is broken" status_none

# A process that is called slurmctld, from the moment on when it has become that program, and what it would have written just now.
cp "$(command -v sleep)" "$T/slurmctld"
"$T/slurmctld" 100000 &
CTLD=$!
trap 'kill "$CTLD"; rm -rf "$T"' EXIT
tries=0
until grep -qx slurmctld "/proc/$CTLD/comm" || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done
mkdir "$T/check"

# judged STATUS LINE KEYS... : --check of a status with these keys, an older one of them replaced
judged() {
	want=$1 line=$2
	shift 2
	printf '{ "pid": %s, "written": %s, "source": "site", "policy": "easy", "queued": 3, "running": 2' \
		"$CTLD" "$(date +%s)" >"$T/check/status.json"
	for key in "$@"; do printf ', %s' "$key"; done >>"$T/check/status.json"
	echo ' }' >>"$T/check/status.json"
	run "$want" status --check --dir "$T/check" && quiet err && [ "$(wc -l <"$T/out")" = 1 ] &&
		out "^schedlua $line"
}

status_check() {
	judged 0 'OK: easy decides, 3 queued, 2 running$' &&
		judged 0 'OK: ' '"truncated": 5' '"truncated_time": 1000' '"last_error": "over and done"' &&
		judged 1 'WARNING: the last good set decides: x.lua:3: no' '"source": "last good"' '"refusal": "x.lua:3: no"' &&
		judged 1 'WARNING: bundled easy decides: it \[raised\] / twice$' '"source": "bundled"' \
			'"last_error": "it [raised]\n| twice"' &&
		judged 1 'WARNING: over budget .* ago' "\"truncated_time\": $(date +%s)" &&
		judged 1 'WARNING: usage is old: no ledger' '"usage_stale": "no ledger"' &&
		judged 1 'WARNING: the engine failed 2 times in a row' '"strikes": 2' &&
		judged 2 'CRITICAL: fallback: the engine does not run: gone' '"source": "fallback"' '"last_error": "gone"' &&
		judged 2 'CRITICAL: idle, nothing is started: no nodes' '"source": "idle"' '"idle_why": "no nodes"' &&
		judged 2 'CRITICAL: bundled easy decides: ; nothing starts in gpu: x' '"source": "bundled"' '"held": "gpu: x"' &&
		judged 2 'CRITICAL: stale: written .* ago' '"written": 1000' &&
		judged 2 'CRITICAL: slurmctld (pid 2147483646) does not run' '"pid": 2147483646' &&
		judged 1 'WARNING: a set was refused, the one before it decides: x.lua:3: no' '"refusal": "x.lua:3: no"' &&
		judged 3 'UNKNOWN: decided by "nobody"' '"source": "nobody"'
}
ok "status --check says in one line and its status how it is" status_check

status_shadow() {
	judged 0 "OK: Slurm's backfill decides, easy only looks on (shadow mode), 3 queued, 2 running$" '"shadow": "backfill"' &&
		judged 1 "WARNING: Slurm's backfill decides, .*; not the site's set looks on (fallback): gone$" '"shadow": "backfill"' \
			'"source": "fallback"' '"last_error": "gone"' '"held": "gpu: x"' &&
		run 0 status --dir "$T/check" && out '^in the shadow of  *backfill$' && out '^looked at by  *fallback$' && ! out 'decided by' >/dev/null
}
ok "status does not read as if the policies decided in shadow mode" status_shadow

status_check_none() {
	run 3 status --check --dir "$T/nowhere" && quiet err && out "^schedlua UNKNOWN: $T/nowhere/status.json: No such" &&
		run 2 status --check --json --dir "$T/check" && err "expected one of them" &&
		run 2 status --output=x --dir "$T/check"
}
ok "status --check does not know what cannot be read" status_check_none

status_metrics() {
	judged 0 'OK' '"cycles": 12' '"queue": {"a\"b": 4, "gpu": 0}' '"pending": {"resources": 3}' \
		'"decide_us": {"count": 2, "mean": 1500, "p50": 1000, "p99": 2000, "max": 2000, "last": 1}' || return 1
	echo x >"$T/check/ledger.db"
	run 0 status --openmetrics --dir "$T/check" && quiet err && out '^schedlua_up 1$' && out '^schedlua_cycles_total 12$' &&
		out '^schedlua_source{source="site"} 1$' && out '^schedlua_source{source="last good"} 0$' &&
		out '^schedlua_queue_jobs{partition="a\\"b"} 4$' && out '^schedlua_queue_jobs{partition="gpu"} 0$' &&
		out '^schedlua_pending_jobs{reason="resources"} 3$' && out '^schedlua_decide_seconds_sum 0.003000$' &&
		out '^schedlua_decide_seconds{quantile="0.99"} 0.002000$' && out '^schedlua_held 0$' &&
		out "^schedlua_ledger_written_time_seconds $(stat -c %Y "$T/check/ledger.db")$" &&
		[ "$(tail -n 1 "$T/out")" = '# EOF' ] &&
		! grep -vE '^(# (HELP|TYPE) schedlua_[a-z_]+ .+|# EOF|schedlua_[a-z_]+(\{[a-z]+="[^{}]*"\})? [0-9.e+]+)$' "$T/out"
}
ok "status --openmetrics prints figures, and no line that is none" status_metrics

status_metrics_file() {
	run 0 status --openmetrics --output="$T/check/x.prom" --dir "$T/check" && quiet out &&
		grep -q '^schedlua_up 1$' "$T/check/x.prom" && [ "$(stat -c %a "$T/check/x.prom")" = 644 ] &&
		[ "$(find "$T/check" -name 'x.prom*' | wc -l)" = 1 ] &&
		run 1 status --openmetrics --output="$T/nowhere/x.prom" --dir "$T/check" && err "nowhere/x.prom: No such"
}
ok "status --openmetrics replaces a file as a whole" status_metrics_file

echo "1..$n"
