-- SPDX-License-Identifier: MIT
--
-- sched.prices - what is a place on a node worth, given all that waits?
--
--   local prices = require "sched.prices"
--   local worth = prices.of(cluster, jobs)
--   worth(job)		-- nodes' worth of the machine that the job takes up
--
-- Jobs that need the same on each node are a kind: so many cores and GPUs; those that only
-- ask for cores are a kind of one core.  Some kinds fit on a node beside each other, others
-- keep each other out: a job that takes all cores leaves the GPUs idle, two jobs of one GPU
-- and a core leave room for six cores.  The prices are the optimum of a linear program:
--
--   maximize the worth of all that waits, by its cores-or-nodes and its walltime,
--   so that nothing that fits on one node together is worth more than the node.
--
-- It is the dual of "run all that waits in the fewest node-hours".  So a price is what one
-- more such place costs in node-hours, and a policy that starts what is worth most uses
-- the machine in the way that gets all that waits done soonest.  What is scarce follows from
-- the machine and the queue; no kind of job has to be named.
--
-- A machine of different nodes is priced as if all were like most of them.  Where there is
-- no solver, or there are too many kinds, a place is worth the largest share of anything that it takes.

local mip = require "sched.mip"

local M = {}

local most_kinds = 10		-- those with the largest demand; others get their largest share
local most_packings = 4000

-- Cores and GPUs of the node that there is most of.
local function usual_node(cluster)
	local count, best = {}, nil
	for _, node in ipairs(cluster.nodes) do
		local gpus = 0
		for _, g in ipairs(node.gres) do
			gpus = gpus + (g.kind:match("^gpu") and g.count or 0)
		end
		local key = node.cores .. "/" .. gpus
		count[key] = count[key] or { cores = node.cores, gpus = gpus, n = 0 }
		count[key].n = count[key].n + 1
		if not best or count[key].n > best.n then
			best = count[key]
		end
	end
	return best
end

-- Cores and GPUs on a node, and how many such places.
local function place_of(job, node)
	local cores = job.cpus
	if job.exclusive then
		local nodes = math.max(job.min_nodes, math.ceil(cores / node.cores))
		return node.cores, node.gpus, nodes
	elseif job.gpus == 0 and not job.ntasks_per_node and job.max_nodes ~= job.min_nodes then
		return 1, 0, cores
	end
	local nodes = job.min_nodes
	local each = math.min(math.ceil(cores / nodes), node.cores)
	return each, math.min(math.ceil(job.gpus / nodes), node.gpus), nodes
end

local function share(kind, node)
	return math.max(kind.cores / node.cores, node.gpus > 0 and kind.gpus / node.gpus or 0)
end

-- All ways to fill a node that leave no room for one more; nil when they are too many.
local function packings(kinds, node)
	local found, take = {}, {}
	local function fill(i, cores, gpus)
		if #found > most_packings then
			return
		elseif i > #kinds then
			for _, k in ipairs(kinds) do
				if k.cores <= cores and k.gpus <= gpus then
					return		-- room for another
				end
			end
			found[#found + 1] = table.move(take, 1, #kinds, 1, {})
			return
		end
		local k, n = kinds[i], 0
		while k.cores * n <= cores and k.gpus * n <= gpus do
			take[i] = n
			fill(i + 1, cores - k.cores * n, gpus - k.gpus * n)
			n = n + 1
		end
		take[i] = 0
	end
	fill(1, node.cores, node.gpus)
	return #found <= most_packings and found or nil
end

local function solve(kinds, node)
	local all = packings(kinds, node)
	if not all then
		return nil
	end
	local m, total = mip.model { sense = "max" }, 0
	for _, k in ipairs(kinds) do
		total = total + k.demand
	end
	for _, k in ipairs(kinds) do
		m:var { lb = 0, ub = 1, obj = k.demand / total }
	end
	for _, take in ipairs(all) do
		local terms = {}
		for i, n in ipairs(take) do
			if n > 0 then
				terms[#terms + 1] = i
				terms[#terms + 1] = n
			end
		end
		m:add { terms = terms, hi = 1 }
	end
	local r = m:solve { relax = true, time_limit = 0.5 }
	return r.values
end

--- A function of a job that says how many nodes' worth of the machine it takes up.
function M.of(cluster, jobs)
	local node, by_key, kinds = usual_node(cluster), {}, {}
	local key_of, count_of = {}, {}
	for _, job in ipairs(jobs) do
		local cores, gpus, places = place_of(job, node)
		local key = cores .. "/" .. gpus
		if not by_key[key] then
			by_key[key] = { cores = cores, gpus = gpus, demand = 0 }
			kinds[#kinds + 1] = by_key[key]
		end
		local time = job.time_limit < math.huge and job.time_limit or 86400
		by_key[key].demand = by_key[key].demand + places * time
		key_of[job], count_of[job] = key, places
	end
	table.sort(kinds, function(a, b) return a.demand > b.demand end)
	for _, kind in ipairs(kinds) do
		kind.price = share(kind, node)
	end
	local priced = table.move(kinds, 1, math.min(#kinds, most_kinds), 1, {})
	local values = #priced > 1 and solve(priced, node)
	for i, kind in ipairs(values and priced or {}) do
		kind.price = values[i]
	end
	return function(job)
		return by_key[key_of[job]].price * count_of[job]
	end, by_key
end

return M
