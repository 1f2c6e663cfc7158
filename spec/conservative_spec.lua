-- SPDX-License-Identifier: MIT
local t = require "sched.test"

-- One of two nodes is free for an hour.
local function two(...)
	return t.cluster { nodes = "2x1c", running = { { id = 1, nodes = { "n1" }, ends_in = "1h" } }, pending = { ... } }
end

describe("conservative", function()
	it("gives every job a reservation, each behind those before it", function()
		local plan = t.decide("conservative", two({ id = 2, nodes = 2, time_limit = "1h" },
			{ id = 3, nodes = 2, time_limit = "2h" }, { id = 4, nodes = 1, time_limit = "3h" }))
		assert.same({}, plan:started())
		assert.same({ 2, 3, 4 }, plan:reserved())
		assert.equal(3600, plan:reservation(2).in_s)
		assert.equal(7200, plan:reservation(3).in_s)
		assert.equal(14400, plan:reservation(4).in_s)
	end)

	it("lets a job in that delays none of them", function()
		local plan = t.decide("conservative", two({ id = 2, nodes = 2, time_limit = "1h" },
			{ id = 3, nodes = 2, time_limit = "2h" }, { id = 4, nodes = 1, time_limit = "1h" }))
		assert.same({ 4 }, plan:started())
		assert.equal(3600, plan:reservation(2).in_s)
		assert.equal(7200, plan:reservation(3).in_s)
	end)

	it("protects the second job that waits, where easy does not", function()
		-- In 1 h five nodes are free: job 2 needs four, job 3 all five an hour later.  Job 4 could
		-- have the fifth now without delaying job 2, and would delay job 3 by eight hours.
		local c = t.cluster { nodes = "5x1c", running = { { nodes = 2, ends_in = "1h" } },
			pending = { { id = 2, nodes = 4, time_limit = "1h" }, { id = 3, nodes = 5, time_limit = "1h" },
				{ id = 4, nodes = 1, time_limit = "10h" } } }
		assert.same({ 4 }, t.decide("easy", c):started())
		local plan = t.decide("conservative", c)
		assert.same({}, plan:started())
		assert.equal(1 * 3600, plan:reservation(2).in_s)
		assert.equal(2 * 3600, plan:reservation(3).in_s)
		assert.equal(3 * 3600, plan:reservation(4).in_s)
	end)

	it("makes its plan anew, or keeps what it told and lets times become earlier", function()
		-- doc/simulate.md: job 1 ends at 10, not at 100
		local w = { nodes = "4x1c", jobs = {
			{ id = 1, tasks = 2, time_limit = 100, runtime = 10 },
			{ id = 2, tasks = 2, time_limit = 30, runtime = 30, submit = 1 },
			{ id = 3, tasks = 4, time_limit = 100, runtime = 100, submit = 2 },
			{ id = 4, tasks = 2, time_limit = 50, runtime = 50, submit = 3 } } }
		local function starts(policy)
			local s, list = t.simulate(policy, w), {}
			for id = 1, 4 do
				list[id] = s:job(id).start_s
			end
			return list
		end
		assert.same({ 0, 1, 31, 131 }, starts("conservative"))
		assert.same({ 0, 1, 60, 10 }, starts("conservative,compress=true"))
	end)

	it("goes without what it told where that is not remembered, and never before now", function()
		local c = t.cluster { nodes = "2x1c", running = { { id = 1, nodes = { "n1" }, ends_in = "1h" } },
			pending = { { id = 2, nodes = 2, time_limit = "1h" }, { id = 3, nodes = 1, time_limit = "1h" } },
			remembered = {} }
		assert.equal(3600, t.decide("conservative,compress=true", c):reservation(2).in_s)
	end)

	it("gives no more reservations than it is told to", function()
		local plan = t.decide("conservative,reserved=1", two({ id = 2, nodes = 2, time_limit = "1h" },
			{ id = 3, nodes = 2, time_limit = "2h" }, { id = 4, nodes = 1, time_limit = "1h" }))
		assert.same({ 2 }, plan:reserved())
		assert.same({ 4 }, plan:started())
	end)

	it("looks at no more jobs than its window", function()
		local plan = t.decide("conservative,window=2", two({ id = 2, nodes = 2 }, { id = 3, nodes = 2 },
			{ id = 4, nodes = 1, time_limit = "1h" }))
		assert.same({}, plan:started())
		assert.same({ 2, 3 }, plan:reserved())
		assert.equal("window", (plan:pending(4)))
	end)

	it("starts an alternative that delays nobody, or else reserves the one that can start soonest", function()
		local plan = t.decide("conservative", two({ id = 2, nodes = 2, time_limit = "1h" },
			{ id = 3, nodes = 2, time_limit = "2h", comment = "sched: -N1 -t 61 | -N1 -t 60" },
			{ id = 4, nodes = 2, time_limit = "1h", comment = "sched: -N1 -t 3:00:00" },
			{ id = 5, nodes = 3, time_limit = "1h", comment = "sched: -N1" }))
		assert.same({ 3 }, plan:started())
		assert.equal(2, plan:start(3).shape)
		-- both shapes of job 4 can start in two hours: as it asks, then
		assert.same({ 7200, 0 }, { plan:reservation(4).in_s, plan:reservation(4).shape })
		assert.same({ 10800, 1 }, { plan:reservation(5).in_s, plan:reservation(5).shape })
		plan = t.decide("conservative,shapes=false", two({ id = 2, nodes = 2, comment = "sched: -N1" },
			{ id = 3, nodes = 3, comment = "sched: -N1" }))
		assert.same({}, plan:started())
		assert.same({ 2 }, plan:reserved())
	end)

	it("starts at once what can start at once, tasks of arrays one by one", function()
		local plan = t.decide("conservative", t.cluster { nodes = "2x2c",
			pending = { { id = 2, array = 3 }, { id = 3, nodes = 1 }, { id = 4, nodes = 1, time_limit = "5m" } } })
		assert.same({ 2, 2, 2, 3 }, plan:started())
		assert.same({ 4 }, plan:reserved())
	end)
end)
