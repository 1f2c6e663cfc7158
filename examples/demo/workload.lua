-- SPDX-License-Identifier: MIT
--
-- workload.lua - the jobs of the demo, one line each, for submit.sh.
--
--   lua5.4 workload.lua --nodes 128 --hours 3 [--seed N] [--jobs N]
--   lua5.4 workload.lua --nodes 128 --hours 3 --swf LOG.swf[.gz] [--jobs N]
--
-- Without a log it makes up a morning with the shape of the recorded ones: many
-- small jobs, powers of two, runtimes over three orders of magnitude, users who
-- ask for much more time than they need and for round numbers, arrivals in bursts.
-- Of a log it takes the day whose offered load comes closest to what keeps a
-- queue standing, scales its sizes to this cluster and its times to --hours.
--
-- A line: seconds after the start, kind (batch, srun, salloc), nodes, tasks, GPUs
-- per node, walltime in minutes, runtime in seconds, exclusive (0 or 1), name.

local CORES = 8         -- of a node
local GPUS = 2
local MAX_CLIENTS = 24  -- jobs whose srun or salloc waits on this machine

local function usage(message)
	io.stderr:write("workload.lua: ", message, "\n")
	os.exit(2)
end

local function options(arguments)
	local o = { nodes = 128, hours = 3, seed = 1, jobs = 150, load = 1.25 }
	local i = 1
	while i <= #arguments do
		local name = arguments[i]:match("^%-%-(%w+)$")
		local value = arguments[i + 1]
		if not name or value == nil then usage("unknown option " .. arguments[i]) end
		if name == "swf" then
			o.swf = value
		elseif o[name] then
			o[name] = tonumber(value) or usage("--" .. name .. " wants a number, not " .. value)
		else
			usage("unknown option --" .. name)
		end
		i = i + 2
	end
	return o
end

-- ------------------------------------------------------------------ synthetic

-- Random numbers that are the same everywhere for the same seed.
local random = math.random

local function normal()
	local u = 1.0 - random()
	return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * random())
end

