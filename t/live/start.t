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

interactive() {
	[ "$(timeout 30 srun -N3 --ntasks-per-node=1 hostname | wc -l)" = 3 ]
}
it "srun gets an allocation and runs its tasks" interactive

allocation() {
	local nodes
	nodes=$(timeout 30 salloc -Q -N2 bash -c 'echo $SLURM_JOB_NUM_NODES')
	[ "$nodes" = 2 ]
}
it "salloc gets an allocation" allocation

live_end
