-- SPDX-License-Identifier: MIT
--
-- sched.period - stretches of time in which a quota counts: calendar days, weeks (from Monday),
-- months and years of some time zone (the site's, where none is named), or the last so many
-- seconds.

local clock = require "sched.clock"
local duration = require "sched.duration"
local suggest = require "sched.suggest"

local M = {}

local calendar = { day = true, week = true, month = true, year = true }

-- Midnight with which the calendar period of a time begins, shifted by so many periods.
local function begin_of(kind, t, shift, zone)
	zone = zone or clock.zone
	local year, month, day, weekday = engine.wall(t, zone)
	if kind == "day" then
		return engine.wall_instant(zone, year, month, day + shift, 0, 0)
	elseif kind == "week" then
		return engine.wall_instant(zone, year, month, day - weekday + 1 + 7 * shift, 0, 0)
	elseif kind == "month" then
		return engine.wall_instant(zone, year, month + shift, 1, 0, 0)
	end
	return engine.wall_instant(zone, year + shift, 1, 1, 0, 0)
end

--- What "month" or "30d" means: { kind =, length =, zone = }; nil and why.
function M.parse(text, zone)
	if zone and not engine.knows_zone(zone) then
		return nil, ("there is no time zone '%s' on this machine; expected a name such as Europe/Moscow"):format(zone)
	elseif calendar[text] then
		return { kind = text, zone = zone, name = "this " .. text }
	end
	local seconds = type(text) == "string" and text:match("%d") and duration.seconds(text)
	if not seconds or seconds < 60 or seconds > 3660 * 86400 then
		return nil, ("'%s' is no period; expected day, week, month, year or a duration such as \"30d\"%s"):format(
			tostring(text), suggest.hint(text, calendar):gsub(" known:.*", ""):gsub(";$", ""))
	elseif zone then
		return nil, "the last so many days know no calendar and so no time zone"
	end
	return { length = seconds, name = "in " .. duration.text(seconds) }
end

--- The period that holds at a time: its begin and end (nil: the last so many seconds have none),
--- and the begin of the one before.
function M.at(period, now)
	if period.length then
		return now - period.length, nil, now - 2 * period.length
	end
	return begin_of(period.kind, now, 0, period.zone), begin_of(period.kind, now, 1, period.zone),
		begin_of(period.kind, now, -1, period.zone)
end

return M
