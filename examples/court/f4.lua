-- SPDX-License-Identifier: MIT
-- F4 (Carastan-Santos and de Camargo 2017), with EASY backfilling: the smallest r sqrt(n) + 530000 log10(s) first.
return { api = 1, name = "court_f4", doc = "F4", rank = function(job, cluster)
	local n, r = job.cpus, math.max(1, job.time_limit)
	local s = math.log(math.max(0.1, job.submit_time - cluster.origin), 10)
	return -(r * math.sqrt(n) + 530000 * s), -job.submit_time
end }
