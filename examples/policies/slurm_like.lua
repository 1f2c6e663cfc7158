-- SPDX-License-Identifier: MIT
--
-- slurm_like.lua - the rhythm of Slurm's own two schedulers, for simulations: the main
-- one starts jobs in the queue's order, until one does not fit, whenever something happens;
-- sched/backfill comes every so many seconds, gives each job that it examines a reservation
-- and starts what fits beside all of them (bf_interval, bf_max_job_test).
--
--   schedlua sim --interval=1 --policy=examples/policies/slurm_like.lua,window=50 esp-gpu
--
-- The clock must come by each multiple of the interval, as it does with --interval=1.  In
-- slurmctld it does not: there, and for all that is not about comparing with Slurm, use
-- conservative.
--
-- Options
--   window  pending jobs that either examines.
--   every   seconds between two passes of backfill.

local M = { api = 1, name = "slurm_like", doc = "main scheduler at events, conservative backfill at intervals" }

M.options = {
	window = { default = 100, min = 1, max = 100000, doc = "pending jobs examined" },
	every = { default = 30, min = 1, max = 86400, doc = "seconds between two passes of backfill" },
}

function M.decide(cluster, plan, opt)
	local backfill = cluster.now % opt.every == 0
	for job in cluster:queue(opt.window) do
		if not plan:start(job) then
			if not backfill then
				return
			end
			plan:reserve(job)
		end
	end
end

return M
