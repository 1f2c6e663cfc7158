-- SPDX-License-Identifier: MIT
--
-- sched.window - which jobs of a window run together, and where: the picture of free nodes by
-- class (cluster:window, engine/auction/window.h), a way to lay a choice of jobs out on it, and a
-- greedy choice.  Works on numbers only; window:start() then has the plan book what was chosen.
--
--   local w = window.open(cluster, jobs)
--   local choice = w:greedy(value, order)		-- value[j], order = { j, ... }
--   w:start(choice, plan)
--
-- A class is a number of nodes that are alike: count, nodes, and for each level of walltimes
-- cores, gpus and memory that each of them has free.  A job has level and set (which nodes it
-- may use: usable[set][class] of them), cores, unit, least, most (cores of a node), min_nodes,
-- max_nodes, gpus, memory, core_memory (of each node, for each core), and is
--   divisible	wants cores and nothing else, on whatever nodes: such jobs fit together exactly
--		when their cores do, so that they are laid out last;
--   whole	takes all of its nodes;
--   native	is placed by Slurm in the end.
--
-- Laying out cuts classes into groups, runs of nodes that still have the same.  Cost follows
-- groups, not nodes.

local M = {}

local Window = {}
Window.__index = Window

-- True if some of the nodes are better than others for a job: by weight, the switches they are on, or what it prefers.
local function has_better_nodes(w, jobs)
	local weight
	for _, job in ipairs(jobs) do
		if (job.prefer or "") ~= "" then
			return true
		end
	end
	for _, class in ipairs(w.classes) do
		for _, node in ipairs(class.nodes) do
			weight = weight or node.weight
			if node.weight ~= weight or (node.topology or "") ~= "" then
				return true
			end
		end
	end
	return false
end

--- Look at the cluster as the plan has it now.
function M.open(cluster, jobs)
	local w = setmetatable(cluster:window(jobs), Window)
	w.has_better_nodes = has_better_nodes(w, jobs)
	w.list = jobs
	w.cores, w.gpus, w.nodes, w.widest = 0, 0, 0, 1
	for _, class in ipairs(w.classes) do
		w.nodes = w.nodes + class.count
		w.cores = w.cores + class.count * class.cores[1]
		w.gpus = w.gpus + class.count * class.gpus[1]
		w.widest = math.max(w.widest, class.cores[1])
	end
	w.total_nodes = math.max(1, cluster.totals.nodes)
	return w
end

-- Least of levels 1 to *level*.
local function least(amounts, level)
	local n = amounts[1]
	for l = 2, level do
		n = math.min(n, amounts[l])
	end
	return n
end

