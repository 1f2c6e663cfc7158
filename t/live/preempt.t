#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Jobs that a plan stops for others, and the place that is held until these start: against a flood of jobs, over the end of
# the engine and of slurmctld. The engine is t/plugin/fake_engine, in which the names of jobs say who is stopped for whom
# (t/plugin/fake_stops.h), and which has select put jobs with other names wherever it likes.
. "${0%/*}/live.sh"
needs_plugin
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"

built=$SL_BUILD/t/plugin/fake_engine
[ -x "$built" ] || skip_all "t/plugin/fake_engine is not built"
FAKE=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/fake_engine
LUA=defer,sched_interval=-1,lua_interval=0.5,lua_wake=50,lua_engine=$FAKE
STOCK=bf_interval=1,sched_interval=1,sched_min_interval=0,default_queue_depth=2000
# Under that name heterogeneous jobs are accepted. What is requeued waits for as long as credentials last.
live_begin 8 "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=graced Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=10" \
	"PartitionName=paused Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE" \
	"PartitionName=killed Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL" \
	"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=OFF" \
	"PartitionName=top Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=20 PreemptMode=OFF" \
	"PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF" \
	PreemptType=preempt/partition_prio PreemptMode=REQUEUE "SchedulerParameters=$LUA" \
	SchedulerType=sched/backfill "PluginDir=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$SL_SLURM_PLUGINS"
cp "$built" "$FAKE.new" && echo stops > "$FAKE.mode" && mv "$FAKE.new" "$FAKE"
HELD=$C/state/schedlua/held

restart() { # lua|stock|shadow
	local parameters=$LUA plugins=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$SL_SLURM_PLUGINS
	[ "$1" != stock ] || parameters=$STOCK plugins=$SL_SLURM_PLUGINS
	[ "$1" != shadow ] || parameters=$STOCK,lua_shadow=backfill,${LUA#*-1,}
	cluster_conf "SchedulerParameters=$parameters" "PluginDir=$plugins"
	cluster_ctld_start
	wait_for 60 cluster_nodes_ready "$NODES"
}
fresh() { cluster_ctld_kill; restart "$1"; }

# The engine is as it should be, whatever the last scene left of it.
well() {
	[ ! -e "$FAKE.away" ] || mv "$FAKE.away" "$FAKE"
	status_is source site || { scontrol reconfigure; wait_for 30 status_is source site; }
}

# A victim: NAME PARTITION [OPTION...]. Slurm sends SIGTERM to the steps of a batch job, so one without any ends when its
# GraceTime is over. With OBEYS=1 it ends when it is told to.
victim() {
	local script='exec sleep 600'
	[ -z "${OBEYS-}" ] || script='srun sleep 600; true'
	sbatch --parsable --output=/dev/null -J "$1" -p "$2" -t 60 --requeue "${@:3}" --wrap "$script"
}
runs_all() { local id; for id; do job_is "$id" RUNNING || return 1; done; }
ids_run() { wait_for 30 runs_all "$@"; }
requeued_once() { local id; for id; do [ "$(job_get "$id" Restarts)" = 1 ] && job_is "$id" PENDING || return 1; done; }
left_alone() { local id; for id; do job_is "$id" RUNNING && [ "$(job_get "$id" Restarts)" = 0 ] || return 1; done; }
take() { # NAME OPTION... : the job that waits for others to be stopped
	submit -J "$1" -p high -t 60 --exclusive "${@:2}"
}
holds_for() { grep -qE "^P[[:space:]]$1[[:space:]]" "$HELD" 2> /dev/null; }
holds_nothing() { ! grep -q '^P' "$HELD" 2> /dev/null; }
is_held() { wait_for 20 holds_for "$1"; }
gives_up() { wait_for 20 holds_nothing; }
was_stopped() { [ "$(grep -c "^S[[:space:]]$1[[:space:]]" "$HELD")" = 1 ]; }
told() { [[ $(job_get "$1" PreemptTime) == 2* ]]; }
all_told() { local id; for id; do told "$id" || return 1; done; }
has_ended() { ! job_is "$1" RUNNING COMPLETING; }
starts_of() { grep -c "sched/lua: started JobId=$1 " "$C/log/slurmctld.log"; }
flood() { # HOW_MANY [PARTITION]
	local i
	for i in $(seq "$1"); do submit -J native -p "${2:-main}" -N1 -n1 -t 10 --priority=100000000 > /dev/null; done
}
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
	PLACE=$(for i in "${V[@]}"; do job_nodes "$i"; done | paste -sd,)
}
in_place() { # JOBID
	[ "$(expand "$(job_nodes "$1")" | sort)" = "$(expand "$PLACE" | sort)" ]
}

