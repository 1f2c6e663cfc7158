-- SPDX-License-Identifier: MIT
--
-- What a hostile policy does, drawn from a seed: the driver (attack.c) puts a line in front of
-- this text that says
--
--   local chunk = { seed = 17, stage = "allow", focus = "plan.start", objects = "plan.reserve" }
--
-- and this module does the rest: at the stage that is meant it calls the function in focus
-- with every kind of value in every position, and then whatever comes.  In decide() it passes what
-- calls returned to the function behind "objects" (objects.lua).  attack.names are the
-- functions that the state has, attack.call(name, ...) calls one and notes that it was reached.
-- The kinds of values are a table below: one line makes a new one.

-- luacheck: read globals attack chunk

local objects = require "objects"

local M = { warn = nil }
local pool, stale, extra = {}, {}, {}
local depth, loops, done = 0, 0, {}
local probed, cycles, focused, passed = true, 0, false, false

-- -- random numbers (Knuth's MMIX) ------------------------------------------

local state = chunk.seed

local function below(n)
	state = state * 6364136223846793005 + 1442695040888963407
	return (state >> 33) % n
end

local late = below(2)		-- objects are passed in the first cycle, or with those of the first in the second

local function one_of(list)
	return list[1 + below(#list)]
end

-- -- kinds of values -----------------------------------------------------------

local any		-- a value of any kind
local anything		-- a call of anything

local function looping()
	loops = loops + 1
	while loops == 300 do end	-- once, and not in every chunk: it takes all of the budget
	return loops
end

local function raising()
	error(any(), below(4))
end

local function reentering(...)
	if depth < 4 then
		anything()
	end
	return ..., any()
end

local function with(fields)
	return function()
		return setmetatable({ 1, 2, 3 }, fields)
	end
end

-- A table whose length is anybody's guess: integers at powers of two.
local function sparse()
	local t = {}
	for k = 61, 0, -1 do
		t[1 << k] = any()
	end
	return t
end

local function list_of(n, v)
	local t = {}
	for i = 1, n do
		t[i] = v
	end
	return t
end

local function nested(n)
	local t = {}
	for _ = 1, n do
		t = { t }
	end
	return t
end

local function keyed(k, v)
	local t = {}
	pcall(rawset, t, k, v)		-- not all are keys
	return t
end

local function cyclic()
	local t = { 1 }
	t.t, t[2] = t, t
	return t
end

-- Keys that functions take tables of, with values that they do not expect.
local option_names = { "place", "layout", "shape", "bid", "borrow", "through", "because", "max",
	"jobs", "total", "kinds",
	"slurm", "contiguous", "blocks", "spread", "elastic", "topology", "gpus", "time", "terms", "lo", "hi", "name", "lb",
	"ub", "integer", "obj", "sense", "time_limit", "gap", "max_nodes", "memory_mb", "backend", "relax", "by", "unit",
	"since", "until_", "partition", "without", "half_life", "priority", "rows", "no_walltime", "from", "to", "default",
	"sets", "policy", "options", "interval", "budget" }

local function options()
	local t = {}
	for _ = 1, 1 + below(3) do
		t[one_of(option_names)] = any()
	end
	return t
end

local function of_pool(name)
	return function()
		return pool[name]
	end
end

-- Made once: else most of a chunk's time would go into them.
local long, pattern = ("x"):rep(1 << 16), ("(.-)*%f[^x]"):rep(40)

local kinds = {
	function() return nil end, function() return true end, function() return false end,
	function() return 0 end, function() return 1 end, function() return -1 end, function() return 7 end,
	function() return math.maxinteger end, function() return math.mininteger end,
	function() return 2 ^ 31 end, function() return 1 << 32 end,
	function() return 0 / 0 end, function() return math.huge end, function() return -math.huge end,
	function() return -0.0 end, function() return 1e308 end, function() return 0.5 end,
	function() return "" end, function() return "a\0b" end, function() return "%s%d%99d%q%5.3s%a" end,
	function() return "\xff\xc0\x80\xed\xa0\x80" end, function() return long end,
	function() return pattern end, function() return "\27[31m\u{202e}" end,
	function() return "../../etc/passwd" end, function() return "7" end, function() return "n0" end,
	function() return "batch" end, function() return "user" end, function() return "max" end,
	function() return {} end, cyclic, sparse, options, function() return nested(250) end,
	function() return list_of(1000, any()) end, function() return { n = math.maxinteger } end,
	function() return { any(), any(), any() } end, function() return keyed(any(), any()) end,
	with { __index = raising }, with { __index = looping }, with { __index = reentering, __newindex = reentering },
	with { __len = raising }, with { __len = function() return any() end }, with { __len = looping },
	with { __pairs = looping }, with { __pairs = function() return any(), any(), any() end },
	with { __call = reentering, __eq = reentering, __lt = reentering, __le = raising, __concat = raising },
	with { __tostring = function() return any() end }, with { __tostring = raising }, with { __name = 7 },
	with { __name = "job", __metatable = 1 }, with { __close = reentering, __unm = reentering, __add = raising },
	function() return raising end, function() return reentering end, function() return looping end,
	function() return attack.functions[one_of(attack.names)] end,
	function() return function(...) return ... end end,
	of_pool "cluster", of_pool "plan", of_pool "job", of_pool "other", of_pool "running", of_pool "node",
	of_pool "partition", of_pool "list", of_pool "usage", of_pool "bid", of_pool "bids", of_pool "jobs", of_pool "walk",
	of_pool "model", of_pool "class", of_pool "held", of_pool "file", of_pool "totals", of_pool "warn",
	function()
		return stale[one_of { "cluster", "plan", "job", "node", "partition", "list", "bid", "bids", "walk", "held", "class" }]
	end,
	function() return extra[1 + below(#extra + 1)] end,
}

function any()
	if depth > 6 then
		return 1
	end
	depth = depth + 1
	local v = one_of(kinds)()
	depth = depth - 1
	return v
end

-- -- operators ------------------------------------------------------------------

local operators = {
	function(a, b) return a == b end, function(a, b) return a < b end, function(a, b) return a <= b end,
	function(a, b) return a .. b end, function(a, b) return a + b end, function(a, b) return a // b end,
	function(a, b) return a % b end, function(a, b) return a << b end, function(a) return #a end,
	function(a) return -a end, function(a) return ~a end, function(a, b) return a[b] end,
	function(a, b) a[b] = b end, function(a, b) return a(b) end, function(a, b) return a(a, b) end,
	function(a, b) return a[b](a, b) end, function(a) return tostring(a) end,
	function(a, b) local _ <close> = a return b end,
	function(a) for k, v in pairs(a) do if below(50) == 0 then return k, v end end end,
	function(a) for i, v in ipairs(a) do if below(50) == 0 then return i, v end end end,
	function(a, b) for v in a, b do if below(50) == 0 then return v end end end,
	function(a) for i = a, a + 3 do extra[1] = i if below(50) == 0 then return end end end,
	function(a, b) return a:format(b) end, function(a, b) return getmetatable(a), rawequal(a, b) end,
}

-- -- attacks --------------------------------------------------------------------

-- What a call gave may be of use for the next.
local function keep(ok, ...)
	local v = ...
	if ok and (type(v) == "function" or type(v) == "userdata") then
		extra[1 + below(24)] = v
	end
	return ok, ...
end

local function call(name, ...)
	depth = depth + 1
	keep(pcall(attack.call, name, ...))
	depth = depth - 1
end

local function call_protected(name, ...)
	return pcall(attack.call, name, ...)
end

-- What a method expects as its first argument, where its name says so.
local function self_of(name)
	return pool[name:match("^(%w+)%.")]
end

objects.self_of = self_of

function anything()
	local what = below(8)
	if what < 4 then
		local name = one_of(attack.names)
		call(name, below(4) > 0 and self_of(name) or any(), any(), any(), any())
	elseif what < 6 then
		keep(pcall(one_of(operators), any(), any()))
	elseif what == 6 and pool.walk then
		keep(pcall(pool.walk))
	else
		local x = below(4) > 0 and pool or stale
		keep(pcall(function()
			if below(2) == 0 then
				return x.plan:start(x.other, options())
			end
			return x.cluster:bids(x.jobs, options())
		end))
	end
end

-- The function in focus: each kind in each position, in an order of its own.
local function focus(name)
	call(name)
	call(name, table.unpack(list_of(200, any())))
	local from = below(#kinds)
	for position = 1, 4 do
		for i = 1, #kinds do
			local args = { self_of(name) or any(), any(), any(), any() }
			args[position] = kinds[1 + (from + i * 7) % #kinds]()
			call(name, table.unpack(args, 1, position + below(5 - position)))
		end
	end
end

local function look_around(cluster, plan, job)
	pool.cluster, pool.plan = cluster or pool.cluster, plan or pool.plan
	cluster = pool.cluster
	if not cluster then
		return
	end
	pool.jobs = {}
	for other in cluster:queue(6) do
		pool.jobs[#pool.jobs + 1] = other
	end
	pool.job = job or pool.jobs[1] or cluster.running[1]
	pool.other, pool.running = pool.jobs[#pool.jobs], cluster.running[1]
	pool.node, pool.partition, pool.list = cluster.nodes[1], cluster.partitions[1], cluster.nodes
	pool.usage, pool.totals, pool.walk = cluster.usage, cluster.totals, cluster:queue()
	pool.bids = cluster:bids(pool.jobs, { max = 3, elastic = below(2) == 0 })
	pool.bid = pool.bids[1]
end

local function make_objects()
	pool.model = require("sched.mip").model { sense = "max" }
	pool.model:var { ub = 1, integer = true, obj = 1 }
	pool.file, pool.warn = M.file, M.warn
	keep(pcall(function()
		pool.held = attack.functions.held { by = "user", unit = "cpu",
			partitions = { pool.partition.name } }
	end))
end

--- A new cycle: what there was is old.
function M.begin(cluster)
	if pool.cluster then
		stale, pool = pool, {}
	end
	done, probed, cycles = {}, cluster.name == "probe", cycles + 1
	depth = 0		-- a call that ran out of time did not count down
	objects.age()
	pool.cluster = cluster
end

--- A stage is reached, with what the policy was given there.
function M.at(stage, cluster, plan, job)
	attack.reached(stage)
	if depth > 0 or (done[stage] or 0) > 8 then
		return
	end
	done[stage] = (done[stage] or 0) + 1
	depth = 1		-- what these ask (admit, rank) does not attack by itself
	pcall(look_around, cluster, plan, job)
	pcall(make_objects)
	for kind, v in pairs(stage == "decide" and pool or {}) do
		objects.keep(kind, below, true, v)
	end
	if stage == "decide" and not probed and not passed and cycles > late then
		objects.pass(call_protected, chunk.objects, self_of(chunk.objects), attack.names, below)
		passed = true
	end
	depth = 0
	if stage == chunk.stage and done[stage] == 1 then
		-- once in a state: in its first cycle, or among what is left of earlier ones
		if not focused and (cycles == 0 or probed or cycles > chunk.seed % 3 or stage == "explain") then
			focused = true
			focus(chunk.focus)
		end
		for _ = 1, 40 do
			anything()
		end
	elseif stage == chunk.stage then
		anything()
	end
end

--- Nodes that are alike, of which a score is asked: good until it is given.
function M.class(class)
	pool.class, extra[1] = class, class.score
end

--- What a function of the policy returns: mostly something of use, and always while the set is
--- tried, which would not be loaded.
function M.answer(v)
	if not probed and chunk.seed % 4 == 0 and below(20) == 0 then
		return any(), any()
	end
	return v
end

M.below = below

return M
