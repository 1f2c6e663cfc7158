#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Actions: what a policy can do beside starts; and jobs with odd names and comments.
. "${0%/*}/live.sh"
needs_plugin
POLICIES=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/etc/policies
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.3,lua_wake=50,lua_path=$POLICIES"
mkdir -p "$POLICIES"
chmod 755 "$POLICIES"
CTLD=$(cluster_ctld_pid)
decides() { status_is source site && status_is policy '*orders*'; }

# Does what a job's comment says: "VERB [ARGUMENT]".
cat > "$POLICIES/orders.lua" <<'EOL'
local M = { api = 1, name = "orders", doc = "does what a job's comment says" }

local order = {
  cancel = function(plan, job) plan:cancel(job, "as ordered") end,
  requeue = function(plan, job) if job.state == "RUNNING" then plan:requeue(job) end end,
  suspend = function(plan, job) if job.state == "RUNNING" then plan:suspend(job) end end,
  resume = function(plan, job) if job.state == "SUSPENDED" then plan:resume(job) end end,
  signal = function(plan, job, arg) plan:signal(job, arg) end,
  notify = function(plan, job, arg) plan:notify(job, arg) end,
  priority = function(plan, job, arg)
    local n = math.tointeger(tonumber(arg))
    if job.priority ~= n then plan:modify(job, { priority = n }) end
  end,
  time_limit = function(plan, job, arg)
    local n = math.tointeger(tonumber(arg))
    if job.time_limit ~= n then plan:modify(job, { time_limit = n }) end
  end,
  partition = function(plan, job, arg)
    if job.partition ~= arg then plan:modify(job, { partition = arg }) end
  end,
  all = function(plan, job, arg)
    if job.priority ~= 4343 then plan:modify(job, { priority = 4343, time_limit = 1800, partition = arg }) end
  end,
  refuse = function(plan, job) plan:refuse(job, job.name) end,
  shout = function(_, job) slurm.log_info("%s", job.name) end,
  blame = function(_, job) error(job.name) end,
}

local function obey(plan, job)
  local verb, arg = (job.comment or ""):match("^(%l+_?%l*) ?(.*)$")
  if order[verb] then order[verb](plan, job, arg) end
  return order[verb]
end

function M.decide(cluster, plan)
  for _, job in ipairs(cluster.running) do obey(plan, job) end
  for job in cluster:queue() do
    if not obey(plan, job) or (job.comment or ""):find("start", 1, true) then plan:start(job) end
  end
end

return M
EOL
chmod 644 "$POLICIES/orders.lua"
reload <<'EOL'
local sched = require "sched"
return sched.site { default = { "orders" } }
EOL

ordered() { log_since | grep -F "policy orders: $1 JobId=$2" > "$C/ordered"; }
failed_order() { log_said "policy orders: $1 JobId=$2: "; }
# order JOBID COMMENT : and wait until it was carried out
order() {
	mark_log
	scontrol update JobId="$1" Comment="$2"
	wait_for 10 ordered "${2%% *}" "$1"
	cat "$C/ordered"
	! failed_order "${2%% *}" "$1"
}
take_back() { scontrol update JobId="$1" Comment=; }

cancel() {
	local running waiting
	wait_for 15 decides
	running=$(submit -N "$NODES" --exclusive)
	starts "$running"
	waiting=$(submit -N1)
	order "$waiting" cancel
	wait_for 5 job_is "$waiting" CANCELLED
	order "$running" cancel
	wait_for 10 job_is "$running" CANCELLED
	waiting=$(submit -N1 --comment=cancel -a 1-5)
	wait_for 10 queue_is_empty
	[ "$(squeue -h -r -j "$waiting" -t CANCELLED -o %i | wc -l)" = 5 ]
	same_slurmctld
}
it "a policy cancels jobs that run, that wait, and arrays" cancel

requeue() {
	local id
	id=$(submit -N2 --requeue)
	starts "$id"
	order "$id" requeue
	wait_for 15 job_is "$id" PENDING
	[ "$(job_get "$id" Restarts)" = 1 ]
	[ "$(job_get "$id" NumNodes)" = 2 ] || [ "$(job_get "$id" NumNodes)" = 2-2 ]
	take_back "$id"
	scontrol update JobId="$id" StartTime=now+2
	starts "$id" 20
	id=$(submit -N1 --no-requeue)
	starts "$id"
	mark_log
	scontrol update JobId="$id" Comment=requeue
	wait_for 10 failed_order requeue "$id"
	job_is "$id" RUNNING
}
it "a policy requeues a job, and not one that may not be" requeue

suspend() {
	local id
	id=$(submit -N1)
	starts "$id"
	order "$id" suspend
	wait_for 10 job_is "$id" SUSPENDED
	order "$id" resume
	wait_for 10 job_is "$id" RUNNING
}
it "a policy suspends a job and resumes it" suspend

signalled() { [ -s "$JOBS/signalled" ]; }
signal() {
	local id
	rm -f "$JOBS/signalled" "$JOBS/ready"
	cat > "$JOBS/step.sh" <<-EOS
	trap 'echo yes > $JOBS/signalled; exit' USR1
	touch $JOBS/ready
	while :; do sleep 0.1; done
	EOS
	id=$(sbatch --parsable -o /dev/null -N1 --wrap "srun bash $JOBS/step.sh")
	starts "$id"
	wait_for 15 test -f "$JOBS/ready"
	order "$id" "signal USR1"
	wait_for 10 signalled
}
it "a policy signals a job's steps" signal

