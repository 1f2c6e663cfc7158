-- SPDX-License-Identifier: MIT
--
-- A laboratory with a few nodes full of GPUs, which are what everybody waits for.

local sched = require "sched"

return sched.site {
	default = {
		-- at once: what four GPUs are for two days
		sched.quota { name = "GPUs at once", per_user = "192 gpu-hours", oversize = "alone" },
		-- a week: what is over it runs when nobody else wants the GPUs; failed runs are free
		sched.quota { name = "weekly GPUs", per_user = "500 gpu-hours", limits = "weekly.conf", period = "week",
			on_exceed = "demote", refund = true },
		sched.weighted {
			{ 1, sched.fair_share { unit = "gpu", half_life = "7d", half_at = "300 gpu-hours" } },
			{ 0.1, sched.ageing { per = "1d", max = 10 } },
		},
		"easy",
	},
	-- to look at things: short, one at a time
	partitions = { interactive = { sched.quota { per_user = "8 gpu-hours", oversize = "alone" }, "fcfs" } },
}
