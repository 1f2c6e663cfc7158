-- SPDX-License-Identifier: MIT
local t = require "sched.test"

-- Four nodes of 8 cores and 2 GPUs that are full; n1 is free again in 1 minute, the others in
-- 2, 3 and 4.  The order of the policy is the order in which it would hand out what is free: the
-- first that does not fit has the reservation.
local function busy(pending, free)
	local running = {}
	for i = (free or 0) + 1, 4 do
		running[#running + 1] = { id = i, nodes = { "n" .. i }, exclusive = true, ends_in = i * 60, gres = "gpu:2" }
	end
	return t.cluster { nodes = "4x8c2g", running = running, pending = pending }
end

local function first(pending, options)
	return t.decide("critical" .. (options or ""), busy(pending)):reserved()[1]
end

describe("critical", function()
	it("starts alternatives of jobs that do not fit as they ask", function()
		local c = t.cluster { nodes = "3x8c", running = { { nodes = { "n1" }, exclusive = true, ends_in = "1h" } }, pending = {
			{ id = 2, nodes = 3, exclusive = true, time_limit = "10h" },
			{ id = 3, nodes = 3, time_limit = "2h", comment = "sched: -N1 --ntasks-per-node=8 -t 61 | -N1 --ntasks-per-node=8 -t 60" } } }
		local plan = t.decide("critical,threshold=0", c)
		assert.same({ 3 }, plan:started())
		assert.equal(2, plan:start(3).shape)
		assert.equal(3600, plan:reservation(2).in_s)
		assert.same({}, t.decide("critical,threshold=0,shapes=false", c):started())
	end)

	-- Cores alone are asked for: share x walltime decides.
	it("takes the smallest first where nothing is scarce", function()
		local queue = {}
		for i = 1, 8 do
			queue[i] = { id = 10 + i, tasks = 4 + i, time_limit = "1h" }
		end
		queue[9] = { id = 20, tasks = 4, time_limit = "1h" }
		queue[10] = { id = 21, tasks = 4, time_limit = "50m" }
		assert.equal(21, first(queue))
	end)

	-- n GPU jobs of 6 minutes want the GPUs for 1.5 n minutes; the cores are wanted for
	-- 59.8 + 0.375 n.  With n = 40 that is 60 of 74.8 minutes, with 39 it is 58.5 of 74.4.
	it("puts jobs first that need what is wanted most", function()
		local queue = { { id = 10, tasks = 3, time_limit = "6m" } }
		for i = 1, 79 do
			queue[#queue + 1] = { id = 10 + i, tasks = 4, time_limit = "6m" }
		end
		for i = 1, 39 do
			queue[#queue + 1] = { id = 100 + i, nodes = 1, tasks = 2, gres = "gpu:2", time_limit = "6m" }
		end
		assert.equal(10, first(queue))
		queue[#queue + 1] = { id = 200, nodes = 1, tasks = 2, gres = "gpu:2", time_limit = "6m" }
		assert.equal(101, first(queue))
		assert.equal(10, first(queue, ",threshold=0.85"))
	end)

	-- Ten jobs of each.  Those of two whole nodes, 6 minutes, have half of the GPUs for an hour:
	-- with the GPU jobs that is 60 minutes, where the cores are wanted for 56; else it is 30.
	it("counts what whole nodes take with them", function()
		local function queue(wide)
			wide.id, wide.array, wide.time_limit = 30, 10, "6m"
			return { { id = 11, tasks = 10, time_limit = "6m", array = 10 },
				{ id = 20, nodes = 1, tasks = 2, gres = "gpu:2", time_limit = "6m", array = 10 },
				{ id = 21, nodes = 1, tasks = 2, gres = "gpu:2", time_limit = "6m", array = 10 }, wide }
		end
		assert.equal(30, first(queue { nodes = 2, tasks_per_node = 8 }))
		assert.equal(30, first(queue { nodes = 2, exclusive = true }))
		assert.equal(20, first(queue { tasks = 16 }))
	end)

	-- Two jobs of 5/8 of the cores cannot run beside each other: 2 h of a queue of 2.5 h.
	it("puts jobs first that cannot run beside each other", function()
		local queue = { { id = 11, tasks = 2, time_limit = "10m" } }
		for i = 2, 6 do
			queue[i] = { id = 10 + i, tasks = 8, time_limit = "1h" }
		end
		queue[7] = { id = 20, tasks = 20, time_limit = "1h" }
		assert.equal(11, first(queue, ",threshold=0.7"))
		queue[8] = { id = 21, tasks = 20, time_limit = "59m" }
		assert.equal(21, first(queue, ",threshold=0.7"))
		assert.equal(11, first(queue, ",threshold=0.9"))
	end)

	-- 2 h; the queue is worth 117.5 minutes.
	it("puts a job first that is as long as the queue", function()
		local queue = { { id = 11, tasks = 8, time_limit = "20m" }, { id = 12, tasks = 2, time_limit = "2h" },
			{ id = 13, tasks = 16, time_limit = "30m" } }
		for i = 4, 6 do
			queue[i] = { id = 10 + i, tasks = 16, time_limit = "1h" }
		end
		assert.equal(12, first(queue))
		assert.equal(11, first(queue, ",threshold=1.1"))
	end)

	local function reserved_with_memory(...)
		local c = t.cluster { nodes = "4x8c64G",
			running = { { id = 1, nodes = 4, exclusive = true, ends_in = "1h", memory = 65536 } }, pending = { ... } }
		return t.decide("critical", c):reserved()[1]
	end

	-- Memory is wanted for 14 minutes, the cores for 11.
	it("counts memory like cores", function()
		local small = { id = 10, tasks = 8, time_limit = "1m", memory = 1024, array = 30 }
		local large = { id = 11, nodes = 1, tasks = 2, time_limit = "6m", memory = 60000, array = 10 }
		assert.equal(11, reserved_with_memory(small, large))
		large.memory = 1024
		assert.equal(10, reserved_with_memory(small, large))
	end)

	-- Blocks are wanted for 36 minutes, the cores for 40.5.
	it("counts whole nodes for contiguous jobs", function()
		local small = { id = 10, tasks = 8, time_limit = "1m", array = 30 }
		local other = { id = 11, tasks = 8, time_limit = "6m", array = 10 }
		local block = { id = 12, nodes = 1, tasks = 4, time_limit = "6m", array = 24, contiguous = true }
		assert.equal(12, first { small, other, block })
		block.contiguous = false
		assert.equal(10, first { small, other, block })
	end)

	it("counts an array with all its tasks", function()
		local queue = { { id = 11, tasks = 12, time_limit = "1h" }, { id = 12, tasks = 12, time_limit = "1h" },
			{ id = 13, tasks = 20, time_limit = "20m" },
			{ id = 20, nodes = 2, tasks = 2, gres = "gpu:1", time_limit = "1h" } }
		assert.equal(13, first(queue, ",threshold=2"))
		queue[4].array = 20		-- GPUs 5 h, cores 2.2 h
		assert.equal(20, first(queue, ",threshold=2"))
	end)

	it("counts a job in several partitions once", function()
		local function decide(partition)
			return t.decide("critical,threshold=2", t.cluster { nodes = "4x8c2g",
				partitions = { a = { nodes = "n[1-4]" }, b = { nodes = "n[1-4]" } },
				running = { { id = 1, nodes = 4, exclusive = true, partition = "a", ends_in = "1h", gres = "gpu:2" } },
				pending = { { id = 11, tasks = 12, time_limit = "1h", partition = "a" },
					{ id = 12, tasks = 12, time_limit = "1h", partition = "a" },
					{ id = 13, tasks = 20, time_limit = "20m", partition = "a" },
					{ id = 20, nodes = 2, tasks = 2, gres = "gpu:1", time_limit = "1h", array = 12, partition = partition } } })
		end
		assert.equal(13, decide("a"):reserved()[1])
		assert.equal(13, decide("a,b"):reserved()[1])
	end)

	it("does not count a job that can never run", function()
		local queue = { { id = 11, tasks = 4, time_limit = "1h" }, { id = 12, tasks = 8, time_limit = "1h" },
			{ id = 13, tasks = 8, time_limit = "1h" },
			{ id = 20, nodes = 5, tasks = 5, gres = "gpu:2", time_limit = "99h" } }
		assert.equal(11, first(queue))
	end)

	-- One node is free.  Job 20 has the reservation: GPUs, two nodes, in 2 min.  Nobody else who
	-- is critical fits; behind it come the small ones.
	it("fills in behind the reservation, the smallest first or the critical", function()
		local queue = { { id = 20, nodes = 2, tasks = 2, gres = "gpu:2", time_limit = "8h" },
			{ id = 21, nodes = 1, tasks = 5, gres = "gpu:2", time_limit = "2m" },
			{ id = 11, tasks = 5, time_limit = "1m" } }
		local plan = t.decide("critical", busy(queue, 1))
		assert.same({ 20 }, plan:reserved())
		assert.same({ 11 }, plan:started())
		plan = t.decide("critical,fill=critical", busy(queue, 1))
		assert.same({ 20 }, plan:reserved())
		assert.same({ 21 }, plan:started())
	end)

	it("gives a job that waited too long its reservation first", function()
		local queue = { { id = 11, tasks = 8, time_limit = "3h" }, { id = 12, tasks = 8, time_limit = "4h" },
			{ id = 13, tasks = 32, time_limit = "1m", submitted_ago = "13h" } }
		local plan = t.decide("critical", busy(queue, 1))
		assert.same({ 13 }, { plan:reserved()[1] })
		assert.equal(240, plan:reservation(13).in_s)
		assert.same({}, plan:started())
		assert.same({ 12 }, t.decide("critical,guard_wait=14h,patience=0", busy(queue, 1)):started())
	end)

	-- Of the oldest half there is job 13 alone: 15 minutes for the cores; the job in the middle has
	-- waited for 10: overdue is who has waited for longer than 37.5.
	it("gives a job its reservation that waited for longer than the others and the queue", function()
		local queue = { { id = 11, tasks = 8, time_limit = "1h", submitted_ago = 60 },
			{ id = 12, tasks = 8, time_limit = "1h", submitted_ago = "10m" },
			{ id = 13, tasks = 30, time_limit = "16m", submitted_ago = 37 * 60 } }
		assert.equal(11, first(queue, ",threshold=9"))
		queue[3].submitted_ago = 38 * 60
		assert.equal(13, first(queue, ",threshold=9"))
		assert.equal(11, first(queue, ",threshold=9,patience=1.6"))
		assert.equal(11, first(queue, ",threshold=9,patience=0"))
	end)

	-- Every 9 minutes a job of one node arrives that runs for 40: one of them always waits, too.
	it("lets a wide job through a steady stream of small ones", function()
		local jobs = { { id = 1, nodes = 4, exclusive = true, runtime = "1h", time_limit = "1h", submit = 60 } }
		for i = 0, 143 do
			jobs[#jobs + 1] = { id = 100 + i, nodes = 1, exclusive = true, runtime = "40m", time_limit = "2h",
				submit = i * 540 }
		end
		local function wait(options)
			return t.simulate("critical,threshold=1000" .. options, { nodes = "4x1c", jobs = jobs }).metrics.wait_max_s
		end
		assert.is_true(wait(",patience=0,guard_wait=0") > 20 * 3600)
		assert.is_true(wait(",patience=0,guard_wait=6h") <= (6 + 2) * 3600)
		assert.is_true(wait("") <= 5 * 3600)
	end)

	it("looks at no more jobs than its window, and at any number of them", function()
		local plan = t.decide("critical,window=1", busy({ { id = 11, tasks = 8 }, { id = 12, tasks = 1 } }))
		assert.same({ 11 }, plan:reserved())
		assert.equal("window", (plan:pending(12)))
		assert.same({}, t.decide("critical", busy({})):reserved())
	end)

	it("has something to do with machines that are down", function()
		local plan = t.decide("critical", t.cluster { nodes = { { count = 2, cores = 4, state = { "DOWN" } } },
			pending = { { id = 11 } } })
		assert.same({}, plan:started())
	end)
end)
