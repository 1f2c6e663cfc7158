-- SPDX-License-Identifier: MIT
--
-- sched.driver - which sets of partitions decide in a cycle, and in which order.
--
-- A set of the site file is split into groups of partitions that share nodes, directly or
-- through others: groups that share none are machines of their own, and a job that waits on
-- one must not be what holds up (or fails to protect) the jobs of another.  A policy that
-- wants to see its whole set says split = false.
--
-- Groups come in the order of their highest PriorityTier.  All share the plan and its timeline,
-- so that a later one finds what the earlier ones left.  The engine calls groups() once for a
-- snapshot and then lets each group decide by itself: one that fails does not take the others
-- with it.
--
-- What a group remembers (plan:remember) is known by the name of its first partition, so that it
-- lasts while other partitions come and go.
--
-- After all of them come the stages of components such as sched.borrow: groups of their own,
-- with the admission and the order of their set, or of the sets whose partitions they name as
-- lenders.

local options = require "sched.options"

local M = {}

-- The set itself, or of several by time the one that holds now.
local function set_now(set, site, cluster)
	return set.choice and require("sched.when").choose(set.choice, site.clock, cluster.now).set or set
end

-- Sets that name partitions, and the default one for all the rest: { set, partitions }; and the
-- place of each partition in the cluster's order, in which they are listed everywhere.
local function assign(site, cluster)
	local default = { set = set_now(site.default, site, cluster), partitions = {} }
	local by_name, all, place = {}, {}, {}
	for _, set in ipairs(site.sets) do
		local entry = { set = set_now(set, site, cluster), partitions = {} }
		all[#all + 1] = entry
		for _, name in ipairs(set.partitions) do
			by_name[name] = entry
			if not cluster:partition(name) then
				slurm.log_debug("site: no partition '%s' in this cluster", name)
			end
		end
	end
	all[#all + 1] = default
	for i, partition in ipairs(cluster.partitions) do
		place[partition.name] = i
		local names = (by_name[partition.name] or default).partitions
		names[#names + 1] = partition.name
	end
	return all, place
end

-- Lists of partitions that share nodes among themselves and with no other list.
local function connected(names, place)
	local lists = {}
	for _, name in ipairs(names) do
		local merged, apart = { name }, {}
		for _, list in ipairs(lists) do
			local shares = false
			for _, other in ipairs(list) do
				shares = shares or engine.share_nodes(name, other)
			end
			if shares then
				table.move(list, 1, #list, #merged + 1, merged)
			else
				apart[#apart + 1] = list
			end
		end
		apart[#apart + 1] = merged
		lists = apart
	end
	for _, list in ipairs(lists) do
		table.sort(list, function(a, b) return place[a] < place[b] end)
	end
	return lists
end

local function new_group(entry, names, cluster, forecasts, told)
	local set, tier = entry.set, 0
	for _, name in ipairs(names) do
		tier = math.max(tier, cluster:partition(name).priority_tier)
	end
	return {
		name = set.name, admit = set.admit, allow = set.allow, rank = set.rank, rerank = set.rerank,
		rank_part = set.rank_part, place = set.place, prepare = set.prepare,
		decide = forecasts and forecasts:telling(set.decide, told) or set.decide,
		options = set.options, parts = set.parts, holds = set.on_failure == "hold", failed = entry.failed,
		partitions = names, tier = tier,
		memory = names[1],	-- a partition is in one group only
	}
end

-- Parts that work with the partitions of their set as a whole (quotas) make what they need.
-- One that cannot is told of when it is the group's turn.
local function serve(entry, cluster)
	local ok, why = pcall(function()
		for _, part in ipairs(entry.set.parts) do
			if part.policy.serve then
				part.state = part.policy.serve(entry.partitions, cluster, part.values)
			end
		end
	end)
	if not ok then
		entry.failed = tostring(why)
	end
end

-- A stage of a component: the queue, admission and order are the set's.
local function stage_group(part, number, entry, names, lenders)
	local stage, set = part.policy.stages[number], entry.set
	return {
		memory = ("%s/%s.%d"):format(names[1], part.name, number),
		name = part.name, admit = set.admit, allow = set.allow, rank = set.rank, rerank = set.rerank,
		place = set.place,
		decide = stage.run,
		options = { lenders = lenders }, parts = set.parts, partitions = names, is_stage = true,
		holds = set.on_failure == "hold", failed = entry.failed,
	}
end

-- The lenders among the partitions of a set.
local function lenders_in(entry, component)
	local lenders = {}
	for _, name in ipairs(entry.partitions) do
		for _, lender in ipairs(component.lenders) do
			if lender == name then
				lenders[#lenders + 1] = name
			end
		end
	end
	return lenders
end

local function add_stages(groups, part, entry, entries)
	for number, stage in ipairs(part.policy.stages) do
		if not stage.of_lenders then
			groups[#groups + 1] = stage_group(part, number, entry, entry.partitions, nil)
		else
			for _, other in ipairs(entries) do
				local lenders = lenders_in(other, part.policy)
				if #lenders > 0 then
					groups[#groups + 1] = stage_group(part, number, other, lenders, lenders)
				end
			end
		end
	end
end

local function add_all_stages(groups, entries, cluster)
	for _, entry in ipairs(entries) do
		for _, part in ipairs(entry.set.parts) do
			local component = part.policy
			local has_stages = component.stages and #entry.partitions > 0
			if has_stages and cluster:partition(component.through) then
				add_stages(groups, part, entry, entries)
			elseif has_stages then
				slurm.log_debug("site: %s: no partition '%s' in this cluster", part.name, component.through)
			end
		end
	end
end

--- The groups of this cluster, in the order in which they decide.
function M.groups(site, cluster)
	local groups, told = {}, {}
	local entries, place = assign(site, cluster)
	if site.forecasts then
		site.forecasts:check(cluster)
	end
	for _, entry in ipairs(entries) do
		serve(entry, cluster)
		local lists = entry.set.split and connected(entry.partitions, place) or { entry.partitions }
		for _, names in ipairs(lists) do
			if #names > 0 then
				groups[#groups + 1] = new_group(entry, names, cluster, site.forecasts, told)
			end
		end
	end
	table.sort(groups, function(a, b)
		if a.tier ~= b.tier then
			return a.tier > b.tier
		end
		return place[a.memory] < place[b.memory]
	end)
	add_all_stages(groups, entries, cluster)
	if #groups == 1 then
		groups[1].partitions = nil	-- all of them: nothing to look up
	end
	return groups
end

--- What decides in place of policies that fail: the bundled easy, and its options.
function M.stand_in()
	local easy = require "sched.stand_in"
	return easy.decide, options.resolve(easy, {}, error)
end

return M
