-- SPDX-License-Identifier: MIT
--
-- predictive.lua - what will be over soon goes first, as far as the users' past tells.
--
-- Users' walltimes say little, their last jobs much.  Jobs are put in the order of
--
--   cpus^size x runtime^length / (1 + waited / patience)^ageing
--
-- the smallest first, where the runtime is what a predictor (sched.predict) expects: by default the user's last two
-- runs of about its size and the same walltime, and, with a little weight, what the runs of others say of a job with
-- that walltime; so taken that a job which may be over in seconds goes early (expected:typical()).  Who waits moves up.
-- Jobs start in that order as long as they fit.  The first `reservations` that do not get one each, as with EASY, if
-- they can start within `horizon` by the walltimes of what runs: machines are not emptied for something that is far
-- away.  The rest fills in, in the same order, without delaying them.
--
-- A wide job may wait for days that way, and if it then ends within seconds its slowdown is enormous: that
-- is what the largest slowdowns of recorded logs are.  `slowdown` bounds that, at the price of the mean
-- where the machine is loaded.  Each job has a runtime that it may well have in the worst case: the power mean, of a
-- strongly negative exponent, of its user's last runs of about its size and the same walltime, stretched where his work
-- ran for longer than expected, and, with a weight of a hundredth, of what the runs of others let one expect.  Where no
-- job ever ends early, nobody is taken for short.  Who has waited for `slowdown` times that gets a reservation before
-- the order, `slowdown_jobs` at a time, at first if it can start within `slowdown_horizon`, and the longer that is past
-- the farther away.  Of these the first to have waited for so long is the first to get it, and loses it only to one
-- that had waited for so long before it: what the machine has kept free for it is not given to the next one.
--
-- Users may try to look shorter than they are, with jobs that do nothing.  What is expected of them is then stretched
-- by how much longer than expected their work ran, by core-seconds (sched.predict_similar), so that these gain nothing
-- (bench/gaming).
--
-- No job is ended, booked or promised anything by a prediction: reservations and what fills in
-- before them keep to walltimes, and a wrong prediction costs its user a place in the order.
--
-- A job that has waited for guard_wait gets a reservation before all others (sched.guard), however
-- far away: that bounds the longest wait.
--
-- Options
--   window     pending jobs examined in a cycle; 0: as many as a share of its work is enough for, in simulations all.
--   predictor  what predicts runtimes; limit: nothing is predicted.
--   size, length, patience, ageing   the order, as above.
--   horizon    how far away a reservation may be; 0: none but those that come before the order.
--   reservations      how many there are in the order; 1: as with EASY one in all, so none where one comes before it.
--   slowdown, slowdown_*   who gets one before it, as above.
--   shapes     a job that does not fit as it asks starts as the first of its alternatives that fits.
--   guard_*    the starvation guard.

local guard = require "sched.guard"
local predict = require "sched.predict"

local M = { api = 1, name = "predictive", doc = "what is expected to be over soon goes first, by the users' past" }

M.options = guard.options({
	window = { default = 0, min = 0, max = 100000,
		doc = "pending jobs examined in a cycle; 0: a share of its work, in simulations all" },
	predictor = predict.option(),
	size = { default = 1.2, min = 0, max = 10, doc = "exponent of a job's CPUs in the order" },
	length = { default = 1.7, min = 0, max = 10, doc = "exponent of its expected runtime" },
	patience = { default = "4h", type = "duration", min = 1, doc = "how long a wait counts as much as none" },
	ageing = { default = 2.4, min = 0, max = 10, doc = "exponent of 1 + what it has waited / patience" },
	horizon = { default = "4h", type = "duration", min = 0,
		doc = "the first jobs that do not fit get a reservation within that; 0: only those before the order" },
	reservations = { default = 2, min = 1, max = 100,
		doc = "how many such jobs; 1: one in all, counting what comes before the order" },
	slowdown = { default = 2500.0, min = 0, max = 1e9, tune = { 0.0, 2000.0, 2500.0, 5000.0 },
		doc = "a job that waited for so many times its shortest likely runtime gets one before the order; 0: none does" },
	slowdown_wait = { default = "24h", type = "duration", min = 0, doc = "not before it has waited for that" },
	slowdown_horizon = { default = "12h", type = "duration", min = 0, doc = "within that, and what it is overdue" },
	slowdown_jobs = { default = 1, min = 1, max = 1000, doc = "how many at once" },
	shapes = { default = true, doc = "a job may start as one of its alternatives" },
}, { guard_wait = "80h", guard_jobs = 1 })

