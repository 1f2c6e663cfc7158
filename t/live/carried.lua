-- SPDX-License-Identifier: MIT
--
-- carried.lua - what became of the starts that were planned, by the journal; for t/live/parity.t and accepted.t.
--
--   carried.lua JOURNAL OPTIONS [LOG [LIST SERIES SELECT]]   OPTIONS: lines "id sbatch OPTION...", LOG: slurmctld's, for
--                                             its debug lines; LIST: the list of words (words.lua)
--
-- A line for each start that select refused and, with a log, for each that it placed elsewhere; then how many there
-- were.  "native" is what the engine left to select itself, "behind" what was planned in the same cycle behind a native
-- start of the same partition, whose nodes nobody knew then.  All others are the engine's own: 1 when there is one.
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

local count = { starts = 0, native = 0, refused = 0, elsewhere = 0, as_native = 0, behind = 0, own = 0, anew = 0 }
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

for line in io.lines(journal) do read_cycle(line) end
for line in log and io.lines(log) or function() end do
	local id, what = line:match("sched/lua: JobId=(%d+)[^:]*: select gave other cores than planned (.*)")
	if not id then id, what = line:match("sched/lua: JobId=%d+_%d+%((%d+)%): select gave other cores than planned (.*)") end
	if id then
		count.elsewhere = count.elsewhere + 1
		say("elsewhere", id, what)
	end
end
for line, n in pairs(said) do print(("%d x %s"):format(n, line)) end
print(("carried: %d starts, %d of them native; placed elsewhere %d; planned anew %d; refused %d: native %d, behind a " ..
	"native one %d, others %d"):format(count.starts, count.native, count.elsewhere, count.anew, count.refused,
	count.as_native, count.behind, count.own))

-- The claims: cells of words that options say, and that are not left to select.
if words then
	local claims, seen, cells = 0, 0, os.getenv "SL_CELLS"
	local file = cells and assert(io.open(cells, "a"))
	for i, a in ipairs(words.ids) do
		for k = i + 1, #words.ids do
			local n = not words.is_left(a, words.ids[k], series) and (tried[a .. " " .. words.ids[k]] or 0)
			claims = claims + (n and 1 or 0)
			seen = seen + (n and n > 0 and 1 or 0)
			if n and file then file:write(("%s\t%s\t%s\t%d\n"):format(series, a, words.ids[k], n)) end
		end
	end
	print(("cells: of %d pairs of words that the list says the engine places %d were, and accepted; placed against the " ..
		"list %d"):format(claims, seen, left))
end
os.exit(count.elsewhere == 0 and count.own == 0 and left == 0)
