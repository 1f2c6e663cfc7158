-- SPDX-License-Identifier: MIT
--
-- critical.lua - the scarcest resource first, small jobs behind it.
--
-- A machine is emptied no sooner than what is wanted most allows.  In each cycle the policy looks
-- at the queue and works out, for each resource of the machine, for how long it would be busy if
-- it were used without a gap (its load): cores, memory, each gres, and blocks of consecutive
-- nodes.  Jobs that take whole nodes take all that is on these nodes with them, GPUs too that
-- they did not ask for.  Nothing about kinds of jobs is known in advance.
--
-- Jobs that cannot run beside each other make a chain: of those that take more than half of a
-- resource only one runs at a time, of those that take more than a third two, of those that take
-- more than a quarter three.  A chain has a load too; and a single long job is a chain.
--
-- The load of the cores is what the queue takes at least if all goes well.  A job is critical
-- when the load of its chain, or of a resource of which it takes a larger share than of the
-- cores, is `threshold` times that or more: to let it wait is to let the machine wait.  Critical
-- jobs go first, the largest load and then the widest job first; the others follow, the smallest
-- first (share of the machine x walltime).  The first job in that order that does not fit gets a
-- reservation, as with EASY, and the rest fills in behind it, the smallest first.
--
-- So where resources are wanted evenly the policy is smallest-first, which makes waits short;
-- where one is the bottleneck it keeps that one busy; and when the queue runs low, long and wide
-- jobs go in time.
--
-- A wide job that is not critical would wait for long where new small jobs arrive all the time.
-- One that has waited `patience` times as long as the older part of the queue would take, plus
-- what the job in the middle of the queue has waited, is overdue: the first such job gets a
-- reservation before all others.  In a queue that was submitted at once nobody is; in a steady
-- stream wide jobs are soon.  Behind that stands the guard with its fixed limit (sched.guard).
--
-- Options
--   window     pending jobs examined in a cycle; 0: as many as a share of its work is enough for, in simulations 1000.
--   threshold  1: what may lengthen the queue is critical; less: more jobs are, for a higher
--              utilization and longer waits; 1000: none, smallest first.
--   fill       behind the reservation: "small" the smallest first, "critical" the same order as
--              before it, for a higher utilization and longer waits.
--   patience   less: wide jobs wait for a shorter time; 0: only the guard counts.
--   place      how jobs are placed (plan:start()).
--   shapes     a job that does not fit as it asks starts as the first of its alternatives that fits;
--              what it asks for is what puts it into the order.
--   guard_*    the starvation guard.

local guard = require "sched.guard"

local M = { api = 1, name = "critical", doc = "the scarcest resource first, small jobs behind it" }

M.options = guard.options {
	window = { default = 0, min = 0, max = 100000,
		doc = "pending jobs examined in a cycle; 0: a share of its work, in simulations 1000" },
	threshold = { default = 0.8, min = 0, max = 1000, tune = { 0.5, 0.8, 1.0, 2.0, 1000.0 },
		doc = "a job is critical when what it needs is loaded so many times as much as the cores" },
	fill = { default = "small", tune = true, values = { "small", "critical" }, doc = "the order behind the reservation" },
	patience = { default = 1.5, min = 0, max = 1000, tune = { 0.0, 0.75, 1.5, 3.0, 6.0 },
		doc = "a job is overdue after so many times what the older part of the queue takes; 0: never" },
	place = { default = "bestfit", values = { "bestfit", "contiguous", "pack", "spread", "tight", "least_loaded", "last" },
		doc = "how jobs are placed" },
	shapes = { default = true, doc = "a job may start as one of its alternatives" },
}

local WEEK <const> = 7 * 86400	-- longer walltimes, and none, count as this
local DEEPEST <const> = 3	-- chains of jobs of which so many at most run side by side

