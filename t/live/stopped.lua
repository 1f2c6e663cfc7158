-- SPDX-License-Identifier: MIT
--
-- stopped.lua - were the right jobs stopped for others?  Asked of slurmctld's log and of what jobs wrote themselves:
--
--   lua5.4 stopped.lua LOG RAN KINDS
--
-- RAN has a line "start ID" or "end ID" and the time for each run of a job, KINDS one for each job: ID, "yields" (it
-- may be stopped), "takes" (it may have others stopped) or another word, and the name of its gang or "-".
--
-- Nobody else is stopped, nor for anybody else; each run of a job is stopped at most once, and not before it began; of
-- a gang none is stopped while another one runs on.  Says how many were stopped; 1, and what is wrong.
local kinds, gangs, wrong, stops, may_be = {}, {}, 0, 0, 0

local function complain(...)
	wrong = wrong + 1
	if wrong <= 20 then print("stopped: " .. string.format(...)) end
end

for line in io.lines(arg[3]) do
	local id, kind, gang = line:match("^(%d+) (%S+) (%S+)$")
	if id then
		kinds[id] = kind
		if kind == "yields" then may_be = may_be + 1 end
		if gang ~= "-" then
			gangs[gang] = gangs[gang] or {}
			table.insert(gangs[gang], id)
		end
	end
end

-- [id] = { { from, till } }, by time: of each run, as the job wrote it.
local runs = {}
for line in io.lines(arg[2]) do
	local what, id, time = line:match("^(%a+) (%d+) ([%d.]+)$")
	if what == "start" then
		runs[id] = runs[id] or {}
		table.insert(runs[id], { tonumber(time) })
	elseif what == "end" and runs[id] then
		runs[id][#runs[id]][2] = tonumber(time)
	end
end

local function seconds(line)
	local y, m, d, h, min, s = line:match("^%[(%d+)-(%d+)-(%d+)T(%d+):(%d+):([%d.]+)%]")
	return y and os.time { year = y, month = m, day = d, hour = h, min = min, sec = 0 } + tonumber(s)
end

-- [id] = { times }
local function note(list, id, time)
	list[id] = list[id] or {}
	table.insert(list[id], time)
end

local started, stopped, told, ended = {}, {}, {}, {}	-- (told: by the plan, or by select for a job that it was left to)
for line in io.lines(arg[1]) do
	local id = line:match("sched/lua: started JobId=(%d+)")
	local victim, job = line:match("JobId=(%d+)%S* is stopped for JobId=(%d+)")
	local gone = line:match("preempted JobId=(%d+)%S* ha[sd] ") or line:match("_job_complete: JobId=(%d+)") or
		line:match("_slurm_rpc_kill_job.*JobId=(%d+)")
	local time = seconds(line)
	if id then note(started, id, time) end
	if gone then note(ended, gone, time) end
	local graced = line:match("preemption grace time for JobId=(%d+)")
	if graced then note(told, graced, time) end
	if victim then
		stops = stops + 1
		note(stopped, victim, time)
		note(told, victim, time)
		if kinds[victim] ~= "yields" then
			complain("job %s, which says %s, is stopped", victim, kinds[victim])
		end
		if kinds[job] ~= "takes" then
			complain("job %s is stopped for job %s, which says %s", victim, job, kinds[job])
		end
		if #stopped[victim] > #(started[victim] or {}) then
			complain("job %s is stopped %d times and was started %d times", victim, #stopped[victim],
				#(started[victim] or {}))
		end
	end
end

-- Was that run told to end by then?  (When GraceTime is over it may go on for as long as slurmctld is busy.)
local function is_told(id, run, time)
	for _, t in ipairs(told[id] or {}) do
		if t >= run[1] - 1 and t < time + 2 then return true end
	end
	return false
end

-- A run goes on until it says so, or the log does, unless it was told to end.
local function runs_on(id, time)
	for _, run in ipairs(runs[id] or {}) do
		local till = run[2] or math.huge
		for _, t in ipairs(ended[id] or {}) do
			if t >= run[1] - 1 then till = math.min(till, t) end
		end
		if run[1] + 2 < time and till > time + 2 and not is_told(id, run, time) then return true end
	end
	return false
end

for name, ids in pairs(gangs) do
	for _, id in ipairs(ids) do
		for _, time in ipairs(stopped[id] or {}) do
			for _, other in ipairs(ids) do
				if runs_on(other, time) then
					complain("job %s of gang %s is stopped at %.1f, and job %s of it runs on", id, name,
						time, other)
				end
			end
		end
	end
end

print(("stopped: %d stops of %d jobs that may be stopped"):format(stops, may_be))
os.exit(wrong == 0)
