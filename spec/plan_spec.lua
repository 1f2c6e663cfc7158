-- SPDX-License-Identifier: MIT
local s = require "spec.support"
local t = require "sched.test"

-- Four nodes, the first one full for an hour; jobs of one and of four nodes.
local c = t.cluster { nodes = "4x8c2g",
	running = { { id = 1, nodes = { "n1" }, exclusive = true, ends_in = "1h" } },
	pending = { { id = 2, nodes = 4, time_limit = "1h" }, { id = 3, nodes = 1, tasks = 4, time_limit = "30m" },
		{ id = 4, nodes = 9 }, { id = 5, nodes = 2, tasks = 16, time_limit = "10m" } } }

-- The plan of a policy that runs these statements with job(id).
local function plan_of(statements, cluster)
	return t.decide(s.policy(s.unprobed .. "local function job(id) return cluster:job(id) end " .. statements), cluster or c)
end

local function lines(statements, cluster)
	local logged = plan_of(statements, cluster):log()
	for i, line in ipairs(logged) do
		logged[i] = line:gsub("^info: ", "")
	end
	return logged
end

local function misuse(statements)
	local plan = t.decide(s.policy(s.unprobed .. "local function job(id) return cluster:job(id) end " .. statements), c,
		{ may_fail = true })
	return plan:errors()[1]
end

