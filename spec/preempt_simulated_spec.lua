-- SPDX-License-Identifier: MIT
--
-- sched.preempt before each bundled policy, simulated: the preemptor starts at once, and whom it stopped comes back.
local support = require "spec.support"
local t = require "sched.test"

local POLICIES <const> = { "easy", "conservative", "fcfs", "ip_window", "auction", "critical", "predictive" }

-- Two jobs of QOS low have the machine; the short-lived one of them, with a checkpoint every minute, costs least.
local function two_tiers(more)
	local jobs = {
		{ id = 1, tasks = 2, runtime = 5000, time_limit = 6000, qos = "low", preempt_mode = "requeue", flags = { "REQUEUE" } },
		{ id = 2, tasks = 2, runtime = 500, time_limit = 600, qos = "low", preempt_mode = "requeue", flags = { "REQUEUE" },
			comment = "checkpoint=1" },
		{ id = 3, tasks = 2, runtime = 200, time_limit = 300, submit = 90, qos = "high", priority = 10, preempts = "QOS=low",
			flags = { "MAY_PREEMPT" } },
	}
	for _, job in ipairs(more or {}) do
		table.insert(jobs, job)
	end
	return { nodes = "1x4c", jobs = jobs }
end

local function site(policy)
	return support.site(('return require "sched".site { default = { require "sched".preempt {}, "%s" } }'):format(policy))
end

describe("sched.preempt in a simulation", function()
	for _, policy in ipairs(POLICIES) do
		it("lets the preemptor start, and its victim come back, under " .. policy, function()
			local s = t.simulate(site(policy), two_tiers())
			assert.equal(91, s:job(3).start_s)
			assert.same({}, s:job(1).stops)
			assert.equal(1, #s:job(2).stops)
			local stop = s:job(2).stops[1]
			assert.equal(3, stop.preemptor)
			assert.equal("requeue", stop.mode)
			assert.equal(60, stop.kept_s)
			assert.equal(31, stop.lost_s)
			assert.equal(291, s:job(2).start_s)
			assert.equal(291 + 500 - 60, s:job(2).end_s)
			assert.equal(62, s.metrics.lost_core_s)
			assert.equal(1, s.metrics.stops)
		end)
	end

	it("lets a requeued job start again after the wait that is told", function()
		local function begins(wait)
			local jobs = two_tiers()
			jobs.jobs[3].runtime = 20
			return t.simulate(site "easy", jobs, { requeue_wait = wait }):job(2).start_s
		end
		assert.equal(111, begins(0))
		assert.equal(91 + 121, begins(121))
	end)

	it("stops nobody for a job that fits, nor one that only waits", function()
		local jobs = two_tiers()
		jobs.jobs[3].preempts = nil
		assert.equal(0, t.simulate(site "easy", jobs).metrics.stops)
		jobs = two_tiers()
		jobs.nodes = "2x4c"
		assert.equal(0, t.simulate(site "easy", jobs).metrics.stops)
	end)

	it("leaves policies what they remember from one decision to the next", function()
		local counts = support.policy [[
			local n = (cluster:recall "decisions" or 0) + 1
			plan:remember("decisions", n)
			for job in cluster:queue() do plan:start(job) end
			if n == 3 then error "it remembers" end]]
		local ok, why = pcall(t.simulate, counts, two_tiers())
		assert.is_false(ok)
		assert.matches("it remembers", why, 1, true)
	end)

	-- Of six cores job 1 has four.  Two jobs want the other two when the machine is next looked at.
	local function two_want_two(second, third)
		local function row(id, more)
			local job = { id = id, tasks = 2, runtime = 1000, time_limit = 1200, submit = 90 }
			for name, value in pairs(more) do
				job[name] = value
			end
			return job
		end
		return { nodes = "1x6c", jobs = {
			{ id = 1, tasks = 4, runtime = 5000, time_limit = 6000, qos = "low", preempt_mode = "requeue", flags = { "REQUEUE" } },
			row(2, second), row(3, third) } }
	end
	local function high(priority)
		return { qos = "high", priority = priority, preempts = "QOS=low", flags = { "MAY_PREEMPT" } }
	end

	for _, policy in ipairs(POLICIES) do
		it("stops one for the second of two that fit singly, at once, under " .. policy, function()
			local s = t.simulate(site(policy), two_want_two(high(20), high(10)))
			assert.equal(90, s:job(2).start_s)
			assert.equal(91, s:job(3).start_s)
			assert.equal(1, s.metrics.stops)
		end)
	end

	for _, policy in ipairs { "easy", "conservative", "fcfs" } do
		it("lets a job of higher priority start first, under " .. policy, function()
			local s = t.simulate(site(policy), two_want_two({ priority = 20 }, high(10)))
			assert.equal(90, s:job(2).start_s)
			assert.equal(91, s:job(3).start_s)
			assert.equal(1, s.metrics.stops)
		end)
	end

	it("delays no reservation of a job of higher priority", function()
		-- job 2 waits for the node of job 9, which nobody may stop; job 3 would fit on the other one, for longer than that
		for _, policy in ipairs { "easy", "conservative" } do
			local s = t.simulate(site(policy), { nodes = "3x4c", jobs = {
				{ id = 1, tasks = 4, runtime = 5000, time_limit = 6000, priority = 1, qos = "low", preempt_mode = "requeue", flags = { "REQUEUE" } },
				{ id = 9, tasks = 4, runtime = 500, time_limit = 500 },
				{ id = 2, nodes = 2, exclusive = true, runtime = 100, time_limit = 200, priority = 20, submit = 90 },
				{ id = 3, nodes = 1, exclusive = true, runtime = 3000, time_limit = 3000, submit = 95, qos = "high", priority = 10,
					preempts = "QOS=low", flags = { "MAY_PREEMPT" } } } })
			assert.equal(500, s:job(2).start_s)
			assert.equal(96, s:job(3).start_s)
			assert.equal(1, s.metrics.stops)
		end
	end)

	it("starts a job on the place that is held for it, though one of higher priority waits for just that, under any order", function()
		for _, policy in ipairs(POLICIES) do
			local jobs = two_tiers { { id = 4, tasks = 4, runtime = 100, time_limit = 200, submit = 80, priority = 20 } }
			jobs.jobs[2].grace_time = 60
			local s = t.simulate(site(policy), jobs)
			assert.equal(1, s.metrics.stops)
			assert.is_true(s:job(3).start_s <= 200, policy .. ": " .. s:job(3).start_s)
		end
	end)

	it("goes without stops where waiting is cheaper", function()
		local s = t.simulate(support.site [[return require "sched".site {
			default = { require "sched".preempt { wait_price = 0.01 }, "easy" } }]], two_tiers())
		assert.equal(0, s.metrics.stops)
		assert.equal(500, s:job(3).start_s)
	end)
end)
