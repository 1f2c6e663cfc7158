-- SPDX-License-Identifier: MIT
--
-- sched.prediction_report - how good have predictors been?
--
-- A policy that starts nothing: schedlua predict report lets it decide about a queue in which a job stands for
-- each user and predictor (its comment names that), and reads what it answers from the jobs' refusals.
-- Each of the user's newest runs is predicted once more, from nothing but what had ended when it
-- began, and compared with how long it ran.

local predict = require "sched.predict"

local M = { api = 1, name = "predict_report", doc = "judges predictors by the users' past" }

M.options = { last = { default = 100, min = 1, max = 512, doc = "of each user, so many runs at most" } }

local LOW <const>, HIGH <const> = 0.1, 0.9	-- the quantiles that 80 of 100 runs are to be between

-- History as it was at that time.
local function past_of(history, time)
	return setmetatable({}, { __index = function(_, what)
		return function(_, question)
			question.ended_by = time
			return history[what](history, question)
		end
	end })
end

-- What was known of a run before it began, as far as a run tells.
local function job_of(run)
	return { id = run.job, user = run.user, account = run.account, name = run.name, partition = run.partition,
		time_limit = run.time_limit, cpus = run.cpus, gpus = run.gpus, nodes = run.nodes, submit_time = run.start_time,
		eligible_time = run.start_time, comment = "" }
end

-- "RUNS WALLTIME ERROR BIAS SHORT WITHIN": how many, what they ran in all, sums of |predicted - ran| and predicted -
-- ran, in seconds, how many ran for longer than predicted, how many between the quantiles.
local function judge(name, user, cluster, plan, last)
	local runs, ran, off, bias, short, within = 0, 0, 0.0, 0.0, 0, 0
	for _, run in ipairs(cluster.history:runs { user = user, last = last }) do
		if run.time_limit and run.time_limit < math.huge and run.runtime > 0 then
			local view = { now = run.start_time, history = past_of(cluster.history, run.start_time) }
			local job, expected = job_of(run), predict.judge(name, view, plan)
			local miss = expected:mean(job) - run.runtime
			runs, ran, off, bias = runs + 1, ran + run.runtime, off + math.abs(miss), bias + miss
			short = short + (miss < 0 and 1 or 0)
			if expected:quantile(job, LOW) <= run.runtime and run.runtime <= expected:quantile(job, HIGH) then
				within = within + 1
			end
		end
	end
	return ("%d %d %.17g %.17g %d %d"):format(runs, ran, off, bias, short, within)
end

function M.decide(cluster, plan, opt)
	for job in cluster:queue() do
		plan:refuse(job, judge(job.comment, job.user, cluster, plan, opt.last))
	end
end

return M
