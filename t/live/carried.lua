-- SPDX-License-Identifier: MIT
--
-- carried.lua - what became of the starts that were planned, by the journal; for t/live/parity.t and accepted.t.
--
--   carried.lua JOURNAL OPTIONS [LOG [LIST SERIES SELECT]]   OPTIONS: lines "id sbatch OPTION..."; LOG: slurmctld's,
--                                             for its debug lines; LIST: the list of words (words.lua)
--
-- A line for each start that select refused and, with a log, for each that it placed elsewhere; then how many there
-- were.  Starts of which select gives fewer cores than planned, as doc/requests.md says, are counted apart.  "native"
-- is what the engine left to select itself, "behind" what was planned in the same cycle behind a native start of the
-- same partition, whose nodes nobody knew then.  All others are the engine's own: 1 when there is one.
-- What was not tried, since select had put such a job on its nodes, is no refusal: "planned anew".
--
-- With a list: which of its claims that the engine places what asks for two words were tried, by starts that select
-- accepted.  What the engine placed although the list leaves it to select is wrong, too.
local journal, options_file, log = arg[1], arg[2], arg[3]
local options = {}
local words = arg[4] and dofile(arg[0]:gsub("[^/]*$", "words.lua"))(arg[4])
local series, select_type = arg[5], arg[6]
local tried, left = {}, 0		-- ["A B"] = starts

for line in io.lines(options_file) do
	local id, text = line:match("^(%d+) %S+ (.*)")
	if id then options[id] = text end
end

local count = { starts = 0, native = 0, elsewhere = 0, fewer = 0, anew = 0,
	refused = 0, as_native = 0, behind = 0, own = 0 }
local said = {}
local REFUSED = { select = true, places = true, unfit = true, shape = true, loan = true }

-- What the job asked for; a task that was split off its array has a number that nobody was told.
local function asked(id) return options[id] or "(a task of an array)" end

local function say(what, id, text)
	local line = ("%s: %s: %s"):format(what, text, asked(id))
	said[line] = (said[line] or 0) + 1
end

local function refused(id, native, behind, text)
	count.refused = count.refused + 1
	local kind = native and "as_native" or behind and "behind" or "own"
	count[kind] = count[kind] + 1
	say("refused (" .. kind .. ")", id, text)
end

local function count_cells(id)
	local ids = words.of(options[id] or "", select_type)
	for i = 1, #ids do
		for k = i + 1, #ids do
			local cell = ids[i] .. " " .. ids[k]
			tried[cell] = (tried[cell] or 0) + 1
			if words.is_left(ids[i], ids[k], series) then
				left = left + 1
				say("placed though the list leaves " .. cell .. " to select", id, "")
			end
		end
	end
end

local function read_cycle(line)
	local started = line:match('"started":%s*(%b[])')
	local natives = {}	-- [partition] = true
	for record in (started or ""):gmatch("%b{}") do
		local native, part = record:match('"native":%s*true'), record:match('"partition":%s*"([^"]*)"')
		local id, fate = record:match('"job":%s*(%d+)'), record:match('"fate":%s*"([^"]*)"')
		if record:match('"done":%s*true') then
			count.starts = count.starts + 1
			count.native = count.native + (native and 1 or 0)
			natives[part or ""] = native or natives[part or ""]
			if words and not native then count_cells(id) end
		elseif fate == "changed" and record:find("planned elsewhere", 1, true) then
			count.anew = count.anew + 1
		elseif REFUSED[fate] and not record:find("it was cancelled", 1, true) then
			refused(id, native, natives[part or ""], record:match('"text":%s*"([^"]*)"'))
		end
	end
end

-- Fewer tasks than its nodes may have by --ntasks-per-node: from 24.11 to 25.05 select gives the CPUs of the tasks
-- alone (doc/requests.md).
local function has_fewer_tasks(text)
	local tasks = tonumber(text:match ".*%-%-ntasks=(%d+)" or text:match ".*%-n(%d+)")
	local per_node = tonumber(text:match ".*%-%-ntasks%-per%-node=(%d+)")
	local nodes = tonumber(text:match ".*%-%-nodes=(%d+)" or text:match ".*%-N(%d+)") or 1
	return series and series >= "24.11" and series <= "25.05" and tasks and per_node and
		(tasks % per_node > 0 or tasks < per_node * nodes)
end

for line in io.lines(journal) do read_cycle(line) end
for line in log and io.lines(log) or function() end do
	local id, what = line:match("sched/lua: JobId=(%d+).-: select gave other cores than planned (.*)")
	local kind = id and (has_fewer_tasks(asked(id)) and "fewer" or "elsewhere")
	if kind then
		count[kind] = count[kind] + 1
		say(kind == "fewer" and "the CPUs of its tasks alone" or kind, id, what)
	end
end
for line, n in pairs(said) do print(("%d x %s"):format(n, line)) end
print(("carried: %d starts, %d of them native; placed elsewhere %d; the CPUs of the tasks alone %d; planned anew %d" ..
	"; refused %d: native %d, behind a native one %d, others %d"):format(count.starts, count.native, count.elsewhere,
	count.fewer, count.anew, count.refused, count.as_native, count.behind, count.own))

-- The claims so far, and those of these starts, go into *path*: a line for each two words, then SERIES=STARTS of each
-- series.
local function write_claims(path, pairs_tried)
	local starts, lines = {}, {}
	local file = io.open(path)
	for line in file and file:lines() or function() end do
		local cell = line:match "^[%u_]+ [%u_]+"
		starts[cell] = {}
		for release, n in line:gmatch "(%d%d%.%d%d)=(%d+)" do starts[cell][release] = tonumber(n) end
	end
	if file then file:close() end
	for cell, n in pairs(pairs_tried) do
		starts[cell] = starts[cell] or {}
		starts[cell][series] = (starts[cell][series] or 0) + n
	end
	for cell, of in pairs(starts) do
		local releases = {}
		for release, n in pairs(of) do releases[#releases + 1] = ("%s=%d"):format(release, n) end
		table.sort(releases)
		lines[#lines + 1] = cell .. " " .. table.concat(releases, " ")
	end
	table.sort(lines)
	file = assert(io.open(path, "w"))
	file:write(table.concat(lines, "\n"), "\n")
	file:close()
end

-- The claims: cells of words that options say or an island has, and that are not left to select.
if words then
	local claims, accepted, seen = 0, {}, 0
	for i, a in ipairs(words.all) do
		for k = i + 1, #words.all do
			local cell = a .. " " .. words.all[k]
			local claimed = not words.is_left(a, words.all[k], series)
			claims = claims + (claimed and 1 or 0)
			if claimed and tried[cell] then accepted[cell], seen = tried[cell], seen + 1 end
		end
	end
	if os.getenv "SL_CLAIMS" then write_claims(os.getenv "SL_CLAIMS", accepted) end
	print(("cells: of %d pairs of words that the list says the engine places %d were, and accepted; placed against the " ..
		"list %d"):format(claims, seen, left))
end
os.exit(count.elsewhere == 0 and count.own == 0 and left == 0)
