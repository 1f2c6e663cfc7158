-- SPDX-License-Identifier: MIT
local s = require "spec.support"
local t = require "sched.test"

local c = t.cluster {
	nodes = { "2x8c2g64G", { name = "big", cores = 16, memory = 1000, features = "fat", state = { "DRAIN" } } },
	partitions = { batch = { nodes = "n[1-2]", max_time = "7-00:00:00" }, all = { priority_tier = 5 } },
	licenses = { matlab = 3 },
	reservations = { { name = "maint", nodes = "big", starts_in = "1d", ends_in = "2d", flags = { "MAINT" } } },
	running = { { id = 10, nodes = 1, cores = 3, memory = 1024, gres = "gpu:1", started_ago = "10m", ends_in = "1h",
		partition = "batch", user = "carol" } },
	pending = {
		{ id = 11, nodes = 2, tasks = 4, cpus_per_task = 2, gres = "gpu:1", time_limit = "2h", user = "bob", account = "physics",
			partition = "batch,all", submitted_ago = 120, comment = "hello", exclusive = true, req_nodes = "n[1-2]",
			licenses = { matlab = 1 } },
		{ id = 12, time_limit = "UNLIMITED", partition = "all", gpus = 3, nice = 5, distribution = "arbitrary",
			arbitrary_tpn = { { node = "n1", tasks = 2 } } },
	},
}

-- The value of a field of a job (or an expression with job).
local function of(id, expression)
	return s.value("(function() local job = cluster:job(" .. id .. ") return " .. expression .. " end)()", c)
end

