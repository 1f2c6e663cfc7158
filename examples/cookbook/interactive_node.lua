-- SPDX-License-Identifier: MIT
-- Node n1 is kept for interactive work (salloc, srun), which goes elsewhere when n1 is full; batch jobs never use it.
local sched = require "sched"

local function place(job, cluster)
	local kept = cluster:nodes { name = "n1" }
	return job.batch and { except = kept } or { prefer = kept }
end

return sched.site { default = { { name = "interactive_node", place = place }, "easy" } }
