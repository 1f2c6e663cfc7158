-- SPDX-License-Identifier: MIT
--
-- predictive.lua - what will be over soon goes first, as far as the users' past tells.
--
-- Users' walltimes say little, their last jobs much.  Jobs are put in the order of
--
--   cpus^size x runtime^length / (1 + waited / patience)^ageing
--
-- the smallest first, where the runtime is what a predictor (sched.predict) expects: by default the
-- user's last two runs of the same walltime, so taken that a job which may be over in seconds goes
-- early (expected:typical()).  Who waits moves up.  Jobs start in that order as long as they fit.  The
-- first that does not gets a reservation, as with EASY, if it can start within `horizon` by the walltimes of
-- what runs: machines are not emptied for something that is far away.  The rest fills in, in the same
-- order, without delaying it.
--
-- No job is ended, booked or promised anything by a prediction: reservations and what fills in
-- before them keep to walltimes, and a wrong prediction costs its user a place in the order.
--
-- A job that has waited for guard_wait gets a reservation before all others (sched.guard), however
-- far away: that bounds the longest wait.
--
-- Options
--   window     pending jobs examined in a cycle; 0: 500, in simulations all.
--   predictor  what predicts runtimes; limit: nothing is predicted.
--   size, length, patience, ageing   the order, as above.
--   horizon    how far away a reservation may be; 0: none but the guard's.
--   shapes     a job that does not fit as it asks starts as the first of its alternatives that fits.
--   guard_*    the starvation guard.

local guard = require "sched.guard"
local predict = require "sched.predict"

local M = { api = 1, name = "predictive", doc = "what is expected to be over soon goes first, by the users' past" }

M.options = guard.options({
	window = { default = 0, min = 0, max = 100000, doc = "pending jobs examined in a cycle; 0: 500, in simulations all" },
	predictor = predict.option(),
	size = { default = 1.0, min = 0, max = 10, doc = "exponent of a job's CPUs in the order" },
	length = { default = 2.0, min = 0, max = 10, doc = "exponent of its expected runtime" },
	patience = { default = "4h", type = "duration", min = 1, doc = "how long a wait counts as much as none" },
	ageing = { default = 2.0, min = 0, max = 10, doc = "exponent of 1 + what it has waited / patience" },
	horizon = { default = "4h", type = "duration", min = 0,
		doc = "the first job that does not fit gets a reservation within that; 0: only the guard makes any" },
	shapes = { default = true, doc = "a job may start as one of its alternatives" },
}, { guard_wait = "72h", guard_jobs = 1 })

local WINDOW <const> = 500

-- The open jobs in order: { { job =, key =, place = }, ... }.
local function in_order(cluster, plan, opt, expected)
	local rows, now = {}, cluster.now
	local size, length, patience, ageing = opt.size, opt.length, opt.patience, opt.ageing
	local window = opt.window > 0 and opt.window or cluster.source ~= "sim" and WINDOW or nil
	for job in cluster:queue(window) do
		if plan:state(job) == "open" then
			local waited = math.max(0, now - math.max(job.submit_time, job.eligible_time))
			rows[#rows + 1] = { job = job, place = #rows,
				key = job.cpus ^ size * expected:typical(job) ^ length / (1 + waited / patience) ^ ageing }
		end
	end
	table.sort(rows, function(a, b)
		if a.key ~= b.key then
			return a.key < b.key
		end
		return a.place < b.place
	end)
	return rows
end

-- A reservation for the first job that does not fit, if it is not far away.
local function reserve_within(cluster, plan, job, how, horizon)
	local at = plan:earliest(job, how)
	return at and at - cluster.now <= horizon and plan:reserve(job, how) ~= nil
end

-- Start a job, an array's as many tasks as fit.  True: all of it.
local function start(plan, job, how)
	local begin = plan.head and plan.backfill or plan.start
	while begin(plan, job, how) do
		if plan:state(job) == "started" then
			return true
		end
	end
	return false
end

function M.decide(cluster, plan, opt)
	local how = { shape = opt.shapes and "any" or 0 }
	guard.protect(cluster, plan, opt)
	local looked = plan.head ~= nil
	for _, row in ipairs(in_order(cluster, plan, opt, predict.open(opt.predictor, cluster, plan))) do
		if not start(plan, row.job, how) and not looked then
			looked = true
			reserve_within(cluster, plan, row.job, how, opt.horizon)
		end
	end
end

return M
