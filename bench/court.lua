-- SPDX-License-Identifier: MIT
--
-- court.lua TOP TRACES OUTPUT WINDOWS JOBS ONLY SHORT POLICY... - see bench/court.
--
-- schedlua compare does the work: windows, the checker, intervals and differences to EASY are its own.

local top, traces, output, windows, jobs, only, short = table.unpack(arg, 1, 7)
local court, committed = top .. "/examples/court/", top .. "/examples/policies/committed.lua"
windows, jobs, short = tonumber(windows), tonumber(jobs), short ~= ""

local NAMES = { "easy", "fcfs", "conservative", "sjf", "ljf", "smallest_area", "wfp3", "unicef", "f1", "f2", "f3", "f4",
	"easy_sjbf", "easy_pp", "qssf", "las", "slowdown" }
local FIGURES = { "bsld_mean", "wait_mean_s", "wait_max_s", "utilization" }

-- The generated ones, on machines on which each takes seconds.
local GENERATED = {
	{ name = "esp", options = "--machine=64x8c" }, { name = "esp-gpu", options = "--machine=64x8c2g" },
	{ name = "auction:II.2", options = "--machine=32x8c2g" }, { name = "auction:V.1", options = "--machine=32x8c2g" },
	{ name = "synthetic:jobs=" .. jobs, options = "--procs=256" },
}

-- Tables that are no SWF, each on a machine on which its jobs wait (on their own one, of 1,523 nodes, those of openb
-- never do).
local TABLES = {
	{ name = "openb", log = "openb_pod_list_default.csv", options = "--machine=4x128c8g" },
}

-- Figures that others published or measured for the same jobs, in the simulator's reading of their authors.  Where
-- several simulators differ, value and upto are the lowest and the highest figure.
local KTH, LUBLIN = "KTH-SP2-1996-2-raw.swf.gz", { "lublin_256.swf.gz", "lublin_256_new2.swf.gz" }
local CTC, BLUE = "CTC-SP2-1996-3.1-cln.swf.gz", "SDSC-BLUE-2000-4.2-cln.swf.gz"
local SEQUENCES = '--first=1024 --arrivals-first --starts="1981 2756 4299 8850 3316 2714 5228 7762 4022 7085"'
local PUBLISHED = {
	{ log = KTH, policy = court .. "easy.lua", options = "--procs=100 --each-end --requested-procs",
		figure = "bsld_mean", value = 92.577, source = "Gaussier et al. 2015" },
	{ log = KTH, policy = court .. "easy.lua", options = "--procs=100 --each-end --estimate=exact", figure = "bsld_mean",
		value = 70.168, source = "CQSim" },
	{ log = KTH, policy = court .. "easy.lua", options = "--procs=100 --each-end --estimate=exact", figure = "wait_mean_s",
		value = 6297.88, source = "CQSim" },
	{ log = KTH, policy = court .. "fcfs.lua", options = "--procs=100 --estimate=exact", figure = "wait_mean_s",
		value = 354002, upto = 354003, source = "two simulators" },
	{ log = CTC, policy = court .. "easy.lua", options = "--procs=338 --each-end", figure = "bsld_mean", value = 48.5,
		upto = 50.1, source = "several simulators", long = true },
	{ log = BLUE, policy = court .. "easy.lua", options = "--procs=1152 --overrun", figure = "bsld_mean", value = 36.5,
		upto = 37.0, source = "several simulators", long = true },
	{ log = KTH, policy = court .. "conservative.lua", options = "--procs=100", figure = "wait_mean_s", value = 7984.72,
		source = "plan made anew, a reference in Python", long = true },
}
local ORDERS = { "fcfs", "wfp3", "unicef", "sjf", "f1" }
for i, row in ipairs {
	{ 1, true, 235.82, 133.87, 307.23, 73.31, 75.07 }, { 1, false, 7273.77, 19753.53, 22274.74, 277.35, 258.37 },
	{ 2, true, 247.61, 318.35, 379.59, 91.99, 148.25 }, { 2, false, 7842.47, 9523.18, 11265.31, 787.89, 698.34 },
} do
	for k, order in ipairs(ORDERS) do
		PUBLISHED[#PUBLISHED + 1] = { log = LUBLIN[row[1]],
			policy = ("%s,order=%s,backfill=%s"):format(committed, order, row[2]),
			options = SEQUENCES, figure = "bsld_mean", value = row[k + 2], source = "Zhang et al. (RLScheduler) 2020",
			long = i > 1 }
	end
