-- SPDX-License-Identifier: MIT
--
-- The policy of the attack suite: each function attacks where it is called (chunk.lua).

local hostile = require "chunk"

hostile.at("load")

local M = { api = 1, name = "policy" }

function M.rank(job, cluster)
	hostile.at("rank", cluster, nil, job)
	return hostile.answer(-job.id)
end

function M.decide(cluster, plan)
	hostile.at("decide", cluster, plan)
	for job in cluster:queue() do
		if not plan:start(job) and hostile.below(3) == 0 then
			plan:reserve(job)
		end
		hostile.at("loop", cluster, plan, job)
	end
end

return M
