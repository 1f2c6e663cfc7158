# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# preempt.sh - jobs that are stopped for others, as t/plugin/fake_engine plans it (t/plugin/fake_stops.h): for sourcing after live.sh.
#
#   live_begin 8 "PartitionName=low ..." "SchedulerParameters=$LUA"; stops_begin
#   machine low                    V have four nodes, PLACE, and REST the others
#   job=$(take take_v -N4)         V are stopped for it

built=$SL_BUILD/t/plugin/fake_engine
[ -x "$built" ] || skip_all "t/plugin/fake_engine is not built"
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"
FAKE=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/fake_engine
# shellcheck disable=SC2034	# for the files that source this one
LUA=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50,lua_engine=$FAKE

stops_begin() {
	cp "$built" "$FAKE.new" && echo stops > "$FAKE.mode" && mv "$FAKE.new" "$FAKE" || exit 1
	HELD=$C/state/schedlua/held
}

# The engine is as it should be, whatever the last scene left of it.
well() {
	[ ! -e "$FAKE.away" ] || mv "$FAKE.away" "$FAKE"
	status_is source site || { scontrol reconfigure; wait_for 30 status_is source site; }
}

# A victim: NAME PARTITION [OPTION...]. Slurm sends SIGTERM to the steps of a batch job, so one without any ends when its
# GraceTime is over. With OBEYS=1 it ends when it is told to.
victim() {
	local script='exec sleep 3000'
	[ -z "${OBEYS-}" ] || script="srun sh -c 'echo \$SLURM_JOB_ID >> $C/log/steps; exec sleep 3000'; true"
	script="echo \$SLURM_JOB_ID >> $C/ran; $script"
	sbatch --parsable --output=/dev/null -J "$1" -p "$2" -t 60 --requeue "${@:3}" --wrap "$script"
}
has_step() { local id; for id; do grep -qsx "$id" "$C/log/steps" || return 1; done; }	# one that hears when the job is told to end
runs_all() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
ids_run() { wait_for 30 runs_all "$@" && wait_for 30 are_launched "$@"; }
requeued_once() { local id; for id; do [ "$(job_get "$id" Restarts)" = 1 ] && job_is "$id" PENDING || return 1; done; }
left_alone() { local id; for id; do job_is "$id" RUNNING && [ "$(job_get "$id" Restarts)" = 0 ] || return 1; done; }
take() { # NAME OPTION... : the job that waits for others to be stopped
	sbatch --parsable --output=/dev/null -J "$1" -p high -t 60 --exclusive "${@:2}" --wrap "echo \$SLURM_JOB_ID >> $C/ran; exec sleep 3000"
}
holds_for() { grep -qE "^P[[:space:]]$1[[:space:]]" "$HELD" 2> /dev/null; }
holds_nothing() { status_is places ""; }
is_held() { wait_for 20 holds_for "$1" && wait_for 20 status_says places "JobId=$1:"; }	# (the status is written after the place)
gives_up() { wait_for 20 holds_nothing; }
was_stopped() { [ "$(grep -c "^S[[:space:]]$1[[:space:]]" "$HELD")" = 1 ]; }
told() { [[ $(job_get "$1" PreemptTime) == 2* ]]; }
all_told() { local id; for id; do told "$id" || return 1; done; }
ran_once() { local id; for id; do [ "$(grep -cx "$id" "$C/ran")" = 1 ] || return 1; done; }
has_ended() { ! job_is "$1" RUNNING COMPLETING; }
# Those of a flood are submitted one after the other, which takes its time, and come all at once.
flood_is_ready() { # HOW_MANY [PARTITION] : they are held
	FLOOD=()
	while [ ${#FLOOD[@]} -lt "$1" ]; do FLOOD+=("$(submit -J native -p "${2:-main}" -N1 -n1 -t 10 --hold)"); done
}
flood_comes() {
	local IFS=,
	scontrol release "${FLOOD[*]}" && scontrol update JobId="${FLOOD[*]}" Priority=100000000
}
flood() { flood_is_ready "$@" && flood_comes; }
floods() { squeue -h -n native -t R -o %N | grep -q .; }
none_on() { # NODELIST : no job of the flood runs there
	local n
	for n in $(expand "$1"); do [ -z "$(squeue -h -n native -t R -w "$n" -o %i)" ] || return 1; done
}

# Eight nodes: of each of four a victim has all, others have the rest.
machine() { # PARTITION [HOW_MANY victims obey] : each has a node for itself, or with SHARED=1 all of its cores
	local i whole=--exclusive
	[ -z "${SHARED-}" ] || whole=-n8
	well
	V=() REST=()
	for i in 1 2 3 4; do V+=("$(OBEYS=$([ "$i" -gt "${2:-0}" ] || echo 1) victim v "$1" -N1 $whole)"); done
	for i in 1 2 3 4; do REST+=("$(victim rest "$1" -N1 $whole)"); done
	ids_run "${V[@]}" "${REST[@]}"
	wait_for 30 has_step "${V[@]:0:${2:-0}}"
	PLACE=$(for i in "${V[@]}"; do job_nodes "$i"; done | paste -sd,)
}
in_place() { # JOBID
	[ "$(expand "$(job_nodes "$1")" | sort)" = "$(expand "$PLACE" | sort)" ]
}

# (Of the job that waits nothing may be changed: it would have another stamp.)
saves_jobs() { cluster_save_jobs "${REST[0]}"; }
