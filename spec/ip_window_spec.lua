-- SPDX-License-Identifier: MIT
local s = require "spec.support"
local t = require "sched.test"

local solvers = #s.lines("for _, name in ipairs(require('sched.mip').backends()) do print(name) end") > 0

local function started(c, options)
	local ids = t.decide("ip_window" .. (options and "," .. options or ""), c):started()
	table.sort(ids)
	return ids
end

-- Table 1 of the paper: J1 wants half of all cores, J2 and J3 the GPUs of half of the nodes each.
local function table_1(nodes)
	return t.cluster { nodes = nodes .. "x8c2g", pending = {
		{ id = 1, tasks = nodes * 4, time_limit = 1000 },
		{ id = 2, nodes = nodes // 2, tasks = nodes * 2, gpus_per_node = 2, time_limit = 1000 },
		{ id = 3, nodes = nodes // 2, tasks = nodes * 2, gpus_per_node = 2, time_limit = 1000 } } }
end

describe("ip_window", function()
	it("starts as an alternative what the program leaves, and still fits then", function()
		local c = t.cluster { nodes = "2x8c2g", pending = {
			{ id = 1, nodes = 2, gres = "gpu:2", tasks_per_node = 1, priority = 9 },
			{ id = 2, nodes = 1, gres = "gpu:2", priority = 5, comment = "sched: -N1 --gpus-per-node=1 | -n8" } } }
		local plan = t.decide("ip_window", c)
		assert.same({ 1, 2 }, plan:started())
		assert.equal(2, plan:start(2).shape)
		assert.same({ 1 }, t.decide("ip_window,shapes=false", c):started())
	end)

	it("starts all three jobs of the paper's Table 1, J1 on the cores that the others leave", function()
		for _, nodes in ipairs { 4, 128, 1024 } do
			local plan = t.decide("ip_window", table_1(nodes))
			local cores = 0
			assert.equal(3, #plan:started())
			for _, of in pairs(plan:layout(1)) do
				cores = cores + of
			end
			assert.equal(nodes * 4, cores)
		end
	end)

	it("does so without a solver and with the literal program, where easy starts two", function()
		assert.same({ 1, 2, 3 }, started(table_1(8), "backend=none"))
		if solvers then
			assert.same({ 1, 2, 3 }, started(table_1(4), "formulation=literal,time_limit=60"))
		end
		local easy = t.decide("easy", table_1(8)):started()
		assert.equal(2, #easy)
	end)

	it("chooses the jobs that are worth most together", function()
		-- 8 cores: 5 + 3 of priority 10 + 6 against 7 alone of priority 15
		local c = t.cluster { nodes = "1x8c", pending = {
			{ id = 1, tasks = 7, priority = 15 }, { id = 2, tasks = 5, priority = 10 }, { id = 3, tasks = 3, priority = 6 } } }
		if solvers then
			assert.same({ 2, 3 }, started(c))
		end
		-- weighted by cores: 105 against 50 + 18
		assert.same({ 1 }, started(c, "objective=cores"))
	end)

	it("takes what a site's own function says", function()
		local site = [[return require("sched").site { default = { "ip_window", value = function(job, cluster)
			return job.id == 3 and 100 or job.id == 2 and 0 or 1
		end } }]]
		local c = t.cluster { nodes = "1x8c", pending = {
			{ id = 1, tasks = 4 }, { id = 2, tasks = 3 }, { id = 3, tasks = 8 }, { id = 4, tasks = 1 } } }
		local plan = t.decide({ site = "site.lua", texts = { ["site.lua"] = site } }, c)
		assert.same({ 3 }, plan:started())
		local wrong = site:gsub("return job.id.-1\n", "return 'x'\n")
		local ok, why = pcall(t.decide, { site = "site.lua", texts = { ["site.lua"] = wrong } }, c)
		assert.is_false(ok)
		assert.matches("value: expected a number for job", why)
		wrong = 'return require("sched").site { default = { "ip_window", value = 1 } }'
		local _, refused = t.check({ site = "site.lua", texts = { ["site.lua"] = wrong } })
		assert.matches("option 'value' of policy 'ip_window': 1 is no function", refused)
	end)

	it("basic: the first of equal jobs goes first; multifactor: waiting and size count", function()
		local c = t.cluster { nodes = "1x4c", pending = {
			{ id = 1, tasks = 4, submitted_ago = "1h" }, { id = 2, tasks = 4, submitted_ago = "2h" } } }
		assert.same({ 1 }, started(c, "priority=basic,gap=0"))
		assert.same({ 2 }, started(c, "priority=multifactor"))
		-- two minutes are less than a quarter of the machine, two weeks are not
		for waited, expected in pairs { ["2m"] = 2, ["14d"] = 1 } do
			c = t.cluster { nodes = "1x4c", pending = {
				{ id = 1, tasks = 3, submitted_ago = waited }, { id = 2, tasks = 4, submitted_ago = 0 } } }
			assert.same({ expected }, started(c, "priority=multifactor"))
		end
	end)

	it("keeps a job on few nodes where that costs nothing else", function()
		local c = t.cluster { nodes = "4x8c", running = { { id = 9, nodes = { "n1", "n2" }, cores = 4, ends_in = "1h" } },
			pending = { { id = 1, tasks = 8 }, { id = 2, tasks = 4 } } }
		local plan = t.decide("ip_window", c)
		assert.equal(1, #plan:start(1).nodes)
		assert.equal(1, #plan:start(2).nodes)
	end)

	it("respects a limit of nodes", function()
		-- 6 cores on exactly 3 nodes; 14 on 2 at most: one free node and one of the three
		local c = t.cluster { nodes = "4x8c", pending = {
			{ id = 1, nodes = 3, tasks = 6 }, { id = 2, nodes = 1, max_nodes = 2, tasks = 14 }, { id = 3, tasks = 4 } } }
		local plan = t.decide("ip_window", c)
		assert.equal(3, #plan:started())
		assert.equal(3, #plan:start(1).nodes)
		assert.equal(2, #plan:start(2).nodes)
	end)

	it("takes nodes whose memory is not known to have enough", function()
		local c = t.cluster { nodes = { { count = 2, cores = 8, memory = 1000 }, { cores = 8 } }, pending = {
			{ id = 1, tasks = 8, memory = 900 }, { id = 2, tasks = 8, memory = 900 }, { id = 3, tasks = 8, memory = 5000 },
			{ id = 4, tasks = 8, memory = 1100 } } }
		assert.equal(3, #t.decide("ip_window", c):started())
	end)

	it("leaves room for a reservation of the guard", function()
		-- job 1 waits for both nodes, which are free in an hour; only what ends before may start
		local c = t.cluster { nodes = "2x4c", running = { { id = 9, nodes = 1, exclusive = true, ends_in = "1h" } },
			pending = { { id = 1, nodes = 2, exclusive = true, submitted_ago = "20h", priority = 1 },
				{ id = 2, tasks = 4, time_limit = "2h", priority = 90 },
				{ id = 3, tasks = 4, time_limit = "1h", priority = 8 } } }
		local plan = t.decide("ip_window", c)
		assert.same({ 3 }, plan:started())
		assert.equal(3600, plan:reservation(1).in_s)
		assert.same({ 2 }, started(c, "guard_wait=0"))
	end)

	it("starts a job that the program cannot express", function()
		local c = t.cluster { nodes = "4x8c1g", pending = {
			{ id = 1, nodes = 2, contiguous = true }, { id = 2, nodes = 1, exclusive = true }, { id = 3, gpus = 1, tasks = 2 } } }
		assert.same({ 1, 2, 3 }, started(c))
	end)

	it("starts the tasks of an array as long as there is room", function()
		local c = t.cluster { nodes = "2x4c", pending = { { id = 1, tasks = 2, array = "10" } } }
		assert.equal(4, #t.decide("ip_window", c):started())
	end)

	it("takes half of the window when time is up, in the coming cycles, too, and all of it again when it is not", function()
		if not solvers then
			return
		end
		-- a millionth of a second is never enough to prove that four and not 4.4 jobs fit
		local hasty = "ip_window,max_jobs=16,on_timeout=halve,time_limit=0.000001"
		local function cycle(jobs, remembered)
			local pending = {}
			for id = 1, jobs do
				pending[id] = { id = id, tasks = 5, priority = 100 - id }
			end
			local plan = t.decide(hasty, t.cluster { nodes = "2x11c", pending = pending, remembered = remembered })
			local window = plan:remembered().main
			return plan, window and window["ip_window.jobs"], plan:log()[1]:match("of %d+ jobs")
		end
		local plan, window, looked = cycle(16)
		assert.equal(4, window)
		assert.equal(4, #plan:started())
		assert.equal("of 4 jobs", looked)
		plan, window, looked = cycle(16, plan:remembered())	-- begins with four, which go well
		assert.equal(8, window)
		assert.equal("of 4 jobs", looked)
		plan, window = cycle(16, plan:remembered())
		assert.equal(4, window)
		plan, window = cycle(2, plan:remembered())
		assert.equal(8, window)
		plan, window = cycle(2, plan:remembered())
		assert.is_nil(window)
		assert.same({}, plan:remembered())
	end)

	it("lets only those compete that the window has left", function()
		local c = { nodes = "1x8c", pending = {
			{ id = 1, tasks = 7, priority = 15 }, { id = 2, tasks = 5, priority = 10 }, { id = 3, tasks = 3, priority = 6 } } }
		if solvers then
			assert.same({ 2, 3 }, started(t.cluster(c), "on_timeout=halve,time_limit=60"))
			c.remembered = { main = { ["ip_window.jobs"] = 1 } }
			assert.same({ 1 }, started(t.cluster(c), "on_timeout=halve,time_limit=60"))
			assert.same({ 2, 3 }, started(t.cluster(c), "time_limit=60"))	-- incumbent: all of it
		end
	end)

	it("starts the greedy choice when the solver fails", function()
		-- no room for a solver; no time for it
		local c = table_1(64)
		assert.same({ 1, 2, 3 }, started(c, "memory_mb=64"))
		assert.same({ 1, 2, 3 }, started(c, "time_limit=0.01"))
		assert.same({ 1, 2, 3 }, started(c, "time_limit=0.01,on_timeout=halve"))
	end)
end)

-- -- the program ------------------------------------------------------------------

-- Random small instances: three nodes of 4 cores and 2 GPUs, some of it taken; four jobs.
local function instance(seed)
	local state = seed * 2654435761 % 4294967296
	local function below(n)
		state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
		return (state >> 33) % n
	end
	local nodes, running, jobs = {}, {}, {}
	for i = 1, 3 do
		local cores, gpus = below(4), below(2)
		nodes[i] = { cores = 4 - cores, gpus = cores > 0 and 2 - gpus or 2 }
		if cores > 0 then
			running[#running + 1] = { id = 100 + i, nodes = { "n" .. i }, cores = cores, ends_in = "1h",
				gres = gpus > 0 and "gpu:" .. gpus or nil }
		end
	end
	for id = 1, 4 do
		local kind, job = below(4), { id = id, priority = 1 + below(20) }
		if kind == 0 then		-- cores only
			job.tasks = 1 + below(8)
		elseif kind == 1 then		-- GPUs on any number of nodes
			job.gpus_per_node, job.tasks = 1 + below(2), 1 + below(6)
		else				-- on exactly so many
			job.nodes, job.gpus_per_node = 1 + below(3), kind == 2 and 1 + below(2) or nil
			job.max_nodes = job.nodes
			job.tasks = job.nodes + below(6)
		end
		jobs[id] = job
	end
	return nodes, jobs, t.cluster { nodes = "3x4c2g", running = running, pending = jobs }
end

-- Can these jobs, with these sets of nodes (bits), have their cores?  Each at least one on each
-- of its nodes; the rest by Hall's theorem.
local function cores_suffice(nodes, jobs, sets)
	local left, rest = {}, {}
	for i = 1, 3 do
		left[i] = nodes[i].cores
	end
	for j, set in pairs(sets) do
		rest[j] = jobs[j].tasks
		for i = 1, 3 do
			if set >> i & 1 == 1 then
				left[i], rest[j] = left[i] - 1, rest[j] - 1
			end
		end
		if rest[j] < 0 then
			return false
		end
	end
	for some = 1, 15 do
		local need, union, room = 0, 0, 0
		for j, set in pairs(sets) do
			if some >> (j - 1) & 1 == 1 then
				need, union = need + rest[j], union | set
			end
		end
		for i = 1, 3 do
			if left[i] < 0 then
				return false
			end
			room = room + (union >> i & 1) * left[i]
		end
		if need > room then
			return false
		end
	end
	return true
end

local function gpus_suffice(nodes, jobs, sets)
	for i = 1, 3 do
		local gpus = 0
		for j, set in pairs(sets) do
			gpus = gpus + (set >> i & 1) * (jobs[j].gpus_per_node or 0)
		end
		if gpus > nodes[i].gpus then
			return false
		end
	end
	return true
end

-- The largest sum of priorities: every job on every set of nodes, or not at all.
local function brute_force(nodes, jobs)
	local best = 0
	local function try(j, sets, value)
		if not gpus_suffice(nodes, jobs, sets) then
			return
		elseif j > 4 then
			if value > best and cores_suffice(nodes, jobs, sets) then
				best = value
			end
			return
		end
		try(j + 1, sets, value)
		for set = 2, 14, 2 do
			local count = (set >> 1 & 1) + (set >> 2 & 1) + (set >> 3 & 1)
			if not jobs[j].nodes or count == jobs[j].nodes then
				sets[j] = set
				try(j + 1, sets, value + jobs[j].priority)
				sets[j] = nil
			end
		end
	end
	try(1, {}, 0)
	return best
end

-- A policy that opens a window on the whole queue, and does this with it: w, value, plan.
local function on_a_window(body)
	return [[
local ip, window = require "sched.ip", require "sched.window"
local M = { api = 1, name = "on_a_window" }
function M.decide(cluster, plan)
	local jobs, value = {}, {}
	for job in cluster:queue() do
		jobs[#jobs + 1] = job
		value[#jobs] = job.priority
	end
	local w = window.open(cluster, jobs)
	]] .. body .. [[
end
return M
]]
end

local both = on_a_window [[
	local found = ip.choose(w, value, { time_limit = 60, gap = 0, packing = false, cuts = 15 })
	local r = ip.literal(w, value, ip.offers(w), { packing = false }).model
	local columns = r:size()
	r = columns > 0 and r:solve { time_limit = 60 } or { objective = 0 }
	local started = w:start(found.choice, plan)
	print(("%.9g %.9g %d %d"):format(found.choice.value, r.objective, started, #found.choice.jobs))
]]

local count_solves = on_a_window [[
	local found = ip.choose(w, value, { time_limit = 60, gap = 0 })
	w:start(found.choice, plan)
	print(found.solves)
]]

describe("the integer program", function()
	it("is solved once, and its relaxation, where its solution can be laid out", function()
		-- 5 + 3 cores are worth most; job 1, which then has no room, was not chosen and need not be laid out
		local plan = t.decide({ source = count_solves }, t.cluster { nodes = "1x8c", pending = {
			{ id = 1, tasks = 7, priority = 15 }, { id = 2, tasks = 5, priority = 10 }, { id = 3, tasks = 3, priority = 6 } } })
		if solvers then
			assert.same({ 2, 3 }, plan:started())
			assert.equal("info: 2", plan:log()[1])
		end
	end)

	it("literal, aggregated and laid out, finds what trying everything finds", function()
		local first = tonumber(os.getenv "SL_SEED") or 1
		local rounds = 200 * (tonumber(os.getenv "SL_ROUNDS") or 1)
		for seed = first, solvers and first + rounds - 1 or 0 do
			local nodes, jobs, c = instance(seed)
			local best = brute_force(nodes, jobs)
			local plan = t.decide({ source = both }, c)
			local aggregated, literal, begun, chosen = plan:log()[1]:match("info: (%S+) (%S+) (%d+) (%d+)")
			assert.equal(best, tonumber(literal), "literal, SL_SEED=" .. seed)
			assert.equal(best, tonumber(aggregated), "aggregated, SL_SEED=" .. seed)
			assert.equal(chosen, begun, "laid out, SL_SEED=" .. seed)
		end
	end)
end)
