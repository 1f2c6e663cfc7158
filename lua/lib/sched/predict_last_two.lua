-- SPDX-License-Identifier: MIT
--
-- sched.predict_last_two - a job runs like the last two of its user's that have ended.
--
-- D. Tsafrir, Y. Etsion, D. G. Feitelson: Backfilling Using System-Generated Predictions Rather Than
-- User Runtime Estimates.  IEEE TPDS 18(6), 2007.

local M = { name = "last_two", doc = "the user's last two runs" }

function M.sample(job, cluster)
	local runtimes = cluster.history:runtimes { user = job.user or "", last = 2 }
	return runtimes[1] and runtimes
end

return M
