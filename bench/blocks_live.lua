-- SPDX-License-Identifier: MIT
--
-- blocks_live.lua row WAY LOAD STREAM RECORD BEGIN END
--   what slurmctld's record of the stream (jobcomp/filetxt) says, as a row of bench/blocks
-- blocks_live.lua jobs STREAM RECORD BEGIN END
--   the stream with the run times that are recorded, for bench/blocks --from
--
-- The stream is what bench/blocks --print says; a job's name is its place in it, from 0. BEGIN is slurmctld's time
-- when the stream began, END when its last job had come. The first tenth is not counted, and a job that waits at the
-- end has waited until then, as in bench/blocks.
local RACK <const>, RACKS <const>, SMALL <const>, LARGE <const> = 18, 33, 18, 72

local function seconds(iso)
	local y, m, d, h, min, s = iso:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)$")
	return os.time { year = y, month = m, day = d, hour = h, min = min, sec = s, isdst = false }
end

-- n[001-003,007] : a function that is called with each number
local function each_node(list, call)
	for part in (list:match("%[(.-)%]") or list:match("%d+")):gmatch("[^,]+") do
		local first, last = part:match("^(%d+)-?(%d*)$")
		for n = tonumber(first), tonumber(last) or tonumber(first) do
			call(n)
		end
	end
end

local function read_stream(path)
	local jobs = {}
	for line in io.lines(path) do
		local at, nodes, segment, minutes, run = line:match("^(%d+)\t(%d+)\t(%d+)\t(%d+)\t(%d+)$")
		jobs[#jobs + 1] = {
			at = tonumber(at), nodes = tonumber(nodes), segment = tonumber(segment), minutes = tonumber(minutes),
			run = tonumber(run)
		}
	end
	return jobs
end

-- Adds submit; and to those that started before the end of the stream start, stop, and on: nodes by rack.
local function read_record(path, jobs, finish)
	for line in io.lines(path) do
		local field = {}
		for key, value in line:gmatch("(%w+)=(%S*)") do
			field[key] = value
		end
		local job = jobs[(tonumber(field.Name) or -1) + 1]
		if job then
			job.submit = seconds(field.SubmitTime)
			if field.NodeCnt ~= "0" and seconds(field.StartTime) < finish then
				job.start, job.stop, job.on = seconds(field.StartTime), seconds(field.EndTime), {}
				each_node(field.NodeList, function(n)
					local r = (n - 1) // RACK
					job.on[r] = (job.on[r] or 0) + 1
				end)
			end
		end
	end
	for i, job in ipairs(jobs) do
		assert(job.submit, ("job %d is not in slurmctld's record"):format(i - 1))
	end
end

-- No packing of these pieces has fewer racks: as in blocks_bound.c.
local function at_least(pieces)
	local most = 0
	for small = 0, RACK // 2 do
		local alone, middle, room, rest = 0, 0, 0, 0
		for s = 1, RACK do
			local n = pieces[s] or 0
			if s > RACK - small then
				alone = alone + n
			elseif 2 * s > RACK then
				middle, room = middle + n, room + n * (RACK - s)
			elseif s >= small then
				rest = rest + n * s
			end
		end
		most = math.max(most, alone + middle + math.max(0, (rest - room + RACK - 1) // RACK))
	end
	return most
end

-- Means over the time from *from* to *finish*: whole free racks, how many there could be, nodes in use.
local function over_time(jobs, from, finish)
	local events = {}
	for _, job in ipairs(jobs) do
		if job.start then
			events[#events + 1] = { t = job.start, job = job, sign = 1 }
			events[#events + 1] = { t = job.stop, job = job, sign = -1 }
		end
	end
	table.sort(events, function(a, b) return a.t < b.t end)
	local on, pieces, whole, could, busy, now = {}, {}, 0, 0, 0, from
	for _, e in ipairs(events) do
		local t = math.min(math.max(e.t, from), finish)
		if t > now then
			local used, nodes = 0, 0
			for r = 0, RACKS - 1 do
				used, nodes = used + ((on[r] or 0) > 0 and 1 or 0), nodes + (on[r] or 0)
			end
			whole, busy = whole + (RACKS - used) * (t - now), busy + nodes * (t - now)
			could, now = could + (RACKS - at_least(pieces)) * (t - now), t
		end
		for r, n in pairs(e.job.on) do
			on[r] = (on[r] or 0) + e.sign * n
		end
		pieces[e.job.segment] = (pieces[e.job.segment] or 0) + e.sign * e.job.nodes // e.job.segment
	end
	local span = now - from
	return whole / span, could / span, 100 * busy / span / (RACKS * RACK)
end

local function mean_wait(jobs, finish, least, most)
	local sum, count = 0, 0
	for i = #jobs // 10 + 1, #jobs do
		local job = jobs[i]
		if job.nodes >= least and job.nodes <= most then
			sum, count = sum + (job.start or finish) - job.submit, count + 1
		end
	end
	return count > 0 and sum / count / 60 or 0
end

local function print_row(way, load, jobs, finish)
	local whole, could, busy = over_time(jobs, jobs[#jobs // 10 + 1].submit, finish)
	local broken, waiting, all = 0, 0, RACKS * RACK
	for _, job in ipairs(jobs) do
		local is_broken = false
		for _, n in pairs(job.on or {}) do
			is_broken = is_broken or n % job.segment ~= 0
		end
		broken, waiting = broken + (is_broken and 1 or 0), waiting + (job.start and 0 or 1)
	end
	print(("| %s %% | %s | %.2f | %.2f | %.1f %% | %.0f | %.0f | %.0f | %d | %d |"):format(load, way, whole, could, busy,
		mean_wait(jobs, finish, 1, all), mean_wait(jobs, finish, 1, SMALL), mean_wait(jobs, finish, LARGE, all), broken,
		waiting))
end

local function print_jobs(jobs, begin, finish)
	for _, job in ipairs(jobs) do
		local run = job.stop and job.stop < finish and job.stop - job.start or job.run
		print(("%d\t%d\t%d\t%d\t%d"):format(job.submit - begin, job.nodes, job.segment, job.minutes, run))
	end
end

if arg[1] == "row" then
	local jobs, finish = read_stream(arg[4]), tonumber(arg[7])
	read_record(arg[5], jobs, finish)
	print_row(arg[2], arg[3], jobs, finish)
else
	local jobs, finish = read_stream(arg[2]), tonumber(arg[5])
	read_record(arg[3], jobs, finish)
	print_jobs(jobs, tonumber(arg[4]), finish)
end
