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

if _VERSION ~= "Lua 5.4" then
	error(("sched.test needs Lua 5.4, and this is %s: run the specs with  busted --lua=lua5.4 FILE")
		:format(_VERSION), 0)
end

local builder = require "sched.builder"
local core = require "sched_core"
local duration = require "sched.duration"
local remembered = require "sched.remembered"
local suggest = require "sched.suggest"

local M = {}

-- -- clusters --------------------------------------------------------------

--- A cluster from a few words: see doc/policy-api.md.  Errors name the caller's line.
function M.cluster(spec)
	local ok, model = pcall(builder.build, spec, core.columns, core.instant)
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

--- When users are told to expect a job (plan:expect()); nil: the policy told nothing.
function Plan:expected(id)
	local row = find(self.raw.forecasts, id)
	return row and row.start_time
end

--- Seconds after which a policy asks for the next cycle at the latest (cluster.clock); nil: none does.
function Plan:wakes()
	local t = self.raw.meta.wake_time
	return t > 0 and t - self.raw.meta.now or nil
end

local function nodes_of(plan, row)
	local names = {}
	for i, place in ipairs(row.places) do
		names[i] = plan.raw.node_names[place.node]
	end
	return names
end

-- The partitions that lend nodes to a start; nil where none does.
local function lenders_of(plan, row)
	local names = {}
	for i, lender in ipairs(row.lenders or {}) do
		names[i] = plan.raw.partition_names[lender.partition]
	end
	return #names > 0 and names or nil
end

local function booking(plan, row)
	return row and {
		partition = plan.raw.partition_names[row.partition], nodes = nodes_of(plan, row), by = row.by,
		native = row.native == 1, shape = row.shape, time_limit = row.time_limit ~= 0 and row.time_limit or nil,
		expected = row.expected ~= 0 and row.expected or nil,
		start_time = row.start_time, in_s = row.start_time and row.start_time - plan.raw.meta.now,
		lenders = lenders_of(plan, row), through = plan.raw.partition_names[row.through],
		because = row.because ~= "" and row.because or nil,
	}
end

--- The start of a job: { nodes, partition, by, native, shape, time_limit, expected, because }, and through
--- and lenders where it borrows nodes; nil if it does not start.
function Plan:start(id)
	return booking(self, find(self.raw.starts, id))
end

--- The reservation of a job: { in_s, start_time, nodes, partition, by, shape }; nil if it has none.
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

--- The actions: what the plan does beside starts and reservations: { { verb, job, number, text, by }, ... }.
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

--- What the policies remember, by group and key: { main = { window = 50 } }.  t.cluster { remembered =
--- plan:remembered(), ... } is a cluster of the next cycle.
function Plan:remembered()
	return remembered.groups(self.raw.remembered)
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

-- Of a policy that *who* (t.decide) was given; blames the caller of that.
local function load_set(who, policy, limits)
	local ok, source = pcall(source_of, policy)
	if not ok then
		error(who .. ": " .. source, 3)
	end
	local set, why, trace = core.load(source, limits.memory and { memory = limits.memory })
	if not set then
		error(with_trace(why, trace), 3)
	end
	return set
end

local decide_keys = { memory = true, budget = true, may_fail = true }

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
	local raw, why, trace = core.decide(load_set("t.decide", policy, options), cluster.snapshot, options)
	if not raw then
		error(with_trace(why, trace), 2)
	elseif why and not options.may_fail then
		error("the policy failed: " .. with_trace(why, trace), 2)
	end
	return setmetatable({ raw = raw, failure = why, failure_trace = trace }, Plan)
end

-- -- simulations -----------------------------------------------------------

local function seconds(value, what)
	local s, why = duration.seconds(value)
	if not s or s == math.huge then
		error(("%s: %s"):format(what, why or "expected a duration"), 0)
	end
	return s
end

