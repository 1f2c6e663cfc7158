-- SPDX-License-Identifier: MIT
--
-- What clocks show at the site: cluster.clock, sched.when, holidays, and when the engine asks for the next cycle.
local support = require "spec.support"
local t = require "sched.test"

local BERLIN <const> = " Europe/Berlin"

-- A site in Berlin whose policy logs what an expression is worth.
local function site_with(expression, more, files)
	return support.site(([[
		local sched = require "sched"
		return sched.site { time_zone = "Europe/Berlin", %s default = { { name = "look", decide = function(cluster)
			local clock = cluster.clock
			if cluster.name == "probe" then return end
			slurm.log_info("%%s", tostring(%s))
		end } } }]]):format(more or "", expression), files)
end

local function at(time, expression, more, files)
	local c = t.cluster { nodes = "1x1c", now = time .. BERLIN, pending = { { id = 1 } } }
	return (t.decide(site_with(expression, more, files), c):log()[1]:gsub("^info: ", ""))
end

local function refused(text, files)
	local figures, why = t.check(support.site(text, files))
	assert(not figures, "was accepted: " .. text)
	return why
end

local holidays = { ["holidays.conf"] = "# Berlin\n2026-12-25 Christmas\n2026-12-24..2027-01-06 lecture-free\n2026-05-01\n" }

