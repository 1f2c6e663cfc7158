-- SPDX-License-Identifier: MIT
--
-- sched.explain - why a job stands where it stands in the order: the whole computation, made
-- on demand for one job (schedlua explain).
--
-- Runs in place of a policy's decide, for one group of partitions (driver.lua), at the
-- beginning of a cycle: nothing has started.  Parts of the list say in their own words what they
-- computed, part.explain(job, cluster, opt, state); what they do not say is shown as numbers.  What
-- decides and explains has an order of its own: that is shown in place of the queue's.

local M = {}

local shown = 3		-- jobs ahead of it

local function indent(text, by)
	return by .. text:gsub("\n", "\n" .. by)
end

local function partitions_of(group, cluster)
	local names = group.partitions or {}
	if not group.partitions then
		for i, partition in ipairs(cluster.partitions) do
			names[i] = partition.name
		end
	end
	return names
end

-- Is the job queued in one of these partitions?
local function is_in(job, names)
	for _, asked in ipairs(job.partitions) do
		for _, name in ipairs(names) do
			if asked == name then
				return true
			end
		end
	end
	return false
end

local function rank_text(group, cluster, job)
	if not group.rank then
		local tier = cluster:partition(job.partition).priority_tier
		return (tier > 1 and ("PriorityTier %d, "):format(tier) or "") .. ("priority %d"):format(job.priority)
	end
	local rank, second = group.rank(job, cluster)
	if second then
		return ("rank %.14g, then %.14g"):format(rank, second)
	end
	return ("rank %.14g, then Slurm's priority %d"):format(rank, job.priority)
end

-- Where it stands among those that may start, and who stands before it.
local function find_place(group, cluster, id)
	local total, place, ahead = 0, nil, {}
	for job in cluster:queue() do
		total = total + 1
		if job.id == id and not place then
			place = total
		elseif not place then
			table.insert(ahead, 1, ("job %d of %s (%s)"):format(job.id, job.user, rank_text(group, cluster, job)))
			ahead[shown + 1] = nil
		end
	end
	return place, total, ahead
end

-- Does what decides say in which order jobs come?  Then the queue's is only where it begins.
local function has_own_order(group)
	for _, part in ipairs(group.parts) do
		if part.policy.decide and part.policy.explain then
			return true
		end
	end
	return false
end

local function place_text(place, group, cluster, job)
	if not place then
		return "  no place: it may not start now"
	elseif has_own_order(group) then
		return "  submitted " .. engine.local_text(job.submit_time)
	end
	return ("  place %d: %s; submitted %s"):format(place, rank_text(group, cluster, job),
		engine.local_text(job.submit_time))
end

-- Who stands before it in the queue, and by what.
local function add_queue(lines, group, place, ahead)
	for i, text in ipairs(place and ahead or {}) do
		lines[#lines + 1] = ("  %s ahead of it: %s"):format(i == 1 and "next" or "then", text)
	end
	if place and not group.rank then
		lines[#lines + 1] = "  no part of the list ranks: Slurm's own order, PriorityTier and priority"
	end
end

local function add_parts(lines, group, cluster, job)
	for _, part in ipairs(group.parts) do
		local policy = part.policy
		local text = policy.explain and policy.explain(job, cluster, part.values, part.state)
		if text then
			lines[#lines + 1] = ("  %s:"):format(part.name)
			lines[#lines + 1] = indent(text, "    ")
		elseif policy.admit then
			local ok, why = policy.admit(job, cluster, part.values, part.state)
			lines[#lines + 1] = ("  %s: %s"):format(part.name, ok and "admits it" or why or "does not admit it")
		end
	end
end

-- Where it stands, as numbers: how many jobs the queue has before it, and what the site's forecasts say.
local function standing_of(job, place, group)
	local f = job.forecast or {}
	return {
		ahead = place and not has_own_order(group) and place - 1 or -1,
		low = f.not_before or 0, likely = f.likely or 0, high = f.not_after or 0,
		confidence = f.confidence or 0,
	}
end

--- What is to be said about the job in this group, as text and as numbers; nil where it is not queued there.
function M.explain(group, cluster, id)
	if group.is_stage then	-- it orders as the group whose jobs it looks at
		return nil
	end
	local job = cluster:job(id)
	local names = partitions_of(group, cluster)
	if not job or job.state ~= "PENDING" or not is_in(job, names) then
		return nil
	end
	local place, total, ahead = find_place(group, cluster, id)
	local lines = {
		("order in %s, by %s, among %d that may start:"):format(table.concat(names, ", "), group.name, total),
		place_text(place, group, cluster, job),
	}
	if job.native then
		lines[#lines + 1] = ("  only Slurm's select can place it: %s"):format(job.native)
	end
	if not has_own_order(group) then
		add_queue(lines, group, place, ahead)
	end
	add_parts(lines, group, cluster, job)
	return table.concat(lines, "\n") .. "\n", standing_of(job, place, group)
end

return M
