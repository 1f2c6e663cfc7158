-- SPDX-License-Identifier: MIT
-- WFP3 (Tang, Lan, Desai, Buettner 2009), with EASY backfilling.
return { api = 1, name = "court_wfp3", doc = "WFP3", rank = function(job, cluster)
	local w, r = cluster.now - job.submit_time, math.max(1, job.time_limit)
	return (w / r) ^ 3 * job.cpus, -job.submit_time
end }
