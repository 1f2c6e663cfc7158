-- SPDX-License-Identifier: MIT
local t = require "sched.test"

describe("easy", function()
	it("backfills a short job behind a wide one that must wait", function()
		local c = t.cluster { nodes = "4x8c2g",
			running = { { id = 1, nodes = 3, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 4, time_limit = "1h" }, { id = 3, nodes = 1, time_limit = "30m" } } }
		local plan = t.decide("easy", c)
		assert.same({ 3 }, plan:started())
		assert.equal(3600, plan:reservation(2).in_s)
	end)
end)
