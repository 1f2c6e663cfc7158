-- SPDX-License-Identifier: MIT
-- The demo's first site file: first come, first served, with EASY backfill.
local sched = require "sched"

return sched.site {
	interval = 20,	-- seconds of the cluster's time, which runs 60 times too fast
	budget = 600,
	default = { "easy" },
}
