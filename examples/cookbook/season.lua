-- SPDX-License-Identifier: MIT
-- Nodes of a weight of 100 or more are old and hot: from June to August they stand idle, in winter they go first.
local sched = require "sched"

local season, hot = { name = "season" }, nil

function season.prepare(cluster)
	local names = {}
	for _, node in ipairs(cluster.nodes) do
		if node.weight >= 100 then
			names[#names + 1] = node.name
		end
	end
	hot = cluster:nodes { name = names }
end

function season.place(_, cluster)
	local month = cluster.clock.month
	if month >= 6 and month <= 8 then
		return { except = hot }
	end
	return (month == 12 or month <= 2) and { prefer = hot } or nil
end

return sched.site { time_zone = "Europe/Berlin", default = { season, "easy" } }
