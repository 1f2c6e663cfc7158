-- SPDX-License-Identifier: MIT
--
-- words.lua - the list of words (engine/image/words.h) beside options of sbatch; for parity.lua and carried.lua.
--
--   local words = dofile "words.lua" (LIST)	LIST: what the program "words list" printed
--
-- A cell is two words.  The list claims of each whether the engine places a job that asks for both.
local NEVER = {}

-- What an option looks like that says a word, where that is not the word's own text.
local SAYS = {
	COUNTS = { "%-%-constraint=%[?%a+%*" }, NODE_COUNTS = { "%-N[%d-]+[,:]" }, PLANE = { "plane=" },
	ARBITRARY = { "arbitrary" }, GRES = { "%-%-gpus", "%-%-gres=" }, BOUND_GRES = { "enforce%-binding" },
	WHOLE_NODES = { "%-%-exclusive%f[ \0]", "%-spec=" },
}

-- Words that no option of a job on such a machine says for certain, which other tests try.
for id in ([[ UNPLACED REBOOT CROWDED LONG_LIST NODE_RANGES MINCPUS BOARDS SOCKETS_IN_TURN TASK_COUNTS
	SEVERAL_GRES FEWER_TASKS OUTGROWN_GRES OTHER_CPUS UNSAID UNCOUNTED MANY_GRES MANY_CHOICES WHOLE_SWITCHES SEGMENT_BLOCKS
	BURST_BUFFER EXPAND HRES EXTRA RECLAIM PREEMPT REFUSED ALTERNATIVE ONE_TASK GPU_ROOM ]]):gmatch "%S+" do
	NEVER[id] = true
end

local function has_any(text, patterns)
	for _, pattern in ipairs(patterns) do
		if text:find(pattern) then return true end
	end
end

-- Of --exclusive and --oversubscribe, of -N and --nodes, and of two distributions or kinds of --exclusive, sbatch heeds
-- the one that comes last.
local function without_overruled(text)
	text = text:gsub("%-N%S+(.*%-%-nodes=)", "%1")
		:gsub("%-%-distribution=%S+(.*%-%-distribution=)", "%1")
		:gsub("%-%-exclusive%S*(.*%-%-exclusive)", "%1")
	local alone, shared = text:match ".*()%-%-exclusive", text:match ".*()%-%-oversubscribe"
	if not alone or not shared then return text end
	return (text:gsub(alone < shared and "%-%-exclusive%S*" or "%-%-oversubscribe", ""))
end

-- A list of numbers of nodes slurmctld forgets where --gpus says fewer than its last number: a job has no more nodes
-- than GPUs (gres_job_state_validate()), and is left with the range up to these.
local function without_forgotten(text)
	local most, gpus = tonumber(text:match "%-N[%d,-]*[,-](%d+)"), tonumber(text:match ".*%-%-gpus=(%d+)")
	return most and gpus and gpus < most and text:gsub("%-N%S+", "", 1) or text
end

-- Planes are of parts of several nodes, and of tasks that have CPUs of their own.
local function without_planes(text)
	local one = text:match ".*%-%-nodes=(%d[%d,:-]*)" or text:match ".*%-N(%d[%d,:-]*)"
	local tasks = text:match ".*%-%-ntasks=(%d+)" or text:match ".*%-n(%d+)"
	local none = one == "1" or one == "1-1" or tasks == "1" or text:find "%-%-overcommit"
	return none and text:gsub("%-%-distribution=plane=%S+", "") or text
end

return function(list)
	local words = { line = {}, ids = {} }
	for text in io.lines(list) do
		local id, beside, since, last, says, options = text:match "^(%S+)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)"
		local line = { beside = {}, always = beside == "*", since = since, last = last }
		for other in beside:gmatch "[%u_]+" do line.beside[other] = true end
		words.line[id] = line
		if says:find "^%-%-[%l-]+$" and not NEVER[id] then
			SAYS[id] = {}
			for option in options:gmatch "%S+" do SAYS[id][#SAYS[id] + 1] = option:gsub("%-", "%%-") .. "%f[^%l-]" end
		end
		if SAYS[id] then
			words.ids[#words.ids + 1] = id
		elseif says:find "^%-%-" and not NEVER[id] then
			error(("%s: %s is an option, and neither SAYS nor NEVER of words.lua has it"):format(list, id))
		end
	end

	-- Those, and what an island or the cluster has.
	words.all = table.move(words.ids, 1, #words.ids, 1, {})
	table.move({ "SYSTEM_CORES", "SHARED_CORES", "LLN", "CR_SOCKET" }, 1, 4, #words.all + 1, words.all)

	function words.says(id, text) return has_any(text, SAYS[id]) end

	-- The words of a command line that are known for certain, on the island of its partition and under that select.
	function words.of(text, select)
		local ids, island = {}, tonumber(text:match "%-%-partition=i(%d+)")
		text = without_planes(without_forgotten(without_overruled(text)))
		for _, id in ipairs(words.ids) do
			if words.says(id, text) then ids[#ids + 1] = id end
		end
		if island and island % 5 == 0 then ids[#ids + 1] = "SYSTEM_CORES" end
		if island and (island % 5 == 3 or island % 10 == 4 and text:find "%-%-oversubscribe") then
			ids[#ids + 1] = "SHARED_CORES"
		end
		if island and island % 5 == 2 then ids[#ids + 1] = "LLN" end
		if select:find "CR_Socket" then ids[#ids + 1] = "CR_SOCKET" end
		return ids
	end

	-- Does the list leave a job with both to select, in that series of Slurm?
	function words.is_left(a, b, series)
		local function left(one, other)
			local line = words.line[one]
			return series >= line.since and (line.last == "" or series <= line.last) and (line.always or line.beside[other])
		end
		return left(a, b) or left(b, a)
	end

	return words
end
