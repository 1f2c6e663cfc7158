-- SPDX-License-Identifier: MIT
--
-- first_fit.lua - every job that fits starts, in the queue's order; nobody gets a
-- reservation.  Uses a machine well and lets wide jobs wait for as long as narrow ones come:
-- a yardstick, not a policy to run.
--
-- Options
--   window  pending jobs examined in a cycle.

local M = { api = 1, name = "first_fit", doc = "whatever fits starts; nobody gets a reservation" }

M.options = {
	window = { default = 1000, min = 1, max = 100000, doc = "pending jobs examined in a cycle" },
}

function M.decide(cluster, plan, opt)
	for job in cluster:queue(opt.window) do
		plan:start(job, { shape = "any" })	-- as it asks, else as the first of its alternatives that fits
	end
end

return M
