-- SPDX-License-Identifier: MIT
-- Nodes that have to boot, and ends that are not what the limit says: what each policy makes of them.
local s = require "spec.support"
local t = require "sched.test"

local NOW <const> = 1700000000
local policies = { "fcfs", "easy", "conservative", "ip_window", "auction", "critical", "predictive" }

local function nodes_of(plan, id)
	return (plan:start(id) or plan:reservation(id)).nodes
end

local function asleep(name, row)
	row = row or {}
	row.name, row.cores, row.state, row.resume_timeout = name, 4, { "POWERED_DOWN" }, 240
	return row
end

for _, policy in ipairs(policies) do
	describe(policy, function()
		it("starts jobs on nodes that are up, whatever these weigh", function()
			local plan = t.decide(policy, t.cluster {
				nodes = { asleep "n1", { name = "n2", cores = 4, weight = 900 }, asleep "n3",
					{ name = "n4", cores = 4, weight = 500 } },
				pending = { { id = 1, nodes = 1, exclusive = true }, { id = 2, nodes = 1, exclusive = true } } })
			assert.same({ 1, 2 }, plan:started())
			local nodes = { nodes_of(plan, 1)[1], nodes_of(plan, 2)[1] }
			table.sort(nodes)
			assert.same({ "n2", "n4" }, nodes)
		end)

		it("wakes no node for one of two jobs that both find room", function()
			local plan = t.decide(policy, t.cluster { nodes = { asleep "n1", { name = "n2", cores = 4 } },
				pending = { { id = 1, tasks = 2 }, { id = 2, tasks = 2 } } })
			assert.same({ "n2" }, nodes_of(plan, 1))
			assert.same({ "n2" }, nodes_of(plan, 2))
		end)

		it("wakes nodes for what does not fit on those that are up, and no more", function()
			local plan = t.decide(policy, t.cluster {
				nodes = { asleep "n1", asleep "n2", { name = "n3", cores = 4 }, { name = "n4", cores = 4 } },
				pending = { { id = 1, nodes = 3, exclusive = true } } })
			assert.same({ 1 }, plan:started())
			local nodes = nodes_of(plan, 1)
			assert.same({ "n3", "n4" }, { nodes[2], nodes[3] })
		end)

		it("wakes nodes where none is up", function()
			local plan = t.decide(policy, t.cluster { nodes = { asleep "n1" }, pending = { { id = 1, nodes = 1 } } })
			assert.same({ 1 }, plan:started())
		end)

		it("plans without a node that boots for too long", function()
			local plan = t.decide(policy, t.cluster {
				nodes = { { name = "n1", cores = 4, state = { "POWERING_UP" }, power_time = NOW - 400,
					resume_timeout = 300 }, { name = "n2", cores = 4 } },
				pending = { { id = 1, nodes = 2, exclusive = true }, { id = 2, nodes = 1, exclusive = true } } })
			assert.same({ 2 }, plan:started())
			assert.same({ "n2" }, nodes_of(plan, 2))
			if policy ~= "auction" then	-- which has words of its own
				assert.equal("nodes_down", (plan:pending(1)))
			end
		end)
	end)
end

for _, policy in ipairs { "easy", "conservative", "ip_window", "critical", "predictive" } do
	it(policy .. " starts small jobs beside a job that has outlasted its time", function()
		local plan = t.decide(policy, t.cluster { nodes = "2x4c",
			running = { { id = 1, nodes = "n1", exclusive = true, start_time = NOW - 9000, end_time = NOW - 1000,
				time_limit = 8000 } },
			pending = { { id = 2, nodes = 2, exclusive = true, time_limit = "1h" },
				{ id = 3, nodes = 1, exclusive = true, time_limit = "1m" } } })
		assert.same({ 3 }, plan:started())
	end)
end

describe("wake_after", function()
	local function cluster()
		return t.cluster { nodes = { asleep "n1", { name = "n2", cores = 4 } },
			running = { { id = 1, nodes = "n2", exclusive = true, ends_in = "3m" } },
			pending = { { id = 2, nodes = 1, exclusive = true } } }
	end

	local function waiting(duration)
		return s.site(('return require "sched".site { wake_after = "%s", default = "easy" }'):format(duration))
	end

	it("of the site has jobs wait for so long for nodes that are up", function()
		local plan = t.decide(waiting "4m", cluster())
		assert.same({}, plan:started())
		assert.equal(180, plan:reservation(2).in_s)
		assert.same({ "n2" }, nodes_of(plan, 2))
		plan = t.decide(waiting "2m", cluster())
		assert.same({ 2 }, plan:started())
	end)

	it("of a job goes before that", function()
		local plan = t.decide(s.policy(s.unprobed .. [[
			for job in cluster:queue() do
				assert(cluster:node("n1").boots_in == 240 and cluster:node("n2").boots_in == 0)
				assert(not plan:start(job, { wake_after = math.huge }))
				assert(plan:earliest(job, { wake_after = 180 }) == cluster.now + 180)
				assert(plan:earliest(job, { wake_after = 0 }) == cluster.now)
				plan:start(job, { wake_after = 179 })
			end]]), cluster())
		assert.same({ 2 }, plan:started())
		assert.same({ "n1" }, nodes_of(plan, 2))
	end)
end)
