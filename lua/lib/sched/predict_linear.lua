-- SPDX-License-Identifier: MIT
--
-- sched.predict_linear - an online linear model of each user's runtimes, whose loss is asymmetric.
--
-- E. Gaussier, D. Glesser, V. Reis, D. Trystram: Improving Backfilling by using Machine Learning to
-- predict Running Times.  SC 2015.
--
-- What it learns is the share of its walltime that a job uses, from the shares of the user's runs
-- before it and from its size, one run after the other, oldest first: a gradient step that is
-- normalised by the features (so that no rate has to be tuned to their scale), quadratic in what was
-- predicted too short, linear in what was too long.  A policy's state lives for a cycle and the
-- history for ever, so the model is learned anew from the user's last runs when he is asked about:
-- the same history makes the same model, bit for bit, and there is nothing to store.

local M = { name = "linear", doc = "an online linear model with an asymmetric loss" }

local RUNS <const> = 64		-- that it learns from
local LATELY <const> = 16
local RATE <const> = 0.3
local TOO_LONG <const> = 0.1	-- the slope of the loss of predicting too long
local FEATURES <const> = 5

-- Of the next job: the shares that the last run, the last two and all before it used, what the last one's
-- runtime would be of this walltime, and the size.
local function features(seen, limit, cpus)
	local last = math.min(seen.runtime / limit, 1)
	return { seen.last, (seen.last + seen.before) / 2, seen.sum / seen.count, last, math.log(cpus + 1, 2) / 64 }
end

local function product(w, x)
	local sum = 0.0
	for i = 1, FEATURES do
		sum = sum + w[i] * x[i]
	end
	return sum
end

local function learn(w, x, share)
	local miss, norm = share - product(w, x), 0.0
	for i = 1, FEATURES do
		norm = norm + x[i] * x[i]
	end
	local step = RATE * (miss > 0 and miss or math.max(miss, -TOO_LONG)) / norm
	for i = 1, FEATURES do
		w[i] = w[i] + step * x[i]
	end
	return miss
end

-- Learn from the runs, the newest of which is the first: weights, what they missed, and what is known
-- then; nil without runs.
local function model_of(runs)
	local w, missed, seen = { 0.2, 0.3, 0.3, 0.2, 0.0 }, {}, nil
	for i = #runs, 1, -1 do
		local run = runs[i]
		local limit = run.time_limit
		if limit and limit < math.huge then
			local share = math.min(run.runtime / limit, 1)
			if seen then
				missed[#missed + 1] = learn(w, features(seen, limit, run.cpus), share)
				seen.before, seen.last, seen.sum, seen.count = seen.last, share, seen.sum + share, seen.count + 1
			else
				seen = { before = share, last = share, sum = share, count = 1 }
			end
			seen.runtime = run.runtime
		end
	end
	return w, missed, seen
end

function M.sample(job, cluster)
	local limit = job.time_limit
	local w, missed, seen = model_of(cluster.history:runs { user = job.user or "", last = RUNS })
	if not seen or limit == math.huge then
		return nil
	end
	local share, list, bias = product(w, features(seen, limit, job.cpus)), {}, 0
	local first = math.max(1, #missed - LATELY + 1)	-- its spread is what it missed lately
	for i = first, #missed do
		bias = bias + missed[i] / (#missed - first + 1)
	end
	for i = first, #missed do
		list[#list + 1] = math.max(1, (share + missed[i] - bias) * limit)
	end
	return list[1] and list or { math.max(1, share * limit) }
end

return M
