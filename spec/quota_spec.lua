-- SPDX-License-Identifier: MIT
--
-- Numbers are worked out by hand: hours are cores x walltime.
local support = require "spec.support"
local t = require "sched.test"

local site, refused = support.site_of, support.refused

local now = 1700000000		-- Tuesday 2023-11-14 22:13:20 UTC

-- A time as the quota's texts have it, in the zone of this machine.
local function at(time)
	return os.date("%Y-%m-%dT%H:%M", time)
end

-- One node of 64 cores; alice holds 4 cores for 10 h = 40 cpu-hours, until 6 h from now.
local function machine(pending, more)
	local spec = {
		nodes = "1x64c", now = now,
		running = { { id = 1, user = "alice", cores = 4, nodes = 1, started_ago = "4h", ends_in = "6h",
			account = "physics" } },
		pending = pending,
	}
	for key, value in pairs(more or {}) do
		spec[key] = value
	end
	return t.cluster(spec)
end

describe("a quota", function()
	it("lets a user hold as many hours as the limit and no more", function()
		-- 40 + 2 x 30 = 100 fits exactly; 40 + 60 + 1 does not
		local c = machine { { id = 2, user = "alice", tasks = 2, time_limit = "30h" },
			{ id = 3, user = "alice", tasks = 1, time_limit = "1h" }, { id = 4, user = "bob", tasks = 1, time_limit = "100h" } }
		local plan = t.decide(site('sched.quota { per_user = "100 cpu-hours" }, "easy"'), c)
		assert.same({ 2, 4 }, plan:started())
		assert.same({ "policy", "quota: user alice holds 100 of 100 cpu-hours, asks for 1; fits by " .. at(now + 6 * 3600) },
			{ plan:pending(3) })
	end)

	it("says how much is used, how much is asked and when it will fit", function()
		-- 40 of 100 held, 80 asked: fits when the 40 end, in 6 h
		local plan = t.decide(site('sched.quota { per_user = "100 cpu-hours" }, "easy"'),
			machine { { id = 2, user = "alice", tasks = 8, time_limit = "10h" } })
		assert.same({ "policy", "quota: user alice holds 40 of 100 cpu-hours, asks for 80; fits by " .. at(now + 6 * 3600) },
			{ plan:pending(2) })
	end)

	it("says so of what can never start", function()
		local plan = t.decide(site('sched.quota { per_user = "100 cpu-hours" }, "easy"'),
			machine { { id = 2, user = "bob", tasks = 8, time_limit = "20h" } })
		assert.same({ "policy", "quota: user bob holds 0 of 100 cpu-hours, asks for 160: can never start" },
			{ plan:pending(2) })
	end)

	it("holds within a cycle, also where a rank has looked at all jobs before", function()
		local pending = {}
		for id = 2, 9 do
			pending[#pending + 1] = { id = id, user = "alice", tasks = 2, time_limit = "10h" }	-- 20 each
		end
		for _, list in ipairs { 'sched.quota { per_user = "100 cpu-hours" }, "easy"',
			'sched.quota { per_user = "100 cpu-hours" }, sched.ageing { }, "easy"',
			'sched.quota { per_user = "100 cpu-hours" }, "fcfs"',
			'sched.quota { per_user = "100 cpu-hours" }, "conservative"' } do
			assert.same({ 2, 3, 4 }, t.decide(site(list), machine(pending)):started())
		end
	end)

	it("holds for a policy that collects jobs before it starts them", function()
		local collect = [[
			local M = { api = 1 }
			function M.decide(cluster, plan)
				local jobs = {}
				for job in cluster:queue() do jobs[#jobs + 1] = job end
				for _, job in ipairs(jobs) do plan:start(job) end
			end
			return M]]
		local pending = {}
		for id = 2, 9 do
			pending[#pending + 1] = { id = id, user = "alice", tasks = 2, time_limit = "10h" }
		end
		local s = site('sched.quota { per_user = "100 cpu-hours" }, "collect"', { collect = collect })
		local plan = t.decide(s, machine(pending))
		assert.same({ 2, 3, 4 }, plan:started())
		assert.matches("^quota: user alice holds 100 of 100", select(2, plan:pending(9)))
	end)

	it("counts each task of an array", function()
		-- 40 + 3 x 20 = 100
		local plan = t.decide(site('sched.quota { per_user = "100 cpu-hours" }, "easy"'),
			machine { { id = 2, user = "alice", array = "10", tasks = 2, time_limit = "10h" } })
		assert.same({ 2, 2, 2 }, plan:started())
		assert.matches("holds 100 of 100 cpu%-hours, asks for 20", select(2, plan:pending(2)))
	end)

	it("holds in simulations, from one decision to the next", function()
		local list = {}
		for i = 1, 6 do
			list[i] = { id = i, user = "anna", cpus_per_task = 1, runtime = "10m", time_limit = "1h" }
		end
		local s = t.simulate(site('sched.quota { per_user = "2 cpu-hours" }, "easy"'), { nodes = "1x8c", jobs = list })
		assert.equal(1200, s:job(6).start_s)
		s = t.simulate(site('sched.first_job { }, "easy"'), { nodes = "1x1c", jobs = list })
		assert.equal(3000, s:job(6).start_s)
	end)

	it("gives back what a policy undoes", function()
		local undo = [[
			local M = { api = 1 }
			function M.decide(cluster, plan)
				for job in cluster:queue() do
					if plan:start(job) and job.id == 2 then plan:undo(job) end
				end
			end
			return M]]
		local plan = t.decide(site('sched.quota { per_user = "100 cpu-hours" }, "undo"', { undo = undo }),
			machine { { id = 2, user = "alice", tasks = 6, time_limit = "10h" }, { id = 3, user = "alice", tasks = 6, time_limit = "10h" } })
		assert.same({ 3 }, plan:started())
	end)

	it("does not let a job that waits for its quota hold up others", function()
		-- job 2 is alice's and wide: were it the head, job 3 would be delayed
		local plan = t.decide(site('sched.quota { per_user = "100 cpu-hours" }, "easy"'),
			machine { { id = 2, user = "alice", tasks = 64, time_limit = "10h" }, { id = 3, user = "bob", tasks = 60, time_limit = "1h" } })
		assert.same({ 3 }, plan:started())
		assert.same({}, plan:reserved())
	end)

	it("counts whole nodes for a job that has them for itself", function()
		-- 1 task, exclusive, on 64 cores for 1 h: 64
		local plan = t.decide(site('sched.quota { per_user = "63 cpu-hours" }, "easy"'), t.cluster { nodes = "1x64c",
			pending = { { id = 2, exclusive = true, time_limit = "1h" } } })
		assert.same({}, plan:started())
		assert.matches("asks for 64: can never start", select(2, plan:pending(2)))
		assert.same({ 2 }, t.decide(site('sched.quota { per_user = "64 cpu-hours" }, "easy"'), t.cluster { nodes = "1x64c",
			pending = { { id = 2, exclusive = true, time_limit = "1h" } } }):started())
	end)

	it("counts what the job really gets once it has a place", function()
		-- the partition's first node has 4 cores, the only free one 16: exclusive gets 16
		local c = t.cluster { nodes = { { count = 1, name = "small", cores = 4 }, { count = 1, name = "big", cores = 16 } },
			running = { { id = 1, user = "bob", nodes = "small", exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, user = "alice", exclusive = true, time_limit = "1h" },
				{ id = 3, user = "carol", tasks = 1, time_limit = "1h" } } }
		local plan = t.decide(site('sched.quota { per_user = "10 cpu-hours" }, "easy"'), c)
		assert.same({ 3 }, plan:started())
		assert.matches("asks for 16: can never start", select(2, plan:pending(2)))
	end)

	it("counts a job without walltime as a year, or as what the site says", function()
		-- 8760 h; the builder's partition has no MaxTime
		local c = machine { { id = 2, user = "bob", tasks = 1, time_limit = "UNLIMITED" } }
		assert.same({}, t.decide(site('sched.quota { per_user = "8759 cpu-hours" }, "easy"'), c):started())
		assert.same({ 2 }, t.decide(site('sched.quota { per_user = "8760 cpu-hours" }, "easy"'), c):started())
		assert.same({ 2 }, t.decide(site('sched.quota { per_user = "24 cpu-hours", no_walltime = "1d" }, "easy"'), c):started())
	end)

	it("limits accounts, GPU-hours and node-hours alike", function()
		local c = t.cluster { nodes = "4x8c4g",
			running = { { id = 1, user = "alice", account = "physics", nodes = 1, cores = 2, gres = "gpu:2", ends_in = "10h" } },
			pending = { { id = 2, user = "bob", account = "physics", tasks = 1, gres = "gpu:3", time_limit = "10h" },
				{ id = 3, user = "bob", account = "physics", tasks = 1, gres = "gpu:1", time_limit = "10h" },
				{ id = 4, user = "bob", account = "physics", nodes = 3, tasks = 3, time_limit = "10h" } } }
		-- gpu: 20 held; 30 more are too much, 10 are not
		local plan = t.decide(site('sched.quota { per_account = "40 gpu-hours" }, "easy"'), c)
		assert.same({ 3, 4 }, plan:started())
		assert.matches("^quota: account physics holds 20 of 40 gpu%-hours, asks for 30; fits by", select(2, plan:pending(2)))
		-- nodes: 10 held; 2 and 3 come to 30, 4 asks for 30 more
		plan = t.decide(site('sched.quota { per_account = "59 node-hours" }, "easy"'), c)
		assert.same({ 2, 3 }, plan:started())
	end)

	it("counts the partitions of its list, or the whole cluster", function()
		local function c()
			return t.cluster { nodes = "4x8c", partitions = { a = { nodes = "n[1-2]" }, b = { nodes = "n[3-4]" } },
				running = { { id = 1, user = "alice", partition = "a", nodes = 1, cores = 4, ends_in = "10h" } },
				pending = { { id = 2, user = "alice", partition = "b", tasks = 1, time_limit = "10h" } } }
		end
		local function partitions(scope)
			return { site = "site.lua", texts = { ["site.lua"] = ([[
				local sched = require "sched"
				return sched.site { partitions = { b = { sched.quota { per_user = "40 cpu-hours", %s }, "easy" } } }
			]]):format(scope) } }
		end
		assert.same({ 2 }, t.decide(partitions(""), c()):started())
		assert.same({}, t.decide(partitions('scope = "cluster"'), c()):started())
	end)

	it("sees what other partitions started in the same cycle", function()
		local text = [[
			local sched = require "sched"
			local q = sched.quota { per_user = "40 cpu-hours", scope = "cluster" }
			return sched.site { partitions = { a = { q, "easy" }, b = { q, "easy" } } }]]
		local plan = t.decide(support.site(text), t.cluster { nodes = "4x8c",
			partitions = { a = { nodes = "n[1-2]" }, b = { nodes = "n[3-4]" } },
			pending = { { id = 2, partition = "b", tasks = 3, time_limit = "10h", user = "alice" },
				{ id = 3, partition = "a", tasks = 3, time_limit = "10h", user = "alice" },
				{ id = 4, partition = "b", tasks = 3, time_limit = "10h", user = "bob" } } })
		assert.same({ 3, 4 }, plan:started())
	end)

	it("may let jobs over the limit run after everybody else's", function()
		local s = site('sched.quota { per_user = "100 cpu-hours", on_exceed = "demote" }, "easy"')
		-- alice's 80 are too much; bob's come first, and hers take what is left
		local pending = { { id = 2, user = "alice", tasks = 8, time_limit = "10h" }, { id = 3, user = "bob", tasks = 52, time_limit = "1h" } }
		local plan = t.decide(s, machine(pending))
		assert.same({ 3, 2 }, plan:started())
		-- were there more of bob's, nothing would be left
		pending[2].tasks = 60
		plan = t.decide(s, machine(pending))
		assert.same({ 3 }, plan:started())
		assert.same({ "policy", "quota: user alice holds 40 of 100 cpu-hours, asks for 80; fits by " .. at(now + 6 * 3600) },
			{ plan:pending(2) })
	end)

	it("demotes the tasks of an array from the one that is too much", function()
		local s = site('sched.quota { per_user = "100 cpu-hours", on_exceed = "demote" }, "easy"')
		local plan = t.decide(s, machine { { id = 2, user = "alice", array = "5", tasks = 2, time_limit = "10h" },
			{ id = 3, user = "bob", tasks = 2, time_limit = "1h" } })
		assert.same({ 2, 2, 2, 3, 2, 2 }, plan:started())
	end)

	it("may let a job that is larger than the limit run alone", function()
		local s = site('sched.quota { per_user = "100 cpu-hours", oversize = "alone" }, "easy"')
		local pending = { { id = 2, user = "bob", tasks = 11, time_limit = "10h" }, { id = 3, user = "bob", tasks = 11, time_limit = "10h" },
			{ id = 4, user = "alice", tasks = 11, time_limit = "10h" } }
		local plan = t.decide(s, machine(pending))
		assert.same({ 2 }, plan:started())
		assert.same({ "policy", "quota: user bob holds 110 of 100 cpu-hours, asks for 110: more than the limit, starts alone; fits by " ..
			at(now + 10 * 3600) }, { plan:pending(3) })
		assert.same({ "policy", "quota: user alice holds 40 of 100 cpu-hours, asks for 110: more than the limit, starts alone; fits by " ..
			at(now + 6 * 3600) }, { plan:pending(4) })
	end)

	it("asks about the alternative with which a job starts", function()
		-- as asked 16 cores x 10 h are too much; 4 are not
		local try = [[
			local M = { api = 1 }
			function M.decide(cluster, plan)
				for job in cluster:queue() do
					slurm.log_info("%s", plan:start(job))
					if #job.shapes > 0 then slurm.log_info("%s", plan:start(job, { shape = 1 })) end
				end
			end
			return M]]
		local s = site('sched.quota { per_user = "100 cpu-hours" }, "try"', { try = try })
		local plan = t.decide(s, machine { { id = 2, user = "alice", tasks = 16, time_limit = "10h", shapes = { { num_tasks = 4 } } } })
		assert.same({ 2 }, plan:started())
		assert.same({ "info: nil", "info: true" }, plan:log())
		assert.same({ n1 = 4 }, plan:layout(2))
	end)

	it("is and-ed with others, and with what admits", function()
		local s = site('sched.quota { per_user = "100 cpu-hours" }, sched.quota { name = "gpu", per_user = "1 gpu-hours" }, ' ..
			'{ name = "x", admit = function(job) return job.id ~= 4, "not four" end }, "easy"')
		local c = t.cluster { nodes = "1x64c4g", pending = { { id = 2, tasks = 1, gres = "gpu:2", time_limit = "1h" },
			{ id = 3, tasks = 1, time_limit = "1h" }, { id = 4, tasks = 1 } } }
		local plan = t.decide(s, c)
		assert.same({ 3 }, plan:started())
		assert.matches("^gpu: user", select(2, plan:pending(2)))
		assert.same({ "policy", "not four" }, { plan:pending(4) })
	end)

	it("takes a user with a name of 300 characters", function()
		local plan = t.decide(site('sched.quota { per_user = "1 cpu-hours" }, "easy"'),
			machine { { id = 2, user = ("x"):rep(300), tasks = 1, time_limit = "1h" }, { id = 3, user = ("x"):rep(300), tasks = 1 } })
		assert.same({ 2 }, plan:started())
	end)
end)

describe("the file of limits", function()
	local list = 'sched.quota { per_user = "10 cpu-hours", limits = "limits.conf" }, "easy"'
	local pending = { { id = 2, user = "bob", account = "math", tasks = 2, time_limit = "10h" },
		{ id = 3, user = "carol", account = "math", tasks = 3, time_limit = "10h" }, { id = 4, user = "dave", tasks = 1, time_limit = "11h" } }

	local function started(text)
		return t.decide(site(list, { ["limits.conf"] = text }), machine(pending)):started()
	end

	it("has exceptions to what the site file says", function()
		assert.same({}, started "# none\n")
		assert.same({ 2 }, started "user bob 20 cpu-hours\n")
		assert.same({ 3 }, started "user bob 19.9 cpu-hours # too little\nuser carol unlimited\n")
		assert.same({ 2, 4 }, started "default\t20 cpu-hours\n")
		assert.same({ 2 }, started "default 30 cpu-hours\nuser carol 1 cpu-hours\naccount math 30 core-hours\nuser dave 1 cpu-hours\n")
	end)

	it("may limit what the site file does not", function()
		local plan = t.decide(site('sched.quota { limits = "limits.conf" }, "easy"', { ["limits.conf"] = "user bob 1 node-hours\n" }),
			machine(pending))
		assert.same({ 3, 4 }, plan:started())
		assert.matches("user bob holds 0 of 1 node%-hours, asks for 10", select(2, plan:pending(2)))
	end)

	it("is refused with file and line for what it cannot mean", function()
		local function bad(text)
			return refused(list, { ["limits.conf"] = text })
		end
		assert.equal("limits.conf:2: user bob: '-5 cpu-hours' is negative; expected something like \"81920 cpu-hours\", " ..
			'"500 gpu-hours" or "40 node-days"', bad "# x\nuser bob -5 cpu-hours\n")
		assert.matches("^limits.conf:1: user bob: 'many cpu%-hours' is no amount; expected", bad "user bob many cpu-hours\n")
		assert.matches("^limits.conf:1: user bob: '5' is no amount", bad "user bob 5\n")
		assert.matches("^limits.conf:1: user bob: no amount", bad "user bob\n")
		assert.matches("^limits.conf:1: 'user' without a name", bad "user\n")
		assert.matches("^limits.conf:1: 'usr': expected default, user or account", bad "usr bob 5 cpu-hours\n")
		assert.matches("^limits.conf:1: a name of 300 bytes, expected at most 256", bad("user " .. ("x"):rep(300) .. " 5 cpu-hours\n"))
		assert.matches("^limits.conf: is empty, as while it is being written", bad "")
		assert.matches("^limits.conf:2: the line has no end", bad "user bob 5 cpu-hours\nuser carol 50")
		assert.matches("'5 cpu%-hours,5 cpu%-hours' names cpu%-hours twice", bad "user bob 5 cpu-hours,5 cpu-hours\n")
	end)

	it("is refused when there is none", function()
		assert.matches("^site.lua:3: there is no file 'limits.conf'; expected one beside the site file", refused(list))
		assert.matches("^site.lua:3: '../limits.conf' is no file beside the site file", refused('sched.quota { limits = "../limits.conf" }'))
	end)
end)

describe("a quota with a period", function()
	local zone = 'time_zone = "Etc/UTC"'
	local month = 1698796800	-- 2023-11-01 00:00:00 UTC
	local next_month = 1701388800	-- 2023-12-01

	-- alice used 50 cpu-hours on the first, 10 of them failed, and 30 in October; 8 of a run that
	-- began in October fell into November
	local function cluster(pending, more)
		local spec = { nodes = "1x64c", now = now, pending = pending, usage = {
			{ user = "alice", account = "physics", cpu = "40h", start_time = month + 3600, end_time = month + 7200 },
			{ user = "alice", account = "physics", cpu = "10h", start_time = month, end_time = month + 3600, state = "FAILED" },
			{ user = "alice", account = "physics", cpu = "22h", start_time = month - 86400, end_time = month - 80000 },
			{ user = "alice", account = "physics", cpu = "16h", start_time = month - 7200, end_time = month + 7200 },
		} }
		for key, value in pairs(more or {}) do
			spec[key] = value
		end
		return t.cluster(spec)
	end

	local function limit(hours, options)
		return site(('sched.quota { per_user = "%s cpu-hours", period = "month", %s, %s }, "easy"'):format(hours, zone, options or ""))
	end

	it("counts what was used since it began", function()
		-- 40 + 10 + 8 used; 2 asked
		local job = { { id = 2, user = "alice", tasks = 2, time_limit = "1h" } }
		assert.same({ 2 }, t.decide(limit(60), cluster(job)):started())
		local plan = t.decide(limit(59), cluster(job))
		assert.same({ "policy", "quota: user alice has 58 of 59 cpu-hours this month, asks for 2; fits by " .. at(next_month) },
			{ plan:pending(2) })
	end)

	-- alice's job of two cpu-hours, where her only run ended in that state after 100
	local function fits_after(state, hours)
		local job = { { id = 2, user = "alice", tasks = 2, time_limit = "1h" } }
		local c = cluster(job, { usage = {
			{ user = "alice", account = "physics", cpu = "100h", start_time = month, end_time = month + 3600, state = state } } })
		return #t.decide(limit(hours, "refund = true"), c):started() == 1
	end

	it("refunds what no user can bring about: a node that failed, and preemption", function()
		for _, state in ipairs { "NODE_FAIL", "BOOT_FAIL", "PREEMPTED" } do
			assert.is_true(fits_after(state, 2), state)
		end
	end)

	it("refunds nothing that a user can choose, such as exit 1 or scontrol requeue", function()	-- (a run that was requeued ended as PENDING)
		for _, state in ipairs { "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE", "PENDING" } do
			assert.is_false(fits_after(state, 101), state)
			assert.is_true(fits_after(state, 102), state)
		end
	end)

	it("counts of a running job that was resized only what it holds since then: the ledger has the rest", function()
		-- two cores, for an hour and four to come: 10; of the 58 used none is refunded
		local running = { { id = 1, user = "alice", nodes = 1, cores = 2, started_ago = "20h", ends_in = "4h",
			resize_time = now - 3600 } }
		local job = { { id = 2, user = "alice", tasks = 2, time_limit = "1h" } }
		assert.same({ 2 }, t.decide(limit(70), cluster(job, { running = running })):started())
		assert.same({}, t.decide(limit(69), cluster(job, { running = running })):started())
	end)

	it("counts of running jobs what lies within it, to the end of their walltime", function()
		-- two cores from 20 h ago for 24 h: 48; with the 58 used 106
		local running = { { id = 1, user = "alice", nodes = 1, cores = 2, started_ago = "20h", ends_in = "4h" } }
		local job = { { id = 2, user = "alice", tasks = 2, time_limit = "1h" } }
		assert.same({ 2 }, t.decide(limit(108), cluster(job, { running = running })):started())
		assert.same({}, t.decide(limit(107), cluster(job, { running = running })):started())
		-- one that has run since October: its part in November, (now - month) and 4 h more, of two cores
		running[1].started_ago = now - month + 86400
		local hours = 2 * (now - month + 4 * 3600) // 3600 + 58 + 2
		assert.same({}, t.decide(limit(hours), cluster(job, { running = running })):started())
		assert.same({ 2 }, t.decide(limit(hours + 1), cluster(job, { running = running })):started())
	end)

	it("counts of the job that asks what it would use before the period ends", function()
		-- 64 cores for 30 days, of which 16 d 1 h 46 m 40 s are left of the month: 24,689.8 cpu-hours
		local job = { { id = 2, user = "bob", tasks = 64, time_limit = "30d" } }
		local hours = 64 * (next_month - now) / 3600
		assert.same({}, t.decide(limit(math.floor(hours)), cluster(job)):started())
		assert.same({ 2 }, t.decide(limit(math.ceil(hours)), cluster(job)):started())
	end)

	it("holds within a cycle", function()
		local pending = {}
		for id = 2, 6 do
			pending[#pending + 1] = { id = id, user = "alice", tasks = 1, time_limit = "10h" }
		end
		assert.same({ 2, 3 }, t.decide(limit(80), cluster(pending)):started())
	end)

	it("may carry over what was left of the one before", function()
		-- October: 22 + 8 = 30 of 50 used, 20 left
		local job = { { id = 2, user = "alice", tasks = 10, time_limit = "1h" } }
		assert.same({}, t.decide(limit(50), cluster(job)):started())
		assert.same({ 2 }, t.decide(limit(50, "carry_over = 1"), cluster(job)):started())	-- 68 of 70
		assert.same({}, t.decide(limit(50, "carry_over = 0.3"), cluster(job)):started())	-- of 65
		job[1].tasks = 13
		assert.same({}, t.decide(limit(50, "carry_over = 1"), cluster(job)):started())	-- 71 of 70
	end)

	it("may be the last so many days", function()
		-- the last 13 d 22 h: since 00:13 on the first.  All of the 40, 47 of 60 minutes of the failed 10, and of the
		-- 16 the part of the last 106 of 240 minutes
		local p = 'sched.quota { per_user = "%s cpu-hours", period = "13d22h" }, "easy"'
		local job = { { id = 2, user = "alice", tasks = 2, time_limit = "1h" } }
		local since = now - 13 * 86400 - 22 * 3600
		local used = 40 + 10 * (month + 3600 - since) / 3600 + 16 * (month + 7200 - since) / 14400
		assert.same({}, t.decide(site(p:format(math.floor(used + 2))), cluster(job)):started())
		assert.same({ 2 }, t.decide(site(p:format(math.ceil(used + 2))), cluster(job)):started())
		-- by when enough has fallen out, to a step of 1/32 of it: 2 h after the first there is none left
		local _, why = t.decide(site(p:format("2.1")), cluster(job)):pending(2)
		local step = (13 * 86400 + 22 * 3600) // 32
		assert.matches("in 13d 22h, asks for 2; fits by " .. at(now + step), why, 1, true)
	end)

	it("begins at midnight where the site is, also when clocks change", function()
		-- Berlin 2024-03-31 has 23 hours: from 23:00 UTC of the 30th to 22:00 UTC of the 31st
		local noon = 1711879200		-- 2024-03-31 10:00 UTC
		local begin, finish = 1711839600, 1711922400
		local function day(hours, start)
			local c = t.cluster { nodes = "1x64c", now = noon, pending = { { id = 2, user = "alice", tasks = 2, time_limit = "1h" } },
				usage = { { user = "alice", account = "", cpu = "10h", start_time = start, end_time = start + 3600 } } }
			local list = 'sched.quota { per_user = "%d cpu-hours", period = "day", time_zone = "Europe/Berlin" }, "easy"'
			return t.decide(site(list:format(hours)), c)
		end
		assert.same({ 2 }, day(2, begin - 3600):started())
		assert.same({}, day(2, begin):started())
		assert.same({ 2 }, day(7, begin - 1800):started())	-- half of the 10
		assert.same({}, day(6, begin - 1800):started())
		assert.matches("fits by " .. at(finish), select(2, day(2, begin):pending(2)), 1, true)
	end)

	it("knows weeks from Monday and years, and the clock set back an hour", function()
		local function started(period, hours, time)
			local c = t.cluster { nodes = "1x64c", now = time, pending = { { id = 2, user = "alice", tasks = 2, time_limit = "1h" } },
				usage = { { user = "alice", account = "", cpu = "10h", start_time = 1699833600, end_time = 1699833600 } } }
			return #t.decide(site(('sched.quota { per_user = "%d cpu-hours", period = "%s", %s }, "easy"'):format(hours, period, zone)),
				c):started()
		end
		-- Monday 2023-11-13 00:00 UTC is the first instant of the week
		assert.equal(0, started("week", 11, now))
		assert.equal(1, started("week", 12, now))
		assert.equal(1, started("week", 2, now + 7 * 86400))
		assert.equal(0, started("year", 11, now))
		assert.equal(1, started("year", 2, now + 60 * 86400))
		-- it was 00:30 on Monday; now it is 23:30 on Sunday again, and usage lies in the future
		assert.equal(0, started("week", 11, 1699833600 + 1800))
		-- (half an hour of the week is left: 1 is asked)
		assert.equal(0, started("week", 10, 1699833600 - 1800))
		assert.equal(1, started("week", 11, 1699833600 - 1800))
	end)

	it("goes by the partitions of its list", function()
		local text = [[
			local sched = require "sched"
			return sched.site { partitions = { ["a,b"] = { sched.quota { per_user = "11 cpu-hours", period = "30d" }, "easy" } } }]]
		local function started(partition)
			return #t.decide(support.site(text), t.cluster { nodes = "3x8c", now = now,
				partitions = { a = { nodes = "n1" }, b = { nodes = "n2" }, c = { nodes = "n3" } },
				pending = { { id = 2, user = "alice", partition = "a", tasks = 2, time_limit = "1h" } },
				usage = { { user = "alice", account = "", cpu = "10h", partition = partition, ended_ago = "1h" } } }):started()
		end
		assert.equal(0, started("a"))
		assert.equal(0, started("b"))
		assert.equal(1, started("c"))
	end)
end)

describe("sched.quota is refused", function()
	it("with an option it does not know, or a value that is none", function()
		assert.matches("^site.lua:3: unknown option 'per_usr' of sched.quota; did you mean 'per_user'?", refused('sched.quota { per_usr = 1 }'))
		assert.matches("^site.lua:3: per_user: '81920' is no amount; expected something like", refused('sched.quota { per_user = "81920" }'))
		assert.matches("^site.lua:3: option 'per_user' of sched.quota: 81920 is no string", refused('sched.quota { per_user = 81920 }'))
		assert.matches("^site.lua:3: sched.quota limits nothing", refused('sched.quota { }'))
		assert.matches("^site.lua:3: option 'on_exceed' of sched.quota: \"kill\" is not one of wait, demote",
			refused('sched.quota { per_user = "1 cpu-hours", on_exceed = "kill" }'))
		assert.matches("^site.lua:3: 'months' is no period; expected day, week, month, year or a duration such as \"30d\"; did you mean 'month'",
			refused('sched.quota { per_user = "1 cpu-hours", period = "months" }'))
		assert.matches("^site.lua:3: there is no time zone 'Europe/Moskow' on this machine",
			refused('sched.quota { per_user = "1 cpu-hours", period = "day", time_zone = "Europe/Moskow" }'))
		assert.matches("^site.lua:3: refund says nothing without a period", refused('sched.quota { per_user = "1 cpu-hours", refund = true }'))
		assert.matches("^site.lua:3: carry_over: the last so many days have nothing to carry over",
			refused('sched.quota { per_user = "1 cpu-hours", period = "30d", carry_over = 1 }'))
	end)
end)

describe("whatever the jobs are", function()
	-- a small generator of its own (Park and Miller 1988), so that a seed means the same everywhere
	local function generator(seed)
		local state = seed
		return function(n)
			state = state * 48271 % 2147483647
			return state % n + 1
		end
	end

	local function pick(random, list)
		return list[random(#list)]
	end

	local users = { "alice", "bob", "carol" }

	local function cluster(random)
		local running, pending = {}, {}
		for id = 1, 4 do
			running[id] = { id = id, user = pick(random, users), nodes = "n" .. id, cores = random(4), ends_in = 3600 * random(10) }
		end
		for id = 5, 4 + 20 do
			local job = { id = id, user = pick(random, users), time_limit = 3600 * random(12), submitted_ago = 60 * random(100) }
			local kind = random(5)
			if kind == 1 then
				job.nodes, job.exclusive = random(3), true
			elseif kind == 2 then
				job.array, job.tasks = tostring(random(6) + 1), random(3)
			elseif kind == 3 then
				job.nodes, job.tasks_per_node = random(3), random(3)
			else
				job.tasks = random(8)
			end
			pending[#pending + 1] = job
		end
		return t.cluster { nodes = { { count = 5, cores = 4 }, { count = 3, cores = 8, threads = 2 } }, now = now,
			running = running, pending = pending }, running, pending
	end

	-- CPU-seconds by user: running ones, and what the plan starts.
	local function recount(plan, running, pending)
		local held, by_id, threads = {}, {}, {}
		for node = 1, 8 do
			threads["n" .. node] = node > 5 and 2 or 1
		end
		local function add(user, cores, node, seconds)
			held[user] = (held[user] or 0) + cores * threads[node] * seconds
		end
		for _, job in ipairs(running) do
			add(job.user, job.cores, job.nodes, job.ends_in)
		end
		for _, job in ipairs(pending) do
			by_id[job.id] = job
		end
		for _, row in ipairs(plan.raw.starts) do
			for _, place in ipairs(row.places) do
				add(by_id[row.job].user, place.cores, plan.raw.node_names[place.node], by_id[row.job].time_limit)
			end
		end
		return held
	end

	it("nobody holds more than his limit after a cycle, and what would fit was started", function()
		local seed = tonumber(os.getenv("SEED") or "") or 20261120
		local random = generator(seed)
		for round = 1, 60 do
			local c, running, pending = cluster(random)
			local limit = 20 + random(200)
			local policy = pick(random, { "easy", "fcfs", "conservative" })
			local order = pick(random, { "", "sched.ageing { }, ", "sched.first_job { }, " })
			local plan = t.decide(site(('sched.quota { per_user = "%d cpu-hours" }, %s"%s"'):format(limit, order, policy)), c)
			local free = t.decide(site(order .. '"' .. policy .. '"'), c)
			local held = recount(plan, running, pending)
			local alone = recount({ raw = { starts = {} } }, running, pending)
			for user, seconds in pairs(held) do
				assert(seconds <= math.max(limit * 3600, alone[user] or 0),
					("seed %d, round %d, %s%s: %s holds %d of %d"):format(seed, round, order, policy, user, seconds, limit * 3600))
			end
			-- a limit that nobody reaches changes nothing
			local wide = t.decide(site(('sched.quota { per_user = "100000 cpu-hours" }, %s"%s"'):format(order, policy)), c)
			assert.same(free:started(), wide:started(), ("seed %d, round %d"):format(seed, round))
		end
	end)
end)
