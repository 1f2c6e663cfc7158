-- SPDX-License-Identifier: MIT
--
-- Nodes by name and set: cluster:nodes { }, nodes, except and prefer of a start, place(), plan:block().
local support = require "spec.support"
local t = require "sched.test"

-- n1 to n6, of which n3 and n4 are fat and n5 and n6 have GPUs.
local function machine(pending, more)
	for _, job in ipairs(pending or {}) do
		job.partition = "main"
	end
	local spec = { nodes = { "2x4c", { count = 2, cores = 4, features = "fat,new" }, "2x4c2g" }, now = 1700000000,
		partitions = { main = { nodes = "n[1-6]" }, gpu = { nodes = "n[5-6]" } }, pending = pending or { { id = 1, partition = "main" } } }
	for key, value in pairs(more or {}) do
		spec[key] = value
	end
	return t.cluster(spec)
end

local function nodes(expression)
	return support.value("table.concat((" .. expression .. "):names(), ' ')", machine())
end

local function one_policy(body)
	return support.policy(support.unprobed .. body)
end

describe("a set of nodes", function()
	it("is found by name, feature, partition and gres, and from either end", function()
		assert.equal("n1 n2 n3 n4 n5 n6", nodes "cluster:nodes()")
		assert.equal("n2 n3", nodes 'cluster:nodes { name = "n[2-3]" }')
		assert.equal("n1 n4", nodes 'cluster:nodes { name = { "n4", cluster.nodes[1] } }')
		assert.equal("n3 n4", nodes 'cluster:nodes { feature = "fat" }')
		assert.equal("", nodes 'cluster:nodes { feature = "fa" }')
		assert.equal("n5 n6", nodes 'cluster:nodes { partition = "gpu" }')
		assert.equal("n5 n6", nodes 'cluster:nodes { gres = "gpu" }')
		assert.equal("n3 n4 n5 n6", nodes "cluster:nodes { last = 4 }")
		assert.equal("n1", nodes "cluster:nodes { first = 1 }")
		assert.equal("n4", nodes 'cluster:nodes { feature = "new", last = 1 }')
		assert.equal("", nodes "cluster:nodes { last = 0 }")
	end)

	it("is combined with others", function()
		local a, b = 'cluster:nodes { name = "n[1-3]" }', 'cluster:nodes { name = "n[3-5]" }'
		assert.equal("n1 n2 n3 n4 n5", nodes(a .. ":union(" .. b .. ")"))
		assert.equal("n1 n2", nodes(a .. ":minus(" .. b .. ")"))
		assert.equal("n3", nodes(a .. ":common(" .. b .. ")"))
		assert.equal("3 true false true", support.value(([[("%%d %%s %%s %%s"):format(#%s, %s:has("n1"), %s:has("n4"),
			%s == %s:union(%s))]]):format(a, a, a, a, a, a), machine()))
	end)

	it("of nodes that are not there is an error that names them, and the line", function()
		local function fails(expression)
			return t.decide(one_policy("\nlocal x = " .. expression), machine(), { may_fail = true }):errors()[1]
		end
		assert.matches("policy.lua:2: nodes: this cluster has no node 'n7'", fails 'cluster:nodes { name = "n[6-9]" }')
		assert.matches("policy.lua:2: nodes: no partition 'gpus'", fails 'cluster:nodes { partition = "gpus" }')
		assert.matches("nodes: unknown key 'nmae', expected name, feature", fails 'cluster:nodes { nmae = "n1" }')
		assert.matches("a colon is missing: expected cluster:nodes", fails 'cluster.nodes { name = "n1" }')
	end)

	it("may be named in a policy whose nodes and partitions the canned cluster does not have", function()
		for _, code in ipairs {
			'local x = cluster:nodes { name = "gpu[1-4]" }',
			'local x = cluster:nodes { partition = "debug" }; assert(#x == 0)',
			'assert(not cluster:nodes():has("gpu1"))',
			'plan:close("debug", "not now")',
			'plan:block(cluster:nodes { partition = "debug" }, cluster.now, cluster.now + 60)',
			'for job in cluster:queue() do plan:start(job, { borrow = { "lender" }, through = "all" }) end',
			'for job in cluster:queue() do plan:start(job, { prefer = cluster:nodes { partition = "debug" } }) end',
			'for job in cluster:queue() do plan:start(job, { nodes = cluster:nodes { partition = "debug" } }) end',
			'for job in cluster:queue() do plan:reserve(job, { except = cluster:nodes { partition = "debug" } }) end',
			'for job in cluster:queue() do plan:modify(job, { partition = "debug" }) end',
			'local x = cluster.usage:holding { by = "user", unit = "job", partition = "debug" }',
			'local x = cluster.usage:past { by = "user", unit = "cpu", partition = "debug" }',
			'local x = cluster.usage:queued { by = "user", unit = "cpu", partition = "debug" }',
		} do
			local site, why = t.check(support.policy(code))
			assert(site, code .. ": " .. tostring(why))
		end
	end)
end)

