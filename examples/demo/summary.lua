-- SPDX-License-Identifier: MIT
--
-- summary.lua - the figures at the end of the demo.
--
--   lua5.4 summary.lua --jobs FILE --cores N --now TIME [--status STATUS.json]
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

local now = seconds(option.now)
local count = { all = 0, finished = 0, running = 0, pending = 0, other = 0 }
local waits, used, first = {}, 0, now

for line in io.lines(option.jobs) do
	local state, submit, start, ended, cores = line:match("^(%u+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|")
	if state then
		submit, start, ended = seconds(submit), seconds(start), seconds(ended)
		count.all = count.all + 1
		first = math.min(first, submit or first)
		if state == "PENDING" then
			count.pending = count.pending + 1
		elseif start and submit then
			waits[#waits + 1] = start - submit
			local stop = (state == "RUNNING" or state == "COMPLETING" or not ended) and now or math.min(ended, now)
			used = used + tonumber(cores) * math.max(0, stop - start)
			if state == "RUNNING" then
				count.running = count.running + 1
			elseif state == "COMPLETED" or state == "COMPLETING" or state == "TIMEOUT" then
				count.finished = count.finished + 1
			else
				count.other = count.other + 1
			end
		end
	end
end
table.sort(waits)

local sum = 0
for _, w in ipairs(waits) do sum = sum + w end

print("Summary")
row("jobs", "%d: %d finished, %d running, %d pending, %d ended otherwise",
	count.all, count.finished, count.running, count.pending, count.other)
if #waits > 0 then
	row("wait until start", "mean %s, median %s, longest %s", span(sum // #waits), span(waits[(#waits + 1) // 2]),
		span(waits[#waits]))
end
if now > first then
	row("utilization", "%.1f %% of %s cores over %s", 100 * used / (tonumber(option.cores) * (now - first)), option.cores,
		span(now - first))
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
