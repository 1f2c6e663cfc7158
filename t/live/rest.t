#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What slurm.conf has all scheduling wait for: RPCs (max_rpc_cnt), and jobs that are being
# cleaned up (CompleteWait).  Under stock schedulers too.
. "${0%/*}/live.sh"
HOLD=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/hold-the-epilog
EPILOG=${HOLD%/*}/bin/epilog
mkdir -p "${EPILOG%/*}"
# shellcheck disable=SC2016	# the epilog has variables of its own
printf '#!/bin/sh\nn=0\nwhile [ -e %s ] || [ -e %s.$SLURMD_NODENAME ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done\n' \
	"$HOLD" "$HOLD" > "$EPILOG"
chmod +x "$EPILOG"
live_begin 4 CompleteWait=120 EpilogMsgTime=0 "Epilog=$EPILOG" MessageTimeout=90 \
	"SchedulerParameters=${SL_SCHED_PARAMETERS:-defer,sched_interval=-1,lua_interval=0.5},max_rpc_cnt=4,bf_interval=1"
trap 'rm -f "$HOLD" "$HOLD".*' EXIT

is_idle() { sinfo -h -N -n "$1" -o %T | grep -qx idle; }	# NODE

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

# Cores of which there are not enough for a plan's layout are not pinned: select then chooses others.
half_completing() {
	local first second
	needs_lua
	touch "$HOLD.n001"
	first=$(FOR=0 submit -N2 -n12 -w 'n[001-002]')
	wait_for 15 job_is "$first" COMPLETING
	wait_for 15 is_idle n002
	second=$(FOR=60 submit -N2 -n11 -w 'n[002-003]' -m plane=3)
	starts "$second"
	rm "$HOLD.n001"
	status_is layout_differs 0
}
it "of a job that is still being cleaned up on another node a node has its cores back" half_completing
live_end