describe("plan:start", function()
	it("books what fits and says true", function()
		local plan = plan_of("assert(plan:start(job(3)) == true)")
		assert.same({ 3 }, plan:started())
		assert.same({ n2 = 4 }, plan:layout(3))
		assert.same({ "n2" }, plan:start(3).nodes)
		assert.equal("policy", plan:start(3).by)
	end)

	it("says nil, the reason and its word for what does not", function()
		assert.same({ "nil needs 4 nodes, 3 are free resources" },
			lines("local ok, why, word = plan:start(job(2)) slurm.log_info('%s %s %s', ok, why, word)"))
		assert.same({ "nil never" }, lines("local ok, _, word = plan:start(job(4)) slurm.log_info('%s %s', ok, word)"))
	end)

	it("starts no job twice and none that runs", function()
		local said = lines("assert(plan:start(job(3))) slurm.log_info('%s %s', plan:start(job(3)))")
		assert.matches("started twice in a cycle", said[1])
		assert.matches("^nil ", said[2])
		assert.matches("job 1 is not queued", misuse("plan:start(job(1))"))
	end)

	it("places as it is told", function()
		local d = t.cluster { nodes = "4x8c", running = { { nodes = { "n2" }, cores = 6, ends_in = "1h" } },
			pending = { { id = 2, tasks = 4, max_nodes = 4, min_nodes = 1 } } }
		assert.same({ n1 = 1, n2 = 1, n3 = 1, n4 = 1 }, plan_of("plan:start(job(2), { place = 'spread' })", d):layout(2))
		assert.same({ n1 = 4 }, plan_of("plan:start(job(2), { place = 'pack' })", d):layout(2))
		assert.same({ n3 = 2, n4 = 2 }, plan_of("plan:start(job(2), { layout = { n4 = 2, n3 = 2 } })", d):layout(2))
		assert.same({ n3 = 1, n4 = 3 }, plan_of("plan:start(job(2), { layout = { n3 = { 1, 1 }, n4 = { 0, 3 } } })", d):layout(2))
		assert.same({}, plan_of("plan:start(job(2), { layout = { n3 = { 2, 1 }, n4 = { 0, 3 } } })", d):started())
		assert.same({}, plan_of("plan:start(job(2), { layout = { n3 = { 2, 2 }, n4 = { 3, 3 } } })", d):started())
		assert.same({ n3 = 4 }, plan_of("plan:start(job(2), { layout = { [cluster.nodes[3]] = 4 } })", d):layout(2))
	end)

	it("starts one of a job's alternatives", function()
		local d = t.cluster { nodes = "2x8c", running = { { exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 2, shapes = { { min_nodes = 1, max_nodes = 1, num_tasks = 8 } } } } }
		assert.same({ 2 }, plan_of("assert(not plan:start(job(2))) assert(plan:start(job(2), { shape = 1 }))", d):started())
		assert.matches("shape: expected 0 to 1, the number of its alternatives, or \"any\", got 2",
			t.decide(s.policy(s.unprobed .. "for job in cluster:queue() do plan:start(job, { shape = 2 }) end"), d,
				{ may_fail = true }):errors()[1])
	end)

	it("knows the alternatives that a job's comment names", function()
		local d = t.cluster { nodes = "2x8c2g", running = { { nodes = { "n2" }, exclusive = true, ends_in = "1h" } }, pending = {
			{ id = 2, nodes = 2, comment = "project x; sched: -n6 -t 30 | -N1 -n4 --gpus-per-node=2" },
			{ id = 3, nodes = 2, comment = "sched: -n6 or so" } } }
		local plan = plan_of([[
			local a, b = job(2), job(3)
			assert(#a.shapes == 2 and a.shapes[1].num_tasks == 6 and a.shapes[1].time_limit == 1800)
			assert(a.shapes[2].gres[1].name == "gpu" and a.shapes[2].gres[1].count == 2 and a.shapes_ignored == nil)
			assert(#b.shapes == 0 and b.shapes_ignored:find("'or' is no option", 1, true))
			assert(not plan:start(a))
			assert(plan:start(a, { shape = 2 }))]], d)
		assert.same({ 2 }, plan:started())
		assert.same({ n1 = 4 }, plan:layout(2))
	end)

	it("tries what a job asks for first, then its alternatives in their order", function()
		local function shape_of(plan)
			return plan:start(2) and plan:start(2).shape
		end
		local d = t.cluster { nodes = "4x8c", running = { { nodes = { "n1" }, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 2, comment = "sched: -N1 | -N2" }, { id = 3, nodes = 5, comment = "sched: -N4 | -N2 | -N1" } } }
		local plan = plan_of("plan:start(job(2), { shape = 'any' }) plan:start(job(3), { shape = 'any' })", d)
		assert.equal(0, shape_of(plan))
		assert.equal(2, plan:start(3).shape)
		plan = plan_of("assert(plan:start(job(3), { shape = 'any', place = 'spread' })) assert(select(3, plan:layout(job(3))) == 2)", d)
		assert.equal(2, plan:start(3).shape)
	end)

	it("reserves for the alternative that can start soonest, of equal ones the first", function()
		local d = t.cluster { nodes = "4x8c", running = { { nodes = { "n1", "n2" }, exclusive = true, ends_in = "1h" },
			{ nodes = { "n3" }, exclusive = true, ends_in = "2h" }, { nodes = { "n4" }, exclusive = true, ends_in = "3h" } },
			pending = { { id = 2, nodes = 4, comment = "sched: -N3 | -N2 | -N1" }, { id = 3, nodes = 2, comment = "sched: -N1" },
				{ id = 4, nodes = 5, comment = "sched: -N6 | -N4" } } }
		local plan = plan_of([[
			assert(plan:earliest(job(2), { shape = "any" }) == cluster.now + 3600)
			assert(plan:reserve(job(2), { shape = "any" }) == cluster.now + 3600)
			assert(select(3, plan:layout(job(2))) == 2)
			plan:undo(job(2))
			assert(plan:reserve(job(3), { shape = "any" }) == cluster.now + 3600)
			plan:reserve(job(4), { shape = "any" })]], d)
		assert.equal(0, plan:reservation(3).shape)
		assert.equal(2, plan:reservation(4).shape)
	end)

	it("says of a job with alternatives why it waits as it asks, unless it never could", function()
		local d = t.cluster { nodes = "4x8c", running = { { nodes = 4, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 4, comment = "sched: -N1" }, { id = 3, nodes = 5, comment = "sched: -N2 | -N1" },
				{ id = 4, nodes = 5, comment = "sched: -N6" } } }
		local plan = plan_of([[
			for _, id in ipairs { 2, 3, 4 } do
				local ok, text, word = plan:start(job(id), { shape = "any" })
				assert(not ok)
				print(text .. ", " .. word)
			end]], d)
		assert.same({ "info: needs 4 nodes, 0 are free, resources", "info: needs 2 nodes, 0 are free, resources",
			"info: needs 5 nodes, 4 could ever do, never" }, plan:log())
		assert.same({ "resources", "needs 4 nodes, 0 are free" }, { plan:pending(2) })
		assert.same({ "resources", "needs 2 nodes, 0 are free" }, { plan:pending(3) })
		assert.same({ "never", "needs 5 nodes, 4 could ever do" }, { plan:pending(4) })
	end)

	it("asks allow() about the alternative, where it forbids what the job asks for", function()
		local d = t.cluster { nodes = "4x8c", pending = { { id = 2, nodes = 4, comment = "sched: -N3 | -N2 | -N1" } } }
		local site = { site = "site.lua", texts = { ["site.lua"] = [[
			local sched = require "sched"
			local two = { name = "two", allow = function(job, cluster)
				local nodes = 0
				for _, node in ipairs(cluster.nodes) do
					nodes = nodes + (node.free_cores < 8 and 1 or 0)
				end
				return nodes <= 2, "two nodes are enough for everybody"
			end }
			return sched.site { default = { two, "easy" } }]] } }
		local plan = t.decide(site, d)
		assert.same({ 2 }, plan:started())
		assert.equal(2, plan:start(2).shape)
	end)

	it("raises when it is misused, at the line of the policy", function()
		assert.matches("^policy.lua:1: bad argument #1 to 'start' %(job expected, got nil%)", misuse("plan:start(job(99))"))
		assert.matches("unknown key 'palce', expected place, layout, shape, bid, borrow, through, because, expected, " ..
			"from, wake_after, nodes, except, prefer, use_blocked or preempt",
			misuse("plan:start(job(3), { palce = 'x' })"))
		assert.matches("place \"anywhere\": expected bestfit, contiguous, pack", misuse("plan:start(job(3), { place = 'anywhere' })"))
		assert.matches("place: expected a string, got number", misuse("plan:start(job(3), { place = 5 })"))
		assert.matches("expected only one of them", misuse("plan:start(job(3), { place = 'pack', layout = { n1 = 1 } })"))
		assert.matches("layout: expected a table", misuse("plan:start(job(3), { layout = 5 })"))
		assert.matches("layout: expected at least one node", misuse("plan:start(job(3), { layout = {} })"))
		assert.matches("no node 'n9'", misuse("plan:start(job(3), { layout = { n9 = 4 } })"))
		assert.matches("expected 0 to 65535, got %-1", misuse("plan:start(job(3), { layout = { n2 = -1 } })"))
		assert.matches("tasks of a node: expected 0 to 65535, got %-1", misuse("plan:start(job(3), { layout = { n2 = { 4, -1 } } })"))
		assert.matches("cores of a node: expected 0 to 65535, got nil", misuse("plan:start(job(3), { layout = { n2 = {} } })"))
		assert.matches("expected 0 to 65535, got x", misuse("plan:start(job(3), { layout = { n2 = 'x' } })"))
		assert.matches("expected a node or its name, got boolean", misuse("plan:start(job(3), { layout = { [true] = 1 } })"))
	end)

	it("books nothing that is not free, however it is told to", function()
		assert.same({}, plan_of("plan:start(job(3), { layout = { n1 = 4 } })"):started())
	end)
end)

describe("plan:reserve", function()
	it("books the earliest start and says when", function()
		local plan = plan_of("slurm.log_info('%d', plan:reserve(job(2)) - cluster.now)")
		assert.same({ "info: 3600" }, plan:log())
		assert.equal(3600, plan:reservation(2).in_s)
		assert.same({ "n1", "n2", "n3", "n4" }, plan:reservation(2).nodes)
	end)

	it("makes the first such job the head", function()
		assert.same({ "nil", "job 2", "job 2" }, lines([[
			slurm.log_info("%s", plan.head)
			plan:reserve(job(2)) slurm.log_info("%s", plan.head)
			plan:reserve(job(3)) slurm.log_info("%s", plan.head)]]))
	end)

	it("says nil and why for a job that can never run", function()
		assert.same({ "nil never" }, lines("local ok, _, word = plan:reserve(job(4)) slurm.log_info('%s %s', ok, word)"))
	end)

	it("keeps the earlier one of a job that waits in two partitions", function()
		local d = t.cluster { nodes = "2x1c", partitions = { a = { nodes = "n1" }, b = { nodes = "n2" } },
			running = { { nodes = { "n1" }, partition = "a", ends_in = "1h" }, { nodes = { "n2" }, partition = "b", ends_in = "2h" } },
			pending = { { id = 3, partition = "a,b" }, { id = 4, partition = "b,a" } } }
		local plan = t.decide("easy", d)
		assert.same({ 3600, "a" }, { plan:reservation(3).in_s, plan:reservation(3).partition })
		-- job 4 can be reserved in a only behind job 3: b comes first
		assert.same({ 7200, "b" }, { plan:reservation(4).in_s, plan:reservation(4).partition })
	end)
end)

describe("plan:backfill", function()
	it("starts what does not delay the head", function()
		local plan = plan_of("plan:reserve(job(2)) assert(plan:backfill(job(3))) assert(plan:backfill(job(5)))")
		assert.same({ 3, 5 }, plan:started())
		assert.equal(3600, plan:reservation(2).in_s)
	end)

	it("says nil and names the head for what does", function()
		local d = t.cluster { nodes = "2x1c", running = { { nodes = { "n1" }, ends_in = "1h" } },
			pending = { { id = 2, nodes = 2, time_limit = "1h" }, { id = 3, nodes = 1, time_limit = "61m" } } }
		assert.same({ "nil would delay job 2 priority" },
			lines("plan:reserve(job(2)) slurm.log_info('%s %s %s', plan:backfill(job(3)))", d))
	end)
end)

describe("expected", function()
	local d = t.cluster { nodes = "2x1c", running = { { nodes = { "n1" }, ends_in = "1h" } },
		pending = { { id = 2, nodes = 2, time_limit = "4h" }, { id = 3, nodes = 1, time_limit = "2h" },
			{ id = 4, nodes = 2, time_limit = "1h" } } }

	it("backfills a job that is taken to end before the head's time, and leaves its walltime", function()
		local plan = plan_of("plan:reserve(job(2)) assert(not plan:backfill(job(3)))" ..
			" assert(plan:backfill(job(3), { expected = 3600 }))", d)
		assert.same({ 3 }, plan:started())
		assert.equal(3600, plan:start(3).expected)
		assert.is_nil(plan:start(3).time_limit)
		assert.equal(3600, plan:reservation(2).in_s)
	end)

	it("books a reservation for so long, and tells when one could be", function()
		assert.same({ "3600", "4500", "4500" }, lines([[
			slurm.log_info("%d", plan:reserve(job(2), { expected = 899.5 }) - cluster.now)
			slurm.log_info("%d", plan:earliest(job(4), { expected = 1 }) - cluster.now)
			slurm.log_info("%d", plan:reserve(job(4)) - cluster.now)]], d))
	end)

	it("may be from a time on", function()
		assert.same({ "7200", "3600", "10000" }, lines([[
			slurm.log_info("%d", plan:earliest(job(2), { from = cluster.now + 7200 }) - cluster.now)
			slurm.log_info("%d", plan:reserve(job(2), { from = 7 }) - cluster.now)
			slurm.log_info("%d", plan:reserve(job(2), { from = cluster.now + 10000 }) - cluster.now)]], d))
		assert.matches("from: expected for reserve and earliest only", misuse("plan:start(job(3), { from = 5 })"))
		assert.matches("from: expected a time in whole seconds, got 1.5", misuse("plan:reserve(job(3), { from = 1.5 })"))
		assert.matches("from: expected a time in whole seconds, got 9223372036854775807",
			misuse("plan:reserve(job(3), { from = math.maxinteger })"))
	end)

	it("is no more than the walltime", function()
		local plan = plan_of("assert(plan:start(job(3), { expected = math.huge })) plan:reserve(job(2), { expected = 1e9 })", d)
		assert.is_nil(plan:start(3).expected)
		assert.is_nil(plan:reservation(2).expected)
	end)

	it("is not believed where a reservation of others stands", function()
		local e = t.cluster { nodes = "2x1c", reservations = { { name = "m", nodes = { "n1", "n2" }, starts_in = "1h", ends_in = "9h" } },
			pending = { { id = 3, nodes = 1, time_limit = "2h" } } }
		assert.same({}, plan_of("assert(not plan:start(job(3), { expected = 60 }))", e):started())
	end)

	it("is a number above 0", function()
		assert.matches("expected seconds above 0, got 0", misuse("plan:start(job(3), { expected = 0 })"))
		assert.matches("expected seconds above 0, got %-?nan", misuse("plan:start(job(3), { expected = 0/0 })"))
		assert.matches("expected seconds above 0, got 1h", misuse("plan:start(job(3), { expected = '1h' })"))
	end)
end)

describe("plan:backfill_rest", function()
	-- a head on both nodes in an hour; an array, and a job that is too long
	local function busy()
		return t.cluster { nodes = "2x4c", running = { { nodes = { "n1" }, ends_in = "1h" } },
			pending = { { id = 2, nodes = 2, exclusive = true, time_limit = "1h" },
				{ id = 3, tasks = 1, array = 2, time_limit = "30m" }, { id = 4, tasks = 1, time_limit = "61m" },
				{ id = 5, tasks = 2, time_limit = "1h" } } }
	end

	it("decides as a loop of backfill does", function()
		local one = lines([[
			local queue = cluster:queue() queue() plan:reserve(job(2))
			local n = 0
			for j in queue do if plan:backfill(j) then n = n + 1 end end
			slurm.log_info("%d %s %s %s", n, plan:state(job(3)), plan:state(job(4)), plan:state(job(5)))]], busy())
		local rest = lines([[
			local queue = cluster:queue() queue() plan:reserve(job(2))
			local n = plan:backfill_rest(queue)
			slurm.log_info("%d %s %s %s", n, plan:state(job(3)), plan:state(job(4)), plan:state(job(5)))
			assert(queue() == nil)]], busy())
		assert.same(one, rest)
		assert.matches("refused", rest[1])
	end)

	it("takes nothing of the queue without a head", function()
		assert.same({ "0 2" }, lines([[
			local queue = cluster:queue()
			slurm.log_info("%d %d", plan:backfill_rest(queue), queue().id)]], busy()))
	end)

	it("takes only a queue, and only what can be said of all jobs", function()
		assert.error_matches(function() lines("plan:reserve(job(2)) plan:backfill_rest(function() end)", busy()) end,
			"cluster:queue")
		assert.error_matches(function() lines("plan:backfill_rest(cluster:queue(), { because = 'x' })", busy()) end,
			"expected place, shape or wake_after")
		assert.error_matches(function() lines("plan:backfill_rest(cluster:queue(), { shape = 1 })", busy()) end,
			"shape: expected 0 to 0")
	end)
end)

describe("plan:earliest", function()
	it("says when a job could start, and books nothing", function()
		local plan = plan_of("slurm.log_info('%d', plan:earliest(job(2)) - cluster.now)")
		assert.same({ "info: 3600" }, plan:log())
		assert.is_nil(plan:reservation(2))
	end)
end)

describe("plan:undo", function()
	it("takes a start or a reservation back", function()
		local plan = plan_of([[
			plan:start(job(3)) assert(plan:undo(job(3)))
			plan:reserve(job(2)) assert(plan:undo(job(2)))
			assert(not plan.head)
			slurm.log_info("%s", plan:undo(job(2)))]])
		assert.same({}, plan:started())
		assert.is_nil(plan:reservation(2))
		assert.same({ "info: nil" }, plan:log())
	end)
end)

describe("plan:refuse", function()
	it("tells the user why in the policy's words", function()
		assert.same({ "policy", "over quota" }, { plan_of("plan:refuse(job(3), 'over quota')"):pending(3) })
		-- of two last words the last one counts
		assert.same({ "policy", "later" }, { plan_of("plan:start(job(2)) plan:refuse(job(2), 'later')"):pending(2) })
	end)
end)

describe("plan:close", function()
	-- Two partitions that share a node.
	local function two()
		return t.cluster { nodes = "3x8c", partitions = { a = { nodes = "n[1-2]" }, b = { nodes = "n[2-3]" } },
			pending = { { id = 2, partition = "a" }, { id = 3, partition = "b" }, { id = 4, partition = "a" },
				{ id = 5, partition = "b" }, { id = 6, partition = "a,b" }, { id = 7, partition = "a" } } }
	end

	it("hands out no further job of a partition, and says why they wait", function()
		local plan = plan_of([[
			local seen = {}
			for job in cluster:queue() do
				seen[#seen + 1] = job.id .. job.partition
				if job.id == 2 then
					plan:close(job.partition, "behind job 2")
				end
			end
			for job in cluster:queue() do seen[#seen + 1] = job.id .. job.partition end
			print(table.concat(seen, " "))
			print(plan:state(job(2)), plan:state(job(4)), plan:state(job(5)))]], two())
		assert.same({ "info: 2a 3b 5b 6b 3b 5b 6b", "info: refused\trefused\topen" }, plan:log())
		for _, id in ipairs { 2, 4, 7 } do
			assert.same({ "priority", "behind job 2" }, { plan:pending(id) })
		end
		assert.equal("window", (plan:pending(5)))
		assert.same({ "priority", "behind job 2" }, { plan:pending(6) })
		assert.equal(4, plan:examined())
	end)

	it("takes nothing back, and forbids nothing", function()
		local plan = plan_of([[
			plan:start(job(2)) plan:refuse(job(4), "mine")
			plan:close(cluster.partitions.a, "closed")
			plan:start(job(7)) plan:reserve(job(6))]], two())
		assert.same({ 2, 7 }, plan:started())
		assert.same({ 6 }, plan:reserved())
		assert.same({ "policy", "mine" }, { plan:pending(4) })
		assert.is_nil(plan:pending(2))
		assert.is_nil(plan:pending(6))
	end)

	it("closes all partitions that are decided now when none is named, and no others", function()
		local site = { site = "site.lua", texts = { ["site.lua"] = [[
			local sched = require "sched"
			local function shut(cluster, plan)
				for job in cluster:queue() do
					plan:close(nil, "shut by " .. job.partition)
				end
			end
			return sched.site { default = { { name = "shut", decide = shut } }, partitions = { b = "fcfs" } }]] } }
		local plan = t.decide(site, two())
		assert.same({ 3, 5, 6 }, plan:started())
		assert.same({ "priority", "shut by a" }, { plan:pending(2) })
		assert.same({ "priority", "shut by a" }, { plan:pending(7) })
	end)

	it("is for the partitions that are decided now", function()
		assert.matches("close%(?.*expected a partition, its name or nil", misuse("plan:close(5, 'x')"))
		assert.matches("no partition 'nowhere'", misuse("plan:close('nowhere', 'x')"))
		assert.matches("string expected", misuse("plan:close('main')"))
		local site = { site = "site.lua", texts = { ["site.lua"] = [[
			local sched = require "sched"
			local other = { name = "other", decide = function(cluster, plan)
				if cluster.name ~= "probe" then plan:close("b", "x") end
			end }
			return sched.site { default = { other }, partitions = { b = "fcfs" } }]] } }
		assert.matches("partition 'b' is not one of those that are decided now", t.decide(site, two(), { may_fail = true }):errors()[1])
	end)
end)

describe("actions", function()
	it("are those that external schedulers have had since wiki2", function()
		local plan = plan_of([[
			plan:cancel(job(2), "broken") plan:requeue(job(1)) plan:suspend(job(1)) plan:resume(job(1))
			plan:signal(job(1), "TERM") plan:signal(job(1), "SIGUSR1") plan:signal(job(1), 9)
			plan:modify(job(3), { priority = 5, time_limit = 600, partition = "main" })
			plan:notify(job(1), "hello")]])
		local got = {}
		for i, a in ipairs(plan:actions()) do
			got[i] = ("%s %d %d %s"):format(a.verb, a.job, a.number, a.text)
		end
		assert.same({ "cancel 2 0 broken", "requeue 1 0 ", "suspend 1 0 ", "resume 1 0 ", "signal 1 15 ", "signal 1 10 ",
			"signal 1 9 ", "priority 3 5 ", "time_limit 3 600 ", "partition 3 0 main", "notify 1 0 hello" }, got)
	end)

	it("are all given, or none", function()
		local plan = plan_of([[
			pcall(plan.modify, plan, job(3), { priority = 5, time_limit = 600, partition = "nosuch" })]])
		assert.same({}, plan:actions())
	end)

	it("are refused where they make no sense", function()
		assert.matches("unknown signal 'NOSUCH'", misuse("plan:signal(job(1), 'NOSUCH')"))
		assert.matches("a number from 1 to 64", misuse("plan:signal(job(1), 65)"))
		assert.matches("modify: unknown key 'nodes'", misuse("plan:modify(job(3), { nodes = 5 })"))
		assert.matches("modify: no partition 'gpu'", misuse("plan:modify(job(3), { partition = 'gpu' })"))
		assert.matches("priority: expected an integer from 0 to 4294967293, got 1.5", misuse("plan:modify(job(3), { priority = 1.5 })"))
		assert.matches("time_limit: expected an integer from 60 to %d+, got 59", misuse("plan:modify(job(3), { time_limit = 59 })"))
	end)
end)

describe("what was planned", function()
	it("can be read back", function()
		assert.same({ "started reserved open", "4 0", "3600", "job 3", "job 2" }, lines([[
			plan:start(job(3)) plan:reserve(job(2))
			slurm.log_info("%s %s %s", plan:state(job(3)), plan:state(job(2)), plan:state(job(5)))
			local layout, at = plan:layout(job(3))
			slurm.log_info("%d %d", layout.n2, at - cluster.now)
			slurm.log_info("%d", select(2, plan:layout(job(2))) - cluster.now)
			slurm.log_info("%s", plan.started[1]) slurm.log_info("%s", plan.reserved[1])]]))
		assert.same({ "nil" }, lines("slurm.log_info('%s', plan:layout(job(5)))"))
	end)
end)

describe("the log", function()
	it("takes text, or a format and values, at three levels", function()
		assert.same({ "error: 100%", "info: 5 x", "debug: d", "info: a\t1\ttable" }, plan_of([[
			slurm.log_error("100%") slurm.log_info("%d %s", 5, "x") slurm.log_debug("d") print("a", 1, {})]]):log())
	end)

	it("keeps what was said while the set was loaded", function()
		local plan = t.decide({ source = "slurm.log_info('loading') return { api = 1, rank = function() return 1 end }" }, c)
		assert.same({ "info: loading" }, plan:log())
	end)
end)

describe("jobs that share cores", function()
	it("and those that share none are on no node at a time, parts of it that are reserved included", function()
		local mixed = t.cluster { nodes = "1x8c", partitions = { plain = { nodes = "n1" },
				shares = { nodes = "n1", oversubscribe = 2, flags = { "UP", "FORCE" } } },
			reservations = { { name = "r", nodes = "n1", cores = 4, starts_in = 0, ends_in = "9h",
				users = "anna" } },
			pending = { { id = 1, user = "bert", partition = "plain", tasks = 2, time_limit = "1h" },
				{ id = 2, user = "anna", partition = "shares", reservation = "r", tasks = 2, time_limit = "1h" } } }
		for _, policy in ipairs { "fcfs", "easy", "conservative" } do
			local plan = t.decide(policy, mixed)
			assert.same({ 1 }, plan:started())
			assert.equal(3600, plan:reservation(2).in_s)
		end
	end)
end)
