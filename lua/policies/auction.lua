-- SPDX-License-Identifier: MIT
--
-- auction.lua - jobs bid for sets of nodes, and the most valuable set of bids wins.
--
-- After Soner and Ozturan, AUCSCHED (2013).  In each cycle the jobs that are worth most and
-- could start now bid: each for several sets of nodes that would do, of which it can win one
-- (doc/bids.md).  An integer program finds the bids that are worth most together without taking
-- anything twice, equations (1) to (10) of the paper; among equal ones those that are less
-- fragmented.  Winners start; those that lost bid again for what is left, until nobody can.
--
-- Jobs that have waited too long get a reservation first (sched.guard), which all bids respect.
-- After a round that was not solved in time fewer bids compete, in the coming cycles too.
-- When the time is up the best that is known starts: at the least what best fit would start.
--
-- What is a job worth?  The paper says: its priority.  With value = "prices" it is the share of
-- the machine that it takes up, in terms of what is scarce (sched.prices): a job of 64 nodes of
-- which it takes all GPUs is worth 64 nodes where GPUs are what the queue waits for, less where
-- they are not.  That gets a queue done soonest, and is what the project's figures on the paper's
-- workloads are made with (doc/policies.md).
--
-- A job as wide as the machine hardly ever wins, since all that it needs is seldom free at once.
-- With reserve = 1 the most valuable jobs do not compete but start, until one has to wait; that
-- one gets a reservation, and the others bid behind it.

local guard = require "sched.guard"
local packing = require "sched.packing"
local prices = require "sched.prices"

local M = { api = 1, name = "auction", doc = "jobs bid for sets of nodes, the best bids win (AUCSCHED)" }

M.options = guard.options {
	queue = { default = 1000, min = 1, max = 100000, doc = "pending jobs examined in a cycle, in the queue's order" },
	window = { default = 200, min = 1, max = 10000, doc = "jobs that bid: of those that could start, the most valuable" },
	value = { default = "priority", values = { "priority", "cores", "prices" }, doc = "what a job is worth" },
	exponent = { default = 1.0, min = 0, max = 10, doc = "value to the power of this: above 1 favours large jobs" },
	length = { default = 0.0, min = -4, max = 4,
		doc = "value times walltime to the power of this: above 0 favours long jobs, below 0 short ones" },
	per_node = { default = 1.0, min = 0, max = 10,
		doc = "prices: worth of a node to a job that says how many it wants, beside the price" },
	flexible = { default = 0.2, min = 0, max = 10,
		doc = "prices: factor for jobs that fit on any number of nodes, which can fill what others leave" },
	bids_per_job = { default = 5, min = 1, max = 500,
		doc = "bids of a job, its Slurm bid not counted; one for each of its shapes at least" },
	max_bids = { default = 1000, min = 1, max = 100000,
		doc = "bids of all jobs; after a round that was not solved in time half of them, in the coming cycles too; " ..
			"twice as many again after one that was solved quickly" },
	bid_kinds = { default = "ABC", doc = "letters of the kinds of bids" },
	slurm_bids = { default = true, doc = "a bid where Slurm's best fit would place the job" },
	elastic_bids = { default = false, doc = "jobs of cores only may take whole nodesets, cores as others leave them" },
	contiguous_only = { default = false, doc = "every job gets consecutive nodes" },
	max_blocks = { default = 0, min = 0, max = 1000000, doc = "runs of nodes that a job may be cut into; 0: any number" },
	max_spread = { default = 0.0, min = 0, max = 1000000,
		doc = "(last node - first + 1) / nodes that a job may have; 0: any" },
	topology = { default = 0.0, min = 0, max = 1, doc = "preference that a bid across the root switch loses" },
	prefer = { default = "close", values = { "close", "paper" },
		doc = "which bids: close (few blocks, little spread), or by equation 12" },
	preference = { default = 0.0, min = 0, max = 1,
		doc = "share of a job's value that preference is worth; 0: it decides between equal solutions only" },
	reserve = { default = 0, min = 0, max = 1000,
		doc = "the most valuable jobs start without competing, until so many have to wait, with a reservation" },
	rounds = { default = 2, min = 0, max = 100, doc = "auctions in a cycle; what is left then is filled greedily" },
	time_limit = { default = 2.0, min = 0, max = 3600, doc = "seconds of work and of clock, all programs of a cycle" },
	gap = { default = 0.001, min = 0, max = 1, doc = "how far from the best is good enough, as a share of it" },
	max_nodes = { default = 0, min = 0, max = 1000000000,
		doc = "of branch and bound, in a round; 0: as many as time_limit allows" },
}

