-- SPDX-License-Identifier: MIT
--
-- training.lua - bench/training: tables of Chronus' artifact as workloads, and figures of schedules.
--
--	training.lua workload < TABLE.csv > WORKLOAD.json	jobs whose comment says their deadline
--	training.lua restarts < TABLE.csv > WORKLOAD.json	2000 jobs that may be stopped for each other
--	training.lua figures WORKLOAD.json < SCHEDULE.csv	one line: jobs, misses and hours
--
-- The table's times are minutes: its authors' simulator turns the machine on and off by hours of sixty.
-- expect_time_list is the deadline, in minutes from submission; of best-effort jobs (job_type best) it means nothing.
-- Jobs without a GPU are left out, as there.  A job has the same number of GPUs, eight at most, of each of its nodes.

local ORIGIN <const> = 946684800	-- 2000-01-01
local GPUS_A_NODE <const> = 8

local function split(line)
	local fields = {}
	for field in (line .. ","):gmatch "([^,]*)," do
		fields[#fields + 1] = field
	end
	return fields
end

-- Rows of a table with the names of its columns, one at a time.
local function rows()
	local names = split(assert(io.read "l", "an empty table"))
	return function()
		local line = io.read "l"
		if not line then
			return nil
		end
		local row = {}
		local fields = split(line)	-- (a list of nodes, in the last column, may have commas)
		for i, name in ipairs(names) do
			row[name] = fields[i]
		end
		return row
	end
end

local function nodes_for(gpus)
	local nodes = (gpus + GPUS_A_NODE - 1) // GPUS_A_NODE
	while gpus % nodes > 0 do
		nodes = nodes + 1
	end
	return nodes
end

local RESTARTS <const> = '"comment": "checkpoint=10", "qos": "train", "preempts": "QOS=train", '
	.. '"preempt_mode": "requeue", "flags": ["BATCH", "REQUEUE", "MAY_PREEMPT"]'

local function write_job(row, restarts)
	local gpus, at, seconds = math.tointeger(row.num_gpu), ORIGIN + 60 * math.tointeger(row.submit_time),
		60 * math.max(1, math.tointeger(row.duration))
	local nodes = nodes_for(gpus)
	io.write(('{"id": %d, "user": "%s", '):format(row.job_id + 1, row.user))
	io.write(('"submit_time": %d, "eligible_time": %d, '):format(at, at))
	io.write(('"time_limit": %d, "runtime_s": %d, '):format(seconds, seconds))
	io.write(('"min_nodes": %d, "max_nodes": %d, '):format(nodes, nodes))
	io.write(('"num_tasks": %d, "min_cpus": %d, '):format(gpus, gpus))
	io.write(('"gres": [{"name": "gpu", "count": %d, "per": "node"}]'):format(gpus // nodes))
	if restarts then
		io.write(", ", RESTARTS)
	elseif row.job_type == "strict" then
		io.write((', "comment": "deadline=%d"'):format(row.expect_time_list))
	end
	io.write "}"
end

-- Of the jobs, in the order of submission, the first so many.
local function write_workload(restarts, first)
	local list = {}
	for row in rows() do
		if math.tointeger(row.num_gpu) > 0 then
			list[#list + 1] = row
		end
	end
	table.sort(list, function(a, b)
		local x, y = math.tointeger(a.submit_time), math.tointeger(b.submit_time)
		return x < y or x == y and math.tointeger(a.job_id) < math.tointeger(b.job_id)
	end)
	io.write '{"format": "snapshot", "version": 2, "jobs": ['
	for i = 1, math.min(#list, first) do
		io.write(i > 1 and ",\n" or "\n")
		write_job(list[i], restarts)
	end
	io.write "\n]}\n"
end

-- By id: minutes from submission to the deadline, and whether there is one.
local function read_deadlines(path)
	local deadline = {}
	for line in io.lines(path) do
		local id, minutes = line:match '"id": (%d+),', line:match '"comment": "deadline=(%d+)"'
		if id then
			deadline[math.tointeger(id)] = minutes and 60 * math.tointeger(minutes) or math.huge
		end
	end
	return deadline
end

local function write_figures(path)
	local deadline = read_deadlines(path)
	local strict = { jobs = 0, missed = 0, wait = 0 }
	local best = { jobs = 0, wait = 0, jct = 0 }
	local seen = 0
	for row in rows() do
		local due = assert(deadline[math.tointeger(row.job)], "a job that the workload has not")
		local class, ended = due == math.huge and best or strict, tonumber(row.end_s)
		local took = assert(ended, "a job did not end") - tonumber(row.submit_s)
		seen, class.jobs = seen + 1, class.jobs + 1
		class.wait = class.wait + tonumber(row.wait_s)
		if class == strict then
			strict.missed = strict.missed + (took > due and 1 or 0)
		else
			best.jct = best.jct + took
		end
	end
	local jobs = 0
	for _ in pairs(deadline) do
		jobs = jobs + 1
	end
	assert(seen == jobs, "the schedule lacks jobs")
	local function hours(sum, n) return n > 0 and ("%.1f"):format(sum / n / 3600) or "-" end
	local missed = strict.jobs > 0 and ("%.1f %%"):format(100 * strict.missed / strict.jobs) or "-"
	print(table.concat({ strict.jobs, missed, hours(strict.wait, strict.jobs), best.jobs, hours(best.wait, best.jobs),
		hours(best.jct, best.jobs) }, " | "))
end

local verbs = {
	workload = function() write_workload(false, math.huge) end,
	restarts = function() write_workload(true, 2000) end,
	figures = write_figures,
}
assert(verbs[arg[1]], "expected workload or figures")(arg[2])
