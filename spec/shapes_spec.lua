-- SPDX-License-Identifier: MIT
-- Alternatives of jobs under every bundled policy; what each policy does with them in detail is
-- in its own spec.

local t = require "sched.test"

local policies = { "fcfs", "easy", "conservative", "critical", "predictive", "ip_window,time_limit=0.2", "auction,time_limit=0.2" }

-- Jobs of which most would do with something else, on a busy machine.
local function random_jobs(seed, jobs)
	local state = seed * 7919
	local function random(n)
		state = (state * 1103515245 + 12345) % 2147483648
		return state // 65536 % n + 1
	end
	local comments = {
		function(n) return ("sched: -N%d --gpus-per-node=1-3"):format(n) end,
		function(n) return ("sched: -N%d | -N%d --ntasks-per-node=2 -t %d"):format(n + 1, (n + 1) // 2, 60 * random(5)) end,
		function(n) return ("sched: -n%d | -n%d --gpus-per-task=1 | -G1-2 -n1"):format(4 * n, n) end,
		function(n) return ("for anna; sched: -N1-%d -n%d -c2"):format(n, n) end,
		function() return "no alternatives" end,
	}
	local list = {}
	for i = 1, jobs do
		local nodes = random(6)
		list[i] = { id = 100 + i, nodes = nodes, time_limit = random(6) .. "h", tasks_per_node = random(8),
			gres = random(2) == 1 and "gpu:" .. random(4) or nil, exclusive = random(8) == 1 or nil,
			priority = random(50), comment = comments[random(#comments)](nodes) }
	end
	return list, random
end

local function random_cluster(seed)
	local pending, random = random_jobs(seed, 25)
	local running = {}
	for id = 1, 8 do
		running[id] = { id = id, nodes = "n" .. 2 * id - 1, cores = random(8), gres = id <= 5 and "gpu:" .. random(4) or nil,
			ends_in = random(5) .. "h" }
	end
	pending[7].array, pending[11].array = 3, 5
	return t.cluster { seed = seed, nodes = { "10x8c4g", "10x8c" }, running = running, pending = pending }
end

describe("alternatives", function()
	it("start once, in one shape, as often as the job has tasks, under every policy", function()
		local first = tonumber(os.getenv "SL_SEED") or 1
		local alternatives = 0
		for seed = first, first + 4 do
			local c = random_cluster(seed)
			for _, policy in ipairs(policies) do
				local plan, count = t.decide(policy, c), {}	-- which also checks the plan
				for _, start in ipairs(plan.raw.starts) do
					count[start.job] = (count[start.job] or 0) + 1
					alternatives = alternatives + (start.shape > 0 and 1 or 0)
				end
				for id, starts in pairs(count) do
					local most = id == 107 and 3 or id == 111 and 5 or 1
					assert(starts <= most, ("SL_SEED=%d %s: job %d starts %d times"):format(seed, policy, id, starts))
				end
			end
		end
		assert(alternatives > 20, alternatives .. " alternatives started: the test has lost its meaning")
	end)

	it("change nothing for jobs that have none", function()
		for _, policy in ipairs { "fcfs", "easy", "conservative", "critical" } do
			for seed = 1, 4 do
				local pending = random_jobs(seed, 25)
				for _, job in ipairs(pending) do
					job.comment = nil
				end
				local c = t.cluster { nodes = "12x8c4g", pending = pending }
				assert.same(t.decide(policy .. ",shapes=false", c).raw.starts, t.decide(policy, c).raw.starts)
			end
		end
	end)

	it("count in a simulation with the cores of the shape that ran", function()
		local s = t.simulate("easy", { nodes = "2x8c", jobs = {
			{ id = 1, tasks = 32, runtime = "1h", time_limit = "1h", comment = "sched: -n16" },
			{ id = 2, tasks = 32, runtime = "1h", time_limit = "1h", comment = "sched: -n4 -t 30" },
			{ id = 3, tasks = 32, runtime = "1h", time_limit = "1h", comment = "sched: -n12 -t 30" } } })
		assert.same({ 1, 2, 3 }, s:started())
		assert.same({ 3600, 5400, 3600 }, { s:job(2).start_s, s:job(2).end_s, s:job(3).start_s })
		assert.equal(1.0, s.metrics.utilization)
	end)

	it("are simulated, and get a queue that waits for nodes done sooner", function()
		local jobs = {}
		for i = 1, 12 do
			jobs[i] = { id = i, nodes = 3, exclusive = true, runtime = "1h", time_limit = "1h",
				comment = "sched: -N1 --ntasks-per-node=8 -t 60" }
		end
		local function mean_wait(policy)
			return t.simulate(policy, { nodes = "4x8c", jobs = jobs }).metrics.wait_mean_s
		end
		for _, policy in ipairs { "fcfs", "easy", "conservative", "critical" } do
			assert.is_true(mean_wait(policy) < mean_wait(policy .. ",shapes=false"), policy)
		end
	end)
end)
