#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Memory as a resource, and cores of two threads.
. "${0%/*}/live.sh"
needs_plugin
SL_NODE_SHAPE="CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 Gres=gpu:2"
SL_NODE_KINDS="RealMemory=16000 RealMemory=12000"	# n001 to n004; n005 to n008
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1" SelectTypeParameters=CR_Core_Memory \
	DefMemPerCPU=500 "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP DefaultTime=60"

# CPUs and memory of a job on each of its nodes: "n001 4 2000" a line.
layout() {
	scontrol -d show job "$1" | sed -nE 's/^ *Nodes=(\S+) CPU_IDs=(\S+) Mem=([0-9]+).*/\1 \2 \3/p'
}
engine_placed() { if schedlua explain "$1" | grep -q 'select picks'; then return 1; fi; }
undisturbed() { # nothing that was planned was refused by select
	[ "$(status failed_starts)" = "$FAILED" ]
}
remember() { FAILED=$(status failed_starts); }

per_node() {
	local a b
	remember
	a=$(submit -N1 -n1 -w n001 --mem=10000)
	starts "$a" 5
	[ "$(layout "$a")" = "n001 0-1 10000" ]
	b=$(submit -N1 -n1 -w n001 --mem=7000)
	stays_pending "$b"
	wait_for 5 job_waits_for "$b" Resources
	scancel "$a"
	starts "$b" 10
	undisturbed
}
it "memory per node is not given twice" per_node

elsewhere() {
	local i
	remember
	for i in 1 2 3 4 5 6 7 8; do submit -N1 -n1 --mem=9000 > /dev/null; done
	wait_for 10 has_jobs RUNNING -eq 8
	[ "$(squeue -h -t R -o %N | sort -u | wc -l)" = 8 ]
	i=$(submit -N1 -n1 --mem=9000)
	stays_pending "$i"
	undisturbed
}
it "jobs of half a node's memory get a node each" elsewhere

per_cpu() {
	local a b
	a=$(submit -N1 -n4 --mem-per-cpu=2000 -w n002)
	starts "$a" 5
	layout "$a"
	[[ $(layout "$a") == "n002 "*" 8000" ]]
	b=$(submit -N1 -n8 --mem-per-cpu=2000 -w n002)
	stays_pending "$b"
	scancel "$a"
	starts "$b" 10
}
it "memory per CPU is counted" per_cpu

per_gpu() {
	local a b
	a=$(submit -N1 -n1 --gres=gpu:1 --mem-per-gpu=12000 -w n003)
	starts "$a" 5
	layout "$a"
	b=$(submit -N1 -n1 --mem=8000 -w n003)
	stays_pending "$b"
}
it "memory per GPU is counted" per_gpu

whole() {
	local a b
	a=$(submit -N1 -n1 --mem=0 -w n004)
	starts "$a" 5
	[[ $(layout "$a") == "n004 "*" 16000" ]]
	b=$(submit -N1 -n1 -w n004)
	stays_pending "$b"
}
it "--mem=0 takes all memory of a node" whole

unequal() {
	local a b
	remember
	a=$(submit -N1 -n1 --mem=1 -w n002)
	starts "$a" 5
	b=$(submit -N6 -n6 --mem=0)
	starts "$b" 5
	engine_placed "$b"
	[[ $(job_get "$b" "$(slurm_tres_word)") == *mem=80000M,node=6* ]]	# two of 16000, four of 12000
	submit -N1 -n1 -w n002 --mem=15000 > "$C/other"
	starts "$(< "$C/other")" 5
	scancel "$a"
	a=$(submit -N3 -n3 --mem=0)
	stays_pending "$a"
	undisturbed
}
it "all memory of nodes that have unequal amounts is counted node by node" unequal

too_much() {
	local id
	id=$(submit -N1 --mem=20000 2>&1) || return 0
	stays_pending "$id"
	starts "$(submit -N1)"
}
it "a job that asks for more memory than a node has never starts and delays nobody" too_much

threads() {
	local a b
	a=$(submit -N1 -n16 -w n005)
	starts "$a" 5
	[ "$(job_get "$a" NumCPUs)" = 16 ]
	b=$(submit -N1 -n1 -w n005)
	stays_pending "$b"
	scancel "$a"
	starts "$b" 10
}
it "sixteen tasks fill the threads of eight cores" threads

odd_tasks() {
	local i ids=()
	remember
	for i in 1 2; do ids+=("$(submit -N1 -n3 -w n006 --mem-per-cpu=100)"); done
	for i in 1 2; do starts "${ids[$((i - 1))]}" 5; done
	layout "${ids[0]}"
	layout "${ids[1]}"
	[ "$(layout "${ids[0]}" | cut -d' ' -f2)" != "$(layout "${ids[1]}" | cut -d' ' -f2)" ]
	ids=("$(submit -N1 -n9 -w n006)")	# two and two cores are taken; five are wanted
	stays_pending "${ids[0]}"
	undisturbed
}
it "jobs do not share a core" odd_tasks

one_thread() {
	local a b
	a=$(submit -N1 -n8 --hint=nomultithread -w n007)
	starts "$a" 5
	layout "$a"
	b=$(submit -N1 -n1 -w n007)
	stays_pending "$b"
	scancel "$a"
	starts "$b" 10
	a=$(submit -N1 -n4 --threads-per-core=1 -w n008)
	starts "$a" 5
	b=$(submit -N1 -n5 --threads-per-core=1 -w n008)
	stays_pending "$b"
}
it "a task on each core without its second thread" one_thread

time_min() {
	local full id
	full=$(submit -N7 --exclusive -t 600)
	starts "$full" 5
	scontrol create reservation ReservationName=soon Users=$STRANGER StartTime=now+30minutes Duration=60 Nodes=n008 \
		Flags=IGNORE_JOBS
	id=$(submit -N1 -t 120 --time-min=10)
	starts "$id" 10
	[[ $(job_get "$id" TimeLimit) =~ ^00:(2[5-9]|30): ]]
	scontrol requeuehold "$id"
	wait_for 10 job_is "$id" PENDING
	wait_for 5 eval '[ "$(job_get '"$id"' TimeLimit)" = 02:00:00 ]'
	scontrol delete ReservationName=soon
}
it "a job with a minimum time starts for as long as there is room, and has its own limit back when requeued" time_min

many() {
	local i ids=()
	for i in {1..30}; do ids+=("$(FOR=0 submit -n$((i % 7 + 1)) --mem-per-cpu=$((i * 50)))"); done
	wait_for 30 none_left
	for i in "${ids[@]}"; do
		job_is "$i" COMPLETED
		[ "$(job_get "$i" Restarts)" = 0 ]
	done
}
none_left() { [ -z "$(squeue -h -t PD,R,CG -o %i)" ]; }
it "a mix of thirty jobs all run once" many

live_end
