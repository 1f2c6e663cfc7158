-- SPDX-License-Identifier: MIT
--
-- sched.ageing - rank by how long a job has waited: one point for each *per*.
--
--   sched.ageing { per = "1d", max = 10 }
--
-- Waiting begins when Slurm says that the job may start (eligible: after its dependencies and
-- begin time), not at submission.

local component = require "sched.component"
local duration = require "sched.duration"

local M = {}

local definitions = {
	per = { default = "1d", type = "duration", min = 1, max = "365d" },
	max = { type = "number", min = 0 },
}

--- sched.ageing { per =, max = }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.ageing", t, definitions, fail)
	local per, max = opt.per, opt.max or math.huge
	local part = { name = "ageing", doc = "points for time waited" }

	local function waited(job, cluster)
		local since = job.eligible_time
		if since <= 0 then
			since = job.submit_time
		end
		return since > 0 and math.max(0, cluster.now - since) or 0
	end

	function part.rank(job, cluster)
		return math.min(waited(job, cluster) / per, max), -job.submit_time
	end

	function part.explain(job, cluster)
		local s = waited(job, cluster)
		return ("%.3f for %s waited, one for each %s%s"):format(math.min(s / per, max), duration.text(s),
			duration.text(per), opt.max and (", at most %g"):format(max) or "")
	end

	return part
end

return M
