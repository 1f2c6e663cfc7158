-- SPDX-License-Identifier: MIT
--
-- sched.borrow - nodes of other partitions, for some jobs of a set of partitions.
--
--   partitions = {
--     regular = { sched.borrow { from = { "gpu", "test" }, through = "all", accounts = { "chem" } }, "easy" },
--   }
--
-- A job of partition regular that does not fit there may also have nodes of gpu and test.  Slurm
-- knows one partition for a job, so the site makes one that has the nodes of all of them, here
-- "all", through which such jobs are started.  Partitions that lend nodes keep their limits.
--
-- It all happens after everybody has decided, so that nobody's own jobs come second:
--
--   look     which of the jobs that wait may borrow at all
--   protect  when = "idle": the first jobs of the lenders' queues get a reservation, if they have
--            none, so that what is lent is idle for the borrower's whole walltime;
--            when = "now": what is idle at this moment is lent, though lenders' jobs that wait
--            may have to wait longer: their reservations are lifted
--   borrow   each of those jobs is started, if it fits on its own nodes and the lent ones
--   return   reservations that were made only for this are taken back, lifted ones are made anew
--
-- The driver runs each stage as a group of its own, with the queue, admission and order of the
-- set it belongs to; one that fails does not take the others with it.

local component = require "sched.component"

local M = {}

local definitions = {
	from = { default = {}, type = "table", doc = "names of the partitions that lend nodes" },
	through = { default = "", type = "string", doc = "partition with the nodes of all of them" },
	layer = { default = -1, min = -1, max = 65536, doc = "users in this layer or above may borrow; -1: any" },
	layers = { default = {}, type = "table", doc = "the sched.layers that says who is in which" },
	users = { default = {}, type = "table", doc = "names of users who may borrow" },
	accounts = { default = {}, type = "table", doc = "names of accounts whose jobs may borrow" },
	when = { default = "idle", values = { "idle", "now" },
		doc = "idle: only what no job of the lender will need meanwhile; now: what is idle at this moment" },
	protect = { default = 10, min = 1, max = 10000, doc = "idle: first jobs of each lender's queue that are not delayed" },
	window = { default = 100, min = 1, max = 100000, doc = "waiting jobs looked at in a cycle" },
}

-- -- what is asked for -----------------------------------------------------

-- { "a", "b" } -> { a = true, b = true }
local function names(list, what, fail)
	local set = {}
	for key, name in pairs(list) do
		if math.type(key) ~= "integer" or type(name) ~= "string" or name == "" then
			fail(what, "%s: expected a list of names such as { \"a\", \"b\" }", what)
		end
		set[name] = true
	end
	return set
end

local function read(t, fail)
	local given = {}
	for key, value in pairs(type(t) == "table" and t or {}) do
		given[key] = value
	end
	for _, key in ipairs { "from", "users", "accounts" } do
		given[key] = type(given[key]) == "string" and { given[key] } or given[key]
	end
	local opt = component.read("sched.borrow", type(t) == "table" and given or t, definitions, fail)
	local lenders = names(opt.from, "from", fail)
	if #opt.from == 0 or #opt.from > 16 then
		fail("from", "from: expected the names of 1 to 16 partitions that lend nodes, got %d", #opt.from)
	elseif opt.through == "" then
		fail("through", "through: expected the name of the partition that has the nodes of all of them")
	elseif lenders[opt.through] then
		fail("through", "through: partition '%s' cannot be one of those that lend nodes", opt.through)
	elseif (opt.layer >= 0) ~= (type(opt.layers.rank) == "function") then
		fail("layer", "layer: who is in which layer? expected layer = 1000, layers = sched.layers { ... }")
	end
	opt.users, opt.accounts = names(opt.users, "users", fail), names(opt.accounts, "accounts", fail)
	return opt
end

-- Why the job may borrow; nil if it may not.
local function reason(opt, job, cluster)
	if opt.users[job.user] then
		return ("user %s may borrow"):format(job.user)
	elseif opt.accounts[job.account] then
		return ("account %s may borrow"):format(job.account)
	elseif opt.layer >= 0 then
		local layer = opt.layers.rank(job, cluster)
		return layer >= opt.layer and ("layer %d may borrow, as all from %d on"):format(layer, opt.layer) or nil
	elseif next(opt.users) == nil and next(opt.accounts) == nil then
		return "everybody may borrow"
	end
	return nil
end

-- -- the stages ------------------------------------------------------------

-- What one cycle hands from stage to stage.
local function new_state()
	return { wanted = {}, protected = {}, lifted = {}, ready = {} }
end

local function look(state, opt, cluster, plan)
	for job in cluster:queue(opt.window, nil, "all") do
		local why = plan:state(job) ~= "started" and reason(opt, job, cluster)
		if why then
			state.wanted[#state.wanted + 1] = { job = job, why = why }
		end
	end
end

-- The first jobs of a lender get a reservation.
local function protect(state, opt, cluster, plan)
	for job in cluster:queue(opt.protect) do
		if plan:state(job) ~= "reserved" and plan:reserve(job, { shape = "any" }) then
			state.protected[#state.protected + 1] = job
		end
	end
end

-- The lenders' reservations are out of the way for a while.
local function lift(state, lenders, plan)
	local lends = {}
	for _, name in ipairs(lenders) do
		lends[name] = true
	end
	for _, job in ipairs(plan.reserved) do
		local _, _, shape = plan:layout(job)
		if lends[job.partition] and plan:undo(job) then
			state.lifted[#state.lifted + 1] = { job = job, shape = shape }
		end
	end
end

local function borrow(state, opt, plan)
	local lenders = {}
	for _, name in ipairs(opt.from) do
		if state.ready[name] then
			lenders[#lenders + 1] = name
		end
	end
	if #lenders == 0 then
		return
	end
	for _, wanted in ipairs(state.wanted) do
		local how = { borrow = lenders, through = opt.through, because = wanted.why }
		repeat		-- the tasks of an array, one after the other
			local started = plan:start(wanted.job, how)
		until not started or plan:state(wanted.job) == "started"
	end
end

local function give_back(state, plan)
	for _, job in ipairs(state.protected) do
		if plan:state(job) == "reserved" then
			plan:undo(job)
		end
	end
	for _, lifted in ipairs(state.lifted) do
		if plan:state(lifted.job) ~= "started" then
			plan:reserve(lifted.job, { shape = lifted.shape })
		end
	end
end

--- Called by the engine's loader as sched.borrow { ... }, with the place of the call.
function M.make(path, line, t)
	local opt = read(t, component.locate(path, line))
	local state = new_state()
	local nodes = ("nodes of %s, through %s"):format(table.concat(opt.from, ", "), opt.through)
	return {
		name = "borrow", doc = "nodes of other partitions, while nobody there needs them",
		lenders = opt.from, through = opt.through,
		explain = function(job, cluster)
			local why = reason(opt, job, cluster)
			return why and ("%s: %s"):format(why, nodes) or "it may not borrow " .. nodes
		end,
		stages = {
			{ run = function(cluster, plan)
				state = new_state()
				look(state, opt, cluster, plan)
			end },
			{ of_lenders = true, run = function(cluster, plan, stage)
				if #state.wanted == 0 then
					return
				elseif opt.when == "idle" then
					protect(state, opt, cluster, plan)
				else
					lift(state, stage.lenders, plan)
				end
				for _, name in ipairs(stage.lenders) do
					state.ready[name] = true
				end
			end },
			{ run = function(_, plan) borrow(state, opt, plan) end },
			{ run = function(_, plan)
				give_back(state, plan)
				state = new_state()
			end },
		},
	}
end

return M
