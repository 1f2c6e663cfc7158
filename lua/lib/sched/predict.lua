-- SPDX-License-Identifier: MIT
--
-- sched.predict - how long will a job run?
--
--   local predict = require "sched.predict"
--   M.options = { predictor = predict.option() }
--
--   function M.decide(cluster, plan, opt)
--     local expected = predict.open(opt.predictor, cluster, plan)
--     expected:mean(job)			seconds, 1 to its walltime
--     expected:quantile(job, 0.9)
--     expected:typical(job)
--
-- A predictor is a module { name =, doc =, sample = function(job, cluster) } whose sample is a list of
-- runtimes that are taken to be equally likely: those of like jobs, as a rule.  Mean and quantiles
-- follow from it.  A second value that sample() may return is what all of them are multiplied with.  Bundled are
--
--   limit      the walltime
--   last_two   the user's last two runs (Tsafrir, Etsion and Feitelson 2007)
--   similar    the user's last two runs of about the same size that had the same walltime; stretched if his work
--              ran for longer than expected, so that he gains nothing by jobs that only look like it
--   quantile   the user's last 40 of that name, else of about that size and walltime, else all
--   linear     an online linear model whose loss is asymmetric (Gaussier et al. 2015)
--
-- and any module of that form on the policy path, which is loaded with the policy set.  What a
-- predictor does not know - a user without a history - is the walltime.  So it is when one fails, gives
-- no number, or used the cycle's time up in an earlier cycle: said once, until the policy set changes.
--
-- No prediction ends a job, and nobody's reservation rests on one unless a policy books by it.

local M = {}

local WEEK <const> = 7 * 86400	-- stands for the walltime of a job that has none
local LEAST <const> = 10	-- seconds: shorter runs are as good as each other
local SAID <const>, AT_WORK <const> = "predict.said", "predict.at_work"

local bundled = {
	limit = require "sched.predict_limit", last_two = require "sched.predict_last_two",
	similar = require "sched.predict_similar", quantile = require "sched.predict_quantile",
	linear = require "sched.predict_linear",
}

--- The definition of an option that names a predictor.
function M.option(default)
	return { default = default or "similar", tune = { "limit", "last_two", "similar", "quantile", "linear" },
		doc = "what predicts runtimes: limit, last_two, similar, quantile, linear, or a module of the site's own" }
end

local function walltime(job)
	return math.min(job.time_limit, WEEK)
end

-- -- predictors ---------------------------------------------------------------

local Prediction = {}
Prediction.__index = Prediction

-- Say what is wrong, unless it was said before.
local function say(self, text)
	text = ("predictor %s: %s; walltimes are used instead"):format(self.name, text)
	if not self.said and self.cluster:recall(SAID) ~= text then
		slurm.log_error("%s", text)
		self.plan:remember(SAID, text)
	end
	self.said = true
end

-- The sample, stretched, within 1 to the walltime; nil where nothing is known.
local function bounded(sample, limit, stretch)
	local list = {}
	if type(sample) == "number" then
		sample = { sample }
	elseif type(sample) ~= "table" then
		return nil, ("gave a %s, expected a list of seconds"):format(type(sample))
	end
	if type(stretch) ~= "number" or not (stretch >= 0 and stretch < math.huge) then
		return nil, ("gave %s to multiply with, expected a number"):format(tostring(stretch))
	end
	for i = 1, #sample do
		local s = sample[i]
		if type(s) ~= "number" or s ~= s or s < 0 then
			return nil, ("gave %s, expected seconds"):format(tostring(s))
		end
		list[i] = math.max(1, math.min(s * stretch, limit))
	end
	return list[1] and list
end

local function sample_of(self, job)
	local limit = walltime(job)
	if self.broken then
		return { limit }
	end
	local ok, sample, stretch = pcall(self.predictor.sample, job, self.cluster)
	if not ok then
		self.broken = true
		say(self, "failed: " .. tostring(sample))
		return { limit }
	elseif sample == nil and self.own then
		return { limit }	-- it knows nothing
	end
	local list, why = bounded(sample, limit, stretch or 1)
	if why then
		say(self, why)
	end
	if list then
		list.stretch = stretch
	end
	return list or { limit }
end

local function sample(self, job)
	local id = job.id
	local list = self.known[id]
	if not list then
		list = sample_of(self, job)
		self.known[id] = list
	end
	return list
