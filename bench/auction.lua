-- SPDX-License-Identifier: MIT
--
-- auction.lua - one auction as an integer program: its size, its time, and how much more its
-- winners are worth than what greedy methods start.
--
--   bench/auction [--jobs N] [--nodes N] [--bids N] [--seeds N] [--limit SECONDS]
--
-- A machine of 8 cores and 2 GPUs a node.  Three quarters of the nodes are taken, wholly or
-- partly, by running jobs; pending are those of the AUCSCHED paper's workload V, of up to an
-- eighth of the machine.  A job is worth its priority, a random number.  "best fit" is what the Slurm bids come to.
-- Seconds are the solver's CPU time.

local t = require "sched.test"

local opt = { jobs = 200, nodes = 1024, bids = 5, seeds = 5, limit = 10 }
for i = 1, #arg, 2 do
	local name = arg[i]:match("^%-%-(%a+)$")
	if not name or not opt[name] or not tonumber(arg[i + 1]) then
		io.stderr:write("usage: bench/auction [--jobs N] [--nodes N] [--bids N] [--seeds N] [--limit SECONDS]\n")
		os.exit(2)
	end
	opt[name] = tonumber(arg[i + 1])
end

local function cluster(seed)
	math.randomseed(seed)
	local random, running, pending = math.random, {}, {}
	local at = 1
	while at <= opt.nodes do
		local n = math.min(random(16), opt.nodes - at + 1)
		if random(4) > 1 then
			running[#running + 1] = { id = #running + 1, nodes = ("n[%d-%d]"):format(at, at + n - 1), cores = random(8),
				gres = random(3) == 1 and "gpu:" .. random(2) or nil, ends_in = 60 * random(10) }
		end
		at = at + n
	end
	for i = 1, opt.jobs do
		local kind, cores = random(6), 8 * random(math.max(opt.nodes // 64, 1))
		local each = kind <= 2 and 0 or kind <= 4 and 4 * random(2) or (kind - 4) * random(2)
		pending[i] = { id = 10000 + i, time_limit = random(60, 600), priority = random(1000) }
		if each == 0 then
			pending[i].tasks = cores
		else
			pending[i].nodes = math.max(cores // each, 1)
			pending[i].tasks_per_node = each
			pending[i].gres = kind > 4 and "gpu:" .. kind - 4 or nil
		end
	end
	return t.cluster { nodes = opt.nodes .. "x8c2g", running = running, pending = pending }
end

local policy = ([[
local packing = require "sched.packing"
local M = { api = 1 }
local function value(job) return job.priority end
local function worth(list)
	local sum = 0
	for _, bid in ipairs(list) do sum = sum + value(bid.job) end
	return sum
end
function M.decide(cluster, plan)
	if cluster.name == "probe" then return end
	local jobs = {}
	for job in cluster:queue() do jobs[#jobs + 1] = job end
	table.sort(jobs, function(a, b) return value(a) > value(b) end)
	local bids = cluster:bids(jobs, { max = %d, slurm = true })
	local slurm, rows = {}, #cluster:overlaps(bids)
	for _, bid in ipairs(bids) do
		if bid.kind == "slurm" then slurm[#slurm + 1] = bid end
	end
	local greedy = packing.greedy(cluster, bids, { value = value })
	local won, r = packing.solve(cluster, bids, { value = value, time_limit = %g })
	for _, bid in ipairs(won) do
		assert(plan:start(bid.job, { bid = bid }))
	end
	print(("%%7d %%7d  %%-10s %%8.3f %%9d %%9d %%9d %%8.4f"):format(#bids, rows, r.status, r.seconds, worth(slurm),
		worth(greedy), worth(won), r.gap or 0))
end
return M]]):format(opt.bids, opt.limit)

print(("%d jobs x %d nodes x %d bids"):format(opt.jobs, opt.nodes, opt.bids))
print("   bids    rows  status      seconds  best fit    greedy       won      gap")
for seed = 1, opt.seeds do
	local plan = t.decide({ source = policy }, cluster(seed), { budget = 600 })
	print((plan:log()[1]:gsub("^info: ", "")))
end
