-- SPDX-License-Identifier: MIT
--
-- ip_window.lua - the jobs at the head of the queue compete for what is free, all at once, in an
-- integer program; after Soner and Ozturan 2012 (IPSCHED).
--
-- A window of jobs is taken in the queue's order, and those start that are worth most together:
-- max sum p_j (s_j - c_j), where s_j says that job j starts, p_j is its priority and c_j what it
-- costs to spread it over many nodes.  So a job that wants cores only does not take the nodes whose
-- GPUs others wait for, and a wide job does not wait for a few nodes that a narrow one has.
--
-- The program is solved in an aggregated form (sched.ip); a greedy choice is made as well, and
-- the better one starts: on nodes as the plan places jobs (weights, switches), if all that is chosen fits
-- so, else as it was laid out.  Without a solver, or when time is up, that is the greedy one.  What is
-- still free then goes to whatever fits, in the queue's order; jobs that do not fit as they ask
-- start as one of their alternatives.
--
-- What is worth little may wait for ever: the guard (sched.guard) gives jobs that waited too
-- long a reservation, which the program has to respect.

local guard = require "sched.guard"
local ip = require "sched.ip"
local mip = require "sched.mip"
local window = require "sched.window"

local M = { api = 1, name = "ip_window", doc = "start the most valuable jobs of a window, by integer programming" }

M.options = guard.options {
	max_jobs = { default = 200, min = 1, max = 10000, doc = "pending jobs that compete, from the head of the queue" },
	objective = { default = "jobs", values = { "jobs", "cores" },
		doc = "what is maximized: sum p (s - c), or sum p r (s - c), r being a job's cores" },
	priority = { default = "slurm", values = { "slurm", "basic", "multifactor" },
		doc = "p: Slurm's own; falling by one from job to job; minutes waited, and size" },
	size_weight = { default = 10080.0, min = 0,
		doc = "minutes of waiting that a job of the machine's size is worth (multifactor)" },
	brevity = { default = 0.2, min = 0, max = 10, doc = "p is divided by the walltime in hours to this power" },
	value = { default = false, type = "function",
		doc = "function(job, cluster): what starting it is worth, instead of p" },
	packing = { default = true, doc = "jobs on few nodes are worth more (c)" },
	formulation = { default = "aggregated", values = { "aggregated", "literal" },
		doc = "literal: the paper's, for comparison" },
	on_timeout = { default = "incumbent", values = { "incumbent", "halve" },
		doc = "when time is up: start the best found so far; or nothing of it, and try half of the window, " ..
			"in the coming cycles too, and twice as many jobs again after one that was solved quickly" },
	time_limit = { default = 1.0, min = 1e-6, max = 3600, doc = "seconds for a solve, of work and of the clock" },
	gap = { default = 0.005, min = 0, max = 1, doc = "good enough: so close to the bound" },
	branches = { default = 200, min = 0, max = 1000000,
		doc = "nodes of branch and bound" },
	memory_mb = { default = 512, min = 64, max = 1048576, doc = "memory of a solve" },
	shapes = { default = true, doc = "a job that is not chosen may start as one of its alternatives" },
	backend = { default = "any", values = { "any", "coinmp", "cbc", "none" }, doc = "the solver" },
}

local priority = {}

function priority.slurm(job)
	return math.max(1, job.priority)
end

function priority.basic(_, _, _, rank)
	return 4294901760 - rank
end

function priority.multifactor(job, cluster, opt)
	return 1 + job.waited / 60 + opt.size_weight * job.cpus / math.max(1, cluster.totals.cores)
end

-- What the jobs are worth, the most valuable one being 1.
local function values_of(cluster, w, opt)
	local value, most = {}, 0
	for j, job in ipairs(w.list) do
		local v
		if opt.value then
			v = opt.value(job, cluster)
			if type(v) ~= "number" or v ~= v or v == math.huge then
				error(("value: expected a number for job %d, got %s"):format(job.id, tostring(v)), 0)
			end
		else
			v = priority[opt.priority](job, cluster, opt, j)
			v = opt.objective == "cores" and v * w.jobs[j].cores or v
			v = opt.brevity > 0 and v / (math.max(1, job.time_limit) / 3600) ^ opt.brevity or v
		end
		value[j] = v
		most = math.max(most, v)
	end
	for j in ipairs(w.list) do
		value[j] = value[j] / math.max(most, 1e-300)
		-- nothing is gained by starting it
		w.jobs[j].never = w.jobs[j].never or value[j] <= 0
	end
	return value
end

