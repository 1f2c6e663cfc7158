-- SPDX-License-Identifier: MIT
--
-- twin.lua DIR MACHINE FACTOR TIMES JSON|- POLICY... - what slurmctld's records DIR/POLICY.1 ... say,
-- beside what the simulator makes of the same jobs: mean wait (s), makespan (s: first submission to last
-- end), utilization (core seconds used of all within the makespan).
local dir, machine, factor, times, json = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4]), arg[5]
local machine_nodes, of_node = machine:match("^(%d+)x(%d+)c")
of_node = tonumber(of_node)
local cores = tonumber(machine_nodes) * of_node

local function seconds(iso)
	local y, m, d, h, min, s = iso:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)$")
	return os.time { year = y, month = m, day = d, hour = h, min = min, sec = s, isdst = false }
end

local function median(list)
	table.sort(list)
	return list[(#list + 1) // 2] or 0
end

-- What was submitted, by name: nodes, tasks, GPUs of a node, walltime (s), exclusive.
local function requests(path)
	local asked = {}
	for line in io.lines(path) do
		local nodes, tasks, gpus, minutes, exclusive, name =
			line:match("^%d+\t%a+\t(%d+)\t(%d+)\t(%d+)\t(%d+)\t%d+\t(%d)\t(%S+)$")
		asked[name] = {
			nodes = tonumber(nodes), tasks = tonumber(tasks), gpus = tonumber(gpus), limit = 60 * minutes,
			exclusive = exclusive == "1"
		}
	end
	return asked
end

-- Rows as { id, submit, start, stop, cores, asked }.
local function recorded(path, asked)
	local rows = {}
	for line in io.lines(path) do
		local id, name, submit, start, stop = line:match("^(%d+)\t(%S+)\t(%S+)\t(%S+)\t(%S+)\t%u+$")
		if id then
			local a = asked[name]
			rows[#rows + 1] = {
				id = id, submit = seconds(submit), start = seconds(start), stop = seconds(stop), asked = a,
				cores = a.exclusive and a.nodes * of_node or a.tasks
			}
		end
	end
	return rows
end

-- The simulator's input: what came when, asked for what, and ran how long.
local function write_workload(path, rows)
	local jobs = {}
	for i, r in ipairs(rows) do
		local a = r.asked
		jobs[i] = ('{"id":%s,"submit_time":%d,"eligible_time":%d,"runtime_s":%d,"time_limit":%d,"min_nodes":%d,"max_nodes":%d'
			.. ',"num_tasks":%d,"min_cpus":%d%s%s}'):format(r.id, r.submit, r.submit, r.stop - r.start, a.limit, a.nodes,
			a.nodes, a.tasks, a.tasks, a.exclusive and ',"flags":["EXCLUSIVE"]' or "",
			a.gpus > 0 and (',"gres":[{"name":"gpu","count":%d}]'):format(a.gpus) or "")
	end
	local file = assert(io.open(path, "w"))
	file:write('{"format":"snapshot","version":2,"jobs":[\n', table.concat(jobs, ",\n"), "\n]}\n")
	file:close()
end

-- From the last that happened before a start (the job came, or another ended) to that start: the median.
local function pace(rows)
	local took = {}
	for i, a in ipairs(rows) do
		local event = a.submit
		for _, b in ipairs(rows) do
			if b.stop <= a.start and b.stop > event then event = b.stop end
		end
		took[i] = a.start - event
	end
	return median(took)
end

local function figures(rows)
	local first, last, wait, used = math.huge, 0, 0, 0
	assert(#rows > 0, "no job has completed")
	for _, r in ipairs(rows) do
		first, last = math.min(first, r.submit), math.max(last, r.stop)
		wait, used = wait + r.start - r.submit, used + (r.stop - r.start) * r.cores
	end
	return { jobs = #rows, wait = wait / #rows, makespan = last - first, utilization = used / ((last - first) * cores) }
end

local function simulated(policy, rows, latency)
	local workload = ("%s/%s.json"):format(dir, policy)
	write_workload(workload, rows)
	local csv = ("%s/%s.csv"):format(dir, policy)
	local options = ("--quiet --machine=%s --policy=%s --jobs=%s"):format(machine, policy, csv)
	if latency > 0 then options = options .. (" --interval=%d --latency=%d"):format(latency + 1, latency) end
	local command = ("schedlua sim %s %s >/dev/null"):format(options, workload)
	assert(os.execute(command), command)
	local scheduled, at = {}, nil
	for line in io.lines(csv) do
		local cells = {}
		for cell in (line .. ","):gmatch("([^,]*),") do cells[#cells + 1] = cell end
		if not at then
			at = {}
			for i, name in ipairs(cells) do at[name] = i end
		else
			local function number(name) return tonumber(cells[at[name] or error("no column " .. name)]) end
			scheduled[#scheduled + 1] = {
				submit = number "submit_s", start = number "start_s", stop = number "end_s", cores = number "cores"
			}
		end
	end
	return figures(scheduled)
end

local function beside(format, one, other)
	return (format .. ", " .. format .. " (%+.1f %%)"):format(one, other, 100 * (other / one - 1))
end

local asked = requests(dir .. "/workload.tsv")
local out = {}
print("| policy | jobs | beside slurmctld | mean wait, s | makespan, s | utilization | latency |")
print("|---|---|---|---|---|---|---|")
local function compare(policy, other, real, figure, latency)
	print(("| `%s` | %d | %s | %s | %s | %s | %d s |"):format(policy, real.jobs, other,
		beside("%.0f", real.wait, figure.wait),
		beside("%.0f", real.makespan, figure.makespan), beside("%.4f", real.utilization, figure.utilization), latency))
	out[#out + 1] = table.concat({
		('{"policy":"%s","beside":"%s","factor":%g,"jobs":%d,"latency_s":%d'):format(policy, other, factor,
			real.jobs, latency),
		('"wait_s":[%.3f,%.3f],"makespan_s":[%d,%d]'):format(real.wait, figure.wait, real.makespan, figure.makespan),
		('"utilization":[%.5f,%.5f]}'):format(real.utilization, figure.utilization),
	}, ",")
end
for i = 6, #arg do
	local policy, first = arg[i], nil
	for time = 1, times do
		local rows = recorded(("%s/%s.%d"):format(dir, policy, time), asked)
		local latency, real = pace(rows), figures(rows)
		compare(policy, "the simulator", real, simulated(policy, rows, latency), latency)
		if first then compare(policy, "itself, again", first, real, latency) end
		first = first or real
	end
end
if json ~= "-" then
	local file = assert(io.open(json, "w"))
	file:write("[", table.concat(out, ",\n "), "]\n")
	file:close()
end
