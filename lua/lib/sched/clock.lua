-- SPDX-License-Identifier: MIT
--
-- sched.clock - what clocks and calendars show at the site: cluster.clock.
--
--   clock.hour, clock.minute, clock.weekday (1 is Monday), clock.date ("2026-03-12"), clock.time ("12:05"),
--   clock.year, clock.month, clock.day, clock.holiday (its name, or nil), clock.workday, clock.weekend
--   clock:between("8:00", "18:00")		also over midnight
--   clock:is("Mon-Fri 8:00-18:00 except holidays; Sat 9:00-12:00")
--   from, to = clock:period("Mon 9:00-12:00")	that holds now, or else the next one
--
-- The zone and the holidays are the site file's: time_zone = "Europe/Berlin", holidays = "holidays.conf".  Without a
-- zone it is that of the machine (/etc/localtime).  The rules of the zone are read when the set is loaded, so that no
-- cycle opens a file, and a cycle shows the same whoever asks, whatever TZ is in the environment.
--
-- Each answer tells the engine when it will be another one: there is a cycle then (engine.wake).

local component = require "sched.component"
local data_file = require "sched.data_file"
local suggest = require "sched.suggest"

local M = {}

local names = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" }
local full = { "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday" }
local number_of = {}
for i, name in ipairs(names) do
	number_of[name], number_of[full[i]] = i, i
end
local weekdays = { true, true, true, true, true }
local words = {
	daily = { days = { true, true, true, true, true, true, true } },
	weekdays = { days = weekdays },
	workdays = { days = weekdays, holidays = false },
	weekends = { days = { [6] = true, [7] = true } },
	holidays = { days = { true, true, true, true, true, true, true }, holidays = true },
}
for name, word in pairs { weekend = "weekends", holiday = "holidays", workday = "workdays", weekday = "weekdays" } do
	words[name] = words[word]
end
local expected = 'expected something like "Mon-Fri 8:00-18:00", "weekends" or "workdays 22:00-6:00"'

-- -- times of the week -------------------------------------------------------

-- Minutes since midnight of "8:00" or "8"; nil: it is no time of day.
local function minutes_of(text)
	local hour, minute = text:match("^(%d%d?):(%d%d)$")
	if not hour then
		hour, minute = text:match("^(%d%d?)$"), "0"
	end
	local all = hour and tonumber(hour) * 60 + tonumber(minute)
	if not all or tonumber(minute) > 59 or all > 24 * 60 then
		return nil
	end
	return all
end

local function range_of(text)
	local from, to = text:match("^([%d:]+)%-([%d:]+)$")
	from, to = from and minutes_of(from), to and minutes_of(to)
	if not from or not to or from == to or from == 24 * 60 then
		return nil
	end
	return from, to
end

-- Days such as "Mon-Fri" or "Sat", into a set; false: there are no such days.
local function add_days(days, text)
	local first, last = text:match("^(%a+)%-(%a+)$")
	first = number_of[first or text]
	last = last and number_of[last] or not text:find("-", 1, true) and first
	if not first or not last then
		return false
	end
	local day = first
	while true do
		days[day] = true
		if day == last then
			return true
		end
		day = day % 7 + 1
	end
end

-- One alternative: { days =, holidays = nil, true: only these, false: not these, from =, to = }.
local function parse_one(text)
	local one = { days = {}, from = 0, to = 24 * 60 }
	local rest, except = text:gsub("%s+except%s+holidays$", "")
	local dated, timed = false, false
	for word in rest:gsub("%s*%-%s*", "-"):gsub("%s*,%s*", ","):gmatch("%S+") do
		local from, to = range_of(word)
		if from then
			if timed then
				return nil, ("'%s': two times of day; write \"A; B\" for several"):format(text)
			end
			one.from, one.to, timed = from, to, true
		elseif dated then
			return nil, ("'%s' is no time of day, as in 8:00-18:00"):format(word)
		else
			dated = true
			for item in word:gmatch("[^,]+") do
				local known = words[item]
				if known then
					for day in pairs(known.days) do
						one.days[day] = true
					end
					if one.holidays == nil then
						one.holidays = known.holidays
					end
				elseif not add_days(one.days, item) then
					return nil, ("'%s': there are no such days; %s"):format(item, expected)
				end
			end
		end
	end
	if not dated and not timed then
		return nil, ("'%s' names no time; %s"):format(text, expected)
	elseif not dated then
		one.days = words.daily.days
	end
	if except > 0 then
		one.holidays = false
	end
	return one
