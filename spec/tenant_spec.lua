-- SPDX-License-Identifier: MIT
--
-- Jobs that share nodes with those of their user, or of their label, alone: --exclusive=user,
-- ExclusiveUser, --exclusive=mcs.

local t = require "sched.test"

local USER, MCS = { "USER_NODES" }, { "MCS" }

--- One job that runs on n1, for an hour.
local function beside(running, pending, more)
	local spec = more or { nodes = "2x4c" }
	running.id, running.nodes, running.ends_in = 1, "n1", "1h"
	running.cores = 1
	spec.running, spec.pending = { running }, pending
	return t.decide("easy", t.cluster(spec))
end

local function nodes_of(plan, id)
	local start = plan:start(id)
	assert.equal("", start.native and "native" or "")
	return start.nodes
end

describe("nodes of one user", function()
	it("take jobs of his, and nobody else's", function()
		local plan = beside({ uid = 7, asks = USER }, {
			{ id = 2, uid = 8, tasks = 1 },
			{ id = 3, uid = 7, tasks = 1, asks = USER },
			{ id = 4, uid = 7, tasks = 2, asks = USER } })
		assert.same({ "n2" }, nodes_of(plan, 2))
		assert.same({ "n1" }, nodes_of(plan, 3))
		assert.same({ "n1" }, nodes_of(plan, 4))
	end)

	it("are nodes on which no other user has anything", function()
		local plan = beside({ uid = 8 }, { { id = 2, uid = 7, tasks = 1, asks = USER },
			{ id = 3, uid = 7, tasks = 4, asks = USER } })
		assert.same({ "n2" }, nodes_of(plan, 2))
		assert.same({ 2 }, plan:started())
		assert.equal(3600, plan:reservation(3).in_s)
		assert.same({ "n1" }, plan:reservation(3).nodes)
	end)

	it("are others' until the last of their jobs has left", function()
		local plan = t.decide("easy", t.cluster { nodes = "1x4c",
			running = { { id = 1, uid = 8, nodes = "n1", cores = 1, ends_in = "3h" },
				{ id = 2, uid = 9, nodes = "n1", cores = 1, ends_in = "1h" },
				{ id = 3, uid = 7, nodes = "n1", cores = 1, ends_in = "5h" } },
			pending = { { id = 4, uid = 7, tasks = 2, asks = USER } } })
		assert.equal(3 * 3600, plan:reservation(4).in_s)
	end)

	it("may be those on which his other jobs run", function()
		local plan = beside({ uid = 7 }, { { id = 2, uid = 7, tasks = 3, asks = USER } })
		assert.same({ "n1" }, nodes_of(plan, 2))
	end)

	it("take nothing while they are completing, not even his", function()
		local plan = t.decide("easy", t.cluster {
			nodes = { { name = "n1", cores = 4, owner = 7, state = { "COMPLETING" } }, { name = "n2", cores = 4 } },
			pending = { { id = 2, uid = 7, tasks = 4, asks = USER }, { id = 3, uid = 7, tasks = 4, asks = USER } } })
		assert.same({ 2 }, plan:started())
		assert.same({ "n2" }, nodes_of(plan, 2))
	end)

	it("are kept for the jobs that are planned there", function()
		local plan = beside({ uid = 9 }, {
			{ id = 2, uid = 7, tasks = 1, asks = USER },
			{ id = 3, uid = 8, tasks = 1, asks = USER },
			{ id = 4, uid = 9, tasks = 1 } })
		assert.same({ "n2" }, nodes_of(plan, 2))
		assert.same({ 2, 4 }, plan:started())
		assert.equal(3600, plan:reservation(3).in_s)
		assert.same({ "n1" }, nodes_of(plan, 4))
	end)

	it("are what a partition with ExclusiveUser is made of", function()
		local plan = beside({ uid = 7 }, { { id = 2, uid = 8, tasks = 1 }, { id = 3, uid = 7, tasks = 3 },
			{ id = 4, uid = 8, tasks = 3 } },
			{ nodes = "2x4c", partitions = { main = { flags = { "UP", "DEFAULT", "EXCLUSIVE_USER" } } } })
		assert.same({ "n2" }, nodes_of(plan, 2))
		assert.same({ "n1" }, nodes_of(plan, 3))
		assert.same({ "n2" }, nodes_of(plan, 4))
	end)
end)

describe("nodes of one label", function()
	it("take jobs of that label, and only such as ask for it", function()
		local plan = beside({ uid = 7, asks = MCS, mcs_label = "red" }, {
			{ id = 2, uid = 8, tasks = 1, asks = MCS, mcs_label = "red" },
			{ id = 3, uid = 7, tasks = 1, asks = MCS, mcs_label = "blue" },
			{ id = 4, uid = 7, tasks = 1, mcs_label = "red" } })
		assert.same({ "n1" }, nodes_of(plan, 2))
		assert.same({ "n2" }, nodes_of(plan, 3))
		assert.same({ 2, 3 }, plan:started())
	end)
end)

describe("bids", function()
	--- Which bids win by the rows, highest priority first, and how many of those can be started.
	local GREEDY = { source = [[
		local packing = require "sched.packing"
		local M = { api = 1 }
		function M.decide(cluster, plan)
			local jobs = {}
			for job in cluster:queue() do jobs[#jobs + 1] = job end
			local bids = cluster:bids(jobs, { max = 3 })
			for _, bid in ipairs(packing.greedy(cluster, bids, { value = function(job) return job.priority end })) do
				assert(plan:start(bid.job, { bid = bid }))
			end
		end
		return M]] }

	local function winners(jobs, more)
		local spec = more or {}
		spec.nodes, spec.pending = "1x8c", jobs
		return t.decide(GREEDY, t.cluster(spec)):started()
	end

	it("of several users do not win together on a node that one of them is to have", function()
		assert.same({ 1, 3 }, winners { { id = 1, uid = 7, tasks = 4, priority = 30, asks = USER },
			{ id = 2, uid = 8, tasks = 2, priority = 20 }, { id = 3, uid = 7, tasks = 4, priority = 10, asks = USER } })
		assert.same({ 1, 3 }, winners { { id = 1, uid = 7, tasks = 4, priority = 30 },
			{ id = 2, uid = 8, tasks = 2, priority = 20, asks = USER }, { id = 3, uid = 9, tasks = 4, priority = 10 } })
	end)

	it("... nor in a partition with ExclusiveUser", function()
		assert.same({ 1, 3 }, winners({ { id = 1, uid = 7, tasks = 4, priority = 30 },
			{ id = 2, uid = 8, tasks = 4, priority = 20 }, { id = 3, uid = 7, tasks = 4, priority = 10 } },
			{ partitions = { main = { flags = { "UP", "DEFAULT", "EXCLUSIVE_USER" } } } }))
	end)

	it("... nor of several labels", function()
		assert.same({ 1, 3 }, winners { { id = 1, tasks = 4, priority = 30, asks = MCS, mcs_label = "red" },
			{ id = 2, tasks = 2, priority = 20, asks = MCS, mcs_label = "blue" },
			{ id = 3, tasks = 4, priority = 10, asks = MCS, mcs_label = "red" } })
	end)
end)