describe("cluster.clock", function()
	it("shows the hour, the weekday and the date of the site's zone", function()
		assert.equal("12 5 4 2026-03-12 12:05 2026 3 12", at("2026-03-12T12:05", [[("%d %d %d %s %s %d %d %d"):format(clock.hour,
			clock.minute, clock.weekday, clock.date, clock.time, clock.year, clock.month, clock.day)]]))
		assert.equal("false", at("2026-03-12T12:05", "clock.weekend"))
		assert.equal("true", at("2026-03-14T12:05", "clock.weekend"))
	end)

	it("knows whether it is between two times of day, also over midnight", function()
		local day, night = 'clock:between("8:00", "18:00")', 'clock:between("22:00", "6:00")'
		assert.equal("false", at("2026-03-12T07:59", day))
		assert.equal("true", at("2026-03-12T08:00", day))
		assert.equal("true", at("2026-03-12T17:59", day))
		assert.equal("false", at("2026-03-12T18:00", day))
		assert.equal("true", at("2026-03-12T23:00", night))
		assert.equal("true", at("2026-03-13T05:59", night))
		assert.equal("false", at("2026-03-13T06:00", night))
	end)

	it("knows times of the week, the night belonging to the day on which it began", function()
		local work, fri = 'clock:is "Mon-Fri 8:00-18:00; Sat 9-12"', 'clock:is "Fri 22:00-6:00"'
		assert.equal("true", at("2026-03-13T09:00", work))		-- a Friday
		assert.equal("true", at("2026-03-14T09:00", work))
		assert.equal("false", at("2026-03-14T12:00", work))
		assert.equal("false", at("2026-03-15T09:00", work))
		assert.equal("true", at("2026-03-14T05:00", fri))
		assert.equal("false", at("2026-03-13T05:00", fri))
		assert.equal("true", at("2026-03-15T05:00", 'clock:is "weekends"'))
		assert.equal("true", at("2026-03-15T05:00", 'clock:is "Fri-Mon"'))
	end)

	it("knows holidays from a file, and ranges of days", function()
		local file = 'holidays = "holidays.conf",'
		assert.equal("nil", at("2026-12-23T09:00", "clock.holiday", file, holidays))
		assert.equal("lecture-free", at("2026-12-30T09:00", "clock.holiday", file, holidays))
		assert.equal("holiday", at("2026-05-01T09:00", "clock.holiday", file, holidays))
		assert.equal("true", at("2026-12-23T09:00", "clock.workday", file, holidays))
		assert.equal("false", at("2026-12-30T09:00", "clock.workday", file, holidays))
		assert.equal("false", at("2026-12-28T09:30", 'clock:is "Mon 9:00-12:00 except holidays"', file, holidays))
		assert.equal("true", at("2027-01-11T09:30", 'clock:is "Mon 9:00-12:00 except holidays"', file, holidays))
		assert.equal("true", at("2026-12-28T09:30", 'clock:is "holidays"', file, holidays))
	end)

	it("says from when to when, now or next", function()
		local period = [[(function() local from, to = clock:period "Mon 9:00-12:00 except holidays"
			return ("%d %d"):format((from - cluster.now) // 60, (to - cluster.now) // 60) end)()]]
		local file = 'holidays = "holidays.conf",'
		assert.equal("0 60", at("2026-03-16T11:00", period, file, holidays))
		assert.equal("180 360", at("2026-03-16T06:00", period, file, holidays))
		assert.equal(("%d %d"):format(7 * 1440 - 180, 7 * 1440), at("2026-03-16T12:00", period, file, holidays))
		-- over the lecture-free time: from Monday 2026-12-21 13:00 to 2027-01-11 9:00
		assert.equal(("%d %d"):format(21 * 1440 - 240, 21 * 1440 - 60), at("2026-12-21T13:00", period, file, holidays))
		assert.equal("nil", at("2026-03-16T06:00", 'clock:period "holidays 9:00-10:00"', file, { ["holidays.conf"] = "\n" }))
	end)

	it("is right on the two days on which clocks change", function()
		-- 2026-03-29: 2:00 is 3:00.  From 1:00 to 3:00 is an hour.
		local period = [[(function() local from, to = clock:period "Sun 1:00-3:00"
			return ("%d %d"):format((from - cluster.now) // 60, (to - cluster.now) // 60) end)()]]
		assert.equal("60 120", at("2026-03-29T00:00", period))
		assert.equal("true", at("2026-03-29T01:59", 'clock:is "Sun 1:00-2:30"'))
		assert.equal("false", at("2026-03-29T03:00", 'clock:is "Sun 1:00-2:30"'))
		-- 2026-10-25: 3:00 is 2:00.  From 1:00 to 3:00 are three hours, and 2:30 comes twice.
		assert.equal("60 240", at("2026-10-25T00:00", period))
		local twice = [[(function() local text, from, to = "", cluster.now, nil
			for _ = 1, 2 do
				from, to = clock:period "Sun 2:00-2:30"
				text = ("%d %d"):format((from - cluster.now) // 60, (to - cluster.now) // 60)
			end return text end)()]]
		assert.equal("120 150", at("2026-10-25T00:00", twice))
	end)

	it("has no other fields, and refuses what is no time", function()
		local function error_of(expression)
			return support.refusal("local x = cluster.clock" .. expression)
		end
		assert.matches("a clock has no field 'hours'; did you mean 'hour'", error_of ".hours")
		assert.matches("policy.lua:1: '25:00%-26:00' is no time of day", error_of ':is "Mon 25:00-26:00"')
		assert.matches("policy.lua:1: 'someday': there are no such days; expected something like", error_of ':is "Someday 8:00-9:00"')
		assert.matches('between%("8", "24:30"%): expected two times of day', error_of ':between("8", "24:30")')
		assert.matches('the site file has no holidays = "FILE"', error_of ':is "holidays"')
		assert.matches("a clock is read%-only", support.refusal "cluster.clock.hour = 3")
	end)

	it("is there for a policy that asks for it in a cycle and not before, by the machine's zone", function()
		local asks = support.policy(support.unprobed .. [[
			local clock = cluster.clock
			slurm.log_info("%s", tostring(clock:is("daily") and clock.zone == nil and clock.date:match("^%d+%-%d+%-%d+$") ~= nil))]])
		local of_a_site = support.site('return require("sched").site { default = { "asks" } }', { asks = asks.source })
		for _, set in ipairs { asks, of_a_site } do
			assert.same({ "info: true" }, t.decide(set, t.cluster { nodes = "1x1c", pending = { { id = 1 } } }):log())
		end
	end)

	it("shows the same whatever TZ says, and the time at which the next cycle is wanted", function()
		local c = t.cluster { nodes = "1x1c", now = "2026-03-12T07:30" .. BERLIN, pending = { { id = 1 } } }
		assert.equal(1800, t.decide(site_with 'clock:between("8:00", "18:00")', c):wakes())
		assert.equal(1800, t.decide(site_with "clock.hour", c):wakes())
		assert.equal(60, t.decide(site_with "clock.time", c):wakes())
		assert.equal(60, t.decide(site_with "clock.second", c):wakes())	-- no cycle each second
		assert.equal(16 * 3600 + 1800, t.decide(site_with "clock.date", c):wakes())
		assert.is_nil(t.decide("easy", c):wakes())
	end)
end)

describe("times that a site's policies tell", function()
	it("are those of its zone", function()
		local c = t.cluster { nodes = "2x1c", now = "2026-03-12T12:00" .. BERLIN,
			running = { { id = 1, user = "ada", nodes = 1, ends_in = "1h" } }, pending = { { id = 2, user = "ada" } } }
		local function told(component)
			return t.decide(support.site(('local sched = require "sched" return sched.site { time_zone = "Europe/Berlin", ' ..
				'default = { %s, "easy" } }'):format(component)), c):pending(2)
		end
		assert.matches("fits by 2026-03-12T13:00:00", select(2, told "sched.limit { jobs = 1 }"), 1, true)
		assert.matches("fits by 2026-03-12T13:00", select(2, told "sched.quota { per_user = '1 cpu-hours' }"), 1, true)
	end)

	it("and its days begin there, where a period names no other zone", function()
		local plan = t.decide(support.site [[
			local sched, period = require "sched", require "sched.period"
			return sched.site { time_zone = "Europe/Berlin", default = { { name = "look", decide = function(cluster)
				slurm.log_info("%d", cluster.now - (period.at(period.parse "day", cluster.now)))
			end } } }]], t.cluster { nodes = "1x1c", now = "2026-03-12T12:05" .. BERLIN, pending = { { id = 1 } } })
		assert.equal("info: 43500", plan:log()[1])
	end)
end)

describe("sched.when", function()
	-- Two jobs, of which one fits: by day the shorter goes first, else the longer.
	local text = [[
		local sched = require "sched"
		local function first(sign) return { name = "first" .. sign, rank = function(job) return sign * job.time_limit end } end
		return sched.site { time_zone = "Europe/Berlin", %s = { ["Mon-Fri 8:00-18:00"] = { first(-1), "easy", window = 5 },
			otherwise = { first(1), "fcfs" } } }]]
	local function started(time, site)
		return t.decide(site, t.cluster { nodes = "1x1c", now = time .. BERLIN, pending = {
			{ id = 1, time_limit = "1h" }, { id = 2, time_limit = "2h" } } }):started()
	end

	it("picks policies and options by time, as when, default or of a partition", function()
		local default = text:format("default"):gsub("= { %[", "= sched.when { [")
		local partition = text:format("partitions"):gsub("= { %[", "= { main = sched.when { ["):gsub("} }$", "} } }")
		for _, site in ipairs { support.site(text:format "when"), support.site(default), support.site(partition) } do
			assert.same({ 1 }, started("2026-03-12T12:00", site))
			assert.same({ 2 }, started("2026-03-12T18:00", site))
			assert.same({ 2 }, started("2026-03-14T12:00", site))
		end
	end)

	it("has a cycle when another list begins to hold, also in a simulation", function()
		local site = support.site(text:format "when")
		local c = t.cluster { nodes = "1x1c", now = "2026-03-12T12:00" .. BERLIN, pending = { { id = 1 } } }
		assert.equal(6 * 3600, t.decide(site, c):wakes())
		-- by day nothing starts: at 18:00 the job has its turn
		local closed = support.site [[
			local sched = require "sched"
			return sched.site { time_zone = "Europe/Berlin", when = {
				["daily 8-18"] = { { name = "closed", admit = function() return false, "by night only" end }, "easy" },
				otherwise = { "easy" } } }]]
		local s = t.simulate(closed, { nodes = "1x1c", now = "2026-03-12T12:00" .. BERLIN, jobs = { { id = 1, runtime = "1m" },
			{ id = 2, runtime = "14h", time_limit = "15h", submit = "6h" }, { id = 3, runtime = "1m", submit = "7h" } } })
		assert.equal(6 * 3600, s:job(1).start_s)
		assert.equal(6 * 3600 + 60, s:job(2).start_s)
		assert.equal(30 * 3600, s:job(3).start_s)	-- 2 ends by day
	end)

	it("tries all lists when the site file is loaded", function()
		for _, when in ipairs { "Mon-Fri 8:00-18:00", "Sat,Sun", "holidays" } do
			assert.matches("site.lua:3: lost", refused(([[
				local sched = require "sched"
				return sched.site { holidays = "holidays.conf", when = { ["%s"] = {
					{ name = "lost", rank = function() error("lost") end } }, otherwise = { "easy" } } }]]):format(when), holidays))
		end
	end)

	it("refuses what is no time, what overlaps and what is missing, with the line", function()
		local function of(lists, more)
			return refused("local sched = require 'sched'\nreturn sched.site { " .. (more or "") .. " when = {\n" .. lists .. "\n} }",
				holidays)
		end
		assert.matches("site.lua:3: sched.when: '8:00' is no time of day", of '["Mon 8:00"] = "easy", otherwise = "fcfs"')
		assert.matches("site.lua:4: sched.when: 'Mon 7:00%-9:00' and 'daily 8:00%-10:00' both hold on Monday at 8:00",
			of '["Mon 7:00-9:00"] = "easy",\n["daily 8:00-10:00"] = "easy", otherwise = "fcfs"')
		assert.matches("site.lua:2: sched.when: expected otherwise", of '["Mon 8:00-9:00"] = "easy"')
		assert.matches("site.lua:3: 'holidays': there are no holidays", of 'holidays = "easy", otherwise = "fcfs"')
		assert.matches("unknown policy 'easi'", of 'daily = "easi", otherwise = "fcfs"')
		assert.matches("when and default: expected only one", of('daily = "easy", otherwise = "fcfs"', 'default = "easy",'))
	end)

	it("refuses time zones that do not exist, and holidays that are no dates", function()
		assert.matches("site.lua:3: there is no time zone 'Europe/Atlantis' on this machine; expected a name such as Europe/Berlin",
			refused 'local sched = require "sched"\nreturn sched.site {\ntime_zone = "Europe/Atlantis" }')
		assert.matches("site.lua:2: holidays = 5; expected the name of a file",
			refused 'local sched = require "sched"\nreturn sched.site { holidays = 5 }')
		for line, why in pairs { ["2026-02-29"] = "'2026%-02%-29' is no date; expected 2026%-12%-25, or",
			["25.12.2026"] = "'25.12.2026' is no date", ["2026-12-25..2026-12-24"] = "ends before it begins",
			["2026-12-25..Epiphany"] = "'Epiphany' is no date", ["2026-01-01..2030-01-01"] = "more than 400 days" } do
			assert.matches("^holidays.conf:2: .*" .. why, refused('local sched = require "sched"\n' ..
				'return sched.site { holidays = "holidays.conf" }', { ["holidays.conf"] = "2026-12-25\n" .. line .. "\n" }))
		end
		assert.has_error(function() t.cluster { nodes = "1x1c", now = "2026-03-12" } end)
	end)
end)
