-- SPDX-License-Identifier: MIT
--
-- What schedlua explain prints of the order (t/tool/test_explain.sh has the tool itself): here what a
-- part says of itself, through the functions that the explanation calls.
local s = require "spec.support"
local t = require "sched.test"

local say = [[
	local sched = require "sched"
	local function say(part)
		return function(job, cluster, opt, state) slurm.log_info("%s", part.explain(job, cluster, opt, state)) return true end
	end
]]

describe("the explanation of a job", function()
	it("says what only Slurm's select can place", function()
		local cluster = t.cluster { nodes = "2x4c", pending = {
			{ id = 2, nodes = 2, asks = { "BURST_BUFFER" }, features = "a*1&b*3" }, { id = 3 } } }
		assert.same({ "  only Slurm's select can place it: --constraint with counts behind '|' or outside of brackets, or with " ..
			"parentheses in them; --bb\n", "nothing" }, s.lines([[
			for job in cluster:queue() do
				local text = explain.explain({ name = "mine", parts = {} }, cluster, job.id)
				slurm.log_info("%s", text:match("  only Slurm's select .-\n") or "nothing")
			end]], cluster, 'local explain = require "sched.explain"'))
	end)
end)

describe("the parts of a list", function()
	it("explain what they computed", function()
		local site = say .. [[
			local quota = sched.quota { per_user = "100 cpu-hours", on_exceed = "demote" }
			local order = sched.weighted { { 10, sched.ageing { per = "1h", max = 5 } }, { 1, sched.first_job { most = "9 cpu-hours" } } }
			return sched.site { default = {
				{ name = "q", serve = quota.serve, admit = say(quota) }, { name = "w", serve = order.serve, admit = say(order) }, "easy" } }]]
		local plan = t.decide({ site = "site.lua", texts = { ["site.lua"] = site } }, t.cluster { nodes = "1x64c",
			running = { { id = 1, user = "alice", cores = 9, nodes = 1, ends_in = "10h" } },
			pending = { { id = 2, user = "alice", tasks = 2, time_limit = "10h", submitted_ago = "90m" } } })
		assert.same({
			"info: quota: user alice holds 90 of 100 cpu-hours, asks for 20 (the site file); over it: goes after all others",
			"info:             15 = 10 x ageing: 1.500 for 1h 30m waited, one for each 1h, at most 5\n" ..
			"             0 = 1 x first_job: 0: asks for 20, more than 9 cpu-hours",
		}, plan:log())
	end)

	it("say nothing of the account of a job without one", function()
		local site = say .. [[
			local quota = sched.quota { per_user = "9 cpu-hours", limits = "limits.conf" }
			return sched.site { default = { { name = "q", serve = quota.serve, admit = say(quota) }, "easy" } }]]
		local plan = t.decide({ site = "site.lua", texts = { ["site.lua"] = site, ["limits.conf"] = "account math 5 cpu-hours\n" } },
			t.cluster { nodes = "1x8c", pending = { { id = 2, user = "alice", tasks = 1, time_limit = "1h" } } })
		assert.same({ "info: quota: user alice holds 0 of 9 cpu-hours, asks for 1 (the site file); within it" }, plan:log())
	end)
end)
