-- SPDX-License-Identifier: MIT
--
-- sched.dominance - jobs of a window (sched.window) that another one makes pointless: a
-- job dominates those that need as much or more in every respect and are worth as much or less.
-- Wherever one of those runs it could run instead, so that there is a best choice in which it
-- starts whenever they do: s_k <= s_j.  A queue of many similar jobs has very many choices that
-- are worth nearly the same; such rows spare an integer program the proof for each of them.

local M = {}

local NEAREST = 2	-- dominators that a job gets: what dominates those follows from it
local LOOK_BACK = 100	-- jobs that are looked at for them

-- What has to be the same for two jobs to be compared.
local function kind(job)
	return ("%d %d %d %d %d %s %s"):format(job.set, job.unit, job.least, job.min_nodes, job.max_nodes or 0,
		job.whole and "whole" or "", job.most or "")
end

-- More cores than another job, on nodes that it could have: not when each node has a least share.
local function comparable(job)
	return not job.native and not job.contiguous and job.least <= job.unit
end

local needs = { "cores", "gpus", "level", "memory", "core_memory" }

local function dominates(w, value, j, k)
	local a, b = w.jobs[j], w.jobs[k]
	for _, what in ipairs(needs) do
		if a[what] > b[what] then
			return false
		end
	end
	return value[j] >= value[k]
end

-- What needs little and is worth much first, so that dominators come before what they dominate.
local function in_order(w, value, list)
	table.sort(list, function(j, k)
		local a, b = w.jobs[j], w.jobs[k]
		for _, what in ipairs(needs) do
			if a[what] ~= b[what] then
				return a[what] < b[what]
			end
		end
		if value[j] ~= value[k] then
			return value[j] > value[k]
		end
		return j < k
	end)
	return list
end

local function nearest(w, value, list, at)
	local found = {}
	for i = at - 1, math.max(1, at - LOOK_BACK), -1 do
		local further = not dominates(w, value, list[i], list[at])
		for _, j in ipairs(found) do
			further = further or dominates(w, value, list[i], j)
		end
		if not further then
			found[#found + 1] = list[i]
			if #found == NEAREST then
				break
			end
		end
	end
	return found
end

--- Pairs { j, k }: job j dominates job k.  Of the jobs in *some* ({ [j] = anything }); for each k
--- the nearest ones only.
function M.pairs(w, value, some)
	local kinds, pairs_found, keys = {}, {}, {}
	for j, job in ipairs(w.jobs) do
		if some[j] and comparable(job) then
			local key = kind(job)
			if not kinds[key] then
				kinds[key] = {}
				keys[#keys + 1] = key
			end
			table.insert(kinds[key], j)
		end
	end
	for _, key in ipairs(keys) do
		local list = in_order(w, value, kinds[key])
		for at, k in ipairs(list) do
			for _, j in ipairs(nearest(w, value, list, at)) do
				pairs_found[#pairs_found + 1] = { j, k }
			end
		end
	end
	return pairs_found
end

return M
