-- SPDX-License-Identifier: MIT
--
-- mip.lua - the integer program of ip_window: its size, its time, and how far from the proven
-- bound the choice is, with the paper's literal program beside it.
--
--   bench/mip [--quick 1] [--only CASE] [--seed N] [--seeds N] [--solves N]
--
-- Nodes of 8 cores and 2 GPUs, on each of which 0 to 7 cores and 0 to 2 GPUs are taken; half of the
-- jobs want cores only, the others GPUs on each of their nodes.  They want some three times what is
-- free.  CPU seconds, since the machine may have other work: "solver" is the solver's processes,
-- "cycle" the engine's, with everything from the snapshot to the checked plan.
--
-- --seeds N: so many random machines and queues of each size, without the literal program: least,
-- median and most of each figure.
--
-- --solves N: that many solves of a small program one after the other, for memory and processes
-- that are left over.

local t = require "sched.test"

local opt = { quick = 0, only = 0, seed = 1, seeds = 0, solves = 0 }
for i = 1, #arg, 2 do
	local name = arg[i]:match("^%-%-(%a+)$")
	if not name or not opt[name] or not tonumber(arg[i + 1]) then
		io.stderr:write("usage: bench/mip [--quick 1] [--only CASE] [--seed N] [--seeds N] [--solves N]\n")
		os.exit(2)
	end
	opt[name] = math.tointeger(tonumber(arg[i + 1]))
end

math.randomseed(opt.seed)

