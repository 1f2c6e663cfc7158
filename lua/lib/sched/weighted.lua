-- SPDX-License-Identifier: MIT
--
-- sched.weighted - several ranks as one sum with stated weights.
--
--   sched.weighted {
--     { 1000, sched.layers { file = "layers.conf" } },
--     { 100, sched.fair_share { half_life = "14d" } },
--     { 1, sched.ageing { per = "1d", max = 30 } },
--   }
--
-- A job's rank is the sum of weight x value; equal sums go by time of submission.

local component = require "sched.component"

local M = {}

local function read(t, fail)
	local terms = {}
	if type(t) ~= "table" then
		fail(nil, "sched.weighted(%s); expected sched.weighted { { 1000, sched.layers { ... } }, ... }", tostring(t))
	end
	for key, term in pairs(t) do
		if math.type(key) ~= "integer" or type(term) ~= "table" then
			fail(tostring(key), "sched.weighted: entry %s: expected { WEIGHT, RANK }", tostring(key))
		end
		local weight, part = term[1], term[2]
		if type(weight) ~= "number" or weight ~= weight or weight == math.huge or weight == -math.huge then
			fail(nil, "sched.weighted: entry %d: weight: expected a number, got %s", key, tostring(weight))
		elseif type(part) ~= "table" or type(part.rank) ~= "function" then
			fail(nil, "sched.weighted: entry %d: expected a table with rank, such as sched.ageing { }, got %s", key,
				type(part))
		elseif part.admit or part.allow or part.decide then
			fail(nil, "sched.weighted: entry %d: '%s' does more than rank", key, tostring(part.name))
		end
		terms[#terms + 1] = { weight = weight, part = part, name = part.name or "rank" }
	end
	if #terms == 0 then
		fail(nil, "sched.weighted: expected at least one { WEIGHT, RANK }")
	end
	return terms
end

--- sched.weighted { { weight, rank }, ... }, with the place of the call.
function M.make(path, line, t)
	local terms = read(t, component.locate(path, line))
	local part = { name = "weighted", doc = "a weighted sum of ranks" }
	for _, term in ipairs(terms) do
		part.rerank = part.rerank or term.part.rerank
	end

	function part.serve(partitions, cluster)
		local state = {}
		for i, term in ipairs(terms) do
			state[i] = term.part.serve and term.part.serve(partitions, cluster) or nil
		end
		return state
	end

	function part.rank(job, cluster, _, state)
		local sum = 0.0
		for i = 1, #terms do
			local term = terms[i]
			local value = term.part.rank(job, cluster, nil, state[i])
			sum = sum + term.weight * value
		end
		return sum, -job.submit_time
	end

	function part.explain(job, cluster, _, state)
		local lines = {}
		for i, term in ipairs(terms) do
			local value = term.part.rank(job, cluster, nil, state[i])
			local how = term.part.explain and term.part.explain(job, cluster, nil, state[i]) or tostring(value)
			lines[i] = ("%14.6g = %g x %s: %s"):format(term.weight * value, term.weight, term.name, how)
		end
		return table.concat(lines, "\n")
	end

	return part
end

return M
