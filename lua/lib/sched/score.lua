-- SPDX-License-Identifier: MIT
--
-- sched.score - orders that are known by name: what goes first is a function of a job's size n (CPUs), its
-- runtime r, its submission s and its wait w, all in seconds.
--
--   fcfs      s
--   sjf       r
--   smallest  n r
--   wfp3      -(w / r)^3 n                    Tang, Lan, Desai, Buettner 2009
--   unicef    -w / (log2(n) r)                ibid.
--   f1        log10(r) n + 870 log10(s)       Carastan-Santos and de Camargo, SC 2017
--   f2        sqrt(r) n + 25600 log10(s)
--   f3        r n + 6860000 log10(s)
--   f4        r sqrt(n) + 530000 log10(s)
--
-- The smallest goes first.  s counts from where the log begins, on a cluster from the epoch.
--
--   sched.score { "f1", estimate = "similar" }	a rank for a policy list
--   score.order(cluster, plan, opt)		for policies with the options of score.options()
--
-- The runtime is the walltime, or what a predictor expects (sched.predict).

local component = require "sched.component"
local suggest = require "sched.suggest"

local M = {}

local function since(s)
	return math.log(math.max(s, 0.1), 10)
end

M.functions = {
	fcfs = function(_, _, s) return s end,
	sjf = function(_, r) return r end,
	smallest = function(n, r) return n * r end,
	wfp3 = function(n, r, _, w) return -(w / r) ^ 3 * n end,
	unicef = function(n, r, _, w) return -(w + 1e-15) / (math.log(n + 1e-15, 2) * r) end,
	f1 = function(n, r, s) return math.log(r, 10) * n + 870 * since(s) end,
	f2 = function(n, r, s) return math.sqrt(r) * n + 25600 * since(s) end,
	f3 = function(n, r, s) return r * n + 6860000 * since(s) end,
	f4 = function(n, r, s) return r * math.sqrt(n) + 530000 * since(s) end,
}
M.functions.sjbf = M.functions.sjf

local function value_of(f, job, r, cluster)
	return f(job.cpus, math.max(1, r), job.submit_time - (cluster.origin or 0), cluster.now - job.submit_time)
end

-- -- behind the first that waits ------------------------------------------------

--- Options of a policy that lets jobs fill in, in an order of their own.
function M.options(options)
	local names = { "queue" }
	for name in pairs(M.functions) do
		names[#names + 1] = name
	end
	table.sort(names, function(a, b) return (a == "queue" and "" or a) < (b == "queue" and "" or b) end)
	options.backfill_order = { default = "queue", values = names, tune = { "queue", "sjbf", "smallest" },
		doc = "the order behind the first job that waits: sjbf the shortest first, or another of sched.score" }
	options.estimate = { default = "limit", tune = { "limit", "last_two", "similar", "quantile", "linear" },
		doc = "the runtime that this order goes by: limit, or a predictor (sched.predict)" }
	options.book = { default = "limit", values = { "limit", "estimate" },
		doc = "for how long what fills in is booked: walltimes, so that no reservation rests on a guess, or estimates" }
	return options
end

local Behind = {}
Behind.__index = Behind

--- nil: the queue's order.  Else add() the jobs behind the first that waits, and then go through each().
function M.behind(cluster, plan, opt, how)
	if opt.backfill_order == "queue" then
		return nil
	end
	local predict = require "sched.predict"
	return setmetatable({ rows = {}, cluster = cluster, f = M.functions[opt.backfill_order], how = how, book = opt.book,
		expected = predict.open(opt.estimate, cluster, plan) }, Behind)
end

function Behind:add(job)
	local r = self.expected:mean(job)
	self.rows[#self.rows + 1] = { job = job, place = #self.rows, runtime = r,
		key = value_of(self.f, job, r, self.cluster) }
end

--- job, how
function Behind:each()
	local i, rows = 0, self.rows
	table.sort(rows, function(a, b)
		if a.key ~= b.key then
			return a.key < b.key
		end
		return a.place < b.place
	end)
	return function()
		i = i + 1
		local row = rows[i]
		if not row then
			return nil
		elseif self.book == "limit" or not self.expected:is_guess(row.job) then
			return row.job, self.how
		end
		return row.job, { shape = self.how.shape, expected = row.runtime }
	end
end

-- -- a rank ------------------------------------------------------------------------

local definitions = { estimate = { default = "limit", type = "string" } }

--- sched.score { NAME, estimate = }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local name, rest = type(t) == "table" and t[1], {}
	if type(name) ~= "string" or not M.functions[name] then
		fail(tostring(name), "sched.score: unknown order '%s'%s", tostring(name), suggest.hint(tostring(name), M.functions))
	end
	for key, value in pairs(t) do
		if key ~= 1 then
			rest[key] = value
		end
	end
	local opt, f = component.read("sched.score", rest, definitions, fail), M.functions[name]
	local part = { name = "score", doc = "orders that are known by name" }
	local predict = opt.estimate ~= "limit" and require "sched.predict"
	local nothing = { remember = function() end }	-- a rank decides nothing

	function part.serve(_, cluster)
		return predict and predict.open(opt.estimate, cluster, nothing)
	end

	function part.rank(job, cluster, _, expected)
		return -value_of(f, job, expected and expected:mean(job) or math.min(job.time_limit, 7 * 86400), cluster),
			-job.submit_time
	end

	return part
end

return M
