-- SPDX-License-Identifier: MIT
-- Jobs that ask for sockets, on nodes of 2 sockets of 4 cores.
local t = require "sched.test"

local function start(used, job, policy)
	local running = used > 0 and { { id = 1, nodes = "n1", cores = used, ends_in = "1h" } } or {}
	job.id, job.nodes, job.max_nodes = 2, 1, 1
	local cluster = t.cluster { nodes = { { count = 1, cores = 8, sockets = 2 } }, running = running, pending = { job } }
	return t.decide(policy or "easy", cluster):start(2)
end

describe("a job that asks for sockets", function()
	it("is placed where enough cores are free, whichever those are", function()
		for _, policy in ipairs { "easy", "conservative", "fcfs" } do
			assert.is_falsy(start(0, { tasks = 4, ntasks_per_socket = 2 }, policy).native)
			assert.is_falsy(start(2, { tasks = 4, ntasks_per_socket = 2 }, policy).native)
		end
		assert.is_falsy(start(3, { tasks = 4, ntasks_per_socket = 4 }).native)
		assert.is_falsy(start(3, { tasks = 2, sockets_per_node = 2 }).native)
	end)

	it("is tried by select where that is not sure", function()
		for _, policy in ipairs { "easy", "conservative", "fcfs" } do
			assert.is_true(start(3, { tasks = 4, ntasks_per_socket = 2 }, policy).native)
		end
		assert.is_true(start(4, { tasks = 2, sockets_per_node = 2 }).native)
	end)

	it("waits where there are too few cores at all", function()
		assert.is_nil(start(5, { tasks = 4, ntasks_per_socket = 2 }))
	end)

	it("has all cores of a whole node, and its tasks on some of each socket", function()
		local pending = { { id = 2, tasks = 5, exclusive = true, ntasks_per_socket = 2 } }
		local plan = t.decide("easy", t.cluster { nodes = { { count = 3, cores = 8, sockets = 2 } }, pending = pending })
		assert.is_falsy(plan:start(2).native)
		assert.same({ "n1", "n2" }, plan:start(2).nodes)
		assert.same({ n1 = 8, n2 = 8 }, plan:layout(2))
	end)

	it("has those of the system where it says how many these are", function()
		local pending = { { id = 2, tasks = 14, exclusive = true, core_spec = 2 } }
		local plan = t.decide("easy", t.cluster { nodes = { { count = 4, cores = 8, sockets = 2 } }, pending = pending })
		assert.is_falsy(plan:start(2).native)
		assert.equal(3, #plan:start(2).nodes)
		assert.same({ n1 = 6, n2 = 6, n3 = 6 }, plan:layout(2))
	end)
end)
