-- SPDX-License-Identifier: MIT
--
-- summary.lua - the figures at the end of the demo.
--
--   lua5.4 summary.lua --jobs FILE --cores N --now TIME [--status STATUS.json]
--   lua5.4 summary.lua --jobs FILE --cores N --now TIME --beside FILE --beside-now TIME
--
-- The second form prints the same figures of two schedulers beside each other.
--
-- FILE: squeue -h -r -t all -o '%T|%V|%S|%e|%C|%D' (state, submitted, started,
-- ended, cores, nodes).  Definitions are those of schedlua(1): wait = start -
-- submit; utilization = cores x time used / (all cores x time from the first
-- submission until now).

local option = {}
for i = 1, #arg, 2 do option[arg[i]:gsub("^%-%-", "")] = arg[i + 1] end

local function seconds(iso)
	local y, m, d, h, min, s = (iso or ""):match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)")
	return y and os.time { year = y, month = m, day = d, hour = h, min = min, sec = s }
end

local function span(s)
	return ("%d:%02d:%02d"):format(s // 3600, s // 60 % 60, s % 60)
end

local function row(name, format, ...)
	print(("  %-25s " .. format):format(name, ...))
end

-- The figures of the jobs of a file at an instant.
local function read_jobs(file, now)
	local r = { all = 0, finished = 0, running = 0, pending = 0, other = 0, now = now, first = now }
	r.waits, r.used, r.sum, r.waited = {}, 0, 0, 0

	local function take_started(state, submit, start, ended, cores)
		local stop = (state == "RUNNING" or state == "COMPLETING" or not ended) and now or math.min(ended, now)

		r.waits[#r.waits + 1] = start - submit
		r.sum = r.sum + start - submit
		r.used = r.used + tonumber(cores) * math.max(0, stop - start)
		if state == "RUNNING" then
			r.running = r.running + 1
		elseif state == "COMPLETED" or state == "COMPLETING" or state == "TIMEOUT" then
			r.finished = r.finished + 1
		else
			r.other = r.other + 1
		end
	end

	for line in io.lines(file) do
		local state, submit, start, ended, cores = line:match("^(%u+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|")
		if state then
			submit, start, ended = seconds(submit), seconds(start), seconds(ended)
			r.all = r.all + 1
			r.first = math.min(r.first, submit or r.first)
			if state == "PENDING" then
				r.pending = r.pending + 1
				r.waited = r.waited + now - (submit or now)
			elseif start and submit then
				take_started(state, submit, start, ended, cores)
			end
		end
	end
	table.sort(r.waits)
	r.median, r.longest = r.waits[(#r.waits + 1) // 2], r.waits[#r.waits]
	r.utilization = now > r.first and 100 * r.used / (tonumber(option.cores) * (now - r.first)) or 0
	return r
end

local ours = read_jobs(option.jobs, seconds(option.now))

-- Two schedulers, a figure a row.
local function print_beside(stock)
	local function two(name, format, value)
		local function cell(r)
			local v = value(r)
			return v and (format == "span" and span(v) or format:format(v)) or "-"
		end
		print(("  %-30s %14s %16s"):format(name, cell(ours), cell(stock)))
	end

	print(("  %-30s %14s %16s"):format("", "sched/lua", "sched/backfill"))
	two("jobs submitted", "%d", function(r) return r.all end)
	two("started", "%d", function(r) return #r.waits end)
	two("finished", "%d", function(r) return r.finished end)
	two("still pending at the end", "%d", function(r) return r.pending end)
	two("wait of those started, mean", "span", function(r) return #r.waits > 0 and r.sum // #r.waits or nil end)
	two("median", "span", function(r) return r.median end)
	two("longest", "span", function(r) return r.longest end)
	two("wait until then of all, mean", "span", function(r) return r.all > 0 and (r.sum + r.waited) // r.all or nil end)
	two("utilization", "%.1f %%", function(r) return r.utilization end)
end

if option.beside then
	print_beside(read_jobs(option.beside, seconds(option["beside-now"])))
	return
end

print("Summary")
row("jobs", "%d: %d finished, %d running, %d pending, %d ended otherwise",
	ours.all, ours.finished, ours.running, ours.pending, ours.other)
if #ours.waits > 0 then
	row("wait until start", "mean %s, median %s, longest %s", span(ours.sum // #ours.waits), span(ours.median),
		span(ours.longest))
end
if ours.now > ours.first then
	row("utilization", "%.1f %% of %s cores over %s", ours.utilization, option.cores, span(ours.now - ours.first))
end

-- The few numbers of status.json that a reader wants; its form is fixed.
local function status_figures(text)
	local function number(key) return tonumber(text:match('"' .. key .. '": *(-?[%d.]+)')) end
	local function times(key)
		local block = text:match('"' .. key .. '": *(%b{})') or ""
		local function part(name) return tonumber(block:match('"' .. name .. '": *(%d+)')) end
		return part("p50"), part("p99"), part("max")
	end
	local function times_row(name, key, scale)
		local p50, p99, max = times(key)
		if p50 then row(name, "%.2f ms median, %.2f ms p99, %.2f ms longest", p50 / scale, p99 / scale, max / scale) end
	end
	-- the cluster's clock runs factor times too fast, and so do its stopwatches
	local scale = 1000 * (tonumber(option.factor) or 1)
	row("cycles", "%d, by: %s", number("cycles") or 0, text:match('"policy": *"([^"]*)"') or "-")
	row("jobs started by the policy", "%d (stale decisions dropped: %d)", number("starts") or 0, number("stale") or 0)
	row("reloads", "%d taken, %d refused", number("reloads") or 0, number("refused") or 0)
	times_row("lock hold, job queue", "queue_hold_us", scale)
	times_row("lock hold, copying", "copy_hold_us", scale)
	times_row("lock hold, starting", "commit_hold_us", scale)
	times_row("policy decides in", "decide_us", scale)
end

local file = option.status and io.open(option.status, "r")
if file then
	status_figures(file:read("a"))
	file:close()
end
