-- SPDX-License-Identifier: MIT
-- In partition debug, jobs of less than 30 minutes go first on weekdays from 8 to 18 h; at night and on
-- weekends long jobs go first.
local sched = require "sched"

local function short_first(job)
	return job.time_limit < 30 * 60 and 1 or 0
end

local function long_first(job)
	return job.time_limit
end

return sched.site {
	time_zone = "Europe/Berlin",
	partitions = {
		debug = sched.when {
			["Mon-Fri 8:00-18:00"] = { { name = "short_first", rank = short_first }, "easy" },
			otherwise = { { name = "long_first", rank = long_first }, "easy" },
		},
	},
}
