-- SPDX-License-Identifier: MIT
--
-- What guards a set of partitions fails: who starts then.
local support = require "spec.support"
local t = require "sched.test"

local site_of, refused = support.site_of, support.refused

-- Two nodes; job 2 takes one, job 3 would take the other.
local cluster = t.cluster { nodes = "2x4c", pending = { { id = 2, user = "alice", nodes = 1, exclusive = true },
	{ id = 3, user = "bob", nodes = 1, exclusive = true } } }

-- A part of a list: a function of the set's, with this body, that fails on other clusters than the
-- canned one.
local function part(name, body)
	return ('{ name = "part", %s = function(job, cluster, opt, state) if cluster.name == "probe" then return true end %s end }')
		:format(name, body)
end

local function decide(list)
	return t.decide(site_of(list), cluster, { may_fail = true })
end

local quota = 'sched.quota { per_user = "1000 cpu-hours" }, '

describe("when admit or allow fails", function()
	it("nothing more starts in the partitions of a list with a quota, and the jobs are told why", function()
		for _, name in ipairs { "admit", "allow" } do
			local plan = decide(quota .. part(name, 'if job.user == "bob" then error("lost") end return true'))
			assert.same({ 2 }, plan:started())
			local why, text = plan:pending(3)
			assert.equal("policy", why)
			assert.matches("^held: .*lost", text)
			assert.same({}, plan:reserved())
		end
	end)

	it("a job is not started about which allow fails once its place is known", function()
		local plan = decide(quota .. [[{ name = "part", serve = function() return { n = 0 } end,
			allow = function(job, cluster, opt, state)
				state.n = state.n + 1
				if cluster.name ~= "probe" and state.n == 2 then error("lost") end
				return true
			end }]])
		assert.same({}, plan:started())
		assert.matches("^held: .*lost", select(2, plan:pending(2)))
		assert.matches("^held: .*lost", select(2, plan:pending(3)))
	end)

	it("a policy that catches that starts nothing more either", function()
		local plan = decide(quota .. part("allow", 'error("lost")') .. [[, { name = "stubborn", decide = function(cluster, plan)
			for id = 2, 3 do pcall(function() plan:start(cluster:job(id)) end) end
		end }]])
		assert.same({}, plan:started())
	end)

	it("what a part works with cannot be made, that is a failure of its own set only", function()
		local plan = t.decide(support.site([[
			local sched = require "sched"
			local function serve(_, cluster) if cluster.name ~= "probe" then error("lost") end end
			local part = { name = "part", serve = serve, allow = function() return true end }
			return sched.site { default = { sched.quota { per_user = "1000 cpu-hours" }, part }, partitions = { b = "easy" } }
			]]), t.cluster { nodes = "2x4c", partitions = { a = { nodes = "n1" }, b = { nodes = "n2" } },
				pending = { { id = 2, partition = "a" }, { id = 3, partition = "b" } } }, { may_fail = true })
		assert.same({ 3 }, plan:started())
		assert.matches("^held: .*lost", select(2, plan:pending(2)))
	end)

	it("a list without a quota is not held, unless it says so or the site does", function()
		local failing = part("allow", 'error("lost")')
		assert.not_matches("held", select(2, decide(failing):pending(2)) or "")
		assert.matches("held", select(2, decide(failing .. ', on_failure = "hold"'):pending(2)))
		assert.not_matches("held", select(2, decide(quota .. failing .. ', on_failure = "easy"'):pending(2)) or "")
	end)
end)

describe("on_failure", function()
	it("is hold or easy", function()
		assert.equal('site.lua:3: on_failure = "stop"; expected "hold" or "easy"', refused('"easy", on_failure = "stop"'))
		assert.matches('part.*on_failure: expected "hold" or "easy", got 1',
			refused('{ name = "part", admit = function() return true end, on_failure = 1 }'))
	end)

	it("of the site holds for all lists that say nothing else", function()
		local _, why = t.check(support.site('local sched = require "sched"\nreturn sched.site { on_failure = true }'))
		assert.equal('site.lua:2: on_failure = true; expected "hold" or "easy"', why)
	end)
end)
