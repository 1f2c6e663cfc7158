-- SPDX-License-Identifier: MIT
-- Queues in two levels with quotas.  A team has its GPUs for certain; what it leaves goes to teams of its department,
-- and what these leave to the team that used least lately for its weight.  A team below its quota gets GPUs back
-- from teams beyond theirs, whose jobs are requeued.
local sched = require "sched"

-- department: team (account) = { GPUs for certain, weight of what is beyond }
local departments = {
	vision = { detect = { 16, 2 }, track = { 8, 1 } },
	language = { translate = { 24, 2 }, speech = { 16, 1 } },
}

local quota, weight, department, sum = {}, {}, {}, {}
for name, teams in pairs(departments) do
	for team, says in pairs(teams) do
		quota[team], weight[team], department[team] = says[1], says[2], name
		sum[name] = (sum[name] or 0) + says[1]
	end
end

local function rank(job, cluster)
	local team, held = job.account, cluster.usage:holding { by = "account", unit = "gpu" }
	if not quota[team] then
		return -1, 0
	end
	local of_department = job.gpus
	for other in pairs(departments[department[team]]) do
		of_department = of_department + (held[other] or 0)
	end
	local used = cluster.usage:decayed { by = "account", unit = "gpu", half_life = 7 * 86400 }[team] or 0
	local class = (held[team] or 0) + job.gpus <= quota[team] and 2 or of_department <= sum[department[team]] and 1 or 0
	return class, -(used + (held[team] or 0) * 3600) / weight[team]
end

return sched.site {
	default = { sched.preempt { reclaim = quota, min_runtime = "10m" },
		{ name = "queues", rank = rank, rerank = true }, "easy" },
}
