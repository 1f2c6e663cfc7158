-- SPDX-License-Identifier: MIT
--
-- sched.evolve_language - what programs are made of (sched.evolve_tree), and how one becomes a policy.
--
-- A program is a list of one or two expressions: a rank or a score, and, of a rank, how far away a reservation may be
-- ("-cpus * limit within 7200"; without it the first job that does not fit always gets one, as under easy).
--
-- Each field has its Lua, its doc, and the interval in which its value lies.  least and most are facts: guards
-- that they make needless are left out of the policy.

local parse = require "sched.evolve_parse"
local tree = require "sched.evolve_tree"

local M = {}

local HUGE <const> = math.huge
local LONGEST <const> = 90	-- line with a comment behind it

local function language(name, arguments, fields, seeds, rest)
	local l = { name = name, arguments = arguments, field = {}, names = {}, seeds = seeds, rest = rest or "" }
	for i, f in ipairs(fields) do
		l.field[f.name], l.names[i] = f, f.name
		f.most = f.most or HUGE
	end
	return l
end

local PREDICTED <const> = [[predict.open("similar", cluster, nothing)]]

M.rank = language("rank", "job, cluster", {
	{ name = "cpus", least = 1, lua = "job.cpus", doc = "CPUs that the job asks for" },
	{ name = "limit", least = 1, most = 604800, lua = "math.min(math.max(1, job.time_limit), 604800)",
		doc = "its walltime, s, at most a week" },
	{ name = "typical", least = 1, most = 604800, lua = PREDICTED .. ":typical(job)", predicts = true,
		doc = "runtime that its user's last runs like it suggest, s (sched.predict, similar)" },
	{ name = "mean", least = 1, most = 604800, lua = PREDICTED .. ":mean(job)", predicts = true, doc = "their mean, s" },
	{ name = "waited", least = 0, lua = "cluster.now - job.submit_time", doc = "how long it has waited, s" },
	{ name = "gpus", least = 0, lua = "job.gpus", doc = "GPUs that it asks for" },
	{ name = "queued", least = 0, lua = "cluster.totals.queued", doc = "jobs in the queue" },
	{ name = "idle", least = 0, most = 1, lua = "cluster.totals.free_cores / math.max(1, cluster.totals.cores)",
		doc = "part of the cores that is idle" },
	{ name = "held", least = 0, lua = [[(cluster.usage:holding { by = "user", unit = "cpu" }[job.user] or 0)]],
		doc = "CPUs that its user's running jobs have" },
	{ name = "backlog", least = 0,
		lua = [[(cluster.usage:queued { by = "partition", unit = "cpu" }[job.partition] or 0)]] ..
			" / math.max(1, cluster.totals.cores)",
		doc = "seconds for which the queued jobs of its partition would fill all cores" },
}, {
	"waited",
	"-limit",
	"-cpus * limit",
	"-typical",
	"-cpus * mean",
	"(waited / limit) ^ 3 * cpus",
	"waited / (log(cpus + 1) * limit)",
	"(waited + limit) / limit",
	"-cpus ^ 1.2 * limit ^ 1.7 / (1 + waited / 14400) ^ 2.4",
	"-cpus ^ 1.2 * typical ^ 1.7 / (1 + waited / 14400) ^ 2.4",
	"-cpus * limit / (1 + waited / 14400) ^ 2",
	"waited > 86400 and waited or -cpus * limit / (1 + waited / 14400) ^ 2",
	"waited > 2 * backlog and waited or -cpus * limit / (1 + waited / 14400) ^ 2",
	"-cpus * limit / (1 + waited / 14400) ^ 2 within waited > 400000 and 1000000000 or 7200",
	"-cpus ^ 1.2 * typical ^ 1.7 / (1 + waited / 14400) ^ 2.4 within waited > 400000 and 1000000000 or 7200",
}, ", -job.submit_time")
M.rank.may_reserve_within = true

local function bundled(name)
	return { name = name, least = 0, most = 100, lua = ('class.score "%s"'):format(name),
		doc = "the bundled score of that name, 0 to 100" }
end

M.score = language("score", "job, class", {
	bundled "fgd", bundled "gpu_packing", bundled "gpu_clustering", bundled "least_left", bundled "dot_product",
	{ name = "gpus", least = 0, lua = "class.gpus", doc = "GPUs of the node" },
	{ name = "free_gpus", least = 0, lua = "class.free_gpus", doc = "idle ones" },
	{ name = "left_gpus", least = 0, lua = "class.left_gpus", doc = "those that the job leaves idle" },
	{ name = "cores", least = 1, lua = "class.cores", doc = "cores of the node" },
	{ name = "free_cores", least = 0, lua = "class.free_cores", doc = "free ones" },
	{ name = "left_cores", least = 0, lua = "class.free_cores - class.takes_cores",
		doc = "those that the job leaves free" },
	{ name = "nodes", least = 1, lua = "class.nodes", doc = "how many nodes have the same free" },
}, {
	"fgd", "gpu_packing", "gpu_clustering", "least_left", "dot_product", "-left_gpus", "-left_cores",
	"100 * fgd + least_left", "100 * fgd + gpu_packing", "fgd - left_cores / cores",
})

