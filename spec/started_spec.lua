-- SPDX-License-Identifier: MIT
--
-- What this cycle has started so far, as policies see it.
local support = require "spec.support"
local t = require "sched.test"

-- Four nodes; job 1 of anna has one.
local function machine()
	return t.cluster { nodes = "4x4c1g", running = { { id = 1, user = "anna", account = "chem", nodes = 1,
		exclusive = true, gres = "gpu:1", ends_in = "1h" } },
		pending = { { id = 2, user = "bob", account = "phys", nodes = 1, exclusive = true, time_limit = "2h", gres = "gpu:1" },
			{ id = 3, user = "bob", account = "phys", cpus_per_task = 2, time_limit = "1h", array = "2" } } }
end

local function sums(expression)
	return ("(function() local list = {} for name, n in pairs(%s) do list[#list + 1] = name .. '=' .. n end "
		.. "return table.concat(list, ' ') end)()"):format(expression)
end

local function logged(expression, after)
	return support.lines(("local two, three = cluster:job(2), cluster:job(3) %s slurm.log_info('%%s', (%s))"):format(after or "",
		expression), machine())[1]
end

describe("what this cycle has started", function()
	it("is in cluster.running, behind what ran before, each task of an array by itself", function()
		local ids = "(function() local ids = {} for _, job in ipairs(cluster.running) do ids[#ids + 1] = job.id end "
			.. "return #cluster.running .. ': ' .. table.concat(ids, ' ') .. ', ' .. cluster.totals.running end)()"
		assert.equal("1: 1, 1", logged(ids))
		assert.equal("2: 1 2, 2", logged(ids, "plan:start(two)"))
		assert.equal("4: 1 2 3 3, 4", logged(ids, "plan:start(two) plan:start(three) plan:start(three)"))
		assert.equal("2: 1 3, 2", logged(ids, "plan:start(two) plan:start(three) plan:undo(two)"))
	end)

	it("has the nodes, the amounts and the times of its booking", function()
		assert.equal("0 0 0 0", logged("('%d %d %d %d'):format(two.alloc_nodes, two.alloc_cpus, two.alloc_gpus, #two.nodes)"))
		assert.equal("1 4 1 n2 0 7200 PENDING", logged([[('%d %d %d %s %d %d %s'):format(two.alloc_nodes, two.alloc_cpus,
			two.alloc_gpus, two.nodes[1], two.start_time - cluster.now, two.end_time - cluster.now, two.state)]], "plan:start(two)"))
	end)

	it("counts in what jobs hold and in what they hold x their walltime, and not in what waits", function()
		local running = sums 'cluster.usage:running { by = "account", unit = "cpu" }'
		local holding = sums 'cluster.usage:holding { by = "user", unit = "gpu" }'
		local jobs = sums 'cluster.usage:holding { by = "user", unit = "job" }'
		local queued = sums 'cluster.usage:queued { by = "user", unit = "cpu" }'
		assert.equal("chem=14400", logged(running))
		assert.equal("chem=14400 phys=28800", logged(running, "plan:start(two)"))
		assert.equal("chem=14400 phys=36000", logged(running, "plan:start(two) plan:start(three)"))
		assert.equal("anna=1", logged(holding))
		assert.equal("anna=1 bob=1", logged(holding, "plan:start(two)"))
		assert.equal("anna=1 bob=3", logged(jobs, "plan:start(two) plan:start(three) plan:start(three)"))
		assert.equal("bob=21600", logged(queued))		-- 1 x 2 h, 2 tasks x 2 x 1 h
		assert.equal("bob=14400", logged(queued, "plan:start(two)"))
		assert.equal("bob=7200", logged(queued, "plan:start(two) plan:start(three)"))
		assert.equal("", logged(queued, "plan:start(two) plan:start(three) plan:start(three)"))
	end)

	it("follows what is taken back and started anew, whenever it was asked in between", function()
		local steps = { "plan:start(two)", "plan:start(three)", "plan:start(three)", "plan:undo(two)", "plan:undo(three)",
			"plan:start(two)" }
		for _, sum in ipairs { 'usage:running { by = "user", unit = "cpu" }', 'usage:holding { by = "qos", unit = "node" }',
			'usage:holding { by = "partition", unit = "job" }', 'usage:queued { by = "user", unit = "cpu" }',
			'usage:queued { by = "partition", unit = "job", partition = "main" }', 'usage:used { by = "user", unit = "cpu" }' } do
			local text = sums("cluster." .. sum)
			local asking, plain = {}, {}
			for i, step in ipairs(steps) do
				asking[i] = ("local _ = %s %s"):format(text, step)
				plain[i] = step
				assert.equal(logged(text, table.concat(plain, " ")), logged(text, table.concat(asking, " ")))
			end
		end
	end)

	it("is nowhere in a partition that is not there, and a wrong word is refused", function()
		assert.equal("", logged(sums 'cluster.usage:holding { by = "user", unit = "job", partition = "none" }', "plan:start(two)"))
		assert.matches('by: expected "user", "account", "qos" or "partition", got "job"',
			support.refusal 'local u = cluster.usage:holding { by = "job", unit = "cpu" }')
		assert.matches('unit: expected "cpu", "gpu", "node" or "job", got "core"',
			support.refusal 'local u = cluster.usage:holding { by = "user", unit = "core" }')
		assert.matches('by: expected "user" or "account", got "qos"',
			support.refusal 'local u = cluster.usage:past { by = "qos", unit = "cpu" }')
	end)

	it("is seen by allow, so that a limit of the site's own holds within a cycle", function()
		local allow = [[{ name = "two_jobs", allow = function(job, cluster)
			local mine = 0
			for _, other in ipairs(cluster.running) do mine = mine + (other.user == job.user and 1 or 0) end
			return mine < 2, "has two jobs"
		end }, "easy"]]
		local counted = [[{ name = "two_jobs", allow = function(job, cluster)
			return (cluster.usage:holding { by = "user", unit = "job" }[job.user] or 0) < 2, "has two jobs"
		end }, "easy"]]
		for _, list in ipairs { allow, counted } do
			local plan = t.decide(support.site_of(list), t.cluster { nodes = "4x4c", pending = {
				{ id = 2, user = "bob" }, { id = 3, user = "bob" }, { id = 4, user = "bob" },
				{ id = 5, user = "carl", array = "4" } } })
			assert.same({ 2, 3, 5, 5 }, plan:started())
			assert.same({ "policy", "has two jobs" }, { plan:pending(4) })
		end
	end)
end)