local function choose_literal(w, value, opt)
	local p = ip.literal(w, value, ip.offers(w), opt)
	local r = p.model:solve { time_limit = opt.time_limit, gap = opt.gap, max_nodes = opt.max_nodes,
		memory_mb = opt.memory_mb, backend = opt.backend }
	local found = { choice = w:greedy(value, {}), bound = r.bound, status = r.status, timeout = r.status ~= "optimal",
		seconds = r.seconds, work = r.work }
	if r.values then
		found.choice = ip.read_literal(p, value, r.values)
	end
	return found
end

local function choose(cluster, jobs, opt, solver)
	local w = window.open(cluster, jobs)
	if #w.classes == 0 then
		return nil, w
	end
	local value = values_of(cluster, w, opt)
	return (opt.formulation == "literal" and choose_literal or ip.choose)(w, value, solver), w
end

local function solver_options(opt)
	return { time_limit = opt.time_limit, gap = opt.gap, max_nodes = opt.branches, memory_mb = opt.memory_mb,
		backend = opt.backend ~= "any" and opt.backend or nil }
end

-- With on_timeout = "halve": how many jobs compete, remembered from cycle to cycle.
local JOBS <const> = "ip_window.jobs"

local function halves(opt)
	return opt.on_timeout == "halve" and opt.backend ~= "none" and #mip.backends() > 0
end

local function window_of(cluster, opt)
	return halves(opt) and math.min(cluster:recall(JOBS) or opt.max_jobs, opt.max_jobs) or opt.max_jobs
end

local function note(plan, jobs, opt)
	plan:remember(JOBS, jobs < opt.max_jobs and jobs or nil)
end

-- Choose, and start what was chosen.  *size*: jobs that may compete.
local function optimize(cluster, plan, jobs, size, opt)
	local solver = solver_options(opt)
	solver.packing = opt.packing
	local found, w = choose(cluster, jobs, opt, solver)
	local quick = found and not found.timeout and (found.work or 0) < opt.time_limit / 4
	while found and found.timeout and halves(opt) and #jobs > 1 do
		jobs = table.move(jobs, 1, #jobs // 2, 1, {})
		note(plan, #jobs, opt)		-- at once: the budget may end the cycle
		solver.time_limit = solver.time_limit / 2
		found, w = choose(cluster, jobs, opt, solver)
	end
	if quick and halves(opt) then
		note(plan, size * 2, opt)
	end
	if found then
		w:start(found.choice, plan)
		slurm.log_debug("ip_window: %d of %d jobs, value %.6g, bound %s, %s", #found.choice.jobs, #jobs,
			found.choice.value, tostring(found.bound), found.status)
	end
end

-- The open jobs of the window, each once; without a plan, before anything is decided, all are open.
local function competitors(cluster, plan, size)
	local jobs, again = {}, {}
	for job in cluster:queue(size) do
		if (not plan or plan:state(job) == "open") and not again[job] then
			again[job] = true
			jobs[#jobs + 1] = job
		end
	end
	return jobs
end

function M.decide(cluster, plan, opt)
	guard.protect(cluster, plan, opt)
	local size = window_of(cluster, opt)
	local jobs = competitors(cluster, plan, size)
	if #jobs > 0 and cluster.totals.free_cores > 0 then
		optimize(cluster, plan, jobs, size, opt)
	end
	local how = { shape = opt.shapes and "any" or 0 }
	for job in cluster:queue(opt.max_jobs) do
		if plan:state(job) == "open" then
			plan:start(job, how)
		end
	end
	if not halves(opt) and not guard.remembers(opt) then	-- with halves() each solve may change how many compete
		plan:settle("full")
	end
end

local function place_text(place, rows)
	local row, before = rows[place], rows[place - 1]
	return ("place %d of the %d jobs that compete, by what starting it is worth: %.4g of the most valuable one's"):format(
		place, #rows, row.value) ..
		(before and ("\nnext ahead of it: job %d of %s (%.4g)"):format(before.job.id, before.job.user, before.value) or "") ..
		"\nwhich of them start is decided together: those that are worth most of all that fit beside each other"
end

-- For schedlua explain: what starting the job is worth, and who is worth more.
function M.explain(job, cluster, opt)
	local jobs, rows = competitors(cluster, nil, window_of(cluster, opt)), {}
	local value = values_of(cluster, window.open(cluster, jobs), opt)
	for j, other in ipairs(jobs) do
		rows[j] = { job = other, value = value[j] }
	end
	table.sort(rows, function(a, b) return a.value > b.value end)	-- stable
	for place, row in ipairs(rows) do
		if row.job.id == job.id then
			return place_text(place, rows) .. guard.explain(job, cluster, opt)
		end
	end
	return "does not compete: it may not start now, or is behind the window" .. guard.explain(job, cluster, opt)
end

return M
