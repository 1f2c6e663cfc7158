-- SPDX-License-Identifier: MIT
-- F3 (Carastan-Santos and de Camargo 2017), with EASY backfilling: the smallest r n + 6860000 log10(s) first.
return { api = 1, name = "court_f3", doc = "F3", rank = function(job, cluster)
	local n, r = job.cpus, math.max(1, job.time_limit)
	local s = math.log(math.max(0.1, job.submit_time - cluster.origin), 10)
	return -(r * n + 6860000 * s), -job.submit_time
end }
