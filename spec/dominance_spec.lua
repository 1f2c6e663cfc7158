-- SPDX-License-Identifier: MIT
local dominance = require "sched.dominance"
local s = require "spec.support"
local t = require "sched.test"

local solvers = #s.lines("for _, name in ipairs(require('sched.mip').backends()) do print(name) end") > 0

-- Jobs as sched.window has them; *value* apart.
local function jobs(list)
	local w, value, all = { jobs = {} }, {}, {}
	for j, job in ipairs(list) do
		w.jobs[j] = { set = job.set or 1, level = job.level or 1, cores = job.cores, unit = job.unit or 1, least = job.least or 1,
			min_nodes = 1, gpus = job.gpus or 0, memory = job.memory or 0, core_memory = 0, native = job.native,
			contiguous = job.contiguous }
		value[j], all[j] = job.value or 1, true
	end
	return w, value, all
end

local function rows(list)
	local texts = {}
	for _, pair in ipairs(dominance.pairs(jobs(list))) do
		texts[#texts + 1] = pair[1] .. ">" .. pair[2]
	end
	table.sort(texts)
	return table.concat(texts, " ")
end

describe("dominance", function()
	it("of jobs that differ in their cores only, each dominates the next larger one", function()
		assert.equal("1>3 2>1", rows { { cores = 5 }, { cores = 4 }, { cores = 9 } })
	end)

	it("of equal jobs the first in the queue is wanted first", function()
		assert.equal("1>2 2>3", rows { { cores = 4 }, { cores = 4 }, { cores = 4 } })
	end)

	it("a larger job that is worth more is not dominated, nor does it dominate", function()
		assert.equal("", rows { { cores = 4, value = 1 }, { cores = 5, value = 2 } })
		assert.equal("2>1", rows { { cores = 5, value = 1 }, { cores = 4, value = 2 } })
	end)

	it("needs no more in every respect: GPUs, memory, and the level of its walltime", function()
		assert.equal("1>2", rows { { cores = 4 }, { cores = 4, gpus = 1 } })
		assert.equal("", rows { { cores = 4, gpus = 1 }, { cores = 5 } })
		assert.equal("", rows { { cores = 4, memory = 1 }, { cores = 5 } })
		assert.equal("", rows { { cores = 4, level = 2 }, { cores = 5 } })
	end)

	it("compares only jobs for the same nodes, with tasks of the same size", function()
		assert.equal("", rows { { cores = 4 }, { cores = 5, set = 2 } })
		assert.equal("", rows { { cores = 4 }, { cores = 6, unit = 2 } })
	end)

	it("leaves out what it does not know all about, and least shares of nodes", function()
		assert.equal("", rows { { cores = 4, native = true }, { cores = 5, native = true } })
		assert.equal("", rows { { cores = 4, contiguous = true }, { cores = 5 } })
		-- 4 cores of two nodes that have 2 each; 3 of them find no node
		assert.equal("", rows { { cores = 3, least = 2 }, { cores = 4, least = 2 } })
	end)

	it("the two nearest are named, and not what follows from them", function()
		-- 4 is dominated by 2 (cores) and 3 (GPUs); that 1 dominates it follows
		assert.equal("1>2 1>3 2>4 3>4", rows { { cores = 1 }, { cores = 1, gpus = 2 }, { cores = 3, gpus = 1 },
			{ cores = 3, gpus = 2 } })
	end)
end)

local with_and_without = [[
local ip, window = require "sched.ip", require "sched.window"
local M = { api = 1, name = "dominated" }
function M.decide(cluster)
	local jobs, value = {}, {}
	for job in cluster:queue() do
		jobs[#jobs + 1] = job
		value[#jobs] = job.priority
	end
	local w = window.open(cluster, jobs)
	local list, best = ip.offers(w), {}
	for _, dominance in ipairs { true, false } do
		local m = ip.aggregated(w, value, list, { dominance = dominance }).model
		best[#best + 1] = m:size() > 0 and m:solve { time_limit = 60 }.objective or 0
		best[#best + 1] = select(2, m:size())
	end
	print(("%.9g %d %.9g %d"):format(table.unpack(best)))
end
return M
]]

describe("the integer program with dominance", function()
	it("is worth what it is without", function()
		local first = tonumber(os.getenv "SL_SEED") or 1
		local more = 0
		for seed = first, solvers and first + 39 or 0 do
			math.randomseed(seed)
			local pending, running = {}, {}
			for id = 1, 8 do
				pending[id] = { id = id, priority = math.random(1, 3), tasks = math.random(1, 9),
					gpus_per_node = math.random(0, 1) == 1 and 1 or nil, time_limit = math.random(1, 2) .. "h" }
			end
			running[1] = { id = 100, nodes = { "n1" }, cores = math.random(1, 3), ends_in = "1h" }
			local plan = t.decide({ source = with_and_without }, t.cluster { nodes = "3x4c2g", running = running, pending = pending })
			local with, rows_with, without, rows_without = plan:log()[1]:match("info: (%S+) (%S+) (%S+) (%S+)")
			assert.is_true(math.abs(tonumber(with) - tonumber(without)) < 1e-6, "SL_SEED=" .. seed .. ": " .. plan:log()[1])
			more = more + rows_with - rows_without
		end
		assert.is_true(more > 0 or not solvers)
	end)
end)
