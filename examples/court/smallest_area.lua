-- SPDX-License-Identifier: MIT
-- Smallest area first: cores times walltime, with EASY backfilling.
return { api = 1, name = "court_smallest_area", doc = "smallest area first", rank = function(job)
	return -job.cpus * job.time_limit, -job.submit_time
end }
