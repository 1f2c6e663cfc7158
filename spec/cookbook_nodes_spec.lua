-- SPDX-License-Identifier: MIT
--
-- Entries of examples/cookbook that say on which nodes and when.  Each is tried beside plain easy, which does not do it.
local t = require "sched.test"

local function site(name)
	return { site = "examples/cookbook/" .. name .. ".lua" }
end

local function berlin(time)
	return time .. " Europe/Berlin"
end

describe("examples/cookbook/big_jobs", function()
	local function cluster(time, limit)
		return t.cluster { nodes = "4x1c", now = berlin(time), pending = {
			{ id = 1, time_limit = limit or "1h" }, { id = 2, tasks = 3, nodes = 3, time_limit = limit or "1h" } } }
	end

	local function started(time, limit)
		return t.decide(site "big_jobs", cluster(time, limit)):started()
	end

	it("starts big jobs at night alone, and before small ones", function()
		assert.same({ 1 }, started "2026-03-12T12:00")
		assert.same({ 1 }, started "2026-03-12T19:59")
		assert.same({ 2, 1 }, started "2026-03-12T20:00")
		assert.same({ 2, 1 }, started "2026-03-13T05:59")
		assert.same({ 1, 2 }, t.decide("easy", cluster "2026-03-12T12:00"):started())
	end)

	it("has drain days, which begin with an empty machine and are for big jobs", function()
		assert.same({ 1 }, started("2026-11-13T19:00", "5h"))
		assert.same({}, started("2026-11-13T19:00", "5h 1m"))
		assert.same({ 2 }, started "2026-11-14T12:00")
		assert.same({ 2 }, started "2026-11-15T23:59")
		assert.same({ 1 }, started "2026-11-16T12:00")
	end)

	it("asks for a cycle when night falls", function()
		assert.equal(8 * 3600, t.decide(site "big_jobs", cluster "2026-03-12T12:00"):wakes())
	end)

	it("tells users why a big job waits", function()
		local _, why = t.decide(site "big_jobs", cluster "2026-03-12T12:00"):pending(2)
		assert.equal("big jobs start at night (20-6 h)", why)
	end)
end)

describe("examples/cookbook/interactive_node", function()
	it("keeps n1 from batch jobs, and prefers it for interactive ones", function()
		local c = t.cluster { nodes = "2x2c", pending = {
			{ id = 1, tasks = 2, nodes = 1 }, { id = 2, tasks = 2, nodes = 1 },
			{ id = 3, tasks = 2, nodes = 1, flags = {} } } }
		local plan = t.decide(site "interactive_node", c)
		assert.same({ 1, 3 }, plan:started())
		assert.same({ "n2" }, plan:start(1).nodes)
		assert.same({ "n1" }, plan:start(3).nodes)
		assert.same({ 1, 2 }, t.decide("easy", c):started())
	end)

	it("sends interactive jobs to n1 although they would fit better elsewhere", function()
		local c = t.cluster { nodes = "2x2c", running = { { id = 1, nodes = { "n2" }, cores = 1 } }, pending = { { id = 2, flags = {} } } }
		assert.same({ "n1" }, t.decide(site "interactive_node", c):start(2).nodes)
		assert.same({ "n2" }, t.decide("easy", c):start(2).nodes)
	end)

	it("lets interactive jobs go elsewhere when n1 is full", function()
		local plan = t.decide(site "interactive_node", t.cluster { nodes = "2x2c",
			running = { { id = 1, nodes = { "n1" }, exclusive = true } }, pending = { { id = 2, flags = {} } } })
		assert.same({ "n2" }, plan:start(2).nodes)
	end)
end)

describe("examples/cookbook/maintenance", function()
	local function cluster(time, limit)
		return t.cluster { nodes = "1x1c", now = berlin(time), pending = { { id = 1, time_limit = limit } } }
	end

	local function started(time, limit)
		return t.decide(site "maintenance", cluster(time, limit)):started()
	end

	it("starts before the first of a month what will have ended by then", function()
		assert.same({ 1 }, started("2026-03-31T20:00", "4h"))
		assert.same({}, started("2026-03-31T20:00", "5h"))
		assert.same({ 1 }, t.decide("easy", cluster("2026-03-31T20:00", "5h")):started())
	end)

	it("starts nothing until noon, and says that jobs are expected then", function()
		local plan = t.decide(site "maintenance", cluster("2026-04-01T09:00", "10m"))
		assert.same({}, plan:started())
		assert.equal(3 * 3600, plan:reservation(1).in_s)
		assert.same({ 1 }, started("2026-04-01T12:00", "10m"))
	end)
end)

