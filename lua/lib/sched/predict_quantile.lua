-- SPDX-License-Identifier: MIT
--
-- sched.predict_quantile - a job runs like those of its user's that are most like it: of the same name
-- and about its size and walltime, or of these at least, or any; the first of these of which there
-- are five, or else the last.  For quantiles that mean something.

local M = { name = "quantile", doc = "the user's last 40 like runs" }

local ENOUGH <const>, MOST <const> = 5, 40

function M.sample(job, cluster)
	local history, user, limit, cpus = cluster.history, job.user or "", job.time_limit, job.cpus
	local name = job.name
	local like = { cpus = { cpus / 2, cpus * 2 }, time_limit = { limit / 2, limit * 2 } }
	local best
	for _, question in ipairs { { name = name, cpus = like.cpus, time_limit = like.time_limit },
		{ cpus = like.cpus, time_limit = like.time_limit }, {} } do
		question.user, question.last = user, MOST
		local runtimes = history:runtimes(question)
		if #runtimes >= ENOUGH then
			return runtimes
		elseif runtimes[1] then
			best = best or runtimes
		end
	end
	return best
end

return M
