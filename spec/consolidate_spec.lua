-- SPDX-License-Identifier: MIT
--
-- sched.consolidate: running jobs are moved so that a whole block or node becomes free, and start again elsewhere.
local support = require "spec.support"
local t = require "sched.test"

-- Three racks of three nodes below topology/block; a job on one node of each. It costs as much more as its number says.
local function racks(pending, more)
	local nodes, running = {}, {}
	for n = 1, 9 do
		nodes[n] = { name = ("n%d"):format(n), cores = 4, topology = ("rack%d"):format((n - 1) // 3 + 1) }
	end
	for id = 1, 3 do
		running[id] = { id = id, nodes = { ("n%d"):format(3 * id - 1) }, exclusive = true, min_nodes = 1, max_nodes = 1, qos = "low",
			user = "ann", time_limit = "8h", started_ago = 600 * id, ends_in = "5h", stoppable = true }
	end
	for id, fields in pairs(more and more.running or {}) do
		for name, value in pairs(fields) do
			running[id][name] = value
		end
	end
	return t.cluster { nodes = nodes, partitions = { main = { block_nodes = 3 } }, running = running, pending = pending,
		remembered = more and more.remembered }
end

local function whole(row)
	row = row or {}
	row.id, row.min_nodes, row.max_nodes, row.exclusive = row.id or 7, row.nodes or 3, row.nodes or 3, true
	row.nodes, row.time_limit, row.preempts, row.flags = nil, "1h", row.preempts or "QOS=low", { "MAY_PREEMPT" }
	return row
end

local function site(call)
	return support.site_of(('sched.consolidate { %s }, "easy"'):format(call or ""))
end

-- "1 for 7", of moves alone.
local function moves(decision)
	local list = {}
	for i, row in ipairs(decision.raw.stops) do
		assert.equal(1, row.moves)
		assert.equal("requeue", row.mode)
		list[i] = ("%d for %d"):format(row.job, row.preemptor)
	end
	table.sort(list)
	return list
end

local function moved(call, jobs)
	return moves(t.decide(site(call), jobs or racks { whole() }))
end

describe("plan:preempt with elsewhere", function()
	it("says where those who are moved have a place", function()
		t.decide(support.policy(support.unprobed .. [[
			local a = plan:preempt(cluster:job(7), { elsewhere = true })
			assert(a.verdict == "optimal" and #a.victims == 1 and #a.moves == 1, a.verdict)
			local move, name = a.moves[1], a.moves[1].nodes:names()[1]
			assert(move.job.id == 1 and #move.nodes == 1 and tonumber(name:sub(2)) > 3, name)
		]]), racks { whole() })
	end)

	it("moves nobody who costs more than a move may", function()
		t.decide(support.policy(support.unprobed .. [[
			local a, why, _, found = plan:preempt(cluster:job(7), { elsewhere = true, max_cost = 0 })
			assert(not a and found.verdict == "waits", found.verdict)
			assert(why:find("to move others costs", 1, true), why)
			for _, bad in ipairs { { elsewhere = 1 }, { max_cost = -1 }, { max_cost = 0/0 }, { max_cost = "much" } } do
				assert(not pcall(plan.preempt, plan, cluster:job(7), bad))
			end
		]]), racks { whole() }, { may_fail = true })
	end)
end)

describe("sched.consolidate", function()
	it("moves the job that loses least, so that a rack becomes free", function()
		local decision = t.decide(site(), racks { whole() })
		assert.same({ "1 for 7" }, moves(decision))
		assert.same({ "n1", "n2", "n3" }, decision:reservation(7).nodes)
		assert.matches("^moves 1 of 3 jobs that might be", decision.raw.holds[1].because)
	end)

	it("moves nobody where the job fits, nor whom it may not preempt, who may not be requeued or is exempt", function()
		assert.same({}, moved("", racks { whole { nodes = 2 } }))
		assert.same({}, moved("", racks { whole { preempts = "QOS=none" } }))
		assert.same({ "2 for 7" }, moved("", racks({ whole() }, { running = { { stoppable = "cancel" } } })))
		assert.same({ "2 for 7" }, moved("", racks({ whole() }, { running = { { preempt_from = 4102444800 } } })))
	end)

	it("moves nobody who has no other place", function()
		-- job 1 asks for its own node
		assert.same({ "2 for 7" }, moved("", racks({ whole() }, { running = { { req_nodes = { "n2" } } } })))
		-- six nodes are free; nothing of seven nodes is
		local decision = t.decide(site(), racks { whole { nodes = 7 } })
		assert.same({}, moves(decision))
	end)

	it("keeps to price, gain and the site's own rules", function()
		assert.same({}, moved "max_price = 0.1")
		assert.same({ "1 for 7" }, moved "max_price = 1")
		assert.same({}, moved "wait_price = 0.01")
		assert.same({ "1 for 7" }, moved "wait_price = 1")
		assert.same({}, moved 'min_gain = "6h"')
		assert.same({ "1 for 7" }, moved 'min_gain = "4h"')
		assert.same({}, moved 'after = "1h"')
		assert.same({ "2 for 7" }, moved 'min_runtime = "15m"')
		assert.same({ "3 for 7" }, moved "may = function(victim) return victim.id == 3 end")
		assert.same({ "2 for 7" }, moved "cost = function(victim) return victim.id == 2 and 0 or 1 end")
	end)

	it("keeps to the numbers of jobs that may be moved", function()
		local two = { whole { priority = 9 }, whole { id = 8, priority = 8 } }
		assert.same({ "1 for 7" }, moved("max_a_cycle = 1", racks(two)))
		assert.same({ "1 for 7" }, moved("max_of_user = 1", racks(two)))
	end)

	it("does not move again who was moved lately, and keeps his place until he is back", function()
		local now = racks({}).now or 1700000000
		local record = { at = now - 60, start = 1, till = now + 600, nodes = { "n4" } }
		local list = racks({ whole() }, { remembered = { main = { consolidate = { [1] = record } } } })
		assert.same({ "2 for 7" }, moved("", list))
		record.at = now - 90000
		record.nodes = nil
		assert.same({ "1 for 7" }, moved("", racks({ whole() }, { remembered = { main = { consolidate = { [1] = record } } } })))
	end)

	it("starts who was moved on his place before others, and lets nobody else have it", function()
		local now = racks({}).now or 1700000000
		local back = { id = 9, min_nodes = 1, max_nodes = 1, exclusive = true, time_limit = "1h", priority = 1 }
		local other = { id = 10, min_nodes = 6, max_nodes = 6, segment = 1, exclusive = true, time_limit = "1h", priority = 9 }
		local remembered = { main = { consolidate = { [9] = { at = now - 60, start = 1, till = now + 600, nodes = { "n9" } } } } }
		local decision = t.decide(site(), racks({ back, other }, { remembered = remembered }))
		assert.same({ "n9" }, decision:start(9).nodes)
		assert.is_nil(decision:start(10))
	end)

	it("looks for who was moved behind its window, too", function()
		local now = racks({}).now or 1700000000
		local remembered = { main = { consolidate = { [20] = { at = now - 60, start = 1, till = now + 600, nodes = { "n9" } } } } }
		local pending = { { id = 20, min_nodes = 1, max_nodes = 1, exclusive = true, time_limit = "1h", priority = 1 } }
		for id = 10, 13 do
			table.insert(pending, { id = id, min_nodes = 9, max_nodes = 9, segment = 1, exclusive = true, time_limit = "1h", priority = 9 })
		end
		local decision = t.decide(site("window = 2"), racks(pending, { remembered = remembered }))
		assert.same({ "n9" }, decision:start(20).nodes)
	end)

	it("keeps the place of who is about to be moved, until it is plain that he is not", function()
		local now = racks({}).now or 1700000000
		local record = { at = now - 3, start = now - 600, till = now + 600, nodes = { "n4" } }
		local remembered = { main = { consolidate = { [1] = record } } }
		assert.same({ "3 for 7" }, moved("", racks({ whole() }, { remembered = remembered })))
		record.at = now - 60
		assert.same({ "1 for 7" }, moved("", racks({ whole() }, { remembered = remembered })))
	end)

	it("says what is wrong with its call", function()
		for call, says in pairs {
			["max_price = 0/0"] = "max_price",
			["max_price = -1"] = "max_price",
			['max_price = "much"'] = "max_price",
			["max_moves = 0"] = "max_moves",
			['again = "soon"'] = "again",
			["may = 1"] = "may",
			["block = 3"] = "unknown option 'block' of sched.consolidate",
		} do
			assert.matches(says, support.refused(("sched.consolidate { %s }"):format(call)), 1, true)
		end
	end)
end)

describe("sched.consolidate in a simulation", function()
	-- Two nodes with four GPUs, on each of which a job has two since another one has ended; job 4 wants four of one node.
	local function halves()
		local low = { runtime = 5000, time_limit = 6000, qos = "low", preempt_mode = "requeue", flags = { "REQUEUE" }, tasks = 1,
			gres = "gpu:2" }
		local jobs = {}
		for id = 1, 3 do
			jobs[id] = { id = id }
			for name, value in pairs(low) do
				jobs[id][name] = value
			end
		end
		jobs[2].runtime = 50
		jobs[4] = { id = 4, tasks = 1, nodes = 1, gres = "gpu:4", runtime = 200, time_limit = 300, submit = 90, qos = "high", priority = 10,
			preempts = "QOS=low", flags = { "MAY_PREEMPT" } }
		return { nodes = "2x8c4g", jobs = jobs }
	end

	it("lets the job start, and the moved one go on elsewhere at once, each once", function()
		local s = t.simulate(site(), halves())
		assert.equal(91, s:job(4).start_s)
		assert.equal(1, s.metrics.stops)
		assert.equal(1, s.metrics.moves)
		assert.equal(91, s.metrics.moves_lost_core_s)
		local first, second = s:job(1), s:job(3)
		assert.equal(1, #first.stops + #second.stops)
		assert.equal(91, math.max(first.start_s, second.start_s))
	end)

	-- (Slurm lets a job that was requeued wait for two minutes. Job 5 comes meanwhile, and would have its place.)
	it("keeps the place of the moved one until it may start again", function()
		local jobs = halves()
		jobs.jobs[5] = { id = 5, tasks = 1, gres = "gpu:1", runtime = 9000, time_limit = 9000, submit = 95, priority = 99 }
		local s = t.simulate(site(), jobs, { requeue_wait = 121 })
		assert.equal(91, s:job(4).start_s)
		assert.equal(91 + 121, math.max(s:job(1).start_s, s:job(3).start_s))
		assert.is_true(s:job(5).start_s >= 291, s:job(5).start_s)
	end)

	it("moves nobody twice, nor in a circle", function()
		local jobs = halves()
		for id = 5, 8 do
			jobs.jobs[id] = { id = id, tasks = 1, nodes = 1, gres = "gpu:4", runtime = 200, time_limit = 300, submit = 90 * id, qos = "high",
				priority = 10, preempts = "QOS=low", flags = { "MAY_PREEMPT" } }
		end
		local s = t.simulate(site(), jobs)
		for id = 1, 3 do
			assert.is_true(#s:job(id).stops <= 1)
		end
	end)
end)
