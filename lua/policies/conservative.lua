-- SPDX-License-Identifier: MIT
--
-- conservative.lua - every examined job gets a reservation: conservative backfill.
--
-- In the queue's order each job is placed at the earliest time at which it fits beside all that
-- was placed before it; where that time is now, it starts.  Within a cycle no job delays one
-- ahead of it, and every user is told a start time.  The plan is made anew in each cycle, as
-- Slurm's sched/backfill does, so that a time may become later too when jobs end early and the
-- queue falls into place differently (doc/simulate.md shows a case of four jobs).  Slurm limits
-- the cost by a resolution and a depth; here the timeline is exact and the window limits it.
--
-- With `compress` the plan of the cycle before is kept: each job is first booked at the time that
-- it was told, and then moves, in the queue's order, to the earliest time that is free beside all
-- others' (as in pyss).  So no time becomes later; and a job in front cannot take what a job behind
-- it was told.
--
-- Options
--   window    pending jobs examined in a cycle, in the queue's order; 0: as many as a share of its work is enough
--             for, and in simulations 1000.
--   reserved  jobs that get a reservation at most; those behind them only start if they fit
--             beside all reservations.  Reservations are what costs time in a long queue.
--   shapes    a job that does not fit as it asks starts as the first of its alternatives that
--             fits, or else waits for the one that can start soonest; false: only as it asks.
--   backfill_order, estimate, book   the order behind the first that waits, by which runtimes, and for
--             how long what stands there is booked (sched.score)
--   max_job_user, min_age_reserve, ...  the bf_ words of Slurm's backfill (sched.caps)

local caps = require "sched.caps"
local score = require "sched.score"

local M = { api = 1, name = "conservative", doc = "conservative backfill: a reservation for every job" }

M.options = score.options(caps.options {
	window = { default = 0, min = 0, max = 100000,
		doc = "pending jobs examined in a cycle; 0: a share of its work, in simulations 1000" },
	reserved = { default = 1000, min = 0, max = 100000, tune = { 1, 5, 20, 100, 1000 },
		doc = "jobs that get a reservation at most" },
	compress = { default = false, tune = true, doc = "times that were told are kept, or become earlier" },
	shapes = { default = true, doc = "a job may start as one of its alternatives" },
})

local SIMULATED <const> = 1000

local function window_of(cluster, opt)
	return opt.window > 0 and opt.window or cluster.source == "sim" and SIMULATED or "share"
end

-- The times that were told are remembered by job.
local TOLD <const> = "told"

local function keep_told(cluster, plan, opt, how)
	local told = cluster:recall(TOLD)
	for job in cluster:queue(told and window_of(cluster, opt) or 0) do
		if told[job.id] then
			plan:reserve(job, { shape = how.shape, from = told[job.id] })
		end
	end
end

-- With an order of its own (behind), limits (cap) or times to keep (told); each may be nil.
local function decide_with(cluster, plan, opt, how, behind, cap, told)
	local reserved = 0
	local function give_up(job)		-- the time of the cycle before
		-- (without a reservation undo() would take back a start)
		if told and not told[job.id] and plan:state(job) == "reserved" then
			plan:undo(job)
		end
	end
	local function place(job, as)
		if plan:start(job, as) then
			return
		elseif reserved >= opt.reserved or cap and not cap:may_book(job) then
			return give_up(job)
		end
		local time = plan:reserve(job, as)
		reserved = reserved + (time and 1 or 0)
		if time and cap then
			cap:booked(job)
		end
		if time and told then
			told[job.id] = time
		end
	end
	for job in cluster:queue(window_of(cluster, opt)) do
		local beyond = cap and cap:beyond(job)
		if beyond then
			give_up(job)
			cap:refuse(plan, job, beyond)
		elseif behind and reserved > 0 then
			behind:add(job)
		else
			place(job, how)
		end
	end
	if behind then
		for job, as in behind:each() do
			place(job, as)
		end
	end
end

function M.decide(cluster, plan, opt)
	local reserved, how = 0, { shape = opt.shapes and "any" or 0 }
	local behind, cap = score.behind(cluster, plan, opt, how), caps.new(cluster, opt)
	if opt.compress then
		local told = {}
		keep_told(cluster, plan, opt, how)
		decide_with(cluster, plan, opt, how, behind, cap, told)
		return plan:remember(TOLD, next(told) and told or nil)
	elseif behind or cap then
		return decide_with(cluster, plan, opt, how, behind, cap)
	end
	for job in cluster:queue(window_of(cluster, opt)) do		-- all that there is to it by itself
		if not plan:start(job, how) and reserved < opt.reserved and plan:reserve(job, how) then
			reserved = reserved + 1
		end
	end
	-- by nothing but that rule, where all of the window have a reservation
	if opt.window == 0 and cluster.source == "sim" and opt.reserved >= SIMULATED then
		plan:settle("conservative", { window = SIMULATED })
	else
		plan:settle()
	end
end

return M