--- Cores that a node with these amounts (a class, a group) can give to a job, in whole tasks;
--- 0 if it is of no use to it.
function M.offer(job, has, capacity)
	local cores = least(has.cores, job.level)
	if job.gpus > 0 and least(has.gpus, job.level) < job.gpus then
		return 0
	end
	if job.whole then
		-- of a node that is empty; how empty, the plan looks at
		return cores == capacity and cores or 0
	end
	if job.most then
		cores = math.min(cores, job.most)
	end
	if job.memory > 0 or job.core_memory > 0 then
		local memory = least(has.memory, job.level) - job.memory
		if memory < 0 then
			return 0
		elseif job.core_memory > 0 then
			cores = math.min(cores, memory // job.core_memory)
		end
	end
	cores = cores - cores % job.unit
	return cores >= job.least and cores or 0
end

-- -- groups ------------------------------------------------------------------

local function copy(list)
	return table.move(list, 1, #list, 1, {})
end

-- A picture to lay jobs out on.
local function new_picture(w)
	local groups = {}
	for i, class in ipairs(w.classes) do
		groups[i] = { class = i, from = 1, to = class.count, capacity = class.capacity,
			cores = copy(class.cores), gpus = copy(class.gpus), memory = copy(class.memory) }
	end
	return groups
end

-- Give *n* nodes of a group so many cores each to a job; the rest becomes a group of its own.
local function take(groups, group, n, cores, job)
	if n < group.to - group.from + 1 then
		groups[#groups + 1] = { class = group.class, from = group.from + n, to = group.to, capacity = group.capacity,
			cores = copy(group.cores), gpus = copy(group.gpus), memory = copy(group.memory) }
		group.to = group.from + n - 1
	end
	for l = 1, job.level do
		group.cores[l] = group.cores[l] - cores
		group.gpus[l] = group.gpus[l] - job.gpus
		group.memory[l] = group.memory[l] - job.memory - cores * job.core_memory
	end
	return { class = group.class, from = group.from, to = group.to, cores = cores }
end

-- Take what was found, { group, n, cores } each: a group that was cut before goes on with its rest.
local function cut(groups, found, job)
	local rest, pieces = {}, {}
	for i, p in ipairs(found) do
		local before = #groups
		pieces[i] = take(groups, rest[p[1]] or p[1], p[2], p[3], job)
		rest[p[1]] = #groups > before and groups[#groups] or nil
	end
	return pieces
end

-- Groups of use to a job: { group, offer, n, spare GPUs }.  hint[class] > 0: those first.
local function candidates(w, groups, job, hint)
	local usable, list = w.usable[job.set], {}
	for _, group in ipairs(groups) do
		if usable[group.class] > 0 then
			local offer = M.offer(job, group, group.capacity)
			if offer > 0 then
				list[#list + 1] = { group = group, offer = offer, n = group.to - group.from + 1,
					spare = least(group.gpus, job.level) - job.gpus,
					hinted = hint and (hint[group.class] or 0) > 0 and 0 or 1 }
			end
		end
	end
	return list
end

local function by_position(a, b)
	if a.group.class ~= b.group.class then
		return a.group.class < b.group.class
	end
	return a.group.from < b.group.from
end

-- Nodes that spare few GPUs first; of those the tightest, or the widest.
local function order(list, tight)
	table.sort(list, function(a, b)
		if a.hinted ~= b.hinted then
			return a.hinted < b.hinted
		elseif a.spare ~= b.spare then
			return a.spare < b.spare
		elseif a.offer ~= b.offer then
			return (a.offer < b.offer) == tight
		end
		return by_position(a, b)
	end)
	return list
end

-- Evenly on exactly *nodes* nodes: { { group, n, cores }, ... }, or nil.
local function even(list, job, nodes)
	local units = job.cores // job.unit
	local low, extra = units // nodes * job.unit, units % nodes
	local pieces, more, rest = {}, extra, nodes - extra
	if low < job.least and rest > 0 then
		return nil
	end
	for _, c in ipairs(order(list, true)) do
		local n = c.n
		if more > 0 and c.offer >= low + job.unit then
			local m = math.min(more, n)
			pieces[#pieces + 1] = { c.group, m, low + job.unit }
			more, n = more - m, n - m
		end
		if rest > 0 and n > 0 and c.offer >= low then
			local m = math.min(rest, n)
			pieces[#pieces + 1] = { c.group, m, low }
			rest = rest - m
		end
		if more == 0 and rest == 0 then
			return pieces
		end
	end
	return nil
end

-- On few nodes, as much on each as it offers; the last one gets what is left.
local function full(list, job)
	local left, count, pieces = job.cores, 0, {}
	local most = job.max_nodes or math.huge
	for _, c in ipairs(order(list, false)) do
		local n = c.n
		while n > 0 and left > 0 and count < most do
			-- what further nodes need at least is kept for them
			local keep = math.max(0, job.min_nodes - count - 1) * job.least
			local each = math.min(c.offer, left - keep)
			local m = each < c.offer and 1 or math.min(n, most - count, math.max(1, (left - keep) // each))
			if each < job.least then
				-- too little is left for a node: one node of those before gives some
				return nil
			end
			pieces[#pieces + 1] = { c.group, m, each }
			left, count, n = left - m * each, count + m, n - m
		end
		if left == 0 and count >= job.min_nodes then
			return pieces
		end
	end
	return nil
end

-- Whole nodes: as many as it asks for, or as its cores need.
local function whole(list, job)
	local left, count, pieces = job.cores, 0, {}
	local most = job.max_nodes or math.huge
	for _, c in ipairs(order(list, job.min_nodes > 1)) do
		local n = 0
		while n < c.n and count < most and (left > 0 or count < job.min_nodes) do
			n, count, left = n + 1, count + 1, left - c.offer
		end
		if n > 0 then
			pieces[#pieces + 1] = { c.group, n, c.offer }
		end
		if left <= 0 and count >= job.min_nodes then
			return pieces
		end
	end
	return nil
end

-- A job that is not divisible: its pieces { class, from, to, cores }, or nil.
local function lay_out(w, groups, job, hint)
	local list = candidates(w, groups, job, hint)
	local found
	if job.whole then
		found = whole(list, job)
	elseif job.min_nodes > 1 or job.max_nodes == 1 then
		found = even(list, job, job.min_nodes) or full(list, job)
	else
		found = full(list, job)
	end
	if not found then
		return nil
	end
	return cut(groups, found, job)
end

-- A divisible job: nodes without GPUs first, the emptiest; its last cores where they fit tightest.
local function pour(w, groups, job)
	local usable, left, list, pieces = w.usable[job.set], job.cores, {}, {}
	for _, group in ipairs(groups) do
		local offer = usable[group.class] > 0 and least(group.cores, job.level) or 0
		if offer > 0 then
			list[#list + 1] = { group = group, offer = offer, n = group.to - group.from + 1,
				spare = least(group.gpus, job.level), hinted = 1 }
		end
	end
	for _, c in ipairs(order(list, false)) do
		local n = math.min(c.n, left // c.offer)
		c.left = c.n - n
		if n > 0 then
			pieces[#pieces + 1] = { c.group, n, c.offer }
			left = left - n * c.offer
		end
		if left == 0 then
			return pieces
		end
	end
	local best
	for _, c in ipairs(list) do
		if (c.left or c.n) > 0 and c.offer >= left and (not best or c.offer < best.offer) then
			best = c
		end
	end
	if not best then
		return nil	-- no node has that many; all smaller ones are taken
	end
	pieces[#pieces + 1] = { best.group, 1, left }
	return pieces
end

local function pour_out(w, groups, job)
	local found = pour(w, groups, job)
	if not found then
		return nil
	end
	return cut(groups, found, job)
end

local function count_nodes(pieces)
	local n = 0
	for _, p in ipairs(pieces) do
		n = n + p.to - p.from + 1
	end
	return n
end

-- -- a choice ----------------------------------------------------------------

-- Cores that divisible jobs of a level and above could still have, by level.
local function room(w, groups)
	local sum = {}
	for l = 1, w.levels do
		sum[l] = 0
		for _, group in ipairs(groups) do
			sum[l] = sum[l] + least(group.cores, l) * (group.to - group.from + 1)
		end
	end
	return sum
end

-- Jobs of a level take from it and those below.
local function has_room(sum, job, cores)
	for l = 1, job.level do
		if sum[l] < cores then
			return false
		end
	end
	return true
end

local function take_room(sum, job, cores)
	for l = 1, job.level do
		sum[l] = sum[l] - cores
	end
end

--- Choose jobs in this order, each that still fits.  hint[j][class]: where an integer program
--- had it.  Returns { jobs = { j, ... }, pieces = { [j] = ... }, value, nodes }; value counts what
--- packing costs: value[j] * nodes / (2 * all nodes), unless *unpacked*.
function Window:greedy(value, sequence, hint, unpacked)
	local groups = new_picture(self)
	local sum = room(self, groups)
	local choice = { jobs = {}, pieces = {}, value = 0, nodes = {} }
	local divisible = {}
	for _, j in ipairs(sequence) do
		local job = self.jobs[j]
		if job.never then
			goto continue
		elseif job.divisible then
			if has_room(sum, job, job.cores) then
				take_room(sum, job, job.cores)
				divisible[#divisible + 1] = j
			end
		elseif has_room(sum, job, job.cores) then
			local pieces = lay_out(self, groups, job, hint and hint[j])
			if pieces then
				local cores = 0
				for _, p in ipairs(pieces) do
					cores = cores + p.cores * (p.to - p.from + 1)
				end
				take_room(sum, job, cores)
				choice.pieces[j] = pieces
			end
		end
		::continue::
	end
	-- the long ones first: they have the least to choose from; then the large ones
	table.sort(divisible, function(a, b)
		local x, y = self.jobs[a], self.jobs[b]
		if x.level ~= y.level then
			return x.level > y.level
		end
		return x.cores > y.cores
	end)
	for _, j in ipairs(divisible) do
		choice.pieces[j] = pour_out(self, groups, self.jobs[j])
	end
	for _, j in ipairs(sequence) do
		local pieces = choice.pieces[j]
		if pieces then
			choice.jobs[#choice.jobs + 1] = j
			choice.nodes[j] = count_nodes(pieces)
			choice.value = choice.value + value[j] * (1 - (unpacked and 0 or choice.nodes[j] / (2 * self.total_nodes)))
		end
	end
	return choice
end

-- Chosen jobs, the hardest to place first.
local function by_hardness(w, jobs)
	local list, place = {}, {}
	for i, j in ipairs(jobs) do
		list[i], place[j] = j, i
	end
	table.sort(list, function(a, b)
		local x, y = w.jobs[a], w.jobs[b]
		if (x.divisible or false) ~= (y.divisible or false) then
			return y.divisible
		elseif x.gpus ~= y.gpus then
			return x.gpus > y.gpus
		elseif x.cores / x.min_nodes ~= y.cores / y.min_nodes then
			return x.cores / x.min_nodes > y.cores / y.min_nodes
		end
		return place[a] < place[b]
	end)
	return list
end

-- Start all of them where the plan places them: by weight, switches, and what else placement heeds and the
-- program does not know.  How many started; nil, and none did, if one finds no room there.
local function start_where_placed(w, sequence, plan)
	local done = {}
	for _, j in ipairs(sequence) do
		local ok, _, why = plan:start(w.list[j])
		if ok then
			done[#done + 1] = w.list[j]
		elseif why == "resources" or why == "priority" then
			for k = #done, 1, -1 do
				plan:undo(done[k])
			end
			return nil
		end
	end
	return #done
end

-- Start one as it is laid out, else where the plan finds a place.
local function start_as_laid_out(w, j, pieces, plan)
	local job, layout = w.list[j], {}
	for _, p in ipairs(pieces) do
		local nodes = w.classes[p.class].nodes
		for i = p.from, p.to do
			layout[nodes[i]] = p.cores
		end
	end
	return not w.jobs[j].native and plan:start(job, { layout = layout }) or plan:start(job)
end

--- Have the plan start what was chosen: where it places them, if some nodes are better than others and all fit so; else
--- as laid out, which spreads jobs that may be spread as the program has it.
--- Returns how many started.
function Window:start(choice, plan)
	local sequence = by_hardness(self, choice.jobs)
	local started = self.has_better_nodes and start_where_placed(self, sequence, plan)
	if not started then
		started = 0
		for _, j in ipairs(sequence) do
			started = started + (start_as_laid_out(self, j, choice.pieces[j], plan) and 1 or 0)
		end
	end
	return started
end

return M
