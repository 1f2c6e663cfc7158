#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Heterogeneous jobs, which Slurm accepts where the plug-in has the name sched/backfill: all
# components start at once, or none does.
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
needs_plugin
: "${SL_PLUGINDIR:=$TOP/.work/inst/lib/slurm}"

# Slices of GPUs are left to select: a component that wants some of them may be refused.
plain_gres_conf=$(declare -f cluster_gres_conf)
eval "plain_$plain_gres_conf"
cluster_gres_conf() {
	plain_cluster_gres_conf
	echo "Name=shard Count=8"
}
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2,shard:8"
live_begin 8 GresTypes=gpu,shard SchedulerType=sched/backfill "PluginDir=$SL_PLUGINDIR/schedlua:$SL_PLUGINDIR:$SL_SLURM_PLUGINS"
wait_for 30 log_has 'sched/lua: the engine runs' || { echo "Bail out! the plug-in is not there under that name"; exit 1; }

components() { squeue -h -j "$1" -t all -o '%i %T %D'; }	# JOBID
are() { [ "$(components "$1" | awk '{ print $2 }' | sort -u)" = "$2" ]; }	# JOBID STATE
never_some() { [ "$(components "$1" | awk '{ print $2 }' | sort -u | wc -l)" = 1 ]; }

batch() {
	local id
	id=$(sbatch --parsable -o "$C/jobs/het.out" -N2 --exclusive : -N3 --exclusive --wrap 'srun --het-group=0,1 hostname | wc -l; env | grep ^SLURM_HET')
	wait_for 20 are "$id" COMPLETED || { components "$id"; cat "$C/jobs/het.out"; false; }
	grep -qx 5 "$C/jobs/het.out"
	grep -qx SLURM_HET_SIZE=2 "$C/jobs/het.out"
}
it "the components of a batch job run together" batch

interactive() {
	[ "$(timeout 300 srun -N1 hostname : -N2 hostname | wc -l)" = 3 ]
	timeout 300 salloc -N1 : -N1 : -N2 true
}
it "srun and salloc get all components" interactive

together() {
	local busy id
	busy=$(submit -N4 --exclusive)
	starts "$busy"
	id=$(submit -N2 --exclusive : -N4 --exclusive)
	stays_pending "$id"
	are "$id" PENDING
	[ "$(sinfo -h -t idle -o %D)" = 4 ]
	scancel "$busy"
	wait_for 20 are "$id" RUNNING
	[ "$(components "$id" | awk '{ n += $3 } END { print n }')" = 6 ]
}
it "none starts while one has to wait" together

not_delayed() {
	local busy id behind
	busy=$(submit -N4 --exclusive -t 10)
	starts "$busy"
	id=$(submit -N3 --exclusive -t 10 : -N4 --exclusive -t 10)
	stays_pending "$id"
	behind=$(submit -N4 --exclusive -t 60)
	stays_pending "$behind"
	scancel "$busy"
	wait_for 20 are "$id" RUNNING
	stays_pending "$behind"
}
it "a job behind it does not delay its second component" not_delayed

never() {
	local id other
	id=$(submit -N1 : -N1 --begin=now+1hour)
	other=$(submit -N8 --exclusive)
	starts "$other"
	are "$id" PENDING
}
it "one of which a component cannot start holds nobody up" never

apart() {
	local id
	id=$(submit -N2 -n2 : -N2 -n2)
	wait_for 20 are "$id" RUNNING
	[ "$(squeue -h -j "$id" -o %N | sort | xargs)" = 'n[001-002] n[003-004]' ]
}
it "its components get nodes of their own" apart

# With GPUs on some nodes only, which the first component would be given as well.
narrow_second() {
	local id gpus
	id=$(submit -N4 --exclusive : -N4 --exclusive -w 'n[001-004]')
	wait_for 20 are "$id" RUNNING
	gpus=$(squeue -h -j "$id" -o '%i %N' | sort | awk 'NR == 2 { print $2 }')
	[ "$gpus" = 'n[001-004]' ]
	scancel "$id"
	wait_for 20 are "$id" CANCELLED
	scontrol update "NodeName=n[001-004]" AvailableFeatures=fast ActiveFeatures=fast
	id=$(submit -N3 --exclusive : -N4 --exclusive -C fast : -N1 --exclusive)
	wait_for 20 are "$id" RUNNING
	[ "$(squeue -h -j "$id" -o '%i %N' | sort | awk 'NR == 2 { print $2 }')" = 'n[001-004]' ]
	scontrol update "NodeName=n[001-004]" AvailableFeatures= ActiveFeatures=
}
it "a component that needs certain nodes gets them, whichever comes first" narrow_second

