-- SPDX-License-Identifier: MIT
-- Jobs of more than half of the CPUs start at night and on drain days, and go first then.  A drain day begins with
-- an empty machine: jobs that would run into it wait, and small jobs stay out until it is over.
local sched = require "sched"

local function is_big(job, cluster)
	return job.cpus * 2 > cluster.supply.cpus
end

local big = { name = "big_jobs" }

function big.prepare(cluster, plan)
	local from, to = cluster.clock:period "holidays"
	if from then
		plan:block(cluster:nodes(), from, to)
	end
end

function big.admit(job, cluster)
	return not is_big(job, cluster) or cluster.clock:is "20:00-6:00; holidays", "big jobs start at night (20-6 h)"
end

function big.rank(job, cluster) return is_big(job, cluster) and 1 or 0 end
function big.place(job, cluster) return is_big(job, cluster) and { use_blocked = true } or nil end

return sched.site { time_zone = "Europe/Berlin", holidays = "drain_days.conf", default = { big, "easy" } }
