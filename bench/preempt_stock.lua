-- SPDX-License-Identifier: MIT
--
-- preempt_stock.lua - Slurm's own preemption as a policy, to be compared with sched.preempt (bench/preempt-waste).
--
-- What 24.11 does, by its sources: preempt/qos lists the running jobs that the waiting one may preempt, by the
-- priority of their QOS and then by their number of nodes, fewest first (_gen_job_prio(); with the option
-- "youngest" the latest first, as preempt_youngest_first has it). select/cons_tres (_run_now()) takes one after
-- the other for gone until the job fits. Then the last of them is moved to the front, the others are sorted by how
-- many of their nodes the job would have, and it begins anew, preempt_reorder_count times (1). In the end all
-- those are stopped that were taken for gone and have nodes in common with the job's. Nothing is held for the job;
-- its priority is what lets it have the nodes.
--
-- In Slurm's favour: jobs that were told to end are counted as gone, nodes found for one waiting job are not given
-- to the next one of the same cycle, and EASY keeps the nodes of the first waiting job. The nodes that select
-- would choose are the one that has just enough, else those that have most, as _eval_nodes() does where nodes have
-- no topology.

local REORDERS, JOBS = 1, 20

local M = { api = 1, name = "preempt_stock", doc = "Slurm's own preemption by QOS",
	options = { youngest = { default = false, doc = "the latest first (preempt_youngest_first)" } } }

-- -- what is free ------------------------------------------------------------

local function gpus_of(list)
	local n = 0
	for _, gres in ipairs(list or {}) do
		n = n + (tostring(gres.kind):match("^gpu") and gres.count or 0)
	end
	return n
end

local function add(free, job, sign)
	for _, hold in ipairs(job.alloc) do
		local node = free[hold.node]
		node.cores = node.cores + sign * hold.cores
		node.gpus = node.gpus + sign * gpus_of(hold.gres)
	end
end

local function read_free(cluster)
	local free = { names = {} }
	for i, node in ipairs(cluster.nodes) do
		free.names[i] = node.name
		free[node.name] = { cores = node.cores, gpus = gpus_of(node.gres), of = node.cores, index = i }
	end
	for _, job in ipairs(cluster.running) do
		if not job.preempt_time then
			add(free, job, -1)
		end
	end
	return free
end

local function copy(free)
	local new = { names = free.names }
	for _, name in ipairs(free.names) do
		local node = free[name]
		new[name] = { cores = node.cores, gpus = node.gpus, of = node.of, index = node.index }
	end
	return new
end

-- -- does it fit -----------------------------------------------------------------

-- What the job needs: of all nodes together, or of a number of nodes alike.
local function need_of(job)
	local nodes = (job.max_nodes or 0) > 0 and job.max_nodes or nil
	local tasks, gpus = math.max(job.cpus, 1), job.gpus or 0
	return { nodes = nodes, exclusive = job.exclusive, tasks = nodes and math.ceil(tasks / nodes) or tasks, in_all = tasks,
		gpus = nodes and math.ceil(gpus / nodes) or gpus }
end

