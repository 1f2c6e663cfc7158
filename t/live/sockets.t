#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# CR_Socket: jobs have whole sockets, as few as hold their tasks, and nobody else has a core of them.
. "${0%/*}/live.sh"
live_begin 8 SelectTypeParameters=CR_Socket_Memory DefMemPerCPU=100

# CPUs of a job on each of its nodes: "0-3,0-7".
cpus() {
	scontrol -d show job "$1" | sed -nE 's/^ *Nodes=(\S+) CPU_IDs=(\S+) .*/\1 \2/p' | while read -r list ids; do
		local node
		for node in $(expand "$list"); do echo "$node $ids"; done
	done | sort | cut -d' ' -f2 | paste -sd' '
}

gives() { # CPUS OPTION...
	local id want=$1
	shift
	id=$(submit "$@")
	starts "$id"
	echo "$*: $(cpus "$id"), $want expected"
	[ "$(cpus "$id")" = "$want" ]
	[ "$(job_get "$id" NumCPUs)" = "${CPUS:-$(job_get "$id" NumCPUs)}" ]
	placed_by_engine "$id"
}

one_each() {
	needs_lua
	gives 0-3 -n1 -w n001
	gives 4-7 -n1 -w n001
	stays_pending "$(submit -n1 -w n001)"
}
it "each of two small jobs has a socket of a node, and a third waits" one_each

as_many_as_it_takes() {
	needs_lua
	CPUS=4 gives 0-3 -n4 -w n001
	CPUS=8 gives 0-7 -n5 -w n002
	CPUS=8 gives 0-7 -N1 -n2 -c3 -w n003
	CPUS=12 gives '0-3 0-3 0-3' -N3 -n9 -w 'n[004-006]'
	stays_pending "$(submit -N1 -n5 -w n001)"
}
it "a job has as few sockets as hold its tasks" as_many_as_it_takes

over_what_is_free() {
	needs_lua
	gives 0-3 -n1 -w n001
	CPUS=16 gives '4-7 0-7 0-3' -n14 -N3 -w 'n[001-003]'
}
it "tasks are dealt out to whole sockets of what is free" over_what_is_free

# As many as hold the tasks that each node is named for, which slurmctld knows from 23.11 on.
arbitrary() {
	needs_lua
	gives '0-3 0-3' -m arbitrary -w n001,n002,n002 -n3
	! slurm_since 23.11 || gives '0-3 0-7' -m arbitrary -w n004,n003,n004,n004,n004,n004
}
it "... also where they are told to go" arbitrary

whole() {
	gives 0-7 -N1 -n1 --exclusive
}
it "an exclusive job has all sockets of a node" whole

# Memory by CPU is that of all CPUs of the sockets: 4 of 5000 MiB are more than a node's 16000, here and under Slurm.
memory() {
	local id
	needs_lua
	gives 0-3 -n1 --mem-per-cpu=2000 -w n001
	fails sbatch -n1 --mem-per-cpu=5000 --test-only --wrap true
	id=$(submit -n1 -c4 --mem-per-cpu=2500 -w n001)
	stays_pending "$id"
}
it "memory by CPU is counted for whole sockets" memory

in_turn() {
	local id
	id=$(submit -n2 -m block:cyclic -w n001)
	starts "$id"
	[ "$(cpus "$id")" = 0-7 ]
	id=$(submit -n1 -w n001)
	stays_pending "$id"
}
it "a job that asks for a core of each socket in turn has all that were free" in_turn

live_end
