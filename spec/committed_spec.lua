-- SPDX-License-Identifier: MIT
-- examples/policies/committed.lua: what RLScheduler's simulator does.
local t = require "sched.test"

local policy = "examples/policies/committed.lua"

-- Job 1 has 3 of 4 cores until 100.
local function simulate(options, jobs)
	table.insert(jobs, 1, { id = 1, tasks = 3, runtime = 100, time_limit = 100 })
	return t.simulate(policy .. options, { nodes = "1x4c", jobs = jobs })
end

describe("committed", function()
	it("waits for the job that it has chosen, whoever comes meanwhile", function()
		local s = simulate(",order=sjf,backfill=false", { { id = 2, tasks = 4, runtime = 50, time_limit = 50, submit = 1 },
			{ id = 3, tasks = 4, runtime = 10, time_limit = 10, submit = 2 } })
		assert.same({ 1, 2, 3 }, s:started())
	end)

	it("lets in who ends before that one could start, and uses no core beyond", function()
		local s = simulate("", { { id = 2, tasks = 3, runtime = 50, time_limit = 50, submit = 1 },
			{ id = 3, tasks = 1, runtime = 98, time_limit = 98, submit = 2 },		-- would end at 100
			{ id = 4, tasks = 1, runtime = 96, time_limit = 96, submit = 3 } })
		assert.equal(3, s:job(4).start_s)
		assert.equal(100, s:job(2).start_s)
		assert.equal(100, s:job(3).start_s)
	end)

	it("chooses by the order that is asked for", function()
		local jobs = function() return { { id = 2, tasks = 4, runtime = 900, time_limit = 900, submit = 1 },
			{ id = 3, tasks = 4, runtime = 10, time_limit = 10, submit = 2 },
			{ id = 4, tasks = 4, runtime = 20, time_limit = 20, submit = 3 } } end
		assert.same({ 1, 2, 3, 4 }, simulate(",order=fcfs", jobs()):started())
		assert.same({ 1, 2, 3, 4 }, simulate(",order=sjf", jobs()):started())	-- the second was chosen when it came
		local late = jobs()
		late[1].submit = 3
		assert.same({ 1, 3, 4, 2 }, simulate(",order=sjf", late):started())
	end)
end)