-- How much of what it needs a node has.
local function units_at(need, node)
	if need.exclusive then
		return node.cores == node.of and (need.gpus == 0 or node.gpus >= need.gpus) and node.cores or 0
	elseif need.nodes then
		return node.gpus >= need.gpus and node.cores or 0
	elseif need.gpus > 0 then
		return math.min(node.cores * need.gpus // need.tasks, node.gpus)
	end
	return node.cores
end

local function wanted(need)
	return need.nodes and need.tasks or need.gpus > 0 and need.gpus or need.tasks
end

-- A count that says quickly that it does not fit: nodes that will do, or units in all.
local function count_of(need, units)
	return need.nodes and (units >= need.tasks and 1 or 0) or units
end

local function by_units(a, b)
	if a.units ~= b.units then
		return a.units < b.units
	end
	return a.index < b.index
end

-- The nodes that it would have, as a set of names; nil: it does not fit.
local function choose(need, free)
	local list, want, chosen = {}, wanted(need), {}
	for _, name in ipairs(free.names) do
		local units = units_at(need, free[name])
		if units > 0 then
			list[#list + 1] = { name = name, units = units, index = free[name].index }
		end
	end
	table.sort(list, by_units)
	if need.nodes then
		local left = need.nodes
		for _, row in ipairs(list) do
			if row.units >= want and left > 0 then
				chosen[row.name], left = want, left - 1
			end
		end
		return left == 0 and chosen or nil
	end
	for _, row in ipairs(list) do
		if row.units >= want then
			return { [row.name] = want }
		end
	end
	for i = #list, 1, -1 do
		local part = math.min(want, list[i].units)
		chosen[list[i].name], want = part, want - part
		if want == 0 then
			return chosen
		end
	end
	return nil
end

local function take(need, free, chosen)
	for name, units in pairs(chosen) do
		local node = free[name]
		local gpus = need.nodes and need.gpus or need.gpus > 0 and units or 0
		node.gpus = node.gpus - gpus
		local cores = not need.nodes and need.gpus > 0 and units * need.tasks // need.gpus or units
		node.cores = need.exclusive and 0 or node.cores - cores
	end
end

-- -- whom to stop ------------------------------------------------------------------

local function is_candidate(job, other, now)
	return other.preempt_mode and other.preempt_from and other.preempt_from <= now and not other.preempt_time and
		other.qos and job.preempts and ("," .. job.preempts:gsub("^QOS=", "") .. ","):find("," .. other.qos .. ",", 1, true)
end

local function list_candidates(job, cluster, opt, taken)
	local list = {}
	for _, other in ipairs(cluster.running) do
		if not taken[other.id] and is_candidate(job, other, cluster.now) then
			list[#list + 1] = { job = other, id = other.id, usable = 0,
				key = opt.youngest and -other.start_time or #other.alloc }
		end
	end
	table.sort(list, function(a, b)
		if a.key ~= b.key then
			return a.key < b.key
		end
		return a.id < b.id
	end)
	return list
end

-- One after the other is taken for gone.  How many were, and the job's nodes; nil: it does not fit.
local function remove_in_turn(need, free, list)
	local count, enough = 0, need.nodes or wanted(need)
	for _, name in ipairs(free.names) do
		count = count + count_of(need, units_at(need, free[name]))
	end
	for i, row in ipairs(list) do
		for _, hold in ipairs(row.job.alloc) do
			count = count - count_of(need, units_at(need, free[hold.node]))
		end
		add(free, row.job, 1)
		for _, hold in ipairs(row.job.alloc) do
			count = count + count_of(need, units_at(need, free[hold.node]))
		end
		row.usable = 0
		local chosen = count >= enough and choose(need, free)
		if chosen then
			return i, chosen
		end
	end
	return nil
end

local function common_nodes(job, chosen)
	local n = 0
	for _, hold in ipairs(job.alloc) do
		n = n + (chosen[hold.node] and 1 or 0)
	end
	return n
end

-- The last one goes to the front, then those who have most of the nodes; what is equal keeps its order.
local function reorder(list, last, chosen)
	for i, row in ipairs(list) do
		row.at = i
		row.usable = i == last and 99999 or i < last and common_nodes(row.job, chosen) or 0
	end
	table.sort(list, function(a, b)
		if a.usable ~= b.usable then
			return a.usable > b.usable
		end
		return a.at < b.at
	end)
end

local function stop_for(job, cluster, opt, free, taken)
	local need, list = need_of(job), list_candidates(job, cluster, opt, taken)
	local victims, last, chosen = {}, nil, choose(need, free)
	for pass = 0, REORDERS + 1 do
		if chosen and pass == 0 then
			take(need, free, chosen)	-- (it fits, or will)
			return victims
		end
		local gone = copy(free)
		last, chosen = remove_in_turn(need, gone, list)
		if not last then
			return victims
		elseif pass <= REORDERS and #list > pass + 1 then
			reorder(list, last, chosen)
		else
			break
		end
	end
	for i = 1, last do
		if common_nodes(list[i].job, chosen) > 0 then
			victims[#victims + 1] = list[i].job
			add(free, list[i].job, 1)
		end
	end
	take(need, free, chosen)
	return victims
end

function M.prepare(cluster, plan, opt)
	local free, taken, left = nil, {}, JOBS
	for job in cluster:queue(1000, nil, "all") do
		if left == 0 or not job.may_preempt then
			break
		end
		free = free or read_free(cluster)
		for _, victim in ipairs(stop_for(job, cluster, opt, free, taken)) do
			taken[victim.id] = true
			plan:requeue(victim)
		end
		left = left - 1
	end
end

return M
