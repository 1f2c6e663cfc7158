-- SPDX-License-Identifier: MIT
-- EASY-SJBF (Tsafrir, Etsion, Feitelson 2007): EASY that fills in with the shortest jobs first.
return { api = 1, name = "court_easy_sjbf", doc = "EASY, shortest backfilled first", decide = function(cluster, plan)
	local behind = {}
	for job in cluster:queue() do
		if plan.head then
			behind[#behind + 1] = { job = job, limit = job.time_limit, place = #behind }
		elseif not plan:start(job) then
			plan:reserve(job)
		end
	end
	table.sort(behind, function(a, b) return a.limit < b.limit or a.limit == b.limit and a.place < b.place end)
	for _, row in ipairs(behind) do
		plan:backfill(row.job)
	end
end }
