-- SPDX-License-Identifier: MIT
-- Each account has a budget in euros a month.  A job starts if what its account used this month, what it runs to the
-- end of the walltimes, and the job itself cost no more.
local sched = require "sched"
local period = require "sched.period"

local hour = 3600
local price = { cpu = 0.01 / hour, gpu = 0.60 / hour }
local budget, others = { climate = 5000, lhc = 20000 }, 200
local month = assert(period.parse("month", "Europe/Berlin"))

local function allow(job, cluster)
	local limit, account, since = budget[job.account] or others, job.account or "", period.at(month, cluster.now)
	local cpus, gpus = math.max(job.cpus, job.alloc_cpus), math.max(job.gpus, job.alloc_gpus)
	local cost = job.time_limit * (price.cpu * cpus + price.gpu * gpus)
	for unit, each in pairs(price) do
		local past = cluster.usage:past { by = "account", unit = unit, since = since }
		local running = cluster.usage:running { by = "account", unit = unit }
		cost = cost + each * ((past[account] or 0) + (running[account] or 0))
	end
	return cost <= limit, ("would come to %.2f of %s euros of this month"):format(cost, limit)
end

return sched.site { default = { { name = "cost", allow = allow, on_failure = "hold" }, "easy" } }
