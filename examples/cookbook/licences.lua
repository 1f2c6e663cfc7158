-- SPDX-License-Identifier: MIT
-- Licences of matlab cost more than nodes: jobs that need some go first, but a user holds two at most.
local sched = require "sched"

local name, most = "matlab", 2

local function needs(job)
	for _, row in ipairs(job.licenses or {}) do
		if row.license == name then
			return row.count
		end
	end
	return 0
end

local function allow(job, cluster)
	local held = needs(job)
	for _, other in ipairs(held > 0 and cluster.running or {}) do
		held = held + (other.user == job.user and needs(other) or 0)
	end
	return held <= most, ("a user holds %d licences of %s at most"):format(most, name)
end

local function rank(job) return needs(job) > 0 and 1 or 0 end
return sched.site { default = { { name = "licences", allow = allow, rank = rank }, "easy" } }
