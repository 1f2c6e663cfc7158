-- SPDX-License-Identifier: MIT
-- What placement knows holds under each bundled policy, however it chooses: a table of scenes and policies.
local t = require "sched.test"

local policies = { "fcfs", "easy", "conservative", "critical", "predictive", "ip_window", "ip_window,backend=none", "auction" }

local function node(name, more)
	local row = { name = name, cores = 4 }
	for key, value in pairs(more or {}) do
		row[key] = value
	end
	return row
end

local function job(id, more)
	local row = { id = id, nodes = 1, time_limit = "1h", priority = 100 - id }
	for key, value in pairs(more or {}) do
		row[key] = value
	end
	return row
end

-- Of job 1: the names of its nodes.
local function nodes_of(policy, c, id)
	local names = {}
	for name in pairs(t.decide(policy, t.cluster(c)):layout(id or 1) or {}) do
		names[#names + 1] = name
	end
	table.sort(names)
	return table.concat(names, " ")
end

local scenes = {
	["a node of the lowest weight is taken first"] = function(policy)
		assert.equal("b1", nodes_of(policy, { nodes = { node("a1", { weight = 100 }), node("b1", { weight = 1 }) },
			pending = { job(1, { exclusive = true }) } }))
	end,
	["that holds beside other jobs"] = function(policy)
		local c = { nodes = { node("a1", { weight = 100 }), node("a2", { weight = 50 }), node("b1", { weight = 1 }),
			node("b2", { weight = 1 }) }, pending = { job(1, { exclusive = true }), job(2, { exclusive = true }) } }
		assert.equal("b1 b2", nodes_of(policy, c, 1) .. " " .. nodes_of(policy, c, 2))
	end,
	["a job stays below one switch where it can"] = function(policy)
		assert.equal("b1 b2", nodes_of(policy, { nodes = { node("a1", { topology = "top.s1" }),
			node("b1", { topology = "top.s2" }), node("b2", { topology = "top.s2" }) },
			pending = { job(1, { nodes = 2, exclusive = true }) } }))
	end,
	["a job whose second component is narrower starts"] = function(policy)
		local plan = t.decide(policy, t.cluster { nodes = { node("a1", { gpus = 1 }), node("a2") }, pending = {
			job(1, { het_job_id = 1, het_offset = 0, exclusive = true }),
			job(2, { het_job_id = 1, het_offset = 1, exclusive = true, gpus_per_node = 1 }) } })
		assert.same({ 1, 2 }, plan:started())
	end,
	["nodes with the preferred feature are taken where there are enough"] = function(policy)
		assert.equal("b1", nodes_of(policy, { nodes = { node("a1"), node("b1", { features = "fast" }) },
			pending = { job(1, { prefer = "fast" }) } }))
	end,
}

for what, try in pairs(scenes) do
	describe(what .. ":", function()
		for _, policy in ipairs(policies) do
			it(policy, function()
				try(policy)
			end)
		end
	end)
end
