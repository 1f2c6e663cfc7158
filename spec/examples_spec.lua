-- SPDX-License-Identifier: MIT
local t = require "sched.test"

describe("shortest_first", function()
	local policy = "examples/policies/shortest_first.lua"
	local c = t.cluster { nodes = "1x1c", pending = {
		{ id = 1, time_limit = "3h" }, { id = 2, time_limit = "1h" }, { id = 3, time_limit = "UNLIMITED" },
		{ id = 4, time_limit = "2h", submitted_ago = "2d" } } }

	it("starts the shortest job, after those that have waited too long", function()
		assert.same({ 4 }, t.decide(policy, c):started())
		assert.same({ 2 }, t.decide(policy .. ",max_wait=3d", c):started())
	end)

	it("is completed by easy, and goes with its options in a site", function()
		local text = 'return require("sched").site { default = { "shortest_first", max_wait = "3d", "easy", window = 1 } }'
		local plan = t.decide({ site = "site.lua", path = "examples/policies", texts = { ["site.lua"] = text } }, c)
		assert.same({ 2 }, plan:started())
		assert.equal("shortest_first+easy", plan:start(2).by)
		assert.equal(1, plan:examined())
	end)
end)

describe("knapsack", function()
	it("fills the cores that are free, where the order of the queue would not", function()
		local c = t.cluster { nodes = "1x8c", pending = {
			{ id = 1, tasks = 5, nodes = 1 }, { id = 2, tasks = 4, nodes = 1 }, { id = 3, tasks = 4, nodes = 1 } } }
		local started = t.decide("examples/policies/knapsack.lua", c):started()
		table.sort(started)
		assert.same({ 2, 3 }, started)
	end)
end)