-- -- programs --------------------------------------------------------------------

--- The text of a program.
function M.text(program, language_of)
	return tree.text(program[1], language_of)
		.. (program[2] and " within " .. tree.text(program[2], language_of) or "")
end

--- Its length: operators, fields and constants.
function M.size(program)
	return tree.size(program[1]) + (program[2] and 1 + tree.size(program[2]) or 0)
end

local function simplify(program, language_of)
	return { tree.simplify(program[1], language_of), program[2] and tree.simplify(program[2], language_of) }
end
M.simplify = simplify

--- The program of a text, simplified; nil and why it is none.
function M.read(text, language_of)
	local first, second = text, nil
	if language_of.may_reserve_within then
		first, second = text:match("^(.-)%f[%w_]within%f[^%w_](.*)$")
	end
	local program, why = {}
	program[1], why = parse.parse(first or text, language_of)
	if program[1] and second then
		program[2], why = parse.parse(second, language_of)
	end
	if not program[1] or second and not program[2] then
		return nil, why
	end
	return simplify(program, language_of)
end

--- A random one.
function M.random(language_of, random)
	return { tree.random(language_of, random) }
end

local function random_within(random)
	local far = { "<", tree.const(10 ^ (4 + 2 * random())), { "field", name = "waited" } }
	return { "if", far, tree.const(1e9), tree.const(10 ^ (2.5 + 2.5 * random())) }
end

--- A changed one.
function M.mutate(program, language_of, random)
	local x = random()
	if not language_of.may_reserve_within or x < (program[2] and 0.6 or 0.9) then
		return { tree.mutate(program[1], language_of, random), program[2] }
	elseif not program[2] then
		return { program[1], random_within(random) }
	end
	return { program[1], x < 0.95 and tree.mutate(program[2], language_of, random) or nil }
end

--- One of two: a part of b in a, and how far away reservations may be of either.
function M.cross(a, b, random)
	return { tree.cross(a[1], b[1], random), random() < 0.5 and a[2] or b[2] }
end

-- -- policies ------------------------------------------------------------------------

local DIVIDE <const> = [[
-- What is divided by nothing counts as nothing.
local function divide(a, b)
	return b == 0 and 0 or a / b
end

]]

local DECIDE <const> = [[

-- Jobs start in that order.  The first that does not fit gets a reservation if it can start within so many seconds;
-- the others fill in, without delaying it.
function M.decide(cluster, plan)
	local queue = cluster:queue(cluster.source ~= "sim" and "share" or nil)
	for job in queue do
		if not plan:start(job) then
			local at = plan:earliest(job)
			if at and at - cluster.now <= within(job, cluster) then
				plan:reserve(job)
			end
			if at then
				break
			end
		end
	end
	plan:start_rest(queue)
	plan:settle("full")
end
]]

-- The lines of a function that returns an expression; its fields are local variables.
local function body(node, language_of, rest)
	local used, lines = tree.uses(node, language_of), {}
	for _, name in ipairs(language_of.names) do
		local f = language_of.field[name]
		if used.fields[name] then
			local line = ("\tlocal %s = %s"):format(name, f.lua)
			lines[#lines + 1] = #line + #f.doc < LONGEST and ("%s\t-- %s\n"):format(line, f.doc)
				or ("\t-- %s\n%s\n"):format(f.doc, line)
		end
	end
	lines[#lines + 1] = tree.body(node, language_of, "\t", rest)
	return table.concat(lines) .. "\nend\n"
end

--- The policy, a Lua module.  head: lines of comment that it begins with.
function M.policy(program, language_of, name, head)
	local used = tree.uses(program[1], language_of)
	if program[2] then
		tree.uses(program[2], language_of, used)
	end
	local predicts = false
	for _, field in ipairs(language_of.names) do
		predicts = predicts or used.fields[field] and language_of.field[field].predicts
	end
	return table.concat {
		head or "",
		predicts and 'local predict = require "sched.predict"\n\n'
			.. "local nothing = { remember = function() end }\t-- a rank decides nothing\n\n" or "",
		("local M = { api = 1, name = %q, doc = \"found by schedlua evolve\" }\n\n"):format(name),
		used.divide and DIVIDE or "",
		"-- The largest goes first.\n",
		("function M.%s(%s)\n"):format(language_of.name, language_of.arguments),
		body(program[1], language_of, language_of.rest),
		program[2] and "\n-- How far away a reservation may be.\nlocal function within(job, cluster)\n"
			.. body(program[2], language_of, "") .. DECIDE or "",
		"\nreturn M\n",
	}
end

return M
