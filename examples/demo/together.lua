-- SPDX-License-Identifier: MIT
-- The demo's third site file: what fits together starts together, by integer programming.
local sched = require "sched"

return sched.site {
	interval = 20,	-- seconds of the cluster's time, which runs 60 times too fast
	budget = 1200,
	default = { "ip_window", time_limit = 60 },
}
