-- SPDX-License-Identifier: MIT
--
-- What writers of policies get wrong, and what they are told.
local support = require "spec.support"
local t = require "sched.test"

local function policy(text)
	return { source = "local M = { api = 1, name = 'mine' }\n" .. text .. "\nreturn M" }
end

-- The message with which a policy is refused.
local function refusal(text)
	local figures, why = t.check(policy(text))
	assert(not figures, "was accepted: " .. text)
	return why
end

describe("a policy", function()
	it("whose function returns no answer is told the line at which it begins", function()
		local head = "^policy%.lua:3: policy 'policy': "
		assert.matches(head .. "admit returned nothing for job %d+, expected true, or false and a reason",
			refusal("\nfunction M.admit(job) if job.id < 0 then return true end end"))
		assert.matches(head .. "allow returned nothing for job %d+, expected true, false and a reason, or \"later\"",
			refusal("\nfunction M.allow(job) end"))
		assert.matches(head .. "allow returned \"latr\" for job %d+, expected true, false and a reason, or \"later\"",
			refusal("\nfunction M.allow(job) return 'latr', 'x' end"))
		assert.matches(head .. "admit returned \"not today\" for job %d+, expected true, or false and a reason",
			refusal("\nfunction M.admit(job) return 'not today' end"))
		assert.matches(head .. "rank returned nothing for job %d+, expected a number", refusal("\nfunction M.rank(job) end"))
		assert.matches(head .. "rank returned \"high\" for job %d+, expected a number",
			refusal("\nfunction M.rank(job) return 'high' end"))
		assert.matches(head .. "rank returned not%-a%-number %(0/0%) for job %d+, expected a number",
			refusal("\nfunction M.rank(job) return 0 / 0 end"))
		assert.matches(head .. "rank returned \"x\" for job %d+, expected a number",
			refusal("\nfunction M.rank(job) return 1, 'x' end"))
	end)

	it("may refuse a job by nil and a reason", function()
		local plan = t.decide(policy("function M.admit(job) return nil, 'not today' end"), support.small)
		assert.same({ "policy", "not today" }, { plan:pending(2) })
	end)

	it("with a misspelt field is refused, and told what was meant", function()
		for wrong, right in pairs { admitt = "admit", decice = "decide", option = "options" } do
			local why = refusal("function M.decide() end\nM." .. wrong .. " = function() return true end")
			assert.matches(("policy.lua:3: policy 'policy': unknown field '%s'; did you mean '%s'?"):format(wrong, right), why, 1,
				true)
		end
	end)

	it("may have fields of its own that begin with _", function()
		assert.is_nil(select(2, t.check(policy("M._score = 1 function M.decide() end"))))
	end)

	it("that reads an option which it does not declare is told its name", function()
		local why = refusal("M.options = { window = { default = 5 } }\nfunction M.decide(_, _, opt) return opt.windw end")
		assert.matches("policy.lua:3: policy 'policy' declares no option 'windw'; did you mean 'window'?", why, 1, true)
		assert.matches("policy 'policy' declares no option 'x'; there are none", refusal(
			"function M.admit(_, _, opt) return opt.x end"), 1, true)
	end)

	it("that forgets a colon is told so", function()
		assert.matches("policy.lua:2: a colon is missing: expected plan:start(...), got plan.start(...)", refusal(
			"function M.decide(cluster, plan) for job in cluster:queue() do plan.start(job) end end"), 1, true)
		assert.matches("policy.lua:2: a colon is missing: expected cluster:queue(...), got cluster.queue(...)", refusal(
			"function M.decide(cluster) for job in cluster.queue() do end end"), 1, true)
		assert.matches("a colon and parentheses are missing: expected a call such as 'for job in cluster:queue() do'", refusal(
			"function M.decide(cluster) for job in cluster.queue do end end"), 1, true)
	end)

	it("that starts a job twice sees that in the log", function()
		local plan = t.decide(policy(
			"function M.decide(cluster, plan) for job in cluster:queue(1) do plan:start(job) plan:start(job) end end"),
			support.small)
		assert.same({ 2 }, plan:started())
		assert.matches("job 2 is started twice", plan:log()[1])
	end)
end)
