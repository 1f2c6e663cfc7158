-- SPDX-License-Identifier: MIT
--
-- Placement by scores: place = "fgd" and its like, sched.place, a policy's own score, sched.gpu_share.
local support = require "spec.support"
local t = require "sched.test"

-- Four nodes of 8 cores and 4 GPUs each: n1 idle, n2 with 2 GPUs in use, n3 with 1, n4 with 3.
local function machine(pending, more)
	local spec = { nodes = "4x8c4g", now = 1700000000, pending = pending, running = {
		{ id = 92, nodes = { "n2" }, cores = 2, gpus_per_node = 2, ends_in = "2h" },
		{ id = 93, nodes = { "n3" }, cores = 1, gpus_per_node = 1, ends_in = "1h" },
		{ id = 94, nodes = { "n4" }, cores = 3, gpus_per_node = 3, ends_in = "3h" },
	} }
	for key, value in pairs(more or {}) do
		spec[key] = value
	end
	return t.cluster(spec)
end

local function gpu_job(id, gpus, more)
	local job = { id = id, gpus_per_node = gpus, cpus_per_task = gpus, time_limit = "1h" }
	for key, value in pairs(more or {}) do
		job[key] = value
	end
	return job
end

local function node_of(list, cluster, id)
	local plan = t.decide(support.site_of(list), cluster)
	return table.concat(plan:start(id).nodes, " ")
end

