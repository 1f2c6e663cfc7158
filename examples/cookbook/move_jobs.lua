-- SPDX-License-Identifier: MIT
-- A job that may preempt, and needs a whole rack or the GPUs of one node, has others moved before it has others
-- stopped: jobs that fit elsewhere and have lost no more than eight core-hours in all.  Nobody is moved twice in two
-- days, nor more than ten jobs in an hour.
local sched = require "sched"

return sched.site {
	default = {
		sched.consolidate { max_price = 8, min_gain = "30m", again = "2d", max_an_hour = 10, max_of_user = 2 },
		sched.preempt { after = "1h", min_runtime = "30m" },
		"easy",
	},
}
