-- SPDX-License-Identifier: MIT
--
-- easy.lua - first come, first served, with EASY backfill (Lifka 1995).
--
-- Jobs start in the queue's order as long as they fit.  The first that does not gets a
-- reservation: the earliest time at which enough will be free, by the walltimes of what runs
-- (its shadow time).  Every job behind it may start at once if that does not delay the
-- reservation: because it ends before the shadow time, or because it takes nodes that the
-- head does not need.
--
-- Only one job is protected at a time.  That fills holes well, and lets wide jobs far back in
-- the queue wait for a time that nobody promises: see conservative.lua.
--
-- Options
--   window  pending jobs examined in a cycle, in the queue's order, without those that no time can help.  The
--           rest waits for a later cycle with the reason "beyond the policy's window".  0: as many as a share of
--           the cycle's work is enough for on a cluster, where users wait for the cycle's end, 60,000 at most; and
--           all of them in a simulation.
--   shapes  a job that does not fit as it asks starts as the first of its alternatives that fits
--           (doc/requests.md); false: only as it asks.
--   backfill_order, estimate, book   the order behind the head, by which runtimes, and for how long what
--           fills in is booked (sched.score)
--   max_job_user, min_age_reserve, ...  the bf_ words of Slurm's backfill (sched.caps)

local caps = require "sched.caps"
local score = require "sched.score"

local M = { api = 1, name = "easy", doc = "FCFS with EASY backfill (Lifka 1995)" }

M.options = score.options(caps.options {
	window = { default = 0, min = 0, max = 100000,
		doc = "pending jobs examined in a cycle; 0: a share of its work, in simulations all" },
	shapes = { default = true, doc = "a job may start as one of its alternatives" },
})

function M.decide(cluster, plan, opt)
	local how, cap = { shape = opt.shapes and "any" or 0 }, caps.new(cluster, opt)
	local window = opt.window > 0 and opt.window or cluster.source ~= "sim" and "share" or nil
	local behind = score.behind(cluster, plan, opt, how)
	local queue = cluster:queue(window)
	for job in queue do
		local beyond = cap and cap:beyond(job)
		if beyond then
			cap:refuse(plan, job, beyond)
		elseif behind and plan.head then
			behind:add(job)
		elseif plan.head then
			plan:backfill(job, how)			-- may not delay the head's reservation
			if not cap then
				plan:backfill_rest(queue, how)	-- nor may any job behind this one
			end
		elseif not plan:start(job, how) and (not cap or cap:may_book(job)) then	-- start: best fit, or nil and why
			plan:reserve(job, how)			-- shadow time and nodes, booked: job becomes plan.head
		end
	end
	if behind then
		for job, as in behind:each() do
			plan:backfill(job, as)
		end
	elseif not cap then
		plan:settle(not window and "easy" or nil)	-- all of the queue is looked at, by nothing but the rule above
	end
end

return M
