-- SPDX-License-Identifier: MIT
--
-- shortest_first.lua - an order: the shortest walltime goes first, but a job that
-- has waited longer than max_wait goes before all that have not.
--
--   default = { "shortest_first", "easy" }
--   default = { "shortest_first", max_wait = "12h", "easy" }

local M = { api = 1, name = "shortest_first", doc = "shortest walltime first, with a guard against starvation" }

M.options = {
	max_wait = { default = "1d", type = "duration", min = 60, max = "365d", doc = "time after which a job goes first" },
}

function M.rank(job, cluster, opt)
	local waited = cluster.now - job.submit_time
	if waited > opt.max_wait then
		return waited
	end
	return -job.time_limit
end

return M
