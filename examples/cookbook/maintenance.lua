-- SPDX-License-Identifier: MIT
-- The first day of each month is for maintenance until noon: a job starts before that only if it will have ended.
local sched = require "sched"
local period = require "sched.period"

local zone, length = "Europe/Berlin", sched.duration "12h"
local month = assert(period.parse("month", zone))

local function prepare(cluster, plan)
	local this, following = period.at(month, cluster.now)
	local from = cluster.now < this + length and this or following
	plan:block(cluster:nodes(), from, from + length)
end

return sched.site { time_zone = zone, default = { { name = "maintenance", prepare = prepare }, "easy" } }
