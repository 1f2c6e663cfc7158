-- SPDX-License-Identifier: MIT
-- Deadlines first, best effort behind them (what Chronus is for: Gao et al., SoCC 2021), for jobs that run to their
-- end once they have started.  A user says by when, in minutes from submission: sbatch --comment=deadline=720.
local sched = require "sched"

local function deadline_of(job)
	local minutes = tonumber((job.comment or ""):match "deadline=(%d+)")
	return job.deadline or minutes and job.submit_time + 60 * minutes
end

-- Class 2: jobs that can still meet their deadline, the earliest first.
-- Class 1: best effort, the least GPU-seconds first.
-- Class 0: jobs that are too late for their deadline: they no longer keep others from meeting theirs.
local function rank(job, cluster)
	local by, work = deadline_of(job), job.time_limit * math.max(job.gpus, 1)
	if not by then
		return 1, -work
	elseif cluster.now + job.time_limit > by then
		return 0, -work
	end
	return 2, -by
end

return sched.site {
	default = { { name = "deadlines", doc = "deadlines first, best effort behind them", rank = rank }, "easy" },
}
