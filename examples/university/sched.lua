-- SPDX-License-Identifier: MIT
--
-- A university's cluster: many users who come and go, courses, a few groups that would fill the
-- machine.  Nobody is refused: who is over a limit runs on what the others leave.

local sched = require "sched"

-- Points, so that anybody can add them up (schedlua explain JOBID does):
--   50 for the first job of a user who has nothing running, if it is no more than a node-day;
--   100 x fair share: 100 for who has used nothing lately, 50 for who has used 2000 CPU-hours;
--   10 for each day of waiting, so that after ten days a job is ahead of all that is new.
local order = sched.weighted {
	{ 50, sched.first_job { most = "768 cpu-hours" } },
	{ 100, sched.fair_share { half_life = "14d", half_at = "2000 cpu-hours", shares = "shares.conf" } },
	{ 10, sched.ageing { per = "1d" } },
}

return sched.site {
	default = {
		sched.quota { per_user = "20000 cpu-hours", on_exceed = "demote" },
		order, "easy",
	},
	partitions = {
		-- exercises are short and begin on the hour
		courses = { sched.quota { per_user = "64 cpu-hours" }, sched.first_job { }, "easy" },
	},
}
