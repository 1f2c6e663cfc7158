-- SPDX-License-Identifier: MIT
local t = require "sched.test"
local support = require "spec.support"

-- Smallest first and no reservation but the guard's: wide jobs starve under it.
local function smallest_first(options)
	local policy = support.policy([[
		guard.protect(cluster, plan, opt)
		local jobs = {}
		for job in cluster:queue() do jobs[#jobs + 1] = job end
		table.sort(jobs, function(a, b) return a.min_nodes < b.min_nodes end)
		for _, job in ipairs(jobs) do
			if plan:state(job) == "open" then plan:start(job) end
		end
	]], "local guard = require 'sched.guard' M.options = guard.options({}, { guard_wait = '2h' })")
	policy.options = options
	return policy
end

-- A steady stream: 4 nodes, every 10 minutes a job of one node and 40 minutes arrives, so that
-- all nodes are always taken; *wide* jobs of 4 nodes, submitted at 0.  Jobs really run for
-- *share* of their walltime.  Returns the minutes at which the wide jobs started, by id, and how
-- many jobs started before the last of them.
local function stream(policy, wide, share, minutes)
	local running, pending, starts, id, remembered, begun = {}, {}, {}, 100, nil, 0
	for i = 1, 3 do
		running[i] = { id = 90 + i, on = { "n" .. i }, ends = 10 * i, limit = 10 * i }
	end
	for i = 1, wide do
		pending[i] = { id = i, nodes = 4, time_limit = "1h", submitted_at = 0, length = 60 }
	end
	for now = 0, minutes, 10 do
		id = id + 1
		pending[#pending + 1] = { id = id, nodes = 1, time_limit = "40m", submitted_at = now, length = 40 * share }
		local still = {}
		for _, job in ipairs(running) do
			if job.ends > now then
				still[#still + 1] = job
			end
		end
		running = still
		local spec = { nodes = "4x1c", running = {}, pending = {}, now = 1700000000 + now * 60, remembered = remembered }
		for i, job in ipairs(running) do
			spec.running[i] = { id = job.id, nodes = job.on, ends_in = (job.limit - now) * 60, exclusive = true }
		end
		for i, job in ipairs(pending) do
			spec.pending[i] = { id = job.id, nodes = job.nodes, time_limit = job.time_limit, exclusive = true,
				submitted_ago = (now - job.submitted_at) * 60 }
		end
		local plan = t.decide(policy, t.cluster(spec))
		remembered = plan:remembered()
		for i = #pending, 1, -1 do
			local job, start = pending[i], plan:start(pending[i].id)
			if start then
				table.remove(pending, i)
				running[#running + 1] = { id = job.id, on = start.nodes, ends = now + job.length,
					limit = now + (job.nodes == 4 and 60 or 40) }
				starts[job.id] = now
				begun = begun + (starts[wide] and 0 or 1)
			end
		end
	end
	return starts, begun
end

describe("guard_load", function()
	-- 6 h of the machine waited longer than job 2, 7 h longer than job 3
	local function guarded(options)
		local c = t.cluster { nodes = "4x1c", running = { { id = 1, nodes = 4, ends_in = "1h" } }, pending = {
			{ id = 3, nodes = 1, time_limit = "1h", submitted_ago = 3 * 3600 },
			{ id = 2, nodes = 4, time_limit = "1h", submitted_ago = 5 * 3600 },
			{ id = 4, nodes = 2, time_limit = "12h", submitted_ago = 7 * 3600 } } }
		return t.decide(smallest_first(options), c):reserved()
	end

	it("lets jobs wait for longer where more waits before them", function()
		assert.same({ 4, 2, 3 }, guarded("guard_jobs=4"))
		assert.same({ 4, 2, 3 }, guarded("guard_load=0.4"))
		assert.same({ 4, 2 }, guarded("guard_load=0.8"))
		assert.same({ 4 }, guarded("guard_load=1"))
	end)

	it("lets them wait for guard_wait all the same", function()
		assert.same({}, guarded("guard_load=1,guard_wait=8h"))
	end)
end)

describe("the starvation guard", function()
	local function waiting(...)
		return t.cluster { nodes = "4x1c",
			running = { { id = 1, nodes = { "n1" }, ends_in = "1h" }, { id = 2, nodes = { "n2" }, ends_in = "3h" } },
			pending = { ... } }
	end

	it("gives a job that is due a reservation that later decisions respect", function()
		local plan = t.decide(smallest_first(), waiting(
			{ id = 10, nodes = 3, time_limit = "1h", submitted_ago = "2h" },
			{ id = 11, nodes = 1, time_limit = "1h" }, { id = 12, nodes = 1, time_limit = "2h" },
			{ id = 13, nodes = 1, time_limit = "2h" }))
		assert.equal(3600, plan:reservation(10).in_s)
		assert.same({ 11 }, plan:started())
		assert.same({ "priority", "would delay job 10" }, { plan:pending(12) })
	end)

	it("leaves a job alone that is not due yet", function()
		local plan = t.decide(smallest_first(), waiting({ id = 10, nodes = 3, submitted_ago = 7199 },
			{ id = 11, nodes = 1, time_limit = "5h" }, { id = 12, nodes = 1, time_limit = "5h" }))
		assert.same({}, plan:reserved())
		assert.same({ 11, 12 }, plan:started())
	end)

	it("starts a job that is due before all others where it fits", function()
		local plan = t.decide(smallest_first(), waiting({ id = 11, nodes = 1 },
			{ id = 10, nodes = 2, submitted_ago = "2h" }))
		assert.same({ 10 }, plan:started())
	end)

	it("counts from when a job became eligible", function()
		local plan = t.decide(smallest_first(), waiting(
			{ id = 10, nodes = 3, submitted_ago = "9h", eligible_time = t.cluster({ nodes = "1x1c" }).now - 60 }))
		assert.same({}, plan:reserved())
	end)

	it("takes those first that fell due first, and no more than it is told to", function()
		local c = waiting({ id = 10, nodes = 4, submitted_ago = "3h", time_limit = "1h" },
			{ id = 11, nodes = 4, submitted_ago = "5h", time_limit = "1h" },
			{ id = 12, nodes = 4, submitted_ago = "4h", time_limit = "1h" })
		local plan = t.decide(smallest_first("guard_jobs=2"), c)
		assert.same({ 11, 12 }, plan:reserved())
		assert.equal(3 * 3600, plan:reservation(11).in_s)
		assert.equal(4 * 3600, plan:reservation(12).in_s)
	end)

	it("waits longer for long jobs when told to", function()
		local c = waiting({ id = 10, nodes = 4, submitted_ago = "5h", time_limit = "4h" },
			{ id = 11, nodes = 4, submitted_ago = "4h", time_limit = "1h" })
		assert.same({ 11 }, t.decide(smallest_first("guard_stretch=1.5"), c):reserved())
		assert.same({ 11, 10 }, t.decide(smallest_first("guard_stretch=0.5"), c):reserved())
	end)

	it("can be turned off", function()
		local c = waiting({ id = 10, nodes = 4, submitted_ago = "500h" })
		for _, options in ipairs { "guard_wait=0", "guard_wait=UNLIMITED" } do
			assert.same({}, t.decide(smallest_first(options), c):reserved())
		end
	end)

	it("is not held up by jobs that can never run", function()
		local plan = t.decide(smallest_first("guard_jobs=1"), waiting(
			{ id = 10, nodes = 5, submitted_ago = "9h" }, { id = 11, nodes = 4, submitted_ago = "3h" }))
		assert.same({ 11 }, plan:reserved())
	end)

	it("starts a job that is due as one of its alternatives, or reserves for the soonest of them", function()
		local c = waiting({ id = 10, nodes = 4, submitted_ago = "9h", comment = "sched: -N2" },
			{ id = 11, nodes = 4, submitted_ago = "8h", time_limit = "1h", comment = "sched: -N1 -t 5:00:00" })
		local plan = t.decide(smallest_first(), c)
		assert.same({ 10 }, plan:started())
		assert.equal(1, plan:start(10).shape)
		assert.same({ 3600, 1 }, { plan:reservation(11).in_s, plan:reservation(11).shape })
	end)

	it("takes a job in several partitions once, where it can run first", function()
		local plan = t.decide(smallest_first("guard_jobs=2"), t.cluster { nodes = "4x1c",
			partitions = { a = { nodes = "n[1-3]" }, b = { nodes = "n[1-4]" } },
			running = { { nodes = { "n1" }, partition = "a", ends_in = "2h" },
				{ nodes = { "n2" }, partition = "a", ends_in = "1h" } },
			pending = { { id = 10, nodes = 3, partition = "a,b", submitted_ago = "3h", time_limit = "1h" },
				{ id = 11, nodes = 4, partition = "b", submitted_ago = "2h", time_limit = "1h" } } })
		assert.same({ 10, 11 }, plan:reserved())
		assert.equal("b", plan:reservation(10).partition)
		assert.equal(3600, plan:reservation(10).in_s)
		assert.equal(7200, plan:reservation(11).in_s)
	end)

	it("lets a wide job through a steady stream of small ones that would starve it", function()
		assert.is_nil(stream(smallest_first("guard_wait=0"), 1, 1, 24 * 60)[1])
		-- due at 120; the last of what ran then has 40 minutes at most
		local start = stream(smallest_first(), 1, 1, 240)[1]
		assert.is_true(start and start <= 160, tostring(start))
	end)

	it("lets many wide jobs through, one after the other, when estimates are three times too long", function()
		local starts = stream(smallest_first("guard_jobs=1"), 4, 0.33, 720)
		for id = 1, 4 do	-- each at most one walltime after the one before
			assert.is_true(starts[id] and starts[id] <= 120 + 40 + (id - 1) * 100, tostring(starts[id]))
		end
	end)

	for _, policy in ipairs { "ip_window", "auction", "critical,patience=0", "predictive,ageing=0,horizon=0" } do
		local name = policy:match("^[%w_]+")
		it("bounds how often a wide job is overtaken, under " .. name, function()
			local with_wait_only = policy .. ",guard_wait=0"
			assert.is_nil(stream(with_wait_only, 1, 1, 24 * 60)[1])
			local starts, begun = stream(with_wait_only .. ",guard_bypass=10", 1, 1, 24 * 60)
			-- ten, what started in the cycle in which it fell due, and what ends before its reservation
			assert.is_true(starts[1] and begun <= 15, tostring(begun))
		end)
	end

	it("refuses options that are its own, and defaults for what it does not know", function()
		assert.matches("option 'guard_jobs' is the guard's", support.refusal("",
			"M.options = require('sched.guard').options { guard_jobs = { default = 1 } }"))
		assert.matches("the guard has no option 'wait'", support.refusal("",
			"M.options = require('sched.guard').options({}, { wait = 1 })"))
	end)
end)
