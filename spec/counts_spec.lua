-- SPDX-License-Identifier: MIT
--
-- Node counts in constraints: so many nodes of one kind and so many of another in one job.

local t = require "sched.test"

local function nodes(list)
	local n = {}
	for i, features in ipairs(list) do
		n[i] = { name = "n" .. i, cores = 4, features = features }
	end
	return n
end

local function decide(features, pending, running)
	return t.decide("easy", t.cluster { nodes = nodes(features), running = running or {}, pending = pending })
end

local function placed(plan, id)
	local start = plan:start(id)
	assert.is_falsy(start.native)
	return table.concat(start.nodes, " ")
end

describe("a constraint with counts", function()
	it("gets so many nodes of each", function()
		local plan = decide({ "a", "a", "a", "b", "b" }, { { id = 1, nodes = 3, features = "[a*2&b*1]" } })
		assert.equal("n1 n2 n4", placed(plan, 1))
	end)

	it("is placed by the engine also where it has won an auction", function()
		local plan = t.decide("auction", t.cluster { nodes = nodes { "a", "a", "a", "b", "b" },
			pending = { { id = 1, nodes = 3, features = "[a*2&b*1]" } } })
		assert.equal("n1 n2 n4", placed(plan, 1))
	end)

	it("makes the job as large as it counts", function()
		local plan = decide({ "a", "a", "b" }, { { id = 1, tasks = 1, features = "[a*2&b*1]" },
			{ id = 2, tasks = 1, features = "b*1" } })
		assert.equal("n1 n2 n3", placed(plan, 1))
		assert.equal("n3", placed(plan, 2))
	end)

	it("leaves the other nodes to chance", function()
		local plan = decide({ "b", "b", "b", "a" }, { { id = 1, nodes = 3, features = "a*1" } })
		assert.equal("n2 n3 n4", placed(plan, 1))
	end)

	it("has of the others those with a feature that it counts, where it counts several", function()
		local plan = decide({ "a", "c", "b", "c", "b" }, { { id = 1, nodes = 3, exclusive = true, features = "[a*1&b*1]" },
			{ id = 2, nodes = 3, features = "[c*1&b*1&a*1]" } })
		assert.equal("n1 n3 n5", placed(plan, 1))
		assert.same({ 1 }, plan:started())
	end)

	it("leaves alone what has no count, as Slurm does", function()
		for _, features in ipairs { "a*2&d", "d&a*2", "(c|d)&(a&a)*2" } do
			assert.equal("n1 n2", placed(decide({ "a", "a", "d" }, { { id = 1, nodes = 2, features = features } }), 1))
		end
		for _, features in ipairs { "d&[a*1&b*1]", "[a*1&b*1]&d", "d,[a*1,b*1],c" } do
			assert.equal("n1 n3", placed(decide({ "a", "c", "b", "d" }, { { id = 1, nodes = 2, features = features } }), 1))
		end
		assert.is_true(decide({ "a", "b" }, { { id = 1, nodes = 1, features = "a|b*1" } }):start(1).native)
	end)

	it("counts no node twice, and takes those that have but one of them first", function()
		local plan = decide({ "a,b", "a,b", "a,b", "a" }, { { id = 1, nodes = 4, features = "[a*2&b*2]" } })
		assert.equal("n1 n2 n3 n4", placed(plan, 1))
		plan = decide({ "a,b", "a" }, { { id = 1, nodes = 2, features = "[a*1&b*1]" } })
		assert.equal("n1 n2", placed(plan, 1))
	end)

	it("leaves to a feature that few nodes have those nodes, in whatever order they are said", function()
		for _, features in ipairs { "[a*1&b*1&c*1]", "[a*1&c*1&b*1]", "[c*1&b*1&a*1]" } do
			local plan = decide({ "a,b", "a,c", "c" }, { { id = 1, nodes = 3, features = features } })
			assert.equal("n1 n2 n3", placed(plan, 1))
		end
	end)

	it("takes nodes with room for the tasks", function()
		local plan = decide({ "a", "a", "b" }, { { id = 2, nodes = 2, tasks = 8, features = "[a*1&b*1]" } },
			{ { id = 1, nodes = "n1", cores = 2, ends_in = "1h" } })
		assert.equal("n2 n3", placed(plan, 2))
	end)

	it("waits until there are enough of each, and holds up nobody else meanwhile", function()
		local plan = decide({ "a", "a", "b" }, { { id = 2, nodes = 3, exclusive = true, features = "[a*2&b*1]" },
			{ id = 3, nodes = 1, exclusive = true, time_limit = "1h" }, { id = 4, nodes = 1, exclusive = true, time_limit = "3h" } },
			{ { id = 1, nodes = "n3", exclusive = true, ends_in = "2h" } })
		assert.same({ 3 }, plan:started())
		assert.equal(7200, plan:reservation(2).in_s)
		assert.same({ "n1", "n2", "n3" }, plan:reservation(2).nodes)
	end)

	it("says what can never be, and holds up nobody else", function()
		local plan = decide({ "a", "b", "b" }, {
			{ id = 1, nodes = 2, features = "a*2" }, { id = 2, nodes = 2, features = "[a*1&c*1]" },
			{ id = 3, nodes = 1, features = "a*0" }, { id = 4, nodes = 1, features = "[a*1&b*1" },
			{ id = 5, nodes = 1, max_nodes = 1, features = "[a*1&b*1]" }, { id = 6, nodes = 3 } })
		assert.same({ "never", "needs 2 nodes, 1 could ever do" }, { plan:pending(1) })
		assert.same({ "never", "no node of partition main has [a*1&c*1]" }, { plan:pending(2) })
		assert.same({ "never", "its constraint has a count that is no number from 1 on: a*0" }, { plan:pending(3) })
		assert.same({ "never", "its constraint has brackets that do not match: [a*1&b*1" }, { plan:pending(4) })
		assert.same({ "never", "may have 1 nodes, its constraint counts 2: [a*1&b*1]" }, { plan:pending(5) })
		assert.same({ 6 }, plan:started())
	end)
end)
