-- SPDX-License-Identifier: MIT
--
-- sched.test - specs for policies, on the real engine.
--
--   local t = require "sched.test"
--   local c = t.cluster {
--     nodes = "4x8c2g",
--     running = { { id = 1, nodes = 3, exclusive = true, ends_in = "1h" } },
--     pending = { { id = 2, nodes = 4, time_limit = "1h" }, { id = 3, nodes = 1 } },
--   }
--   local plan = t.decide("easy", c)
--   assert.same({ 3 }, plan:started())
--
-- This file runs in the interpreter of the specs; the policy runs in the engine (sched_core),
-- in its sandbox and with its limits.  Every plan is checked for feasibility.  See
-- doc/policy-api.md, "Specs".

local builder = require "sched.builder"
local core = require "sched_core"

local M = {}

-- -- clusters --------------------------------------------------------------

--- A cluster from a few words: see doc/policy-api.md.  Errors name the caller's line.
function M.cluster(spec)
	local ok, model = pcall(builder.build, spec, core.columns)
	if not ok then
		error("t.cluster: " .. tostring(model), 2)
	end
	local snapshot, why = core.snapshot(builder.json(model), "t.cluster")
	if not snapshot then
		error(why, 2)
	end
	return { snapshot = snapshot, model = model, now = model.meta.now }
end

--- A cluster from a file: a capture, or JSON.
function M.load(path)
	local snapshot, why = core.load_snapshot(path)
	if not snapshot then
		error(why, 2)
	end
	return { snapshot = snapshot }
end

-- -- policies --------------------------------------------------------------

local source_keys = {
	site = true, policy = true, path = true, texts = true, source = true, name = true, options = true,
	check_trust = true, trusted_uid = true,
}

-- "easy", "easy,window=5", "dir/mine.lua"; or { site = path }, { source = text }, ...
local function source_of(policy)
	if type(policy) == "string" then
		return { policy = policy }
	elseif type(policy) ~= "table" then
		error(("a policy is a name, a path or a table, got %s"):format(type(policy)), 0)
	end
	local source = {}
	for key, value in pairs(policy) do
		if not source_keys[key] then
			error(("unknown key '%s' of a policy; expected site, policy, source, name, options, texts or path"):format(
				tostring(key)), 0)
		end
		source[key] = value
	end
	if source.source then
		-- the text of a policy, under a name of its own
		source.name = source.name or "policy"
		source.texts = { [source.name] = source.source }
		for name, text in pairs(policy.texts or {}) do
			source.texts[name] = text
		end
		source.policy = source.name .. (source.options and "," .. source.options or "")
	end
	return source
end

local function with_trace(why, trace)
	return trace and why .. "\n" .. trace or why
end

--- Load and validate a policy or a site as the engine would: its figures { interval, budget,
--- policy, files }; nil, the error and its traceback where it is refused.
function M.check(policy, limits)
	local set, why, trace = core.load(source_of(policy), limits)
	if not set then
		return nil, why, trace
	end
	return core.figures(set)
end

-- -- plans -----------------------------------------------------------------

local Plan = {}
Plan.__index = Plan

local function find(rows, id)
	for _, row in ipairs(rows) do
		if row.job == id then
			return row
		end
	end
	return nil
end

--- Ids of the jobs that start now, in the order in which the policy started them.
function Plan:started()
	local ids = {}
	for i, row in ipairs(self.raw.starts) do
		ids[i] = row.job
	end
	return ids
end

--- Ids of the jobs with a reservation, in the order in which the policy made them.
function Plan:reserved()
	local ids = {}
	for i, row in ipairs(self.raw.reservations) do
		ids[i] = row.job
	end
	return ids
end

local function nodes_of(plan, row)
	local names = {}
	for i, place in ipairs(row.places) do
		names[i] = plan.raw.node_names[place.node]
	end
	return names
end

local function booking(plan, row)
	return row and {
		partition = plan.raw.partition_names[row.partition], nodes = nodes_of(plan, row), by = row.by,
		native = row.native == 1, time_limit = row.time_limit ~= 0 and row.time_limit or nil,
		start_time = row.start_time, in_s = row.start_time and row.start_time - plan.raw.meta.now,
	}
end

--- The start of a job: { nodes, partition, by, native, time_limit }; nil if it does not start.
function Plan:start(id)
	return booking(self, find(self.raw.starts, id))
end

--- The reservation of a job: { in_s, start_time, nodes, partition, by }; nil if it has none.
function Plan:reservation(id)
	return booking(self, find(self.raw.reservations, id))
end

--- Why a job stays pending: a word ("resources") and the text; nil if there is no reason.
function Plan:pending(id)
	local row = find(self.raw.pending, id)
	if row then
		return row.why, row.text
	end
	return nil
end

--- Cores by node of a started or reserved job; nil if it is neither.  An array: its first task.
function Plan:layout(id)
	local row = find(self.raw.starts, id) or find(self.raw.reservations, id)
	local layout = row and {}
	for _, place in ipairs(row and row.places or {}) do
		layout[self.raw.node_names[place.node]] = place.cores
	end
	return layout
end

--- What else was ordered: { { verb, job, number, text, by }, ... }.
function Plan:actions()
	return self.raw.actions
end

local levels = { [0] = "error", "info", "debug" }

--- Logged lines, "info: text".
function Plan:log()
	local lines = {}
	for i, row in ipairs(self.raw.log) do
		lines[i] = ("%s: %s"):format(levels[row.level], row.text)
	end
	return lines
end

--- Queue entries that the policy looked at.
function Plan:examined()
	return self.raw.meta.examined
end

--- True when the time budget ended the policy.
function Plan:truncated()
	return self.raw.meta.truncated == 1
end

--- What went wrong in the policy; empty when nothing did.
function Plan:errors()
	return self.failure and { self.failure } or {}
end

--- The traceback of the error, or nil.
function Plan:trace()
	return self.failure_trace
end

local decide_keys = { memory = true, budget = true, may_fail = true }

local function load_set(policy, limits)
	local ok, source = pcall(source_of, policy)
	if not ok then
		error("t.decide: " .. source, 3)
	end
	local set, why, trace = core.load(source, limits.memory and { memory = limits.memory })
	if not set then
		error(with_trace(why, trace), 3)
	end
	return set
end

--- One cycle of a policy on a cluster.  options: memory (MiB), budget (seconds), may_fail: an
--- error in the policy is then found in plan:errors(), otherwise it is raised.
function M.decide(policy, cluster, options)
	options = options or {}
	for key in pairs(options) do
		if not decide_keys[key] then
			error(("t.decide: unknown key '%s', expected memory, budget or may_fail"):format(tostring(key)), 2)
		end
	end
	if type(cluster) ~= "table" or not cluster.snapshot then
		error("t.decide: expected a cluster of t.cluster, got " .. type(cluster), 2)
	end
	local raw, why, trace = core.decide(load_set(policy, options), cluster.snapshot, options)
	if not raw then
		error(with_trace(why, trace), 2)
	elseif why and not options.may_fail then
		error("the policy failed: " .. with_trace(why, trace), 2)
	end
	return setmetatable({ raw = raw, failure = why, failure_trace = trace }, Plan)
end

return M
