-- SPDX-License-Identifier: MIT
-- One-core jobs are packed onto the last four nodes, so that whole nodes stay free.
local sched = require "sched"

local function place(job, cluster)
	if job.cpus == 1 then
		return { nodes = cluster:nodes { last = 4 }, place = "pack" }
	end
end

return sched.site {
	default = { { name = "pack_small", place = place }, "conservative" },
}
