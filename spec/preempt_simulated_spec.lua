-- SPDX-License-Identifier: MIT
--
-- sched.preempt before each bundled policy, simulated: the preemptor starts at once, and whom it stopped comes back.
local support = require "spec.support"
local t = require "sched.test"

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
	for _, policy in ipairs { "easy", "conservative", "fcfs", "ip_window", "auction", "critical", "predictive" } do
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

	it("goes without stops where waiting is cheaper", function()
		local s = t.simulate(support.site [[return require "sched".site {
			default = { require "sched".preempt { wait_price = 0.01 }, "easy" } }]], two_tiers())
		assert.equal(0, s.metrics.stops)
		assert.equal(500, s:job(3).start_s)
	end)
end)