-- Nodes with the same taken from them are one running job.
local function cluster(jobs, nodes)
	local taken, running, pending, free = {}, {}, {}, 0
	for i = 1, nodes do
		local cores, gpus = math.random(0, 7), math.random(0, 2)
		free = free + 8 - cores
		if cores > 0 then
			local key = cores * 10 + gpus
			taken[key] = taken[key] or {}
			table.insert(taken[key], "n" .. i)
		end
	end
	for key, list in pairs(taken) do
		running[#running + 1] = { id = key, nodes = list, cores = key // 10, ends_in = "1h",
			gres = key % 10 > 0 and "gpu:" .. key % 10 or nil }
	end
	local most = math.max(2, 6 * free // jobs)
	for id = 1, jobs do
		pending[id] = { id = 1000 + id, tasks = math.random(1, most), priority = math.random(1, 1000),
			gpus_per_node = id % 2 == 0 and math.random(1, 2) or nil, time_limit = "1h" }
	end
	return t.cluster { nodes = nodes .. "x8c2g", running = running, pending = pending }
end

local policy = [[
local ip, window = require "sched.ip", require "sched.window"
local M = { api = 1, name = "bench" }
M.options = { literal = { default = false } }
function M.decide(cluster, plan, opt)
	local jobs, value = {}, {}
	for job in cluster:queue() do
		jobs[#jobs + 1] = job
		value[#jobs] = job.priority
	end
	local w = window.open(cluster, jobs)
	if opt.literal then
		local p = ip.literal(w, value, ip.offers(w))
		local columns, rows = p.model:size()
		local r = p.model:solve { time_limit = 10, gap = 0.005, memory_mb = 3000 }
		print(("%d %d %.3f %s %s"):format(columns, rows, r.seconds, r.status, tostring(r.objective)))
		return
	end
	local found = ip.choose(w, value, { time_limit = 5, gap = 0.005, max_nodes = 200 })
	local started = w:start(found.choice, plan)
	print(("%d %d %.3f %s %.9g %.9g %.6f %d %d %d"):format(
		found.columns or 0, found.rows or 0, found.seconds, found.status,
		found.choice.value, found.bound or 0, found.gap or 0, #w.classes, #found.choice.jobs, started))
end
return M
]]

local function run(c, literal)
	local before = os.clock()
	local asked = { source = policy, options = literal and "literal=true" or nil }
	local plan = t.decide(asked, c, { budget = 600, memory = 8192 })
	local log = plan:log()
	return os.clock() - before, log[#log]:match("info: (.*)")
end

local function resident()
	return tonumber(io.open("/proc/self/statm"):read("a"):match("%d+ (%d+)"))
end

-- Children that ended and that nobody asked about.
local function zombies()
	local pid = io.open("/proc/self/stat"):read("n")
	return io.popen("ps --no-headers --ppid " .. pid .. " -o stat | grep -c Z"):read("l")
end

-- -- many solves --------------------------------------------------------------

if opt.solves > 0 then
	local many = [[
local mip = require "sched.mip"
local M = { api = 1, name = "many" }
M.options = { n = { default = 1 } }
function M.decide(cluster, _, opt)
	for i = 1, cluster.name == "probe" and 1 or opt.n do
		local m = mip.model { sense = "max" }
		local terms = {}
		for k = 1, 10 do
			local x = m:var { ub = 1, integer = true, obj = (i * k) % 17 }
			terms[2 * k - 1], terms[2 * k] = x, (i + k) % 7 + 1
		end
		m:add { terms = terms, hi = 17 }
		local r = m:solve { time_limit = 60, backend = i % 2 == 0 and "cbc" or "coinmp" }
		if r.status ~= "optimal" then error(r.status .. " " .. r.message) end
	end
end
return M
]]
	local c = t.cluster { nodes = "1x1c" }
	local done, first = 0, nil
	while done < opt.solves do
		local n = math.min(500, opt.solves - done)
		t.decide({ source = many, options = "n=" .. n }, c, { budget = 3600 })
		done = done + n
		collectgarbage()
		first = first or resident()
		io.stderr:write(("%d solves, %.1f MiB resident, %s zombies\n"):format(done, resident() / 256, zombies()))
	end
	print(('{"solves": %d, "resident_pages_after_500": %d, "resident_pages": %d}'):format(done, first, resident()))
	os.exit(0)
end

-- -- the sizes ------------------------------------------------------------------

local cases = { { 20, 128, true }, { 50, 256, true }, { 100, 1024, true }, { 200, 1024, true }, { 500, 10000 },
	{ 1000, 100000 } }
cases = opt.only > 0 and { cases[opt.only] } or opt.quick > 0 and table.move(cases, 1, 4, 1, {}) or cases

-- -- many of each ------------------------------------------------------------------

local function spread(list)
	table.sort(list)
	return list[1], list[(#list + 1) // 2], list[#list]
end

if opt.seeds > 0 then
	io.stderr:write("jobs x nodes    solver s: least, median, most  cycle s                 gap to the bound, %\n")
	for _, case in ipairs(cases) do
		local solvers, cycles, gaps = {}, {}, {}
		for seed = opt.seed, opt.seed + opt.seeds - 1 do
			math.randomseed(seed)
			local cycle, text = run(cluster(case[1], case[2]))
			local _, _, solver, _, _, _, gap = text:match(("(%S+) "):rep(7))
			cycles[#cycles + 1], solvers[#solvers + 1], gaps[#gaps + 1] = cycle, tonumber(solver), 100 * gap
		end
		local all = ""
		for name, list in pairs { solver_s = solvers, cycle_s = cycles, gap_percent = gaps } do
			all = all .. (', "%s": {"least": %.4f, "median": %.4f, "most": %.4f}'):format(name, spread(list))
		end
		print(('{"jobs": %d, "nodes": %d, "seeds": %d%s}'):format(case[1], case[2], opt.seeds, all))
		local s, c, g = { spread(solvers) }, { spread(cycles) }, { spread(gaps) }
		io.stderr:write(("%4d x %-7d  %7.3f %7.3f %7.3f        %7.3f %7.3f %7.3f  %7.4f %7.4f %7.4f\n"):format(
			case[1], case[2], s[1], s[2], s[3], c[1], c[2], c[3], g[1], g[2], g[3]))
	end
	os.exit(0)
end

-- -- one program after the other -------------------------------------------------

io.stderr:write("jobs x nodes    rows x columns    solver s  cycle s  gap to the bound  status     ",
	"literal: rows x columns, s, status\n")
for _, case in ipairs(cases) do
	local c = cluster(case[1], case[2])
	local cycle, text = run(c)
	local columns, rows, solver, status, value, bound, gap, classes, chosen, started =
		text:match(("(%S+) "):rep(9) .. "(%S+)")
	local literal, literal_json = "", ""
	if case[3] then
		local _, l = run(c, true)
		local lc, lr, ls, lstatus = l:match("(%S+) (%S+) (%S+) (%S+)")
		literal = ("%d x %d, %.2f, %s"):format(lr, lc, ls, lstatus)
		literal_json = (', "literal": {"rows": %d, "columns": %d, "solver_s": %.3f, "status": "%s"}'):format(
			lr, lc, ls, lstatus)
	end
	print(('{"jobs": %d, "nodes": %d, "classes": %d, "rows": %d, "columns": %d, "solver_s": %.3f, "cycle_s": %.3f, '
		.. '"value": %.9g, "bound": %.9g, "gap": %.6f, "status": "%s", "chosen": %d, "started": %d%s}'):format(
		case[1], case[2], classes, rows, columns, solver, cycle, value, bound, gap, status, chosen, started,
		literal_json))
	io.stderr:write(("%4d x %-7d  %6d x %-8d  %8.3f  %7.3f  %14.4f %%  %-9s  %s\n"):format(
		case[1], case[2], rows, columns, solver, cycle, gap * 100, status, literal))
end