describe("nodes, except and prefer", function()
	local function placed(how, job, more)
		local plan = t.decide(one_policy("for job in cluster:queue() do if not plan:start(job, { " .. how ..
			" }) then plan:reserve(job, { " .. how .. " }) end end"), machine({ job or { id = 1, cpus_per_task = 1 } }, more))
		local booking = plan:start(1) or plan:reservation(1)
		return booking and table.concat(booking.nodes, " "), plan
	end

	it("confine a start to a set", function()
		assert.equal("n4", placed 'nodes = cluster:nodes { name = "n4" }')
		assert.equal("n3", placed 'nodes = cluster:nodes { name = "n[1-4]" }, except = cluster:nodes { name = "n[1-2]" }')
		assert.equal("n3", placed 'except = cluster:nodes { name = "n[1-2]" }')
		assert.equal("n6", placed 'prefer = cluster:nodes { name = "n6" }')
		assert.equal("n1 n2", placed('prefer = cluster:nodes { name = "n6" }', { id = 1, nodes = 2 }))
	end)

	it("confine a reservation, and what is said of the job", function()
		local busy = { running = { { id = 9, nodes = { "n4" }, exclusive = true, ends_in = "1h" } } }
		local where, plan = placed('nodes = cluster:nodes { name = "n4" }', nil, busy)
		assert.equal("n4", where)
		assert.equal(3600, plan:reservation(1).in_s)
		where, plan = placed('nodes = cluster:nodes { name = "n4" }', { id = 1, nodes = 2 })
		assert.is_nil(where)
		assert.equal("never", (plan:pending(1)))
	end)

	it("refuse what is no set, and a job that only Slurm's select can place", function()
		local function fails(how)
			return t.decide(one_policy("for job in cluster:queue() do plan:start(job, { " .. how .. " }) end"), machine(),
				{ may_fail = true }):errors()[1]
		end
		assert.matches("nodes: expected a set that cluster:nodes { ... } returned, got string", fails 'nodes = "n1"')
		assert.matches("use_blocked: expected true or false", fails "use_blocked = 1")
		local _, plan = placed('nodes = cluster:nodes { name = "n4" }', { id = 1, asks = { "BOARDS" } })
		assert.matches("^only Slurm's select can place it .*, and not on nodes that the policy names", select(2, plan:pending(1)))
		_, plan = placed('nodes = cluster:nodes { name = "n4" }, place = "native"')
		assert.same({}, plan:started())
		assert.matches("^Slurm's select cannot place it on nodes that the policy names", select(2, plan:pending(1)))
	end)
end)

