-- SPDX-License-Identifier: MIT
-- A user's fifth and later running job ranks below everybody's first; an array counts task by task.
local sched = require "sched"

local function rank(job, cluster)
	local running = cluster.usage:holding { by = "user", unit = "job" }[job.user] or 0
	return running < 4 and 1 or 0
end

return sched.site {
	default = { { name = "fifth_job", rank = rank, rerank = true }, "easy" },
}
