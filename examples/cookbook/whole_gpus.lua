-- SPDX-License-Identifier: MIT
-- GPUs are given so that those that stay free are of use to the jobs that are expected: fragmentation gradient
-- descent.  A job waits up to ten minutes for a place that breaks nothing up.  Jobs without GPUs leave the cores
-- beside idle GPUs alone while somebody waits for GPUs; and they are the first to be stopped for jobs with GPUs that
-- may preempt.
local sched = require "sched"

-- CPU-hours that a victim loses; of one without GPUs a thousandth.
local function cost(victim, job, cluster)
	local lost = (cluster.now - victim.start_time) / 3600 * victim.alloc_cpus
	return victim.gpus == 0 and job.gpus > 0 and lost / 1000 or lost
end

return sched.site {
	default = {
		sched.gpu_share { reserve = true, while_wanted = true },
		sched.place { "fgd", least = 50, price = 5 },
		sched.preempt { cost = cost },
		"easy",
	},
}
