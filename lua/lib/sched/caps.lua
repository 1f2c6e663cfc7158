-- SPDX-License-Identifier: MIT
--
-- sched.caps - how many jobs of one user, partition or account backfill looks at in a cycle, and
-- which it gives a reservation: the bf_ words of Slurm's SchedulerParameters, under their names
-- without bf_.
--
--   local caps = require "sched.caps"
--
--   M.options = caps.options { window = { default = 500, doc = "..." } }
--
--   function M.decide(cluster, plan, opt)
--     local cap = caps.new(cluster, opt)		-- nil: nothing is limited
--     for job in cluster:queue(opt.window) do
--       local beyond = cap and cap:beyond(job)
--       if beyond then
--         cap:refuse(plan, job, beyond)
--       elseif not plan:start(job) and (not cap or cap:may_book(job)) and plan:reserve(job) and cap then
--         cap:booked(job)
--       end
--     end
--   end
--
-- As in Slurm the max_job_* count from the first job of a partition on that does not start: what
-- goes by priority alone is not backfill, and has no such limits.  They are counted anew in each
-- cycle, so that what starts makes room for the next.
--
-- Cost: none where all of them are as they come.

local M = {}

local own = {
	max_job_user = { default = 0, min = 0, doc = "jobs of one user that backfill looks at; 0: all (bf_max_job_user)" },
	max_job_part = { default = 0, min = 0, doc = "jobs of one partition; 0: all (bf_max_job_part)" },
	max_job_user_part = { default = 0, min = 0, doc = "jobs of one user in one partition; 0: all (bf_max_job_user_part)" },
	max_job_assoc = { default = 0, min = 0, doc = "jobs of one user in one account; 0: all (bf_max_job_assoc)" },
	min_prio_reserve = { default = 0, min = 0,
		doc = "least priority of a job that gets a reservation (bf_min_prio_reserve)" },
	min_age_reserve = { default = 0, type = "duration", min = 0,
		doc = "how long it has been eligible by then (bf_min_age_reserve)" },
	job_part_count_reserve = { default = 0, min = 0,
		doc = "jobs of one partition that get a reservation; 0: all (bf_job_part_count_reserve)" },
}

--- The options of a policy with these beside them.
function M.options(options)
	local all = {}
	for _, from in ipairs { own, options } do
		for name, def in pairs(from) do
			if all[name] then
				error(("caps.options: option '%s' is that of caps"):format(name), 2)
			end
			all[name] = def
		end
	end
	return all
end

-- What a job counts for: an option, and a key that is the same for jobs counted together.
local counted = {
	max_job_user = function(job) return job.user or "" end,
	max_job_part = function(_, partition) return partition end,
	max_job_user_part = function(job, partition) return (job.user or "") .. "\0" .. partition end,
	max_job_assoc = function(job) return (job.user or "") .. "\0" .. (job.account or "") end,
}

local names = {}		-- of the options, put in order once and not in each cycle
for name in pairs(own) do
	names[#names + 1] = name
end

local Cap = {}
Cap.__index = Cap

local function is_limited(opt)
	for i = 1, #names do
		if opt[names[i]] > 0 then
			return true
		end
	end
	return false
end

--- The counts of one cycle, from none; nil where nothing is limited.  *opt*: the policy's options.
function M.new(cluster, opt)
	if not is_limited(opt) then
		return nil
	end
	local cap = setmetatable({ now = cluster.now, opt = opt, seen = {}, waiting = {}, reserved = {} }, Cap)
	for name in pairs(counted) do
		if opt[name] > 0 then
			cap.seen[name] = {}
		end
	end
	return cap
end

-- Count the job; the option that does not let it, or nil: then it is counted.
local function count(cap, job, partition)
	local keys = {}
	for name, seen in pairs(cap.seen) do
		local key = counted[name](job, partition)
		if (seen[key] or 0) >= cap.opt[name] then
			return name
		end
		keys[name] = key
	end
	for name, key in pairs(keys) do
		cap.seen[name][key] = (cap.seen[name][key] or 0) + 1
	end
end

--- The option by which the job is not looked at in this cycle; nil, and it is counted.
function Cap:beyond(job)
	return self.waiting[job.partition] and count(self, job, job.partition) or nil
end

--- It is told why, unless it has what it wants in another partition.
function Cap:refuse(plan, job, beyond)
	if plan:state(job) == "open" then
		plan:refuse(job, ("beyond the policy's %s=%d"):format(beyond, self.opt[beyond]))
	end
end

--- The job did not start: may it get a reservation?
function Cap:may_book(job)
	local opt, partition = self.opt, job.partition
	if not self.waiting[partition] then
		self.waiting[partition] = true
		count(self, job, partition)
	end
	if job.priority < opt.min_prio_reserve or self.now - job.eligible_time < opt.min_age_reserve then
		return false
	end
	local most = opt.job_part_count_reserve
	return most == 0 or (self.reserved[partition] or 0) < most
end

--- A job got one.
function Cap:booked(job)
	self.reserved[job.partition] = (self.reserved[job.partition] or 0) + 1
end

return M
