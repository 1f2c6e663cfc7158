-- SPDX-License-Identifier: MIT
--
-- sched.forecasts - what schedlua forecast --output=FILE wrote: when jobs will start.
--
--   local forecasts = sched.forecasts "forecasts.txt"		while the site or a policy is loaded
--   local f, why = forecasts:of(job, cluster)
--   f.not_before, f.likely, f.not_after, f.confidence, f.made
--
-- Where the site file has forecasts = ..., job.forecast is the same.
--
-- A forecast lets the whole cluster go on some forty times, which is no matter of a cycle: a timer makes one
-- every few minutes, and the file is read when it changes (sched.file()).  In a site file
-- forecasts = { file = "forecasts.txt", show = "likely" } has squeue --start show them.

local component = require "sched.component"
local data_file = require "sched.data_file"

local M = {}

local Forecasts = {}
Forecasts.__index = Forecasts

local definitions = {
	file = { type = "string" },
	show = { default = "likely", values = { "not_before", "likely", "not_after", "nothing" } },
	within = { default = "1h", type = "duration", min = 1 },
}

local SKEW <const> = 60		-- seconds that clocks may differ: what was made later is of another time

local function time_of(word, fail)
	if word == "-" then
		return 0	-- it was not reached
	end
	local time = math.tointeger(tonumber(word))
	if not time or time < 0 then
		fail("'%s': expected seconds since the epoch, or -", tostring(word))
	end
	return time
end

-- made TIME CONFIDENCE
-- job ID NOT_BEFORE LIKELY NOT_AFTER
local function parse(text, path)
	local map = {}
	for number, words in data_file.lines(text) do
		local function fail(format, ...)
			error(("%s:%d: %s"):format(path, number, format:format(...)), 0)
		end
		if words[1] == "made" then
			map.made, map.confidence = time_of(words[2], fail), tonumber(words[3]) or fail("made: expected TIME CONFIDENCE")
		elseif words[1] == "job" and #words == 5 then
			for i, what in ipairs { "not_before", "likely", "not_after" } do
				map[what .. words[2]] = time_of(words[i + 2], fail)
			end
		else
			fail("expected made TIME CONFIDENCE, or job ID NOT_BEFORE LIKELY NOT_AFTER")
		end
	end
	return map
end

--- sched.forecasts "FILE", or { file =, show =, within = }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.forecasts", type(t) == "string" and { file = t } or t, definitions, fail)
	if not opt.file then
		fail("file", "file is missing: expected what schedlua forecast --output writes")
	end
	return setmetatable({ file = data_file.await(path, line, opt.file, parse), show = opt.show, within = opt.within },
		Forecasts)
end

-- Why they are not used; nil: they are.
local function is_late(self, cluster)
	local made = self.file:get("made") or 0
	if made == 0 then
		return "no forecast was made"
	elseif made > cluster.now + SKEW then
		return "the forecasts were made later"
	elseif cluster.now - made > self.within then
		return ("the forecasts are %d s old"):format(cluster.now - made)
	end
end

--- Say, once until there are others, that they are not used.
function Forecasts:check(cluster)
	if is_late(self, cluster) then
		self.file:say(("%s: no forecast was made in the last %d s: none is used"):format(self.file.path, self.within))
	end
end

--- When will it start?  Times in seconds since the epoch; one that was not reached is nil.  Nil and why where
--- nothing is known.
function Forecasts:of(job, cluster)
	local file, late = self.file, is_late(self, cluster)
	local function time(what)
		local at = file:get(what .. job.id)
		return at and at > 0 and at or nil
	end
	if late then
		return nil, late
	elseif not file:get("not_before" .. job.id) then
		return nil, "it was not in the queue then"
	end
	return { not_before = time("not_before"), likely = time("likely"), not_after = time("not_after"),
		confidence = file:get("confidence"), made = file:get("made") }
end

--- The decide() that users are told forecasts after.
function Forecasts:telling(decide)
	if self.show == "nothing" then
		return decide
	end
	return function(cluster, plan, opt)
		decide(cluster, plan, opt)
		local shown = self.show .. "(%d+)"
		for key, at in pairs(is_late(self, cluster) and {} or self.file:all()) do
			local id = math.tointeger(tonumber(key:match(shown)))
			local job = id and cluster:job(id)
			if job and at > 0 then
				plan:expect(job, at)
			end
		end
	end
end

return M