-- -- values ------------------------------------------------------------------

local function value_of(job, opt, worth)
	local value
	if opt.value == "priority" then
		value = job.priority
	elseif opt.value == "cores" then
		value = job.cpus
	else
		value = worth(job) + 1e-4 * job.cpus		-- what is not scarce still has to run
		if job.min_nodes == job.max_nodes then
			value = value + opt.per_node * job.min_nodes
		else
			value = value * opt.flexible
		end
	end
	if opt.length ~= 0 then
		value = value * math.min(job.time_limit, 1e8) ^ opt.length
	end
	return math.max(value, 1e-6) ^ opt.exponent
end

-- The open jobs, most valuable first, and their values.  Without a plan, before anything is decided, all are open.
local function bidders(cluster, plan, opt)
	local jobs, values = {}, {}
	for job in cluster:queue(opt.queue) do
		if not plan or plan:state(job) ~= "reserved" then	-- the guard's
			jobs[#jobs + 1] = job
		end
	end
	local worth = opt.value == "prices" and prices.of(cluster, jobs)
	for _, job in ipairs(jobs) do
		values[job] = value_of(job, opt, worth)
	end
	table.sort(jobs, function(a, b) return values[a] > values[b] end)	-- stable
	return jobs, values
end

local function by_preference(bid)
	return bid.preference
end

local function by_closeness(bid)
	return 0.5 / bid.blocks + 0.5 / bid.spread
end

-- How a bid is liked among others of the job: what it asked for before its alternatives.
local function likings(opt)
	local base = opt.prefer == "paper" and by_preference or by_closeness
	return function(bid)
		return base(bid) * 10.0 ^ -bid.shape
	end
end

-- -- rounds ------------------------------------------------------------------

-- Each job's bids in turn, the one liked best first.
local function fill(plan, bids, liking)
	local started, i = 0, 1
	while bids[i] do
		local job, own = bids[i].job, {}
		while bids[i] and bids[i].job == job do
			own[#own + 1] = bids[i]
			i = i + 1
		end
		table.sort(own, function(a, b) return liking(a) > liking(b) end)
		for _, bid in ipairs(own) do
			if plan:start(job, { bid = bid }) then
				started = started + 1
				break
			end
		end
	end
	return started
end

local function start(plan, won)
	local started = 0
	for _, bid in ipairs(won) do
		if plan:start(bid.job, { bid = bid }) then
			started = started + 1
		end
	end
	return started
end

-- The bids that are allowed, max_bids or fewer: remembered from cycle to cycle.
local BIDS <const> = "auction.bids"

local function allowed_bids(cluster, opt)
	return math.min(cluster:recall(BIDS) or opt.max_bids, opt.max_bids)
end

-- More or fewer bids next time, in this cycle or in the next ones?  Remembered at once: the
-- budget may end this one.
local function adapt(plan, total, result, limit, opt)
	local next_total = total
	if result and result.status ~= "optimal" and result.status ~= "infeasible" then
		next_total = math.max(total // 2, 1)
	elseif not result or result.work < limit / 4 then
		next_total = math.min(total * 2, opt.max_bids)
	end
	plan:remember(BIDS, next_total < opt.max_bids and next_total or nil)
	return next_total
end

local function still_open(plan, jobs)
	local open = {}
	for _, job in ipairs(jobs) do
		if plan:state(job) == "open" then
			open[#open + 1] = job
		end
	end
	return open
end

-- The most valuable jobs do not compete: each starts with the bid liked best, until opt.reserve of
-- them would have to wait for nodes.  Those get a reservation, and the others bid behind them.
-- Without that a wide job hardly ever wins, since all that it needs is seldom free at once.
local function favour(cluster, plan, jobs, opt, how, liking)
	local reserved, close = 0, { place = "tight" }
	for _, job in ipairs(jobs) do
		if reserved == opt.reserve then
			break
		elseif plan:state(job) == "open" and fill(plan, cluster:bids({ job }, how), liking) == 0 then
			local start_time = plan:earliest(job, close)
			if start_time and start_time > cluster.now and plan:reserve(job, close) then
				reserved = reserved + 1
			end
		end
	end
end

-- A bid is for the nodes of one component of a heterogeneous job.  Where the others find none beside it, all are
-- placed at once.
local function start_het(plan, jobs)
	for _, job in ipairs(jobs) do
		local state = plan:state(job)
		if (job.het_job_id or 0) ~= 0 and (state == "open" or state == "refused") then
			plan:start(job)
		end
	end
end

function M.decide(cluster, plan, opt)
	guard.protect(cluster, plan, opt)
	local jobs, values = bidders(cluster, plan, opt)
	local liking, left, total = likings(opt), opt.time_limit, allowed_bids(cluster, opt)
	local how = {
		max = opt.bids_per_job, jobs = opt.window, total = opt.max_bids, kinds = opt.bid_kinds,
		slurm = opt.slurm_bids, contiguous = opt.contiguous_only, elastic = opt.elastic_bids,
		topology = opt.topology, blocks = opt.max_blocks > 0 and opt.max_blocks or nil,
		spread = opt.max_spread > 0 and math.max(opt.max_spread, 1) or nil,
	}
	local solve = {
		value = function(job) return values[job] end, liking = liking, preference = opt.preference,
		gap = opt.gap, max_nodes = opt.max_nodes > 0 and opt.max_nodes or nil,
	}
	favour(cluster, plan, jobs, opt, how, solve.liking)
	for round = 1, math.huge do
		local solved = round <= opt.rounds and left > 0
		how.total = solved and total or opt.max_bids
		local bids = cluster:bids(still_open(plan, jobs), how)
		local started
		if solved and #bids > 0 then
			solve.time_limit = left
			local won, result = packing.solve(cluster, bids, solve)
			total = adapt(plan, total, result, left, opt)
			started = start(plan, won)
			left = left - (result and result.work or 0)
		else
			started = fill(plan, bids, liking)
		end
		if started == 0 then
			break
		end
	end
	start_het(plan, jobs)
	for _, job in ipairs(jobs) do
		if plan:state(job) == "open" then
			plan:refuse(job, "no nodes are free that it could bid for, or other bids are worth more")
		end
	end
	if not guard.remembers(opt) then
		plan:settle("full")		-- without bids there is nothing to solve, and nothing to adapt to
	end
end

local function place_text(place, jobs, values, opt)
	local job, before = jobs[place], jobs[place - 1]
	return ("place %d by what it is worth, %.4g; of those that could start the first %d bid"):format(place, values[job],
		opt.window) ..
		(before and ("\nnext ahead of it: job %d of %s (%.4g)"):format(before.id, before.user, values[before]) or "") ..
		"\nwhich of them start is decided together: the bids that are worth most and take nothing twice"
end

-- For schedlua explain: what the job is worth, and who is worth more.
function M.explain(job, cluster, opt)
	local jobs, values = bidders(cluster, nil, opt)
	for place, other in ipairs(jobs) do
		if other.id == job.id then
			return place_text(place, jobs, values, opt) .. guard.explain(job, cluster, opt)
		end
	end
	return "does not bid: it may not start now, or is behind the queue's first" .. guard.explain(job, cluster, opt)
end

return M
