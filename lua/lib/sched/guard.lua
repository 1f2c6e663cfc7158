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
-- Nothing has to be remembered for that: all of it stands in each snapshot, and a job that is
-- due stays so until it starts.  Guarded jobs come in the order in which they fell due, which
-- never changes either, at most guard_jobs of them.  So the first one is placed with nothing
-- but the running jobs before it: its start never moves back from one cycle to the next, and
-- is no later than the last walltime of what runs when it becomes the first.  Then the next
-- one is.  A job therefore waits no longer than until it is due, and then for at most one
-- walltime of others for itself and for each job that fell due before it; mostly much less.
--
-- Guarded jobs go before jobs of a higher priority, of a higher PriorityTier too where
-- partitions share nodes: a site that wants a partition to starve sets guard_wait = 0 for it.

local M = {}

local own = {
	guard_wait = { default = "12h", type = "duration", min = 0,
		doc = "a job that waited for longer gets a reservation before all others; 0: no guard" },
	guard_stretch = { default = 0.0, min = 0, max = 1000,
		doc = "times its walltime that a job has to wait in addition" },
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

--- When does a job fall due?  Seconds since the epoch; math.huge: never.
function M.due(job, opt)
	if opt.guard_wait == 0 then
		return math.huge
	end
	local since = math.max(job.submit_time, job.eligible_time)
	if opt.guard_stretch == 0 then
		return since + opt.guard_wait
	end
	return since + opt.guard_wait + opt.guard_stretch * job.time_limit	-- no limit: never due
end

--- The jobs that are due, those first that have been for longest.
function M.guarded(cluster, opt)
	local now, due, list = cluster.now, {}, {}
	if opt.guard_wait == 0 or opt.guard_wait == math.huge then
		return list
	end
	for job in cluster:queue(nil, now - math.ceil(opt.guard_wait)) do
		local t = M.due(job, opt)
		if t <= now then
			due[job] = t
			list[#list + 1] = job
		end
	end
	table.sort(list, function(a, b)		-- stable: else in the queue's order
		return due[a] < due[b]
	end)
	return list
end

--- Start the jobs that are due where they fit, and give the first guard_jobs of the others a
--- reservation.  Call it before anything else is decided.  Returns a list of the jobs that
--- got one: plan:state(job) is "reserved" then, and the policy leaves them alone.  Alternatives
--- of a job count as what it asks for, unless opt.shapes is false.
function M.protect(cluster, plan, opt)
	local reserved, how = {}, { shape = opt.shapes == false and 0 or "any" }
	for _, job in ipairs(M.guarded(cluster, opt)) do
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
