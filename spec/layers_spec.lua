-- SPDX-License-Identifier: MIT
local support = require "spec.support"
local t = require "sched.test"

local site, refused = support.site_of, support.refused

-- One core that is busy: fcfs says by whom it waits.  The order is that in which jobs are looked at.
local probe = [[
	local M = { api = 1 }
	function M.decide(cluster)
		if cluster.name ~= "probe" then
			for job in cluster:queue() do slurm.log_info("%d", job.id) end
		end
	end
	return M]]

local function order(list, cluster, files)
	files = files or {}
	files.probe = probe
	local ids = {}
	for _, line in ipairs(t.decide(site(list .. ', "probe"', files), cluster):log()) do
		ids[#ids + 1] = math.tointeger(tonumber((line:gsub("^info: ", ""))))
	end
	return ids
end

local four = t.cluster { nodes = "1x8c", now = 1000000, pending = {
	{ id = 1, user = "alice", account = "physics", submit_time = 1000, priority = 9 },
	{ id = 2, user = "bob", account = "physics", submit_time = 900, priority = 1 },
	{ id = 3, user = "carol", account = "math", submit_time = 800, priority = 5 },
	{ id = 4, user = "dave", account = "math", submit_time = 1100, priority = 7 } } }

describe("layers", function()
	local list = 'sched.layers { file = "layers.conf" }'

	it("order by layer, then by time of submission, and never by Slurm's priority", function()
		assert.same({ 3, 2, 1, 4 }, order(list, four, { ["layers.conf"] = "# all alike\n" }))
		assert.same({ 4, 3, 2, 1 }, order(list, four, { ["layers.conf"] = "user dave 65536\n" }))
		assert.same({ 1, 4, 3, 2 }, order(list, four,
			{ ["layers.conf"] = "user dave 10\nuser alice 10\nuser bob 0\ndefault 5\nuser alice 11\n" }))
	end)

	it("put an account's users into its layer, but for those with a line of their own", function()
		assert.same({ 2, 1, 3, 4 }, order(list, four, { ["layers.conf"] = "account physics 7\n" }))
		assert.same({ 2, 3, 4, 1 }, order(list, four, { ["layers.conf"] = "account physics 7\nuser alice 0\ndefault 3\n" }))
	end)

	it("have a default in the site file", function()
		assert.same({ 3, 2, 4, 1 }, order('sched.layers { file = "layers.conf", default = 5 }', four, { ["layers.conf"] = "user alice 4\n" }))
	end)

	it("are refused outside of 0 to 65536, at their line", function()
		local function bad(text)
			return refused(list, { ["layers.conf"] = text })
		end
		assert.equal("layers.conf:2: user alice: '65537' is no layer; expected a number from 0 to 65536", bad "default 1\nuser alice 65537\n")
		assert.matches("^layers.conf:1: user alice: '%-1' is no layer", bad "user alice -1\n")
		assert.matches("^layers.conf:1: user alice: 'high' is no layer", bad "user alice high\n")
		assert.matches("^layers.conf:1: user alice: '1 2' is no layer", bad "user alice 1 2\n")
		assert.matches("^layers.conf:1: default: '' is no layer", bad "default\n")
		assert.matches("^site.lua:3: sched.layers without a file", refused "sched.layers { }")
	end)
end)

describe("weighted ranks", function()
	it("add weight x value", function()
		-- waited: 1 and 2 one day, 3 two days; layers 2, 0, 0
		local c = t.cluster { nodes = "1x8c", pending = {
			{ id = 1, user = "alice", submitted_ago = "1d" }, { id = 2, user = "bob", submitted_ago = "1d" },
			{ id = 3, user = "carol", submitted_ago = "2d" } } }
		local function list(weight)
			return ('sched.weighted { { %d, sched.layers { file = "l" } }, { 10, sched.ageing { per = "1d" } } }'):format(weight)
		end
		local files = { l = "user alice 2\n" }
		assert.same({ 1, 3, 2 }, order(list(6), c, files))	-- 12 + 10 = 22, 10, 20
		assert.same({ 3, 1, 2 }, order(list(4), c, files))	-- 8 + 10 = 18, 10, 20
	end)

	it("may have a limit of age", function()
		local c = t.cluster { nodes = "1x8c", pending = {
			{ id = 1, submitted_ago = "3d" }, { id = 2, submitted_ago = "9d" }, { id = 3, submitted_ago = "2d" } } }
		-- 2 and 2, then by submission; 2 days are 2 too
		assert.same({ 2, 1, 3 }, order('sched.weighted { { 1, sched.ageing { per = "1d", max = 2 } } }', c))
	end)

	it("are refused with what is no weight or no rank", function()
		assert.matches("^site.lua:3: sched.weighted: entry 1: weight: expected a number, got x",
			refused 'sched.weighted { { "x", sched.ageing { } } }')
		assert.matches("^site.lua:3: sched.weighted: entry 1: expected a table with rank", refused "sched.weighted { { 1 } }")
		assert.matches("^site.lua:3: sched.weighted: expected at least one", refused "sched.weighted { }")
		assert.matches("two policies with rank: 'layers' and 'ageing'",
			refused('sched.layers { file = "l" }, sched.ageing { }', { l = "default 1\n" }))
	end)
end)

describe("the first job", function()
	it("of users with nothing running goes first", function()
		local c = t.cluster { nodes = "1x8c", running = { { id = 9, user = "alice", cores = 1, nodes = 1, ends_in = "1h" } }, pending = {
			{ id = 1, user = "alice", submit_time = 10 }, { id = 2, user = "bob", submit_time = 30 }, { id = 3, user = "bob", submit_time = 20 },
			{ id = 4, user = "carol", submit_time = 40 } } }
		assert.same({ 3, 4, 1, 2 }, order("sched.first_job { }", c))
	end)

	it("may be one of a certain size at most", function()
		local c = t.cluster { nodes = "1x8c", pending = {
			{ id = 1, user = "alice", account = "a", tasks = 4, time_limit = "2h", submit_time = 10 },
			{ id = 2, user = "bob", account = "a", tasks = 4, time_limit = "3h", submit_time = 20 },
			{ id = 3, user = "alice", account = "a", tasks = 1, time_limit = "1h", submit_time = 30 },
			{ id = 4, user = "carol", account = "b", tasks = 8, time_limit = "1h", submit_time = 40 } } }
		assert.same({ 1, 4, 2, 3 }, order('sched.first_job { most = "8 cpu-hours" }', c))
		assert.same({ 1, 2, 3, 4 }, order('sched.first_job { most = "7 cpu-hours" }', c))
		assert.same({ 4, 1, 2, 3 }, order('sched.weighted { { 1, sched.first_job { by = "account", most = "12 cpu-hours" } }, ' ..
			'{ 2, sched.layers { file = "l" } } }', c, { l = "account b 1\n" }))
		assert.matches("^site.lua:3: most: expected one amount", refused 'sched.first_job { most = "7 cpu-hours, 1 gpu-hours" }')
	end)
end)

describe("fair share", function()
	local function cluster()
		return t.cluster { nodes = "1x8c", now = 1700000000,
			running = { { id = 9, user = "carol", nodes = 1, cores = 1, started_ago = "10h", ends_in = "1h" } },
			pending = { { id = 1, user = "alice", account = "a", submit_time = 10 }, { id = 2, user = "bob", account = "b", submit_time = 20 },
				{ id = 3, user = "carol", account = "b", submit_time = 30 }, { id = 4, user = "dave", account = "a", submit_time = 40 } },
			usage = { { user = "alice", account = "a", cpu = "30h", ended_ago = 0 },
				{ user = "bob", account = "b", cpu = "40h", ended_ago = "1d" } } }
	end

	it("goes by usage of which half counts after a half-life, and by what runs", function()
		-- decayed at 1 d: alice 30, bob 20, carol 10 running, dave nothing
		assert.same({ 4, 3, 2, 1 }, order('sched.fair_share { half_life = "1d" }', cluster()))
		-- at 10 d: bob 37.3
		assert.same({ 4, 3, 1, 2 }, order('sched.fair_share { half_life = "10d" }', cluster()))
		-- account a has 30, b 20 + 10
		assert.same({ 1, 4, 2, 3 }, order('sched.fair_share { half_life = "1000d", by = "account" }', cluster()))
	end)

	it("divides by shares", function()
		-- alice 30 / 4 = 7.5, carol 10, bob 20
		assert.same({ 4, 1, 3, 2 }, order('sched.fair_share { half_life = "1d", shares = "shares.conf" }', cluster(),
			{ ["shares.conf"] = "user alice 4\n" }))
		assert.matches("^shares.conf:1: user alice: '0' is no share", refused('sched.fair_share { shares = "shares.conf" }',
			{ ["shares.conf"] = "user alice 0\n" }))
	end)

	it("is worth a half at half_at", function()
		-- 100 x value: carol 2^-1 = 50, bob 2^-2 = 25, alice 2^-3 = 12.5, dave 100; 30 points for a layer
		local list = 'sched.weighted { { 100, sched.fair_share { half_life = "1d", half_at = "10 cpu-hours" } }, ' ..
			'{ 30, sched.layers { file = "l" } } }'
		assert.same({ 4, 2, 3, 1 }, order(list, cluster(), { l = "user bob 1\n" }))	-- bob 55
		assert.matches("^site.lua:3: half_at: \"1 gpu%-hours\"; expected an amount of cpu%-hours",
			refused 'sched.fair_share { half_at = "1 gpu-hours" }')
	end)
end)
