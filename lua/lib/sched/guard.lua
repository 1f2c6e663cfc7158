-- SPDX-License-Identifier: MIT
--
-- sched.guard - the starvation guard: a job that has waited too long gets a reservation
-- before the policy optimizes, and everything decided later in the cycle has to respect it.
--
--   local guard = require "sched.guard"
--
--   M.options = guard.options { window = { default = 200, doc = "..." } }
--
--   function M.decide(cluster, plan, opt)
--     guard.protect(cluster, plan, opt)
--     for job in cluster:queue(opt.window) do
--       if plan:state(job) == "open" then ... end
--     end
--   end
--
-- When is a job guarded?  From the moment it is due:
--
--   due = the time it became eligible + guard_wait + guard_stretch x its walltime
--
-- where guard_load is set, not before it has waited for guard_load times what those that waited
-- longer keep the whole machine busy, by their walltimes: on a loaded machine everybody waits for
-- long, and a fixed time would make nearly all of them due, which is first come, first served.
-- That work only becomes less while a job waits, so the job's due time never becomes later.
--
-- or, where that is earlier, from the cycle on in which it is seen to have been overtaken
-- guard_bypass times (sched.bypass).  All that the former takes stands in each snapshot; for the
-- latter the order of the queue and counts are remembered (plan:remember), which begin anew when
-- the policy set changes.
--
-- A job that is due stays so until it starts.  Guarded jobs come in the order in which they fell
-- due, which never changes either, at most guard_jobs of them.  So the first one is placed with
-- nothing but the running jobs before it: its start never moves back from one cycle to the next,
-- and is no later than the last walltime of what runs when it becomes the first.  Then the next
-- one is.  A job therefore waits no longer than until it is due, and then for at most one
-- walltime of others for itself and for each job that fell due before it; mostly much less.
--
-- Guarded jobs go before jobs of a higher priority, of a higher PriorityTier too where
-- partitions share nodes: a site that wants a partition to starve sets guard_wait = 0 for it.

local bypass = require "sched.bypass"

local M = {}

local own = {
	guard_wait = { default = "12h", type = "duration", min = 0, tune = { "6h", "12h", "24h", "48h", "72h", "7d" },
		doc = "a job that waited for longer gets a reservation before all others; 0: no guard" },
	guard_stretch = { default = 0.0, min = 0, max = 1000, tune = { 0.0, 1.0, 3.0 },
		doc = "times its walltime that a job has to wait in addition" },
	guard_load = { default = 0.0, min = 0, max = 1000, tune = { 0.0, 0.5, 1.0, 2.0 },
		doc = "and for so many times as those that waited longer keep the machine busy; 0: however busy it is" },
	guard_bypass = { default = 0, min = 0, max = 1000000,
		doc = "a job that was overtaken so often gets one, too, however short it waited; 0: that does not count" },
	guard_jobs = { default = 4, min = 1, max = 1000, doc = "jobs that the guard gives a reservation at once" },
}

--- The guard's options beside a policy's own.  *defaults* (may be nil): other defaults for some
--- of them, { guard_wait = "2h" }.
function M.options(options, defaults)
	local all = {}
	for name, def in pairs(own) do
		if options[name] then
			error(("guard.options: option '%s' is the guard's"):format(name), 2)
		end
		all[name] = {}
		for key, value in pairs(def) do
			all[name][key] = value
		end
	end
	for name, value in pairs(defaults or {}) do
		if not all[name] then
			error(("guard.options: the guard has no option '%s'"):format(name), 2)
		end
		all[name].default = value
	end
	for name, def in pairs(options) do
		all[name] = def
	end
	return all
end

local WEEK <const> = 7 * 86400	-- longer walltimes, and none, keep the machine busy for this

