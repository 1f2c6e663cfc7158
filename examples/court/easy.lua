-- SPDX-License-Identifier: MIT
-- EASY backfilling (Lifka 1995): only the first job that does not fit has a reservation.
return { api = 1, name = "court_easy", doc = "EASY backfilling", decide = function(cluster, plan)
	for job in cluster:queue() do
		if plan.head then
			plan:backfill(job)
		elseif not plan:start(job) then
			plan:reserve(job)
		end
	end
end }
