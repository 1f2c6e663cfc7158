-- SPDX-License-Identifier: MIT
-- Largest bounded slowdown first (highest response ratio next, with a bound of 10 s), with EASY backfilling.
return { api = 1, name = "court_slowdown", doc = "largest bounded slowdown first", rank = function(job, cluster)
	local w, r = cluster.now - job.submit_time, math.min(math.max(10, job.time_limit), 365 * 86400)
	return (w + r) / r, -job.submit_time
end }
