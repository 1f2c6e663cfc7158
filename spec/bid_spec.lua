-- SPDX-License-Identifier: MIT
-- Nodesets and bids: figures 1, 3 and 4 of the AUCSCHED paper, and what bids respect.

local t = require "sched.test"

-- Run code of a policy on a cluster; what it prints is what it saw.
local function look(cluster, code, options)
	local plan = t.decide({ source = "local M = { api = 1 }\n"
		.. "function M.decide(cluster, plan)\n" .. code .. "\nend\nreturn M\n" }, cluster, options)
	local lines = {}
	for i, line in ipairs(plan:log()) do
		lines[i] = line:gsub("^info: ", "")
	end
	return lines, plan
end

-- Nodes of 8 cores and 2 GPUs of which "4/1" is free.
local function figure(free)
	local running, n = {}, 0
	for cores, gpus in free:gmatch("(%d)/(%d)") do
		n = n + 1
		if cores ~= "8" or gpus ~= "2" then
			running[#running + 1] = { id = n, nodes = "n" .. n, cores = 8 - cores,
				gres = gpus ~= "2" and "gpu:" .. (2 - gpus) or nil, ends_in = "1h" }
		end
	end
	return running, n
end

describe("nodesets", function()
	it("are those of figure 1 of the paper", function()
		local running = figure("4/1 8/2 2/2 4/0 0/0 4/2 1/2 2/1 2/1 2/0 0/0 4/1")
		local c = t.cluster { nodes = "12x8c2g", running = running }
		assert.same({
			"(1, 4, 18, 0)", "(6, 10, 11, 0)", "(12, 12, 4, 0)",
			"(1, 3, 14, 1)", "(6, 9, 9, 1)", "(12, 12, 4, 1)",
			"(2, 3, 10, 2)", "(6, 7, 5, 2)",
		}, (look(c, [[
			for _, s in ipairs(cluster:nodesets()) do
				print(("(%d, %d, %d, %d)"):format(s.first, s.last, s.cores, s.gpus))
			end]])))
		assert.same({ "2-3", "6-7" }, (look(c, [[
			for _, s in ipairs(cluster:nodesets { gpus = 2 }) do
				print(("%d-%d"):format(s.first, s.last))
			end]])))
	end)
end)

-- A busy machine, and jobs of all kinds.
local function random_cluster(seed)
	local state = seed * 7919
	local function random(n)
		state = (state * 1103515245 + 12345) % 2147483648
		return state // 65536 % n + 1
	end
	local spec = { seed = seed, nodes = { "20x8c2g32G", "10x4c64G", "6x16c4g16G" }, running = {}, pending = {} }
	for id = 1, 12 do
		local n = 3 * id - random(3) + 1
		spec.running[id] = { id = id, nodes = "n" .. n, cores = random(4), memory = 2048,
			gres = n <= 20 and random(3) == 1 and "gpu:1" or nil, ends_in = random(5) .. "h" }
	end
	for id = 101, 130 do
		local nodes, kind = random(10), random(5)
		spec.pending[id - 100] = { id = id, time_limit = random(6) .. "h",
			nodes = kind ~= 1 and nodes or nil, tasks = kind <= 2 and nodes * random(8) or nil,
			tasks_per_node = kind > 2 and random(8) or nil, gres = random(3) == 1 and "gpu:" .. random(2) or nil,
			memory = random(3) == 1 and 1024 * random(20) or 1024, contiguous = random(4) == 1 or nil,
			exclusive = random(6) == 1 or nil, req_nodes = random(8) == 1 and "n" .. random(36) or nil }
	end
	return spec
end

