-- SPDX-License-Identifier: MIT
--
-- The example sites: each is loaded from its files and decides on a small cluster of its kind.
local t = require "sched.test"

local now = 1700000000		-- 2023-11-14

local function site(name)
	local path = "examples/" .. name .. "/sched.lua"
	local figures, why = t.check { site = path }
	assert.is_nil(why)
	return { site = path }, figures
end

describe("examples/lomonosov", function()
	-- regular4 of 4096 nodes would do the same
	local function cluster(pending, more)
		local spec = { nodes = "64x8c", now = now, pending = pending,
			partitions = { regular4 = { nodes = "n[1-60]" }, test = { nodes = "n[61-64]" }, all = { nodes = "n[1-64]" } } }
		for key, value in pairs(more or {}) do
			spec[key] = value
		end
		return t.cluster(spec)
	end

	it("names its policies", function()
		local _, figures = site "lomonosov"
		assert.equal(3, figures.interval)
		assert.equal("site: monthly quota, layers, easy, quota, conservative, borrow, fcfs", figures.policy)
	end)

	it("limits what a user holds in regular4 to 81920 CPU-hours, climate's to more", function()
		-- 480 cores x 171 h = 82,080
		local jobs = { { id = 1, user = "boris", partition = "regular4", nodes = 60, exclusive = true, time_limit = "171h" } }
		local plan = t.decide(site "lomonosov", cluster(jobs))
		assert.same({}, plan:started())
		assert.same({ "policy", "quota: user boris holds 0 of 81920 cpu-hours, asks for 82080: can never start" }, { plan:pending(1) })
		jobs[1].user = "climate"
		assert.same({ 1 }, t.decide(site "lomonosov", cluster(jobs)):started())
	end)

	it("goes by layer, then by time of submission", function()
		local jobs = {}
		for id, user in ipairs { "anna", "boris", "climate", "dina" } do
			jobs[id] = { id = id, user = user, partition = "regular4", nodes = 30, exclusive = true, time_limit = "10h",
				submitted_ago = 100 - 10 * id }
		end
		assert.same({ 3, 2 }, t.decide(site "lomonosov", cluster(jobs)):started())
		jobs[1].account = "urgent"	-- a user's own line goes before
		assert.same({ 3, 2 }, t.decide(site "lomonosov", cluster(jobs)):started())
		jobs[4].account = "urgent"
		assert.same({ 4, 3 }, t.decide(site "lomonosov", cluster(jobs)):started())
	end)

	it("limits what an account uses in a month, with a fifth carried over", function()
		-- students: 100,000 and 20,000 of October; 119,000 used
		local usage = { { user = "eva", account = "students", partition = "regular4", cpu = "119000h", ended_ago = "1d" } }
		local function started(tasks)
			return t.decide(site "lomonosov", cluster({ { id = 1, user = "fedor", account = "students", partition = "regular4",
				tasks = tasks, time_limit = "10h" } }, { usage = usage })):started()
		end
		assert.same({ 1 }, started(100))
		assert.same({}, started(101))
	end)

	it("lends idle nodes of test to who is in layer 2000 or above", function()
		local jobs = { { id = 1, user = "boris", partition = "regular4", nodes = 59, exclusive = true, time_limit = "10h" },
			{ id = 2, user = "climate", partition = "regular4", nodes = 4, exclusive = true, time_limit = "10h", submitted_ago = 0 } }
		jobs[1].account = "urgent"
		local plan = t.decide(site "lomonosov", cluster(jobs))
		assert.same({ 1, 2 }, plan:started())
		assert.same(4, #plan:start(2).nodes)
		jobs[2].user = "dina"
		assert.same({ 1 }, t.decide(site "lomonosov", cluster(jobs)):started())
	end)

	it("has first come, first served in test", function()
		local plan = t.decide(site "lomonosov", cluster { { id = 1, partition = "test", nodes = 3, exclusive = true },
			{ id = 2, partition = "test", nodes = 2, exclusive = true }, { id = 3, partition = "test", nodes = 1, exclusive = true } })
		assert.same({ 1 }, plan:started())
		assert.equal("fcfs", plan:start(1).by)
	end)
end)

describe("examples/university", function()
	it("lets who has used little and who has nothing running go first, and refuses nobody", function()
		local c = t.cluster { nodes = "4x8c", now = now,
			partitions = { main = { nodes = "n[1-3]" }, courses = { nodes = "n4" } },
			running = { { id = 9, user = "gregor", partition = "main", nodes = 1, exclusive = true, started_ago = "1h", ends_in = "1h" } },
			usage = { { user = "hana", account = "", cpu = "2000h", ended_ago = "14d" } },
			pending = {
				{ id = 1, user = "gregor", partition = "main", nodes = 1, exclusive = true, submitted_ago = "2h" },	-- 100 x 0.997 + 0.8
				{ id = 2, user = "hana", partition = "main", nodes = 1, exclusive = true, submitted_ago = "3h" },	-- 50 + 100 x 0.707 + 1.3
				{ id = 3, user = "ida", partition = "main", nodes = 1, exclusive = true, submitted_ago = "1h" } } }	-- 50 + 100 + 0.4
		assert.same({ 3, 2 }, t.decide(site "university", c):started())
	end)

	it("keeps exercises small", function()
		local plan = t.decide(site "university", t.cluster { nodes = "4x8c",
			partitions = { main = { nodes = "n[1-3]" }, courses = { nodes = "n4" } },
			pending = { { id = 1, partition = "courses", tasks = 8, time_limit = "9h" },
				{ id = 2, partition = "courses", tasks = 8, time_limit = "8h" } } })
		assert.same({ 2 }, plan:started())
	end)
end)

describe("examples/gpu-lab", function()
	it("limits GPUs at once, and lets a job that is larger run alone", function()
		local function started(hours)
			return t.decide(site "gpu-lab", t.cluster { nodes = "2x32c8g", now = now,
				running = { { id = 9, user = "jan", nodes = 1, cores = 1, gres = "gpu:2", ends_in = "48h" } },
				pending = { { id = 1, user = "jan", tasks = 1, gres = "gpu:2", time_limit = hours .. "h" },
					{ id = 2, user = "kim", tasks = 1, gres = "gpu:8", time_limit = "48h" } } }):started()
		end
		assert.same({ 1, 2 }, started(48))	-- 96 + 96 = 192; 384 alone
		assert.same({ 2 }, started(49))
	end)

	it("lets who has used his week run after the others", function()
		local c = t.cluster { nodes = "1x32c8g", now = now,
			usage = { { user = "jan", account = "", gpu = "480h", ended_ago = "1d" } },
			pending = { { id = 1, user = "jan", tasks = 1, gres = "gpu:4", time_limit = "10h" },
				{ id = 2, user = "kim", tasks = 1, gres = "gpu:4", time_limit = "10h", submitted_ago = "1h" },
				{ id = 3, user = "kim", tasks = 1, gres = "gpu:1", time_limit = "10h" } } }
		local plan = t.decide(site "gpu-lab", c)
		assert.same({ 2, 3 }, plan:started())
		assert.matches("^weekly GPUs: user jan has 480 of 500 gpu%-hours this week, asks for 40", select(2, plan:pending(1)))
	end)
end)
