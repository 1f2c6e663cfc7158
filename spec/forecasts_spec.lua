-- SPDX-License-Identifier: MIT
-- sched.forecasts: what schedlua forecast --output wrote, for policies and for squeue.
local support = require "spec.support"
local t = require "sched.test"

local now = 1700000000

-- What a policy is told of job 2, and the plan of a site that tells users.
local function under(text, how)
	local files = {
		["forecasts.txt"] = text,
		mine = [[
			local forecasts = require "sched".forecasts "forecasts.txt"
			return { api = 1, name = "mine", doc = "d", decide = function(cluster, plan)
				local f, why = forecasts:of(cluster:job(2) or cluster:queue()(), cluster)
				slurm.log_info("%s %s %s %s", tostring(f and f.not_before or why), tostring(f and f.likely),
					tostring(f and f.not_after), tostring(f and f.confidence))
				for job in cluster:queue() do plan:reserve(job) end
				plan:close(nil, "no more")
			end }]],
	}
	local site = support.site(("return require 'sched'.site { default = { 'mine' }, forecasts = %s }"):format(how), files)
	return t.decide(site, t.cluster { nodes = "1x8c", now = now, running = { { id = 1, nodes = 1, exclusive = true,
		ends_in = "1h" } }, pending = { { id = 2 }, { id = 3 } } })
end

local function file(made)
	return ("made %d 0.8\njob 2 %d %d %d\njob 3 - - -\n"):format(made, now + 60, now + 120, now + 180)
end

