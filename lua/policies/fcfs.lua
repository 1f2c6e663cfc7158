-- SPDX-License-Identifier: MIT
--
-- fcfs.lua - first come, first served, strictly: nobody overtakes.
--
-- In each partition jobs start in the queue's order until one does not fit; the jobs behind it
-- wait, even if they would fit.  Predictable, fair in the order of arrival, and wasteful: use
-- it as the yardstick that backfill is measured with, or where order is all that counts.
--
-- A job that can never run in its partition does not hold the others up: it is passed over
-- with the reason.
--
-- Options
--   window  pending jobs examined in a cycle, in the queue's order; 0: as many as a share of its work is
--           enough for, in simulations 10000.
--   reserve  give the first job that waits in each partition an expected start (squeue --start).
--   shapes  a job that does not fit as it asks starts as the first of its alternatives that fits
--           (doc/requests.md); false: only as it asks.

local M = { api = 1, name = "fcfs", doc = "first come, first served, nobody overtakes" }

M.options = {
	window = { default = 0, min = 0, max = 100000,
		doc = "pending jobs examined in a cycle; 0: a share of its work, in simulations 10000" },
	reserve = { default = true, doc = "an expected start for the first job that waits in each partition" },
	shapes = { default = true, doc = "a job may start as one of its alternatives" },
}

local SIMULATED <const> = 10000

function M.decide(cluster, plan, opt)
	local how = { shape = opt.shapes and "any" or 0 }
	local window = opt.window > 0 and opt.window or cluster.source == "sim" and SIMULATED or "share"
	for job in cluster:queue(window) do
		if not plan:start(job, how) and plan:earliest(job, how) then
			if opt.reserve then
				plan:reserve(job, how)
			end
			plan:close(job.partition, ("waits behind job %d"):format(job.id))
		end
	end
	plan:settle(opt.window == 0 and cluster.source == "sim" and "fcfs" or "full")
end

return M
