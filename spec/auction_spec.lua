-- SPDX-License-Identifier: MIT
-- The auction policy: the paper's equations, its options, and what it must never do.

local s = require "spec.support"
local t = require "sched.test"

local solvers = #s.lines("for _, name in ipairs(require('sched.mip').backends()) do print(name) end") > 0

local function value(expression)
	return s.value(expression, nil, 'local packing = require "sched.packing"')
end

describe("alpha", function()
	it("is small enough that preference never changes which jobs start (9), (10)", function()
		assert.equal("0.5", value("packing.alpha(3, 5)"))
		assert.equal("true", value("3 > packing.alpha(3, 1000) * 1000"))
	end)
end)

describe("prices", function()
	local function worth(nodes, pending)
		local plan = t.decide({ source = [[
			local prices = require "sched.prices"
			local M = { api = 1 }
			function M.decide(cluster)
				local jobs = {}
				for job in cluster:queue() do jobs[#jobs + 1] = job end
				local worth = prices.of(cluster, jobs)
				for _, job in ipairs(jobs) do print(("%.3f"):format(worth(job))) end
			end
			return M]] }, t.cluster { nodes = nodes, pending = pending })
		local list = {}
		for i, line in ipairs(plan:log()) do
			list[i] = tonumber(line:match("%d+%.%d+$"))
		end
		return list
	end

	it("are cores where only cores are asked for", function()
		assert.same({ 2, 0.5 }, worth("8x8c2g", { { id = 1, tasks = 16 }, { id = 2, tasks = 4 } }))
	end)

	it("are a node for a job that takes all of a node's GPUs, when those are what is scarce", function()
		local w = worth("8x8c2g", { { id = 1, nodes = 4, tasks_per_node = 1, gres = "gpu:2" },
			{ id = 2, nodes = 4, tasks_per_node = 1, gres = "gpu:2" }, { id = 3, nodes = 1, tasks_per_node = 2 } })
		assert.same({ 4, 4, 0 }, w)
	end)

	it("share a node between jobs that fit on it together", function()
		local w = worth("8x8c2g", { { id = 1, nodes = 4, tasks_per_node = 4, gres = "gpu:1" },
			{ id = 2, nodes = 4, tasks_per_node = 4 } })
		assert.equal(4, w[1] + w[2])
	end)
end)

describe("auction", function()
	it("starts the jobs that are worth most together, not the first ones", function()
		-- 4 nodes: the first job leaves no room for the two that are worth more together
		local c = t.cluster { nodes = "4x8c", pending = {
			{ id = 1, nodes = 3, exclusive = true, priority = 100 },
			{ id = 2, nodes = 2, exclusive = true, priority = 70 },
			{ id = 3, nodes = 2, exclusive = true, priority = 60 },
		} }
		assert.same({ 2, 3 }, t.decide("auction", c):started())
		assert.same({ 1 }, t.decide("auction,rounds=0", c):started())
	end)

	it("says why a job that lost waits", function()
		local c = t.cluster { nodes = "4x8c", pending = { { id = 1, nodes = 3, exclusive = true, priority = 9 },
			{ id = 2, nodes = 2, exclusive = true, priority = 1 } } }
		local word, text = t.decide("auction", c):pending(2)
		assert.equal("policy", word)
		assert.matches("other bids are worth more", text, 1, true)
	end)

	it("prefers less fragmented bids where the same jobs start", function()
		local c = t.cluster { nodes = "9x8c", running = { { id = 9, nodes = "n4", exclusive = true, ends_in = "1h" } },
			pending = { { id = 1, nodes = 4, exclusive = true }, { id = 2, nodes = 3, exclusive = true } } }
		local plan = t.decide("auction", c)
		assert.same({ "n1", "n2", "n3" }, plan:start(2).nodes)
		assert.equal(4, #plan:start(1).nodes)
	end)

	it("gives every job consecutive nodes where that is wanted", function()
		local c = t.cluster { nodes = "9x8c", running = { { id = 9, nodes = "n5", exclusive = true, ends_in = "1h" } },
			pending = { { id = 1, nodes = 5, exclusive = true }, { id = 2, nodes = 4, exclusive = true } } }
		assert.same({ 2 }, t.decide("auction,contiguous_only=true", c):started())
		assert.same({ 2 }, t.decide("auction,max_blocks=1", c):started())
		assert.same({ 1 }, t.decide("auction,value=cores,window=1,max_blocks=2,rounds=1", c):started())
	end)

	it("starts a job in one of its shapes", function()
		local c = t.cluster { nodes = "4x8c2g", running = { { id = 9, nodes = 4, cores = 1, gres = "gpu:2", ends_in = "1h" } },
			pending = { { id = 1, nodes = 2, tasks_per_node = 1, gres = "gpu:2",
				shapes = { { min_nodes = 1, max_nodes = 4, num_tasks = 20 } } } } }
		local plan = t.decide("auction", c)
		assert.same({ 1 }, plan:started())
		local cores = 0
		for _, n in pairs(plan:layout(1)) do
			cores = cores + n
		end
		assert.equal(20, cores)
	end)

	it("has every shape of a job bid, and starts it once", function()
		-- two GPUs are free on each node: of 8, 7, ... 1 GPUs the last two counts can start
		local c = t.cluster { nodes = "2x8c8g", running = { { id = 9, nodes = 2, cores = 1, gres = "gpu:6", ends_in = "1h" } },
			pending = { { id = 1, nodes = 1, gres = "gpu:8", comment = "sched: -N1 --gpus-per-node=1-7" } } }
		local policy = { source = [[
			local M = { api = 1 }
			function M.decide(cluster, plan)
				for job in cluster:queue() do
					local seen = {}
					for _, bid in ipairs(cluster:bids(job, { max = 1 })) do seen[#seen + 1] = bid.shape end
					print(table.concat(seen, " "))
				end
			end
			return M]] }
		assert.same({ "info: 6 6 7 7" }, t.decide(policy, c):log())
		assert.same({ "info: 0 1 2 3 4 5 6 7" }, t.decide(policy, t.cluster { nodes = "2x8c8g", pending = {
			{ id = 1, nodes = 1, gres = "gpu:8", comment = "sched: -N1 --gpus-per-node=1-7" } } }):log())
		local plan = t.decide("auction", c)
		assert.same({ 1 }, plan:started())
		assert.equal(6, plan:start(1).shape)
		for _, options in ipairs { "", ",bids_per_job=1", ",rounds=0", ",slurm_bids=false", ",prefer=paper" } do
			plan = t.decide("auction,bid_kinds=A" .. options, c)
			assert.same({ 1 }, plan:started())
			assert.equal(6, plan:start(1).shape)
		end
	end)

	it("gives GPUs of a range to jobs that cannot do with fewer, and only then", function()
		local function with(...)
			return t.decide("auction", t.cluster { nodes = "1x8c4g", pending = {
				{ id = 1, nodes = 1, gres = "gpu:4", comment = "sched: -N1 --gpus-per-node=1-3" }, ... } })
		end
		assert.equal(0, with():start(1).shape)
		assert.equal(0, with({ id = 2, nodes = 1 }):start(1).shape)
		local plan = with({ id = 2, nodes = 1, gres = "gpu:1" })
		table.sort(plan:started())
		assert.equal(1, plan:start(1).shape)
		assert.is_not_nil(plan:start(2))
		plan = with({ id = 2, nodes = 1, gres = "gpu:2" }, { id = 3, nodes = 1, gres = "gpu:1" })
		assert.equal(3, plan:start(1).shape)
		assert.equal(3, #plan:started())
	end)

	it("has no two bids of a job that differ in nothing, nor two shapes that both win", function()
		local c = t.cluster { nodes = "4x8c4g", pending = { { id = 1, nodes = 1, gres = "gpu:4",
			comment = "sched: -N1 --gpus-per-node=1-4 | -N2 | -n1" }, { id = 2, nodes = 1, array = 3,
			comment = "sched: -n1 | -n2 | -n3" } } }
		local plan = t.decide("auction", c)
		local count = { 0, 0 }
		for _, id in ipairs(plan:started()) do
			count[id] = count[id] + 1
		end
		assert.same({ 1, 3 }, count)
	end)

	describe("with reserve", function()
		local function busy(more)
			local pending = { { id = 1, nodes = 4, exclusive = true, time_limit = "1h", priority = 100 },
				{ id = 2, nodes = 2, exclusive = true, time_limit = "2h", priority = 50 },
				{ id = 3, nodes = 1, exclusive = true, time_limit = "30m", priority = 10 } }
			pending[#pending + 1] = more
			return t.cluster { nodes = "4x8c", running = { { id = 9, nodes = 1, exclusive = true, ends_in = "1h" } },
				pending = pending }
		end

		it("keeps nodes for the most valuable job, and others bid behind it", function()
			local plan = t.decide("auction,reserve=1", busy())
			assert.same({ 3 }, plan:started())
			assert.equal(3600, plan:reservation(1).in_s)
			assert.same({ 2, 3 }, t.decide("auction", busy()):started())
		end)

		it("starts what is worth more first, without competition", function()
			local plan = t.decide("auction,reserve=1", busy { id = 4, nodes = 3, exclusive = true, time_limit = "1h",
				priority = 101 })
			assert.same({ 4 }, plan:started())
			assert.equal(3600, plan:reservation(1).in_s)
		end)

		it("reserves nothing for a job that would fit now, but in more pieces than it may be cut into", function()
			local c = t.cluster { nodes = "5x8c", running = { { id = 9, nodes = "n3", exclusive = true, ends_in = "1h" } },
				pending = { { id = 1, nodes = 4, exclusive = true, priority = 9 },
					{ id = 2, nodes = 2, exclusive = true, time_limit = "2h", priority = 1 } } }
			local plan = t.decide("auction,reserve=1,max_blocks=1", c)
			assert.same({ 2 }, plan:started())
			assert.is_nil(plan:reservation(1))
		end)
	end)

	it("respects what the guard reserved", function()
		local c = t.cluster { nodes = "4x8c", running = { { id = 9, nodes = 2, exclusive = true, ends_in = "1h" } },
			pending = {
				{ id = 1, nodes = 4, exclusive = true, submitted_ago = "1d", time_limit = "1h", priority = 1 },
				{ id = 2, nodes = 2, exclusive = true, time_limit = "2h", priority = 1000 },
				{ id = 3, nodes = 2, exclusive = true, time_limit = "1h", priority = 1 },
			} }
		local plan = t.decide("auction", c)
		assert.same({ 3 }, plan:started())
		assert.equal(3600, plan:reservation(1).in_s)
		assert.same({ 2 }, t.decide("auction,guard_wait=0", c):started())
	end)

	it("starts what best fit would start when there is no time to solve anything", function()
		local c = t.cluster { nodes = "4x8c", pending = { { id = 1, nodes = 3, tasks_per_node = 2 },
			{ id = 2, nodes = 4, tasks_per_node = 3 } } }
		assert.same({ 1, 2 }, t.decide("auction,time_limit=0", c):started())
	end)

	it("decides the same again with a limit of nodes instead of time", function()
		local pending = {}
		for id = 1, 40 do
			pending[id] = { id = id, nodes = id * 7 % 11 + 1, tasks_per_node = id % 8 + 1, priority = id * 13 % 17 + 1,
				gres = id % 3 == 0 and "gpu:1" or nil }
		end
		local c = t.cluster { nodes = "24x8c2g", pending = pending }
		local first = t.decide("auction,max_nodes=50", c)
		local again = t.decide("auction,max_nodes=50", c)
		assert.same(first:started(), again:started())
		for _, id in ipairs(first:started()) do
			assert.same(first:layout(id), again:layout(id))
		end
	end)

	-- A millionth of a second is never enough.
	local hasty = "auction,max_bids=64,rounds=1,time_limit=0.000001"
	local function contest(remembered)
		return t.cluster { nodes = "4x8c", remembered = remembered, pending = {
			{ id = 1, nodes = 3, exclusive = true, priority = 100 },
			{ id = 2, nodes = 2, exclusive = true, priority = 70 },
			{ id = 3, nodes = 2, exclusive = true, priority = 60 },
		} }
	end
	local function harmony(remembered)
		return t.cluster { nodes = "4x8c", remembered = remembered, pending = { { id = 1, nodes = 4, exclusive = true } } }
	end

	it("lets fewer bids compete after a round that was not solved in time, in the coming cycles, too", function()
		local plan
		for _, bids in ipairs { 32, 16, 8, 4 } do
			plan = t.decide(hasty, contest(plan and plan:remembered()))
			assert.same({ main = { ["auction.bids"] = bids } }, plan:remembered())
			assert.is_true(#plan:started() >= 1)
		end
		-- nothing to choose between: twice as many, until it is all of them
		for _, bids in ipairs { 8, 16, 32 } do
			plan = t.decide(hasty, harmony(plan:remembered()))
			assert.same({ main = { ["auction.bids"] = bids } }, plan:remembered())
		end
		assert.same({}, t.decide(hasty, harmony(plan:remembered())):remembered())
	end)

	it("has no bids but the most valuable job's left then", function()
		if not solvers then
			return
		end
		local few = { main = { ["auction.bids"] = 1 } }
		assert.same({ 2, 3 }, t.decide("auction,time_limit=60", contest()):started())
		assert.same({ 1 }, t.decide("auction,time_limit=60", contest(few)):started())
	end)

	it("is worth no less than Slurm's best fit in the same order, on random machines", function()
		for seed = 1, 10 do
			local pending = {}
			local state = seed
			local function random(n)
				state = (state * 1103515245 + 12345) % 2147483648
				return state // 65536 % n + 1
			end
			for id = 1, 30 do
				pending[id] = { id = id, nodes = random(8), tasks_per_node = random(8), priority = random(100),
					gres = random(3) == 1 and "gpu:" .. random(2) or nil }
			end
			local c = t.cluster { nodes = "16x8c2g", pending = pending }
			local function worth(plan)
				local sum = 0
				for _, id in ipairs(plan:started()) do
					sum = sum + pending[id].priority
				end
				return sum
			end
			local optimized, greedy = worth(t.decide("auction,gap=0.05,time_limit=0.3", c)), worth(t.decide("auction,rounds=0", c))
			assert(optimized >= greedy, ("seed %d: %d < %d"):format(seed, optimized, greedy))
		end
	end)
end)
