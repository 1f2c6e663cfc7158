-- SPDX-License-Identifier: MIT
--
-- view.lua - what the cluster does, redrawn while it does it.
--
--   lua5.4 view.lua --state FILE [--every SECONDS] [--plain] [--once]
--
-- It asks sinfo and squeue, as anybody could, and reads two files of the demo:
-- FILE (lines "key=value": title, policy, order, pid, factor, stop) and FILE.events
-- (one line for each thing that happened).  Jobs that wait are shown in the order
-- in which the policy goes through them: by submission or by walltime.  On a terminal it redraws in place; into a
-- file or a pipe it writes a line now and then.  It ends when FILE says stop=1.

local ROWS_RUNNING, ROWS_PENDING, ROWS_EVENTS = 7, 10, 6
local CORES = 8
local BARS = { [0] = "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }
local DIGITS = { [0] = ".", "1", "2", "3", "4", "5", "6", "7", "8" }

local option = { every = "0.5" }
do
	local i = 1
	while i <= #arg do
		local name = arg[i]:match("^%-%-(%w+)$")
		if name == "plain" or name == "once" then
			option[name] = true
		elseif name and arg[i + 1] then
			i = i + 1
			option[name] = arg[i]
		else
			io.stderr:write("view.lua: unknown option ", arg[i], "\n")
			os.exit(2)
		end
		i = i + 1
	end
end
if not option.state then
	io.stderr:write("view.lua: --state FILE is missing\n")
	os.exit(2)
end

local utf8_terminal = (os.getenv("LC_ALL") or os.getenv("LC_CTYPE") or os.getenv("LANG") or ""):lower():match("utf%-?8")
local glyph = utf8_terminal and BARS or DIGITS

local function colour(code, text)
	return option.plain and text or ("\27[%sm%s\27[0m"):format(code, text)
end

-- ---------------------------------------------------------------------- asking

local function lines_of(command)
	local pipe <close> = assert(io.popen(command .. " 2>/dev/null", "r"))
	local lines = {}
	for line in pipe:lines() do lines[#lines + 1] = line end
	return lines
end

local function split(line, separator)
	local fields = {}
	for field in (line .. separator):gmatch("(.-)" .. separator:gsub("%p", "%%%0")) do
		fields[#fields + 1] = field
	end
	return fields
end

local function read_state()
	local state = {}
	local file = io.open(option.state, "r")
	state.order = "submission"
	if not file then return state end
	for line in file:lines() do
		local key, value = line:match("^(%w+)=(.*)$")
		if key then state[key] = value end
	end
	file:close()
	return state
end

local function read_events()
	local events = {}
	local file = io.open(option.state .. ".events", "r")
	if not file then return events end
	for line in file:lines() do events[#events + 1] = line end
	file:close()
	return events
end

-- Nodes in their order: name, cores in use, GPUs in use, state.
local function read_nodes()
	local nodes = {}
	for _, line in ipairs(lines_of("sinfo -h -N -O 'NodeList:32,CPUsState:32,GresUsed:48,StateLong:32'")) do
		local name, used, gres, state = line:match("^(%S+)%s+(%d+)/%S+%s+(%S+)%s+(%S+)")
		if name and (#nodes == 0 or nodes[#nodes].name ~= name) then
			nodes[#nodes + 1] = {
				name = name, used = tonumber(used), gpus = tonumber(gres:match("gpu:[^:,]-:?(%d+)") or 0), state = state,
			}
		end
	end
	return nodes
end

-- "2-01:30:00", "30:00" in seconds.
local function seconds(span)
	local days, rest = span:match("^(%d+)%-(.*)$")
	local total = 0
	for part in (rest or span):gmatch("%d+") do total = total * 60 + tonumber(part) end
	return total + 86400 * (tonumber(days) or 0)
end

-- The order in which the policy looks at jobs.
local before = {
	submission = function(a, b)
		if a.submit ~= b.submit then return a.submit < b.submit end
		return a.id < b.id
	end,
	walltime = function(a, b)
		local x, y = seconds(a.limit), seconds(b.limit)
		if x ~= y then return x < y end
		return a.id < b.id
	end,
}
local order_title = { submission = "first come, first served", walltime = "shortest walltime first" }

-- Jobs that run, newest first; jobs that wait, in the policy's order.
local function read_jobs(order)
	local running, pending = {}, {}
	for _, line in ipairs(lines_of("squeue -h -r -o '%i|%j|%t|%C|%D|%b|%M|%l|%S|%N|%R|%V|%Q'")) do
		local f = split(line, "|")
		local job = {
			id = tonumber(f[1]:match("^%d+")), name = f[2], state = f[3], cores = tonumber(f[4]) or 0,
			nodes = tonumber(f[5]) or 0, gpus = (f[6] or ""):match("gpu:?%a*:?(%d+)") or "-", elapsed = f[7],
			limit = f[8], start = f[9], list = f[10], reason = f[11], submit = f[12],
		}
		if job.state == "R" or job.state == "CG" then
			running[#running + 1] = job
		elseif job.state == "PD" then
			pending[#pending + 1] = job
		end
	end
	table.sort(running, function(a, b)
		if a.start ~= b.start then return a.start > b.start end
		return a.id > b.id
	end)
	table.sort(pending, before[order])
	return running, pending
end

-- --------------------------------------------------------------------- drawing

local function clock(iso)
	return iso:match("T(%d+:%d+)") or "-"
end

local function node_map(nodes, width)
	local rows, row = {}, {}
	for i, node in ipairs(nodes) do
		local cell
		if node.state:match("down") or node.state:match("drain") then
			cell = colour("31", "x")
		else
			cell = colour(node.gpus > 0 and "33" or "32", glyph[math.min(CORES, node.used)])
		end
		row[#row + 1] = cell
		if #row == width or i == #nodes then
			rows[#rows + 1] = "  " .. table.concat(row)
			row = {}
		end
	end
	return rows
end

local function totals(nodes)
	local used, gpus = 0, 0
	for _, node in ipairs(nodes) do
		used, gpus = used + node.used, gpus + node.gpus
	end
	return used, gpus, #nodes * CORES, #nodes * 2
end

local function job_table(title, header, jobs, limit, format)
	local out = { colour("1", title), colour("2", header) }
	for i = 1, math.min(limit, #jobs) do out[#out + 1] = format(jobs[i]) end
	for _ = #jobs + 1, limit do out[#out + 1] = "" end
	return out
end

local function cut(text, length)
	return #text > length and text:sub(1, length - 1) .. "~" or text
end

local function frame(state, nodes, running, pending, events)
	local out = {}
	local function add(lines)
		for _, line in ipairs(lines) do out[#out + 1] = line end
	end
	local used, gpus, cores, all_gpus = totals(nodes)
	add {
		colour("1;7", (" %s  cluster time %s (x%s) "):format(state.title or "", os.date("%H:%M:%S"), state.factor or "1")),
		("  policy %s   slurmctld pid %s   cores %d/%d   GPUs %d/%d   running %d   pending %d"):format(
			colour("1;36", state.policy or "-"), colour("1", state.pid or "-"), used, cores, gpus, all_gpus,
			#running, #pending),
		"",
	}
	add(node_map(nodes, 64))
	out[#out + 1] = colour("2", "  a node each: cores in use, " .. (option.plain and "" or "yellow: also GPUs"))
	add(job_table(("started last (%d running)"):format(#running),
		"     job name        cores nodes gpu    elapsed      limit  where", running, ROWS_RUNNING, function(job)
			return ("%8d %-11s %5d %5d %3s %10s %10s  %s"):format(
				job.id, cut(job.name, 11), job.cores, job.nodes, job.gpus, job.elapsed, job.limit, cut(job.list, 26))
		end))
	add(job_table(("next, %s (%d pending)"):format(order_title[state.order], #pending),
		"     job name        cores nodes gpu      limit  waits since  expected  why it waits", pending, ROWS_PENDING,
		function(job)
			return ("%8d %-11s %5d %5d %3s %10s  %11s  %8s  %s"):format(
				job.id, cut(job.name, 11), job.cores, job.nodes, job.gpus, job.limit, clock(job.submit),
				clock(job.start), cut(job.reason, 40))
		end))
	out[#out + 1] = colour("1", "what happened")
	for i = math.max(1, #events - ROWS_EVENTS + 1), #events do out[#out + 1] = "  " .. events[i] end
	return out
end

local function plain_line(state, nodes, running, pending)
	local used, gpus, cores, all_gpus = totals(nodes)
	local next_jobs = {}
	for i = 1, math.min(3, #pending) do
		local job = pending[i]
		next_jobs[i] = ("%d (%d cores, %s, at %s: %s)"):format(
			job.id, job.cores, job.limit, clock(job.start), job.reason)
	end
	return ("%s  %-22s pid %s  cores %4d/%d  gpus %3d/%d  running %3d  pending %3d  next: %s"):format(
		os.date("%H:%M:%S"), state.policy or "-", state.pid or "-", used, cores, gpus, all_gpus, #running, #pending,
		#next_jobs > 0 and table.concat(next_jobs, ", ") or "-")
end

-- ------------------------------------------------------------------------ loop

local function sleep()	-- in the time of people, not the cluster's
	return os.execute("LD_PRELOAD= sleep " .. option.every)
end

local shown = 0
repeat
	local state = read_state()
	local nodes = read_nodes()
	local running, pending = read_jobs(state.order)
	local events = read_events()
	if option.plain then
		for i = shown + 1, #events do print("          * " .. events[i]) end
		shown = #events
		print(plain_line(state, nodes, running, pending))
		io.stdout:flush()
	else
		local lines = frame(state, nodes, running, pending, events)
		io.write("\27[H", table.concat(lines, "\27[K\n"), "\27[K\n\27[J")
		io.flush()
	end
until option.once or state.stop == "1" or not sleep()
