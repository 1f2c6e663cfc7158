-- SPDX-License-Identifier: MIT
-- F1 (Carastan-Santos and de Camargo 2017), with EASY backfilling: the smallest log10(r) n + 870 log10(s) first.
return { api = 1, name = "court_f1", doc = "F1", rank = function(job, cluster)
	local n, r = job.cpus, math.max(1, job.time_limit)
	local s = math.log(math.max(0.1, job.submit_time - cluster.origin), 10)
	return -(math.log(r, 10) * n + 870 * s), -job.submit_time
end }
