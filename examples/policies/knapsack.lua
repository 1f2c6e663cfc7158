-- SPDX-License-Identifier: MIT
--
-- knapsack.lua - which of the waiting jobs fill the free cores best?  An integer program
-- (doc/mip.md) chooses those with the most cores in all; what it did not look at, such as
-- memory and GPUs, plan:start() does, and whatever fits beside them starts as well.

local mip = require "sched.mip"

local M = { api = 1, name = "knapsack", doc = "fill the free cores with an integer program" }

M.options = {
	window = { default = 100, min = 1, max = 10000, doc = "pending jobs examined in a cycle" },
}

function M.decide(cluster, plan, opt)
	local m, jobs, terms = mip.model { sense = "max" }, {}, {}
	for job in cluster:queue(opt.window) do
		local x = m:var { ub = 1, integer = true, obj = job.cpus }
		jobs[x] = job
		terms[#terms + 1], terms[#terms + 2] = x, job.cpus
	end
	if #jobs == 0 then
		return
	end
	m:add { terms = terms, hi = cluster.totals.free_cores, name = "cores" }
	local r = m:solve { time_limit = 1, gap = 0.01 }
	for x, job in ipairs(jobs) do
		if r.values and r.values[x] == 1 then
			plan:start(job)
		end
	end
	for _, job in ipairs(jobs) do
		if plan:state(job) == "open" then
			plan:start(job)
		end
	end
end

return M
