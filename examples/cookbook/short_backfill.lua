-- SPDX-License-Identifier: MIT
-- Only jobs of at most an hour are backfilled; longer ones wait for their turn.
local sched = require "sched"

local short = { name = "short_backfill", api = 1 }
short.options = { longest = { default = "1h", type = "duration", doc = "the longest walltime that is backfilled" } }

function short.decide(cluster, plan, opt)
	for job in cluster:queue "share" do
		if not plan.head then
			if not plan:start(job) then
				plan:reserve(job)	-- job becomes plan.head
			end
		elseif job.time_limit <= opt.longest then
			plan:backfill(job)
		else
			plan:refuse(job, "a job ahead waits, and this one is too long to be backfilled")
		end
	end
end

return sched.site { default = { short, longest = "1h" } }
