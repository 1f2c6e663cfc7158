-- SPDX-License-Identifier: MIT
--
-- What sites write in their first week: entries of examples/cookbook.
local t = require "sched.test"

local function site(name)
	return { site = "examples/cookbook/" .. name .. ".lua" }
end

describe("examples/cookbook", function()
	it("day_and_night lets short jobs go first by day, and long ones else", function()
		local function started(time)
			return t.decide(site "day_and_night", t.cluster { nodes = "1x1c", now = time .. " Europe/Berlin",
				partitions = { debug = { nodes = "n1" } }, pending = { { id = 1, time_limit = "2h" }, { id = 2, time_limit = "20m" },
					{ id = 3, time_limit = "4h" } } }):started()
		end
		assert.same({ 2 }, started "2026-03-12T12:00")
		assert.same({ 3 }, started "2026-03-12T18:00")
		assert.same({ 3 }, started "2026-03-14T12:00")
	end)

	it("gpu_share keeps an account to its share while others wait for GPUs", function()
		local pending = {}
		for id = 1, 8 do
			pending[id] = { id = id, user = "anna", account = "chem", gres = "gpu:1" }
		end
		assert.equal(8, #t.decide(site "gpu_share", t.cluster { nodes = "4x8c4g", pending = pending }):started())
		pending[9] = { id = 9, user = "bob", account = "phys", gres = "gpu:1" }
		assert.same({ 1, 2, 3, 4, 9 }, t.decide(site "gpu_share", t.cluster { nodes = "4x8c4g", pending = pending }):started())
	end)

	it("fifth_job puts a user's fifth task behind everybody's first", function()
		assert.same({ 1, 1, 1, 1, 2, 1 }, t.decide(site "fifth_job", t.cluster { nodes = "1x6c", pending = {
			{ id = 1, user = "anna", array = "9" }, { id = 2, user = "bob" } } }):started())
	end)

	it("course_nodes keeps two nodes for the course, in term", function()
		local function started(time, account, limit)
			return t.decide(site "course_nodes", t.cluster { nodes = "2x4c", now = time .. " Europe/Berlin", pending = {
				{ id = 1, user = "eve", account = account, nodes = 2, time_limit = limit } } }):started()
		end
		assert.same({}, started("2026-03-16T08:30", "chem", "1h"))
		assert.same({ 1 }, started("2026-03-16T08:30", "chem", "30m"))
		assert.same({}, started("2026-03-16T09:30", "chem", "10m"))
		assert.same({ 1 }, started("2026-03-16T09:30", "course", "2h"))
		assert.same({ 1 }, started("2026-03-16T12:00", "chem", "1h"))
		assert.same({ 1 }, started("2026-12-28T09:30", "chem", "1h"))		-- no term
	end)

	it("pack_small packs one-core jobs onto the last four nodes, and tells those that wait when", function()
		local pending = {}
		for id = 1, 9 do
			pending[id] = { id = id, time_limit = "1h" }
		end
		local plan = t.decide(site "pack_small", t.cluster { nodes = "6x2c", pending = pending })
		assert.equal(8, #plan:started())
		for id = 1, 8 do
			assert.matches("^n[3-6]$", plan:start(id).nodes[1])
		end
		assert.equal(3600, plan:reservation(9).in_s)
	end)
end)
