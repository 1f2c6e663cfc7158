-- SPDX-License-Identifier: MIT
--
-- plan:preempt(), and sched.preempt in front of the bundled policies: who is stopped for whom, and who is not.
local support = require "spec.support"
local t = require "sched.test"

local POLICIES <const> = { "easy", "conservative", "critical", "predictive", "ip_window", "auction" }

-- Four nodes with a job on each, which began so many times ten minutes ago as its id says.
local function running()
	local list = {}
	for id = 1, 4 do
		list[id] = { id = id, nodes = 1, exclusive = true, started_ago = 600 * id, ends_in = "5h", qos = "low", stoppable = true,
			account = id <= 2 and "guests" or "owners" }
	end
	return list
end

local function preemptor(row)
	row.id, row.exclusive, row.time_limit = row.id or 7, true, "1h"
	row.nodes, row.preempts, row.flags = row.nodes or 1, "QOS=low", { "MAY_PREEMPT" }
	return row
end

local function machine(pending)
	return t.cluster { nodes = "4x4c", running = running(), pending = pending }
end

local function stops(decision)
	local list = {}
	for i, row in ipairs(decision.raw.stops) do
		list[i] = ("%d for %d"):format(row.job, row.preemptor)
	end
	table.sort(list)
	return list
end

local function policy_of(body)
	return support.policy(support.unprobed .. body)
end

-- What a policy with this body stops.
local function stopped_by(body, jobs)
	return stops(t.decide(policy_of(body), jobs))
end

-- A site whose list has that call of sched.preempt in front.
local function site(call, policy)
	return support.site_of(('sched.preempt { %s }, "%s"'):format(call, policy or "easy"))
end