end

-- -- running compare ------------------------------------------------------------

local function quote(word)
	return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- "a","b""c",1 -> list
local function fields(line)
	local list, at = {}, 1
	while at <= #line + 1 do
		local text, after = line:match('^"([^"]*)"()', at)
		if not text then
			text, after = line:match("^([^,]*)()", at)
		end
		list[#list + 1], at = text, after + 1
	end
	return list
end

-- Rows by title; nil and what was wrong.
local function compare(workload, policies, options)
	local errors = os.tmpname()
	local command = ("%s compare --quiet --csv --check --policies=%s %s %s 2>%s"):format(quote(os.getenv("SCHEDLUA")),
		quote(table.concat(policies, " ")), options, quote(workload), errors)
	local pipe, titles, rows = assert(io.popen(command)), nil, {}
	for line in pipe:lines() do
		local list, row = fields(line), {}
		for i, title in ipairs(titles or {}) do
			row[title] = list[i]
		end
		rows[#rows + 1], titles = titles and row, titles or list
	end
	local fine = pipe:close()
	local file = assert(io.open(errors))
	local why = file:read("l") or "schedlua compare failed"
	file:close()
	os.remove(errors)
	if not fine and #rows == 0 then
		return nil, (why:gsub("^schedlua: ", ""))
	end
	return rows, not fine and why or nil
end

local function warn(...)
	io.stderr:write("bench/court: ", string.format(...), "\n")
end

local function base(path)
	return (path:gsub("^.*/", ""):gsub("%.lua", ""))
end

-- -- the cells --------------------------------------------------------------------

local function list_logs()
	local logs = {}
	if traces ~= "" then
		local pipe = assert(io.popen("cd " .. quote(traces) .. " && ls *.swf *.swf.gz 2>/dev/null"))
		for name in pipe:lines() do
			logs[#logs + 1] = name
		end
		pipe:close()
	end
	return logs
end

-- As many whole windows of a log as there are, at most *windows*; one that is shorter is one window.
local function window_options(log, options)
	local command = ("%s workload %s %s 2>/dev/null"):format(quote(os.getenv("SCHEDLUA")), options,
		quote(traces .. "/" .. log))
	local pipe = assert(io.popen(command))
	local text = pipe:read("a")
	pipe:close()
	local n = tonumber(text:match("\njobs%s+(%d+)")) or 0
	local fit = math.min(windows, n // jobs)
	return fit > 1 and ("--windows=%d --first=%d"):format(fit, jobs) or ("--first=%d"):format(jobs)
end

local function wanted(name)
	return only == "" or name:find(only, 1, true)
end

local policies, cells, refused = {}, {}, {}
for _, name in ipairs(NAMES) do
	policies[#policies + 1] = court .. name .. ".lua"
end
table.move(arg, 8, #arg, #policies + 1, policies)

local function add_cells(name, path, options)
	if not wanted(name) then
		return
	end
	warn("%s", name)
	local rows, why = compare(path, policies, options .. " --baseline=" .. quote(policies[1]))
	if why then
		refused[#refused + 1] = { workload = name, why = why }
		warn("%s: %s", name, why)
	end
	for _, row in ipairs(rows or {}) do
		local cell = { workload = name, options = options, policy = base(row.policy), runs = tonumber(row.runs),
			failed = tonumber(row.failed) }
		for _, figure in ipairs(FIGURES) do
			cell[figure], cell[figure .. "_ci95"] = tonumber(row[figure]), tonumber(row[figure .. "_ci95"])
		end
		cell.to_easy_bsld, cell.to_easy_bsld_ci95 = tonumber(row.paired_bsld), tonumber(row.paired_bsld_ci95)
		cells[#cells + 1] = cell
	end
end

-- A file of the traces, compressed or not; nil: it is not there.
local function find_log(name)
	for _, path in ipairs { name, name .. ".gz" } do
		local file = traces ~= "" and io.open(traces .. "/" .. path)
		if file then
			file:close()
			return path
		end
	end
end

for _, log in ipairs(list_logs()) do
	add_cells(log, traces .. "/" .. log, window_options(log, ""))
end
for _, t in ipairs(TABLES) do
	local log = wanted(t.name) and find_log(t.log)
	if log then
		add_cells(t.name, traces .. "/" .. log, t.options .. " " .. window_options(log, t.options))
	end
end
for _, g in ipairs(GENERATED) do
	add_cells(g.name, g.name, g.options .. " --seeds=" .. windows)
end

local published = {}
for _, p in ipairs(PUBLISHED) do
	if find_log(p.log) and not (short and p.long) and wanted(p.log) then
		warn("published: %s, %s", p.log, base(p.policy))
		local rows, why = compare(traces .. "/" .. p.log, { p.policy }, p.options)
		local ours = rows and tonumber(rows[1][p.figure])
		local nearest = ours and math.max(p.value, math.min(ours, p.upto or p.value))
		published[#published + 1] = { workload = p.log, policy = base(p.policy), figure = p.figure, source = p.source,
			options = p.options, published = p.value, published_upto = p.upto, ours = ours,
			difference = ours and ours / nearest - 1,
			reproduced = ours ~= nil and math.abs(ours / nearest - 1) <= 0.01, why = why }
	end
end

-- -- what is written -----------------------------------------------------------------

local function put(name, text)
	local file = assert(io.open(output .. "/" .. name, "w"))
	file:write(text)
	file:close()
end

local function json(v)
	if type(v) == "table" then
		local list, keys = {}, {}
		if #v > 0 or next(v) == nil then
			for i, item in ipairs(v) do
				list[i] = json(item)
			end
			return "[" .. table.concat(list, ",\n") .. "]"
		end
		for key in pairs(v) do
			keys[#keys + 1] = key
		end
		table.sort(keys)
		for i, key in ipairs(keys) do
			list[i] = ("%q: %s"):format(key, json(v[key]))
		end
		return "{" .. table.concat(list, ", ") .. "}"
	elseif type(v) == "string" then
		return '"' .. v:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
	end
	return type(v) == "number" and ("%.10g"):format(v) or tostring(v)
end

local function number(value, digits)
	return value and (value >= 1000 and "%.0f" or "%." .. digits .. "f"):format(value) or "-"
end

local function with_interval(cell, figure)
	local half = cell[figure .. "_ci95"]
	return number(cell[figure], 2) .. (half and " ± " .. number(half, 2) or "")
end

-- Surely better or worse than EASY on the same jobs?
local function mark(cell)
	local d, half = cell.to_easy_bsld, cell.to_easy_bsld_ci95
	return not (d and half) and "" or d + half < 0 and " ▼" or d - half > 0 and " ▲" or ""
end

local names, by_name, order, best = {}, {}, {}, {}
for _, cell in ipairs(cells) do
	if not by_name[cell.workload] then
		by_name[cell.workload] = {}
		names[#names + 1] = cell.workload
	end
	if not order[cell.policy] then
		order[#order + 1], order[cell.policy] = cell.policy, true
	end
	by_name[cell.workload][cell.policy] = cell
	if cell.bsld_mean then
		best[cell.workload] = math.min(best[cell.workload] or math.huge, cell.bsld_mean)
	end
end

-- Rows of the grid and of the published cells, as texts.
local function grid()
	local rows = { { "policy", table.unpack(names) } }
	for _, policy in ipairs(order) do
		local row = { policy }
		for _, name in ipairs(names) do
			local cell = by_name[name][policy]
			local text = not cell and "-" or cell.failed > 0 and "failed" or
				with_interval(cell, "bsld_mean") .. mark(cell)
			row[#row + 1] = cell and cell.bsld_mean == best[name] and "**" .. text .. "**" or text
		end
		rows[#rows + 1] = row
	end
	return rows
end

-- The options of a published cell, but for the list of the windows.
local function reading(options)
	return (options:gsub(' *%-%-starts="([^"]*)"', function(list)
		return (" %d windows"):format(select(2, list:gsub("%d+", "")))
	end))
end

local function published_rows()
	local rows = { { "workload", "policy", "figure", "reading", "published", "ours", "difference", "within 1 %",
		"source" } }
	for _, p in ipairs(published) do
		local upto = p.published_upto and " to " .. number(p.published_upto, 3) or ""
		rows[#rows + 1] = { p.workload, p.policy, p.figure, reading(p.options), number(p.published, 3) .. upto,
			number(p.ours, 3),
			p.difference and ("%+.2f %%"):format(100 * p.difference) or "-", p.reproduced and "✓" or "no", p.source }
	end
	return rows
end

local function markdown(rows)
	local lines = {}
	for i, row in ipairs(rows) do
		lines[#lines + 1] = "| " .. table.concat(row, " | ") .. " |"
		if i == 1 then
			lines[#lines + 1] = ("|---"):rep(#row) .. "|"
		end
	end
	return table.concat(lines, "\n") .. "\n"
end

local function html(rows)
	local lines = { "<table>" }
	for i, row in ipairs(rows) do
		local tag = i == 1 and "th" or "td"
		lines[#lines + 1] = "<tr>"
		for _, text in ipairs(row) do
			local class = text:find("▼") and " class=better" or text:find("▲") and " class=worse" or ""
			text = text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" })
			lines[#lines + 1] = ("<%s%s>%s</%s>"):format(tag, class, text:gsub("%*%*(.*)%*%*", "<b>%1</b>"), tag)
		end
		lines[#lines + 1] = "</tr>"
	end
	return table.concat(lines, "\n") .. "\n</table>\n"
end

local NOTE = ("Mean bounded slowdown, %d windows of %d jobs (of generated workloads as many seeds), ± half of the "
	.. "95 %% interval over windows. ▼ less and ▲ more than EASY on the same jobs by more than the 95 %% interval over "
	.. "blocks of jobs. Bold: the least. Each schedule passed the independent checker."):format(windows, jobs)
local left_out = {}
for _, r in ipairs(refused) do
	left_out[#left_out + 1] = ("%s: %s"):format(r.workload, r.why)
end

local PAGE = [[<!DOCTYPE html>
<html lang=en><meta charset=utf-8><title>A court of schedulers</title>
<style>
body { font: 14px sans-serif; margin: 2em } table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { border: 1px solid #ccc; padding: .3em .6em; text-align: right; white-space: nowrap }
td:first-child { text-align: left } .better { background: #dff0d8 } .worse { background: #f7dddd }
</style>
<h1>A court of schedulers</h1>
<p>%s</p>
%s<h2>Published cells</h2>
%s</html>
]]

put("court.json", json { note = NOTE, cells = cells, published = published, left_out = left_out } .. "\n")
put("court.md", "# A court of schedulers\n\n" .. NOTE .. "\n\n" .. markdown(grid()) .. "\n## Published cells\n\n"
	.. markdown(published_rows())
	.. (#left_out > 0 and "\nFailed:\n\n* " .. table.concat(left_out, "\n* ") .. "\n" or ""))
put("court.html", PAGE:format(NOTE, html(grid()), html(published_rows())))

local within = 0
for _, p in ipairs(published) do
	within = within + (p.reproduced and 1 or 0)
end
warn("%d cells, %d of %d published ones within 1 %%: %s/court.md, court.json, court.html", #cells, within, #published,
	output)
os.exit(#cells > 0 and #left_out == 0 and within == #published and 0 or 1)
