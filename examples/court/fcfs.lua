-- SPDX-License-Identifier: MIT
-- First come, first served: nobody overtakes the first job that does not fit.
return { api = 1, name = "court_fcfs", doc = "first come, first served", decide = function(cluster, plan)
	for job in cluster:queue() do
		if not plan:start(job) then
			return
		end
	end
end }
