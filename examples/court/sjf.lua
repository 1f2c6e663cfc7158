-- SPDX-License-Identifier: MIT
-- Shortest job first, by walltime, with EASY backfilling.
return { api = 1, name = "court_sjf", doc = "shortest job first", rank = function(job)
	return -job.time_limit, -job.submit_time
end }
