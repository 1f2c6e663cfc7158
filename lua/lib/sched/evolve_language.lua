-- SPDX-License-Identifier: MIT
--
-- sched.evolve_language - what expressions are made of (sched.evolve_tree), and how one becomes a policy.
--
-- Each field has its Lua, its doc, and the interval in which its value lies.  least and most are facts: guards
-- that they make needless are left out of the policy.

local parse = require "sched.evolve_parse"
local tree = require "sched.evolve_tree"

local M = {}

local HUGE <const> = math.huge

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
}, ", -job.submit_time")

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

--- The tree of a text, simplified; nil and why it is none, or none that is a finite number everywhere.
function M.read(text, language_of)
	local node, why = parse.parse(text, language_of)
	if not node then
		return nil, why
	end
	return tree.simplify(node, language_of)
end

local DIVIDE <const> = [[
-- What is divided by nothing counts as nothing.
local function divide(a, b)
	return b == 0 and 0 or a / b
end

]]

--- The policy, a Lua module.  head: lines of comment that it begins with.
function M.policy(node, language_of, name, head)
	local used, fields, predicts = tree.uses(node, language_of), {}, false
	for _, field_name in ipairs(language_of.names) do
		local f = language_of.field[field_name]
		if used.fields[field_name] then
			fields[#fields + 1] = ("\tlocal %s = %s\t-- %s\n"):format(field_name, f.lua, f.doc)
			predicts = predicts or f.predicts
		end
	end
	return table.concat {
		head or "",
		predicts and 'local predict = require "sched.predict"\n\n'
			.. "local nothing = { remember = function() end }\t-- a rank decides nothing\n\n" or "",
		("local M = { api = 1, name = %q, doc = \"found by schedlua evolve\" }\n\n"):format(name),
		used.divide and DIVIDE or "",
		"-- The largest goes first.\n",
		("function M.%s(%s)\n"):format(language_of.name, language_of.arguments), table.concat(fields),
		tree.body(node, language_of, "\t", language_of.rest), "\nend\n\nreturn M\n",
	}
end

return M
