-- SPDX-License-Identifier: MIT
-- Heterogeneous jobs: their components start together or not at all.
local support = require "spec.support"
local t = require "sched.test"

local function component(leader, offset, row)
	row.id = leader + offset
	row.het_job_id = leader
	row.het_offset = offset
	return row
end

-- Job 10 wants two nodes and three; the machine has six.
local function pending(...)
	return { component(10, 0, { nodes = 2, exclusive = true, time_limit = "1h" }),
		component(10, 1, { nodes = 3, exclusive = true, time_limit = "1h" }), ... }
end

for _, policy in ipairs { "fcfs", "easy", "conservative" } do
	describe("a heterogeneous job under " .. policy, function()
		it("starts with all its components", function()
			local plan = t.decide(policy, t.cluster { nodes = "6x8c", pending = pending() })
			assert.same({ 10, 11 }, plan:started())
		end)

		it("does not start with some of them", function()
			local plan = t.decide(policy, t.cluster { nodes = "6x8c", pending = pending(),
				running = { { id = 1, nodes = 2, exclusive = true, ends_in = "20m" } } })
			assert.same({}, plan:started())
			assert.matches("component 1: needs 3 nodes", select(2, plan:pending(10)))
		end)

		it("lets a job after it start when it has started", function()
			local plan = t.decide(policy, t.cluster { nodes = "6x8c",
				pending = pending({ id = 20, nodes = 1, exclusive = true, time_limit = "1h" }) })
			assert.same({ 10, 11, 20 }, plan:started())
		end)
	end)
end

it("components get nodes of their own", function()
	local plan = t.decide("easy", t.cluster { nodes = "3x8c", pending = {
		component(10, 0, { nodes = 2, num_tasks = 2, time_limit = "1h" }),
		component(10, 1, { nodes = 2, num_tasks = 2, time_limit = "1h" }),
		component(20, 0, { nodes = 1, num_tasks = 2, time_limit = "1h" }),
		component(20, 1, { nodes = 2, num_tasks = 2, time_limit = "1h" }) } })
	assert.same({ 20, 21 }, plan:started())
	assert.same({ n1 = 2 }, plan:layout(20))
	assert.same({ n2 = 1, n3 = 1 }, plan:layout(21))
end)

describe("a heterogeneous job that is taken back", function()
	local full = { { id = 1, nodes = 2, exclusive = true, ends_in = "20m" } }

	for component_id = 10, 11 do
		it("is taken back with all its components, by job " .. component_id, function()
			local policy = support.policy(support.unprobed .. ([[
				for job in cluster:queue() do plan:start(job) end
				plan:undo(cluster:job(%d))
			]]):format(component_id))
			assert.same({}, t.decide(policy, t.cluster { nodes = "6x8c", pending = pending() }):started())
		end)

		it("loses the reservations of all its components, by job " .. component_id, function()
			local policy = support.policy(support.unprobed .. ([[
				plan:reserve(cluster:job(10))
				plan:undo(cluster:job(%d))
			]]):format(component_id))
			local plan = t.decide(policy, t.cluster { nodes = "6x8c", pending = pending(), running = full })
			assert.is_nil(plan:reservation(10))
			assert.is_nil(plan:reservation(11))
		end)
	end

	it("cannot be taken back again", function()
		local policy = support.policy(support.unprobed .. [[
			plan:start(cluster:job(10))
			assert(plan:undo(cluster:job(10)))
			assert(not plan:undo(cluster:job(10)))
			assert(plan:start(cluster:job(10)))
		]])
		assert.same({ 10, 11 }, t.decide(policy, t.cluster { nodes = "6x8c", pending = pending() }):started())
	end)
end)

-- Its leader may preempt others, and so is on trial before the policy decides.
for _, part in ipairs { "preempt", "consolidate" } do
	it("a heterogeneous job that fits starts where others may be stopped by sched." .. part, function()
		local site = support.site_of(('sched.%s {}, "easy"'):format(part))
		local jobs = pending()
		jobs[1].flags = { "MAY_PREEMPT" }
		assert.same({ 10, 11 }, t.decide(site, t.cluster { nodes = "6x8c", pending = jobs }):started())
	end)
end

describe("a heterogeneous job that waits", function()
	local running = { { id = 1, nodes = 1, exclusive = true, ends_in = "10m" },
		{ id = 2, nodes = 1, exclusive = true, ends_in = "30m" } }

	it("has one reservation for all components, at the first time at which all fit", function()
		local plan = t.decide("easy", t.cluster { nodes = "6x8c", pending = pending(), running = running })
		assert.same({}, plan:started())
		assert.equal(600, plan:reservation(10).in_s)
		assert.equal(600, plan:reservation(11).in_s)
	end)

	it("is not delayed by jobs behind it in any component", function()
		local plan = t.decide("easy", t.cluster { nodes = "6x8c", running = running,
			pending = pending({ id = 20, nodes = 1, exclusive = true, time_limit = "5m" },
				{ id = 21, nodes = 2, exclusive = true, time_limit = "2h" }) })
		assert.same({ 20 }, plan:started())
		assert.equal(600, plan:reservation(11).in_s)
	end)

	it("waits for the component that comes last", function()
		local plan = t.decide("easy", t.cluster { nodes = "6x8c", running = running, pending = {
			component(10, 0, { nodes = 1, exclusive = true, time_limit = "1h" }),
			component(10, 1, { nodes = 5, exclusive = true, time_limit = "1h" }) } })
		assert.equal(1800, plan:reservation(10).in_s)
		assert.equal(1800, plan:reservation(11).in_s)
	end)

	it("says which component can never run, and holds nobody up", function()
		local plan = t.decide("easy", t.cluster { nodes = "6x8c", pending = {
			component(10, 0, { nodes = 1, exclusive = true, time_limit = "1h" }),
			component(10, 1, { nodes = 7, exclusive = true, time_limit = "1h" }),
			{ id = 20, nodes = 6, exclusive = true, time_limit = "1h" } } })
		assert.same({ 20 }, plan:started())
		assert.matches("component 1: needs 7 nodes", select(2, plan:pending(10)))
	end)
end)