end

--- The predictor of that name: a bundled one, or a module; raises.
function M.load(name)
	if bundled[name] then
		return bundled[name]
	end
	local ok, module = pcall(require, name)
	if not ok or type(module) ~= "table" or type(module.sample) ~= "function" then
		error(("predictor '%s': %s"):format(name, ok and "it has no function sample(job, cluster)" or tostring(module)), 3)
	end
	return module
end

local function new(name, cluster, plan)
	return setmetatable({ name = name, cluster = cluster, plan = plan, known = {}, own = bundled[name],
		predictor = M.load(name) }, Prediction)
end

--- Begin to predict with the predictor of that name: once in a cycle.
function M.open(name, cluster, plan)
	local self = new(name, cluster, plan)
	if self.own then
		return self
	end
	-- What it costs nobody knows before: all is asked at once, and if that takes the cycle's time the
	-- mark is still there in the next one.
	if cluster:recall(AT_WORK) == name then
		self.broken = true
		say(self, "used up the time of a cycle")
		return self
	end
	plan:remember(AT_WORK, name)
	for job in cluster:queue() do
		sample(self, job)
	end
	plan:remember(AT_WORK, nil)
	return self
end

--- The same for a view of the past (sched.prediction_report): a table with "now", "history" and nothing else.
function M.judge(name, view, plan)
	view.recall = function() end
	return new(name, view, plan)
end

--- The same for an explanation, beside a cycle: what fails is not said, and nothing is remembered.
function M.look(name, cluster)
	local self = new(name, cluster)
	self.said = true
	return self
end

--- Seconds that a job is expected to run.
function Prediction:mean(job)
	local list, sum = sample(self, job), 0
	for i = 1, #list do
		sum = sum + list[i]
	end
	return sum / #list
end

--- Is less expected of it than it may run for all that is known?
function Prediction:is_guess(job)
	return self:mean(job) < walltime(job)
end

--- What the predictor multiplied the runtimes of like jobs with, since their user's work ran for longer than
--- expected; or 1.
function Prediction:stretch(job)
	return sample(self, job).stretch or 1
end

--- The runtime that it exceeds with a probability of 1 - q.
function Prediction:quantile(job, q)
	local list = table.move(sample(self, job), 1, #sample(self, job), 1, {})
	table.sort(list)
	return list[math.max(1, math.ceil(q * #list))]
end

--- The geometric mean of the mean and the harmonic mean: what counts where a job that may be over in
--- seconds matters as much to its user as it costs the machine if it is not.  A predictor that knows better has a
--- function typical(job, cluster) of its own.
function Prediction:typical(job)
	if self.own and self.predictor.typical then
		return self.predictor.typical(job, self.cluster)
	end
	local list, sum, inverse = sample(self, job), 0, 0
	for i = 1, #list do
		sum = sum + list[i]
		inverse = inverse + 1 / math.max(list[i], LEAST)
	end
	return math.sqrt(sum / inverse)
end

-- What the engine works out by itself (cluster.history:order()), to the last bit as it is here.
local by_engine = { similar = bundled.similar, limit = bundled.limit }

--- The options of cluster.history:order(), with what it is to go by: this predictor, and typical().
function Prediction:to_order(options)
	if by_engine[self.name] then
		options.predictor = self.name
	else
		options.typical = function(job) return self:typical(job) end
		options.stretch = function(job) return self:stretch(job) end
	end
	return options
end

-- How far a prediction is raised when the job outlives it, step by step (Tsafrir et al. 2007).
local steps = { 60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000 }

--- Seconds that a running job is expected to run in all: what was expected, or, where it has outlived
--- that, the mean of those of the sample that ran for longer, or else a step more; never beyond its
--- walltime.
function Prediction:outlived(job, ran)
	local list, sum, n, limit = sample(self, job), 0, 0, walltime(job)
	local mean = self:mean(job)
	if ran < mean then
		return mean
	end
	for i = 1, #list do
		if list[i] > ran then
			sum, n = sum + list[i], n + 1
		end
	end
	if n > 0 then
		return sum / n
	end
	for _, step in ipairs(steps) do
		if mean + step > ran then
			return math.min(mean + step, limit)
		end
	end
	return limit
end

return M