local show = [[
	local function show(bids)
		for _, b in ipairs(bids) do
			print(("%d %s %d-%d %dn %dc %.4f"):format(b.job.id, b.kind, b.first, b.last, b.count, b.cores,
				b.preference))
		end
	end
	local jobs = {}
	for job in cluster:queue() do jobs[#jobs + 1] = job end
]]

describe("bids", function()
	it("of kind A lie at the ends of a nodeset, of kind B inside, of kind C over several", function()
		local c = t.cluster { nodes = "12x8c2g",
			running = { { id = 1, nodes = "n7", exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, tasks = 16, time_limit = "1h" },
				{ id = 3, nodes = 8, tasks_per_node = 4, gres = "gpu:1", time_limit = "1h" } } }
		-- nodesets 1-6 and 8-12, for 0, 1 and 2 GPUs: |S| = 6; |N| = 12
		assert.same({
			"2 A 8-9 2n 16c 0.9615", "2 A 11-12 2n 16c 0.9615", "2 A 1-2 2n 16c 0.9615",
			"2 B 3-4 2n 16c 0.7115",
			"2 A 5-6 2n 16c 0.9615",
			"3 C 1-9 8n 32c 0.3571", "3 C 4-12 8n 32c 0.3571",
		}, (look(c, show .. "show(cluster:bids(jobs))")))
	end)

	it("can each be booked, and those together that the rows allow", function()
		for seed = 1, 40 do
			local c = t.cluster(random_cluster(seed))
			local lines, plan = look(c, show .. [=[
				-- something in the future to respect
				for i = 1, 3 do
					if jobs[i] then plan:reserve(jobs[i]) end
				end
				local rest = table.move(jobs, 4, #jobs, 1, {})
				local bids = cluster:bids(rest, { slurm = true, max = cluster:random(1, 9),
					contiguous = cluster:random(4) == 1 })
				for _, b in ipairs(bids) do
					local ok, why = plan:start(b.job, { bid = b })
					if not ok then error(("%s of job %d: %s"):format(b.kind, b.job.id, why)) end
					plan:undo(b.job)
				end
				local rows = cluster:overlaps(bids)
				local of = {}
				for r, row in ipairs(rows) do
					for i = 1, #row.terms, 2 do
						local list = of[row.terms[i]] or {}
						of[row.terms[i]] = list
						list[#list + 1] = { row = row, amount = row.terms[i + 1] }
					end
				end
				-- take bids in random order as long as rows and plan agree
				local used, order, taken = {}, {}, {}
				for i = 1, #bids do order[i] = { i, cluster:random() } end
				table.sort(order, function(a, b) return a[2] < b[2] end)
				for _, o in ipairs(order) do
					local b, fits = bids[o[1]], true
					for _, use in ipairs(of[o[1]] or {}) do
						fits = fits and (used[use.row] or 0) + use.amount <= use.row.hi
					end
					local ok, why = not taken[b.job] and plan:start(b.job, { bid = b })
					fits = fits and not taken[b.job]
					if (ok and true or false) ~= fits then
						error(("%s of job %d: rows say %s, plan %s"):format(b.kind, b.job.id, fits, why or ok))
					end
					if ok then
						taken[b.job] = true
						for _, use in ipairs(of[o[1]] or {}) do
							used[use.row] = (used[use.row] or 0) + use.amount
						end
					end
				end
				print(#bids, #rows, #plan.started)
			]=])
			assert.is_truthy(lines[1], "seed " .. seed)
			assert.same({}, plan:errors())
		end
	end)
end)

-- 144 nodes of which 65 to 80 are taken; the jobs of figure 3.
local function figure_3(more)
	local c = { nodes = "144x8c2g",
		running = { { id = 9, nodes = "n[65-80]", exclusive = true, ends_in = "1h" } },
		pending = {
			{ id = 1, tasks = 512, time_limit = "1h" },
			{ id = 2, nodes = 64, tasks_per_node = 2, gres = "gpu:1", time_limit = "1h" },
			{ id = 3, nodes = 64, tasks_per_node = 4, gres = "gpu:2", time_limit = "1h" },
			{ id = 4, nodes = 128, tasks_per_node = 1, time_limit = "1h" },
		} }
	for key, value in pairs(more or {}) do
		c[key] = value
	end
	return t.cluster(c)
end

-- "64-80x5": nodes and cores on each
local function layout_text(plan, id)
	local numbers, parts = {}, {}
	local layout = plan:layout(id)
	for name in pairs(layout) do
		numbers[#numbers + 1] = tonumber(name:match("%d+"))
	end
	table.sort(numbers)
	for i, n in ipairs(numbers) do
		local part = parts[#parts]
		if part and part.last == n - 1 and part.cores == layout["n" .. n] then
			part.last = n
		else
			parts[#parts + 1] = { first = n, last = n, cores = layout["n" .. n] }
		end
		numbers[i] = nil
	end
	for i, part in ipairs(parts) do
		parts[i] = ("%d-%dx%d"):format(part.first, part.last, part.cores)
	end
	return table.concat(parts, " ")
end

describe("bids that win", function()
	it("can all be started, elastic ones too", function()
		for seed = 1, 30 do
			look(t.cluster(random_cluster(seed)), show .. [[
				local packing = require "sched.packing"
				for i = 1, cluster:random(0, 2) do plan:reserve(jobs[i]) end
				local rest = table.move(jobs, 3, #jobs, 1, {})
				local bids = cluster:bids(rest, { slurm = true, elastic = true, max = 3 })
				local won, result = packing.solve(cluster, bids, { time_limit = 5, gap = 0.1,
					value = function(job) return job.id % 7 + 1 end })
				assert(not result or result.status ~= "error", result and result.message)
				for _, b in ipairs(won) do
					local ok, why = plan:start(b.job, { bid = b })
					if not ok then error(("%s of job %d: %s"):format(b.kind, b.job.id, why)) end
				end
			]])
		end
	end)
end)

describe("the example of figures 3 and 4", function()
	it("has the paper's nodesets", function()
		assert.same({ "1-64 512 0", "81-144 512 0", "1-64 512 1", "81-144 512 1", "1-64 512 2", "81-144 512 2" },
			(look(figure_3(), [[
				for _, s in ipairs(cluster:nodesets()) do
					print(("%d-%d %d %d"):format(s.first, s.last, s.cores, s.gpus))
				end]])))
	end)

	it("is allocated as in figure 4", function()
		local _, plan = look(figure_3(), [[
			local packing = require "sched.packing"
			local jobs = {}
			for job in cluster:queue() do jobs[#jobs + 1] = job end
			local bids = cluster:bids(jobs, { max = 4, elastic = true })
			local won, result = packing.solve(cluster, bids, { value = function(job) return 5 - job.id end })
			assert(result.status == "optimal", result.status)
			for _, b in ipairs(won) do assert(plan:start(b.job, { bid = b })) end
		]])
		assert.equal("1-64x5 81-144x3", layout_text(plan, 1))
		assert.equal("1-64x2", layout_text(plan, 2))
		assert.equal("81-144x4", layout_text(plan, 3))
		assert.equal("1-64x1 81-144x1", layout_text(plan, 4))
	end)

	it("starts fewer jobs under first come, first served with Slurm's best fit", function()
		local plan = t.decide("easy", figure_3())
		assert.is_true(#plan:started() < 4)
	end)
end)
