-- SPDX-License-Identifier: MIT
-- How often a job was overtaken (sched.bypass, the guard's guard_bypass).

local s = require "spec.support"
local t = require "sched.test"

-- A policy that only counts, and tells who is due after so many bypasses.
local function counting(limit, admit)
	local policy = s.policy(([[
		local due = require("sched.bypass").due(cluster, plan, %d)
		local ids = {}
		for id, d in pairs(due) do ids[d.number] = id .. "@" .. d.at - 1700000000 end
		print(table.concat(ids, " "))
	]]):format(limit), "require 'sched.bypass' " .. (admit or ""))
	return policy
end

-- One cycle after the other, each a cluster's pending and running jobs (ids, or tables); what was
-- told in each, and the bypasses by id after the last.
local function cycles(policy, list)
	local remembered, told, order = nil, {}, nil
	for i, cycle in ipairs(list) do
		local spec = { nodes = "8x4c", now = 1700000000 + i, pending = {}, running = {}, remembered = remembered }
		for _, what in ipairs { "pending", "running" } do
			for k, job in ipairs(cycle[what] or {}) do
				spec[what][k] = type(job) == "table" and job or { id = job, nodes = 1 }
			end
		end
		local plan = t.decide(policy, t.cluster(spec))
		told[i] = plan:log()[1]:gsub("^info: ", "")
		remembered = plan:remembered()
		order = remembered.main and remembered.main["guard.order"]
	end
	local passed = {}
	for i, id in ipairs(order and order.jobs or {}) do
		passed[id] = order.passed[i]
	end
	return told, passed, remembered
end

describe("a job is overtaken", function()
	it("by each that stood behind it and started", function()
		local _, passed = cycles(counting(100), {
			{ pending = { 1, 2, 3, 4, 5 } },
			{ pending = { 1, 3, 5 }, running = { 2, 4 } },
			{ pending = { 1, 3, 6 }, running = { 5, 2 } },
		})
		-- 1: by 2, 4, 5; 3: by 4, 5, not by 2; 6 has just come
		assert.same({ [1] = 3, [3] = 2, [6] = 0 }, passed)
	end)

	it("not by what was cancelled, is held or is gone without a trace", function()
		local _, passed = cycles(counting(100), {
			{ pending = { 1, 2, 3, 4, 5, 6 } },
			{ pending = { 1 }, running = {
				{ id = 2, state = "CANCELLED", start_time = 1700000001, end_time = 1700000001 },
				{ id = 3, state = "DEADLINE", start_time = 1700000001, end_time = 1700000001 },
				{ id = 4, state = "PENDING" },
				{ id = 5, state = "COMPLETED", start_time = 1700000001, end_time = 1700000001 } } },
		})
		assert.same({ [1] = 1 }, passed)
	end)

	it("by each task of an array", function()
		local function array(n)
			return { id = 2, array = n }
		end
		local _, passed = cycles(counting(100), {
			{ pending = { 1, array(5), 3 } },
			{ pending = { 1, array(3), 3 }, running = { 20, 21 } },
			{ pending = { 1, 3 }, running = { 22, 23, 2 } },
		})
		assert.same({ [1] = 5, [3] = 0 }, passed)
	end)

	it("no less for having been out of the queue for a while", function()
		local admit = [[function M.admit(job, cluster) return job.id ~= 1 or cluster.now ~= 1700000003 end]]
		local _, passed, remembered = cycles(counting(100, admit), {
			{ pending = { 1, 2, 3, 4 } }, { pending = { 1, 3, 4 }, running = { 2 } }, { pending = { 1, 3, 4 }, running = { 2 } },
		})
		assert.same({ [3] = 0, [4] = 0 }, passed)
		assert.same({ [1] = 1 }, remembered.main["guard.away"])
		_, passed, remembered = cycles(counting(100, admit), {
			{ pending = { 1, 2, 3, 4 } }, { pending = { 1, 3, 4 }, running = { 2 } }, { pending = { 1, 3, 4 }, running = { 2 } },
			{ pending = { 1, 4 }, running = { 3 } }, { pending = { 1 }, running = { 4 } },
		})
		assert.same({ [1] = 2 }, passed)	-- not by 3, which started while it was out of the queue
		assert.is_nil(remembered.main["guard.away"])
	end)

	it("and is due from then on, in the order in which it fell due, whatever becomes of the queue's", function()
		local told = cycles(counting(2), {
			{ pending = { 1, 2, 3, 4, 5, 6 } },
			{ pending = { 1, 2, 3, 6 }, running = { 4, 5 } },
			{ pending = { 3, 2, 1, 6 } },
			{ pending = { 7, 3, 1, 2 }, running = { 6 } },
			{ pending = { 7, 1, 2 }, running = { 3 } },
		})
		assert.same({ "", "1@2 2@2 3@2", "1@2 2@2 3@2", "1@2 2@2 3@2", "1@2 2@2" }, told)
	end)

	it("no more once it and all others have gone", function()
		local _, _, remembered = cycles(counting(1), { { pending = { 1, 2 } }, { pending = { 1 }, running = { 2 } },
			{ running = { 1, 2 } } })
		assert.same({}, remembered)
	end)

	it("in the simulator, too, by jobs that ended before the next look", function()
		local sim = t.simulate(s.policy([[
			guard.protect(cluster, plan, opt)
			local jobs = {}
			for job in cluster:queue() do jobs[#jobs + 1] = job end
			table.sort(jobs, function(a, b) return a.min_nodes < b.min_nodes end)
			for _, job in ipairs(jobs) do if plan:state(job) == "open" then plan:start(job) break end end
		]], [[local guard = require "sched.guard"
			M.options = guard.options({}, { guard_wait = 0, guard_bypass = 3 })]]), { nodes = "2x1c", jobs = {
			{ id = 1, nodes = 2, runtime = 10, time_limit = 10 },
			{ id = 2, nodes = 1, runtime = 10, time_limit = 10 }, { id = 3, nodes = 1, runtime = 10, time_limit = 10 },
			{ id = 4, nodes = 1, runtime = 10, time_limit = 10 }, { id = 5, nodes = 1, runtime = 10, time_limit = 10 },
			{ id = 6, nodes = 1, runtime = 10, time_limit = 10 } } }, { interval = 10 })
		assert.same({ 2, 3, 4, 1, 5, 6 }, sim:started())
	end)

	it("is counted in a queue of any length, of the first ten thousand", function()
		local pending = {}
		for i = 1, 12000 do
			pending[i] = { id = 1000000000 + i, array = i % 2 == 0 and "1000" or nil }
		end
		local plan = t.decide(counting(1), t.cluster { nodes = "1x1c", pending = pending })
		assert.equal(10000, #plan:remembered().main["guard.order"].jobs)
	end)
end)
