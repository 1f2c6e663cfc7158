-- SPDX-License-Identifier: MIT
local t = require "sched.test"

local policy = debug.getinfo(1, "S").source:match("^@(.*/)[^/]*$") or "./"
policy = policy .. "found.lua"

describe("found", function()
	it("is a policy that the sandbox takes", function()
		assert.truthy(t.check(policy))
	end)

	it("starts jobs that all fit in the order of its expression", function()
		local plan = t.decide(policy, t.cluster { nodes = "1x64c", pending = {
			{ id = 1, tasks = 1, time_limit = 60, submitted_ago = 30 },
			{ id = 2, tasks = 1, time_limit = 86400, submitted_ago = 3600 },
			{ id = 3, tasks = 16, time_limit = 3600, submitted_ago = 7200 },
			{ id = 4, tasks = 32, time_limit = 600, submitted_ago = 90000 },
			{ id = 5, tasks = 4, time_limit = 7200, submitted_ago = 400000 },
		} })
		assert.same({ 1, 5, 4, 3, 2 }, plan:started())
	end)

	it("leaves no job behind", function()
		local s = t.simulate(policy, "synthetic:jobs=150", { machine = "32x8c" })
		assert.equal(0, s.metrics.unfinished)
	end)
end)
