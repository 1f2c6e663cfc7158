-- SPDX-License-Identifier: MIT
-- sched.score: orders by name, and what fills in behind the first job that waits.
local s = require "spec.support"
local t = require "sched.test"

-- One node of two is free for an hour; job 2 waits for both.
local function holes(more)
	local pending = { { id = 2, nodes = 2, exclusive = true, time_limit = "2h" } }
	for _, job in ipairs(more) do
		pending[#pending + 1] = job
	end
	return t.cluster { nodes = "2x8c", pending = pending, running = { { id = 1, nodes = 1, exclusive = true, ends_in = "1h" } },
		history = { { user = "short", runtime = 60, cpus = 8, time_limit = "1h", ended_ago = "1h" },
			{ user = "long", runtime = 3500, cpus = 8, time_limit = "1h", ended_ago = "1h" } } }
end

describe("backfill_order", function()
	for _, policy in ipairs { "easy", "conservative" } do
		it("fills in by walltimes, or by what is expected, under " .. policy, function()
			local two = holes { { id = 3, tasks = 8, time_limit = "50m" }, { id = 4, tasks = 8, time_limit = "40m" } }
			assert.same({ 3 }, t.decide(policy, two):started())
			assert.same({ 4 }, t.decide(policy .. ",backfill_order=sjbf", two):started())
			two = holes { { id = 3, tasks = 8, time_limit = "1h", user = "long" }, { id = 4, tasks = 8, time_limit = "1h", user = "short" } }
			assert.same({ 3 }, t.decide(policy .. ",backfill_order=sjbf", two):started())
			assert.same({ 4 }, t.decide(policy .. ",backfill_order=sjbf,estimate=last_two", two):started())
		end)

		it("keeps to walltimes unless the site says otherwise, under " .. policy, function()
			local long = holes { { id = 3, tasks = 8, time_limit = "3h", user = "short" } }
			assert.same({}, t.decide(policy .. ",backfill_order=sjbf,estimate=last_two", long):started())
			assert.same({ 3 }, t.decide(policy .. ",backfill_order=sjbf,estimate=last_two,book=estimate", long):started())
		end)
	end

	it("books no time for those without a walltime of which nothing is expected", function()
		local function reserved(options, user)
			return t.decide("conservative,backfill_order=fcfs,book=estimate" .. options, holes {
				{ id = 3, nodes = 2, exclusive = true, user = user, time_limit = math.huge },
				{ id = 4, nodes = 2, exclusive = true, time_limit = "1h" } }):reserved()
		end
		assert.same({ 2, 3 }, reserved("", "short"))
		assert.same({ 2, 3 }, reserved(",estimate=last_two", "nobody"))
		assert.same({ 2, 3, 4 }, reserved(",estimate=last_two", "short"))
	end)

	it("leaves the head alone", function()
		local plan = t.decide("easy,backfill_order=smallest", holes { { id = 3, tasks = 1, time_limit = "10m" } })
		assert.equal(3600, plan:reservation(2).in_s)
		assert.same({ 3 }, plan:started())
	end)
end)

describe("what schedlua tune tries", function()
	local options = require "sched.options"

	local function tried(policy, option)
		return assert(options.to_try(dofile("lua/policies/" .. policy .. ".lua").options[option]))
	end

	it("are orders, and every predictor that is bundled, walltimes first", function()
		local bundled = {}
		for path in io.popen("ls lua/lib/sched/predict_*.lua"):lines() do
			bundled[#bundled + 1] = path:match("predict_([%w_]+)%.lua$")
		end
		table.sort(bundled)
		for _, where in ipairs { { "easy", "estimate" }, { "conservative", "estimate" }, { "predictive", "predictor" } } do
			local list = tried(where[1], where[2])
			assert.equal("limit", list[1])
			table.sort(list)
			assert.same(bundled, list)
		end
		assert.same({ "queue", "sjbf", "smallest" }, tried("easy", "backfill_order"))
		assert.same({ "queue", "sjbf", "smallest" }, tried("conservative", "backfill_order"))
	end)

	it("is taken where it stands in a site file, and goes before what is said with the policy", function()
		local two = holes { { id = 3, tasks = 8, time_limit = "1h", user = "long" }, { id = 4, tasks = 8, time_limit = "1h", user = "short" } }
		local function started(tuned)
			return t.decide(s.site('local sched = require "sched" return sched.site { tuned = { easy = { ' .. tuned ..
				' } }, default = { "easy", backfill_order = "queue" } }'), two):started()
		end
		assert.same({ 3 }, started "")
		for _, predictor in ipairs(tried("easy", "estimate")) do
			assert.same({ predictor == "limit" and 3 or 4 }, started('backfill_order = "sjbf", estimate = "' .. predictor .. '"'))
		end
	end)
end)

describe("sched.score", function()
	local queue = { nodes = "1x8c", pending = {
		{ id = 1, tasks = 8, time_limit = "2h", submitted_ago = "3h" }, { id = 2, tasks = 4, time_limit = "30m", submitted_ago = "2h" },
		{ id = 3, tasks = 1, time_limit = "1h", submitted_ago = "1h" }, { id = 4, tasks = 8, time_limit = "10m", submitted_ago = "10m" } },
		running = { { id = 9, nodes = 1, exclusive = true, ends_in = "1h" } } }

	-- The order in which a policy meets the queue.
	local function order(list)
		local set = s.site('local sched = require "sched" return sched.site { default = { ' .. list .. ', "tells" } }', {
			tells = s.policy(s.unprobed .. "for job in cluster:queue() do slurm.log_info('%d', job.id) end").source })
		local ids = {}
		for i, line in ipairs(t.decide(set, t.cluster(queue)):log()) do
			ids[i] = line:match("%d+")
		end
		return table.concat(ids, " ")
	end

	it("puts the queue into the order of a function by name", function()
		assert.equal("1 2 3 4", order 'sched.score { "fcfs" }')
		assert.equal("4 2 3 1", order 'sched.score { "sjf" }')
		assert.equal("3 4 2 1", order 'sched.score { "smallest" }')	-- 3600, 4800, 7200 and 57600 core-seconds
		assert.equal("2 1 4 3", order 'sched.score { "wfp3" }')		-- 256, 27, 8 and 1
		assert.equal("3 2 1 4", order 'sched.score { "unicef" }')	-- without end, 2, 0.5, 0.33
		assert.equal("3 2 4 1", order 'sched.score { "f1" }')		-- 3.6, 13, 22.2 and 30.9, and much the same s
	end)

	it("refuses what it does not know", function()
		assert.matches("unknown order 'f9'", s.refused('sched.score { "f9" }, "easy"'))
		assert.matches("unknown option 'by' of sched.score", s.refused('sched.score { "f1", by = 1 }, "easy"'))
	end)
end)