describe("examples/cookbook/season", function()
	local function decide(policy, day, busy)
		return t.decide(policy, t.cluster { now = berlin(day .. "T12:00"), nodes = {
			{ name = "cool", cores = 1, weight = 1 }, { name = "hot", cores = 1, weight = 100 } },
			running = busy and { { id = 9, nodes = { "cool" }, exclusive = true } } or {}, pending = { { id = 1 } } })
	end

	local function node(day, busy)
		local plan = decide(site "season", day, busy)
		return plan:started()[1] and plan:start(1).nodes[1]
	end

	it("leaves hot nodes idle in summer", function()
		assert.equal("cool", node "2026-07-01")
		assert.is_nil(node("2026-06-01", true))
		assert.is_nil(node("2026-08-31", true))
		assert.same({ 1 }, decide("easy", "2026-07-01", true):started())
	end)

	it("takes them first in winter, and last else", function()
		assert.equal("hot", node "2026-12-01")
		assert.equal("hot", node "2027-02-28")
		assert.equal("cool", decide("easy", "2026-12-01"):start(1).nodes[1])
		assert.equal("cool", node "2026-09-01")
		assert.equal("hot", node("2026-09-01", true))
	end)
end)

describe("examples/cookbook/racks", function()
	-- Four racks of 18 nodes with a GPU each; the first node of two of them is in use, and one GPU of another one.
	local function decide(policy, nodes, gpus)
		local list = {}
		for n = 1, 72 do
			list[n] = { name = ("n%02d"):format(n), cores = 4, gres = "gpu:2", topology = ("rack%d"):format((n - 1) // 18 + 1) }
		end
		return t.decide(policy, t.cluster { now = 1700000000, nodes = list, running = {
			{ id = 91, nodes = { "n01", "n19" }, cores = 4, ends_in = "1h" },
			{ id = 92, nodes = { "n40" }, cores = 1, gpus_per_node = 1, ends_in = "1h" },
		}, pending = { { id = 1, min_nodes = nodes, max_nodes = nodes, gpus_per_node = gpus, cpus_per_task = 1 },
			{ id = 2, nodes = 1, gpus_per_node = 2, begin_time = 1700009999 } } }):start(1)
	end

	-- Nodes in each rack.
	local function racks(start)
		local of = { 0, 0, 0, 0 }
		for _, name in ipairs(start.nodes) do
			local rack = (tonumber(name:sub(2)) - 1) // 18 + 1
			of[rack] = of[rack] + 1
		end
		return table.concat(of, " ")
	end

	it("gives 36 nodes whole racks, and 24 nodes twelve in each of two that are in use", function()
		assert.equal("0 0 18 18", racks(decide(site "racks", 36, 0)))
		assert.equal("12 12 0 0", racks(decide(site "racks", 24, 0)))
		assert.not_equal("12 12 0 0", racks(decide("easy", 24, 0)))
	end)

	it("gives one GPU from a node that pairs cannot use", function()
		assert.same({ "n40" }, decide(site "racks", 1, 1).nodes)
	end)
end)

describe("examples/cookbook/whole_racks", function()
	-- Three racks of 36 nodes; one node of the first is in use.
	local function decide(policy, pending)
		local list = {}
		for n = 1, 108 do
			list[n] = { name = ("n%03d"):format(n), cores = 4, topology = ("rack%d"):format((n - 1) // 36 + 1) }
		end
		return t.decide(policy, t.cluster { now = 1700000000, nodes = list, pending = pending, running = {
			{ id = 91, nodes = { "n001" }, cores = 4, ends_in = "1h" } } })
	end

	local function job(id, nodes, waited)
		return { id = id, min_nodes = nodes, max_nodes = nodes, exclusive = true, time_limit = "30m",
			submit_time = 1700000000 - (waited or 0) }
	end

	it("lets large jobs go first", function()
		local pending = { job(1, 35), job(2, 60), job(3, 72) }
		assert.same({ 3, 1 }, decide(site "whole_racks", pending):started())
		assert.same({ 1, 2 }, decide("easy", pending):started())
	end)

	it("has a small job wait for room in a rack that is in use while a large one waits, for six hours", function()
		local function started(waited, large)
			return decide(site "whole_racks", { job(1, 35), job(2, 4, waited), job(3, large) }):started()
		end
		assert.same({ 1 }, started(6 * 3600 - 1, 108))
		assert.same({ 1, 2 }, started(6 * 3600, 108))
		assert.same({ 1, 2 }, started(0, 71))
		assert.same({ 1, 2 }, decide("easy", { job(1, 35), job(2, 4), job(3, 108) }):started())
	end)

	it("gives it room in a rack that is in use at once, and lets jobs of a rack begin one", function()
		local plan = decide(site "whole_racks", { job(1, 4), job(2, 36), job(3, 108) })
		assert.same({ "n002", "n003", "n004", "n005" }, plan:start(1).nodes)
		assert.equal("n037", plan:start(2).nodes[1])
	end)
end)