describe("a placement score", function()
	it("is an option of every bundled policy", function()
		for _, policy in ipairs { "fcfs", "easy", "conservative", "predictive" } do
			assert.equal("n4", node_of(('"%s", place = "least_left"'):format(policy), machine { gpu_job(1, 1) }, 1))
			assert.equal("n1", node_of(('"%s", place = "worst_fit"'):format(policy), machine { gpu_job(1, 1) }, 1))
		end
	end)

	it("is a component, too, and the first of several holds", function()
		assert.equal("n4", node_of('sched.place { "least_left" }, "easy"', machine { gpu_job(1, 1) }, 1))
		assert.equal("n1", node_of('sched.place { "worst_fit" }, "easy", place = "least_left"', machine { gpu_job(1, 1) }, 1))
	end)

	it("is named at one start by a policy", function()
		local plan = t.decide(support.policy(support.unprobed .. [[
			for job in cluster:queue() do plan:start(job, { place = "least_left" }) end]]), machine { gpu_job(1, 1) })
		assert.same({ "n4" }, plan:start(1).nodes)
	end)

	it("packs GPUs: those of nodes in use before idle nodes", function()
		assert.equal("n2", node_of('"easy", place = "gpu_packing"', machine { gpu_job(1, 2) }, 1))
		assert.equal("n1", node_of('"easy", place = "gpu_packing"', machine { gpu_job(1, 4) }, 1))
	end)

	it("of FGD keeps whole what the queue asks for", function()
		-- most of the queue asks for two GPUs: one of the three that are free on n3 is of no use to it
		local pending = { gpu_job(1, 1) }
		for id = 2, 30 do
			pending[#pending + 1] = gpu_job(id, 2, { begin_time = 1700009999 })
		end
		assert.equal("n4", node_of('"easy", place = "fgd"', machine(pending, { running = {
			{ id = 92, nodes = { "n2" }, cores = 2, gpus_per_node = 2, ends_in = "2h" },
			{ id = 94, nodes = { "n4" }, cores = 3, gpus_per_node = 3, ends_in = "3h" } } }), 1))
	end)

	it("of FGD takes a job without a number of nodes for one of the fewest that could hold it", function()
		-- 8 GPUs and 16 tasks are two idle nodes of these: n1 is not broken up
		local pending = { gpu_job(1, 1) }
		for id = 2, 30 do
			pending[#pending + 1] = { id = id, gpus = 8, tasks = 16, begin_time = 1700009999 }
		end
		assert.equal("n2", node_of('"easy", place = "fgd"', machine(pending), 1))
	end)

	it("of equal nodes takes the first", function()
		assert.equal("n1", node_of('"easy", place = "gpu_packing"', t.cluster { nodes = "3x8c4g",
			pending = { gpu_job(1, 1) } }, 1))
	end)

	it("holds in backfill, and reservations still take what becomes free latest", function()
		local list = '"easy", place = "least_left"'
		local plan = t.decide(support.site_of(list), machine { gpu_job(1, 4, { nodes = 2 }), gpu_job(2, 1, { time_limit = "10m" }) })
		assert.same({ 1 }, plan:reserved())
		assert.same({ "n4" }, plan:start(2).nodes)
	end)

	it("knows GPUs of several types under one name", function()
		local cluster = t.cluster { nodes = { { count = 1, cores = 8, gres = "gpu:a100:2,gpu:v100:2" },
			{ count = 1, cores = 8, gres = "gpu:v100:2" } }, pending = { { id = 1, gres = "gpu:v100:1" } } }
		assert.equal("n2", node_of('"easy", place = "least_left"', cluster, 1))
		-- what waits wants pairs of a100: on n1 a job that would do with any gets one of these
		local pending = { gpu_job(1, 1) }
		for id = 2, 20 do
			pending[#pending + 1] = { id = id, gres = "gpu:a100:2", begin_time = 1700009999 }
		end
		assert.equal("n2", node_of('"easy", place = "fgd"', t.cluster { nodes = { { count = 1, cores = 8, gres = "gpu:a100:2,gpu:v100:2" },
			{ count = 1, cores = 8, gres = "gpu:v100:2" } }, now = 1700000000, pending = pending }, 1))
	end)

	it("gives nobody GPUs of another type than the job's, whatever the score", function()
		local nodes = { { count = 2, cores = 8, gres = "gpu:a100:2,gpu:v100:2" }, { count = 1, cores = 8, gres = "gpu:v100:4" },
			{ count = 1, cores = 8, gres = "gpu:a100:4" } }
		for _, place in ipairs { "fgd", "gpu_packing", "gpu_clustering", "least_left", "worst_fit", "dot_product" } do
			local list = ('"easy", place = "%s"'):format(place)
			local plan = t.decide(support.site_of(list), t.cluster { nodes = nodes, now = 1700000000, pending = {
				{ id = 1, gres = "gpu:a100:4" }, { id = 2, gres = "gpu:v100:4" }, { id = 3, gres = "gpu:a100:3" },
				{ id = 4, gres = "gpu:3" }, { id = 5, gres = "gpu:a100:2" }, { id = 6, gres = "gpu:v100:3" } } })
			assert.same({ "n4" }, plan:start(1).nodes)
			assert.same({ "n3" }, plan:start(2).nodes)
			assert.is_nil(plan:start(3))	-- no node has three that are free
			assert.is_nil(plan:start(6))
			assert.is_table(plan:start(4))	-- of either type
			assert.is_table(plan:start(5))
			assert.not_equal(plan:start(4).nodes[1], plan:start(5).nodes[1])
		end
	end)

	it("that there is not is refused with its line", function()
		assert.matches('site.lua:3: place "fgdd": expected bestfit, contiguous, pack, .*, fgd, blocks or native',
			support.refused '"easy", place = "fgdd"')
		assert.matches("place = 5; expected a name", support.refused '"easy", place = 5')
		assert.matches('sched.place: place "best": expected bestfit', support.refused 'sched.place { "best" }, "easy"')
		assert.matches("sched.place: expected { NAME or FUNCTION", support.refused 'sched.place { 5 }, "easy"')
		assert.matches('place "pack" has no score that could have a least', support.refused 'sched.place { "pack", least = 5 }, "easy"')
		assert.matches("unknown option 'lest' of sched.place", support.refused 'sched.place { "fgd", lest = 5 }, "easy"')
	end)
end)

describe("waiting for a better place", function()
	local function site(least, price)
		return support.site_of(('sched.place { "least_left", least = %g, price = %g }, "easy"'):format(least, price))
	end
	-- the best score there is: n4 with 3 GPUs in use
	local function waiting(minutes)
		return machine({ gpu_job(1, 1, { submit_time = 1700000000 - 60 * minutes, eligible_time = 1700000000 - 60 * minutes }) })
	end

	it("leaves a job pending while no score is as good, and says so", function()
		local plan = t.decide(site(100, 1), waiting(0))
		assert.same({}, plan:started())
		assert.matches("waits for a better place", select(2, plan:pending(1)))
	end)

	it("ends as minutes that were waited lower what is wanted", function()
		assert.same({}, t.decide(site(100, 1), waiting(5)):started())
		assert.same({ 1 }, t.decide(site(100, 1), waiting(99)):started())
		assert.same({ 1 }, t.decide(site(100, 20), waiting(5)):started())
	end)

	it("ends in a simulation in which nothing else happens, too", function()
		local s = t.simulate(support.site_of 'sched.place { "least_left", least = 100, price = 10 }, "easy"', { nodes = "2x8c",
			jobs = { { id = 1, tasks = 2, runtime = "1m" } } })
		assert.equal(4, s:job(1).wait_s // 60)		-- 6 of 8 cores are left: a score of 62
	end)

	it("keeps the place that it could have", function()
		local plan = t.decide(site(100, 1), waiting(0))
		assert.same({ 1 }, plan:reserved())
		assert.equal(0, plan:reservation(1).in_s)
	end)
end)

describe("a policy's own score", function()
	it("is asked for classes of nodes, with what is there, free and taken", function()
		local plan = t.decide(support.site_of [[sched.place { function(job, class, cluster)
			slurm.log_info("%s %d %d/%d/%d %d/%d/%d %s %s", class.node.name, class.nodes, class.cores, class.free_cores,
				class.takes_cores, class.gpus, class.free_gpus, class.left_gpus, class.late, class.free_gres.gpu)
			return 0
		end }, "easy"]], t.cluster { nodes = "40x8c4g", pending = { gpu_job(1, 2) }, running = {
			{ id = 92, nodes = { "n2", "n3" }, cores = 2, gpus_per_node = 2, ends_in = "2h" },
			{ id = 93, nodes = { "n4" }, cores = 2, gpus_per_node = 2, ends_in = "3h" } } })
		local log = plan:log()
		table.sort(log)
		assert.same({ "info: n1 37 8/8/2 4/4/2 false 4", "info: n2 2 8/6/2 4/2/0 false 2" }, log)
		assert.same({ "n1" }, plan:start(1).nodes)
	end)

	it("takes the largest number, and of equal nodes the first", function()
		assert.equal("n4", node_of('sched.place { function(_, class) return -class.left_gpus end }, "easy"',
			machine { gpu_job(1, 1) }, 1))
		assert.equal("n1", node_of('sched.place { function() return 3 end }, "easy"', machine { gpu_job(1, 1) }, 1))
		assert.equal("n3", node_of('sched.place { function(_, class) return class.node.name == "n3" and -0.5 or -math.huge end }, "easy"',
			machine { gpu_job(1, 1) }, 1))
	end)

	it("may ask the bundled ones", function()
		assert.equal("n4", node_of('sched.place { function(_, class) return class.score "least_left" end }, "easy"',
			machine { gpu_job(1, 1) }, 1))
		assert.matches('expected least_left, worst_fit', support.refused(
			'sched.place { function(_, class) return class.score "pack" end }, "easy"'))
	end)

	it("is a policy's field, with its options", function()
		local site = support.site_of('"mine", sign = -1, "easy"', { mine = [[
			local M = { api = 1, name = "mine", options = { sign = { default = 1 } } }
			function M.score(job, class, cluster, opt) return opt.sign * class.left_gpus end
			return M]] })
		assert.same({ "n4" }, t.decide(site, machine { gpu_job(1, 1) }):start(1).nodes)
	end)

	it("refuses nodes by false, for now", function()
		local plan = t.decide(support.site_of 'sched.place { function(_, class) return class.left_gpus == 0 and 1 end }, "easy"',
			machine { gpu_job(1, 1), gpu_job(2, 1) })
		assert.same({ 1 }, plan:started())
		assert.same({ "n4" }, plan:start(1).nodes)
	end)

	it("that is no number raises the line, the job and a node", function()
		local function fails(body)
			return t.decide(support.site_of('sched.place { function(_, _, cluster) if cluster.name == "probe" then return 1 end ' .. body ..
				' end }, "easy"'), machine { gpu_job(1, 1) }, { may_fail = true }):errors()[1]
		end
		assert.matches("site.lua:3: the score returned nil for job 1 on node n1, expected a number, or false", fails "")
		assert.matches("the score returned not%-a%-number %(0/0%) for job 1", fails "return 0/0")
		assert.matches("the score returned string", fails 'return "3"')
		assert.matches("site.lua:3: oops", fails 'error("oops")')
	end)

	it("decides nothing while it is asked", function()
		for verb, call in pairs { start = "plan:start(other)", reserve = "plan:reserve(other)", earliest = "plan:earliest(other)" } do
			local plan = t.decide(support.policy(support.unprobed .. [[
				the_plan = plan
				for job in cluster:queue() do plan:start(job) end]], ([[
				local the_plan, said
				function M.score(job, class, cluster)
					local plan, other = the_plan, cluster:job(2)
					local ok, why = pcall(function() %s end)
					slurm.log_info(tostring(why))
					return class.free_cores
				end]]):format(call)), machine { gpu_job(1, 1), gpu_job(2, 1) })
			assert.same({ 1, 2 }, plan:started())
			assert.matches(verb .. ": not while a policy is asked for a score", plan:log()[1])
		end
	end)

	it("that takes the budget ends the policy, not the cycle", function()
		local plan = t.decide(support.site_of [[sched.place { function(job, _, cluster)
			while cluster.name ~= "probe" and job.id == 2 do end return 1 end }, "easy"]], machine { gpu_job(1, 1), gpu_job(2, 1) },
			{ may_fail = true, budget = 0.4 })
		assert.matches("time budget of 400 ms is used up", plan:errors()[1])
		assert.same({ 1 }, plan:started())
	end)

	it("shows a class only while it is asked", function()
		local plan = t.decide(support.policy(support.unprobed .. [[
			for job in cluster:queue() do plan:start(job) end
			slurm.log_info(tostring(select(2, pcall(function() return the_class.node end))))]], [[
			local the_class
			function M.score(job, class, cluster)
				the_class = class
				return class.free_cores
			end]]), machine { gpu_job(1, 1) })
		assert.matches("a class of nodes is good only while the score is asked", plan:log()[1])
		assert.same({ 1 }, plan:started())
	end)

	it("refuses a field that a class has not", function()
		local plan = t.decide(support.site_of [[sched.place { function(_, class, cluster)
			return cluster.name == "probe" and 1 or class.nothing end }, "easy"]], machine { gpu_job(1, 1) }, { may_fail = true })
		assert.matches("a class of nodes has no field 'nothing'; expected node, nodes", plan:errors()[1])
	end)
end)

describe("sched.gpu_share", function()
	-- n1 to n3 with 4 GPUs and 8 cores, n4 without GPUs.
	local function mixed(pending, running)
		return t.cluster { nodes = { "3x8c4g", "1x8c" }, pending = pending, running = running }
	end

	it("sends jobs without GPUs to nodes without, then where they strand the fewest GPUs", function()
		assert.equal("n4", node_of('sched.gpu_share {}, "easy"', mixed { { id = 1, cpus_per_task = 2 } }, 1))
		assert.equal("n2", node_of('sched.gpu_share {}, "easy"', mixed({ { id = 1, cpus_per_task = 4 } }, {
			{ id = 91, nodes = { "n4" }, cores = 8, ends_in = "1h" },
			{ id = 92, nodes = { "n2" }, cores = 4, gpus_per_node = 4, ends_in = "1h" } }), 1))
	end)

	it("leaves jobs with GPUs to the rest of the list", function()
		assert.equal("n2", node_of('sched.gpu_share {}, "easy", place = "gpu_packing"', mixed({ gpu_job(1, 1) }, {
			{ id = 92, nodes = { "n2" }, cores = 1, gpus_per_node = 1, ends_in = "1h" } }), 1))
	end)

	it("reserves cores for idle GPUs", function()
		local full = { { id = 91, nodes = { "n4" }, cores = 8, ends_in = "1h" } }
		local plan = t.decide(support.site_of 'sched.gpu_share { reserve = true, cores_per_gpu = 1 }, "easy"',
			mixed({ { id = 1, cpus_per_task = 4 }, { id = 2, cpus_per_task = 5 } }, full))
		assert.same({ 1 }, plan:started())
	end)

	it("only while GPUs are wanted, if told so", function()
		local list = 'sched.gpu_share { reserve = true, while_wanted = true }, "easy"'
		local full = { { id = 91, nodes = { "n4" }, cores = 8, ends_in = "1h" } }
		assert.same({ 1 }, t.decide(support.site_of(list), mixed({ { id = 1, cpus_per_task = 4 } }, full)):started())
		assert.same({ 2 }, t.decide(support.site_of(list), mixed({ { id = 1, cpus_per_task = 4 }, gpu_job(2, 4) }, full)):started())
	end)

	-- The public story: a job of ten whole GPU nodes waits while jobs without GPUs hold cores of all of them.
	it("lets a ten-node GPU job start that CPU jobs would have kept waiting", function()
		local pending = {}
		for id = 1, 100 do
			pending[id] = { id = id, cpus_per_task = 60, time_limit = "3d" }
		end
		local wide = { id = 500, nodes = 10, gpus_per_node = 4, cpus_per_task = 32, tasks = 10, tasks_per_node = 1, priority = 1 }
		pending[#pending + 1] = wide
		local nodes = { "20x128c4g", "40x128c" }
		local function decide(list)
			return t.decide(support.site_of(list), t.cluster { nodes = nodes, pending = pending })
		end
		local plan = decide '"easy"'
		assert.equal(100, #plan:started())		-- 6,000 cores, and no ten GPU nodes left
		assert.same({}, { plan:start(500) })
		plan = decide 'sched.gpu_share {}, "easy"'
		assert.equal(101, #plan:started())
		assert.equal(10, #plan:start(500).nodes)
	end)
end)
