-- SPDX-License-Identifier: MIT
-- Longest job first, by walltime, with EASY backfilling.
return { api = 1, name = "court_ljf", doc = "longest job first", rank = function(job)
	return job.time_limit, -job.submit_time
end }
