-- SPDX-License-Identifier: MIT
--
-- What the specs share: policies of one line, run in the engine, and site files.

local t = require "sched.test"

local M = {}

--- A policy whose decide() is this text; "before" stands in front of it, outside of decide.
function M.policy(body, before)
	return { source = ("local M = { api = 1, name = 'policy' } %s function M.decide(cluster, plan, opt) %s end return M")
		:format(before or "", body) }
end

--- Statements behind this one are not run on the canned cluster, when the policy is loaded.
M.unprobed = "if cluster.name == 'probe' then return end "

M.small = t.cluster { nodes = "2x4c1g", running = { { id = 1, nodes = 1, exclusive = true, ends_in = "1h" } },
	pending = { { id = 2, nodes = 1 }, { id = 3, nodes = 2 } } }

--- What an expression is worth inside decide(), as text.
function M.value(expression, cluster, before)
	local plan = t.decide(M.policy(M.unprobed .. "slurm.log_info('%s', (" .. expression .. "))", before), cluster or M.small)
	return (plan:log()[1]:gsub("^info: ", ""))
end

--- The lines that statements log inside decide(), without their level.
function M.lines(body, cluster, before)
	local lines = t.decide(M.policy(M.unprobed .. body, before), cluster or M.small):log()
	for i, line in ipairs(lines) do
		lines[i] = line:gsub("^%a+: ", "")
	end
	return lines
end

--- The message with which a policy is refused whose decide() or file is this text.
function M.refusal(body, before, limits)
	local figures, why = t.check(M.policy(body, before), limits)
	assert(not figures, "was accepted: " .. (before or "") .. " ... " .. body)
	return why
end

--- A site file of this text, with other files beside it, all in memory.
function M.site(text, files)
	local texts = { ["site.lua"] = text }
	for name, other in pairs(files or {}) do
		texts[name] = other
	end
	return { site = "site.lua", texts = texts }
end

--- A site whose default list is *list*.
function M.site_of(list, files)
	return M.site('local sched = require "sched"\nreturn sched.site { default = {\n' .. list .. "\n} }\n", files)
end

--- The message with which such a site is refused.
function M.refused(list, files)
	local figures, why = t.check(M.site_of(list, files))
	assert(not figures, "was accepted: " .. list)
	return why
end

--- Run statements on a cluster after the probe let them pass: the plan, also of a failure.
function M.late(body, options, before)
	options = options or {}
	options.may_fail = true
	return t.decide(M.policy(M.unprobed .. body, before), M.small, options)
end

return M
