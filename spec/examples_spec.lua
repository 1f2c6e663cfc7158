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
		local solvers = require("spec.support").value("#require('sched.mip').backends()")
		local started = t.decide("examples/policies/knapsack.lua", c):started()
		table.sort(started)
		assert.same(solvers == "0" and { 1 } or { 2, 3 }, started)
	end)
end)

describe("slurm_like", function()
	local policy = "examples/policies/slurm_like.lua"
	-- 2 cores until 100; the wide one is first in the queue; the short one would fit beside it
	local workload = { nodes = "1x4c", now = 1699999980, jobs = {
		{ id = 1, tasks = 2, runtime = 100, time_limit = 100 },
		{ id = 2, tasks = 4, runtime = 50, time_limit = 50, submit = 1 },
		{ id = 3, tasks = 2, runtime = 20, time_limit = 20, submit = 2 } } }

	it("starts the first of the queue at once, and backfills at its intervals only", function()
		local s = t.simulate(policy, workload, { interval = 1 })
		assert.equal(0, s:job(1).start_s)
		assert.equal(30, s:job(3).start_s)
		assert.equal(100, s:job(2).start_s)
		assert.equal(60, t.simulate(policy .. ",every=60", workload, { interval = 1 }):job(3).start_s)
	end)
end)

describe("first_fit", function()
	it("starts what fits and lets the wide job wait", function()
		local s = t.simulate("examples/policies/first_fit.lua", { nodes = "1x4c", jobs = {
			{ id = 1, tasks = 2, runtime = 100 }, { id = 2, tasks = 4, runtime = 50, submit = 1 },
			{ id = 3, tasks = 2, runtime = 200, submit = 2 } } })
		assert.same({ 1, 3, 2 }, s:started())
	end)
end)
