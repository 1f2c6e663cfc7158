-- SPDX-License-Identifier: MIT
--
-- sched.packing - which bids win: the set packing problem of an auction.
--
--   local packing = require "sched.packing"
--   local won = packing.solve(cluster, bids, { value = function(job) return job.priority end })
--   for _, bid in ipairs(won) do plan:start(bid.job, { bid = bid }) end
--
-- Equations (1) and (2) of the AUCSCHED paper; what its (3) to (8) say of nodes, cores and
-- GPUs is in the rows of cluster:overlaps(), by sets of nodes instead of one by one, since
-- each bid has its cores laid out.  (Printed as it is, (3) would keep overlapping bids of one
-- job from being alternatives; a bid is one column here, so that does not arise.)

local mip = require "sched.mip"

local M = {}

--- Equation (10): so small that preference never changes which jobs start.
--- sum of P > alpha (|B| + 1) > sum of alpha F   (9)
function M.alpha(least_priority, bids)
	return least_priority / (bids + 1)
end

-- By number of the bid: rows in which it stands, and its amounts there.
local function uses_of(rows)
	local uses = {}
	for _, row in ipairs(rows) do
		local terms = row.terms
		for k = 1, #terms, 2 do
			local list = uses[terms[k]]
			if not list then
				list = {}
				uses[terms[k]] = list
			end
			list[#list + 1] = row
			list[#list + 1] = terms[k + 1]
		end
	end
	return uses
end

-- Bids by their worth, each taken when it fits beside those before.
local function take_in_turn(bids, rows, worth)
	local uses, order, left, values, sum = uses_of(rows), {}, {}, {}, 0
	for i = 1, #bids do
		order[i] = i
		values[i] = 0
	end
	table.sort(order, function(a, b) return worth[a] > worth[b] end)
	for _, i in ipairs(order) do
		local list, fits = uses[i] or {}, true
		for k = 1, #list, 2 do
			fits = fits and (left[list[k].number] or list[k].hi) >= list[k + 1]
		end
		if fits then
			values[i] = 1
			sum = sum + worth[i]
			for k = 1, #list, 2 do
				local row = list[k]
				left[row.number] = (left[row.number] or row.hi) - list[k + 1]
			end
		end
	end
	return values, sum
end

-- Slurm bids can all win, by the way they are made.
local function take_slurm(bids, worth)
	local values, sum = {}, 0
	for i, bid in ipairs(bids) do
		values[i] = bid.kind == "slurm" and 1 or 0
		sum = sum + values[i] * worth[i]
	end
	return values, sum
end

-- The objective's coefficients, and the greedy solution that a solver has to beat.
local function begin(bids, rows, options)
	local worth, least, most = {}, math.huge, 0
	for i, bid in ipairs(bids) do
		worth[i] = options.value(bid.job)
		least = math.min(least, worth[i])
		most = math.max(most, worth[i])
	end
	local alpha = M.alpha(least, #bids)
	for i, bid in ipairs(bids) do
		local liking = options.liking and options.liking(bid) or bid.preference
		worth[i] = (worth[i] + (alpha + (options.preference or 0) * worth[i]) * liking) * (1000 / most)
	end
	for number, row in ipairs(rows) do
		row.number = number
	end
	local values, sum = take_in_turn(bids, rows, worth)
	local slurm, other = take_slurm(bids, worth)
	if other > sum then
		return worth, slurm
	end
	return worth, values
end

-- Elastic bids come last: what they get on each node is what the others leave.
local function winners(bids, values)
	local won = {}
	for elastic = 0, 1 do
		for i, bid in ipairs(bids) do
			if values[i] > 0.5 and (bid.elastic and 1 or 0) == elastic then
				won[#won + 1] = bid
			end
		end
	end
	return won
end

--- The bids that win, in the order in which they can be started, and what the solver said
--- (nil where there was nothing to choose).  options:
---   value(job)	P, more than 0
---   liking(bid)	F; bid.preference if left out
---   preference	adds this share of P times F to what alpha gives; 0 if left out
---   time_limit, gap, max_nodes	for the solver
--- Without a solver, or when it finds nothing better in time, the greedy solution wins.
function M.solve(cluster, bids, options)
	local rows = cluster:overlaps(bids)
	local worth, values = begin(bids, rows, options)
	if #rows == 0 then
		return winners(bids, values)
	end
	local m = mip.model { sense = "max" }
	for i = 1, #bids do
		m:var { lb = 0, ub = 1, integer = true, obj = worth[i] }
	end
	for _, row in ipairs(rows) do
		m:add { terms = row.terms, hi = row.hi }
	end
	m:start(values)
	local result = m:solve { time_limit = options.time_limit, gap = options.gap, max_nodes = options.max_nodes }
	return winners(bids, result.values or values), result
end

--- The greedy solution alone.
function M.greedy(cluster, bids, options)
	local _, values = begin(bids, cluster:overlaps(bids), options)
	return winners(bids, values)
end

return M
