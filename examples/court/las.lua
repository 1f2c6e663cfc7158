-- SPDX-License-Identifier: MIT
-- LAS (Gu et al., Tiresias 2019) for jobs that are not preempted: whose user was served least goes first.
return { api = 1, name = "court_las", doc = "least attained service of the user first", rank = function(job, cluster)
	local past = cluster.usage:past { by = "user", unit = "cpu" }
	local running = cluster.usage:running { by = "user", unit = "cpu" }
	return -((past[job.user] or 0) + (running[job.user] or 0)), -job.submit_time
end }
