-- SPDX-License-Identifier: MIT
local duration = require "sched.duration"
local t = require "sched.test"

local function refused(spec, message)
	local ok, why = pcall(function() t.cluster(spec) end)
	assert.is_false(ok)
	assert.matches("^spec/test_spec.lua:%d+: t.cluster: ", why)
	assert.equal(message, (why:gsub("^spec/test_spec.lua:%d+: t.cluster: ", "")))
end

describe("a cluster in a few words", function()
	it("has nodes of one kind or of several", function()
		local c = t.cluster { nodes = { "2x8c2g", "1x16c4t128G", { count = 2, name = "fat", cores = 4, gres = "gpu:a100:1" } } }
		local n = c.model.nodes
		assert.equal(5, #n)
		assert.equal("n1 n2 n3 fat4 fat5", table.concat({ n[1].name, n[2].name, n[3].name, n[4].name, n[5].name }, " "))
		assert.equal(128 * 1024, n[3].memory)
		assert.equal(4, n[3].threads)
		assert.same({ { kind = "gpu:a100", count = 1 } }, n[4].gres)
	end)

	it("gives jobs what was not said", function()
		local c = t.cluster { nodes = "2x8c", running = { {} }, pending = { {}, { id = 1 } } }
		assert.same({ 2, 3, 1 }, { c.model.jobs[1].id, c.model.jobs[2].id, c.model.jobs[3].id })
		assert.equal(duration.seconds("1h"), c.model.jobs[2].time_limit)
	end)

	it("keeps the order of the queue as Slurm would have it", function()
		local c = t.cluster { nodes = "1x1c", partitions = { a = {}, b = { priority_tier = 2 } },
			pending = { { id = 1, partition = "a" }, { id = 2, partition = "a", priority = 9000000 },
				{ id = 3, partition = "b", priority = 1 } } }
		local ids = {}
		for i, entry in ipairs(c.model.queue) do ids[i] = entry.job end
		assert.same({ 3, 2, 1 }, ids)
	end)

	it("puts running jobs where there is room", function()
		local c = t.cluster { nodes = "3x4c", running = { { nodes = 1, exclusive = true }, { nodes = 2, cores = 3 }, { cores = 1 } } }
		assert.equal("n1", c.model.jobs[1].alloc[1].node)
		assert.equal("n2 n3", c.model.jobs[2].alloc[1].node .. " " .. c.model.jobs[2].alloc[2].node)
		assert.equal("n2", c.model.jobs[3].alloc[1].node)
	end)
end)

describe("bad words for a cluster are refused at the caller's line:", function()
	it("unknown keys", function()
		refused({ node = "4x8c" }, "unknown key 'node'; did you mean 'nodes'? " ..
			"known: history, licenses, meta, nodes, now, partitions, pending, remembered, reservations, " ..
			"running, seed, usage")
		refused({ pending = { { id = 1, tiem_limit = 5 } } },
			"pending[1] (job 1): unknown key 'tiem_limit'; did you mean 'time_limit'?")
		refused({ nodes = { { core = 5 } } }, "nodes: unknown key 'core'; did you mean 'cores'?")
		refused({ partitions = { a = { node = "n1" } } }, "partitions.a: unknown key 'node'; did you mean 'nodes'?")
	end)

	it("machines that are none", function()
		refused({ nodes = "4 nodes" }, "nodes: '4 nodes' is no machine; " ..
			"expected COUNTxCORESc[GPUSg][THREADSt][MEMORY(M|G)] such as \"4x8c2g64G\"")
		refused({ nodes = "4x8c2q" }, "nodes: '4x8c2q' is no machine; " ..
			"expected COUNTxCORESc[GPUSg][THREADSt][MEMORY(M|G)] such as \"4x8c2g64G\"")
		refused({ nodes = 4 }, "nodes: expected text such as \"4x8c2g\" or a list, got 4")
	end)

	it("running jobs that do not fit", function()
		refused({ nodes = "2x4c", running = { { id = 1, nodes = 3 } } },
			"running[1] (job 1): needs 3 nodes, 2 have that much free")
		refused({ nodes = "2x4c", running = { { exclusive = true }, { id = 9, nodes = { "n1" } } } },
			"running[2] (job 9): node 'n1' has not that much free")
		refused({ nodes = "2x4c1g", running = { { id = 1, gres = "gpu:2" } } },
			"running[1] (job 1): needs 1 nodes, 0 have that much free")
	end)

	it("durations, numbers, gres and names that are none", function()
		refused({ pending = { { id = 1, time_limit = "soon" } } }, "pending[1] (job 1).time_limit: \"soon\" is no duration; " ..
			"expected seconds, or text such as \"90m\" or \"1-12:00:00\"")
		refused({ pending = { { id = 1, tasks = 1.5 } } }, "pending[1] (job 1).tasks: expected an integer from 1 on, got 1.5")
		refused({ pending = { { id = 1, gres = "gpu:x:y:z" } } },
			"pending[1] (job 1).gres: 'gpu:x:y:z' is no gres; expected \"gpu:2\" or \"gpu:a100:2\"")
		refused({ pending = { { id = 1, partition = "gpu" } } }, "pending[1] (job 1): no partition 'gpu'")
		refused({ partitions = { a = { nodes = "n9" } } }, "partitions.a: no node 'n9'")
		refused({ pending = { { id = 1, array = "x" } } },
			"pending[1] (job 1): array: expected a number of tasks, or \"100%2\", got x")
		refused({ pending = { { id = 1, nodes = "n1" } } },
			"pending[1] (job 1): nodes: a pending job says how many, got n1 (req_nodes names nodes)")
		refused({ pending = 5 }, "pending: expected a list, got 5")
		refused({ reservations = { { nodes = "n1" } } }, "reservations[1]: has no name")
	end)

	it("what only the reader of snapshots sees", function()
		local ok, why = pcall(function() t.cluster { pending = { { id = 1 }, { id = 1 } } } end)
		assert.is_false(ok)
		assert.matches("spec/test_spec.lua:%d+: t.cluster: jobs%[1%].id: a second \"1\"", why)
	end)
end)

describe("t.decide", function()
	local c = t.cluster { nodes = "1x1c" }

	it("refuses what is no policy and no cluster, at the caller's line", function()
		local function raises(message, ...)
			local policy, cluster, options = ...
			local ok, why = pcall(function() t.decide(policy, cluster, options) end)
			assert.is_false(ok)
			assert.matches("^spec/test_spec.lua:%d+: " .. message, why)
		end
		raises("t.decide: a policy is a name, a path or a table, got number", 5, c)
		raises("t.decide: unknown key 'sorce' of a policy", { sorce = "" }, c)
		raises("t.decide: expected a cluster of t.cluster, got nil", "easy")
		raises("t.decide: unknown key 'window', expected memory, budget or may_fail", "easy", c, { window = 5 })
		raises("policy eazy: unknown policy 'eazy'", "eazy", c)
	end)

	it("raises what goes wrong in a policy, unless it may", function()
		local failing = { source = "return { api = 1, decide = function(c) if c.name ~= 'probe' then error('mine') end end }" }
		local ok, why = pcall(function() t.decide(failing, c) end)
		assert.is_false(ok)
		assert.matches("spec/test_spec.lua:%d+: the policy failed: policy.lua:1: mine", why)
		assert.matches("stack traceback", why)
		assert.matches("policy.lua:1: mine", t.decide(failing, c, { may_fail = true }):errors()[1])
	end)

	it("decides the same, byte for byte, each time", function()
		local pending = {}
		for i = 1, 50 do
			pending[i] = { nodes = 1 + i % 3, time_limit = 600 * (1 + i % 7), tasks = 1 + i % 3 }
		end
		local big = t.cluster { nodes = "8x4c", running = { { nodes = 3, exclusive = true, ends_in = "1h" } }, pending = pending }
		local policy = { source = [[
			local M = { api = 1, name = "policy" }
			function M.rank(job, cluster) return cluster:random(10) end
			return M]] }
		local function decided()
			local plan = t.decide(policy, big)
			return { plan:started(), plan:reserved() }
		end
		assert.same(decided(), decided())
	end)

	it("loads clusters from files of either form", function()
		local plan = t.decide("easy", t.load("examples/cluster.json"))
		assert.equal("table", type(plan:started()))
		local ok, why = pcall(function() t.load("spec/nowhere.json") end)
		assert.is_false(ok)
		assert.matches("nowhere.json: No such file", why)
	end)
end)

describe("the examples and the bundled policies", function()
	it("are accepted", function()
		for _, policy in ipairs { "easy", "fcfs", "conservative", "examples/policies/shortest_first.lua" } do
			assert.is_nil((select(2, t.check(policy))))
		end
	end)
end)
