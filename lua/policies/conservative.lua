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
-- Options
--   window    pending jobs examined in a cycle, in the queue's order.
--   reserved  jobs that get a reservation at most; those behind them only start if they fit
--             beside all reservations.  Reservations are what costs time in a long queue.
--   shapes    a job that does not fit as it asks starts as the first of its alternatives that
--             fits, or else waits for the one that can start soonest; false: only as it asks.
--   max_job_user, min_age_reserve, ...  the bf_ words of Slurm's backfill (sched.caps)

local caps = require "sched.caps"

local M = { api = 1, name = "conservative", doc = "conservative backfill: a reservation for every job" }

M.options = caps.options {
	window = { default = 1000, min = 1, max = 100000, doc = "pending jobs examined in a cycle" },
	reserved = { default = 1000, min = 0, max = 100000, doc = "jobs that get a reservation at most" },
	shapes = { default = true, doc = "a job may start as one of its alternatives" },
}

function M.decide(cluster, plan, opt)
	local reserved, how, cap = 0, { shape = opt.shapes and "any" or 0 }, caps.new(cluster, opt)
	for job in cluster:queue(opt.window) do
		if cap:passes(plan, job) and not plan:start(job, how) and reserved < opt.reserved and
		   cap:may_book(job) and plan:reserve(job, how) then
			reserved = reserved + 1
			cap:booked(job)
		end
	end
end

return M
