-- SPDX-License-Identifier: MIT
--
-- examples/training: policies for clusters on which models are trained.
local t = require "sched.test"

local function site(name)
	return { site = "examples/training/" .. name .. ".lua" }
end

-- A job of GPUs on one node, of which all may be stopped for others.
local function training(id, gpus, more)
	local job = { id = id, nodes = 1, tasks = gpus, gres = "gpu:" .. gpus, time_limit = "10h", qos = "train", comment = "checkpoint=10",
		preempts = "QOS=train", preempt_mode = "requeue", flags = { "REQUEUE", "MAY_PREEMPT" } }
	for key, value in pairs(more or {}) do
		job[key] = value
	end
	return job
end

describe("examples/training/deadlines", function()
	local function started(policy, pending)
		return t.decide(policy, t.cluster { nodes = "1x1c", pending = pending }):started()
	end

	it("starts the job with the earliest deadline, not the first in the queue", function()
		local jobs = { { id = 1, time_limit = "1h" }, { id = 2, time_limit = "1h", comment = "deadline=300" },
			{ id = 3, time_limit = "2h", comment = "deadline=240 checkpoint=10" } }
		assert.same({ 1 }, started("easy", jobs))
		assert.same({ 3 }, started(site "deadlines", jobs))
	end)

	it("lets go last who cannot meet his deadline any more", function()
		assert.same({ 1 }, started(site "deadlines", { { id = 1, time_limit = "9h" },
			{ id = 2, time_limit = "1h", comment = "deadline=60", submitted_ago = "2m" } }))
		assert.same({ 2 }, started(site "deadlines", { { id = 1, time_limit = "9h" },
			{ id = 2, time_limit = "1h", comment = "deadline=62", submitted_ago = "2m" } }))
	end)

	it("takes the shorter of two best-effort jobs, and a comment that says nothing of a deadline for none", function()
		assert.same({ 2 }, started(site "deadlines", { { id = 1, time_limit = "2h", comment = "deadline=soon" },
			{ id = 2, time_limit = "1h" } }))
	end)
end)

describe("examples/training/las", function()
	local las = "examples/training/las.lua"

	local function run(options, jobs)
		return t.simulate(las .. options, { nodes = "1x8c4g", jobs = jobs }, { interval = 60 })
	end

	it("stops a job that has had much for one that has had nothing, and it goes on from its checkpoint", function()
		local s = run("", { training(1, 4, { runtime = 20000 }), training(2, 4, { runtime = 300, submit = 3600 }) })
		assert.equal(1, #s:job(1).stops)
		assert.equal(2, s:job(1).stops[1].preemptor)
		assert.equal(3600, s:job(1).stops[1].kept_s)
		assert.is_true(s:job(2).start_s < 3800)
		assert.is_true(s:job(1).end_s < 20000 + 600)
	end)

	it("stops nobody of the same queue, nor who has only begun", function()
		local jobs = { training(1, 4, { runtime = 20000 }), training(2, 4, { runtime = 300, submit = 840 }) }
		assert.equal(900, run("", jobs):job(1).stops[1].told_s)		-- 4 GPUs for 15 minutes: 1 GPU-hour
		assert.equal(1800, run(",min_runtime=30m", jobs):job(1).stops[1].told_s)
		assert.equal(3600, run(",first=14400", jobs):job(1).stops[1].told_s)
	end)

	it("remembers what a job had before it was stopped", function()
		-- both have had an hour of four GPUs and more when the second has sunk: the first one does not stop it
		local s = run("", { training(1, 4, { runtime = 20000 }), training(2, 4, { runtime = 6000, submit = 3600 }) })
		assert.equal(1, #s:job(1).stops)
		assert.same({}, s:job(2).stops)
	end)

	it("promotes who has waited for long", function()
		local s = run(",promote=1", { training(1, 4, { runtime = 20000 }), training(2, 4, { runtime = 20000, submit = 3600 }) })
		assert.is_true(#s:job(2).stops > 0)
		assert.equal(1, s:job(2).stops[1].preemptor)
	end)
end)

describe("examples/training/queues", function()
	local function cluster(gpus, running, pending, usage)
		return t.cluster { nodes = ("1x256c%dg"):format(gpus), running = running, pending = pending, usage = usage }
	end

	local function of(account, id, gpus, more)
		local job = training(id, gpus, more)
		job.account = account
		return job
	end

	local function runs(account, id, gpus)
		return { id = id, account = account, nodes = 1, cores = gpus, gres = "gpu:" .. gpus, ends_in = "8h", started_ago = "2h",
			qos = "train", stoppable = true }
	end

	it("serves a team within its quota first, then one whose department has some left, then the others", function()
		local held = { runs("detect", 1, 16), runs("translate", 2, 24), runs("speech", 3, 16) }
		local pending = { of("translate", 11, 4), of("detect", 12, 4), of("track", 13, 4) }
		assert.same({ 11, 12, 13 }, t.decide("easy", cluster(68, held, pending)):started())
		assert.same({ 13, 12, 11 }, t.decide(site "queues", cluster(68, held, pending)):started())
	end)

	it("gives what is beyond the quotas to who used least lately for his weight", function()
		local held = { runs("detect", 1, 16), runs("track", 2, 8) }
		local pending = { of("detect", 11, 4), of("track", 12, 4) }
		local function used(detect, track)
			return t.decide(site "queues", cluster(28, held, pending,
				{ { user = "a", account = "detect", gpu = detect }, { user = "b", account = "track", gpu = track } })):started()
		end
		assert.same({ 12 }, used("900h", "100h"))
		assert.same({ 11 }, used("100h", "900h"))
		assert.same({ 11 }, used("500h", "400h"))		-- its weight is twice as great
	end)

	it("takes back from who is beyond his quota for who is below his", function()
		local held = { runs("track", 1, 8), runs("track", 2, 8), runs("detect", 3, 16) }
		local plan = t.decide(site "queues", cluster(32, held, { of("translate", 11, 8), of("detect", 12, 8) }))
		assert.equal(1, #plan.raw.stops)
		assert.equal("track", ({ "track", "track", "detect" })[plan.raw.stops[1].job])
	end)
end)
