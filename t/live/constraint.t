#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Constraints: the nodes that Slurm's select would find, found by the engine.
. "${0%/*}/live.sh"

# What prologs are told of a job's constraint, by job.
TOLD=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/told
rm -rf "$TOLD"
mkdir -p "$TOLD"
# shellcheck disable=SC2016	# for the scripts to expand
printf '#!/bin/sh\necho "$SLURM_JOB_CONSTRAINTS" > "$0.$SLURM_JOB_ID"\n' | tee "$TOLD/ctld" > "$TOLD/node"
chmod 755 "$TOLD"/*
live_begin 8 "PrologSlurmctld=$TOLD/ctld" "Prolog=$TOLD/node"
scontrol update "NodeName=n[001-002]" AvailableFeatures=red,fast ActiveFeatures=red,fast
scontrol update "NodeName=n[003-004]" AvailableFeatures=blue,fast ActiveFeatures=blue,fast
scontrol update "NodeName=n[005-008]" AvailableFeatures=blue ActiveFeatures=blue

runs_on() { # NODES OPTION...
	local id
	id=$(submit --exclusive "${@:2}")
	starts "$id" 60
	echo "$(job_nodes "$id"), $1 expected"
	[ "$(job_nodes "$id")" = "$1" ]
	placed_by_engine "$id"
}
holds() { starts "$(submit --exclusive -N"$(expand "$1" | wc -l)" -w "$1")" 60; }

it "& and |, from left to right" runs_on 'n[003-004]' -N2 -C 'red|blue&fast' -x 'n[001-002]'
it "parentheses" runs_on 'n[001-004]' -N4 -C '(red|blue)&fast'
it "parentheses behind |" runs_on 'n[001-004]' -N4 -C 'red|(blue&fast)'
it "of a list all nodes have the same feature" runs_on 'n[003-006]' -N4 -C '[red|blue]'
it "of a list the first one that does is taken" runs_on 'n[001-002]' -N2 -C '[red|blue]'
it "a list with other features" runs_on 'n[003-004]' -N2 -C '[red|blue]&fast' -x n001

busy() {
	holds n001
	runs_on 'n[003-004]' -N2 -C 'fast&[red|blue]'
}
it "where the first one has no room the next is taken" busy

none_now() {
	local id
	holds 'n[001,005-008]'
	id=$(submit --exclusive -N3 -C '[red|blue]')
	stays_pending "$id"
	starts "$(submit --exclusive -N2 -C fast -x 'n[001-002]' -t 1)" 60
	job_is "$id" PENDING
}
it "nobody is mixed from two features, and others are not held up" none_now

prefers() {
	runs_on 'n[003-004]' -N2 -x 'n[001-002]' --prefer=fast
	runs_on n005 -N1 -x 'n[001-002]' --prefer=fast
	runs_on 'n[006-007]' -N2 -C blue -x 'n[001-002]' --prefer='[red|fast]'
}
it "features that a job would rather have are given while there are such, and others then" prefers

weighs() {
	scontrol update NodeName='n[003-004]' Weight=100
	runs_on n003 -N1 -x 'n[001-002]' --prefer=fast
	runs_on n005 -N1 -x 'n[001-002]' --prefer=blue
	scontrol update NodeName='n[003-004]' Weight=1
}
it "... whatever their weight; of those that have them the lightest" weighs

# Its tasks are dealt out by select; there were nodes that have what it would rather have, and are none now.
prefers_in_vain() {
	local id
	scontrol update "NodeName=n[001-002]" AvailableFeatures=red,fast,rare ActiveFeatures=red,fast,rare
	holds 'n[001-008]'
	id=$(submit -n2 -m plane=2 --prefer=rare)
	scontrol update "NodeName=n[001-002]" AvailableFeatures=red,fast ActiveFeatures=red,fast
	squeue -h -t R -o %i | xargs scancel
	starts "$id" 60
}
it "a job that select places starts where what it would rather have can never be" prefers_in_vain

counts() {
	runs_on 'n[003,005-006]' -N3 -C '[(blue&fast)*1&blue*2]' -x 'n[001-002,004]'
	runs_on 'n[001,007]' -N2 -C '[red*1&blue*1]' -x 'n[003-006]'
	runs_on 'n[002,004]' -N2 -C 'fast*2'
}
it "so many nodes of one feature and so many of another" counts

# What cannot be read in two ways: no job asks for it.  From 23.02 on no count outside of brackets is beside anything else;
# before, nodes of the first count are to have what is counted behind it as well.
refuses() {
	local constraint
	for constraint in '((red|blue)&fast)' '[red*2&blue]' '[blue&red*2]' '[red*1|blue*1]' 'red*1&blue*1'; do
		fails sbatch -N2 -C "$constraint" --wrap true
	done
	! slurm_since 23.02 || fails sbatch -N2 -C 'red*1&fast*2' --wrap true
}
it "slurmctld refuses what is in two parentheses, partly counted, or counted twice outside of brackets" refuses

beside_counts() {
	runs_on 'n[001,003]' -N2 -C 'fast&[red*1&blue*1]' -x n002
	runs_on 'n[005-006]' -N2 -C 'red&[(blue|red)*2]' -x 'n[001-004]'
	slurm_since 23.02 || runs_on 'n[007-008]' -N2 -C 'red&blue*2' -x 'n[001-006]'
}
it "... beside others without a count, at which Slurm does not look" beside_counts

others() {
	local held id
	scontrol update "NodeName=n[005-006]" AvailableFeatures=plain ActiveFeatures=plain
	held=$(submit --exclusive -N2 -w 'n[002,008]')
	starts "$held" 60
	runs_on 'n[001,003-004]' -N3 -C '[red*1&fast*1]'
	squeue -h -t R -o %i | xargs scancel
	wait_for 30 has_jobs RUNNING -eq 0
	held=$(submit --exclusive -N2 -w 'n[003-004]')
	starts "$held" 60
	id=$(submit --exclusive -N3 -C '[red*1&fast*1]')
	stays_pending "$id"
	scancel "$held"
	starts "$id" 60
	scontrol update "NodeName=n[005-006]" AvailableFeatures=blue ActiveFeatures=blue
}
it "where several are counted all of its nodes have one of them" others

uncounted() {
	local id
	runs_on 'n[001-002,005]' -N3 -C 'red*2' -x 'n[003-004]'
	id=$(submit --exclusive -N2 -C '[red*1&blue*1]')
	stays_pending "$id"
	starts "$(submit --exclusive -N1 -C fast -t 1)" 60
	job_is "$id" PENDING
}
it "other nodes may be any, and who waits for a feature holds up nobody" uncounted

hosts_script() {
	local id
	id=$(submit --exclusive -N3 -C 'red|blue' --batch=blue -w 'n[001-003]')
	starts "$id" 60
	placed_by_engine "$id"
	[ "$(job_get "$id" BatchHost)" = n003 ]
}
it "the script runs on a node with the features of --batch" hosts_script

# The constraint is set aside while select looks at the job: what is started must have it again.
tells_prologs() {
	local id
	id=$(submit --exclusive -N2 -C '[red*1&(blue&fast)*1]')
	starts "$id" 60
	placed_by_engine "$id"
	wait_for 20 test -s "$TOLD/ctld.$id"
	wait_for 20 test -s "$TOLD/node.$id"
	grep -Fx '[red*1&(blue&fast)*1]' "$TOLD/ctld.$id"
	grep -Fx '[red*1&(blue&fast)*1]' "$TOLD/node.$id"
	scontrol show job "$id" | grep -F 'Features=[red*1&(blue&fast)*1]'
}
it "prologs are told of counts" tells_prologs

live_end
