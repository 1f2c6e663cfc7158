-- SPDX-License-Identifier: MIT
--
-- twin.lua DIR MACHINE FACTOR JSON|- POLICY... - what slurmctld's record DIR/POLICY.sacct says,
-- beside what the simulator makes of the same jobs: mean wait (s), makespan (s: first submission to last
-- end), utilization (core seconds used of all within the makespan).
local dir, machine, factor, json = arg[1], arg[2], tonumber(arg[3]), arg[4]
local cores = machine:match("^(%d+)x(%d+)c")
cores = tonumber(cores) * tonumber(machine:match("x(%d+)c"))

local function seconds(iso)
	local y, m, d, h, min, s = iso:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)$")
	return os.time { year = y, month = m, day = d, hour = h, min = min, sec = s, isdst = false }
end

local function median(list)
	table.sort(list)
	return list[(#list + 1) // 2] or 0
end

-- Rows as { submit, start, stop, cores }.
local function recorded(path)
	local rows = {}
	for line in io.lines(path) do
		local submit, start, stop, cpus = line:match("^%d+|([^|]+)|([^|]+)|([^|]+)|[^|]*|COMPLETED|(%d+)|")
		if submit then
			rows[#rows + 1] = {
				submit = seconds(submit), start = seconds(start), stop = seconds(stop), cores = tonumber(cpus)
			}
		end
	end
	return rows
end

-- Where all that ran and waited leaves room for a job, nothing but the program's pace kept it.
local function pace(rows)
	local took = {}
	for _, a in ipairs(rows) do
		local wanted = 0
		for _, b in ipairs(rows) do
			if b.submit <= a.submit and b.stop > a.submit - 60 then wanted = wanted + b.cores end
		end
		if wanted < cores // 2 then took[#took + 1] = a.start - a.submit end
	end
	return median(took), #took
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

local function simulated(policy, latency)
	local csv = ("%s/%s.csv"):format(dir, policy)
	local options = ("--quiet --machine=%s --policy=%s --jobs=%s"):format(machine, policy, csv)
	if latency > 0 then options = options .. (" --interval=%d --latency=%d"):format(latency + 1, latency) end
	local command = ("schedlua sim %s %s/%s.sacct >/dev/null"):format(options, dir, policy)
	assert(os.execute(command), command)
	local rows, at = {}, nil
	for line in io.lines(csv) do
		local cells = {}
		for cell in (line .. ","):gmatch("([^,]*),") do cells[#cells + 1] = cell end
		if not at then
			at = {}
			for i, name in ipairs(cells) do at[name] = i end
		else
			local function number(name) return tonumber(cells[at[name] or error("no column " .. name)]) end
			rows[#rows + 1] = {
				submit = number "submit_s", start = number "start_s", stop = number "end_s", cores = number "cores"
			}
		end
	end
	return figures(rows)
end

local out = {}
print("| policy | jobs | mean wait, s: slurmctld, simulator | makespan, s | utilization | pace |")
print("|---|---|---|---|---|---|")
for i = 5, #arg do
	local policy = arg[i]
	local rows = recorded(("%s/%s.sacct"):format(dir, policy))
	local latency, of = pace(rows)
	local real, sim = figures(rows), simulated(policy, latency)
	local function beside(key, format)
		return (format .. ", " .. format .. " (%+.1f %%)"):format(real[key], sim[key], 100 * (sim[key] / real[key] - 1))
	end
	print(("| `%s` | %d | %s | %s | %s | %d s, of %d jobs |"):format(policy, real.jobs, beside("wait", "%.0f"),
		beside("makespan", "%.0f"), beside("utilization", "%.4f"), latency, of))
	out[#out + 1] = table.concat({
		('{"policy":"%s","factor":%g,"jobs":%d,"simulated":%d,"latency_s":%d'):format(policy, factor, real.jobs, sim.jobs,
			latency),
		('"wait_s":[%.3f,%.3f],"makespan_s":[%d,%d]'):format(real.wait, sim.wait, real.makespan, sim.makespan),
		('"utilization":[%.5f,%.5f]}'):format(real.utilization, sim.utilization),
	}, ",")
end
if json ~= "-" then
	local file = assert(io.open(json, "w"))
	file:write("[", table.concat(out, ",\n "), "]\n")
	file:close()
end
