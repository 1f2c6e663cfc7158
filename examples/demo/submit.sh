#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# submit.sh FILE - submit the jobs that workload.lua wrote, each at its time:
# with sbatch, with srun, with salloc.  Runs in the cluster's (compressed) time.
#
# All clients of one moment are started together, up to a few at a time.

MAX_AT_ONCE=4
begin=$EPOCHSECONDS

submit() { # KIND NODES TASKS GPUS MINUTES RUNTIME EXCLUSIVE NAME
	local kind=$1
	local -a request=(-N "$2" -n "$3" -t "$5" -J "$8")
	[ "$4" = 0 ] || request+=(--gres="gpu:$4")
	[ "$7" = 0 ] || request+=(--exclusive)
	case $kind in
	batch) sbatch -Q -o /dev/null "${request[@]}" --wrap "exec sleep $6" ;;
	srun) srun -Q "${request[@]}" sleep "$6" ;;
	salloc) salloc -Q "${request[@]}" sleep "$6" ;;
	esac
}

clients=0
while IFS=$'\t' read -r at kind nodes tasks gpus minutes runtime exclusive name; do
	wait_s=$((begin + at - EPOCHSECONDS))
	[ $wait_s -le 0 ] || sleep $wait_s
	submit "$kind" "$nodes" "$tasks" "$gpus" "$minutes" "$runtime" "$exclusive" "$name" < /dev/null &
	[ "$kind" = batch ] || continue		# srun and salloc stay until their job ends
	((++clients % MAX_AT_ONCE)) || wait $!
done < "$1"
wait
