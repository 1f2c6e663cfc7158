# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# releases.sh - what one release of Slurm shows or does otherwise than another, as far as tests
# meet it; for sourcing by cluster.sh.  What the plug-in meets is in plugin/records/compat.h.

# slurm_since 23.11 : the cluster's Slurm is of that series or a later one
slurm_since() {
	local version
	version=$("$C/bin/slurmctld" -V)
	[ "$(printf '%s\n' "$1" "${version##* }" | sort -V | head -n 1)" = "$1" ]
}

slurm_series() { "$C/bin/slurmctld" -V | sed -nE 's/^[^0-9]*([0-9]+\.[0-9]+).*/\1/p'; }

# cgroup.conf of a cluster that has none.
slurm_cgroup_conf() {
	if slurm_since 24.05; then echo "CgroupPlugin=disabled"; else echo "CgroupPlugin=cgroup/v1"; fi
}

# DIR : what else has to stand beside slurm.conf.  Without a database 23.11 and 24.05 take the error of the last
# file that was not found for the database's: their main scheduler then has an invalid account for every job.
slurm_other_conf() {
	if slurm_since 23.11 && ! slurm_since 24.11; then touch "$1/mpi.conf" "$1/acct_gather.conf"; fi
}

# From 23.11 on slurmctld executes itself anew when it is reconfigured: another process, the same service.
slurm_reconfigures_in_process() { ! slurm_since 23.11; }

# The process that it is then, as long as its pid does not stand in the file: it writes that when the one before
# has ended.
slurm_ctld_anew() {
	local pid
	! slurm_reconfigures_in_process || return 1
	for pid in $(pgrep -x slurmctld); do
		grep -qszxF "SCHEDLUA_CLUSTER=$C" "/proc/$pid/environ" && ! cluster_gone "$pid" && echo "$pid" && return
	done
	return 1
}

# A command that changes accounts, or reconfigures.  Where that executes slurmctld anew, it and slurmdbd wait
# for each other without end when slurmdbd tells it of a change at that moment (seen in 24.11.7): not
# both at once there.
slurm_one_at_a_time() { # COMMAND...
	if slurm_reconfigures_in_process; then "$@"; else flock "$C/run/accounts" "$@"; fi
}

# What a job for two GPUs of one type and one of another has, where each node has one of each: on its
# second node one of each as well, as later releases of select/cons_tres give them (under stock too).
slurm_gives_two_types() {
	if slurm_since 24.05; then echo "4 on 2"; else echo "3 on 2"; fi
}

# gpu:2 : as the tres_per_* of a job show it
slurm_shows_gres() {
	if slurm_since 23.11; then echo "gres/$1"; else echo "gres:$1"; fi
}

# scontrol's word for what a job that runs has in all
slurm_tres_word() {
	if slurm_since 23.02; then echo AllocTRES; else echo TRES; fi
}

# What a reservation of so many cores of each of so many nodes says
slurm_cores_of_each() { # CORES NODES
	if slurm_since 23.11; then echo "TRESPerNode=cpu=$1"; else echo "CoreCnt=$(yes "$1" | head -n "$2" | paste -sd,)"; fi
}

# Does it start jobs with such options?  24.11.7 starts none of those that count features ([a*2&b*2]) and say how
# many tasks they have: its select finds the nodes busy, under any scheduler.
slurm_starts_counts() { # OPTIONS
	! slurm_since 24.11 || slurm_since 25.05 || [[ " $1" != *" -n"* ]]
}

# Does it give such a job a core of each of its nodes?  24.11 to 25.11 give none of the last nodes where features are
# counted to more nodes than there are tasks ([a*2&b*2] and -n2), under stock too.
slurm_fills_counts() { # OPTIONS
	local n nodes=0
	if ! slurm_since 24.11 || slurm_since 26.05 || ! [[ $1 =~ \ -n([0-9]+) ]]; then return 0; fi
	for n in $(grep -oE '[*][0-9]+' <<< "$1" | tr -d '*'); do nodes=$((nodes + n)); done
	[ "${BASH_REMATCH[1]}" -ge "$nodes" ]
}

# Does it give a job that says how many tasks the CPUs of --mincpus?  From 24.11.1 on it gives those of its tasks, under
# stock too, of nodes that have so many.  (Of a number of nodes and the sockets, cores or threads of each sbatch makes tasks.)
slurm_gives_mincpus() { # OPTIONS
	! slurm_since 24.11.1 || [[ $1 != *--mincpus* ]] ||
		! [[ $1 =~ \ (-n|--ntasks=|--(sockets-per-node|cores-per-socket|threads-per-core|extra-node-info)=)[0-9]+ ]]
}

# Does it let others onto nodes of such a job?  23.11 to 25.05 do not, where it is of a partition that does not share
# cores, and some other partition does (under stock too).
slurm_lets_others_on() { # OPTIONS
	! slurm_since 23.11 || slurm_since 25.11 || [[ $1 != *--oversubscribe* ]]
}

# Does it give a job with --core-spec, which has its nodes for itself, all their other cores?  24.11 gives as many as
# its tasks of several CPUs go into, under stock too.
slurm_gives_spec_cores() { # OPTIONS
	! slurm_since 24.11 || [[ $1 != *-spec=* ]] || ! [[ $1 =~ \ -c[2-9] ]]
}

# Does it start a job of one task that says --ntasks-per-node=2, on parts of nodes?  From 25.11 on select deals out two tasks,
# has CPUs for one, and finds the nodes busy for ever, under stock too.
slurm_starts_one_of_several() { ! slurm_since 25.11; }

# Is there nothing among such options that its select does wrong?
slurm_does_right() { # OPTIONS
	slurm_fills_counts "$1" && slurm_gives_mincpus "$1" && slurm_lets_others_on "$1" && slurm_gives_spec_cores "$1"
}

# True if select/cons_tres chooses a node for a job that may have only one.  From 26.05 on it gives it the first one that
# will do, by weight (_get_one_res()), before it looks at pack_serial_at_end and LLN.
slurm_chooses_one_node() { ! slurm_since 26.05; }

# True if Slurm's own schedulers expect a job to start when --time-min of those that run is over (time_min_as_soft_limit).
# Before 25.05.4 backfill alone knows that word: the will-run test of select/cons_tres, which says when a job can start,
# takes the time limits of running jobs (_will_run_test(), job_ptr->end_time).
slurm_expects_soft_ends() { slurm_since 25.05.4; }

# True if Slurm's own schedulers expect a job that outlasts its time to run on for OverTimeLimit.  From 24.11 on select takes it
# to be gone when it tells when a wide job could start (will_run_data_t, _build_cr_job_list()): now, again and again, so that
# backfill keeps all others from starting beside that one.
slurm_expects_overdue_jobs() { ! slurm_since 24.11; }

# NumNodes=1 : from 25.05 on scontrol has an upper bound, too, as long as nobody has looked where a job fits
slurm_shows_nodes() { sed -E 's/NumNodes=([0-9]+)-\1( |$)/NumNodes=\1\2/'; }

# JOBID : it waited for a licence that was taken away: Slurm takes it off the job, which starts, or from
# 26.05 on holds the job.
slurm_let_go_of_licence() {
	if slurm_since 26.05; then
		wait_for 30 eval '[ "$(job_get '"$1"' Priority)" = 0 ]'
	else
		starts "$1" 30
	fi
}

# What accounting counts as submitted of a heterogeneous job of so many components: 26.05 puts all but the first
# where they are forgotten when all are there (under stock too), until slurmctld is started anew.
slurm_counts_components() {
	if slurm_since 26.05; then echo 1; else echo "$1"; fi
}

# PID LOG : the backup that is asked for control gives it back.  In 24.05 it signals a thread that never takes
# signals, and stays: it has to be told once more (doc/releases.md).
slurm_backup_lets_go() {
	if ! slurm_since 24.05 || slurm_since 24.11; then return 0; fi
	wait_for 60 grep -q 'RPC: REQUEST_CONTROL' "$2" && kill "$1"
}

# Not 25.05: slurmctld 25.05.8 ends with SIGSEGV in one of some tens of reconfigurations, under sched/backfill as
# well: threads that go on (a job that is submitted, say) ask accounting, which is shut already.
slurm_reconfigures_safely() { ! slurm_since 25.05 || slurm_since 25.11; }

# In a test of many reconfigurations.
slurm_needs_safe_reconfigure() {
	slurm_reconfigures_safely || skip "slurmctld 25.05 itself does not survive this, under any scheduler"
}
