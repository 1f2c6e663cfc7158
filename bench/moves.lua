-- SPDX-License-Identifier: MIT
--
-- moves.lua - jobs of whole nodes among jobs of one, two and four GPUs: who has others moved or stopped for them.
--
--   bench/moves [--jobs N] [--seed N] [--load PERCENT]
--
-- 32 nodes of 8 GPUs and 8 cores under EASY. Nine of ten jobs may be requeued and have 1, 2 or 4 GPUs of one node (5, 3
-- and 2 of ten of them), for four hours in the median; the others, which may preempt, have one node (7 of ten) or two,
-- for an hour. Run times are lognormal, walltimes twice as long; arrivals are Poisson, so that as much is asked for in
-- the mean as LOAD says.

local t = require "sched.test"

local NODES <const>, GPUS <const> = 32, 8

local opt = { jobs = 2000, seed = 1, load = 80 }
for i = 1, #arg, 2 do
	local name = arg[i]:match("^%-%-(%a+)$")
	if not name or not opt[name] or not math.tointeger(tonumber(arg[i + 1])) then
		io.stderr:write("usage: bench/moves [--jobs N] [--seed N] [--load PERCENT]\n")
		os.exit(2)
	end
	opt[name] = math.tointeger(tonumber(arg[i + 1]))
end

local ways = {
	{ "nobody", "" },
	{ "moved, for 2 GPU-hours at most", "sched.consolidate { max_price = 2 }," },
	{ "moved, for 8 at most", "sched.consolidate { max_price = 8 }," },
	{ "moved, for 32 at most", "sched.consolidate { max_price = 32 }," },
	{ "moved, whatever it costs", "sched.consolidate { }," },
	{ "stopped", "sched.preempt { }," },
	{ "moved, for 8 at most, else stopped", "sched.consolidate { max_price = 8 }, sched.preempt { }," },
}

local function site(list)
	local text = ('local sched = require "sched"\nreturn sched.site { default = { %s "easy" } }\n'):format(list)
	return { site = "site.lua", texts = { ["site.lua"] = text } }
end

-- -- the jobs --------------------------------------------------------------------

local function lognormal(median)
	local normal = math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
	return math.max(60, math.floor(median * math.exp(normal)))
end

local function pick(of_ten, values)
	local x, sum = math.random() * 10, 0
	for i, n in ipairs(of_ten) do
		sum = sum + n
		if x < sum then
			return values[i]
		end
	end
	return values[#values]
end

local function make_job(id)
	local job = { id = id, tasks = 1, flags = { "REQUEUE" }, preempt_mode = "requeue", qos = "low" }
	if math.random() < 0.9 then
		job.nodes, job.gres, job.runtime = 1, ("gpu:%d"):format(pick({ 5, 3, 2 }, { 1, 2, 4 })), lognormal(4 * 3600)
	else
		job.nodes, job.gres, job.runtime = pick({ 7, 3 }, { 1, 2 }), ("gpu:%d"):format(GPUS), lognormal(3600)
		job.tasks, job.qos, job.priority, job.preempts = job.nodes, "high", 10, "QOS=low"
		job.flags = { "REQUEUE", "MAY_PREEMPT" }
	end
	job.time_limit = 2 * job.runtime
	return job
end

local function make_jobs()
	local jobs, work = {}, 0
	math.randomseed(opt.seed)
	for id = 1, opt.jobs do
		jobs[id] = make_job(id)
		work = work + jobs[id].nodes * tonumber(jobs[id].gres:match("%d+")) * jobs[id].runtime
	end
	local gap, now = work / (NODES * GPUS) / (opt.load / 100) / opt.jobs, 0
	for _, job in ipairs(jobs) do
		now = now - gap * math.log(1 - math.random())
		job.submit = math.floor(now)
	end
	return { nodes = ("%dx%dc%dg"):format(NODES, GPUS, GPUS), jobs = jobs }
end

-- -- the table -------------------------------------------------------------------

-- By how much jobs that may preempt end later than on an empty machine, and all others, in minutes, on average.
local function delays(result, workload)
	local sum, count = { high = 0, low = 0 }, { high = 0, low = 0 }
	for _, job in ipairs(workload.jobs) do
		sum[job.qos] = sum[job.qos] + result:job(job.id).end_s - job.submit - job.runtime
		count[job.qos] = count[job.qos] + 1
	end
	return sum.high / count.high / 60, sum.low / count.low / 60
end

local workload = make_jobs()
print(("%d jobs, seed %d, load %d %%\n"):format(opt.jobs, opt.seed, opt.load))
print("| others are | moves | stops | GPU-hours lost | delay of whole nodes, min | of the others | GPUs in use |")
print("|---|---|---|---|---|---|---|")
for _, way in ipairs(ways) do
	local s = t.simulate(site(way[2]), workload, { interval = 30 })
	local m, high, low = s.metrics, delays(s, workload)
	print(("| %s | %d | %d | %.1f | %.1f | %.1f | %.1f %% |"):format(way[1], m.moves, m.stops - m.moves,
		m.lost_gpu_s / 3600, high, low, 100 * m.gpu_utilization))
end
