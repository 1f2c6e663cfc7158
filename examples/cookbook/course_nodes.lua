-- SPDX-License-Identifier: MIT
-- The account "course" has two nodes to itself every Monday from 9 to 12 h during term: jobs of others that would
-- run into that time go elsewhere.  holidays.conf has the days that are no term.
local sched = require "sched"

local course = { name = "course" }

function course.prepare(cluster, plan)
	local from, to = cluster.clock:period "Mon 9:00-12:00 except holidays"
	if from then
		plan:block(cluster:nodes { name = "n[1-2]" }, from, to)
	end
end

function course.place(job)
	return job.account == "course" and { use_blocked = true } or nil
end

return sched.site { time_zone = "Europe/Berlin", holidays = "holidays.conf", default = { course, "easy" } }