local function waited_by(job, now)
	return math.max(0, now - math.max(job.submit_time, job.eligible_time))
end

-- What the order goes by.  Without a plan, before anything is decided, all jobs are open.
local function order_by(plan, opt, expected)
	return expected:to_order { size = opt.size, length = opt.length, patience = opt.patience, ageing = opt.ageing,
		open = plan ~= nil }
end

-- The open jobs in order: job, key.
local function in_order(cluster, plan, opt, expected)
	local window = opt.window > 0 and opt.window or cluster.source ~= "sim" and "share" or nil
	return cluster.history:order(cluster:queue(window), order_by(plan, opt, expected))
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

-- A reservation, if it is not far away.
local function reserve_within(cluster, plan, job, how, horizon)
	local at = plan:earliest(job, how)
	return at and at - cluster.now <= horizon and plan:reserve(job, how) ~= nil
end

-- Those whose slowdown may become enormous, the longest overdue first: job, key, for how long they are overdue.  How
-- short a job may be is worked out by the engine (sl_history_shortest() in engine/usage/history.h).
local function overdue(cluster, plan, opt, expected)
	local by = order_by(plan, opt, expected)
	by.slowdown, by.slowdown_wait = opt.slowdown, opt.slowdown_wait
	return cluster.history:order(cluster:queue(nil, cluster.now - math.ceil(opt.slowdown_wait)), by)
end

local function needs_slowdown(opt)
	return opt.slowdown > 0 and opt.predictor ~= "limit"
end

-- Start them, or give them a reservation.
local function protect(cluster, plan, opt, how, expected)
	if not needs_slowdown(opt) then
		return
	end
	local left = opt.slowdown_jobs
	for job, _, over in overdue(cluster, plan, opt, expected) do
		if left == 0 then
			break
		elseif not start(plan, job, how) and
			reserve_within(cluster, plan, job, how, opt.slowdown_horizon + over) then
			left = left - 1
		end
	end
end

-- Is decide() what a simulation does by the rule "order"?  Then that need not ask.
local function goes_by_rule(cluster, opt)
	return cluster.source == "sim" and opt.window == 0 and opt.guard_load == 0 and
		(opt.predictor == "similar" or opt.predictor == "limit")
end

function M.decide(cluster, plan, opt)
	local how = { shape = opt.shapes and "any" or 0 }
	guard.protect(cluster, plan, opt)
	local expected = predict.open(opt.predictor, cluster, plan)
	protect(cluster, plan, opt, how, expected)
	local left = plan.head and opt.reservations == 1 and 0 or opt.reservations
	local order = in_order(cluster, plan, opt, expected)
	while left > 0 do
		local job = order()
		if not job then
			break
		elseif not start(plan, job, how) then
			left = reserve_within(cluster, plan, job, how, opt.horizon) and left - 1 or 0
		end
	end
	plan:start_rest(order, how)
	if expected.own and not guard.remembers(opt) then
		plan:settle(goes_by_rule(cluster, opt) and "order" or "full", opt)
	end
end

local function place_text(place, job, key, before, expected, now)
	local text = ("place %d in its own order, the smallest first: %.4g"):format(place, key) ..
		(" of %d CPUs, %.0f s expected and %d s waited"):format(job.cpus, expected:typical(job), waited_by(job, now))
	local stretch = expected:stretch(job)
	if stretch >= 1.05 then
		text = text .. ("\nexpected is %.3g times what jobs like it ran: so much longer than expected " ..
			"its user's work ran lately"):format(stretch)
	end
	if before then
		text = text .. ("\nnext ahead of it: job %d of %s (%.4g)"):format(before.job.id, before.job.user, before.key)
	end
	return text
end

-- Why it comes before the order, if it does.
local function exception_text(job, cluster, opt, expected)
	local due = guard.explain(job, cluster, opt)
	if due ~= "" or not needs_slowdown(opt) then
		return due
	end
	for other in overdue(cluster, nil, opt, expected) do
		if other.id == job.id then
			return "\nbefore the order: it has waited for slowdown times its shortest likely runtime"
		end
	end
	return ""
end

-- For schedlua explain: where the job stands, and who stands before it.
function M.explain(job, cluster, opt)
	local expected, before, place = predict.look(opt.predictor, cluster), nil, 0
	for other, key in in_order(cluster, nil, opt, expected) do
		place = place + 1
		if other.id == job.id then
			return place_text(place, other, key, before, expected, cluster.now) ..
				exception_text(job, cluster, opt, expected)
		end
		before = { job = other, key = key }
	end
	return "not in its order: it may not start now, or is behind the window"
end

return M
