-- SPDX-License-Identifier: MIT
--
-- The set-up that Leonenkov and Zhumatiy describe for the Lomonosov supercomputer ("Introducing new
-- backfill-based scheduler for SLURM resource manager", 2015): a site file for sched/lua.
--
-- 1. CPU-hours that a user may hold: 81920 in regular4, the largest queue.  Who holds more waits,
--    and does not hold up others.
-- 2. A transparent priority: layers of users from 0 to 65536, then time of submission.  Edit
--    layers.conf; it holds from the next cycle on.
-- 3. Nodes of other partitions for users of a certain layer: from 2000 on, a job of regular4 may have
--    idle nodes of test beside its own.  Slurm needs a partition that has both (doc/borrowing.md):
--    PartitionName=all Nodes=ALL RootOnly=YES Hidden=YES MaxTime=UNLIMITED
-- 4. Time quotas: CPU-hours a month, by account, a fifth of what is left being carried over.
-- 5. Another algorithm in each queue: test is first come, first served; gpu reserves for every job.

local sched = require "sched"

local layers = sched.layers { file = "layers.conf" }
local monthly = sched.quota { name = "monthly quota", limits = "monthly.conf", period = "month",
	time_zone = "Europe/Moscow", scope = "cluster", carry_over = 0.2, refund = true }

return sched.site {
	interval = 3, budget = 2.0,
	default = { monthly, layers, "easy" },
	partitions = {
		regular4 = {
			sched.quota { per_user = "81920 cpu-hours", limits = "limits.conf" },
			monthly, layers,
			sched.borrow { from = { "test" }, through = "all", layer = 2000, layers = layers },
			{ "easy", window = 1000 },
		},
		["gpu,gputest"] = { sched.quota { per_user = "2000 gpu-hours" }, monthly, layers, "conservative" },
		test = "fcfs",
	},
}