-- The machine: supply, and the resources by number and by name, cores first, blocks last.
local function look_at(cluster)
	local supply = cluster.supply
	local machine = { nodes = supply.nodes, cpus = supply.cpus, node_cpus = supply.cpus / supply.nodes,
		memory = supply.memory, names = { "cores" }, there = { supply.cpus }, number = {} }
	local function add(name, there)
		if there > 0 then
			machine.names[#machine.names + 1] = name
			machine.there[#machine.names] = there
			machine.number[name] = #machine.names
		end
	end
	add("memory", supply.memory)
	for name, there in pairs(supply.gres) do
		add(name, there)
	end
	add("blocks", supply.nodes)
	return machine
end

-- Nodes that a job takes, and whether it leaves nothing on them for others.
local function nodes_of(job, machine)
	local cpus, min_nodes = job.cpus, job.min_nodes
	local per_node = math.max((job.ntasks_per_node or 0) * job.cpus_per_task, job.pn_min_cpus or 0,
		min_nodes > 1 and cpus / min_nodes or 0)
	local nodes = math.max(min_nodes, cpus / machine.node_cpus, per_node > 0 and cpus / per_node or 0)
	local memory = machine.memory > 0 and (job.memory_per_node or 0) * machine.nodes / machine.memory or 0
	return nodes, job.exclusive or per_node >= machine.node_cpus or memory >= 1
end

local function add_gres(share, job, nodes, machine)
	for _, gres in ipairs(job.gres or {}) do
		local times = gres.per == "job" and 1 or gres.per == "task" and job.tasks or math.ceil(nodes)
		for _, name in ipairs(gres.type and { gres.name, gres.name .. ":" .. gres.type } or { gres.name }) do
			local number = machine.number[name]
			if number then
				share[number] = share[number] + gres.count * times / machine.there[number]
			end
		end
	end
end

-- What part of each resource a job takes, by number, and its nodes.
local function share_of(job, machine)
	local share, numbers = {}, #machine.names
	local nodes, whole = nodes_of(job, machine)
	local part = nodes / machine.nodes
	for number = 1, numbers do
		share[number] = whole and part or 0
	end
	share[1] = math.max(share[1], job.cpus / machine.cpus)
	share[numbers] = job.contiguous and part or 0
	if machine.number.memory then
		local memory = (job.memory_per_node or 0) * nodes
		if memory == 0 then
			memory = (job.memory_per_cpu or 0) * job.cpus
		end
		share[2] = math.max(share[2], memory / machine.memory)
	end
	add_gres(share, job, nodes, machine)
	return share, nodes
end

local SIMULATED <const> = 1000

local function window_of(cluster, opt)
	return opt.window > 0 and opt.window or cluster.source == "sim" and SIMULATED or "share"
end

-- Without a plan, before anything is decided, all are.
local function is_open(plan, job)
	return not plan or plan:state(job) == "open"
end

-- The queue, one row for each open job: its walltime, nodes, share of each resource, the largest
-- of them, and for how long it will be busy: with all tasks of an array, in one of its
-- partitions, and not at all if it is too large ever to run.
local function examine(cluster, plan, window, machine)
	local rows, seen = {}, {}
	for job in cluster:queue(window) do
		local id = job.id
		if is_open(plan, job) then
			local share, nodes = share_of(job, machine)
			local row = { job = job, place = #rows, share = share, nodes = nodes, busy = 0,
				most = math.max(table.unpack(share)), seconds = math.min(job.time_limit, WEEK) }
			if not seen[id] and row.most <= 1 then
				row.busy = row.seconds * math.max(job.array_pending, 1)
			end
			seen[id] = true
			rows[#rows + 1] = row
		end
	end
	return rows
end

-- Seconds for which each resource is wanted, load[number][0], and its chains, [1] to [DEEPEST].
local function measure(rows, numbers)
	local loads = {}
	for number = 1, numbers do
		local all, chain = 0, { 0, 0, 0 }
		for _, row in ipairs(rows) do
			local share, busy = row.share[number], row.busy
			all = all + share * busy
			for k = DEEPEST, 1, -1 do
				if share * (k + 1) <= 1 then
					break
				end
				chain[k] = chain[k] + busy / k
			end
		end
		chain[0] = all
		loads[number] = chain
	end
	return loads
end

-- The largest load that a job is part of.
local function load_of(row, loads)
	local most, share = row.seconds, row.share
	for number = 1, #share do
		local load, part = loads[number], share[number]
		if number > 1 and part > 0 and part >= share[1] then
			most = math.max(most, load[0])
		end
		for k = DEEPEST, 1, -1 do
			if part * (k + 1) <= 1 then
				break
			end
			most = math.max(most, load[k])
		end
	end
	return most
end

local function smallest_first(a, b)
	if a.size ~= b.size then
		return a.size < b.size
	end
	return a.place < b.place
end

local function critical_first(a, b)
	if a.critical ~= b.critical then
		return a.critical
	elseif not a.critical then
		return smallest_first(a, b)
	elseif a.load ~= b.load then
		return a.load > b.load
	elseif a.nodes ~= b.nodes then
		return a.nodes > b.nodes
	elseif a.seconds ~= b.seconds then
		return a.seconds < b.seconds
	end
	return a.place < b.place
end

-- Put the rows in order.  Returns for how long the cores would be busy, seconds.
local function rank(rows, threshold, numbers)
	local loads = measure(rows, numbers)
	for _, row in ipairs(rows) do
		row.load = load_of(row, loads)
		row.critical = row.load >= threshold * loads[1][0]
		row.size = row.most * row.seconds
	end
	table.sort(rows, critical_first)
	return loads[1][0]
end

-- For how long a job has to wait to be overdue.  Of the queue those count that have waited at
-- least half as long as the oldest: what arrives while nodes are kept free for a job must not
-- make it less urgent.
local function long_wait(rows, patience, numbers)
	local waits, old, oldest, backlog = {}, {}, 0, 0
	for i, row in ipairs(rows) do
		waits[i] = row.job.waited
		oldest = math.max(oldest, waits[i])
	end
	for i, row in ipairs(rows) do
		if 2 * waits[i] >= oldest then
			old[#old + 1] = row
		end
	end
	for _, load in ipairs(measure(old, numbers)) do
		backlog = math.max(backlog, load[0])
	end
	table.sort(waits)
	return math.max(1, math.ceil(patience * (backlog + (waits[(#waits + 1) // 2] or 0))))
end

-- What makes the guard look for the first that is overdue.
local function patience_guard(rows, opt, numbers)
	return { guard_wait = long_wait(rows, opt.patience, numbers), guard_stretch = 0, guard_jobs = 1, shapes = opt.shapes }
end

-- The guard first; if nobody is due, a reservation for the first that is overdue.
local function protect(cluster, plan, opt, rows, numbers)
	if #guard.protect(cluster, plan, opt) == 0 and opt.patience > 0 then
		guard.protect(cluster, plan, patience_guard(rows, opt, numbers))
	end
end

-- Start jobs in the rows' order until one gets a reservation; returns the rows behind it.
local function start_until_reserved(plan, rows, how)
	local rest, reserved = {}, false
	for _, row in ipairs(rows) do
		local open = plan:state(row.job) == "open"
		if open and reserved then
			rest[#rest + 1] = row
		elseif open and not plan:start(row.job, how) then
			reserved = plan:reserve(row.job, how) ~= nil
		end
	end
	return rest
end

-- Is decide() what a simulation does by the rule "critical" (lab/sim/pool_critical.c)?  Then that need not ask.
local function goes_by_rule(cluster, opt)
	return cluster.source == "sim" and opt.window == 0 and opt.guard_load == 0 and opt.place == "bestfit"
end

function M.decide(cluster, plan, opt)
	local machine, how = look_at(cluster), { place = opt.place, shape = opt.shapes and "any" or 0 }
	if machine.nodes == 0 then
		return
	end
	local rows = examine(cluster, plan, window_of(cluster, opt), machine)
	rank(rows, opt.threshold, #machine.names)
	protect(cluster, plan, opt, rows, #machine.names)
	local rest = start_until_reserved(plan, rows, how)
	if opt.fill == "small" then
		table.sort(rest, smallest_first)
	end
	for _, row in ipairs(rest) do
		plan:backfill(row.job, how)
	end
	if not guard.remembers(opt) then
		plan:settle(goes_by_rule(cluster, opt) and "critical" or "full", opt)
	end
end

local function load_text(row, cores, opt)
	if row.critical then
		return ("critical: what it needs would be busy for %.3g h, the cores for %.3g h (threshold %g); "
			.. "the largest load goes first, then the widest"):format(row.load / 3600, cores / 3600, opt.threshold)
	end
	return ("not critical: what it needs would be busy for %.3g h, the cores for %.3g h (threshold %g); behind those that "
		.. "are, the smallest first: %.3g of the machine x %d s"):format(row.load / 3600, cores / 3600, opt.threshold,
		row.most, row.seconds)
end

-- Why it comes before the order, if it does.
local function exception_text(job, cluster, opt, rows, numbers)
	local due = guard.explain(job, cluster, opt)
	if due == "" and opt.patience > 0 then
		local first = guard.guarded(cluster, patience_guard(rows, opt, numbers))[1]
		due = first and first.id == job.id and "\nbefore the order: it is overdue (patience)" or ""
	end
	return due
end

-- For schedlua explain: where the job stands, and who stands before it.
function M.explain(job, cluster, opt)
	local machine, before = look_at(cluster), nil
	local rows = examine(cluster, nil, window_of(cluster, opt), machine)
	local cores = machine.nodes > 0 and rank(rows, opt.threshold, #machine.names)
	for place, row in ipairs(cores and rows or {}) do
		if row.job.id == job.id then
			return ("place %d in its own order, "):format(place) .. load_text(row, cores, opt) ..
				(before and ("\nnext ahead of it: job %d of %s"):format(before.job.id, before.job.user) or "") ..
				exception_text(job, cluster, opt, rows, #machine.names)
		end
		before = row
	end
	return "not in its order: it may not start now, or is behind the window"
end

return M
