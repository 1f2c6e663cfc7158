#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What slurm.conf has all scheduling wait for: RPCs (max_rpc_cnt), and jobs that are being
# cleaned up (CompleteWait).  Under stock schedulers too.
. "${0%/*}/live.sh"
HOLD=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/hold-the-epilog
EPILOG=${HOLD%/*}/bin/epilog
mkdir -p "${EPILOG%/*}"
printf '#!/bin/sh\nn=0\nwhile [ -e %s ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done\n' "$HOLD" > "$EPILOG"
chmod +x "$EPILOG"
live_begin 4 CompleteWait=120 EpilogMsgTime=0 "Epilog=$EPILOG" MessageTimeout=20 \
	"SchedulerParameters=${SL_SCHED_PARAMETERS:-defer,sched_interval=-1,lua_interval=0.5},max_rpc_cnt=4,bf_interval=1"
trap 'rm -f "$HOLD"' EXIT

threads() { sdiag | sed -n 's/^Server thread count: *\([0-9]*\).*/\1/p'; }
threads_are() { [ "$(threads)" -ge "$1" ]; }

# Connections that say nothing have a thread each until MessageTimeout.
flooded() {
	local id port fd
	local -a fds=()
	port=$(scontrol show config | sed -n 's/^SlurmctldPort *= *\([0-9]*\).*/\1/p')
	for _ in 1 2 3 4 5 6; do exec {fd}<>"/dev/tcp/127.0.0.1/$port"; fds+=("$fd"); done
	wait_for 5 threads_are 5 || skip "a connection that says nothing has no thread in this release"
	id=$(FOR=1 submit -n1)
	stays_pending "$id"
	for fd in "${fds[@]}"; do exec {fd}>&-; done
	starts "$id" 60
	ends "$id"
}
it "nothing is decided while too many RPCs are served" flooded

completing() {
	local first second
	touch "$HOLD"
	first=$(FOR=0 submit -n1)
	wait_for 15 job_is "$first" COMPLETING
	second=$(FOR=1 submit -n1)
	stays_pending "$second"
	rm "$HOLD"
	starts "$second" 30
	ends "$second"
}
it "nothing is decided while a job is cleaned up that ended less than CompleteWait ago" completing

fragmented() {
	local first second
	needs_lua
	sed -i 's/max_rpc_cnt=4/reduce_completing_frag/' "$C/etc/slurm.conf"
	scontrol reconfigure
	touch "$HOLD"
	first=$(FOR=0 submit -n1)
	wait_for 15 job_is "$first" COMPLETING
	second=$(FOR=1 submit -n1)
	starts "$second"
	rm "$HOLD"
}
it "with reduce_completing_frag nobody waits for that" fragmented
live_end
