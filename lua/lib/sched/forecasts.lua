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
local MOST_JOB <const>, LATEST <const> = 2 ^ 32 - 1, 2 ^ 53 - 1
local shown_as = { not_before = "^(%S+)", likely = "^%S+ (%S+)", not_after = "(%S+)$" }

local function time_of(word)
	return math.tointeger(tonumber(word))	-- nil: it was not reached
end

local function is_time(word)
	local time = time_of(word)
	return word == "-" or (time and time >= 0 and time <= LATEST)
end

local function job_of(word)
	local id = time_of(word)
	return id and id > 0 and id <= MOST_JOB and id
end

-- made TIME CONFIDENCE
-- job ID NOT_BEFORE LIKELY NOT_AFTER
local function parse(text, path)
	local map, line = {}, 0
	local function expect(good, word, what)
		if not good then
			error(("%s:%d: %sexpected %s"):format(path, line, word and ("'%s': "):format(word:sub(1, 60)) or "", what), 0)
		end
		return good
	end
	for number, words in data_file.lines(text) do
		line = number
		if words[1] == "job" and #words == 5 then
			local id = expect(job_of(words[2]), words[2], "the id of a job")
			for i = 3, 5 do
				expect(is_time(words[i]), words[i], "seconds since the epoch, or -")
			end
			map[("%d"):format(id)] = table.concat(words, " ", 3)
		else
			expect(words[1] == "made" and #words == 3, nil, "made TIME CONFIDENCE, or job ID NOT_BEFORE LIKELY NOT_AFTER")
			local confidence = tonumber(words[3])
			expect(is_time(words[2]), words[2], "seconds since the epoch, or -")
			expect(confidence and confidence > 0 and confidence < 1, words[3], "a confidence between 0 and 1")
			map.made, map.confidence = time_of(words[2]) or 0, confidence
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
	elseif made - cluster.now > SKEW then
		return ("the forecasts were made %d s from now"):format(made - cluster.now)
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
	local times = file:get(("%d"):format(job.id))
	if late then
		return nil, late
	elseif not times then
		return nil, "it was not in the queue then"
	end
	local f = { confidence = file:get("confidence"), made = file:get("made") }
	for what, pattern in pairs(shown_as) do
		f[what] = time_of(times:match(pattern))
	end
	return f
end

-- Tell users of all jobs of the file that are in this cluster.
local function tell(self, cluster, plan)
	local pattern = shown_as[self.show]
	for key, times in pairs(self.file:all()) do
		local id = time_of(key)
		local job = id and cluster:job(id)
		local at = job and time_of(times:match(pattern))
		if at and at >= cluster.now then	-- of what has not come true the plan knows more
			plan:expect(job, at)
		end
	end
end

--- The decide() that users are told forecasts after: once in a cycle, whoever decides first.  *told* is a table
--- of that cycle.
function Forecasts:telling(decide, told)
	if self.show == "nothing" then
		return decide
	end
	return function(cluster, plan, opt)
		decide(cluster, plan, opt)
		if not told.forecasts and not is_late(self, cluster) then
			tell(self, cluster, plan)
			told.forecasts = true
		end
	end
end

return M
