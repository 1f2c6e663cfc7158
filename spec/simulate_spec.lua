-- SPDX-License-Identifier: MIT
local t = require "sched.test"

-- 3 of 4 cores are taken for 100 s; the wide one waits; the short one fits before it, the long
-- one does not.
local holes = { nodes = "4x1c", jobs = {
	{ id = 1, tasks = 3, runtime = 100, time_limit = 100 },
	{ id = 2, tasks = 4, runtime = 50, time_limit = 50, submit = 1 },
	{ id = 3, tasks = 1, runtime = 60, time_limit = 60, submit = 2, user = "bob" },
	{ id = 4, tasks = 1, runtime = 200, time_limit = 200, submit = 3 },
} }

local function refused(message, ...)
	local ok, why = pcall(t.simulate, ...)
	assert.is_false(ok)
	assert.matches(message, why, 1, false)
end

describe("t.simulate", function()
	it("runs the jobs of a table under a policy", function()
		local s = t.simulate("easy", holes)
		assert.same({ 1, 3, 2, 4 }, s:started())
		assert.equal(100, s:job(2).start_s)
		assert.equal(99, s:job(2).wait_s)
		assert.equal(150, s:job(2).end_s)
		assert.same({ "n4" }, s:job(3).nodes)
		assert.same({ n4 = 1 }, s:job(3).layout)
		assert.equal("bob", s:job(3).user)
		assert.equal(4, s.metrics.jobs)
		assert.equal(350, s.metrics.makespan_s)
		assert.equal((0 + 99 + 0 + 147) / 4, s.metrics.wait_mean_s)
	end)

	it("differs by policy as the policies do", function()
		assert.same({ 1, 2, 3, 4 }, t.simulate("fcfs", holes):started())
		assert.equal(150, t.simulate("fcfs", holes):job(3).start_s)
	end)

	it("takes policies as t.decide does, and lets their rank decide", function()
		local s = t.simulate({ source = [[return {
			api = 1, name = "widest", doc = "the widest first",
			rank = function(job) return job.num_tasks or 0 end,
		}]] }, { nodes = "4x1c", jobs = {
			{ id = 1, tasks = 4, runtime = "1m" }, { id = 2, tasks = 1, runtime = "1m", submit = 1 },
			{ id = 3, tasks = 4, runtime = "1m", submit = 2 } } })
		assert.same({ 1, 3, 2 }, s:started())
	end)

	it("shows of running jobs when they began and are to end, what they have, and where the log begins", function()
		refused("seen", { source = [[return {
			api = 1, name = "look", doc = "starts, and looks at what runs",
			decide = function(cluster, plan)
				for job in cluster:queue() do plan:start(job) end
				local job = cluster.running[1]
				if job and cluster.now - cluster.origin == 70 then
					assert(job.start_time - cluster.origin == 60, job.start_time - cluster.origin)
					assert(job.end_time - cluster.origin == 660, job.end_time)
					assert(job.alloc_cpus == 3 and job.alloc_nodes == 2 and job.alloc_gpus == 0, job.alloc_cpus)
					error("seen")
				end
			end }]] }, { nodes = "2x2c", jobs = { { id = 1, tasks = 3, runtime = 100, time_limit = 600, submit = 60 },
			{ id = 2, tasks = 1, runtime = 1, submit = 70 } } })
	end)

	it("lets easy look at the whole queue, and says what a window hid", function()
		local jobs = { { id = 1, tasks = 1, runtime = 1000, time_limit = 1000 } }
		for id = 2, 600 do
			jobs[id] = { id = id, tasks = 2, runtime = 10, time_limit = 10, submit = 1 }
		end
		jobs[601] = { id = 601, tasks = 1, runtime = 10, time_limit = 10, submit = 2 }
		local all = t.simulate("easy", { nodes = "1x2c", jobs = jobs })
		assert.equal(2, all:job(601).start_s)
		assert.same({ 0, 0 }, { all.metrics.hidden_cycles, all.metrics.hidden_max })
		local some = t.simulate("easy,window=500", { nodes = "1x2c", jobs = jobs })
		assert.equal(1000 + 599 * 10, some:job(601).start_s)
		assert.equal(100, some.metrics.hidden_max)
		assert.equal(102, some.metrics.hidden_cycles)
	end)

	it("ends jobs by their walltime and counts them, or lets them outstay it", function()
		local w = { nodes = "1x1c", jobs = { { id = 1, runtime = 150, time_limit = 100 }, { id = 2, runtime = 10, submit = 1 } } }
		local ended, raised, stays = t.simulate("easy", w), t.simulate("easy", w, { overrun = true }),
			t.simulate("easy", w, { outstay = true })
		assert.same({ 1, 100, 100 }, { ended.metrics.killed, ended:job(1).end_s, ended:job(2).start_s })
		assert.same({ 0, 150, 150 }, { raised.metrics.killed, raised:job(1).end_s, raised:job(1).walltime_s })
		assert.same({ 0, 150, 100 }, { stays.metrics.killed, stays:job(1).end_s, stays:job(1).walltime_s })
		assert.equal(150, stays:job(2).start_s)
	end)

	it("takes durations as text, and ends a job by its walltime", function()
		local s = t.simulate("easy", { nodes = "1x2c", jobs = { { runtime = "2h", time_limit = "90m", submit = "1h" } } })
		assert.equal(3600, s.jobs[1].start_s)
		assert.equal(3600 + 5400, s.jobs[1].end_s)
		assert.equal(5400, s.jobs[1].walltime_s)
	end)

	it("lets the policy decide at intervals, with a latency", function()
		local s = t.simulate("easy", holes, { interval = 30, latency = 5 })
		assert.equal(0, s:job(1).start_s % 5)
		assert.equal(35, s:job(3).start_s)
	end)

	it("runs workloads by name, the same for the same seed", function()
		local a = t.simulate("easy", "esp-gpu", { machine = "16x8c2g", seed = 3 })
		local b = t.simulate("easy", "esp-gpu", { machine = "16x8c2g", seed = 3 })
		assert.equal(458, #a.jobs)
		assert.equal(458, a.metrics.jobs)
		assert.is_true(a.metrics.utilization > 0.5 and a.metrics.utilization <= a.metrics.utilization_bound)
		assert.same(a.metrics, b.metrics)
		assert.same(a.jobs, b.jobs)
		assert.not_same(a.jobs, t.simulate("easy", "esp-gpu", { machine = "16x8c2g", seed = 4 }).jobs)
	end)

	it("tells which jobs a policy never starts", function()
		local s = t.simulate({ source = [[return {
			api = 1, name = "picky", doc = "only alice",
			admit = function(job) return job.user == "alice", "others wait" end,
		}]] }, { nodes = "1x1c", jobs = { { id = 1, runtime = 5, user = "alice" }, { id = 2, runtime = 5, user = "bob" } } })
		assert.same({ 1 }, s:started())
		assert.is_nil(s:job(2).start_s)
		assert.equal(1, s.metrics.unfinished)
	end)

	it("runs the policy in the engine's sandbox and not in the spec's interpreter", function()
		refused("io", { source = [[return { api = 1, name = "leak", doc = "reads files",
			decide = function() io.open("/etc/passwd") end }]] }, holes)
		assert.is_nil(rawget(_G, "leaked"))
	end)

	it("stops a policy that never ends", function()
		refused("budget", { source = [[return { api = 1, name = "loop", doc = "never ends",
			decide = function(cluster) if cluster.now > 1000 and cluster.now ~= 1700000000 then return end
				local queued = 0
				for _ in cluster:queue() do queued = queued + 1 end
				while queued == 1 do end end }]] },
			{ nodes = "1x1c", jobs = { { runtime = 5 } } }, { budget = 0.2 })
	end)

	it("raises at the spec's line what is wrong with a workload", function()
		refused("t.simulate: jobs%[1%]: has no runtime", "easy", { nodes = "1x1c", jobs = { {} } })
		refused("t.simulate: jobs%[1%].runtime: ", "easy", { nodes = "1x1c", jobs = { { runtime = "soon" } } })
		refused("t.simulate: jobs: expected a list", "easy", { nodes = "1x1c" })
		refused("t.simulate: unknown key 'pending'", "easy", { pending = {}, jobs = {} })
		refused("t.simulate: pending%[1%].*unknown key 'task'", "easy", { nodes = "1x1c", jobs = { { runtime = 1, task = 3 } } })
		refused("t.simulate: unknown key 'machines'", "easy", "esp", { machines = "4x4c" })
		refused("t.simulate: seed: expected a number", "easy", "esp", { seed = "three" })
		refused("t.simulate: latency: expected less than interval", "easy", "esp", { latency = 3 })
		refused("t.simulate: expected the name of a workload", "easy", 7)
		refused("none of esp, esp%-gpu", "easy", "no such thing")
		refused("t.simulate: ", "easy", { nodes = "1x1c", jobs = { { id = 1, runtime = 1 }, { id = 1, runtime = 1 } } })
		refused("nobody", "nobody", holes)
	end)
end)
