-- SPDX-License-Identifier: MIT
-- Conservative backfilling (Mu'alem and Feitelson 2001): each job has a reservation, planned anew at each event.
return { api = 1, name = "court_conservative", doc = "conservative backfilling", decide = function(cluster, plan)
	for job in cluster:queue() do
		if not plan:start(job) then
			plan:reserve(job)
		end
	end
end }
