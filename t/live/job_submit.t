#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What sched.job_submit says of a job_submit.lua is what slurmctld's job_submit/lua makes of it.
. "${0%/*}/live.sh"
needs_plugin
ls "$SL_SLURM_PLUGINS"/job_submit_lua.so > /dev/null 2>&1 || skip_all "this Slurm has no job_submit/lua"
# The Lua that this Slurm is built with, if its interpreter is here: 5.3 and later print 30 as 30.0, say.
for LUA in $(ldd "$SL_SLURM_PLUGINS/job_submit_lua.so" | sed -n 's/.*liblua\(5\.[0-9]\).*/lua\1/p' | head -n 1) lua5.1 lua5.4; do
	command -v "$LUA" > /dev/null && break
done
command -v "$LUA" > /dev/null || skip_all "no Lua"
LIVE_LINES+=("PartitionName=gpu Nodes=n[001-004] MaxTime=1440 State=UP")
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1"

uses() { # FILE
	install -m 644 "$1" "$C/etc/job_submit.lua"
	cluster_conf JobSubmitPlugins=lua
	cluster_ctld_kill
	cluster_ctld_start
	wait_for 20 cluster_nodes_ready "$NODES"
}

# NAME OPTION... : what slurmctld does: accepted or not, what the user reads, what became of the job
real() {
	local id accepted=true
	id=$(sbatch --parsable --hold -o /dev/null "$@" --wrap true 2> "$C/said") || accepted=false
	echo "accepted $accepted"
	sed -n 's/^sbatch: \(error: \)\?//p' "$C/said" | sed '/Batch job submission failed/d'
	[ $accepted = false ] || echo "$(job_get "$id" Partition) $(scontrol -o show job "$id" | sed -n 's/.* Comment=\([^=]*[^ =]\)  *[A-Za-z]*=.*/\1/p')"
}
# SCRIPT JOB : what the harness says
said() {
	cat > "$C/said.lua" <<-'EOL'
		local s = require("sched.job_submit").load(arg[1], { slurm = arg[3], partitions = { gpu = { max_time = 1440 } } })
		local r = s:submit((loadstring or load)("return " .. arg[2])())
		print("accepted " .. tostring(r.accepted))
		if r.message then print(r.message) end
		if r.accepted then print((r.job.partition or "main") .. " " .. (r.job.comment or "")) end
	EOL
	LUA_PATH="$TOP/lua/lib/?.lua" "$LUA" "$C/said.lua" "$@" "$(release)"
}
release() { sinfo --version | sed 's/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/'; }
same() { # LUA OPTION...
	real "${@:2}" > "$C/real"
	said "$C/etc/job_submit.lua" "$1" > "$C/harness"
	diff "$C/real" "$C/harness" || { echo "for $*"; return 1; }
}

same_decisions() {
	uses "$TOP/examples/job_submit/job_submit.lua"
	same '{}'
	same '{ time_limit = 30 }' -t 30
	same '{ time_limit = 30, comment = "mine" }' -t 30 --comment=mine
	same '{ time_limit = 120, tres_per_node = "gres:gpu:1" }' -t 120 --gres=gpu:1
	same '{ time_limit = 2000, partition = "gpu" }' -t 2000 -p gpu
	same '{ time_limit = 1440, partition = "gpu" }' -t 1440 -p gpu
}
it "the example decides the same in slurmctld and in a spec" same_decisions

odd_script() {
	cat <<-'EOL'
	function slurm_job_submit(job, parts, uid)
		slurm.log_user("%s %s %s", tostring(job.time_limit), tostring(job.req_switch == slurm.NO_VAL), tostring(job.nodez))
		if job.name == "boom" then error("boom") end
		if job.name == "no" then return slurm.ESLURM_ACCESS_DENIED end
		if job.name == "text" then return "why not" end
		if job.name == "part" then job.partition = "small"; job.comment = parts.gpu.name .. " " .. parts.gpu.max_time end
		job.time_limit = "15"
		return slurm.SUCCESS
	end
	function slurm_job_modify(job, record, parts, uid) return slurm.SUCCESS end
	EOL
}
same_oddities() {
	odd_script > "$C/odd.lua"
	uses "$C/odd.lua"
	for name in plain no text part; do
		same "{ name = '$name', time_limit = 30 }" -t 30 -J $name
	done
	[ "$(job_get "$(sbatch --parsable --hold -o /dev/null -J plain -t 30 --wrap true 2> /dev/null)" TimeLimit)" = 00:15:00 ]
	# a script that fails: who reads what differs, not whether the job is accepted
	real -t 30 -J boom | head -n 1 > "$C/real"
	said "$C/odd.lua" "{ name = 'boom', time_limit = 30 }" | head -n 1 | diff "$C/real" -
}
it "refusals, texts for numbers, unknown fields and failing scripts are the same in both" same_oddities

live_end
