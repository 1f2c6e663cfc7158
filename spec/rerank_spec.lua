-- SPDX-License-Identifier: MIT
--
-- rerank: rank is asked again after starts.
local support = require "spec.support"
local t = require "sched.test"

-- A user's third and later running job ranks below everybody's first two.
local third = [[{ name = "third", rerank = %s, rank = function(job, cluster)
	return (cluster.usage:holding { by = "user", unit = "job" }[job.user] or 0) < 2 and 1 or 0
end }, "%s"]]

local function site(again, decides)
	return support.site_of(third:format(again, decides or "easy"))
end

local function jobs(list)
	local pending = {}
	for i, job in ipairs(list) do
		pending[i] = { id = i, user = job[1], array = job[2], time_limit = "1h" }
	end
	return pending
end

local function started(policy, list, more)
	local spec = { nodes = "1x6c", pending = jobs(list) }
	for key, value in pairs(more or {}) do
		spec[key] = value
	end
	return t.decide(policy, t.cluster(spec)):started()
end

describe("rerank", function()
	local mixed = { { "anna" }, { "anna" }, { "anna" }, { "anna" }, { "bob" }, { "bob" }, { "bob" } }

	it("puts a job back to its place when what was started has made its rank fall", function()
		assert.same({ 1, 2, 5, 6, 3, 4 }, started(site(true), mixed))
		assert.same({ 1, 2, 3, 4, 5, 6 }, started(site(false), mixed))
	end)

	it("does so for each task of an array, whatever policy decides", function()
		for _, decides in ipairs { "easy", "fcfs", "conservative" } do
			assert.same({ 1, 1, 2, 3, 1, 1 }, started(site(true, decides), { { "anna", "9" }, { "bob" }, { "bob" }, { "bob" } }))
			assert.same({ 1, 1, 1, 1, 1, 1 }, started(site(false, decides), { { "anna", "9" }, { "bob" }, { "bob" }, { "bob" } }))
		end
	end)

	it("counts what runs", function()
		local running = { { id = 90, user = "anna", cores = 1, nodes = 1 }, { id = 91, user = "anna", cores = 1, nodes = 1 } }
		assert.same({ 2, 3, 1, 1 }, started(site(true), { { "anna", "9" }, { "bob" }, { "bob" } }, { running = running }))
	end)

	it("goes with sched.weighted", function()
		local list = third:format("true", "easy"):gsub("^(.-) }, \"easy\"$", "sched.weighted { { 5, %1 } } }, \"easy\"")
		assert.same({ 1, 2, 5, 6, 3, 4 }, started(support.site_of(list), mixed))
	end)

	it("keeps to the window, in which a job that was put back counts once", function()
		local policy = support.site_of((third:format("true", "easy"):gsub('"easy"$', '"easy", window = 4')))
		assert.same({ 1, 1, 2, 3, 1, 1 }, started(policy, { { "anna", "9" }, { "bob" }, { "bob" }, { "bob" } }))
	end)

	it("asks a bounded number of times, however ranks fall", function()
		local falling = [[{ name = "falling", rerank = true, rank = function(job, cluster)
			slurm.log_info("%d", job.id)
			return -#cluster.running * (job.id % 7)
		end }, "easy"]]
		local list = {}
		for i = 1, 40 do
			list[i] = { "anna" }
		end
		local plan = t.decide(support.site_of(falling), t.cluster { nodes = "1x40c", pending = jobs(list) })
		assert.equal(40, #plan:started())
		local asked = {}
		for _, line in ipairs(plan:log()) do
			asked[line] = (asked[line] or 0) + 1
		end
		for _, n in pairs(asked) do
			assert(n <= 10, n)		-- at first, eight times put back, and once more
		end
	end)

	it("stands beside a rank, and is true or false", function()
		assert.matches("rerank: expected true or false, beside a rank, got \"yes\"",
			support.refused '{ name = "x", rerank = "yes", rank = function() return 1 end }')
		assert.matches("rerank: expected true or false, beside a rank, got true",
			support.refused '{ name = "x", rerank = true, admit = function() return true end }')
	end)
end)
