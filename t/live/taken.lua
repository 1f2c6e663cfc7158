-- SPDX-License-Identifier: MIT
--
-- taken.lua - who has which cores?  An independent check of what slurmctld says of its jobs:
--
--   scontrol -d -o show job | lua5.4 taken.lua NODE_CORES[xTHREADS] [JOURNAL]
--
-- No core is had by two jobs (of cores with threads slurmctld says which CPUs: a job has all of a core of which it
-- has one), no node has more cores than NODE_CORES, no job keeps nodes that it
-- did not ask for in its request, and, with a journal, each job has the nodes of the plan and
-- as many cores.  Says how many jobs and cores that are; 1, and what is wrong.
local most, threads = (arg[1] or ""):match("^(%d+)x?(%d*)$")
local journal = arg[2]
assert(most, "taken.lua: NODE_CORES[xTHREADS] [JOURNAL] expected")
most, threads = tonumber(most), tonumber(threads) or 1
local taken, jobs, cores, wrong = {}, 0, 0, 0
local has = {}	-- [job] = { nodes = {name = true}, count, cores }

local function complain(...)
	wrong = wrong + 1
	if wrong <= 20 then print("taken: " .. string.format(...)) end
end

-- Each number of "0-3,8".
local function numbers(list)
	return coroutine.wrap(function()
		for a, b in list:gmatch("(%d+)%-?(%d*)") do
			for i = tonumber(a), tonumber(b ~= "" and b or a) do coroutine.yield(i, #a) end
		end
	end)
end

-- Each name of "n[001-003,7],m2".
local function names(list)
	return coroutine.wrap(function()
		for prefix, ranges in (list .. ","):gmatch("([^%[,]+)(%[?[%d,%-]*%]?),") do
			if ranges == "" then coroutine.yield(prefix) end
			for i, width in numbers(ranges) do coroutine.yield(("%s%0" .. width .. "d"):format(prefix, i)) end
		end
	end)
end

local function take(job, node, ids)
	taken[node] = taken[node] or {}
	local own = {}		-- [core] = true
	for cpu in numbers(ids) do own[cpu // threads] = true end
	for core in pairs(own) do
		if core >= most then complain("%s: job %s has core %d of %d", node, job, core, most) end
		if taken[node][core] then complain("%s: core %d is had by jobs %s and %s", node, core, taken[node][core], job) end
		taken[node][core] = job
		cores = cores + 1
		has[job].cores = has[job].cores + 1
	end
	if not has[job].nodes[node] then has[job].count = has[job].count + 1 end
	has[job].nodes[node] = true
end

for line in io.stdin:lines() do
	local job = line:match("^JobId=(%d+)")
	if job and line:find("ExcNodeList=", 1, true) and
		not (line:find("ReqNodeList=(null)", 1, true) and line:find("ExcNodeList=(null)", 1, true)) then
		complain("job %s has nodes in its request", job)
	end
	if job and line:find("JobState=RUNNING", 1, true) or job and line:find("JobState=CONFIGURING", 1, true) then
		jobs = jobs + 1
		has[job] = { nodes = {}, count = 0, cores = 0 }
		for list, ids in line:gmatch(" Nodes=(%S+) CPU_IDs=(%S+)") do
			for node in names(list) do take(job, node, ids) end
		end
		if has[job].cores == 0 then complain("job %s runs on nothing", job) end
	end
end

local function compare(job, planned, count, planned_cores)
	local own = has[job]
	if not own then return end
	for node in names(planned) do
		if not own.nodes[node] then complain("job %s: %s was planned, and it is not there", job, node) end
	end
	if own.count ~= count or own.cores ~= planned_cores then
		complain("job %s: %d cores on %d nodes were planned, it has %d on %d", job, planned_cores, count,
			own.cores, own.count)
	end
end

local planned = 0
for line in journal and io.lines(journal) or function() end do
	for record in line:sub(2, -2):gmatch("%b{}") do
		if record:match('"done":%s*true') and record:match('"nodes":') and not record:match('"native":%s*true') then
			planned = planned + 1
			compare(record:match('"job":%s*(%d+)'), record:match('"nodes":%s*"([^"]*)"'),
				tonumber(record:match('"node_count":%s*(%d+)')), tonumber(record:match('"cores":%s*(%d+)')))
		end
	end
end
print(("taken: %d jobs, %d cores%s, %d wrong"):format(jobs, cores,
	journal and (", %d starts planned"):format(planned) or "", wrong))
os.exit(wrong == 0)