describe("place", function()
	-- One-core jobs go to the last two nodes, packed.
	local pack = [[{ name = "pack", place = function(job, cluster)
		if job.cpus == 1 then return { nodes = cluster:nodes { last = 2 }, place = "pack" } end
	end }, "%s"]]

	it("says on which nodes a job goes, whatever policy decides", function()
		for _, decides in ipairs { "easy", "fcfs", "conservative" } do
			local plan = t.decide(support.site_of(pack:format(decides)), machine { { id = 1 }, { id = 2 }, { id = 3, cpus_per_task = 4 },
				{ id = 4 }, { id = 5 } })
			assert.same({ 1, 2, 3, 4, 5 }, plan:started())
			for _, id in ipairs { 1, 2, 4, 5 } do
				assert.same({ "n5" }, plan:start(id).nodes)
			end
			assert(plan:start(3).nodes[1] ~= "n5")
		end
	end)

	it("holds for backfill and reservations", function()
		local pending = { { id = 1, nodes = 6, exclusive = true } }
		for id = 2, 11 do
			pending[#pending + 1] = { id = id, time_limit = "10m" }
		end
		local plan = t.decide(support.site_of(pack:format "easy"), machine(pending, { running = { { id = 99, nodes = { "n1" },
			exclusive = true, ends_in = "1h" } } }))
		assert.same({ 2, 3, 4, 5, 6, 7, 8, 9 }, plan:started())		-- eight cores
		assert.same({ 1 }, plan:reserved())
		for id = 2, 9 do
			assert.matches("^n[56]$", plan:start(id).nodes[1])
		end
	end)

	it("is refused when it returns something else", function()
		assert.matches("place: expected nothing or a table with nodes, except, prefer, place, least, segment or use_blocked, got string",
			support.refused '{ name = "x", place = function() return "pack" end }')
		assert.matches("place: unknown key 'node'", support.refused '{ name = "x", place = function() return { node = 1 } end }')
	end)
end)

describe("plan:block", function()
	-- n1 and n2 are kept free from 1 h to 4 h from now, but for bob.
	local site = support.site_of [[{ name = "course",
		prepare = function(cluster, plan)
			plan:block(cluster:nodes { name = "n[1-2]" }, cluster.now + 3600, cluster.now + 4 * 3600)
		end,
		place = function(job) if job.user == "bob" then return { use_blocked = true } end end }, "easy"]]
	local function decide(pending)
		return t.decide(site, t.cluster { nodes = "2x4c", pending = pending })
	end

	it("keeps nodes free for a time, to the second", function()
		local plan = decide { { id = 1, nodes = 2, time_limit = "1h" }, { id = 2, nodes = 2, time_limit = "3601s" } }
		assert.same({ 1 }, plan:started())
		assert.equal(4 * 3600, plan:reservation(2).in_s)
		plan = decide { { id = 2, nodes = 2, time_limit = "3601s" }, { id = 3, time_limit = "59m" } }
		assert.same({ 3 }, plan:started())
		assert.equal(4 * 3600, plan:reservation(2).in_s)
	end)

	it("lets those use them who may, before and after those who may not", function()
		local long = { id = 2, user = "anna", nodes = 1, time_limit = "2h", exclusive = true }
		local plan = decide { long, { id = 3, user = "bob", nodes = 1, time_limit = "2h", exclusive = true }, { id = 4, user = "anna",
			nodes = 1, time_limit = "2h", exclusive = true }, { id = 5, user = "bob", nodes = 1, time_limit = "2h", exclusive = true } }
		assert.same({ 3, 5 }, plan:started())
		assert.equal(4 * 3600, plan:reservation(2).in_s)
		plan = decide { { id = 3, user = "bob", nodes = 2, time_limit = "2h", exclusive = true },
			{ id = 5, user = "bob", nodes = 2, time_limit = "2h", exclusive = true }, long }
		assert.same({ 3 }, plan:started())
		assert.equal(2 * 3600, plan:reservation(5).in_s)		-- within the block
	end)

	it("keeps the reservation of one who may while others are tried beside it", function()
		local plan = t.decide(site, t.cluster { nodes = "2x4c", running = { { id = 9, nodes = { "n1" }, exclusive = true, ends_in = "2h" } },
			pending = { { id = 1, user = "bob", nodes = 2, exclusive = true, time_limit = "1h" }, { id = 2, user = "anna", time_limit = "50m" },
				{ id = 3, user = "anna", time_limit = "90m" } } })
		assert.same({ 2 }, plan:started())
		assert.equal(2 * 3600, plan:reservation(1).in_s)
	end)

	it("keeps nodes free of jobs that want nodes of their user, or share cores, too", function()
		for _, asks in ipairs { { "USER_NODES" }, false } do
			local main = { nodes = "n[1-2]", oversubscribe = asks and 1 or 2, flags = { "UP", not asks and "FORCE" or nil } }
			local plan = t.decide(site, t.cluster { nodes = "2x4c", partitions = { main = main }, pending = {
				{ id = 1, partition = "main", user = "anna", uid = 7, asks = asks or nil, time_limit = "2h" },
				{ id = 2, partition = "main", user = "bob", uid = 8, asks = asks or nil, time_limit = "2h" },
				{ id = 3, partition = "main", user = "anna", uid = 7, asks = asks or nil, time_limit = "1h" } } })
			assert.same({ 2, 3 }, plan:started())
		end
	end)

	it("has a cycle when it ends, and lasts no longer than its own", function()
		local site_of_ten_minutes = support.site_of [[{ name = "ten", prepare = function(cluster, plan)
			if cluster.now < 1700000600 then plan:block(cluster:nodes(), cluster.now, 1700000600) end
		end }, "easy"]]
		local s = t.simulate(site_of_ten_minutes, { nodes = "1x1c", now = 1700000000, jobs = { { id = 1, runtime = "1m" } } })
		assert.equal(600, s:job(1).start_s)
	end)

	it("refuses times that are none", function()
		assert.matches("expected a time after the first", support.refusal "plan:block(cluster:nodes(), 10, 10)")
		assert.matches("nodeset expected, got string", support.refusal 'plan:block("n1", 10, 20)')
	end)
end)
