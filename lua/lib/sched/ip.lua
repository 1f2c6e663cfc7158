-- SPDX-License-Identifier: MIT
--
-- sched.ip - the integer program of Soner and Ozturan, "Integer Programming Based Heterogeneous
-- CPU-GPU Cluster Scheduler for SLURM Resource Manager", 2012: which jobs of a window start.
--
--   max sum p_j (s_j - c_j)
--   (1) sum_j x_ij <= R_i			cores of node i
--   (2) sum_i x_ij = r_j s_j			cores of job j
--   (3) sum_j g_j t_ij <= G_i			GPUs of node i
--   (4) c_j = sum_i t_ij / 2N			node packing
--   (5) Nmin_j s_j <= 2N c_j <= Nmax_j s_j	nodes of job j
--   (6) t_ij = 1 where x_ij > 0, else 0
--
-- In the paper (5) has no s_j, and so makes jobs have nodes that do not start.
--
-- literal() is that, row by row (sched.ip_literal): 2M(1+N) columns.  aggregated() takes nodes that are alike
-- together (sched.window): T_ij nodes of class i for job j, y_ij cores on them, and of all
-- divisible jobs of a level just how many cores they have in each class.  Its bound holds for
-- the literal program too; that its solution can be laid out on nodes it does not say, so
-- window:greedy() tries.  choose() does all of it.
--
-- value[j] is p_j, or what stands for it.

local dominance = require "sched.dominance"
local literal = require "sched.ip_literal"
local mip = require "sched.mip"
local terms_of = require "sched.ip_terms"
local window = require "sched.window"

local M = { literal = literal.program, read_literal = literal.read }

local put, use = terms_of.put, terms_of.use

