#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Policies on a live cluster: changed, refused, broken, endless; slurmctld stays.
SL_BUDGET=	# (the site file says it)
. "${0%/*}/live.sh"
needs_plugin
schedlua engine --help > /dev/null 2>&1 || "$TOP/.work/inst/bin/schedlua" engine --help > /dev/null 2>&1 ||
	skip_all "this schedlua has no engine"
POLICIES=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/etc/policies
live_begin 16 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.3,lua_wake=50,lua_path=$POLICIES"
mkdir -p "$POLICIES"
chmod 755 "$POLICIES"
CTLD=$(cluster_ctld_pid)

policy_is() { status_is source site && status_is policy "$1"; }

# The plain site file, if it is not the one that decides already.
good_site() {
	SINCE=$(date +%s)
	if [ -f "$C/etc/sched.lua" ] && cmp -s "$C/etc/sched.lua" "$C/good.lua" && policy_is easy; then return; fi
	rm -rf "$C/etc/sched.lua"
	cluster_default_site
	cp "$C/etc/sched.lua" "$C/good.lua"
	scontrol reconfigure
	wait_for 15 policy_is easy
}

# ------------------------------------------------------------------------ change

in_force() {
	good_site
	starts "$(submit -N1)"
	wait_for 5 status_is policy easy
}
it "the site file's policy decides" in_force

changed() {
	local id wide behind
	good_site
	id=$(submit -N2)
	starts "$id"
	reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "fcfs" } }
	EOL
	wait_for 15 policy_is fcfs
	same_slurmctld
	job_is "$id" RUNNING
	starts "$(submit -N1)"
	wide=$(submit -N "$NODES" --exclusive)
	behind=$(submit -N1)
	wait_for 10 job_waits_for "$behind" '^Priority$'
	wait_for 10 eval "schedlua explain $behind | grep 'waits behind job $wide'"
	stays_pending "$behind"
}
it "another policy decides after scontrol reconfigure, in the same slurmctld" changed

changed_on_disk() {
	good_site
	cluster_site <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "fcfs" } }
	EOL
	wait_for 15 policy_is fcfs
	same_slurmctld
}
it "a site file changed on disk is taken without reconfigure" changed_on_disk

order() {
	local wide long short
	cat > "$POLICIES/short_first.lua" <<-'EOL'
	local M = { api = 1, name = "short_first", doc = "the shortest walltime first" }
	function M.rank(job) return -job.time_limit end
	return M
	EOL
	reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "short_first", "fcfs" } }
	EOL
	wait_for 15 policy_is '*short_first*'
	wide=$(submit -N "$NODES" --exclusive)
	starts "$wide"
	long=$(submit -N "$NODES" --exclusive -t 60)
	short=$(submit -N "$NODES" --exclusive -t 10)
	scancel "$wide"
	starts "$short"
	job_is "$long" PENDING
	good_site
}
it "a site's own rank changes the order" order

admission() {
	local no yes
	cat > "$POLICIES/no_gpus.lua" <<-'EOL'
	local M = { api = 1, name = "no_gpus", doc = "nobody named greedy" }
	function M.admit(job)
	  if job.name == "greedy" then return false, "greedy jobs wait until Friday" end
	  return true
	end
	return M
	EOL
	reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "no_gpus", "easy" } }
	EOL
	wait_for 15 policy_is '*no_gpus*'
	no=$(submit -N1 -J greedy)
	yes=$(submit -N1)
	starts "$yes"
	stays_pending "$no"
	wait_for 10 job_waits_for "$no" 'greedy.jobs.wait.until.Friday'
	good_site
	starts "$no"
}
it "a job that the site refuses waits and squeue shows the site's reason" admission

misspelt() {
	cat > "$POLICIES/misspelt.lua" <<-'EOL'
	local M = { api = 1, name = "misspelt", doc = "a line that nobody comes to" }
	function M.admit(job)
	  if job.name == "nobody" then tabel.concat({}) end
	  return true
	end
	return M
	EOL
	reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "misspelt", "easy" } }
	EOL
	wait_for 15 policy_is '*misspelt*'
	wait_for 5 log_said "misspelt\.lua:3: .*'tabel'"
	good_site
}
it "a misspelt name that no trial came to is told when the set goes live" misspelt

# ----------------------------------------------------------------------- refusal

