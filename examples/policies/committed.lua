-- SPDX-License-Identifier: MIT
--
-- committed.lua - the mechanism of RLScheduler's simulator (Zhang, Dai, He, Bao, Xie, SC 2020), with the orders
-- that its paper compares with.  To put figures beside theirs, and for nothing else: bench/logs.
--
-- The best job by the order is chosen, and the policy is committed to it until it has started, whoever
-- comes meanwhile.  While it does not fit, others may fill in, first come first served, which end before
-- the time at which it could start when it was chosen; processors that it would leave over are not
-- used beyond that.
--
-- The functions are theirs, too: of a job that waits the wait counts as -1 - its submission.
--
-- Options
--   order     fcfs, wfp3, unicef, sjf, f1
--   backfill  others may fill in

local M = { api = 1, name = "committed", doc = "RLScheduler's mechanism: committed to the chosen job until it starts" }

M.options = {
	order = { default = "fcfs", values = { "fcfs", "wfp3", "unicef", "sjf", "f1" }, doc = "what is chosen first" },
	backfill = { default = true, doc = "others may fill in" },
}

-- n processors, r seconds, s submission: the smallest first.
local orders = {
	fcfs = function(_, _, s) return s end,
	wfp3 = function(n, r, s) return -((-1 - s) / r) ^ 3 * n end,
	unicef = function(n, r, s) return -(-1 - s + 1e-15) / (math.log(n + 1e-15, 2) * r) end,
	sjf = function(_, r) return r end,
	f1 = function(n, r, s) return math.log(r, 10) * n + 870 * math.log(math.max(s, 0.1), 10) end,
}

local CHOSEN <const> = "chosen"

-- Jobs that are open, first come first served.
local function waiting(cluster, plan)
	local list = {}
	for job in cluster:queue() do
		if plan:state(job) ~= "started" then
			list[#list + 1] = job
		end
	end
	return list
end

local function choose(cluster, list, order)
	local best, least
	for _, job in ipairs(list) do
		local key = orders[order](job.cpus, job.time_limit, job.submit_time - (cluster.origin or 0))
		if not best or key < least then
			best, least = job, key
		end
	end
	return best
end

local function fill_in(cluster, plan, list, chosen, by)
	for _, job in ipairs(list) do
		if job ~= chosen and cluster.now + job.time_limit < by then
			plan:start(job)
		end
	end
end

function M.decide(cluster, plan, opt)
	local kept = cluster:recall(CHOSEN)
	local list = waiting(cluster, plan)
	while #list > 0 do
		local job, by
		for _, other in ipairs(list) do
			if kept and other.id == kept.job then
				job, by = other, kept.by
			end
		end
		job = job or choose(cluster, list, opt.order)
		kept = nil
		if not plan:start(job) then
			by = by or plan:earliest(job) or math.huge
			plan:remember(CHOSEN, { job = job.id, by = by })
			if opt.backfill then
				fill_in(cluster, plan, list, job, by)
			end
			return
		end
		plan:remember(CHOSEN, nil)
		list = waiting(cluster, plan)
	end
end

return M