--- When does a job fall due?  Seconds since the epoch; math.huge: never.  busy (may be nil):
--- seconds for which those that waited longer keep the machine busy.
function M.due(job, opt, busy)
	if opt.guard_wait == 0 then
		return math.huge
	end
	local since = math.max(job.submit_time, job.eligible_time)
	local wait = math.max(opt.guard_wait, (rawget(opt, "guard_load") or 0) * (busy or 0))
	if opt.guard_stretch == 0 then
		return since + wait
	end
	return since + wait + opt.guard_stretch * job.time_limit	-- no limit: never due
end

-- For how long those of the list that became eligible before each keep the machine busy, by id.
local function measure_busy(cluster, list)
	local order, busy, sum, cpus = {}, {}, 0, math.max(cluster.supply.cpus, 1)
	for i, job in ipairs(list) do
		order[i] = job
	end
	table.sort(order, function(a, b)
		return math.max(a.submit_time, a.eligible_time) < math.max(b.submit_time, b.eligible_time)
	end)
	for _, job in ipairs(order) do
		if not busy[job.id] then		-- once, in however many partitions
			busy[job.id] = sum
			sum = sum + math.min(job.time_limit, WEEK) * job.cpus * math.max(job.array_pending, 1) / cpus
		end
	end
	return busy
end

-- The entries of the queue that may be due.
local function candidates(cluster, opt, bypassed)
	if next(bypassed) then
		return cluster:queue()
	elseif opt.guard_wait == 0 or opt.guard_wait == math.huge then
		return cluster:queue(0)
	end
	return cluster:queue(nil, cluster.now - math.ceil(opt.guard_wait))
end

--- The jobs that are due, those first that have been for longest.  bypassed (may be nil): what
--- bypass.due() returned.
function M.guarded(cluster, opt, bypassed)
	local now, due, number, list, waiting, busy = cluster.now, {}, {}, {}, {}, {}
	bypassed = bypassed or {}
	for job in candidates(cluster, opt, bypassed) do
		waiting[#waiting + 1] = job
	end
	if (rawget(opt, "guard_load") or 0) > 0 then
		busy = measure_busy(cluster, waiting)
	end
	for _, job in ipairs(waiting) do
		local t, b = M.due(job, opt, busy[job.id]), bypassed[job.id]
		if b and b.at < t then
			t, number[job] = b.at, b.number
		end
		if t <= now then
			due[job] = t
			list[#list + 1] = job
		end
	end
	table.sort(list, function(a, b)		-- stable: else in the queue's order
		if due[a] ~= due[b] then
			return due[a] < due[b]
		end
		return (number[a] or 0) < (number[b] or 0)
	end)
	return list
end

--- Does the guard remember something from cycle to cycle?  How often jobs are overtaken, where that counts: then a
--- policy has to be asked in each, and may not plan:settle().
function M.remembers(opt)
	return (rawget(opt, "guard_bypass") or 0) > 0
end

--- For schedlua explain: a line that says that the job is due, else "".  How often it was overtaken is not looked at.
function M.explain(job, cluster, opt)
	for _, due in ipairs(M.guarded(cluster, opt)) do
		if due.id == job.id then
			return "\nbefore the order: it has waited for guard_wait"
		end
	end
	return ""
end

--- Start the jobs that are due where they fit, and give the first guard_jobs of the others a
--- reservation.  Call it before anything else is decided.  Returns a list of the jobs that
--- got one: plan:state(job) is "reserved" then, and the policy leaves them alone.  Alternatives
--- of a job count as what it asks for, unless opt.shapes is false.
function M.protect(cluster, plan, opt)
	local reserved, how, bypassed = {}, { shape = rawget(opt, "shapes") == false and 0 or "any" }, nil
	if (rawget(opt, "guard_bypass") or 0) > 0 then
		bypassed = bypass.due(cluster, plan, opt.guard_bypass)
	end
	for _, job in ipairs(M.guarded(cluster, opt, bypassed)) do
		local state = plan:state(job)	-- not open: in another of its partitions
		if #reserved == opt.guard_jobs then
			break
		elseif state ~= "started" and not plan:start(job, how) and plan:reserve(job, how) and state ~= "reserved" then
			reserved[#reserved + 1] = job
		end
	end
	return reserved
end

return M
