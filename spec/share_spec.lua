-- SPDX-License-Identifier: MIT
--
-- sched.limit: shares and numbers that one may hold at once.
local support = require "spec.support"
local t = require "sched.test"

local site_of, refused = support.site_of, support.refused

-- Four nodes of four GPUs.
local function machine(pending, running)
	return t.cluster { nodes = "4x8c4g", running = running, pending = pending }
end

local function job(id, user, account, more)
	local row = { id = id, user = user, account = account, cpus_per_task = 1, gres = "gpu:1" }
	for key, value in pairs(more or {}) do
		row[key] = value
	end
	return row
end

local function jobs(first, count, user, account, more)
	local list = {}
	for id = first, first + count - 1 do
		list[#list + 1] = job(id, user, account, more)
	end
	return list
end

local function both(a, b)
	return table.move(b, 1, #b, #a + 1, a)
end

local share = 'sched.limit { gpus = "25 %", by = "account", while_others_wait = true }, "easy"'

describe("sched.limit", function()
	it("holds a share of the GPUs within a cycle, while others wait for GPUs", function()
		local plan = t.decide(site_of(share), machine(both(jobs(10, 6, "anna", "chem"), jobs(20, 1, "bob", "phys"))))
		assert.same({ 10, 11, 12, 13, 20 }, plan:started())
		assert.same({ "policy", "limit: account chem holds 4 of 4 gpus (25 % of 16), asks for 1, and others wait for some; fits by "
			.. os.date("%Y-%m-%dT%H:%M:%S", machine({}).now + 3600) }, { plan:pending(14) })
	end)

	it("lets one have them all who is alone, or beside whom others want none", function()
		assert.equal(8, #t.decide(site_of(share), machine(jobs(10, 8, "anna", "chem"))):started())
		assert.equal(9, #t.decide(site_of(share), machine(both(jobs(10, 8, "anna", "chem"),
			{ { id = 20, user = "bob", account = "phys" } }))):started())
	end)

	it("does not heed a job of others that can never run", function()
		local never = { job(20, "bob", "phys", { gres = "gpu:9" }) }
		assert.equal(8, #t.decide(site_of(share), machine(both(never, jobs(10, 8, "anna", "chem")))):started())
	end)

	it("counts what runs, and what was started a moment ago does not wait any more", function()
		local running = { { id = 1, user = "anna", account = "chem", cores = 1, gres = "gpu:3", nodes = 1, ends_in = "1h" } }
		local plan = t.decide(site_of(share), machine(both(jobs(20, 1, "bob", "phys"), jobs(10, 6, "anna", "chem")), running))
		assert.same({ 20, 10, 11, 12, 13, 14, 15 }, plan:started())	-- bob has his: nobody else waits
	end)

	it("knows who waits where, of jobs that ask for several partitions", function()
		for full, other in pairs { a = "b", b = "a" } do
			local plan = t.decide(site_of 'sched.limit { jobs = 1, by = "partition", while_others_wait = true }, "easy"', t.cluster {
				nodes = "2x2c", partitions = { a = { nodes = "n[1-2]" }, b = { nodes = "n[1-2]" } },
				running = { { id = 1, partition = full, cores = 1, nodes = 1, ends_in = "1h" } },
				pending = { { id = 2, partition = "a,b" }, { id = 3, partition = other, cpus_per_task = 2 },
					{ id = 4, partition = full } } })
			assert.same({ 2 }, plan:started())	-- in the other one, where 3 still waits
		end
	end)

	it("counts each task of an array", function()
		local plan = t.decide(site_of(share), machine { job(10, "anna", "chem", { array = "9" }), job(20, "bob", "phys") })
		assert.same({ 10, 10, 10, 10, 20 }, plan:started())
	end)

	it("takes cores, CPUs, nodes and jobs, by user, QOS and partition", function()
		local function started(text, list)
			return #t.decide(site_of(text .. ', "easy"'), t.cluster { nodes = "4x8c2t", pending = list }):started()
		end
		local six = {}
		for i = 1, 6 do
			six[i] = { id = i, user = "anna", account = "chem", qos = "normal", cpus_per_task = 4 }		-- two cores each
		end
		assert.equal(6, started("sched.limit { cores = 99 }", six))
		assert.equal(2, started("sched.limit { cores = 4 }", six))
		assert.equal(2, started("sched.limit { cpus = 8 }", six))
		assert.equal(3, started('sched.limit { cores = "20 %", by = "qos" }', six))		-- 6.4 of 32
		assert.equal(5, started('sched.limit { jobs = 5, by = "partition" }', six))
		assert.equal(1, started("sched.limit { nodes = 1 }", six))
	end)

	it("asks a function once for each name", function()
		local list = both(jobs(10, 3, "anna", "chem"), jobs(20, 3, "bob", "phys"))
		local plan = t.decide(site_of('sched.limit { gpus = function(name, supply) slurm.log_info("%s of %d", name, supply) ' ..
			'return name == "anna" and 1 or nil end }, "easy"'), machine(list))
		assert.same({ 10, 20, 21, 22 }, plan:started())
		assert.same({ "info: anna of 16", "info: bob of 16" }, plan:log())
		plan = t.decide(site_of 'sched.limit { gpus = function() return "12.5 %" end }, "easy"', machine(list))
		assert.same({ 10, 11, 20, 21 }, plan:started())
	end)

	it("takes accounts of a group together", function()
		local list = both(jobs(10, 3, "anna", "lhc"), both(jobs(20, 3, "bob", "astro"), jobs(30, 3, "carl", "chem")))
		local plan = t.decide(site_of('sched.limit { gpus = 4, by = "account", groups = { physics = { "lhc", "astro" } } }, "easy"'),
			machine(list))
		assert.same({ 10, 11, 12, 20, 30, 31, 32 }, plan:started())
		assert.matches("^limit: account physics holds 4 of 4 gpus, asks for 1; fits by", select(2, plan:pending(21)))
	end)

	it("says of what asks for more than the limit that it can never start", function()
		local plan = t.decide(site_of 'sched.limit { gpus = 2, name = "two" }, "easy"', machine { job(10, "anna", "chem",
			{ gres = "gpu:3" }) })
		assert.equal("two: user anna holds 0 of 2 gpus, asks for 3: can never start", select(2, plan:pending(10)))
	end)

	it("holds in simulations, instant by instant", function()
		local list = {}
		for i = 1, 6 do
			list[i] = { id = i, user = "anna", cpus_per_task = 1, runtime = "10m", time_limit = "1h" }
		end
		local s = t.simulate(site_of 'sched.limit { jobs = 2 }, "easy"', { nodes = "1x8c", jobs = list })
		assert.equal(1200, s:job(6).start_s)
	end)

	it("refuses what makes no sense, and names the line", function()
		assert.matches('site.lua:3: sched.limit: gpus: "150 %%" is more than the whole; expected at most "100 %%"',
			refused 'sched.limit { gpus = "150 %" }')
		assert.matches('jobs: "10 %%": jobs have no whole', refused 'sched.limit { jobs = "10 %" }')
		assert.matches('gpus: "many" is no limit; expected a number, a share such as "25 %%", or a function',
			refused 'sched.limit { gpus = "many" }')
		assert.matches("cores: %-1 is no limit", refused "sched.limit { cores = -1 }")
		assert.matches("limits nothing; expected one of cores, cpus, gpus, nodes, jobs", refused "sched.limit { }")
		assert.matches('unknown option \'gpu\' of sched.limit; did you mean \'gpus\'', refused "sched.limit { gpu = 1 }")
		assert.matches('option \'by\' of sched.limit: "group" is not one of user, account, qos, partition',
			refused 'sched.limit { gpus = 1, by = "group" }')
		assert.matches("groups are of accounts", refused 'sched.limit { gpus = 1, groups = { a = { "b" } } }')
		assert.matches("account 'x' is in 'a' and in 'b'",
			refused 'sched.limit { gpus = 1, by = "account", groups = { a = { "x" }, b = { "x" } } }')
		assert.matches("site.lua:3: sched.limit: gpus: the function returned for 'bob': true is no limit",
			refused "sched.limit { gpus = function() return true end }")
	end)
end)