# What a test installs is refused: the log says where and why, the old set stays,
# jobs start.
refused() { # REGEX of the log line
	wait_for 15 log_said "$1"
	log_since | grep -E -- "$1" | head -n 2
	starts "$(submit -N1)"
	wait_for 10 status_is source 'last good'
	wait_for 10 status_says refusal '[a-z]'
	wait_for 10 status_says last_error "$1"
	[ "$(status last_error_time)" -ge "$SINCE" ]
	same_slurmctld
	good_site
	wait_for 15 status_is refusal ''
}

broken() { # REGEX ; the site file on stdin
	good_site
	reload
	refused "$1"
}

syntax() {
	broken 'sched\.lua:3: ' <<-'EOL'
	local sched = require "sched"
	return sched.site {
	  interval = = 1,
	}
	EOL
}
it "a site file with a syntax error is refused with file and line, and scheduling goes on" syntax

raises() {
	broken 'sched\.lua:2: .*(nil|number|arithmetic)' <<-'EOL'
	local sched = require "sched"
	local x = 1 + nil
	return sched.site { default = { "easy" } }
	EOL
}
it "a site file that raises an error is refused with file and line" raises

no_site() {
	broken 'sched\.lua.*(site|returned|expected)' <<-'EOL'
	return 42
	EOL
}
it "a site file that returns no site is refused" no_site

unknown_policy() {
	broken 'eazy' <<-'EOL'
	local sched = require "sched"
	return sched.site { default = { "eazy" } }
	EOL
}
it "a site file that names a policy that does not exist is refused with its name" unknown_policy

unknown_option() {
	broken 'windo.*|sched\.lua:2' <<-'EOL'
	local sched = require "sched"
	return sched.site { default = { "easy", windo = 5 } }
	EOL
}
it "a site file with an unknown option is refused with its name" unknown_option

option_range() {
	broken 'window' <<-'EOL'
	local sched = require "sched"
	return sched.site { default = { "easy", window = -5 } }
	EOL
}
it "a site file with an option out of range is refused and says the range" option_range

missing() {
	good_site
	mark_log
	rm "$C/etc/sched.lua"
	scontrol reconfigure
	refused 'sched\.lua.*No such file'
}
it "a site file that has vanished is reported and the old set stays" missing

directory() {
	good_site
	mark_log
	rm "$C/etc/sched.lua"
	mkdir "$C/etc/sched.lua"
	scontrol reconfigure
	refused 'sched\.lua'
}
it "a directory in place of the site file is refused" directory

# spoil COMMAND... : what it does to the site file makes it untrustworthy
spoil() { # REGEX COMMAND...
	local why=$1
	shift
	good_site
	mark_log
	cluster_default_site
	"$@" "$C/etc/sched.lua"
	scontrol reconfigure
	refused "$why"
}
to_symlink() { mv "$1" "$C/jobs/elsewhere.lua" && ln -s "$C/jobs/elsewhere.lua" "$1"; }
it "a site file of another user is refused" spoil 'sched\.lua.*own' chown nobody
it "a site file that others may write is refused" spoil 'sched\.lua.*writ' chmod 666
it "a site file that is a symlink is refused" spoil 'sched\.lua.*(symlink|symbolic|link)' to_symlink

bytecode() {
	good_site
	mark_log
	echo 'return 1' | lua5.4 -e 'io.write(string.dump(load(io.read("a"))))' > "$C/jobs/byte.lua"
	install -m 644 "$C/jobs/byte.lua" "$C/etc/sched.lua"
	scontrol reconfigure
	refused 'sched\.lua'
}
it "a site file of bytecode is refused" bytecode

# ------------------------------------------------------ misbehaviour while it runs

# A policy that is well behaved until a job named "trigger" is in the queue.
trigger_policy() { # the misbehaviour on stdin
	{
		cat <<-'EOL'
		local M = { api = 1, name = "trigger", doc = "misbehaves when it sees a job of that name" }
		local function misbehave(job, cluster, plan)
		EOL
		cat
		cat <<-'EOL'
		end
		function M.decide(cluster, plan)
		  for job in cluster:queue() do
		    if job.name == "trigger" then misbehave(job, cluster, plan) end
		    if not plan:start(job) then break end
		  end
		end
		return M
		EOL
	} > "$POLICIES/trigger.lua"
	chmod 644 "$POLICIES/trigger.lua"
	reload <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, budget = 0.5, default = { "trigger" } }
	EOL
	wait_for 15 policy_is '*trigger*'
}