-- The workload of a table: a cluster whose jobs come and end.  As JSON.
local function workload_json(spec)
	local times, cluster = {}, { pending = {} }
	if type(spec.jobs) ~= "table" then
		error("jobs: expected a list of jobs, got " .. type(spec.jobs), 0)
	end
	for key, value in pairs(spec) do
		if key == "pending" or key == "running" then
			error(("unknown key '%s': all jobs of a workload stand in jobs"):format(key), 0)
		elseif key ~= "jobs" then
			cluster[key] = value
		end
	end
	for i, job in ipairs(spec.jobs) do
		local what, pending = ("jobs[%d]"):format(i), {}
		if type(job) ~= "table" then
			error(("%s: expected a table { runtime = \"1h\" }, got %s"):format(what, type(job)), 0)
		elseif not job.runtime then
			error(what .. ": has no runtime", 0)
		end
		for key, value in pairs(job) do
			if key ~= "runtime" and key ~= "submit" then
				pending[key] = value
			end
		end
		cluster.pending[i] = pending
		times[i] = {
			submit = seconds(job.submit or 0, what .. ".submit"), runtime = seconds(job.runtime, what .. ".runtime"),
		}
	end
	local model = builder.build(cluster, core.columns, core.instant)
	for i, job in ipairs(model.jobs) do
		job.submit_time = model.meta.now + times[i].submit
		job.eligible_time = job.submit_time
		job.runtime_s = times[i].runtime
	end
	model.queue = {}
	return builder.json(model)
end

local Simulation = {}
Simulation.__index = Simulation

--- What became of a job: { job, user, partition, submit_s, start_s, end_s, wait_s, runtime_s,
--- walltime_s, cores, gpus, nodes, layout }; start_s is nil if it never started.
function Simulation:job(id)
	return find(self.jobs, id)
end

--- Ids of the jobs in the order in which they started; of those that started together, the one
--- submitted first comes first.
function Simulation:started()
	local rows, ids = {}, {}
	for i, row in ipairs(self.jobs) do
		if row.start_s then
			rows[#rows + 1] = { at = row.start_s, index = i, id = row.job }
		end
	end
	table.sort(rows, function(a, b)
		if a.at ~= b.at then
			return a.at < b.at
		end
		return a.index < b.index
	end)
	for i, row in ipairs(rows) do
		ids[i] = row.id
	end
	return ids
end

local simulate_keys = {
	machine = "string", procs = "number", seed = "number", estimate = "string", overrun = "boolean", outstay = "boolean",
	from = "string", to = "string", skip = "number", first = "number",
	interval = "number", latency = "number", requeue_wait = "number", each_end = "boolean", memory = "number",
	budget = "number",
}

local function check_options(options)
	for key, value in pairs(options) do
		if not simulate_keys[key] then
			error(("unknown key '%s'%s"):format(tostring(key), suggest.hint(key, simulate_keys)), 0)
		elseif type(value) ~= simulate_keys[key] then
			error(("%s: expected a %s, got %s"):format(key, simulate_keys[key], type(value)), 0)
		end
	end
	if options.latency and options.latency >= (options.interval or 0) and options.latency > 0 then
		error("latency: expected less than interval", 0)
	end
end

local function write_workload(text)
	local path = os.tmpname()
	local file = assert(io.open(path, "w"))
	assert(file:write(text) and file:close())
	return path
end

--- Run a workload under a policy: a name ("esp-gpu", "january.swf.gz"), or a table { nodes =,
--- jobs = { { runtime =, submit =, ... } } }.  Every schedule is checked.  An error in the
--- policy, or a workload that is none, is raised.
function M.simulate(policy, workload, options)
	options = options or {}
	local made, text
	local ok, why = pcall(check_options, options)
	if ok and type(workload) == "table" then
		ok, text = pcall(workload_json, workload)
		why = text
	elseif ok and type(workload) ~= "string" then
		ok, why = false, "expected the name of a workload or a table with nodes and jobs, got " .. type(workload)
	end
	if not ok then
		error("t.simulate: " .. tostring(why), 2)
	end
	local set = load_set("t.simulate", policy, options)
	if text then
		made = write_workload(text)
	end
	local metrics, jobs, trace = core.simulate(set, made or workload, options)
	if made then
		os.remove(made)
	end
	if not metrics then
		if made then	-- nobody knows the file
			jobs = jobs:gsub(made:gsub("%p", "%%%0"), "t.simulate")
		end
		error(with_trace(jobs, trace), 2)
	end
	return setmetatable({ metrics = metrics, jobs = jobs }, Simulation)
end

return M
