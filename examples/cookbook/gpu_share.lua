-- SPDX-License-Identifier: MIT
-- Each account may hold at most 25 % of the GPUs while jobs of other accounts wait for GPUs; alone, it may have
-- them all.
local sched = require "sched"

return sched.site {
	default = {
		sched.limit { gpus = "25 %", by = "account", while_others_wait = true },
		"easy",
	},
}
