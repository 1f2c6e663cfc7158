-- SPDX-License-Identifier: MIT
-- Racks of 18 nodes: jobs of four racks and more go first, and while one waits a job that is smaller than a rack does
-- not begin an idle one before it has waited for six hours.
local sched = require "sched"
local idle_racks

local function rank(job) return job.min_nodes >= 4 * 18 and 1 or 0 end

local function prepare(cluster)
	local first, used, names = cluster:queue()(), {}, {}
	for _, node in ipairs(cluster.nodes) do
		used[node.topology or ""] = used[node.topology or ""] or not node.idle
	end
	for _, node in ipairs(cluster.nodes) do
		names[#names + 1] = not used[node.topology or ""] and node.name or nil
	end
	idle_racks = first and rank(first) == 1 and cluster:nodes { name = names } or nil
end

local function place(job)
	local small = job.min_nodes < 18 and job.waited < 6 * 3600 and not job.native
	return { place = "blocks", except = small and idle_racks or nil }
end

return sched.site { default = { { name = "whole_racks", prepare = prepare, place = place, rank = rank }, "easy" } }