# ------------------------------------------------------------------------ scenes

requeues() {
	local job stops
	machine low
	stops=$(status stops)
	job=$(take take_v -N4)
	starts "$job" 60
	in_place "$job"
	wait_for 20 requeued_once "${V[@]}"
	left_alone "${REST[@]}"
	gives_up
	wait_for 10 eval '[ "$(status stops)" = '$((stops + 4))' ]'
	grep -qE "\"stopped\": ?\[\{\"job\": ?${V[0]}, ?\"preemptor\": ?$job," "$C/state/schedlua/decisions.jsonl"
	schedlua status | grep -q '^jobs stopped '
	schedlua status --openmetrics | grep -q '^schedlua_stops_total [1-9]'
	[ "$(starts_of "$job")" = 1 ]
}
it "victims are requeued exactly once and whole, and nobody else is" requeues

cancels() {
	local job
	machine killed
	job=$(take take_v -N4)
	starts "$job" 60
	wait_for 20 eval 'for i in '"${V[*]}"'; do job_is "$i" PREEMPTED CANCELLED || exit 1; done'
	left_alone "${REST[@]}"
}
it "victims are cancelled where Slurm has that mode" cancels

graced() {
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	wait_for 10 all_told "${V[@]}"
	runs_all "${V[@]}"
	wait_for 10 job_waits_for "$job" 'waits for 4 jobs that are being stopped for it'
	wait_for 10 status_says places "JobId=$job: .*, 4 jobs left"
	job_is "$job" PENDING
	starts "$job" 60
	in_place "$job"
	wait_for 20 requeued_once "${V[@]}"
	left_alone "${REST[@]}"
}
it "GraceTime passes between being told to end and being ended" graced

flooded() {
	local job
	machine graced 2
	job=$(take take_v -N4)
	is_held "$job"
	flood 40
	wait_for 20 has_ended "${V[0]}"
	wait_for 20 has_ended "${V[1]}"
	stays_pending "$job"
	none_on "$PLACE"
	starts "$job" 60
	in_place "$job"
	none_on "$PLACE"
	left_alone "${REST[@]}"
	# they ended by themselves, and were not stopped once more (later releases requeue who ends within its GraceTime)
	[ "$(job_get "${V[0]}" Restarts)" -le 1 ]
}
it "the place is held against a flood of jobs that select places" flooded

gang_of_het() {
	local job id
	id=$(sbatch --parsable --output=/dev/null -J v -p low -t 60 --requeue -N2 --exclusive : -J v -p low -N2 --exclusive \
		--wrap 'exec sleep 600')
	wait_for 30 eval '[ "$(squeue -h -j '"$id"' -t R -o %i | wc -l)" = 2 ]'
	PLACE=$(squeue -h -j "$id" -o %N | paste -sd,)
	job=$(take gang_v -N4)
	starts "$job" 60
	in_place "$job"
	wait_for 20 eval '[ "$(squeue -h -j '"$id"' -t PD -o %i | wc -l)" = 2 ]'
	[ "$(scontrol -o show job "$id" | grep -c ' Restarts=1 ')" = 2 ]
}
it "all components of a heterogeneous job are stopped together" gang_of_het

cancelled() {
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	scancel "$job"
	gives_up
	log_has "the place that is held for JobId=$job is given up: the job is gone"
	flood 4
	wait_for 60 floods
}
it "the place is given up when its job is cancelled" cancelled

held_by_user() {
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	scontrol hold "$job"
	gives_up
}
it "the place is given up when its job is held" held_by_user

