-- SPDX-License-Identifier: MIT
--
-- Further entries of examples/cookbook.
local t = require "sched.test"

local function site(name)
	return { site = "examples/cookbook/" .. name .. ".lua" }
end

describe("examples/cookbook", function()
	it("debug_slot gives each user one job in debug", function()
		local c = t.cluster { nodes = "2x8c", partitions = { debug = { nodes = "n[1-2]" } }, pending = {
			{ id = 1, user = "ada" }, { id = 2, user = "ada" }, { id = 3, user = "bob" } } }
		assert.same({ 1, 3 }, t.decide(site "debug_slot", c):started())
	end)

	it("deadline_projects lets a project go first on its days", function()
		local function started(day)
			return t.decide(site "deadline_projects", t.cluster { nodes = "1x1c", now = day .. "T12:00 Europe/Berlin", pending = {
				{ id = 1, account = "bio" }, { id = 2, account = "climate" } } }):started()
		end
		assert.same({ 1 }, started "2026-11-30")
		assert.same({ 2 }, started "2026-12-01")
		assert.same({ 2 }, started "2026-12-15")
		assert.same({ 1 }, started "2026-12-16")
	end)
end)
