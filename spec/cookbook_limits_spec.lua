-- SPDX-License-Identifier: MIT
--
-- Entries of examples/cookbook that say who and how much.  Each is tried beside plain easy, which does not do it.
local t = require "sched.test"

local function site(name)
	return { site = "examples/cookbook/" .. name .. ".lua" }
end

describe("examples/cookbook/short_backfill", function()
	it("backfills jobs of an hour and no longer ones, which easy would", function()
		local c = t.cluster { nodes = "2x1c", running = { { id = 1, nodes = { "n1" }, ends_in = "5h" } }, pending = {
			{ id = 2, tasks = 2, nodes = 2 }, { id = 3, time_limit = "61m" }, { id = 4, time_limit = "1h" } } }
		local plan = t.decide(site "short_backfill", c)
		assert.same({ 4 }, plan:started())
		assert.equal(5 * 3600, plan:reservation(2).in_s)
		assert.equal("a job ahead waits, and this one is too long to be backfilled", (select(2, plan:pending(3))))
		assert.same({ 3 }, t.decide("easy", c):started())
	end)

	it("starts long jobs whose turn it is", function()
		assert.same({ 1, 2 }, t.decide(site "short_backfill", t.cluster { nodes = "2x1c", pending = {
			{ id = 1, time_limit = "5h" }, { id = 2, time_limit = "9h" } } }):started())
	end)
end)

describe("examples/cookbook/cost", function()
	-- 100 CPUs for 100 hours: 100 euros; 200 is what an account has that is not named
	local function decide(policy, more)
		local spec = { now = "2026-03-12T12:00 Europe/Berlin", nodes = "1x400c1g", pending = {
			{ id = 1, account = "bio", tasks = 100, time_limit = "100h" }, { id = 2, account = "bio", tasks = 100, time_limit = "100h" },
			{ id = 3, account = "bio", time_limit = "1h" }, { id = 4, account = "climate", time_limit = "1h" } } }
		for key, value in pairs(more or {}) do
			spec[key] = value
		end
		return t.decide(policy, t.cluster(spec))
	end

	it("stops an account where its budget is spent, within a cycle too", function()
		local plan = decide(site "cost")
		assert.same({ 1, 2, 4 }, plan:started())
		assert.equal("would come to 200.01 of 200 euros of this month", (select(2, plan:pending(3))))
		assert.same({ 1, 2, 3, 4 }, decide("easy"):started())
	end)

	it("counts what was used this month and not before, and GPUs at their price", function()
		local function started(unit, amount, ago)
			return decide(site "cost", { usage = { { user = "anna", account = "bio", [unit] = amount, ended_ago = ago } } }):started()
		end
		assert.same({ 1, 3, 4 }, started("cpu", "9000h", "1d"))
		assert.same({ 1, 2, 4 }, started("cpu", "9000h", "30d"))
		assert.same({ 1, 3, 4 }, started("gpu", "150h", "1d"))
		assert.same({ 3, 4 }, started("gpu", "300h", "1d"))
	end)
end)

describe("examples/cookbook/licences", function()
	it("lets jobs with licences go first", function()
		local c = t.cluster { nodes = "1x1c", licenses = { matlab = 3 }, pending = { { id = 1 }, { id = 2, licenses = { matlab = 1 } } } }
		assert.same({ 2 }, t.decide(site "licences", c):started())
		assert.same({ 1 }, t.decide("easy", c):started())
	end)

	it("gives a user two at most, running ones counted", function()
		local c = t.cluster { nodes = "1x8c", licenses = { matlab = 9, ansys = 9 },
			running = { { id = 1, user = "ada", cores = 1, licenses = { matlab = 1 } } }, pending = {
				{ id = 2, user = "ada", licenses = { matlab = 1 } }, { id = 3, user = "ada", licenses = { matlab = 1 } },
				{ id = 4, user = "bob", licenses = { matlab = 2 } }, { id = 5, user = "ada", licenses = { ansys = 3 } } } }
		local plan = t.decide(site "licences", c)
		assert.same({ 2, 4, 5 }, plan:started())
		assert.equal("a user holds 2 licences of matlab at most", (select(2, plan:pending(3))))
		assert.same({ 2, 3, 4, 5 }, t.decide("easy", c):started())
	end)
end)

describe("examples/cookbook/share_tree", function()
	local function started(policy, usage, pending)
		return t.decide(policy, t.cluster { nodes = "1x1c", usage = usage, pending = pending }):started()
	end

	local function used(account, amount)
		return { user = account, account = account, cpu = amount }
	end

	local pending = { { id = 1, account = "lhc" }, { id = 2, account = "astro" }, { id = 3, account = "genome" } }

	it("goes by the faculties first, for their shares", function()
		assert.same({ 1 }, started("easy", { used("astro", "61h"), used("ecology", "40h") }, pending))
		assert.same({ 3 }, started(site "share_tree", { used("astro", "61h"), used("ecology", "40h") }, pending))
		assert.same({ 1 }, started(site "share_tree", { used("astro", "59h"), used("ecology", "40h") }, pending))
	end)

	it("goes by the groups of a faculty then, for theirs", function()
		assert.same({ 2 }, started(site "share_tree", { used("lhc", "21h"), used("astro", "10h"), used("ecology", "90h") }, pending))
		assert.same({ 1 }, started(site "share_tree", { used("lhc", "19h"), used("astro", "10h"), used("ecology", "90h") }, pending))
	end)

	it("lets faculties take turns within a cycle, and who is of none comes last", function()
		local plan = t.decide(site "share_tree", t.cluster { nodes = "1x9c", pending = { { id = 9, account = "guest" },
			{ id = 1, account = "lhc" }, { id = 2, account = "lhc" }, { id = 3, account = "genome" } } })
		assert.same({ 1, 3, 2, 9 }, plan:started())
	end)
end)