brief() {
	local job
	machine graced
	job=$(take brief_v -N4)
	is_held "$job"
	gives_up
	log_has "the place that is held for JobId=$job is given up: its time is over"
}
it "the place is given up when its time is over" brief

engine_dies() {
	local job pid
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	pid=$(engine_pid)
	kill -9 "$pid"
	flood 20
	wait_for 20 cluster_gone "$pid"
	starts "$job" 60
	in_place "$job"
	wait_for 20 requeued_once "${V[@]}"
}
it "the place is held when the engine is killed" engine_dies

without_engine() {
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	mv "$FAKE" "$FAKE.away"
	kill -9 "$(engine_pid)"
	wait_for 20 status_is source fallback
	flood 20
	starts "$job" 60
	in_place "$job"
	none_on "$PLACE"
	well
}
it "the place is held while nobody but the plug-in decides, which starts the job there" without_engine

# The file of jobs has what waits by now: what slurmctld had not saved when it was killed is not the scheduler's to keep.
# (Of the job that waits nothing may be changed: it would have another stamp.)
saves_jobs() {
	touch "$C/mark"
	scontrol update JobId="${REST[0]}" Comment=save
	wait_for 15 eval '[ "$C/state/job_state" -nt "$C/mark" ]'
}

killed_between() { # SCHEDULER it comes up with
	local job
	machine graced
	job=$(take take_v -N4)
	is_held "$job"
	wait_for 10 all_told "${V[@]}"
	saves_jobs
	cluster_ctld_kill KILL
	holds_for "$job"
	restart "$1"
	JOB=$job
}
survives() {
	killed_between lua
	flood 20
	holds_for "$JOB"
	starts "$JOB" 90
	in_place "$JOB"
	none_on "$PLACE"
	wait_for 30 requeued_once "${V[@]}"
	left_alone "${REST[@]}"
	[ "$(starts_of "$JOB")" = 1 ]
}
it "slurmctld is killed between signal and start: the place is held, nobody is stopped or started twice" survives

blocks_nothing() {
	killed_between stock
	wait_for 90 has_ended "${V[0]}"
	starts "$JOB" 60
	fresh lua
	gives_up
}
it "where another scheduler comes up nothing is left that blocks" blocks_nothing

shadowed() {
	local job
	fresh shadow
	wait_for 20 status_is shadow backfill
	machine main
	scontrol update PartitionName=main PreemptMode=REQUEUE
	job=$(take take_v -N4)
	wait_for 20 eval "grep -qE '\"preemptor\": ?$job,.*\"fate\": ?\"shadow\"' $C/state/schedlua/decisions.jsonl"
	holds_nothing
}
it "in shadow mode it is said who would have been stopped" shadowed

suspends() {
	local job
	cluster_ctld_kill
	cluster_conf PreemptMode=SUSPEND,GANG \
		"PartitionName=paused Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=SUSPEND"
	restart lua
	SHARED=1 machine paused	# (no job is put beside one that has its node for itself)
	job=$(submit -J take_v -p high -t 60 -N4 -n4)
	starts "$job" 30
	in_place "$job"
	for id in "${V[@]}"; do wait_for 20 job_is "$id" SUSPENDED; done
	left_alone "${REST[@]}"
	holds_nothing
	scancel "$job"
	ids_run "${V[@]}"
	left_alone "${V[@]}"
}
it "where gang scheduling suspends victims the job starts beside them, and they go on afterwards" suspends
cluster_conf PreemptMode=REQUEUE "PartitionName=paused Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE"

# Those that are stopped for one job make room for others, for whom more are stopped.
stock_loses() {
	local job
	fresh stock
	V=()
	for _ in $(seq 8); do V+=("$(victim v graced -N1 --exclusive)"); done
	ids_run "${V[@]}"
	job=$(submit -J take_v -p high -N4 --exclusive -t 60)
	wait_for 30 eval '[ "$(squeue -h -t R -n v -o %i | while read -r id; do told "$id" && echo; done | wc -l)" -ge 4 ]'
	flood 40 top
	wait_for 60 floods
	job_is "$job" PENDING
}
it "under sched/backfill a flood has the nodes that were freed for another job" stock_loses

live_end
