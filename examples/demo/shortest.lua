-- SPDX-License-Identifier: MIT
-- The demo's second site file: the same backfill, the shortest walltime first.
local sched = require "sched"

return sched.site {
	interval = 20,
	budget = 600,
	default = { "shortest_first", "easy" },
}
