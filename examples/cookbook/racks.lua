-- SPDX-License-Identifier: MIT
-- Racks of 18 nodes: a job of several nodes has the segments of its --segment, or of 18 or 12 nodes, each in one rack,
-- or is in as few racks as will do, and idle racks stay whole.  A job of one node goes where the GPUs that stay free
-- are of use to others.
local sched = require "sched"

local function segment(job)
	return job.segment or job.min_nodes % 18 == 0 and 18 or job.min_nodes % 12 == 0 and 12 or nil
end

local function place(job)
	if job.min_nodes == 1 then
		return { place = "fgd" }
	end
	return { place = "blocks", segment = segment(job) }
end

return sched.site { default = { { name = "racks", place = place }, "easy" } }
