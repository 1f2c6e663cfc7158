-- SPDX-License-Identifier: MIT
local t = require "sched.test"

local policy = debug.getinfo(1, "S").source:match("^@(.*/)[^/]*$") or "./"
policy = policy .. "packed.lua"

describe("packed", function()
	it("is a policy that the sandbox takes", function()
		assert.truthy(t.check(policy))
	end)

	it("leaves no job behind", function()
		local s = t.simulate(policy, "synthetic:jobs=150", { machine = "32x8c2g" })
		assert.equal(0, s.metrics.unfinished)
	end)
end)