describe("a job", function()
	it("has the fields of the snapshot by Slurm's names, numbers as integers", function()
		assert.equal("11", of(11, "job.id"))
		assert.equal("integer", of(11, "math.type(job.id)"))
		assert.equal("bob", of(11, "job.user"))
		assert.equal("physics", of(11, "job.account"))
		assert.equal("7200", of(11, "job.time_limit"))
		assert.equal("2 4 2", of(11, "('%d %d %d'):format(job.min_nodes, job.num_tasks, job.cpus_per_task)"))
		assert.equal("PENDING RUNNING", of(11, "job.state .. ' ' .. cluster:job(10).state"))
		assert.equal("hello", of(11, "job.comment"))
		assert.equal("5", of(12, "job.nice"))
	end)

	it("has math.huge for no limit and nil for what is not set", function()
		assert.equal("true", of(12, "job.time_limit == math.huge"))
		assert.equal("nil", of(12, "job.array_task_id"))
		assert.equal("nil", of(12, "job.account"))
	end)

	it("has nil for whatever was not said, be it a text, a number, a time or a list", function()
		local bare = t.cluster { nodes = "1x4c", pending = { { id = 1, nodes = 1 } } }
		local unsaid = {}
		for name in s.value([[(function() local names, job = {}, cluster:job(1)
			for _, name in ipairs { "account", "qos", "comment", "features", "prefer", "reservation", "node_counts", "native",
				"deadline", "begin_time", "start_time", "end_time", "time_min", "max_cpus", "num_tasks",
				"ntasks_per_node", "memory_per_node", "memory_per_cpu", "req_nodes", "exc_nodes", "gres", "licenses", "switches",
				"array_max_running", "tmp_disk", "shapes_ignored", "home" } do
				if job[name] ~= nil then names[#names + 1] = name end
			end return table.concat(names, " ") end)()]], bare):gmatch("%S+") do
			unsaid[#unsaid + 1] = name
		end
		assert.same({}, unsaid)
	end)

	it("has counts, and lists of what there is, in any case", function()
		local bare = t.cluster { nodes = "1x4c", pending = { { id = 1, nodes = 1 } } }
		assert.equal("0 0 0 0 0 0 0 0 main", s.value([[(function() local job = cluster:job(1) return
			("%d %d %d %d %d %d %d %d %s"):format(job.array_pending, job.nice, job.restarts, job.alloc_nodes, #job.nodes, #job.alloc,
			#job.shapes, #job.asks, table.concat(job.partitions, " ")) end)()]], bare))
	end)

	it("has no empty text, no empty list of a request and no unsaid 0 anywhere, whatever the snapshot", function()
		local there = { "flags", "shapes", "asks", "alloc", "nodes", "gres_total", "free_gres", "gres", "state" }
		local known = {}
		for _, name in ipairs(there) do known[name] = true end
		for _, object in ipairs { "cluster:job(10)", "cluster:job(11)", "cluster:job(12)", "cluster.nodes[1]", "cluster.nodes[2]",
			"cluster.partitions[1]", "cluster" } do
			for _, line in ipairs(s.lines("for name, value in pairs(" .. object .. ") do if value == '' or type(value) == 'table' and " ..
				"next(value) == nil then slurm.log_info(name) end end", c)) do
				assert(known[line] or object == "cluster" or object:match("nodes") and line == "gres", object .. "." .. line)
			end
		end
	end)

	it("has flags as booleans and as words", function()
		assert.equal("true false", of(11, "('%s %s'):format(job.exclusive, job.contiguous)"))
		assert.equal("BATCH EXCLUSIVE", of(11, "table.concat(job.flags, ' ')"))
	end)

	it("has lists for ranges", function()
		assert.equal("batch all", of(11, "table.concat(job.partitions, ' ')"))
		assert.equal("n1 n2", of(11, "table.concat(job.req_nodes, ' ')"))
		assert.equal("gpu 1 node", of(11, "('%s %d %s'):format(job.gres[1].name, job.gres[1].count, job.gres[1].per)"))
		assert.equal("matlab 1", of(11, "('%s %d'):format(job.licenses[1].license, job.licenses[1].count)"))
		assert.equal("arbitrary n1 2", of(12, "('%s %s %d'):format(job.distribution, job.arbitrary_tpn[1].node, " ..
			"job.arbitrary_tpn[1].tasks)"))
		assert.equal("n1 3 gpu 1", of(10, "('%s %d %s %d'):format(job.alloc[1].node, job.alloc[1].cores, " ..
			"job.alloc[1].gres[1].kind, job.alloc[1].gres[1].count)"))
	end)

	it("has some fields that are worked out", function()
		assert.equal("8 4 2 120", of(11, "('%d %d %d %d'):format(job.cpus, job.tasks, job.gpus, job.waited)"))
		assert.equal("3", of(12, "job.gpus"))
		assert.equal("2", of(11, "job.gres_total.gpu"))
		assert.equal("3600 7200", of(10, "('%d %d'):format(job.remaining, cluster:job(11).remaining)"))
		assert.equal("n1", of(10, "table.concat(job.nodes, ' ')"))
	end)

	it("is looked at once in each of its partitions", function()
		assert.same({ "11 all", "12 all", "11 batch" }, s.lines(
			"for job in cluster:queue() do slurm.log_info('%d %s', job.id, job.partition) end", c))
	end)

	it("is the same value wherever it comes from", function()
		assert.same({ "true", "1" }, s.lines([[
			local seen, n = {}, 0
			for job in cluster:queue() do if job.id == 12 then seen[job] = true end end
			for job in cluster:queue() do if seen[job] then n = n + 1 end end
			slurm.log_info("%s", cluster:job(11) == cluster:job(11))
			slurm.log_info("%d", n)]], c))
	end)

	it("lists all its fields to pairs", function()
		assert.equal("true", s.value("(function() local n = {} for k, v in pairs(cluster:job(11)) do n[k] = v end " ..
			"return n.id == 11 and n.user == 'bob' and n.exclusive == true and n.cpus == 8 end)()", c))
	end)

	it("raises for a field that it has not", function()
		assert.matches("a job has no field 'timelimit'; did you mean 'time_limit'%?",
			s.refusal("for job in cluster:queue() do local x = job.timelimit end"))
		assert.matches("a job has no field of type table", s.refusal("for job in cluster:queue() do local x = job[{}] end"))
	end)

	it("is its number as text", function()
		assert.equal("job 11", of(11, "tostring(job)"))
	end)
end)

describe("a node", function()
	local function node(name, expression)
		return s.value("(function() local node = cluster:node('" .. name .. "') return " .. expression .. " end)()", c)
	end

	it("has the fields of the snapshot", function()
		assert.equal("n1 8 65536", node("n1", "('%s %d %d'):format(node.name, node.cores, node.memory)"))
		assert.equal("fat true false", node("big", "('%s %s %s'):format(node.features, node.drain, node.down)"))
	end)

	it("tells what is free on it now", function()
		assert.equal("5 64512 1", node("n1", "('%d %d %d'):format(node.free_cores, node.free_memory, node.free_gres.gpu)"))
		assert.equal("8 true", node("n2", "('%d %s'):format(node.free_cores, node.idle)"))
		assert.equal("false false", node("n1", "('%s %s'):format(node.idle, cluster:node('big').usable)"))
	end)

	it("tells what the plan so far leaves free", function()
		assert.same({ "8", "7" }, s.lines([[
			local node = cluster:node("n2")
			slurm.log_info("%d", node.free_cores)
			for job in cluster:queue() do plan:start(job) end
			slurm.log_info("%d", node.free_cores)]], t.cluster { nodes = "2x8c",
				pending = { { req_nodes = "n2" } } }))
	end)

	it("is found by name and by number", function()
		assert.equal("n2 n2 2 3", s.value("('%s %s %d %d'):format(cluster.nodes[2].name, cluster.nodes.n2.name, " ..
			"cluster.nodes[2].index, #cluster.nodes)", c))
		assert.equal("nil", s.value("cluster.nodes[4]", c))
		assert.equal("nil", s.value("cluster:node('n9')", c))
		assert.same({ "n1", "n2", "big" }, s.lines("for _, n in ipairs(cluster.nodes) do slurm.log_info(n.name) end", c))
		assert.same({ "1 all", "2 batch" }, s.lines("for i, p in pairs(cluster.partitions) do slurm.log_info('%d %s', i, p.name) end", c))
	end)
end)

describe("the cluster", function()
	it("has time, name, totals, partitions, licences, reservations and what runs", function()
		assert.equal("1700000000", s.value("cluster.now", c))
		assert.equal("3 2 1 16 13 3 1", s.value("(function() local x = cluster.totals return ('%d %d %d %d %d %d %d'):format(" ..
			"x.nodes, x.usable_nodes, x.idle_nodes, x.cores, x.free_cores, x.queued, x.running) end)()", c))
		assert.equal("3", s.value("cluster.totals.free_gres.gpu", c))
		assert.equal("5 3 2", s.value("('%d %d %d'):format(cluster.partitions.all.priority_tier, " ..
			"cluster.partitions.all.total_nodes, cluster.partitions.all.usable_nodes)", c))
		assert.equal("n1 n2", s.value("table.concat(cluster:partition('batch').nodes, ' ')", c))
		assert.equal("604800", s.value("cluster:partition('batch').max_time", c))
		assert.equal("matlab 3", s.value("('%s %d'):format(cluster.licenses[1].name, cluster.licenses[1].total)", c))
		assert.equal("maint big MAINT", s.value("('%s %s %s'):format(cluster.reservations[1].name, " ..
			"cluster.reservations[1].nodes[1], cluster.reservations[1].flags[1])", c))
		assert.equal("1 10 carol", s.value("('%d %d %s'):format(#cluster.running, cluster.running[1].id, cluster.running[1].user)", c))
	end)

	it("has no totals but those that there are", function()
		assert.matches("cluster.totals has no field 'free_gpus'", s.refusal("return cluster.totals.free_gpus"))
		assert.matches("cluster.supply has no field 'gpus'", s.refusal("return cluster.supply.gpus"))
		assert.equal("nil", s.value("cluster.totals.free_gres.fpga", c))
	end)

	it("shows a window of the queue", function()
		assert.same({ "11", "12" }, s.lines("for job in cluster:queue(2) do slurm.log_info('%d', job.id) end", c))
		assert.same({}, s.lines("for job in cluster:queue(0) do slurm.log_info('%d', job.id) end", c))
		assert.matches("is not negative", s.refusal("cluster:queue(-1)"))
	end)

	it("shows those that were eligible by a certain time", function()
		local now = s.small.now
		local d = t.cluster { nodes = "1x4c", now = now, pending = { { id = 1, submitted_ago = 60 },
			{ id = 2, submitted_ago = 61 }, { id = 3, submitted_ago = 90, eligible_time = now - 10 }, { id = 4 } } }
		local list = "for job in cluster:queue(%s, cluster.now - %d) do slurm.log_info('%%d', job.id) end"
		assert.same({ "1", "2" }, s.lines(list:format("nil", 60), d))
		assert.same({ "2" }, s.lines(list:format("5", 61), d))
		assert.same({ "1" }, s.lines(list:format("1", 60), d))
	end)

	it("adds up what the usable nodes of its partitions have", function()
		local d = t.cluster { pending = { { id = 1, partition = "a,b" }, { id = 2, partition = "gpu" } },
			nodes = { { count = 2, cores = 8, threads = 2, memory = 1000 }, { count = 1, cores = 8, state = { "DOWN" } },
				{ count = 3, cores = 4, gres = "gpu:a100:2", memory = 500 }, { count = 1, cores = 4, gres = "gpu:v100:1" } },
			partitions = { a = { nodes = "n[1-3]" }, b = { nodes = "n[2-3]" }, gpu = { nodes = "n[4-7]" } } }
		assert.same({ "2 16 32 2000 0 0", "4 16 16 1500 7 4" }, s.lines([[
			local x = cluster.supply
			slurm.log_info("%d %d %d %d %d %d", x.nodes, x.cores, x.cpus, x.memory, x.gres.gpu, x.gres_nodes.gpu)]], d))
	end)

	it("leaves out what was started, and shows an array as long as tasks of it start", function()
		local d = t.cluster { nodes = "1x4c", pending = { { id = 1, array = 3 }, { id = 2 }, { id = 3 } } }
		assert.same({ "1", "1", "1", "2", "3", "3" }, s.lines([[
			for job in cluster:queue() do slurm.log_info("%d", job.id) plan:start(job) end
			for job in cluster:queue() do slurm.log_info("%d", job.id) end]], d))
		-- with a throttle of one task
		d = t.cluster { nodes = "1x4c", pending = { { id = 1, array = "3%1" }, { id = 2 } } }
		local plan = t.decide(s.policy("for job in cluster:queue() do plan:start(job) end"), d)
		assert.same({ 1, 2 }, plan:started())
		assert.equal("array_limit", (plan:pending(1)))
	end)
end)