describe("plan:preempt", function()
	it("stops those who lose least, and says so", function()
		local body = [[
			local a = plan:preempt(cluster:job(7))
			assert(a.verdict == "optimal" and #a.victims == 2 and a.cost == a.bound and a.permitted == 4, a.verdict)
			assert(a.start == cluster.now + 1)
		]]
		local jobs = machine { preemptor { nodes = 2 } }
		assert.same({ "1 for 7", "2 for 7" }, stopped_by(body, jobs))
		local raw = t.decide(policy_of(body), jobs).raw
		assert.same({ 7, 7 }, { raw.holds[1].job, raw.reservations[1].job })
		assert.equal("optimal", raw.holds[1].verdict)
	end)

	it("asks the policy who may be stopped, and what it costs", function()
		assert.same({ "3 for 7" }, stopped_by([[
			plan:preempt(cluster:job(7), { may = function(victim, job) return victim.id ~= 4 and job.id == 7 end,
				cost = function(victim) return 10 - victim.id end })
		]], machine { preemptor {} }))
	end)

	it("stops all of a group of jobs that say so, or none of it", function()
		-- job 1 lost least; it and job 4 say that they belong together
		local jobs = machine { preemptor {} }
		local function says(id, comment)
			local list = running()
			list[1].comment, list[id].comment = comment, comment
			return stopped_by("plan:preempt(cluster:job(7))", t.cluster { nodes = "4x4c", running = list, pending = { preemptor {} } })
		end
		assert.same({ "1 for 7" }, stopped_by("plan:preempt(cluster:job(7))", jobs))
		assert.same({ "2 for 7" }, says(4, "gang=run42"))
		assert.same({ "1 for 7" }, says(4, "afterok:1"))
	end)

	it("says what would still be missing", function()
		t.decide(policy_of [[
			local a, why, word, found = plan:preempt(cluster:job(7))
			assert(a == nil and word == "resources" and found.verdict == "impossible", found.verdict)
			assert(why == "needs 5 nodes, 4 are free, even without the 4 jobs that may be stopped for it", why)
		]], machine { preemptor { nodes = 5 } }, { may_fail = true })
	end)

	it("lets a job wait where that is cheaper", function()
		assert.same({}, stopped_by([[
			local a, why, word, found = plan:preempt(cluster:job(7), { wait_price = 0.01 })
			assert(not a and found.verdict == "waits" and found.alone == cluster.now + 5 * 3600, why)
		]], machine { preemptor {} }))
	end)

	it("raises for costs that are none, with both jobs, and stops nobody", function()
		for _, cost in ipairs { "0/0", "-1", "math.huge", '"much"' } do
			assert.same({}, stopped_by(([[
				local ok, why = pcall(plan.preempt, plan, cluster:job(7), { cost = function() return %s end })
				assert(not ok and why:find("job 7: stopping job 1 costs", 1, true), why)
			]]):format(cost), machine { preemptor {} }))
		end
	end)

	it("lets a policy that is asked decide nothing", function()
		for _, verb in ipairs { "plan:start(cluster:job(8))", "plan:preempt(cluster:job(8))", "plan:preempt(job)", "plan:undo(job)",
			"plan:reserve(job)", "plan:earliest(job)", 'plan:block(cluster:nodes { name = "n1" }, cluster.now, cluster.now + 100)' } do
			assert.same({}, stopped_by(([[
				plan:reserve(cluster:job(7))
				local ok, why = pcall(plan.preempt, plan, cluster:job(7), { may = function(victim, job) %s return true end })
				assert(not ok and why:find("not while a policy is asked whom to stop", 1, true), why)
			]]):format(verb), machine { preemptor {}, preemptor { id = 8 } }), verb)
		end
	end)

	it("raises what the policy's function raises", function()
		assert.same({}, stopped_by([[
			local ok, why = pcall(plan.preempt, plan, cluster:job(7), { may = function() error("no idea", 0) end })
			assert(not ok and why == "no idea", why)
		]], machine { preemptor {} }))
	end)

	it("says what a running job would lose", function()
		t.decide(policy_of [[
			local lost = plan:lost_work(cluster:job(3))
			assert(math.abs(lost - 4 * (1800 + 60) / 3600) < 1e-9, lost)
			local ok, why = pcall(plan.lost_work, plan, cluster:job(7))
			assert(not ok and why:find("lost_work: job 7: expected one that runs", 1, true), why)
		]], machine { preemptor {} })
	end)

	it("stops nobody if the cost function takes the budget, and the plan stands", function()
		local d = t.decide(policy_of [[
			plan:start(cluster:job(8))
			plan:preempt(cluster:job(7), { cost = function() while true do end end })
		]], t.cluster { nodes = "5x4c", running = running(), pending = { preemptor { nodes = 2 },
			{ id = 8, nodes = 1, exclusive = true } } }, { budget = 0.3, may_fail = true })
		assert.same({}, stops(d))
		assert.equal(8, d.raw.starts[1].job)
	end)

	it("never stops whom Slurm does not let be stopped, whatever the policy says", function()
		local list = running()
		list[1].stoppable, list[2].qos = nil, "high"
		local jobs = t.cluster { nodes = "4x4c", running = list, pending = { preemptor { nodes = 2 } } }
		assert.same({ "3 for 7", "4 for 7" }, stopped_by([[
			plan:preempt(cluster:job(7), { may = function() return true end, cost = function(victim) return victim.id end })
		]], jobs))
	end)

	it("names what it does not know", function()
		t.decide(policy_of [[
			local ok, why = pcall(plan.preempt, plan, cluster:job(7), { now = true, max_victim = 1 })
			assert(not ok and why:find("preempt: ", 1, true), why)
			ok, why = pcall(plan.preempt, plan, cluster:job(7), { mode = "cancel" })
			assert(not ok and why:find('expected "requeue" or "expedite"', 1, true), why)
		]], machine { preemptor {} })
	end)
end)

describe("plan:start with preempt", function()
	it("starts a job that fits, and stops nobody", function()
		local jobs = t.cluster { nodes = "5x4c", running = running(), pending = { preemptor {} } }
		local d = t.decide(policy_of [[ assert(plan:start(cluster:job(7), { preempt = true })) ]], jobs)
		assert.same({}, stops(d))
		assert.equal(7, d.raw.starts[1].job)
	end)

	it("stops the cheapest for one that does not, and says when that starts", function()
		assert.same({ "1 for 7", "2 for 7" }, stopped_by([[
			local ok, why, word, a = plan:start(cluster:job(7), { preempt = true })
			assert(ok == nil and word == "resources" and a.verdict == "optimal" and #a.victims == 2, why)
			assert(why == "2 jobs are stopped for it: starts in 1 s", why)
		]], machine { preemptor { nodes = 2 } }))
	end)

	it("takes what plan:preempt() takes", function()
		assert.same({ "3 for 7" }, stopped_by([[
			plan:start(cluster:job(7), { preempt = { may = function(victim) return victim.id == 3 end } })
		]], machine { preemptor {} }))
		assert.same({}, stopped_by([[
			local ok, why, _, a = plan:start(cluster:job(7), { preempt = { wait_price = 0.01 } })
			assert(not ok and a.verdict == "waits", why)
			assert(plan:start(cluster:job(7), { preempt = false }) == nil)
		]], machine { preemptor {} }))
	end)

	it("stops only who is on the nodes that it may have", function()
		assert.same({ "3 for 7" }, stopped_by([[
			plan:start(cluster:job(7), { preempt = true, nodes = cluster:nodes { name = "n3" } })
		]], machine { preemptor {} }))
	end)

	it("says why nobody is stopped", function()
		t.decide(policy_of [[
			local ok, why, word, a = plan:start(cluster:job(8), { preempt = true })
			assert(not ok and why == "Slurm does not let it preempt others" and a.verdict == "unproven", why)
			ok, why, word, a = plan:start(cluster:job(7), { preempt = true })
			assert(not ok and a.verdict == "impossible", why)
		]], machine { preemptor { nodes = 5 }, { id = 8, nodes = 1, exclusive = true } }, { may_fail = true })
	end)

	it("is for starts, and beside nothing that names a place", function()
		t.decide(policy_of [[
			local job = cluster:job(7)
			for _, verb in ipairs { "backfill", "reserve", "earliest" } do
				local ok, why = pcall(plan[verb], plan, job, { preempt = true })
				assert(not ok and why:find("preempt: expected for start only", 1, true), why)
			end
			local ok, why = pcall(plan.start, plan, job, { preempt = true, layout = { n1 = 4 } })
			assert(not ok and why:find("preempt: expected no layout, bid or borrow beside it", 1, true), why)
			ok, why = pcall(plan.start, plan, job, { preempt = 3 })
			assert(not ok and why:find("preempt: expected true, or a table", 1, true), why)
			ok, why = pcall(plan.start, plan, job, { preempt = { maybe = 1 } })
			assert(not ok and why:find("preempt: ", 1, true), why)
		]], machine { preemptor {} })
	end)
end)

-- For whom Slurm's select may be asked, which preempts whom it likes.
local function named(decision)
	local ids = {}
	for i, row in ipairs(decision.raw.preempting) do
		ids[i] = row.job
	end
	return ids
end

describe("what a policy says of preemption", function()
	local sparing = { 'min_runtime = "10h"', 'after = "10h"', 'by = "priority"', "may = function() return false end", "wait_price = 0",
		'unit = "cpus", reclaim = { guests = 99, owners = 99 }', "max_a_cycle = 1, max_victims = 1" }

	it("holds for Slurm's select too: it is asked for nobody whom the plan could preempt for", function()
		for _, policy in ipairs(POLICIES) do
			for _, call in ipairs(sparing) do
				local decision = t.decide(site(call, policy), machine { preemptor { nodes = 3, priority = 1 } })
				assert.same({}, stops(decision), call)
				assert.same({}, named(decision), policy .. ": " .. call)
			end
		end
	end)

	it("holds for all jobs of its partitions once one was asked about, before or after others were tried", function()
		local jobs = machine { preemptor { id = 7, nodes = 2 }, preemptor { id = 9, nodes = 3 } }
		for _, order in ipairs { { 7, 9 }, { 9, 7 } } do
			assert.same({}, named(t.decide(policy_of(([[
				plan:start(cluster:job(%d))
				plan:preempt(cluster:job(%d), { may = function() return false end })
				plan:start(cluster:job(%d))
			]]):format(order[1], order[2], order[1])), jobs, { may_fail = true })))
		end
		assert.same({ 7, 9 }, named(t.decide("easy", jobs)))
	end)

	it("leaves to select whom only select can place", function()
		local jobs = machine { preemptor { nodes = 3, asks = { "BURST_BUFFER" } } }
		assert.same({ 7 }, named(t.decide(site('min_runtime = "10h"', "easy"), jobs)))
	end)

	it("expects the job when spared jobs end by themselves, and not when Slurm could preempt them", function()
		local jobs = machine { preemptor { nodes = 3 } }
		local function wait_under(policy)
			return t.decide(policy, jobs):reservation(7).start_time - 1700000000
		end
		assert.is_true(wait_under("easy") < 60)
		assert.is_true(wait_under(site 'min_runtime = "10h"') > 4 * 3600)
	end)
end)

for _, policy in ipairs(POLICIES) do
	describe(("sched.preempt in front of %s"):format(policy), function()
		it("stops the cheapest for who may preempt, and nobody for others", function()
			local jobs = machine { preemptor { nodes = 2, priority = 100 }, { id = 8, nodes = 1, exclusive = true, priority = 50 } }
			assert.same({ "1 for 7", "2 for 7" }, stops(t.decide(site("", policy), jobs)))
		end)

		it("stops nobody where there is room", function()
			local jobs = t.cluster { nodes = "6x4c", running = running(), pending = { preemptor { nodes = 2 } } }
			assert.same({}, stops(t.decide(site("", policy), jobs)))
		end)
	end)
end

describe("sched.preempt", function()
	it("spares who has not run for long, or is of higher priority", function()
		assert.same({ "3 for 7" }, stops(t.decide(site 'min_runtime = "25m"', machine { preemptor {} })))
		assert.same({}, stops(t.decide(site 'by = "priority"', machine { preemptor { priority = 1 } })))
	end)

	it("stops others for a job only after a while", function()
		assert.same({}, stops(t.decide(site 'after = "10m"', machine { preemptor { submitted_ago = "9m" } })))
		assert.same({ "1 for 7" }, stops(t.decide(site 'after = "10m"', machine { preemptor { submitted_ago = "11m" } })))
	end)

	it("takes back what accounts have beyond what they own", function()
		local call = 'unit = "cpus", reclaim = { owners = 4, late = 8 }'
		local jobs = machine { preemptor { nodes = 1, account = "late" } }
		assert.same({ "1 for 7" }, stops(t.decide(site(call), jobs)))
		assert.same({}, stops(t.decide(site(call), machine { preemptor { account = "owners" } })))
		assert.same({ "3 for 7" }, stops(t.decide(site('unit = "cpus", reclaim = { guests = 8, late = 8 }'), jobs)))
	end)

	it("takes back no more than what is beyond, for all jobs together", function()
		local jobs = machine { preemptor { account = "late", priority = 9 }, preemptor { id = 9, account = "late", priority = 8 },
			preemptor { id = 10, account = "late", priority = 7 } }
		-- of guests one of two
		assert.same({ "1 for 7" }, stops(t.decide(site 'unit = "cpus", reclaim = { guests = 4, owners = 8, late = 99 }', jobs)))
		-- "late" has what it owns after one job, or two (of four cores each)
		assert.same({ "1 for 7" }, stops(t.decide(site 'unit = "cpus", reclaim = { owners = 8, late = 4 }', jobs)))
		assert.same({ "1 for 7", "2 for 9" }, stops(t.decide(site 'unit = "cpus", reclaim = { owners = 8, late = 8 }', jobs)))
		-- nor for one
		local wide = machine { preemptor { nodes = 2, account = "late" } }
		assert.same({}, stops(t.decide(site 'unit = "cpus", reclaim = { guests = 4, owners = 8, late = 99 }', wide)))
	end)

	it("takes the cheapest jobs of an account, and not its latest", function()
		local list = running()
		list[2].comment = "checkpoint=20"	-- at a checkpoint now
		local function decide(call)
			return stops(t.decide(site('unit = "cpus", reclaim = { guests = 4, owners = 8, late = 99 }' .. call),
				t.cluster { nodes = "4x4c", running = list, pending = { preemptor { account = "late" } } }))
		end
		assert.same({ "2 for 7" }, decide "")
		assert.same({ "1 for 7" }, decide ", cost = function(victim) return victim.id end")
	end)

	it("goes on with the others where one job's function fails", function()
		local jobs = machine { preemptor { priority = 9 }, preemptor { id = 9, priority = 8 } }
		local call = 'may = function(victim, job) if job.id == 7 then error("no idea", 0) end return true end'
		local decision = t.decide(site(call), jobs)
		assert.same({ "1 for 9" }, stops(decision))
	end)

	it("keeps to the numbers of jobs that may be stopped", function()
		local jobs = machine { preemptor { priority = 9 }, preemptor { id = 9, priority = 8 } }
		assert.same({ "1 for 7", "2 for 9" }, stops(t.decide(site "max_a_cycle = 2", jobs)))
		assert.same({ "1 for 7" }, stops(t.decide(site "max_a_cycle = 1", jobs)))
	end)

	it("says what is wrong with its call", function()
		local why = support.refused "sched.preempt { reclaim = { physics = -1 } }"
		assert.truthy(why:find("reclaim: expected { ACCOUNT = amount }, got physics = -1", 1, true), why)
	end)
end)
