-- SPDX-License-Identifier: MIT
--
-- lomonosov.lua - what a limit on CPU-hours per user does to the first job of each user and to
-- all jobs: EASY with and without it, over the limit, on a log.  See bench/README.md.
--
-- A limit is given in hours of the whole machine, so that logs compare: 81920 CPU-hours of
-- Lomonosov's regular4 are two and a half.

local usage = [[
usage: bench/lomonosov [--limits H,H,...] [--modes MODE[=H:H...],...] [--first N] [--chart FILE.svg]
                       [--json FILE] LOG... | --from FILE.json,... --chart FILE.svg
]]

local modes = {
	wait = 'sched.quota { per_user = "%s", oversize = "alone" },',
	demote = 'sched.quota { per_user = "%s", oversize = "alone", on_exceed = "demote" },',
	first = 'sched.first_job { most = "%s" },',
	-- a day's head start, so that nobody is overtaken for ever
	aged = 'sched.weighted { { 1, sched.ageing { per = "1h" } }, { 24, sched.first_job { most = "%s" } } },',
	["wait+first"] = 'sched.quota { per_user = "%s", oversize = "alone" }, sched.first_job { },',
	["demote+first"] = 'sched.quota { per_user = "%s", oversize = "alone", on_exceed = "demote" }, sched.first_job { },',
}