local function last_line(...)
	local lines = under(...):log()
	return lines[#lines]
end

describe("sched.forecasts", function()
	it("tells policies when a job will start, and how old a forecast may be", function()
		assert.equal("info: 1700000060 1700000120 1700000180 0.8", last_line(file(now - 100), "'forecasts.txt'"))
		assert.equal("info: the forecasts are 3601 s old nil nil nil", last_line(file(now - 3601), "'forecasts.txt'"))
		assert.equal("info: no forecast was made nil nil nil", last_line("\n", "'forecasts.txt'"))
		assert.equal("info: it was not in the queue then nil nil nil", last_line("made 1700000000 0.8\n", "'forecasts.txt'"))
	end)

	-- job.forecast of job 2 under a site with these forecasts, and what else is logged
	local function field(how, text)
		local site = support.site(("return require 'sched'.site { default = { 'mine' }, forecasts = %s }"):format(how), {
			["forecasts.txt"] = text, mine = [[return { api = 1, name = "mine", doc = "d", decide = function(cluster)
				for job in cluster:queue() do
					local f = job.forecast
					slurm.log_info("%d %s", job.id, f and ("%d %d %d %g %d"):format(f.not_before, f.likely, f.not_after, f.confidence,
						f.made) or tostring(f))
					break
				end
			end }]] })
		return t.decide(site, t.cluster { nodes = "1x8c", now = now, running = { { id = 1, nodes = 1, exclusive = true,
			ends_in = "1h" } }, pending = { { id = 2 }, { id = 3 } } }):log()
	end

	it("is a field of jobs where the site has forecasts", function()
		assert.same({ ("info: 2 %d %d %d 0.8 %d"):format(now + 60, now + 120, now + 180, now - 100) },
			field("'forecasts.txt'", file(now - 100)))
		assert.same({ "info: 2 nil" }, field("nil", file(now - 100)))
		assert.same({ "info: 2 nil" }, field("{ file = 'forecasts.txt' }", ("made %d 0.8\n"):format(now)))
	end)

	it("says that none is used, and the field is nil", function()
		local old = "error: forecasts.txt: no forecast was made in the last 3600 s: none is used"
		assert.same({ old, "info: 2 nil" }, field("'forecasts.txt'", file(now - 3601)))
		assert.same({ old, "info: 2 nil" }, field("'forecasts.txt'", file(now + 61)))	-- in a replay: nobody knew it then
		local half = field("'forecasts.txt'", "made 1 0.8\njob 2 17")
		assert.matches("forecasts.txt:2: the line has no end, .*; nothing is known until it is there", half[1])
		assert.same({ old, "info: 2 nil" }, { half[2], half[3] })
		local none = field("'forecasts.txt'")
		assert.matches("there is no file 'forecasts.txt'.*; nothing is known until it is there", none[1])
		assert.same({ old, "info: 2 nil" }, { none[2], none[3] })
	end)

	it("has users told, whatever is reserved", function()
		local plan = under(file(now), "'forecasts.txt'")
		assert.same({ now + 120, { 2, 3 } }, { plan:expected(2), plan:reserved() })
		assert.is_nil(plan:expected(3))		-- it was not reached
		assert.is_nil(under(("made %d 0.8\njob 2 %d %d %d\n"):format(now - 9, now - 8, now - 1, now + 9),
			"'forecasts.txt'"):expected(2))		-- it has not come true
		assert.equal(now + 180, under(file(now), "{ file = 'forecasts.txt', show = 'not_after' }"):expected(2))
		assert.is_nil(under(file(now), "{ file = 'forecasts.txt', show = 'nothing' }"):expected(2))
		assert.is_nil(under(file(now - 700), "{ file = 'forecasts.txt', within = '10m' }"):expected(2))
	end)

	it("does not believe what was made long from now", function()
		assert.equal("info: the forecasts were made 3601 s from now nil nil nil", last_line(file(now + 3601), "'forecasts.txt'"))
		assert.is_nil(under(file(now + 3601), "'forecasts.txt'"):expected(2))
	end)

	it("has users told in all groups of partitions", function()
		local site = support.site([[return require 'sched'.site { forecasts = "forecasts.txt", default = { "mine" } }]],
			{ ["forecasts.txt"] = file(now) .. ("job 3 %d %d %d\n"):format(now, now + 9, now + 9),
			mine = [[return { api = 1, name = "mine", doc = "d", decide = function() end }]] })
		local plan = t.decide(site, t.cluster { nodes = "2x8c", now = now,
			partitions = { first = { nodes = "n1", priority_tier = 2 }, second = { nodes = "n2" } },
			pending = { { id = 2, partition = "first" }, { id = 3, partition = "second" } } })
		assert.same({ now + 120, now + 9 }, { plan:expected(2), plan:expected(3) })
	end)

	it("refuses what it does not understand, with the line", function()
		local function refused(text, how)
			local ok, why = pcall(under, text, how or "'forecasts.txt'")
			assert.is_false(ok)
			return why
		end
		assert.matches("forecasts.txt:1: expected made TIME CONFIDENCE, or job ID", refused("job 2 3\n"))
		assert.matches("forecasts.txt:2: 'soon': expected seconds", refused("made 1 0.8\njob 2 soon 3 4\n"))
		assert.matches("forecasts.txt:2: '9007199254740992': expected seconds", refused("made 1 0.8\njob 2 9007199254740992 3 4\n"))
		assert.matches("forecasts.txt:2: '%-1': expected seconds", refused("made 1 0.8\njob 2 1 3 -1\n"))
		for _, id in ipairs { "2_7", "0", "-2", "4294967296", "2abc" } do
			assert.matches("forecasts.txt:1: '.*': expected the id of a job", refused(("job %s 1 2 3\n"):format(id)))
		end
		assert.matches("forecasts.txt:1: expected made TIME CONFIDENCE", refused("made\n"))
		for _, confidence in ipairs { "nan", "1e308", "-0.8", "1" } do
			assert.matches("forecasts.txt:1: '.*': expected a confidence", refused(("made 1 %s\n"):format(confidence)))
		end
		assert.matches("option 'show' of sched.forecasts", refused(file(now), "{ file = 'forecasts.txt', show = 'x' }"))
		assert.matches("file is missing", refused(file(now), "{}"))
	end)
end)

describe("plan:expect", function()
	it("tells a time that is not past, of jobs that wait", function()
		local plan = t.decide(support.policy(support.unprobed .. [[
			for job in cluster:queue() do plan:expect(job, job.id == 2 and cluster.now - 5 or cluster.now + 7.5) end
			plan:start(cluster:job(3))]]), t.cluster { nodes = "1x8c", now = now, pending = { { id = 2 }, { id = 3 }, { id = 4 } } })
		assert.same({ now, now + 7 }, { plan:expected(2), plan:expected(4) })
		assert.is_nil(plan:expected(3))
	end)

	it("refuses what is no time", function()
		assert.matches("expected seconds since the epoch", support.refusal("plan:expect(cluster:queue()(), 0/0)"))
	end)
end)
