-- SPDX-License-Identifier: MIT
-- UNICEF (Tang, Lan, Desai, Buettner 2009), with EASY backfilling: small jobs first.
return { api = 1, name = "court_unicef", doc = "UNICEF", rank = function(job, cluster)
	local w, r = cluster.now - job.submit_time, math.max(1, job.time_limit)
	return (w + 1e-15) / (math.log(job.cpus + 1e-15, 2) * r), -job.submit_time
end }