end

local parsed = {}	-- by text

--- What "Mon-Fri 8:00-18:00; Sat 9:00-12:00" means: a list of alternatives; nil and why.
function M.parse(text)
	if type(text) ~= "string" then
		return nil, ("%s is no time; %s"):format(tostring(text), expected)
	elseif parsed[text] then
		return parsed[text]
	end
	local list = { text = text }
	for item in (text:lower() .. ";"):gmatch("%s*([^;]-)%s*;") do
		local one, why = parse_one(item)
		if not one then
			return nil, why
		end
		list[#list + 1] = one
		list.holidays = list.holidays or one.holidays ~= nil
	end
	parsed[text] = list
	return list
end

-- Does it hold on such a day?
local function holds_on(one, weekday, holiday)
	return one.days[weekday] and (one.holidays == nil or one.holidays == holiday) or false
end

-- Does one alternative hold, at a minute of a day?  Over midnight the day is that on which it began.
local function holds_at(one, weekday, holiday, before, minute)
	if one.from < one.to then
		return minute >= one.from and minute < one.to and holds_on(one, weekday, holiday)
	end
	return minute >= one.from and holds_on(one, weekday, holiday) or
		minute < one.to and holds_on(one, (weekday + 5) % 7 + 1, before)
end

--- A day and a minute at which two of these hold, as text; nil: there is none.
function M.both(a, b)
	for holiday = 0, 3 do
		for weekday = 1, 7 do
			for _, list in ipairs { a, b } do
				for _, one in ipairs(list) do
					local function holds(all, minute)
						for _, other in ipairs(all) do
							if holds_at(other, weekday, holiday & 1 > 0, holiday & 2 > 0, minute) then
								return true
							end
						end
					end
					for _, minute in ipairs { 0, one.from, one.to % (24 * 60) } do
						if holds(a, minute) and holds(b, minute) then
							return ("%s at %d:%02d"):format(full[weekday]:gsub("^%l", string.upper), minute // 60, minute % 60)
						end
					end
				end
			end
		end
	end
	return nil
end

-- -- holidays ----------------------------------------------------------------

local month_days = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function is_leap(year)
	return year % 4 == 0 and year % 100 ~= 0 or year % 400 == 0
end

-- Year, month and day of "2026-02-28"; nil: there is no such day.
local function date_of(text)
	local year, month, day = text:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)$")
	year, month, day = math.tointeger(tonumber(year)), math.tointeger(tonumber(month)), math.tointeger(tonumber(day))
	local most = month and month_days[month]
	if month == 2 and is_leap(year) then
		most = 29
	end
	if not most or day < 1 or day > most then
		return nil
	end
	return year, month, day
end

local function next_day(year, month, day)
	local most = month == 2 and is_leap(year) and 29 or month_days[month]
	if day < most then
		return year, month, day + 1
	elseif month < 12 then
		return year, month + 1, 1
	end
	return year + 1, 1, 1
end

local MOST_DAYS <const> = 400

-- DATE [NAME...] or DATE..DATE [NAME...] -> { ["2026-12-25"] = name }
local function parse_holidays(text, path)
	local map = {}
	for number, list in data_file.lines(text) do
		local function fail(format, ...)
			error(("%s:%d: %s"):format(path, number, format:format(...)), 0)
		end
		local first, last = list[1]:match("^(.-)%.%.(.*)$")
		first, last = first or list[1], last or list[1]
		local year, month, day = date_of(first)
		if not year or not date_of(last) then
			fail("'%s' is no date; expected 2026-12-25, or 2026-12-24..2027-01-06", (year and last or first):sub(1, 40))
		elseif last < first then
			fail("'%s' ends before it begins", list[1])
		end
		local name, days = table.concat(list, " ", 2):sub(1, 200), 0
		repeat
			local date = ("%04d-%02d-%02d"):format(year, month, day)
			map[date] = name ~= "" and name or "holiday"
			year, month, day = next_day(year, month, day)
			days = days + 1
			if days > MOST_DAYS then
				fail("'%s': more than %d days", list[1], MOST_DAYS)
			end
		until date == last
	end
	return map
end

-- -- the clock ---------------------------------------------------------------

--- The clock of a site: time_zone and holidays, as the site file says them (nil: it does not), with the place of the
--- call.
function M.make(path, line, time_zone, holidays)
	local fail = component.locate(path, line)
	if time_zone ~= nil and type(time_zone) ~= "string" then
		fail("time_zone", "time_zone = %s; expected a name such as \"Europe/Berlin\"", tostring(time_zone))
	elseif time_zone and not engine.knows_zone(time_zone) then
		fail("time_zone", "there is no time zone '%s' on this machine; expected a name such as Europe/Berlin", time_zone)
	elseif holidays ~= nil and type(holidays) ~= "string" then
		fail("holidays", "holidays = %s; expected the name of a file beside the site file", tostring(holidays))
	end
	return M.of(time_zone, holidays and data_file.open(path, line, holidays, parse_holidays))
end

--- The site's zone, of all times that are told and of periods that name none.
M.zone = ""

--- The same of a zone by name (nil: the machine's) and a file that is open.
function M.of(time_zone, file)
	M.zone = time_zone or ""
	engine.wall(0, M.zone)		-- from now on it is known, also in a cycle
	return { zone = M.zone, file = file }
end

--- A time as text, "2026-03-12T12:05:00", in the site's zone.
function M.text(t)
	local year, month, day, _, hour, minute, second = engine.wall(t, M.zone)
	return ("%04d-%02d-%02dT%02d:%02d:%02d"):format(year, month, day, hour, minute, second)
end

local Clock = {}

local function holiday_of(self, year, month, day)
	return self.file and self.file:get(("%04d-%02d-%02d"):format(year, month, day))
end

-- Do alternatives hold at an instant?
local function holds(self, list, t)
	local year, month, day, weekday, hour, minute = engine.wall(t, self.zone)
	local holiday = holiday_of(self, year, month, day) ~= nil
	for _, one in ipairs(list) do
		local before
		if one.from >= one.to and list.holidays then
			local y, m, d = engine.wall(engine.wall_instant(self.zone, year, month, day - 1, 12, 0), self.zone)
			before = holiday_of(self, y, m, d) ~= nil
		end
		if holds_at(one, weekday, holiday, before or false, hour * 60 + minute) then
			return true
		end
	end
	return false
end

-- How far clocks are set back at an instant at which they change; 0: they are set forward.
local function set_back(self, t)
	local before, after = select(8, engine.wall(t - 1, self.zone)), select(8, engine.wall(t, self.zone))
	return math.max(0, before - after)
end

-- The instants of one day at which alternatives may begin or end to hold, in order.  What clocks show comes again
-- where they are set back.
local function instants_of(self, list, year, month, day)
	local begins = engine.wall_instant(self.zone, year, month, day, 0, 0)
	local ends = engine.wall_instant(self.zone, year, month, day + 1, 0, 0)
	local shift, at = engine.zone_next(begins - 1, self.zone), { begins }
	for _, one in ipairs(list) do
		at[#at + 1] = engine.wall_instant(self.zone, year, month, day, 0, one.from)
		at[#at + 1] = engine.wall_instant(self.zone, year, month, day, 0, one.to)
	end
	while shift and shift < ends do
		local back = set_back(self, shift)
		for i = 1, back > 0 and #at or 0 do
			at[#at + 1] = at[i] + back
		end
		at[#at + 1] = shift
		shift = engine.zone_next(shift, self.zone)
	end
	table.sort(at)
	return at
end

-- The first instant after t at which alternatives do no longer hold, or begin to; nil: not within a while.
local function changes(self, list, t)
	local year, month, day = engine.wall(t, self.zone)
	local now = holds(self, list, t)
	for later = 0, list.holidays and MOST_DAYS or 8 do
		for _, instant in ipairs(instants_of(self, list, year, month, day + later)) do
			if instant > t and holds(self, list, instant) ~= now then
				return instant
			end
		end
	end
	return nil
end

local function read(text, self)
	local list, why = M.parse(text)
	if not list then
		error(why, 3)
	elseif list.holidays and not self.file then
		error(("'%s': the site file has no holidays = \"FILE\""):format(text), 3)
	end
	return list
end

-- Whether it holds now, and a cycle when that changes.
local function ask(self, list)
	local known = self.known[list]
	if not known then
		known = { holds = holds(self, list, self.now), changes = changes(self, list, self.now) }
		self.known[list] = known
	end
	if known.changes then
		engine.wake(known.changes)
	end
	return known.holds, known.changes
end

--- Does a time of the week hold now?
function Clock:is(text)
	return (ask(self, read(text, self)))
end

--- Is it later than one time of day (or just then) and before the other?
function Clock:between(from, to)
	local text = ("%s-%s"):format(tostring(from), tostring(to))
	if not range_of(text) then
		error(('between("%s", "%s"): expected two times of day, as in clock:between("8:00", "18:00")'):format(tostring(from),
			tostring(to)), 2)
	end
	return (ask(self, M.parse(text)))
end

--- From when to when a time of the week holds: from now, where it holds now, or else the next one.  nil: there is none
--- within a week (with holidays, a year).
function Clock:period(text)
	local list = read(text, self)
	local now, change = ask(self, list)
	if now then
		return self.now, change
	elseif not change then
		return nil
	end
	return change, changes(self, list, change)
end

local by_day = { "year", "month", "day", "weekday", "date", "holiday", "workday", "weekend" }
local by_minute = { "minute", "second", "time" }
local lasts = { hour = "hour", zone = "ever", now = "ever" }
for _, name in ipairs(by_day) do
	lasts[name] = "day"
end
for _, name in ipairs(by_minute) do
	lasts[name] = "minute"
end

local function value_of(self, name)
	local w = self.wall
	if name == "date" then
		return ("%04d-%02d-%02d"):format(w.year, w.month, w.day)
	elseif name == "time" then
		return ("%02d:%02d"):format(w.hour, w.minute)
	elseif name == "holiday" then
		return holiday_of(self, w.year, w.month, w.day)
	elseif name == "weekend" then
		return w.weekday > 5
	elseif name == "workday" then
		return w.weekday < 6 and not holiday_of(self, w.year, w.month, w.day)
	elseif name == "zone" then
		return self.zone ~= "" and self.zone or nil
	end
	return self[name] or w[name]
end

-- When the value of a field will be another one.
local function next_of(self, how)
	local w = self.wall
	if how == "day" then
		return engine.wall_instant(self.zone, w.year, w.month, w.day + 1, 0, 0)
	elseif how == "hour" then
		return math.min(self.now + 3600 - w.minute * 60 - w.second, engine.zone_next(self.now, self.zone) or math.maxinteger)
	end
	return self.now + 60 - w.second
end

--- What a clock is worked out from: what make() returned (nil: the site names neither zone nor holidays), and the time.
function M.state(site, now)
	site = site or M.of(nil, nil)
	local self = { now = now, zone = site.zone, file = site.file, known = {}, wall = {} }
	local w = self.wall
	w.year, w.month, w.day, w.weekday, w.hour, w.minute, w.second = engine.wall(now, site.zone)
	return self
end

--- Whether alternatives that were parsed hold at the time of a state.
function M.holds(state, list)
	return (ask(state, list))
end

--- cluster.clock of a cycle.
function M.at(site, now)
	local self = M.state(site, now)
	return setmetatable({}, {
		__index = function(_, name)
			if Clock[name] then
				return function(_, ...) return Clock[name](self, ...) end
			elseif not lasts[name] then
				error(("a clock has no field '%s'%s"):format(tostring(name), suggest.hint(name, lasts)), 2)
			elseif lasts[name] ~= "ever" then
				engine.wake(next_of(self, lasts[name]))
			end
			return value_of(self, name)
		end,
		__newindex = function() error("a clock is read-only", 2) end,
		__metatable = false,
	})
end

return M
