-- SPDX-License-Identifier: MIT
--
-- sched.combine - the functions of the policies of a list as one of each kind, for the engine to call.

local M = {}

--- All of them have to agree.
function M.all_admit(admits)
	if #admits <= 1 then
		return admits[1]
	end
	return function(job, cluster)
		for _, admit in ipairs(admits) do
			local ok, why = admit(job, cluster)
			if not ok then
				return false, why
			end
		end
		return true
	end
end

--- A part's place(), and its score() where that says "score", or where there is no place().
function M.place_of(part)
	local place, score, opt = part.policy.place, part.policy.score, part.values
	local own = score and function(job, class, cluster) return score(job, class, cluster, opt, part.state) end
	local said = { place = own }
	if not place then
		return score and function() return said end
	end
	return function(job, cluster)
		local how = place(job, cluster, opt, part.state)
		if score and type(how) == "table" and how.place == "score" then
			how.place = own
		end
		return how
	end
end

--- What the first says that says anything.
function M.first_place(places)
	if #places <= 1 then
		return places[1]
	end
	return function(job, cluster)
		for _, place in ipairs(places) do
			local how = place(job, cluster)
			if how ~= nil then
				return how
			end
		end
	end
end

--- All that has to be prepared before decide(); nil: nothing.
function M.all_prepare(parts)
	local list = {}
	for _, part in ipairs(parts) do
		if part.policy.prepare then
			list[#list + 1] = part
		end
	end
	return #list > 0 and function(cluster, plan)
		for _, part in ipairs(list) do
			part.policy.prepare(cluster, plan, part.values, part.state)
		end
	end or nil
end

--- decide(), after what has to be prepared for it.
function M.prepared(prepare, decide)
	return prepare and function(cluster, plan, opt)
		prepare(cluster, plan)
		return decide(cluster, plan, opt)
	end or decide
end

--- "later", when one says so and none forbids it; with the reason of the first.
function M.all_allow(allows)
	if #allows <= 1 then
		return allows[1]
	end
	return function(job, cluster)
		local answer, reason = true, nil
		for _, allow in ipairs(allows) do
			local ok, why = allow(job, cluster)
			if not ok then
				return false, why
			elseif ok == "later" and answer == true then
				answer, reason = ok, why
			end
		end
		return answer, reason
	end
end

return M