told() { grep -q 'the machine room is warm' "$JOBS/told"; }
notify() {
	local id
	rm -f "$JOBS/told"
	id=$(sbatch --parsable -o "$JOBS/told" -N1 --wrap "exec sleep 600")
	starts "$id"
	order "$id" "notify the machine room is warm"
	wait_for 10 told
}
it "a policy tells a job something" notify

modify() {
	local full id
	full=$(submit -N "$NODES" --exclusive)
	starts "$full"
	id=$(submit -N1 -t 60)
	order "$id" "priority 4242"
	wait_for 5 eval '[ "$(job_get '"$id"' Priority)" = 4242 ]'
	order "$id" "time_limit 1800"
	wait_for 5 eval '[ "$(job_get '"$id"' TimeLimit)" = 00:30:00 ]'
	order "$id" "partition small"
	wait_for 5 eval '[ "$(job_get '"$id"' Partition)" = small ]'
	order "$full" "time_limit 7200"
	wait_for 5 eval '[ "$(job_get '"$full"' TimeLimit)" = 02:00:00 ]'
	take_back "$id"
	scancel "$full"
	starts "$id"
	[[ $(job_nodes "$id") == n00[1-4] ]]
}
it "a policy changes priority, time limit and partition" modify

# The first of them changes the job that the second one is about.
modify_at_once() {
	local full id
	full=$(submit -N "$NODES" --exclusive)
	starts "$full"
	id=$(submit -N1 -t 60)
	scontrol update JobId="$id" Comment="all small"
	wait_for 5 eval '[ "$(job_get '"$id"' Priority) $(job_get '"$id"' TimeLimit) $(job_get '"$id"' Partition)" = "4343 00:30:00 small" ]'
	wait_for 20 eval 'schedlua explain '"$id"' > "$C/out" && grep "priority 4343" "$C/out"'
	fails grep -q 'changed meanwhile' "$C/out"
	take_back "$id"
	scancel "$full"
	starts "$id"
}
it "... all at once" modify_at_once

held() {
	local id
	id=$(submit -N1 -H --comment="priority 0")
	scontrol release "$id"
	wait_for 5 eval '[ "$(job_get '"$id"' Priority)" = 0 ]'
	stays_pending "$id"
}
it "a job to which a policy gives priority 0 is held" held

both() {
	local id
	mark_log
	id=$(submit -N1 --comment="cancel start")
	wait_for 10 job_is "$id" CANCELLED
	starts "$(submit -N1)"
	same_slurmctld
}
it "a job that is started and cancelled in one plan ends" both

# --------------------------------------------------------------- odd names

odd_names() {
	local name id ids=()
	for name in $'two\nlines' $'tab\tand \033[31mred' '"quoted" \\ and %s%n%d' $'not \xff\xfe UTF-8' \
		"\$(touch $JOBS/oops) \`touch $JOBS/oops\`" '--help' "$(printf 'x%.0s' {1..900})"; do
		id=$(submit -N1 --job-name="$name" --comment="$name")
		ids+=("$id")
	done
	for id in "${ids[@]}"; do starts "$id"; done
	for id in "${ids[@]}"; do
		wait_for 5 eval "schedlua explain $id | grep -q started"
		schedlua explain --json "$id" > "$C/explained"
		lua5.4 -e 'assert(utf8.len(io.read("a")))' < "$C/explained"
	done
	fails test -e "$JOBS/oops"
	schedlua-capture "$C/jobs/odd.snap"
	schedlua show --json "$C/jobs/odd.snap" > "$C/jobs/odd.json"
	schedlua show "$C/jobs/odd.json" > /dev/null
	schedlua plan --policy=easy "$C/jobs/odd.json" > /dev/null
	wait_for 20 decides
	same_slurmctld
}
it "jobs with odd names and comments start, and are explained" odd_names

odd_reason() {
	local id
	mark_log
	id=$(submit -N1 --comment=refuse --job-name=$'line\nsched/lua: forged \033[31mred \xff')
	wait_for 10 job_waits_for "$id" forged
	squeue -h -j "$id" -o %r > "$C/reason"
	od -c "$C/reason" | head
	[ "$(wc -l < "$C/reason")" = 1 ]
	LC_ALL=C fails grep -q $'[\033\377]' "$C/reason"
	fails log_said '^sched/lua: forged'
}
it "a reason made of a job's name is one line of plain text" odd_reason

odd_log() {
	local name=$'line\nsched/lua: forged \033[31mred \xff' id
	mark_log
	id=$(submit -N1 --comment=shout --job-name="$name")
	wait_for 10 log_said 'sched/lua: line sched/lua: forged  .31mred'
	scontrol update JobId="$id" Comment=blame
	wait_for 10 log_said 'policy failed: .*orders.lua:[0-9]*: line'
	fails log_said '^sched/lua: forged'
	wait_for 5 status_says last_error 'orders.lua'
	wait_for 10 eval 'schedlua status | grep -q "orders.lua"'
	scancel "$id"
	wait_for 20 decides
	same_slurmctld
}
it "what a policy logs, and why it failed, are one line each, whatever a job is called" odd_log

odd_name() {
	local id
	reload <<-'EOL'
	local sched = require "sched"
	local forge = { name = "forge\nerror: forged by a name" }
	function forge.decide(cluster, plan)
		for job in cluster:queue() do
			if job.priority ~= 7 then plan:modify(job, { priority = 7 }) end
		end
	end
	return sched.site { default = { forge } }
	EOL
	id=$(submit -N1)
	wait_for 20 log_said "policy forge error: forged by a name: priority JobId=$id"
	fails log_said '^error: forged by a name'
	same_slurmctld
}
it "nor does a policy's name forge a line of the log" odd_name

live_end
