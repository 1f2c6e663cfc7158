-- SPDX-License-Identifier: MIT
-- Fair share by a tree: the faculty goes first that has used least of its share; within it, the group (account).
local sched = require "sched"

local faculties = {
	physics = { share = 60, groups = { lhc = 2, astro = 1 } },
	biology = { share = 40, groups = { genome = 1, ecology = 1 } },
}

local function rank(job, cluster)
	local past = cluster.usage:decayed { by = "account", unit = "cpu", half_life = 14 * 86400 }
	local running = cluster.usage:running { by = "account", unit = "cpu" }
	local function of(account) return (past[account] or 0) + (running[account] or 0) end
	for _, faculty in pairs(faculties) do
		if faculty.groups[job.account] then
			local sum = 0
			for account in pairs(faculty.groups) do sum = sum + of(account) end
			return -sum / faculty.share, -of(job.account) / faculty.groups[job.account]
		end
	end
	return -math.huge		-- of no group
end

return sched.site { default = { { name = "share_tree", rank = rank, rerank = true }, "easy" } }
