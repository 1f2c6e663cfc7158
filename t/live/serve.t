#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# schedlua serve on a real cluster: queue, plan, explain, metrics, what PrivateData hides, and sdiag's figures.
. "${0%/*}/live.sh"
needs_plugin
BASE=defer,sched_interval=-1,lua_interval=1,lua_capture=1
live_begin 4 "SchedulerParameters=$BASE"
needs_engine
command -v curl > /dev/null || skip_all "no curl"
command -v jq > /dev/null || skip_all "no jq"
if schedlua serve --dir=/nowhere --socket=/nowhere/at/all 2>&1 | grep -q "built without"; then
	! grep -qs '^MICROHTTPD_LIBS = *-' "$SL_BUILD/Makefile" || { echo "Bail out! schedlua-serve is missing, and libmicrohttpd is there"; exit 1; }
	skip_all "built without libmicrohttpd"
fi

SOCKET=$C/serve.sock
SERVER=
end_server() {
	[ -z "$SERVER" ] || kill "$SERVER" 2> /dev/null || true
	[ -z "$SERVER" ] || wait "$SERVER" || true
	SERVER=
}
# begin OPTION... : one that serves by then, and ends with the test
begin() {
	end_server
	trap end_server EXIT
	schedlua serve --socket="$SOCKET" "$@" > "$C/served" 2>&1 &
	SERVER=$!
	wait_for 30 grep -q '^serving on' "$C/served"
}
get() { curl -s --max-time 60 --unix-socket "$SOCKET" "${@:2}" "http://x$1" > "$C/got"; } # PATH CURL-OPTION...
has() { get "$1" "${@:3}" && jq -e "$2" "$C/got" > /dev/null; } # PATH JQ CURL-OPTION...
figure() { get /metrics && grep -qE "^$1 $2\$" "$C/got"; } # NAME VALUE
says() { # PARAMETERS... : lines of slurm.conf
	cluster_conf "SchedulerParameters=$BASE" "$@"
	scontrol reconfigure
}

shown() {
	local first
	begin
	first=$(submit -N "$NODES" --exclusive --job-name='<b>first</b>')
	starts "$first"
	id=$(submit -N2)
	stays_pending "$id"
	wait_for 20 has /data "(.running[] | select(.id == $first) | .name) == \"<b>first</b>\" and (.running[0].runs | length) > 0"
	wait_for 20 has /data ".waiting[] | select(.id == $id) | .reserved and .why == \"resources\" and (.runs | length) > 0"
	wait_for 20 has /data '.state == "OK" and .source == "site" and (.nodes | length) == '"$NODES"' and .partitions[0].used > 0'
	has "/explain?job=$id" ".when | test(\"^Job $id waits for 2 nodes\")"
	has "/explain?job=$first" '.lines[0] | test("started on")'
	has /healthz '.state == "OK" and .slurmctld and .status_age_s < 60 and .snapshot_age_s < 60'
}
it "the page has the queue, the plan and what runs, and explains a job" shown

one_waited() { sdiag > "$C/sdiag" && grep -A20 '^Backfilling stats' "$C/sdiag" | grep -qE 'Last queue length: +1$'; }
counted() {
	local before
	begin
	starts "$(submit -N "$NODES" --exclusive)"
	stays_pending "$(submit -N2)"
	wait_for 20 figure slurm_jobs_running 1
	wait_for 20 figure slurm_jobs_pending 1
	wait_for 20 figure "slurm_partition_nodes_alloc\{partition=\"main\"\}" "$NODES"
	figure schedlua_up 1
	tail -n 1 "$C/got" | grep -qx '# EOF'
	before=$(sed -n 's/^slurm_bf_cycle_cnt //p' "$C/got")
	[ "$before" -gt 0 ]
	wait_for 20 one_waited
	grep -A20 '^Backfilling stats' "$C/sdiag" | grep -qE 'Total cycles: +[1-9]'
	if /usr/bin/python3 -c 'import prometheus_client' 2> /dev/null; then
		/usr/bin/python3 -c 'import sys; from prometheus_client.openmetrics.parser import text_string_to_metric_families as p
print(len(list(p(sys.stdin.read()))), "families")' < "$C/got"
	fi
}
it "figures are right, have Slurm's names, and sdiag has those of backfill" counted

backfilled_jobs() { sdiag | sed -n 's/.*Total backfilled jobs (since last slurm start): //p'; }
more_backfilled() { [ "$(backfilled_jobs)" -gt "$1" ]; } # HOW_MANY
backfilled() {
	local long short before
	before=$(backfilled_jobs)
	long=$(submit -N "$((NODES - 1))" --exclusive -t 10)
	starts "$long"
	submit -N "$NODES" --exclusive -t 10 > /dev/null
	short=$(submit -N1 -t 1)
	starts "$short"
	wait_for 20 more_backfilled "$before"
}
it "a job that starts ahead of one that waits is a backfilled one" backfilled

hidden() {
	local own other
	begin
	starts "$(submit -N "$NODES" --exclusive)"
	other=$(submit -N1 --job-name=hush)
	own=$(submit --uid=$STRANGER --chdir=/tmp -N2)
	stays_pending "$own"
	wait_for 20 has /data "[.waiting[].id] | contains([$own, $other])"
	says PrivateData=jobs
	begin --user-header=X-Remote-User
	wait_for 20 has /data '.hides == ["jobs"] and .waiting == [] and .running == []'
	fails grep -qE "hush|$STRANGER" "$C/got"
	has "/explain?job=$own" '.error'
	has "/explain?job=$other" '.error' -H "X-Remote-User: $STRANGER"
	wait_for 20 has /data "[.waiting[].id] == [$own] and .running == []" -H "X-Remote-User: $STRANGER"
	fails grep -q hush "$C/got"
	has "/explain?job=$own" ".when | test(\"^Job $own waits\")" -H "X-Remote-User: $STRANGER"
	get /metrics
	fails grep -q 'partition=' "$C/got"
	grep -q '^schedlua_up 1$' "$C/got"
	says PrivateData=accounts
	wait_for 20 has /data "[.waiting[].id] | contains([$own, $other])"
}
it "under PrivateData=jobs nobody sees jobs of others, and a user whom the proxy names his own" hidden

as_user() {
	local own
	starts "$(submit -N "$NODES" --exclusive)"
	own=$(submit -N2)
	stays_pending "$own"
	trap end_server EXIT
	install -d -o $STRANGER -m 755 "$C/theirs"
	(cd / && exec runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" schedlua serve --socket="$C/theirs/s.sock") \
		> "$C/served" 2>&1 &
	SERVER=$!
	wait_for 30 grep -q '^serving on' "$C/served"
	SOCKET=$C/theirs/s.sock
	wait_for 20 has /data "[.waiting[].id] | contains([$own])"
	has "/explain?job=$own" ".when | test(\"^Job $own waits\")"
	has /healthz '.snapshot_age_s < 300'
}
it "a user serves what Slurm shows to him" as_user

down() {
	begin
	wait_for 20 has /healthz '.state == "OK"'
	cluster_ctld_kill
	wait_for 20 has /healthz '.state == "CRITICAL" and (.slurmctld | not)'
	[ "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$SOCKET" http://x/healthz)" = 503 ]
	get /
	grep -q '<html' "$C/got"
	cluster_ctld_start
	wait_for 30 has /healthz '.state == "OK"'
	end_server
	[ ! -e "$SOCKET" ]
}
it "it says so while slurmctld is down, and goes on when it is back" down

live_end