cancelled() {
	local id
	submit -N8 --exclusive > "$C/id"
	starts "$(cat "$C/id")"
	id=$(submit -N1 : -N1)
	stays_pending "$id"
	scancel "$id"
	wait_for 10 are "$id" CANCELLED
}
it "it is cancelled as a whole" cancelled

again() {
	local id
	id=$(submit -N2 : -N2)
	wait_for 20 are "$id" RUNNING
	cluster_ctld_kill
	cluster_ctld_start
	wait_for 30 cluster_nodes_ready 8
	are "$id" RUNNING
	scancel "$id"
	id=$(FOR=1 submit -N2 : -N2)
	wait_for 30 are "$id" COMPLETED
}
it "slurmctld may be started anew while it runs" again

limits() {
	local lacks id
	! lacks=$(lacks_database) || skip "$lacks"
	database_up
	sacctmgr -i -Q add account team cluster=schedlua GrpTRES=cpu=5 > "$C/sacctmgr"
	sacctmgr -i -Q add user root account=team >> "$C/sacctmgr"
	database_enforce associations,limits
	id=$(submit -A team -n3 : -A team -n3)
	stays_pending "$id"
	stays_pending "$id"
	are "$id" PENDING
	[ "$(sinfo -h -t idle -o %D)" = 8 ]
	fails log_has 'is taken back'
	sacctmgr -i -Q modify account team set GrpTRES=cpu=6
	wait_for 40 are "$id" RUNNING
	scancel "$id"
	wait_for 20 are "$id" CANCELLED
	wait_for 20 nobody_counts team
}
nobody_counts() { [ "$(scontrol -o show assoc_mgr "accounts=$1" flags=assoc | grep -o 'GrpJobs=[^ ]*' | sort -u)" = 'GrpJobs=N(0)' ]; }
it "limits hold for all components together" limits

# What accounting counts of an account: "GrpJobs=N(0) GrpSubmitJobs=N(2)".
counted() {
	scontrol -o show assoc_mgr "accounts=$1" flags=assoc | grep -oE 'Grp(Submit)?Jobs=[^ ]*' | sort -u | xargs
}
counts() { [ "$(counted "$1")" = "GrpJobs=N($2) GrpSubmitJobs=N($3)" ]; }
idle() { [ "$(sinfo -h -t idle -o %D)" = "$1" ]; }

# Its first two components are started; select refuses the third.
taken_back() {
	local busy id account=()
	if ! lacks_database; then
		sacctmgr -i -Q add account torn cluster=schedlua > "$C/sacctmgr"
		sacctmgr -i -Q add user root account=torn >> "$C/sacctmgr"
		account=(-A torn)
	fi
	busy=$(submit -N1 -n1 -w n008 --gres=gpu:2)
	starts "$busy"
	id=$(submit "${account[@]}" -N1 -w n001 : "${account[@]}" -N2 -w 'n[002-003]' : "${account[@]}" -N1 -w n008 --gres=shard:1)
	wait_for 20 log_has "JobId=${id}[+]1.*is taken back: another component"
	wait_for 20 log_has "JobId=${id}[+]0.*is taken back: another component"
	wait_for 20 idle 7
	wait_for 20 are "$id" PENDING
	[ "$(components "$id" | wc -l)" = 3 ]
	[ -z "${account[*]}" ] || wait_for 20 counts torn 0 "$(slurm_counts_components 3)"
	starts "$(submit -N7 --exclusive -x n008)"	# what they had is free
	cluster_ctld_kill
	cluster_ctld_start
	wait_for 30 cluster_nodes_ready 8
	are "$id" PENDING
	[ -z "${account[*]}" ] || wait_for 20 counts torn 0 3
	scancel "$id"
	wait_for 20 are "$id" CANCELLED
	[ -z "${account[*]}" ] || wait_for 20 counts torn 0 0
}
it "components that were started are taken back when select refuses one" taken_back

live_end