# Jobs behind the trigger start within the bound all the same.
misbehaves() {
	local id next
	good_site
	trigger_policy
	mark_log
	id=$(submit -N1 -J trigger)
	next=$(submit -N1)
	starts "$next" 15
	starts "$id" 15
	next=$(submit -N2)
	starts "$next" 15
	wait_for 20 log_said 'policy failed|engine|trigger\.lua'
	wait_for 20 status_says last_error '[a-z]'
	same_slurmctld
	good_site
}

it "an endless loop is ended and jobs start" misbehaves <<-'EOL'
	  while true do end
	EOL
it "an endless loop inside pcall is ended and jobs start" misbehaves <<-'EOL'
	  while true do pcall(function() while true do end end) end
	EOL
it "a loop in the string library is ended and jobs start" misbehaves <<-'EOL'
	  local s = string.rep("a", 30)
	  while true do string.find(s, ("a?"):rep(30) .. ("a"):rep(30)) end
	EOL
it "a policy that eats memory is ended and jobs start" misbehaves <<-'EOL'
	  local t = {}
	  while true do t[#t + 1] = string.rep("x", 1000000) .. #t end
	EOL
it "endless recursion is ended and jobs start" misbehaves <<-'EOL'
	  local function f(n) return 1 + f(n + 1) end
	  f(1)
	EOL
it "a policy that raises an error is reported and jobs start" misbehaves <<-'EOL'
	  error("I do not like this job")
	EOL
it "a policy that raises nil is reported and jobs start" misbehaves <<-'EOL'
	  error(nil)
	EOL
it "a policy that calls a method with nonsense is reported and jobs start" misbehaves <<-'EOL'
	  plan:start("nonsense", { place = 42 })
	EOL

slow() {
	local id
	good_site
	trigger_policy <<-'EOL'
	  if plan:start(job) then while true do end end
	EOL
	for _ in 1 2 3 4 5; do
		id=$(submit -N1 -J trigger)
		starts "$id" 15
	done
	wait_for 10 status_is source site	# three failures would have put it to rest
	wait_for 20 eval '[ "$(status truncated)" -ge 3 ]'
	same_slurmctld
	good_site
}
it "a policy that the budget cuts short goes on deciding while it starts jobs" slow

trapped_nonsense() {
	local id
	good_site
	trigger_policy <<-'EOL'
	  pcall(plan.start, plan, job, { layout = { [9999] = 100 } })
	  pcall(plan.start, plan, job, { layout = { [1] = 1000 } })
	  pcall(plan.start, plan, {}, {})
	EOL
	id=$(submit -N1 -J trigger)
	starts "$id" 15
	same_slurmctld
	good_site
}
it "impossible starts are refused one by one and the job starts where it can" trapped_nonsense

# ----------------------------------------------------------------- from the start

broken_at_start() {
	local id
	good_site
	wait_for 10 test -s "$C/state/schedlua/last-good"
	echo 'this is not Lua' | cluster_site
	cluster_ctld_kill
	mark_log
	cluster_ctld_start
	CTLD=$(cluster_ctld_pid)
	id=$(submit -N1)
	starts "$id"
	wait_for 20 log_said 'sched\.lua:1'
	wait_for 5 status_is source 'last good'
}
it "with a broken site file at start the last good set decides" broken_at_start
CTLD=$(cluster_ctld_pid)

nothing_kept() {
	local id
	cluster_ctld_kill
	echo 'schedlua set 1' > "$C/state/schedlua/last-good"	# half written
	mark_log
	cluster_ctld_start
	CTLD=$(cluster_ctld_pid)
	id=$(submit -N1)
	starts "$id"
	wait_for 20 log_said 'last good policy set: .*damaged'
	wait_for 5 status_is source bundled
}
it "and where that is damaged the bundled easy" nothing_kept
CTLD=$(cluster_ctld_pid)

repaired() {
	good_site
	starts "$(submit -N1)"
	same_slurmctld
}
it "and the site decides once its file is repaired" repaired

no_file_at_start() {
	rm -f "$C/etc/sched.lua"
	cluster_ctld_kill
	rm -f "$C/state/schedlua/last-good"
	cluster_ctld_start
	starts "$(submit -N1)"
	wait_for 5 status_is source bundled
}
it "where there never was a site file the bundled easy decides" no_file_at_start

live_end