local function pick(weighted)
	local x = random()
	for _, w in ipairs(weighted) do
		x = x - w[1]
		if x < 0 then return w[2] end
	end
	return weighted[#weighted][2]
end

-- Share, and the part of the machine's cores.
local SIZES = {
	{ 0.22, 1 / 1024 }, { 0.10, 4 / 1024 }, { 0.14, 1 / 128 }, { 0.14, 1 / 64 }, { 0.14, 1 / 32 },
	{ 0.12, 1 / 16 }, { 0.08, 1 / 8 }, { 0.04, 1 / 4 }, { 0.02, 1 / 2 },
}
local ROUND_MINUTES = { 5, 10, 15, 30, 60, 120, 180, 240 }

local function round_up(minutes)
	for _, m in ipairs(ROUND_MINUTES) do
		if m >= minutes then return m end
	end
	return ROUND_MINUTES[#ROUND_MINUTES]
end

-- Jobs as a log has them: submit, runtime, cores, walltime (seconds), user.
local function synthetic(o)
	math.randomseed(o.seed)
	local total, span = o.nodes * CORES, o.hours * 3600
	local jobs, area = {}, 0
	for i = 1, o.jobs do
		local cores = math.max(1, math.floor(total * pick(SIZES) + 0.5))
		local runtime = math.exp(math.log(900) + 1.0 * normal())
		runtime = math.min(math.max(30, runtime), span * 0.75)
		jobs[i] = {
			cores = cores, runtime = runtime, user = 1 + math.floor(12 * random() ^ 2),
			walltime = 60 * round_up(runtime / 60 * (1 + 3 * random())),
		}
		area = area + cores * runtime
	end
	-- stretch the runtimes so that the offered load is what was asked for
	local stretch = o.load * total * span / area
	for _, job in ipairs(jobs) do
		job.runtime = math.min(job.runtime * stretch, span * 0.75)
		job.walltime = math.max(job.walltime, 60 * round_up(job.runtime / 60))
	end
	-- a third is waiting already, the others come in bursts of a few
	local at = 0
	for i, job in ipairs(jobs) do
		if i > #jobs / 3 and random() < 0.4 then
			at = at - math.log(1.0 - random()) * span / (#jobs * 2 / 3) / 0.4
		end
		job.submit = math.min(at, span)
	end
	return jobs
end

-- ------------------------------------------------------------------------ SWF

local function open_log(path)
	local file, message = io.open(path, "rb")
	if not file then usage(message) end
	local gzipped = file:read(2) == "\31\139"
	file:close()
	if gzipped then
		return assert(io.popen("gzip -dc -- '" .. path:gsub("'", "'\\''") .. "'", "r"))
	end
	return assert(io.open(path, "r"))
end

-- Feitelson's Standard Workload Format: 18 numbers a line, ';' before a comment.
local function read_log(path)
	local jobs, procs = {}, 0
	local file <close> = open_log(path)
	for line in file:lines() do
		local max = line:match("^;%s*MaxProcs:%s*(%d+)")
		if max then procs = tonumber(max) end
		if not line:match("^%s*;") then
			local f = {}
			for word in line:gmatch("%S+") do f[#f + 1] = tonumber(word) end
			local cores = f[5] and f[5] > 0 and f[5] or f[8]
			if #f >= 12 and f[4] > 0 and cores and cores > 0 then
				jobs[#jobs + 1] = {
					submit = f[2], runtime = f[4], cores = cores,
					walltime = math.max(f[9], f[4]), user = math.max(0, f[12]),
				}
			end
		end
	end
	if #jobs == 0 then usage(path .. ": no jobs in it: is it an SWF log?") end
	if procs == 0 then
		for _, job in ipairs(jobs) do procs = math.max(procs, job.cores) end
	end
	table.sort(jobs, function(a, b) return a.submit < b.submit end)
	return jobs, procs
end

-- First and last of the jobs of the day with the load closest to what is wanted
-- and at least half as many jobs as may be.
local function best_day(jobs, procs, o)
	local day = 24 * 3600
	local first, area, best, best_first, best_last = 1, 0, math.huge, 1, math.min(#jobs, o.jobs)
	for last = 1, #jobs do
		area = area + jobs[last].cores * jobs[last].runtime
		while jobs[last].submit - jobs[first].submit > day or last - first + 1 > o.jobs do
			area = area - jobs[first].cores * jobs[first].runtime
			first = first + 1
		end
		local span = jobs[last].submit - jobs[first].submit
		if span >= day / 4 and last - first + 1 >= o.jobs / 2 then
			local distance = math.abs(area / (procs * span) - o.load)
			if distance < best then best, best_first, best_last = distance, first, last end
		end
	end
	return best_first, best_last
end

local function excerpt(o)
	local all, procs = read_log(o.swf)
	local first, last = best_day(all, procs, o)
	local span = math.max(1, all[last].submit - all[first].submit)
	local opens = all[first + (last - first) // 4].submit	-- a quarter of them is waiting by then
	local squeeze = o.hours * 3600 / math.max(1, all[last].submit - opens)
	local total = o.nodes * CORES
	local jobs = {}
	for i = first, last do
		local job = all[i]
		jobs[#jobs + 1] = {
			submit = math.max(0, (job.submit - opens) * squeeze),
			runtime = math.max(1, job.runtime * squeeze),
			walltime = math.max(60, job.walltime * squeeze),
			cores = math.min(total, math.max(1, math.floor(job.cores * total / procs + 0.5))),
			user = job.user,
		}
	end
	io.stderr:write(("%d jobs of %s: %.1f hours in %.1f, %d processors on %d cores\n"):format(
		#jobs, o.swf, span / 3600, span * squeeze / 3600, procs, total))
	return jobs
end

-- --------------------------------------------------------------------- output

-- A job of the log as a request to Slurm.  Logs know no GPUs and no srun: the
-- job's number decides, so that the same log makes the same jobs.
local function request(job, number, clients)
	local nodes = math.ceil(job.cores / CORES)
	local small = nodes <= 4
	local gpus = (number * 7919) % 100 < 18 and nodes <= 32 and 1 + number % GPUS or 0
	local exclusive = gpus == 0 and nodes > 1 and (number * 104729) % 100 < 15
	local kind = "batch"
	if small and clients < MAX_CLIENTS then
		local lot = (number * 6151) % 100
		if lot < 10 then kind = "srun" elseif lot < 20 then kind = "salloc" end
	end
	return {
		math.floor(job.submit), kind, nodes, math.max(job.cores, nodes), gpus,
		math.max(1, math.ceil(job.walltime / 60)), math.max(1, math.floor(job.runtime)),
		exclusive and 1 or 0, ("u%d.%d"):format(job.user, number),
	}, kind ~= "batch"
end

local function main()
	local o = options(arg)
	local jobs = o.swf and excerpt(o) or synthetic(o)
	local clients = 0
	for number, job in ipairs(jobs) do
		local line, waits = request(job, number, clients)
		if waits then clients = clients + 1 end
		print(table.concat(line, "\t"))
	end
end

main()