local opt = { limits = "0.1,0.2,0.5,1,2.5,5,10,40", modes = "wait=2.5:5:10:40,demote,aged", first = "0", logs = {} }
local i = 1
while arg[i] do
	local name = arg[i]:match("^%-%-(%a+)$")
	if not name then
		opt.logs[#opt.logs + 1] = arg[i]
	elseif arg[i + 1] and (opt[name] or name == "chart" or name == "json" or name == "from") and name ~= "logs" then
		i = i + 1
		opt[name] = arg[i]
	else
		io.stderr:write(usage)
		os.exit(2)
	end
	i = i + 1
end
if #opt.logs == 0 and not opt.from then
	io.stderr:write(usage)
	os.exit(2)
end

local dir = assert(os.getenv("LOMONOSOV_TMP"), "run bench/lomonosov")
local program = assert(os.getenv("SCHEDLUA"), "run bench/lomonosov")

local function split(text)
	local list = {}
	for item in text:gmatch("[^,]+") do
		list[#list + 1] = item
	end
	return list
end

-- -- one simulation ----------------------------------------------------------

local function quoted(text)
	return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function write(path, text)
	local file = assert(io.open(path, "w"))
	file:write(text)
	file:close()
end

-- The figures of a log under a list of parts before easy; and its jobs.
local function simulate(log, parts)
	write(dir .. "/site.lua", 'local sched = require "sched"\nreturn sched.site { default = { ' .. parts ..
		' "easy", window = 100000 } }\n')
	local workload = log:match("^synthetic") and quoted(log):gsub(",machine=(%w+)", "' --machine='%1") or quoted(log)
	local command = ("nice %s sim --quiet --json --site=%s/site.lua --jobs=%s/jobs.csv --first=%s %s"):format(
		quoted(program), dir, dir, opt.first, workload)
	local pipe = assert(io.popen(command))
	local text = pipe:read("a")
	assert(pipe:close(), "schedlua sim failed: " .. command)
	local figures = {}
	for key, value in text:gmatch('"([%w_]+)": *([%d.eE+-]+)') do
		figures[key] = figures[key] or tonumber(value)
	end
	return figures
end

-- Jobs of jobs.csv: user, submit, start, end, cores.
local function read_jobs()
	local jobs, column = {}, {}
	for line in io.lines(dir .. "/jobs.csv") do
		local row, n = {}, 0
		for field in (line .. ","):gmatch("([^,]*),") do
			n = n + 1
			row[n] = field
		end
		if not next(column) then
			for at, name in ipairs(row) do
				column[name] = at
			end
		else
			local start = tonumber(row[column.start_s])
			jobs[#jobs + 1] = { user = row[column.user], submit = tonumber(row[column.submit_s]), start = start,
				finish = tonumber(row[column.end_s]), cores = tonumber(row[column.cores]) }
		end
	end
	table.sort(jobs, function(a, b) return a.submit < b.submit end)
	return jobs
end

-- -- what is not among the simulator's figures --------------------------------

-- Mean number of users with something running, over the time in which anybody has.
local function users_served(jobs)
	local events = {}
	for _, job in ipairs(jobs) do
		if job.finish > job.start then
			events[#events + 1] = { job.start, 1, job.user }
			events[#events + 1] = { job.finish, -1, job.user }
		end
	end
	table.sort(events, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
	local running, users, area, time, last = {}, 0, 0, 0, nil
	for _, event in ipairs(events) do
		if last and users > 0 then
			area, time = area + users * (event[1] - last), time + event[1] - last
		end
		last = event[1]
		local was = running[event[3]] or 0
		running[event[3]] = was + event[2]
		users = users + (was == 0 and 1 or was + event[2] == 0 and -1 or 0)
	end
	return area / math.max(1, time)
end

-- Mean wait of jobs that came when their user had nothing running or waiting: as many "first
-- jobs" as there are returns to the machine, and not only one of each user.
local function returning_wait(jobs)
	local busy_until, sum, n = {}, 0, 0
	for _, job in ipairs(jobs) do
		if job.submit >= (busy_until[job.user] or -math.huge) then
			sum, n = sum + job.start - job.submit, n + 1
		end
		busy_until[job.user] = math.max(busy_until[job.user] or -math.huge, job.finish)
	end
	return sum / math.max(1, n), n
end

-- Core-seconds by month (30 days) and user.
local function by_month(jobs)
	local months = {}
	local month = 30 * 86400
	for _, job in ipairs(jobs) do
		for m = job.start // month, (job.finish - 1) // month do
			local t = math.min(job.finish, (m + 1) * month) - math.max(job.start, m * month)
			months[m] = months[m] or {}
			months[m][job.user] = (months[m][job.user] or 0) + t * job.cores
		end
	end
	return months
end

-- The share of the CPU time of a month that other users had than under EASY alone; the mean over
-- months by their CPU time, and the largest.
local function moved(jobs, base)
	local now, total, sum, largest = by_month(jobs), 0, 0, 0
	for m, users in pairs(base) do
		local all, more = 0, 0
		for user, t in pairs(users) do
			all = all + t
			more = more + math.max(0, (now[m] and now[m][user] or 0) - t)
		end
		for user, t in pairs(now[m] or {}) do
			if not users[user] then
				more = more + t
			end
		end
		total, sum, largest = total + all, sum + more, math.max(largest, all > 0 and more / all or 0)
	end
	return sum / math.max(1, total), largest
end

-- -- a log ----------------------------------------------------------------------

local function measure(log, parts, base)
	local f = simulate(log, parts)
	local jobs = read_jobs()
	local r = { first = f.first_job_wait_mean_s, all = f.wait_mean_s, bsld = f.bsld_mean, users = f.users, cores = f.cores,
		utilization = f.utilization, unfinished = f.unfinished, jobs = f.jobs, served = users_served(jobs) }
	r.returning, r.returns = returning_wait(jobs)
	if base then
		r.moved, r.moved_most = moved(jobs, base)
	else
		r.months = by_month(jobs)
	end
	return r
end

local function percent(value, base)
	return 100 * (value / base - 1)
end

local out = io.stderr

local function row(name, r, base)
	out:write(("%-26s %9.0f %+7.1f%% %9.0f %+7.1f%% %9.0f %+7.2f%% %7.2f %6.1f%% %6.1f%% %6.3f\n"):format(name, r.first,
		percent(r.first, base.first), r.returning, percent(r.returning, base.returning), r.all, percent(r.all, base.all),
		r.served, 100 * (r.moved or 0), 100 * (r.moved_most or 0), r.utilization))
end

-- The name of a log, without its directory and what follows ".swf".
local function name_of(log)
	return (log:match("([^/]*)$"):gsub("%.swf.*", ""))
end

local function run(log)
	local base = measure(log, "", nil)
	local result = { log = log, base = base, rows = {} }
	out:write(("\n%s: %d jobs of %d users on %d cores, %d returns\n"):format(
		name_of(log), base.jobs, base.users, base.cores, base.returns))
	out:write(("%-26s %18s %18s %18s %7s %7s %7s %6s\n"):format(
		"", "first job, s", "returning, s", "all jobs, s", "served", "moved", "most", "util."))
	row("easy", base, base)
	local function case(label, mode, hours, parts)
		local r = measure(log, parts, base.months)
		r.mode, r.hours, r.limit = mode, hours, hours and hours * base.cores
		result.rows[#result.rows + 1] = r
		row(label, r, base)
	end
	case("first jobs of any size", "first of any size", nil, "sched.first_job { },")
	for _, mode in ipairs(split(opt.modes)) do
		local own = mode:match("=(.*)")
		mode = mode:match("^[^=]+")
		for _, h in ipairs(split(own and own:gsub(":", ",") or opt.limits)) do
			local hours = tonumber(h)
			local limit = ("%.0f cpu-hours"):format(hours * base.cores)
			local label = ("%s, %s h = %.0f"):format(mode, h, hours * base.cores)
			case(label, mode, hours, assert(modes[mode], usage):format(limit))
		end
	end
	return result
end

-- -- the chart --------------------------------------------------------------------

local colours = { wait = "#c0392b", demote = "#2471a3", first = "#1e8449", aged = "#7d3c98",
	["wait+first"] = "#d68910", ["demote+first"] = "#76448a" }
local width, height, gap = 460, 300, 50		-- of a panel, and between two
local low, high = -50, 50			-- percent

local function modes_drawn()
	return split((opt.modes:gsub("=[^,]*", "")))
end

-- One log: a line for each mode.
local function panel(add, result, left)
	local least, most = math.huge, 0
	table.sort(result.rows, function(a, b) return (a.hours or 0) < (b.hours or 0) end)
	for _, r in ipairs(result.rows) do
		if r.hours then
			least, most = math.min(least, r.hours), math.max(most, r.hours)
		end
	end
	local function x(hours)
		return left + width * math.log(hours / least) / math.max(1e-9, math.log(most / least))
	end
	local function y(value)
		return 40 + height * (high - math.max(low, math.min(high, value))) / (high - low)
	end
	add('<text x="%d" y="20" font-size="13">%s</text>', left, name_of(result.log))
	for v = low, high, 10 do
		add('<line x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f" stroke="%s"/>' ..
			'<text x="%.0f" y="%.1f" text-anchor="end">%d %%</text>',
			left, left + width, y(v), y(v), v == 0 and "#555" or "#ddd", left - 4, y(v) + 4, v)
	end
	add('<line x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f" stroke="#999" stroke-dasharray="2 3"/>',
		left, left + width, y(-20), y(-20))
	for _, mode in ipairs(modes_drawn()) do
		local points = { first = {}, all = {} }
		for _, r in ipairs(result.rows) do
			if r.mode == mode then
				for key, list in pairs(points) do
					list[#list + 1] = ("%.1f,%.1f"):format(x(r.hours), y(percent(r[key], result.base[key])))
				end
				add('<text x="%.0f" y="%d" text-anchor="middle">%g</text>', x(r.hours), height + 56, r.hours)
			end
		end
		add('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>',
			colours[mode], table.concat(points.first, " "))
		add('<polyline fill="none" stroke="%s" stroke-width="1.5" stroke-dasharray="5 4" points="%s"/>',
			colours[mode], table.concat(points.all, " "))
	end
	add('<text x="%.0f" y="%d" text-anchor="middle">limit per user, hours of the whole machine</text>',
		left + width / 2, height + 72)
end

local function chart(results, path)
	local svg = {}
	local function add(format, ...)
		svg[#svg + 1] = format:format(...)
	end
	add('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">',
		#results * (width + gap) + gap, height + 110)
	svg[#svg + 1] = '<rect width="100%" height="100%" fill="white"/>'
	for k, result in ipairs(results) do
		panel(add, result, gap + (k - 1) * (width + gap))
	end
	local at = gap
	for _, mode in ipairs(modes_drawn()) do
		add('<text x="%d" y="%d" fill="%s">%s</text>', at, height + 94, colours[mode], mode)
		at = at + 100
	end
	add('<text x="%d" y="%d">solid: wait of first jobs; dashed: of all jobs; beside EASY alone ' ..
		'(beyond 50 %% cut)</text>', at, height + 94)
	svg[#svg + 1] = "</svg>\n"
	write(path, table.concat(svg, "\n"))
end

local function json(results)
	local items = {}
	for _, result in ipairs(results) do
		local base = result.base
		for _, r in ipairs(result.rows) do
			items[#items + 1] = (('{"log": "%s", "mode": "%s", "hours": %s, "limit_cpu_hours": %s, "first_wait_s": %.1f, ' ..
				'"first_change": %.4f, "returning_wait_s": %.1f, "returning_change": %.4f, "wait_s": %.1f, "wait_change": %.4f, ' ..
				'"users_served": %.3f, "moved": %.4f, "moved_most": %.4f, "utilization": %.4f, "unfinished": %d}')):format(
				result.log:match("([^/]*)$"), r.mode, r.hours or "null", r.limit and ("%.0f"):format(r.limit) or "null", r.first,
				r.first / base.first - 1, r.returning, r.returning / base.returning - 1, r.all, r.all / base.all - 1, r.served,
				r.moved, r.moved_most, r.utilization, r.unfinished)
		end
	end
	return "[\n" .. table.concat(items, ",\n") .. "\n]\n"
end

-- What --json wrote, for a chart of several runs.
local function read_results(results, path)
	for line in io.lines(path) do
		local log = line:match('"log": "([^"]*)"')
		if log then
			local result = results[log]
			if not result then
				result = { log = log, rows = {}, base = {} }
				results[log] = result
				results[#results + 1] = result
			end
			local function number(key) return tonumber(line:match('"' .. key .. '": ([%d.eE+-]+)')) end
			result.base.first = number("first_wait_s") / (1 + number("first_change"))
			result.base.all = number("wait_s") / (1 + number("wait_change"))
			table.insert(result.rows, { mode = line:match('"mode": "([^"]*)"'), hours = number("hours"),
				first = number("first_wait_s"), all = number("wait_s") })
		end
	end
end

local results = {}
for _, path in ipairs(split(opt.from or "")) do
	read_results(results, path)
end
for _, log in ipairs(opt.logs) do
	results[#results + 1] = run(log)
end
if opt.chart then
	chart(results, opt.chart)
end
if opt.json then
	write(opt.json, json(results))
end
