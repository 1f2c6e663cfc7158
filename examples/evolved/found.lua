-- SPDX-License-Identifier: MIT
-- found.lua - found by search on KTH-SP2, SDSC-BLUE and Lublin-1.
-- README.md says how, what it won and where it lost.

local predict = require "sched.predict"

local nothing = { remember = function() end }	-- a rank decides nothing

local M = { api = 1, name = "found", doc = "found by schedlua evolve" }

-- The largest goes first.
function M.rank(job, cluster)
	local cpus = job.cpus	-- CPUs that the job asks for
	-- its walltime, s, at most a week
	local limit = math.min(math.max(1, job.time_limit), 604800)
	-- runtime that its user's last runs like it suggest, s (sched.predict, similar)
	local typical = predict.open("similar", cluster, nothing):typical(job)
	local waited = cluster.now - job.submit_time	-- how long it has waited, s
	if waited > 430000 then
		return waited, -job.submit_time
	end
	return -cpus ^ 0.695 * (limit * typical) ^ 0.575 / (1 + waited / 14400) ^ 1.5, -job.submit_time
end

-- How far away a reservation may be.
local function within(job, cluster)
	local waited = cluster.now - job.submit_time	-- how long it has waited, s
	if waited > 430000 then
		return 1000000000
	end
	return 37700
end

-- Jobs start in that order.  The first that does not fit gets a reservation if it can start within so many seconds;
-- the others fill in, without delaying it.
function M.decide(cluster, plan)
	local queue = cluster:queue(cluster.source ~= "sim" and "share" or nil)
	for job in queue do
		if not plan:start(job) then
			local at = plan:earliest(job)
			if at and at - cluster.now <= within(job, cluster) then
				plan:reserve(job)
			end
			if at then
				break
			end
		end
	end
	plan:start_rest(queue)
	plan:settle("full")
end

return M
