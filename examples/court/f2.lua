-- SPDX-License-Identifier: MIT
-- F2 (Carastan-Santos and de Camargo 2017), with EASY backfilling: the smallest sqrt(r) n + 25600 log10(s) first.
return { api = 1, name = "court_f2", doc = "F2", rank = function(job, cluster)
	local n, r = job.cpus, math.max(1, job.time_limit)
	local s = math.log(math.max(0.1, job.submit_time - cluster.origin), 10)
	return -(math.sqrt(r) * n + 25600 * s), -job.submit_time
end }
