-- SPDX-License-Identifier: MIT
-- EASY++ (Tsafrir, Etsion, Feitelson 2007): EASY-SJBF by predictions, the mean of the user's last two runtimes.
local predict = require "sched.predict"
return { api = 1, name = "court_easy_pp", doc = "EASY++", decide = function(cluster, plan)
	local behind, expected = {}, predict.open("last_two", cluster, plan)
	for job in cluster:queue() do
		local how = { expected = expected:mean(job) }
		if plan.head then
			behind[#behind + 1] = { job = job, how = how, place = #behind }
		elseif not plan:start(job, how) then
			plan:reserve(job, how)
		end
	end
	table.sort(behind, function(a, b)
		return a.how.expected < b.how.expected or a.how.expected == b.how.expected and a.place < b.place
	end)
	for _, row in ipairs(behind) do plan:backfill(row.job, row.how) end
end }
