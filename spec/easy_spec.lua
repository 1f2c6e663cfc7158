-- SPDX-License-Identifier: MIT
local t = require "sched.test"

describe("easy", function()
	it("backfills a short job behind a wide one that must wait", function()
		local c = t.cluster { nodes = "4x8c2g",
			running = { { id = 1, nodes = 3, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 4, time_limit = "1h" }, { id = 4, nodes = 1, exclusive = true, time_limit = "2h" },
				{ id = 3, nodes = 1, time_limit = "30m" } } }
		local plan = t.decide("easy", c)
		assert.same({ 3 }, plan:started())
		assert.same({ "n4" }, plan:start(3).nodes)
		assert.equal(3600, plan:reservation(2).in_s)
		assert.same({ "resources", "needs 4 nodes, 1 is free" }, { plan:pending(2) })
		assert.same({ "priority", "would delay job 2" }, { plan:pending(4) })
	end)

	it("starts jobs in the queue's order as long as they fit", function()
		local plan = t.decide("easy", t.cluster { nodes = "4x8c",
			pending = { { id = 7, nodes = 2 }, { id = 5, nodes = 1 }, { id = 6, nodes = 1 } } })
		assert.same({ 7, 5, 6 }, plan:started())
		assert.same({}, plan:reserved())
	end)

	it("starts nothing when the cluster is full, and tells when the first can run", function()
		local plan = t.decide("easy", t.cluster { nodes = "2x8c",
			running = { { nodes = 2, exclusive = true, ends_in = "2h" } },
			pending = { { id = 2, nodes = 1, exclusive = true }, { id = 3, nodes = 1, exclusive = true } } })
		assert.same({}, plan:started())
		assert.same({ 2 }, plan:reserved())
		assert.equal(7200, plan:reservation(2).in_s)
		assert.equal("resources", (plan:pending(3)))
	end)

	-- n1, n2 end in 1 h, n3 in 2 h, n4 and n5 are free.  A head of three nodes can start in
	-- 1 h on any three of n1, n2, n4, n5: shadow time 1 h, one extra node.
	local function shadow(head, ...)
		return t.cluster { nodes = "5x8c",
			running = { { nodes = { "n1", "n2" }, exclusive = true, ends_in = "1h" },
				{ nodes = { "n3" }, exclusive = true, ends_in = "2h" } },
			pending = { { id = 10, nodes = head, exclusive = true, time_limit = "4h" }, ... } }
	end

	it("lets a long job have the extra node, but only one", function()
		local plan = t.decide("easy", shadow(3, { id = 11, nodes = 1, exclusive = true, time_limit = "10h" },
			{ id = 12, nodes = 1, exclusive = true, time_limit = "10h" }))
		assert.same({ 11 }, plan:started())
		assert.equal(3600, plan:reservation(10).in_s)
		assert.same({ "priority", "would delay job 10" }, { plan:pending(12) })
	end)

	it("lets any number of jobs in that end by the shadow time", function()
		local plan = t.decide("easy", shadow(4, { id = 11, nodes = 1, exclusive = true, time_limit = "1h" },
			{ id = 12, nodes = 1, exclusive = true, time_limit = 3600 }))
		assert.same({ 11, 12 }, plan:started())
		assert.equal(3600, plan:reservation(10).in_s)
	end)

	it("lets nobody in who would end a second too late", function()
		local plan = t.decide("easy", shadow(4, { id = 11, nodes = 1, exclusive = true, time_limit = 3601 }))
		assert.same({}, plan:started())
	end)

	it("waits for the last node that the head needs", function()
		local plan = t.decide("easy", shadow(5, { id = 11, nodes = 2, exclusive = true, time_limit = "2h" }))
		assert.same({ 11 }, plan:started())
		assert.equal(7200, plan:reservation(10).in_s)
	end)

	it("protects the head only, not the second job that waits", function()
		local plan = t.decide("easy", shadow(3, { id = 11, nodes = 5, exclusive = true, time_limit = "1h" },
			{ id = 12, nodes = 1, exclusive = true, time_limit = "100h" }))
		assert.same({ 12 }, plan:started())
		assert.same({ 10 }, plan:reserved())
	end)

	it("is not held up by a job that can never run", function()
		local plan = t.decide("easy", t.cluster { nodes = "2x8c",
			pending = { { id = 2, nodes = 3 }, { id = 3, nodes = 2 } } })
		assert.same({ 3 }, plan:started())
		assert.same({}, plan:reserved())
		assert.equal("never", (plan:pending(2)))
	end)

	-- One of two nodes is free; the other one in an hour.
	local function half(...)
		return t.cluster { nodes = "2x8c2g", running = { { nodes = { "n1" }, exclusive = true, ends_in = "1h" } }, pending = { ... } }
	end

	it("starts a job as one of its alternatives where it does not fit as it asks", function()
		local c = half({ id = 2, nodes = 2, exclusive = true, comment = "sched: -N1 -t 2:00:00" })
		local plan = t.decide("easy", c)
		assert.same({ 2 }, plan:started())
		assert.equal(1, plan:start(2).shape)
		plan = t.decide("easy,shapes=false", c)
		assert.same({}, plan:started())
		assert.equal(3600, plan:reservation(2).in_s)
	end)

	it("starts a job as it asks where that fits", function()
		local plan = t.decide("easy", half({ id = 2, nodes = 1, comment = "sched: -N1 -n8 | -n4" }))
		assert.equal(0, plan:start(2).shape)
	end)

	it("backfills an alternative that does not delay the head, and none that does", function()
		-- job 3 as it asks, and its first alternative, would take the head's node for too long
		local head = { id = 2, nodes = 2, exclusive = true, time_limit = "1h" }
		local plan = t.decide("easy", half(head, { id = 3, nodes = 2, time_limit = "1h", comment = "sched: -N1 -t 61 | -N1 -t 60 | -n1 -t 1" }))
		assert.same({ 3 }, plan:started())
		assert.equal(2, plan:start(3).shape)
		assert.equal(3600, plan:reservation(2).in_s)
		plan = t.decide("easy", half(head, { id = 3, nodes = 1, time_limit = "2h", comment = "sched: -n1 -t 90 | -N1 -t 61" }))
		assert.same({}, plan:started())
		assert.same({ "priority", "would delay job 2" }, { plan:pending(3) })
	end)

	it("takes the most GPUs of a range that are free", function()
		local function with(gpus)
			return t.decide("easy", t.cluster { nodes = "1x8c4g", running = gpus > 0 and
				{ { nodes = 1, cores = 1, gres = "gpu:" .. gpus, ends_in = "1h" } } or {},
				pending = { { id = 2, nodes = 1, gres = "gpu:4", comment = "sched: -N1 --gpus-per-node=2-3" } } })
		end
		assert.equal(0, with(0):start(2).shape)
		assert.equal(1, with(1):start(2).shape)
		assert.equal(2, with(2):start(2).shape)
		assert.is_nil(with(3):start(2))
		assert.equal(3600, with(3):reservation(2).in_s)
	end)

	it("reserves for the shape of the head that can start soonest", function()
		-- 2 nodes in 2 h, the alternative in 1 h on n1: a job of 90 minutes may have n2 only then
		local c = t.cluster { nodes = "2x8c", running = { { nodes = { "n1" }, exclusive = true, ends_in = "1h" },
			{ nodes = { "n2" }, cores = 1, ends_in = "2h" } }, pending = {
			{ id = 2, nodes = 2, exclusive = true, comment = "sched: -N1 -n8" },
			{ id = 3, tasks = 7, time_limit = "150m" } } }
		local plan = t.decide("easy", c)
		assert.same({ 3600, 1 }, { plan:reservation(2).in_s, plan:reservation(2).shape })
		assert.same({ "n1" }, plan:reservation(2).nodes)
		assert.same({ 3 }, plan:started())
		plan = t.decide("easy,shapes=false", c)
		assert.same({ 7200, 0 }, { plan:reservation(2).in_s, plan:reservation(2).shape })
		assert.same({}, plan:started())
	end)

	it("starts tasks of an array as it asks, then as alternatives", function()
		local plan = t.decide("easy", t.cluster { nodes = "1x8c", pending = {
			{ id = 2, tasks = 3, array = 5, comment = "sched: -n2 | -n1" } } })
		assert.same({ 2, 2, 2 }, plan:started())
		local shapes = {}
		for i, start in ipairs(plan.raw.starts) do
			shapes[i] = start.shape
		end
		assert.same({ 0, 0, 1 }, shapes)
	end)

	it("counts GPUs like cores", function()
		local plan = t.decide("easy", t.cluster { nodes = "2x8c2g",
			running = { { nodes = 1, cores = 1, gres = "gpu:2", ends_in = "1h" } },
			pending = { { id = 2, nodes = 2, gres = "gpu:1", time_limit = "1h" },
				{ id = 3, nodes = 1, gres = "gpu:2", time_limit = "2h" },
				{ id = 4, nodes = 1, tasks = 7, time_limit = "2h" } } })
		assert.same({ 4 }, plan:started())
		assert.equal(3600, plan:reservation(2).in_s)
	end)

	it("fills nodes with the tasks of an array", function()
		local plan = t.decide("easy", t.cluster { nodes = "1x4c",
			pending = { { id = 2, array = 10 }, { id = 3 } } })
		assert.same({ 2, 2, 2, 2 }, plan:started())
	end)

	it("looks at no more jobs than its window", function()
		local c = t.cluster { nodes = "2x1c", running = { { nodes = 1, ends_in = "1h" } },
			pending = { { id = 2, nodes = 2 }, { id = 3, time_limit = "2h" }, { id = 4, time_limit = "1h" } } }
		assert.same({ 4 }, t.decide("easy", c):started())
		local plan = t.decide("easy,window=2", c)
		assert.same({}, plan:started())
		assert.equal(2, plan:examined())
		assert.equal("window", (plan:pending(4)))
	end)

	it("starts a job in whichever of its partitions has room", function()
		local plan = t.decide("easy", t.cluster { nodes = "2x1c",
			partitions = { a = { nodes = "n1" }, b = { nodes = "n2" } },
			running = { { nodes = { "n1" }, partition = "a", ends_in = "1h" } },
			pending = { { id = 2, partition = "a,b" } } })
		assert.equal("b", plan:start(2).partition)
		assert.same({}, plan:reserved())
	end)

	it("keeps nodes free for a maintenance reservation", function()
		local plan = t.decide("easy", t.cluster { nodes = "2x1c",
			reservations = { { name = "maint", nodes = "n[1-2]", starts_in = "1h", ends_in = "3h", flags = { "MAINT" } } },
			pending = { { id = 2, time_limit = "2h" }, { id = 3, time_limit = "1h" } } })
		assert.same({ 3 }, plan:started())
		assert.equal(3 * 3600, plan:reservation(2).in_s)
	end)
end)
