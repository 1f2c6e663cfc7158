-- SPDX-License-Identifier: MIT
--
-- soak_places.lua - is a held place kept for its job?  Asked of scontrol and of the book of held places:
--
--   { scontrol -o show node; scontrol -o -d show job; } | lua5.4 soak_places.lua HELD MEMO RAN
--
-- HELD is a copy of the book (plugin/host/held.h), as it was before and after scontrol was asked. MEMO keeps from
-- look to look which jobs ran on the nodes of a place when it was first seen. Of each node of a place this must fit
-- at any time: what is held there for jobs that wait, and what jobs have that are not stopped for one of these: those
-- that began since the place was seen, and those that ran before and have their time limit in more than TOO_LATE_S.
-- Prints what does not, and the number of places.
-- A job that began has no place any more, though the book keeps it for a minute: RAN says when jobs began (bench/soak).
local TOO_LATE_S, TAKEN_S = 90, 75

local function seconds(text)
	local y, m, d, h, min, s = (text or ""):match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)$")
	return y and os.time { year = y, month = m, day = d, hour = h, min = min, sec = s }
end

-- "n[001-002,005]" as a list
local function expand(list)
	local head, inner = list:match("^(.-)%[(.*)%]$")
	local names = {}
	for part in (inner or list):gmatch("[^,]+") do
		local first, last = part:match("^(%d+)%-(%d+)$")
		if not head then
			names[#names + 1] = part
		else
			for i = tonumber(first or part), tonumber(last or part) do
				names[#names + 1] = head .. ("%0" .. #(first or part) .. "d"):format(i)
			end
		end
	end
	return names
end

local function count_ids(list)
	local n = 0
	for part in list:gmatch("[^,]+") do
		local first, last = part:match("^(%d+)%-(%d+)$")
		n = n + (first and last - first + 1 or 1)
	end
	return n
end

-- Places by job, and for whom each job is stopped.
local function read_book(path)
	local places, stopped, place = {}, {}, nil
	for line in io.lines(path) do
		local f = {}
		for field in (line .. "\t"):gmatch("(.-)\t") do f[#f + 1] = field end
		if f[1] == "P" then
			place = { job = f[2], since = tonumber(f[5]), till = tonumber(f[6]), key = f[2] .. "/" .. f[4], nodes = {} }
			places[#places + 1] = place
		elseif f[1] == "N" then
			place.node = { cores = tonumber(f[3]), gpus = 0 }
			place.nodes[f[2]] = place.node
			place.key = place.key .. "/" .. f[2]
		elseif f[1] == "G" and f[2]:match("^gpu") then
			place.node.gpus = place.node.gpus + tonumber(f[4])
		elseif f[1] == "S" then
			stopped[f[2]] = f[3]
		end
	end
	return places, stopped
end

-- Jobs that began a moment ago, by a clock that nobody steps.
local function read_begun(path)
	local up, begun = tonumber(io.open("/proc/uptime"):read "a":match "^[%d.]+"), {}
	for line in io.lines(path) do
		local id, at = line:match("^(%d+) %d+ begin ([%d.]+)$")
		if id and tonumber(at) > up - TAKEN_S then begun[id] = true end
	end
	return begun
end

local nodes, waits = {}, {}
for line in io.lines() do
	local name, id, state = line:match("^NodeName=(%S+)"), line:match("^JobId=(%d+)"), line:match(" JobState=(%S+)")
	if name then
		nodes[name] = { cores = tonumber(line:match(" CPUTot=(%d+)")), gpus = tonumber(line:match(" Gres=gpu:(%d+)")) or 0,
			out = line:match(" State=%S*DOWN") or line:match(" State=%S*DRAIN"), jobs = {} }
	elseif id and state == "PENDING" then
		waits[id] = { key = "restarts=" .. (line:match(" Restarts=(%d+)") or "0"),
			since = seconds(line:match(" EligibleTime=(%S+)")) or 0 }
	elseif id and (state == "RUNNING" or state == "CONFIGURING") then
		local job = { id = id, run = id .. "@" .. (line:match(" StartTime=(%S+)") or ""),
			till = seconds(line:match(" EndTime=(%S+)")) }
		for list, cpus, gres in line:gmatch(" Nodes=(%S+) CPU_IDs=(%S+) Mem=%S+ GRES=(%S*)") do
			for _, node in ipairs(expand(list)) do
				table.insert(nodes[node].jobs, { job = job, cores = count_ids(cpus),
					gpus = tonumber(gres:match("gpu[^,]*:(%d+)%(")) or 0 })
			end
		end
	end
end

-- [key of a place] = { [run of a job] = true }
local memo, news = {}, {}
for line in (io.open(arg[2]) and io.lines(arg[2]) or function() end) do
	local key, run = line:match("^(%S+) (%S+)$")
	memo[key] = memo[key] or {}
	memo[key][run] = true
end
local places, stopped = read_book(arg[1])
local held, since, before = {}, {}, {}
local seen, wrong = 0, 0

local begun = read_begun(arg[3])
local function is_waited_for(place, was)
	local job = waits[place.job]
	return job and not (was and not was[job.key]) and job.since <= place.since and not begun[place.job] and
		place.since > 0 and place.till > os.time() + 90
end

for _, place in ipairs(places) do
	local was = memo[place.key]
	if not is_waited_for(place, was) then
		news[place.key] = was
	else
		seen = seen + 1
		news[place.key] = was or { [waits[place.job].key] = true }
		for name, what in pairs(place.nodes) do
			held[name] = held[name] or { cores = 0, gpus = 0 }
			held[name].cores, held[name].gpus = held[name].cores + what.cores, held[name].gpus + what.gpus
			since[name] = math.max(since[name] or 0, place.since)
			for _, has in ipairs(nodes[name] and nodes[name].jobs or {}) do
				if not was then news[place.key][has.job.run] = true end
				if news[place.key][has.job.run] then before[has.job.run .. name] = true end
			end
		end
	end
end
for name, what in pairs(held) do
	local node = nodes[name]
	if node and not node.out then
		local cores, gpus, who = what.cores, what.gpus, {}
		for _, has in ipairs(node.jobs) do
			local old = before[has.job.run .. name]
			local stays = not old or (has.job.till or 0) > since[name] + TOO_LATE_S
			if stays and not (old and stopped[has.job.id]) then
				cores, gpus = cores + has.cores, gpus + has.gpus
				who[#who + 1] = (old and "" or "new ") .. has.job.run .. ":" .. has.cores .. "+" .. has.gpus
			end
		end
		if cores > node.cores or gpus > node.gpus then
			wrong = wrong + 1
			print(("held place on %s: %d of %d cores and %d of %d GPUs would be needed: held %d and %d, beside it %s"):format(
				name, cores, node.cores, gpus, node.gpus, what.cores, what.gpus, table.concat(who, " ")))
		end
	end
end
local file = assert(io.open(arg[2], "w"))
for key, runs in pairs(news) do
	for run in pairs(runs) do file:write(key, " ", run, "\n") end
end
file:close()
io.stderr:write(seen, "\n")
os.exit(wrong == 0)