local function copy(list)
	return table.move(list, 1, #list, 1, {})
end

-- What job j could have on a node of each class, { [class] = cores }; nil if it cannot run.
local function offers(w, job)
	local usable, list, cores, nodes = w.usable[job.set], {}, 0, 0
	if job.never then
		return nil
	end
	for i, class in ipairs(w.classes) do
		local offer = usable[i] > 0 and window.offer(job, class, class.capacity) or 0
		if offer > 0 then
			list[i] = offer
			cores, nodes = cores + offer * usable[i], nodes + usable[i]
		end
	end
	return cores >= job.cores and nodes >= job.min_nodes and list or nil
end

--- The jobs of a window that could start if they were alone: { [j] = { [class] = cores } }.
function M.offers(w)
	local all = {}
	for j, job in ipairs(w.jobs) do
		all[j] = offers(w, job)
	end
	return all
end

-- -- aggregated ----------------------------------------------------------------

local Program = {}
Program.__index = Program

-- Terms by class and level.
local function new_rows(w)
	local rows = { cores = {}, gpus = {}, memory = {} }
	for i = 1, #w.classes do
		for _, of in pairs(rows) do
			of[i] = {}
			for l = 1, w.levels do
				of[i][l] = {}
			end
		end
	end
	return rows
end

-- All divisible jobs of a level and set.
local function add_pool(p, rows, key, pool)
	local job, terms = pool.job, pool.terms
	p.pool[key] = {}
	for i, class in ipairs(p.w.classes) do
		local n = p.w.usable[job.set][i]
		local offer = n > 0 and window.offer(job, class) or 0
		if offer > 0 then
			local y = p.model:var { ub = offer * n }
			p.pool[key][i] = y
			put(terms, y, -1)
			use(rows.cores[i], job.level, y, 1)
		end
	end
	p.model:add { terms = terms, lo = 0, hi = 0, name = "pool " .. key }
end

local function pool_key(job)
	return job.set .. "/" .. job.level
end

-- Nodes T_ij of class i for a job, and cores y_ij on them.
local function add_node_columns(p, rows, j, i, offer, cost)
	local m, job, n = p.model, p.w.jobs[j], p.w.usable[p.w.jobs[j].set][i]
	local t = m:var { ub = n, integer = true, obj = -cost }
	p.t[j][i] = t
	use(rows.gpus[i], job.level, t, job.gpus)
	use(rows.memory[i], job.level, t, job.memory + (job.whole and offer or 0) * job.core_memory)
	if job.whole then
		use(rows.cores[i], job.level, t, offer)
		return t, t
	end
	local y = m:var { ub = offer * n }
	p.y[j][i] = y
	use(rows.cores[i], job.level, y, 1)
	use(rows.memory[i], job.level, y, job.core_memory)
	m:add { terms = { y, 1, t, -offer }, hi = 0 }
	m:add { terms = { y, 1, t, -job.least }, lo = 0 }
	return t, y
end

-- The cores of a job do not fit on fewer.
local function fewest_nodes(job, list)
	local most = 1
	for _, offer in pairs(list) do
		most = math.max(most, offer)
	end
	return (job.cores + most - 1) // most
end

local function add_node_job(p, rows, j, list, cost)
	local m, job, s = p.model, p.w.jobs[j], p.s[j]
	local nodes, cores = {}, { s, -job.cores }
	p.t[j], p.y[j] = {}, {}
	for i = 1, #p.w.classes do
		if list[i] then
			local t, y = add_node_columns(p, rows, j, i, list[i], cost)
			put(nodes, t, 1)
			put(cores, y, job.whole and list[i] or 1)
		end
	end
	local same = job.max_nodes == job.min_nodes
	local fewest = same and job.min_nodes or math.max(job.min_nodes, fewest_nodes(job, list))
	m:add { terms = put(copy(nodes), s, -fewest), lo = 0, hi = same and 0 or nil }		-- (5)
	if job.max_nodes and not same then
		m:add { terms = put(nodes, s, -job.max_nodes), hi = 0 }
	end
	m:add { terms = cores, lo = 0, hi = not job.whole and 0 or nil }			-- (2)
end

local UNKNOWN <const> = 1e15		-- no node has as much, but one whose memory is not known: it limits nothing

-- What classes have: (1), (3), and memory.
local function add_limits(p, rows)
	for i, class in ipairs(p.w.classes) do
		for what, of in pairs(rows) do
			for l = 1, p.w.levels do
				local most = class[what][l] * class.count
				if #of[i][l] > 0 and most < UNKNOWN then
					p.model:add { terms = of[i][l], hi = most, name = what .. " " .. i .. "/" .. l }
				end
			end
		end
	end
end

-- Jobs that cannot share a node, since they want more than half of its GPUs each or more than
-- another one leaves: together they have no more nodes than there are.
local function add_sharing(p, most)
	local rows = 0
	for i, class in ipairs(p.w.classes) do
		local gpus, large, small = class.gpus[1], {}, {}
		for j, job in ipairs(p.w.jobs) do
			local t = p.t[j] and p.t[j][i]
			if t and job.gpus > 0 and 2 * job.gpus > gpus then
				put(large, t, 1)
			elseif t and job.gpus > 0 then
				small[#small + 1] = j
			end
		end
		if #large > 2 then
			p.model:add { terms = large, hi = class.count }
		end
		for _, j in ipairs(small) do
			local beside = { p.t[j][i], 1 }
			for k, job in ipairs(p.w.jobs) do
				if p.t[k] and p.t[k][i] and job.gpus + p.w.jobs[j].gpus > gpus then
					put(beside, p.t[k][i], 1)
				end
			end
			if #beside > 2 and rows < most then
				p.model:add { terms = beside, hi = class.count }
				rows = rows + 1
			end
		end
	end
end

--- The aggregated program.  options: packing (true: c_j counts), sharing (rows of that kind at
--- most; 2000), dominance (true: rows of sched.dominance).  offers as M.offers() made them.
function M.aggregated(w, value, list, options)
	options = options or {}
	local p = setmetatable({ w = w, model = mip.model { sense = "max" }, s = {}, t = {}, y = {}, pool = {} }, Program)
	local rows, pools, keys = new_rows(w), {}, {}
	local packing = options.packing ~= false and 1 / (2 * w.total_nodes) or 0
	for j, job in ipairs(w.jobs) do
		if list[j] then
			-- the fewest nodes that a divisible job could have are what packing costs it at least
			local nodes = job.divisible and math.ceil(job.cores / w.widest) or 0
			p.s[j] = p.model:var { ub = 1, integer = true, obj = value[j] * (1 - packing * nodes), name = "job " .. j }
			if job.divisible then
				local key = pool_key(job)
				if not pools[key] then
					pools[key] = { job = job, terms = {} }
					keys[#keys + 1] = key
				end
				put(pools[key].terms, p.s[j], job.cores)
			else
				add_node_job(p, rows, j, list[j], value[j] * packing)
			end
		end
	end
	for _, key in ipairs(keys) do
		add_pool(p, rows, key, pools[key])
	end
	add_limits(p, rows)
	add_sharing(p, options.sharing or 2000)
	if options.dominance ~= false then
		for _, pair in ipairs(dominance.pairs(w, value, list)) do
			p.model:add { terms = { p.s[pair[1]], 1, p.s[pair[2]], -1 }, lo = 0 }
		end
	end
	return p
end

--- A choice (window:greedy) as a start.
function Program:start(choice)
	local values = {}
	local columns = self.model:size()
	for c = 1, columns do
		values[c] = 0
	end
	for _, j in ipairs(choice.jobs) do
		local job = self.w.jobs[j]
		if not self.s[j] then
			return
		end
		values[self.s[j]] = 1
		for _, piece in ipairs(choice.pieces[j]) do
			local n = piece.to - piece.from + 1
			local t = self.t[j] and self.t[j][piece.class]
			local y = job.divisible and self.pool[pool_key(job)][piece.class] or self.y[j] and self.y[j][piece.class]
			if t then
				values[t] = values[t] + n
			end
			if y then
				values[y] = values[y] + n * piece.cores
			end
		end
	end
	self.model:start(values)
end

--- What a solution says: { [j] = s_j }, and where: hint[j][class] = nodes.
function Program:read(values)
	local chosen, hint = {}, {}
	for j, s in pairs(self.s) do
		chosen[j] = values[s]
		if self.t[j] then
			hint[j] = {}
			for i, t in pairs(self.t[j]) do
				hint[j][i] = values[t]
			end
		end
	end
	return chosen, hint
end

-- -- choosing ----------------------------------------------------------------------

-- By value for what a job takes of the machine.
local function density_order(w, value, list)
	local order, density = {}, {}
	for j, job in ipairs(w.jobs) do
		if list[j] then
			local nodes = math.max(job.min_nodes, math.ceil(job.cores / w.widest))
			local share = job.cores / w.cores + (w.gpus > 0 and job.gpus * nodes / w.gpus or 0)
			density[j] = value[j] / share
			order[#order + 1] = j
		end
	end
	table.sort(order, function(a, b)
		if density[a] ~= density[b] then
			return density[a] > density[b]
		elseif w.jobs[a].cores ~= w.jobs[b].cores then
			return w.jobs[a].cores < w.jobs[b].cores
		end
		return a < b
	end)
	return order
end

-- Those with the larger key first; equal ones as they stand.
local function sorted(order, key)
	local list, place = copy(order), {}
	for i, j in ipairs(order) do
		place[j] = i
	end
	table.sort(list, function(a, b)
		if key[a] ~= key[b] then
			return key[a] > key[b]
		end
		return place[a] < place[b]
	end)
	return list
end

-- Chosen jobs, the hardest to lay out first; then the others, to fill up.  Returns the list and how many were chosen.
local function layout_order(w, order, chosen)
	local first, rest = {}, {}
	for _, j in ipairs(order) do
		local list = chosen[j] == 1 and first or rest
		list[#list + 1] = j
	end
	table.sort(first, function(a, b)
		local x, y = w.jobs[a], w.jobs[b]
		if (x.divisible or false) ~= (y.divisible or false) then
			return y.divisible
		elseif x.gpus ~= y.gpus then
			return x.gpus > y.gpus
		end
		return x.cores / x.min_nodes > y.cores / y.min_nodes
	end)
	local n = #first	-- before the others are moved behind them
	return table.move(rest, 1, #rest, n + 1, first), n
end

local function better(a, b)
	return b and (not a or b.value > a.value) and b or a
end

local function limits(opt, share, extra)
	local all = { time_limit = opt.time_limit * share, gap = opt.gap, max_nodes = opt.max_nodes,
		memory_mb = opt.memory_mb, backend = opt.backend }
	for key, v in pairs(extra or {}) do
		all[key] = v
	end
	return all
end

local function note(found, p, r)
	found.columns, found.rows = p.model:size()
	found.solves = found.solves + 1
	found.seconds, found.work = found.seconds + r.seconds, found.work + r.work
	found.status, found.solver, found.message = r.status, r.source, r.message
end

local function all_of(order, choice)
	return #choice.jobs == #order
end

-- A choice that greedy laying out did not find a place for: where the literal program of these
-- jobs is small, it finds one, or the best part of them.
local function lay_out_exactly(found, w, value, list, sequence, n, opt)
	local some = {}
	for k = 1, n do
		some[sequence[k]] = list[sequence[k]]
	end
	if n * w.nodes > (opt.exact or 300) then
		return nil
	end
	local p = M.literal(w, value, some, opt)
	local r = p.model:solve(limits(opt, 0.3))
	found.solves = found.solves + 1
	return r.values and M.read_literal(p, value, r.values, opt.unpacked)
end

-- The solutions of the program, laid out; one that cannot be is cut off, and the next one asked for.
local function solve(found, w, p, value, list, order, opt)
	local share = 0.6
	for k = 1, 1 + (opt.cuts or 2) do
		local r = p.model:solve(limits(opt, share))
		note(found, p, r)
		if k == 1 and r.bound then	-- later ones are of what was not cut off
			found.bound = math.min(found.bound or math.huge, r.bound)
		end
		if not r.values or r.source == "start" then	-- that one is laid out already
			return
		end
		local chosen, hint = p:read(r.values)
		local sequence, n = layout_order(w, order, chosen)
		local choice = w:greedy(value, sequence, hint, opt.unpacked)
		found.choice = better(found.choice, choice)
		local lost, terms = 0, {}
		for i = 1, n do
			lost = lost + (choice.pieces[sequence[i]] and 0 or 1)
			put(terms, p.s[sequence[i]], 1)
		end
		if lost > 0 then
			choice = lay_out_exactly(found, w, value, list, sequence, n, opt)
			found.choice = better(found.choice, choice)
			lost = choice and n - #choice.jobs or lost
		end
		if lost == 0 or found.bound and found.bound - found.choice.value <= opt.gap * found.choice.value then
			return
		end
		p.model:add { terms = terms, hi = n - 1, name = "cut" }
		share = share / 2
	end
end

--- Choose jobs of a window: greedily, guided by the relaxation, and by the integer program; the
--- best of them.  opt: time_limit, gap, max_nodes, memory_mb, backend, packing.  Returns { choice,
--- bound, gap, status, columns, rows, solves, seconds, work, ... }: bound is nil without a solver.
function M.choose(w, value, opt)
	local found = { solves = 0, seconds = 0, work = 0, status = "greedy" }
	local list = M.offers(w)
	local order = density_order(w, value, list)
	opt.unpacked = opt.packing == false
	found.choice = better(w:greedy(value, order, nil, opt.unpacked),
		w:greedy(value, sorted(order, value), nil, opt.unpacked))
	if all_of(order, found.choice) then
		found.status = "all"
		return found
	end
	local p = M.aggregated(w, value, list, opt)
	local r = p.model:solve(limits(opt, 0.4, { relax = true }))
	note(found, p, r)
	found.timeout = r.status ~= "optimal"
	if r.values then
		found.bound = r.bound
		local chosen, hint = p:read(r.values)
		found.choice = better(found.choice, w:greedy(value, sorted(order, chosen), hint, opt.unpacked))
	end
	if not found.bound or found.bound - found.choice.value > (opt.gap + 1e-9) * found.choice.value then
		found.greedy = found.choice.value
		p:start(found.choice)
		solve(found, w, p, value, list, order, opt)
		found.timeout = found.status ~= "optimal"
	end
	found.gap = found.bound and (found.bound - found.choice.value) / found.choice.value
	return found
end

return M
