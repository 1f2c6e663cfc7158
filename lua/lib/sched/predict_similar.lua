-- SPDX-License-Identifier: MIT
--
-- sched.predict_similar - a job runs like the last two of its user's that asked for the same walltime;
-- like his last two where none did.  Users change the walltime when they change what they run.

local M = { name = "similar", doc = "the user's last two runs of the same walltime" }

function M.sample(job, cluster)
	local history, user, limit = cluster.history, job.user, job.time_limit
	local runtimes = history:runtimes { user = user, time_limit = { limit, limit }, last = 2 }
	if not runtimes[1] then
		runtimes = history:runtimes { user = user, last = 2 }
	end
	return runtimes[1] and runtimes
end

return M
