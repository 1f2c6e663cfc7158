#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An ordinary user whose jobs may be stopped for others, and who writes what she likes into them, and does with them what she may:
# none of that makes somebody else's job the one that is stopped, nor hers one that is not.
. "${0%/*}/live.sh"
needs_plugin
live_begin 8 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE MaxArraySize=2001 MaxJobCount=20000 \
	"SchedulerParameters=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50"
needs_engine

runuser -u $STRANGER -- test -r "$SLURM_CONF" || skip_all "$TOP: others than root cannot come here"
chmod 1777 "$JOBS"
# Her jobs began later than all others, so that what is lost is less.
hers() { # PARTITION OPTION...
	runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" sbatch --parsable --output=/dev/null -D / -t 60 -p "$@" --wrap 'exec sleep 3000'
}
others() { sbatch --parsable --output=/dev/null -t 60 -p low -N1 --exclusive "$@" --wrap 'exec sleep 3000'; }
she() { runuser -u $STRANGER -- env SLURM_CONF="$SLURM_CONF" PATH="$PATH" "$@"; }
all_run() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
left_alone() { local id; for id; do job_is "$id" RUNNING && [ "$(job_get "$id" Restarts)" = 0 ] || return 1; done; }

reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 0.5, default = { sched.preempt {}, "easy" } }
EOL
wait_for 20 status_is source site

# Four nodes are others', three hers, and on the last one she has a job that may not be stopped.
shares() { # OPTION... of hers
	local i
	OTHERS=() HERS=()
	for i in 1 2 3 4; do OTHERS+=("$(others "${OTHERS_SAY[@]}" -w "n00$i")"); done
	wait_for 30 all_run "${OTHERS[@]}"
	wait_for 20 eval '[ "$(date +%s)" -gt $(($(date -d "$(job_get '"${OTHERS[3]}"' StartTime)" +%s) + 5)) ]'
	for i in 5 6 7; do HERS+=("$(hers low -N1 --exclusive -w "n00$i" "$@")"); done
	SAFE=$(hers main -N1 --exclusive -w n008 "$@")
	wait_for 30 all_run "${HERS[@]}" "$SAFE"
}
hers_are_stopped() { # NODES that are wanted
	local job
	job=$(submit -p high -N"$1" --exclusive -t 60)
	starts "$job" 60
	left_alone "${OTHERS[@]}" "$SAFE"
}
OTHERS_SAY=()

sheltered() {
	shares --comment=gang=x
	hers_are_stopped 3
}
it "a job of hers that may not be stopped is no shelter for those that she calls its gang" sheltered

of_others() {
	OTHERS_SAY=(--comment=gang=x)
	shares --comment=gang=x
	OTHERS_SAY=()
	hers_are_stopped 1
}
it "others' gangs of the same name are none of hers" of_others

says_much() {
	local says
	shares --signal=R:USR1@600
	set -- 'checkpoint=-1' 'checkpoint=99999999999999999999 gang' 'gang= gang=gang=;checkpoint=nan' 'cost=1e15 may=0 min_runtime=99d' \
		"gang=$(printf 'x%.0s' {1..4000})"
	for says; do
		she scontrol update JobId="${HERS[0]}" Comment="$says" || true
	done
	she scontrol update JobId="${HERS[1]}" Comment=$'checkpoint=0\tgang\n%s%n'
	she scontrol update JobId="${HERS[2]}" Comment='gang=%s preempt_from=99999999999'
	hers_are_stopped 3
	status_is engine_failures 0
}
it "whatever else she says is no shelter" says_much

thousands() {
	shares --comment='gang=x checkpoint=1'
	for _ in $(seq 50); do hers low -N1 -n1 --array=1-20 --comment='gang checkpoint=1' > /dev/null; done
	hers_are_stopped 3
	status_is engine_failures 0
	fails grep -E 'error: .*(sched/lua|schedlua)' "$C/log/slurmctld.log"
}
it "nor do a thousand tasks of gangs that wait" thousands

live_end
