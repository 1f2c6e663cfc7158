-- SPDX-License-Identifier: MIT
--
-- soak_stops.lua - were the right jobs stopped for others?  By the order of the log's lines, since clocks step:
--
--   lua5.4 soak_stops.lua LOG KINDS [FIGURES]
--
-- KINDS has a line for each job, "ID KIND GANG": its tier (below), with "/spare" behind it if the site file says that
-- it is not to be stopped, and the name of its gang or "-".  An id may come twice, where slurmctld was killed and had
-- forgotten that it had given it.
--
-- Nobody is stopped whom Slurm's settings do not let be stopped for that job, by whoever it is; nor does a plan stop
-- whom the site file spares. No run of a job is told to end twice, unless slurmctld was killed in between. Of a gang
-- none is told to end by a plan while another one runs on. Prints what is wrong; figures, as JSON, into FIGURES.
local yields = { yields = true, graced = true, ends = true }
local stops_whom = { takes = { yields = true, graced = true, ends = true, middle = true }, middle = yields }

local kinds, gangs, gang_of, wrong = {}, {}, {}, 0

local function complain(...)
	wrong = wrong + 1
	if wrong <= 20 then print("stopped: " .. string.format(...)) end
end

for line in io.lines(arg[2]) do
	local id, kind, spare, gang = line:match("^(%d+) (%a+)(%S*) (%S+)$")
	if id then
		kinds[id] = kinds[id] or {}
		table.insert(kinds[id], { kind = kind, spare = spare ~= "" })
		if gang ~= "-" then
			gangs[gang] = gangs[gang] or {}
			table.insert(gangs[gang], id)
			gang_of[id] = not gang_of[id] and gang or "twice"
		end
	end
end

-- "JobId=12_3(15)": what it is in the log, its own id, and the id that sbatch printed.
local function read_id(text)
	local id, own = text:match("^JobId=(%d+)[_+][%d*]+%((%d+)%)")
	id = id or text:match("^JobId=(%d+)")
	return own or id, id
end

-- True if one of those that the id was given to may be stopped for one of the others; unknown ones (slurmctld was
-- killed before it had answered sbatch) may.
local function may_be_stopped(victim, job, by_plan)
	for _, v in ipairs(kinds[victim] or {}) do
		for _, j in ipairs(kinds[job] or { { kind = "takes" } }) do
			if (stops_whom[j.kind] or {})[v.kind] and not (by_plan and v.spare) then return true end
		end
	end
	return not kinds[victim]
end

local function told(id)
	local out = {}
	for _, k in ipairs(kinds[id] or {}) do out[#out + 1] = k.kind .. (k.spare and ", which is spared" or "") end
	return table.concat(out, " or ")
end

-- Events of each job by the number of the line: begin, stop, end.
local events, boots = {}, {}
local count = { stops = 0, again = 0, by_slurm = 0, places = 0, started = 0, after_boot = 0 }
local has_place = {}
local function note(id, what, at, of)
	events[id] = events[id] or {}
	table.insert(events[id], { what = what, at = at, of = of })
end
local function last_of(id)
	return events[id] and events[id][#events[id]]
end

local function read_stop(line, at, victim, job)
	local own, id = read_id(victim)
	local _, for_id = read_id(job)
	local was
	for i = #(events[own] or {}), 1, -1 do
		if events[own][i].what == "begin" then break end
		if events[own][i].what == "stop" then was = events[own][i] break end
	end
	count.stops = count.stops + 1
	if line:find("as was planned before", 1, true) then count.after_boot = count.after_boot + 1 end
	if not may_be_stopped(id, for_id, true) then
		complain("job %s (%s) is stopped for job %s (%s): line %d", id, told(id), for_id, told(for_id), at)
	end
	if was and (boots[#boots] or 0) > was.at then
		count.again = count.again + 1
	elseif was then
		complain("job %s is told to end twice, for job %s: lines %d and %d", own, for_id, was.at, at)
	end
	note(own, "stop", at, for_id)
end

-- A line that speaks of a job's end, or of its beginning anew.
local function is_end(line)
	for _, word in ipairs { "omplete", "equeue", "ill", "ancel", "fail", "imit" } do
		if line:find(word, 1, true) then return not line:find("_slurm_rpc_submit", 1, true) end
	end
	return false
end

local at = 0
for line in io.lines(arg[1]) do
	at = at + 1
	local victim, job = line:match("(JobId=%S+) is stopped for (JobId=[^%s,]+)")
	local gone, why = line:match("[Pp]reempted (JobId=%S+) ha[sd] .* to reclaim resources for (%S+)")
	local begun = line:match("sched/lua: started (JobId=%S+)") or line:match("Allocate (JobId=%S+)") or
		line:match("backfill: Started (JobId=%S+)")
	if line:find("slurmctld version .* started on cluster") then
		boots[#boots + 1] = at
	elseif victim then
		read_stop(line, at, victim, job)
	elseif gone then
		local own, id = read_id(gone)
		local _, for_id = read_id(why)
		if not may_be_stopped(id, for_id or "", false) then
			complain("job %s (%s) was made to end for %s: line %d", id, told(id), why, at)
		end
		if not last_of(own) or last_of(own).what ~= "stop" then count.by_slurm = count.by_slurm + 1 end
		note(own, "end", at)
	elseif begun then
		local own = read_id(begun)
		if has_place[own] then count.started = count.started + 1 end
		has_place[own] = nil
		note(own, "begin", at)
	elseif line:find("a place is held for JobId=", 1, true) then
		local id = line:match("JobId=(%d+)")
		count.places = count.places + (has_place[id] and 0 or 1)
		has_place[id] = true
	else
		for text in line:gmatch("JobId=%S+") do
			if is_end(line) then
				local own = read_id(text)
				if own and last_of(own) and last_of(own).what ~= "end" then note(own, "end", at) end
			end
		end
	end
end

-- Does the other one of its gang run at that line, and is it not told to end with it?
local function runs_on(id, stop)
	local was, next_one
	for _, e in ipairs(events[id] or {}) do
		if e.at < stop.at then was = e end
		if e.at > stop.at then next_one = e break end
	end
	for _, boot in ipairs(boots) do	-- what was written of it is older than what is known
		if was and boot > was.at and boot < stop.at then return false end
		if boot > stop.at and (not next_one or boot < next_one.at) then return false end
	end
	return was and was.what == "begin" and not (next_one and next_one.what == "stop" and next_one.of == stop.of)
end

for id, name in pairs(gang_of) do
	for _, e in ipairs(events[id] or {}) do
		for _, other in ipairs(e.what == "stop" and gangs[name] or {}) do
			if other ~= id and gang_of[other] == name and runs_on(other, e) then
				complain("job %s of gang %s is stopped at line %d, and job %s of it runs on", id, name, e.at, other)
			end
		end
	end
end

if arg[3] then
	local file = assert(io.open(arg[3], "w"))
	file:write(('"stops": %d, "stops_again_after_a_kill": %d, "stops_begun_before_a_kill": %d, "stops_by_slurm": %d, '
		.. '"places": %d, "places_started": %d'):format(count.stops, count.again, count.after_boot, count.by_slurm,
		count.places, count.started))
	file:close()
end
os.exit(wrong == 0)
