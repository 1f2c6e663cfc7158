-- SPDX-License-Identifier: MIT
--
-- GPUs that stay of use: an entry of examples/cookbook.
local t = require "sched.test"

local site = { site = "examples/cookbook/whole_gpus.lua" }

-- Jobs that cannot start yet and say what is expected: pairs of GPUs.
local function with_pairs(pending)
	for id = 100, 130 do
		pending[#pending + 1] = { id = id, gpus_per_node = 2, cpus_per_task = 2, begin_time = 1700009999 }
	end
	return pending
end

describe("examples/cookbook/whole_gpus", function()
	it("takes a GPU that is no use to pairs, and waits where it would break one up", function()
		local one = { id = 1, gpus_per_node = 1, cpus_per_task = 1, submit_time = 1699999990, eligible_time = 1699999990 }
		local function decide(used)
			return t.decide(site, t.cluster { nodes = "2x8c4g", now = 1700000000, pending = with_pairs { one }, running = {
				{ id = 90, nodes = { "n1" }, cores = 2, gpus_per_node = 2, ends_in = "1h" },
				{ id = 91, nodes = { "n2" }, cores = used, gpus_per_node = used, ends_in = "1h" } } })
		end
		assert.same({ "n2" }, decide(3):start(1).nodes)
		assert.same({}, decide(2):started())
		one.submit_time, one.eligible_time = 1699999300, 1699999300
		assert.same({ 1 }, decide(2):started())
	end)

	it("keeps jobs without GPUs off cores that idle GPUs need, while these are wanted", function()
		local cpus = { id = 1, cpus_per_task = 6 }
		assert.same({ 1 }, t.decide(site, t.cluster { nodes = "1x8c4g", pending = { cpus } }):started())
		assert.same({}, t.decide(site, t.cluster { nodes = "1x8c4g", pending = { cpus,
			{ id = 2, nodes = 1, gpus_per_node = 4, cpus_per_task = 8, begin_time = 1700009999 } }, now = 1700000000 }):started())
	end)

	it("stops jobs without GPUs before jobs with GPUs", function()
		local function victim(id, row)
			row.id, row.qos, row.stoppable, row.ends_in = id, "low", true, "9h"
			return row
		end
		local plan = t.decide(site, t.cluster { nodes = "2x8c4g", running = {
			victim(91, { nodes = { "n1" }, cores = 8, started_ago = 18000 }),
			victim(92, { nodes = { "n2" }, cores = 8, gpus_per_node = 4, started_ago = 600 }) },
			pending = { { id = 1, gpus_per_node = 4, cpus_per_task = 8, preempts = "QOS=low", flags = { "MAY_PREEMPT" } } } })
		assert.equal(1, #plan.raw.stops)
		assert.equal(91, plan.raw.stops[1].job)
	end)
end)

describe("examples/cookbook/move_jobs", function()
	local function decide(lost, waited)
		local function victim(id, row)
			row.id, row.qos, row.stoppable, row.ends_in, row.tasks, row.cores, row.gpus_per_node = id, "low", true, "9h", 1, 1, 2
			return row
		end
		return t.decide({ site = "examples/cookbook/move_jobs.lua" }, t.cluster { nodes = "2x8c4g", now = 1700000000, running = {
			victim(91, { nodes = { "n1" }, started_ago = lost }), victim(92, { nodes = { "n2" }, started_ago = lost + 60 }) },
			pending = { { id = 1, gpus_per_node = 4, tasks = 1, time_limit = "1h", preempts = "QOS=low", flags = { "MAY_PREEMPT" },
				submit_time = 1700000000 - waited, eligible_time = 1700000000 - waited } } }).raw.stops
	end

	it("moves a job rather than to stop one", function()
		local stops = decide(600, 60)
		assert.equal(1, #stops)
		assert.same({ 91, 1 }, { stops[1].job, stops[1].moves })
	end)

	it("stops one that has lost too much to be moved, once the other has waited for an hour", function()
		assert.same({}, decide(36000, 60))
		local stops = decide(36000, 3601)
		assert.equal(1, #stops)
		assert.same({ 91, 0 }, { stops[1].job, stops[1].moves })
	end)
end)
