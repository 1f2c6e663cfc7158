-- SPDX-License-Identifier: MIT
-- The demo's third site file: an edit that went wrong in line 9.
local sched = require "sched"

return sched.site {
	interval = 20,
	budget = 600,
	default = { "shortest_first", "easy" },
	partitions = { main = { "eazy" } ,
	-- a brace is missing here
}
