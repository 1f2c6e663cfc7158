#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Jobs start, run and finish, however they were submitted.
. "${0%/*}/live.sh"
live_begin 16

batch() {
	local id
	id=$(FOR=1 submit -N2)
	starts "$id"
	ends "$id"
	[ "$(job_get "$id" NumNodes)" = 2 ]
}
it "a batch job starts and finishes" batch

step() {
	[ "$(timeout 300 srun -N3 --ntasks-per-node=1 hostname | wc -l)" = 3 ]
}
it "srun gets an allocation and runs its tasks" step

allocation() {
	# shellcheck disable=SC2016
	[ "$(timeout 300 salloc -Q -N2 bash -c 'echo $SLURM_JOB_NUM_NODES')" = 2 ]
}
it "salloc gets an allocation and gives it back" allocation

step_in_allocation() {
	[ "$(timeout 300 salloc -Q -N2 -n4 srun hostname | wc -l)" = 4 ]
}
it "srun in an allocation of salloc uses its nodes" step_in_allocation

immediate_now() {
	timeout 300 srun --immediate=60 -N1 true
}
it "srun --immediate starts at once on an idle cluster" immediate_now

immediate_never() {
	local id
	id=$(submit -N "$NODES" --exclusive)
	starts "$id"
	fails timeout 300 srun --immediate=1 -N1 true
	wait_for 10 has_jobs PENDING -eq 0
}
it "srun --immediate gives up on a full cluster and leaves nothing queued" immediate_never

many() {
	local i id ids=()
	for i in {1..40}; do ids+=("$(FOR=0 submit -n1)"); done
	wait_for 60 none_active
	for id in "${ids[@]}"; do
		job_is "$id" COMPLETED
		[ "$(job_get "$id" Restarts)" = 0 ]
	done
}
none_active() { [ -z "$(squeue -h -t PD,R,CG -o %i)" ]; }
it "forty small jobs all run once" many

array() {
	local id
	id=$(FOR=0 submit -n1 --array=1-12)
	wait_for 60 none_active
	[ "$(squeue -h -r -t COMPLETED -j "$id" -o %i | wc -l)" = 12 ]
}
it "every task of an array runs" array

order() {
	local wide first second
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	first=$(submit -N "$NODES" --exclusive)
	second=$(submit -N "$NODES" --exclusive)
	stays_pending "$first"
	scancel "$wide"
	starts "$first"
	job_is "$second" PENDING
}
it "of two jobs that need everything the earlier one starts" order

priority() {
	local wide first second
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	first=$(submit -N "$NODES" --exclusive)
	second=$(submit -N "$NODES" --exclusive)
	scontrol update JobId="$second" Priority=4294950000
	scancel "$wide"
	starts "$second"
	job_is "$first" PENDING
}
it "a job whose priority is raised goes first" priority

backfill() {
	needs_engine
	local long wide short
	long=$(submit -N $((NODES - 1)) --exclusive -t 60)
	starts "$long"
	wide=$(submit -N "$NODES" --exclusive -t 60)
	short=$(submit -N1 --exclusive -t 10)
	starts "$short" 40
	job_is "$wide" PENDING
}
it "a short job is backfilled behind a wide one that must wait" backfill

no_delay() {
	needs_engine
	local long wide other
	long=$(submit -N $((NODES - 1)) --exclusive -t 30)
	starts "$long"
	wide=$(submit -N "$NODES" --exclusive -t 60)
	other=$(submit -N1 --exclusive -t 90)
	stays_pending "$other"
	job_is "$wide" PENDING
}
it "a long job is not backfilled where it would delay the wide one" no_delay

live_end
