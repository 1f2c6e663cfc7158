-- SPDX-License-Identifier: MIT
--
-- QOS NoReserve, in all bundled policies: nothing is kept free for such a job, and where others may preempt it, it
-- starts beside what is kept free for them.
local t = require "sched.test"

local POLICIES <const> = { "easy", "conservative", "critical", "predictive", "ip_window", "auction" }

-- Half of the nodes are taken for an hour.
local function machine(pending)
	return t.cluster { nodes = "8x4c", running = { { id = 1, nodes = 4, exclusive = true, ends_in = "1h" } },
		pending = pending }
end

local function wide(row)
	row.id, row.nodes, row.exclusive, row.time_limit = 2, 8, true, "1h"
	return row
end

-- Those that keep nothing free by themselves do so for the first job.
local function guarding(policy)
	local guards = policy == "ip_window" or policy == "auction"
	return { name = policy, options = guards and "guard_wait=1s,guard_jobs=1" or nil }
end

for _, policy in ipairs(POLICIES) do
	describe(("policy %s, QOS NoReserve"):format(policy), function()
		it("keeps nothing free for the job", function()
			local jobs = machine { wide { flags = { "NO_RESERVE" }, submitted_ago = "2h" },
				{ id = 3, nodes = 4, exclusive = true, time_limit = "10h", submitted_ago = "1h" } }
			assert.same({ 3 }, t.decide(guarding(policy), jobs):started())
		end)

		it("starts it beside what is kept free for who may preempt it", function()
			local function jobs(yields)
				return machine { wide { flags = { "MAY_PREEMPT" }, submitted_ago = "2h" },
					{ id = 3, nodes = 2, exclusive = true, time_limit = "10h", flags = { "NO_RESERVE" },
						yields_after = yields, submitted_ago = "1h" } }
			end
			assert.same({ 3 }, t.decide(guarding(policy), jobs(60)):started())
			assert.same({}, t.decide(guarding(policy), jobs(7200)):started())
		end)
	end)
end
