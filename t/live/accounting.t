#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What "./quickstart shell --accounting" has: accounts, a QOS that preempts, limits, fair share.
. "${0%/*}/live.sh"
. "${0%/*}/database.sh"
needs_database
needs_plugin
live_begin 8
needs_engine

it "the database comes up with all that the shell has, and slurmctld enforces it" database_to_try 8

urgent() {
	local low job
	low=$(submit -A course -N8 --exclusive --requeue -t 60)
	starts "$low"
	job=$(submit -A lab -q urgent -N1 --exclusive -t 10)
	starts "$job" 90
	wait_for 20 eval '[ "$(job_get '"$low"' Restarts)" = 1 ]'	# (when it has ended on all of its nodes)
}
it "a job of QOS urgent preempts one that is normal" urgent

limited() {
	local first second
	sacctmgr -i -Q modify account course set GrpTRES=cpu=8 > /dev/null
	wait_for 20 eval 'scontrol show assoc_mgr flags=assoc | grep -q "GrpTRES=cpu=8("'
	first=$(submit -A course -n8)
	starts "$first"
	second=$(submit -A course -n1)
	wait_for 30 job_waits_for "$second" AssocGrpCpuLimit
}
it "a limit of an account holds its job back" limited

shares() { sshare -a -n -P -A course,lab -o account,fairshare | grep -Eq '^ *course\|' && sprio -n -o '%F' -h > /dev/null; }
it "each account has its fair share" shares

live_end
