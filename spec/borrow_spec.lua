-- SPDX-License-Identifier: MIT
local t = require "sched.test"

-- A site whose partition "home" borrows; *others* are further partitions of the site file.
local function site(borrow, others)
	return { site = "site.lua", texts = { ["site.lua"] = ([[
		local sched = require "sched"
		return sched.site { default = { "easy" }, partitions = {
			home = { sched.borrow { through = "all", %s }, "easy" },
			%s
		} }
	]]):format(borrow, others or "") } }
end

-- 2 nodes of home, 4 of gpu, 2 of test, and one partition of all.
local function cluster(spec)
	spec.nodes = spec.nodes or "8x4c"
	spec.partitions = spec.partitions or {
		home = { nodes = "n[1-2]" }, gpu = { nodes = "n[3-6]" }, test = { nodes = "n[7-8]" }, all = {},
	}
	for name, more in pairs(spec.limits or {}) do
		for key, value in pairs(more) do
			spec.partitions[name][key] = value
		end
	end
	spec.limits = nil
	for _, job in ipairs(spec.pending) do
		job.partition = job.partition or "home"
		if job.exclusive == nil then
			job.exclusive = true
		end
	end
	return t.cluster(spec)
end

local from_gpu = "from = { 'gpu' }"

describe("sched.borrow", function()
	it("starts a job on its own nodes and on idle ones of another partition", function()
		local plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 3 } } })
		local start = plan:start(1)
		assert.same({ 1 }, plan:started())
		assert.equal("home", start.partition)
		assert.equal("all", start.through)
		assert.same({ "gpu" }, start.lenders)
		assert.equal("borrow", start.by)
		assert.equal("everybody may borrow", start.because)
		assert.equal(3, #start.nodes)
		for _, name in ipairs(start.nodes) do
			assert.truthy(("n1 n2 n3 n4 n5 n6"):find(name, 1, true))
		end
	end)

	it("leaves a job that fits at home at home", function()
		local plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 2 } } })
		assert.same({ "n1", "n2" }, plan:start(1).nodes)
		assert.is_nil(plan:start(1).through)
	end)

	it("takes nodes of several partitions, and of none that is not named", function()
		local plan = t.decide(site("from = { 'gpu', 'test' }"), cluster { pending = { { id = 1, nodes = 8 } } })
		assert.same({ 1 }, plan:started())
		plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 7 } } })
		assert.same({}, plan:started())
	end)

	it("says of a job that cannot borrow what it would say without", function()
		local plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 7 } } })
		local why, text = plan:pending(1)
		assert.equal("never", why)
		assert.equal("needs 7 nodes, 2 could ever do", text)
	end)

	describe("lends what is idle for the job's walltime:", function()
		-- gpu: two nodes taken for another hour, job 10 needs all four then
		local function waiting(time_limit, more)
			return cluster {
				running = { { id = 5, partition = "gpu", nodes = "n[3-4]", exclusive = true, ends_in = "1h" } },
				pending = { { id = 10, partition = "gpu", nodes = 4 }, { id = 1, nodes = 4, time_limit = time_limit }, more },
			}
		end

		it("a job that ends before the lender's own starts", function()
			assert.same({ 1 }, t.decide(site(from_gpu), waiting("1h")):started())
		end)
		it("not one that would delay it", function()
			assert.same({}, t.decide(site(from_gpu), waiting("61m")):started())
		end)
		it("nor one behind the first, which has no reservation from its policy", function()
			local c = cluster {
				running = { { id = 5, partition = "gpu", nodes = "n[3-5]", exclusive = true, ends_in = "1h" } },
				pending = { { id = 10, partition = "gpu", nodes = 3 }, { id = 11, partition = "gpu", nodes = 1, time_limit = "2h" },
					{ id = 1, nodes = 3, time_limit = "30h" } },
			}
			-- 11 is backfilled on n6: nothing is left.  Without it n6 is free for ever
			local plan = t.decide(site(from_gpu), c)
			assert.same({ 11 }, plan:started())
		end)
		it("and jobs of the lender that are protected get no reservation from that", function()
			local c = function(limit)
				return cluster {
					running = { { id = 5, partition = "gpu", nodes = "n[3-5]", exclusive = true, ends_in = "1h" } },
					pending = { { id = 10, partition = "gpu", nodes = 3, time_limit = "5h" },
						{ id = 11, partition = "gpu", nodes = 2, time_limit = "1h" },
						{ id = 1, nodes = 3, time_limit = limit } },
				}
			end
			-- 10 starts in 1 h on n3-5, 11 in 6 h on two of them: n6 is nobody's
			local plan = t.decide(site(from_gpu), c("30h"))
			assert.same({ 1 }, plan:started())
			assert.same({ 10 }, plan:reserved())
			assert.equal(3600, plan:reservation(10).in_s)
			assert.equal("easy", plan:reservation(10).by)
		end)
		it("as many of the lender's first jobs as the site says", function()
			-- 10 has n3-5 in an hour, 11 needs n6 and another one then
			local function c()
				return cluster {
					running = { { id = 5, partition = "gpu", nodes = "n[3-5]", exclusive = true, ends_in = "1h" } },
					pending = { { id = 10, partition = "gpu", nodes = 2, time_limit = "5h" },
						{ id = 11, partition = "gpu", nodes = 2, time_limit = "1h" },
						{ id = 1, nodes = 3, time_limit = "2h" } },
				}
			end
			assert.same({}, t.decide(site(from_gpu), c()):started())
			assert.same({ 1 }, t.decide(site(from_gpu .. ", protect = 1"), c()):started())
		end)
	end)

	it("lends what is idle at this moment when the site says so, and tells the lender's job when", function()
		local function c()
			return cluster {
				running = { { id = 5, partition = "gpu", nodes = "n[3-4]", exclusive = true, ends_in = "1h" } },
				pending = { { id = 10, partition = "gpu", nodes = 4 }, { id = 1, nodes = 4, time_limit = "3h" } },
			}
		end
		local plan = t.decide(site(from_gpu .. ", when = 'now'"), c())
		assert.same({ 1 }, plan:started())
		assert.equal(3 * 3600, plan:reservation(10).in_s)
		assert.same({}, t.decide(site(from_gpu), c()):started())
	end)

	it("puts a lifted reservation back for the same alternative", function()
		-- of gpu's four nodes three are busy for an hour; job 10 would do with two of them
		local plan = t.decide(site(from_gpu .. ", when = 'now'"), cluster {
			running = { { id = 5, partition = "gpu", nodes = "n[3-4]", exclusive = true, ends_in = "1h" },
				{ id = 6, partition = "gpu", nodes = "n5", exclusive = true, ends_in = "4h" } },
			pending = { { id = 10, partition = "gpu", nodes = 4, comment = "sched: -N2" }, { id = 1, nodes = 3, time_limit = "3h" } },
		})
		assert.same({ 1 }, plan:started())
		assert.same({ 3600, 1 }, { plan:reservation(10).in_s, plan:reservation(10).shape })
	end)

	it("looks at all jobs of a set that closed its queue", function()
		local fcfs = { site = "site.lua", texts = { ["site.lua"] = [[
			local sched = require "sched"
			return sched.site { default = { "easy" }, partitions = {
				home = { sched.borrow { through = "all", from = "gpu" }, "fcfs" } } }]] } }
		local plan = t.decide(fcfs, cluster { running = { { id = 5, partition = "home", nodes = "n1", exclusive = true, ends_in = "1h" } },
			pending = { { id = 1, nodes = 2, user = "bob" }, { id = 2, nodes = 1, user = "eve" }, { id = 3, nodes = 3 } } })
		assert.same({ 1, 2 }, plan:started())
		assert.same({ "priority", "waits behind job 1" }, { plan:pending(3) })
	end)

	it("does not delay the first job at home", function()
		local plan = t.decide(site(from_gpu), cluster {
			running = { { id = 5, partition = "home", nodes = "n1", exclusive = true, ends_in = "1h" },
				{ id = 6, partition = "gpu", nodes = "n[3-6]", exclusive = true, ends_in = "30m" } },
			pending = { { id = 1, nodes = 2 }, { id = 2, nodes = 1, time_limit = "2h", exclusive = true } },
		})
		assert.same({}, plan:started())
		assert.equal(3600, plan:reservation(1).in_s)
	end)

	describe("who may borrow:", function()
		local function two()
			return cluster { pending = { { id = 1, nodes = 3, user = "bob" }, { id = 2, nodes = 3, user = "eve", account = "chem" } } }
		end

		it("users that are named", function()
			local plan = t.decide(site(from_gpu .. ", users = { 'eve' }"), two())
			assert.same({ 2 }, plan:started())
			assert.equal("user eve may borrow", plan:start(2).because)
		end)
		it("accounts that are named", function()
			assert.same({ 2 }, t.decide(site(from_gpu .. ", accounts = { 'chem' }"), two()):started())
		end)
		it("users from a layer on", function()
			local layers = [[, layer = 100, layers = { rank = function(job) return job.user == 'bob' and 100 or 99 end }]]
			local plan = t.decide(site(from_gpu .. layers), two())
			assert.same({ 1 }, plan:started())
			assert.equal("layer 100 may borrow, as all from 100 on", plan:start(1).because)
		end)
		it("nobody whom the set does not admit", function()
			local plan = t.decide(site(from_gpu .. [[}, { name = 'nobobs', admit = function(job)
				return job.user ~= 'bob', 'no bobs' end ]]), two())
			assert.same({ 2 }, plan:started())
		end)
	end)

	describe("limits of the other partition apply:", function()
		local function allowed(limits, job)
			job = job or {}
			job.id, job.nodes = 1, 3
			return #t.decide(site(from_gpu), cluster { pending = { job }, limits = limits }):started() == 1
		end

		it("MaxTime", function()
			assert.is_true(allowed { gpu = { max_time = "1h" } })
			assert.is_false(allowed { gpu = { max_time = "59m" } })
			assert.is_false(allowed { all = { max_time = "59m" } })
		end)
		it("MaxNodes and MinNodes", function()
			assert.is_true(allowed { gpu = { max_nodes = 3 } })
			assert.is_false(allowed { gpu = { max_nodes = 2 } })
			assert.is_false(allowed { all = { max_nodes = 2 } })
			assert.is_true(allowed { gpu = { min_nodes = 3 } })
			assert.is_false(allowed { gpu = { min_nodes = 4 } })
		end)
		it("AllowAccounts and DenyAccounts", function()
			assert.is_true(allowed({ gpu = { allow_accounts = "phys,chem" } }, { account = "chem" }))
			assert.is_false(allowed({ gpu = { allow_accounts = "phys,chemistry" } }, { account = "chem" }))
			assert.is_false(allowed({ gpu = { deny_accounts = "phys,chem" } }, { account = "chem" }))
			assert.is_true(allowed({ gpu = { deny_accounts = "phys" } }, { account = "chem" }))
			assert.is_false(allowed({ gpu = { allow_accounts = "phys" } }))
		end)
		it("AllowQos and DenyQos", function()
			assert.is_true(allowed({ gpu = { allow_qos = "normal" } }, { qos = "normal" }))
			assert.is_false(allowed({ gpu = { allow_qos = "high" } }, { qos = "normal" }))
			assert.is_false(allowed({ gpu = { deny_qos = "normal" } }, { qos = "normal" }))
		end)
		it("AllowGroups", function()
			assert.is_true(allowed({ gpu = { allow_users = "1000,1001" } }, { uid = 1001 }))
			assert.is_false(allowed({ gpu = { allow_users = "1000,10011" } }, { uid = 1001 }))
			assert.is_false(allowed({ gpu = { allow_users = "-" } }, { uid = 1001 }))
			assert.is_true(allowed({ gpu = { allow_users = "-" } }, { uid = 0 }))
		end)
		it("RootOnly, but for the partition through which jobs are started", function()
			assert.is_false(allowed({ gpu = { flags = { "UP", "ROOT_ONLY" } } }, { uid = 1001 }))
			assert.is_true(allowed({ all = { flags = { "UP", "ROOT_ONLY" } } }, { uid = 1001 }))
		end)
		it("its state", function()
			assert.is_false(allowed { gpu = { flags = {} } })
			assert.is_false(allowed { all = { flags = {} } })
		end)
		it("MaxCPUsPerNode is not modelled across partitions", function()
			assert.is_false(allowed { gpu = { max_cpus_per_node = 4 } })
			assert.is_false(allowed { home = { max_cpus_per_node = 4 } })
		end)
		it("and how nodes are shared", function()
			assert.is_false(allowed { all = { oversubscribe = 0 } })
		end)
	end)

	it("borrows from those that allow it", function()
		local plan = t.decide(site("from = { 'gpu', 'test' }"), cluster { pending = { { id = 1, nodes = 4 } },
			limits = { gpu = { max_time = "1m" } } })
		assert.same({ "test" }, plan:start(1).lenders)
		assert.same({ "n1", "n2", "n7", "n8" }, plan:start(1).nodes)
	end)

	it("does not give nodes that the partition to borrow through lacks", function()
		local plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 4 } },
			partitions = { home = { nodes = "n[1-2]" }, gpu = { nodes = "n[3-6]" }, all = { nodes = "n[1-3]" } } })
		assert.same({}, plan:started())
	end)

	it("starts the tasks of an array", function()
		local plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 1, array = "10" } } })
		assert.equal(6, #plan:started())
	end)

	it("leaves what only Slurm's select can place at home", function()
		local plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 3, asks = { "BURST_BUFFER" } } } })
		assert.same({}, plan:started())
	end)

	it("does not start a job through a partition that it asks for", function()
		local plan = t.decide(site("from = { 'gpu' }"), cluster { pending = { { id = 1, nodes = 3, partition = "home,all" } } })
		assert.is_nil(plan:start(1).through)
		assert.equal("all", plan:start(1).partition)
	end)

	it("is at rest where the cluster has no such partitions", function()
		local plan = t.decide(site(from_gpu), cluster { pending = { { id = 1, nodes = 3 } }, partitions = { home = { nodes = "n[1-2]" } } })
		assert.same({}, plan:started())
		assert.same({}, plan:errors())
	end)

	it("protects a lender in the order of the lender's own policy", function()
		local c = function()
			return cluster {
				running = { { id = 5, partition = "gpu", nodes = "n[3-4]", exclusive = true, ends_in = "1h" } },
				pending = { { id = 10, partition = "gpu", nodes = 2, user = "late", time_limit = "9h", begins_in = "10m" },
					{ id = 11, partition = "gpu", nodes = 4, user = "first" }, { id = 1, nodes = 4, time_limit = "2h" } },
			}
		end
		local rank = "gpu = { { name = 'r', rank = function(j) return j.user == 'first' and 1 or 0 end }, 'easy' }"
		local plan = t.decide(site(from_gpu .. ", protect = 1", rank), c())
		assert.same({}, plan:started())
		assert.equal(3600, plan:reservation(11).in_s)
	end)

	it("counts what runs on borrowed nodes for the partition that it waited in", function()
		local policy = { site = "site.lua", texts = { ["site.lua"] = [[
			local sched = require "sched"
			local seen = { name = "seen", admit = function(job, cluster)
				slurm.log_info("%d in home, %d in all", cluster.usage:running { by = "user", unit = "node", partition = "home" }.bob or 0,
					cluster.usage:running { by = "user", unit = "node", partition = "all" }.bob or 0)
				return true
			end }
			return sched.site { partitions = { home = { sched.quota { per_user = "5 node-hours" }, seen, "easy" } } }
		]] } }
		local plan = t.decide(policy, cluster {
			running = { { id = 5, partition = "all", home = "home", user = "bob", nodes = "n[1-4]", exclusive = true, ends_in = "1h" } },
			pending = { { id = 1, nodes = 2, user = "bob" }, { id = 2, nodes = 1, user = "eve" } },
		})
		assert.matches("14400 in home, 0 in all", plan:log()[1])
		assert.same({}, plan:started())
		assert.equal("policy", (plan:pending(1)))
	end)

	it("is the same in the simulator", function()
		local w = { nodes = "8x4c",
			partitions = { home = { nodes = "n[1-2]" }, gpu = { nodes = "n[3-6]" }, test = { nodes = "n[7-8]" }, all = {} },
			jobs = {
				{ id = 1, partition = "home", nodes = 2, exclusive = true, runtime = "2h", time_limit = "2h" },
				{ id = 2, partition = "home", nodes = 2, exclusive = true, runtime = "30m", time_limit = "1h", submit = "1m" },
				{ id = 3, partition = "gpu", nodes = 4, exclusive = true, runtime = "1h", time_limit = "1h", submit = "5m" },
			} }
		local s = t.simulate(site(from_gpu), w)
		assert.equal(60, s:job(2).start_s)
		assert.same({ "n3", "n4" }, s:job(2).nodes)
		assert.equal(60 + 1800, s:job(3).start_s)	-- given back
		assert.equal("home", s:job(2).partition)
		assert.equal(7200, t.simulate("easy", w):job(2).start_s)
	end)

	describe("is refused when", function()
		local function refusal(text)
			local _, why = t.check(site(text))
			return why
		end

		it("it does not say from whom", function()
			assert.matches("site.lua:3: from: expected the names of 1 to 16", refusal("layer = -1"))
		end)
		it("it borrows through a lender", function()
			assert.matches("through: partition 'all' cannot be one of those that lend", refusal("from = { 'all' }"))
		end)
		it("a name is none", function()
			assert.matches("from: expected a list of names", refusal("from = { 3 }"))
		end)
		it("an option is unknown", function()
			assert.matches("unknown option 'form'", refusal("form = { 'gpu' }"))
		end)
		it("it does not say which layers", function()
			assert.matches("layer: who is in which layer", refusal("from = 'gpu', layer = 3"))
		end)
		it("when is something else", function()
			assert.matches("'when'.*\"later\" is not one of idle, now", refusal("from = 'gpu', when = 'later'"))
		end)
	end)
end)
