-- SPDX-License-Identifier: MIT
local t = require "sched.test"

describe("fcfs", function()
	it("lets nobody overtake", function()
		local plan = t.decide("fcfs", t.cluster { nodes = "4x8c",
			running = { { nodes = 3, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 1 }, { id = 3, nodes = 4 }, { id = 4, nodes = 1, time_limit = "1m" } } })
		assert.same({ 2 }, plan:started())
		assert.same({ "priority", "waits behind job 3" }, { plan:pending(4) })
	end)

	it("gives the first that waits an expected start, unless told not to", function()
		local c = t.cluster { nodes = "1x1c", running = { { ends_in = "1h" } }, pending = { { id = 2 }, { id = 3 } } }
		assert.same({ 2 }, t.decide("fcfs", c):reserved())
		assert.equal(3600, t.decide("fcfs", c):reservation(2).in_s)
		assert.same({}, t.decide("fcfs,reserve=false", c):reserved())
	end)

	it("keeps each partition's order apart, also where they share nodes", function()
		local plan = t.decide("fcfs", t.cluster { nodes = "4x1c",
			partitions = { a = { nodes = "n[1-2]" }, b = { nodes = "n[2-4]" } },
			running = { { nodes = { "n1" }, partition = "a", ends_in = "1h" } },
			pending = { { id = 2, partition = "a", nodes = 2 }, { id = 3, partition = "a" },
				{ id = 4, partition = "b", nodes = 2 } } })
		assert.same({ 4 }, plan:started())
		assert.same({ "priority", "waits behind job 2" }, { plan:pending(3) })
	end)

	it("looks at nobody behind the first that waits", function()
		local plan = t.decide("fcfs,window=3", t.cluster { nodes = "2x1c", running = { { nodes = 1, ends_in = "1h" } },
			pending = { { id = 2 }, { id = 3, nodes = 2 }, { id = 4 }, { id = 5, array = 4 }, { id = 6 } } })
		assert.same({ 2 }, plan:started())
		assert.equal(2, plan:examined())
		for id = 4, 6 do
			assert.same({ "priority", "waits behind job 3" }, { plan:pending(id) })
		end
	end)

	it("starts the first of a job's alternatives that fits before it makes others wait", function()
		local c = t.cluster { nodes = "4x8c", running = { { nodes = 2, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 4, comment = "sched: -N3 | -N1 --ntasks-per-node=8 | -n1" }, { id = 3, nodes = 1 } } }
		local plan = t.decide("fcfs", c)
		assert.same({ 2, 3 }, plan:started())
		assert.equal(2, plan:start(2).shape)
		plan = t.decide("fcfs,shapes=false", c)
		assert.same({}, plan:started())
		assert.same({ 2 }, plan:reserved())
	end)

	it("passes over a job that can never run", function()
		local plan = t.decide("fcfs", t.cluster { nodes = "2x1c", pending = { { id = 2, nodes = 3 }, { id = 3 } } })
		assert.same({ 3 }, plan:started())
		assert.equal("never", (plan:pending(2)))
	end)
end)
