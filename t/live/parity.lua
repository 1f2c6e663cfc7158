-- SPDX-License-Identifier: MIT
--
-- parity.lua - random machines and jobs for two schedulers, and what differs; for t/live/parity.t.
--
--   parity.lua machine SEED ISLANDS PORT [spec]   lines of slurm.conf; on one island in five a core is the system's,
--                                             on another one jobs go to the least loaded nodes, on two more they may
--                                             or have to share cores
--   parity.lua jobs SEED ISLANDS [LOAD]       what to call, a line each: sbatch options, or scontrol's
--   parity.lua switches SEED ISLANDS          lines of topology.conf
--   parity.lua mix SEED ISLANDS LOAD TASKS LIST   as jobs, but LOAD arrays of so many tasks on each island; every other
--                                             one asks for two words of the list (words.lua)
--   parity.lua compare DOC OPTIONS STOCK OURS   what "scontrol -d -o show job" said of the same jobs under both
--
-- An island is a partition of six nodes of its own, so that what happens on one says nothing of another: on one in
-- two a single job finds an idle machine; one in four has a job that has to wait for the one before it, and a short one
-- that need not; the rest have more jobs than fit.
local NODES = 6
local mode, seed, islands = arg[1], tonumber(arg[2]), tonumber(arg[3])

local function random(low, high) return math.random(low, high) end
local function one_of(list) return list[math.random(#list)] end
local function chance(percent) return math.random(100) <= percent end

-- The machine of an island, the same whoever asks.
local function island(i)
	math.randomseed(seed, i)
	local threads = chance(25) and 2 or 1
	local m = { sockets = random(1, 2), cores = one_of { 2, 4, 6, 8 }, threads = threads, gpus = one_of { 0, 2, 2, 4 } }
	m.typed = m.gpus > 0 and chance(30)
	m.cpus = m.sockets * m.cores * m.threads
	m.memory = m.cpus * one_of { 500, 1000, 4000 }
	m.kind = i % 4 < 2 and "idle" or i % 4 == 2 and "head" or "load"
	m.name = ("i%03d"):format(i)
	return m
end

local function gres_of(m)
	if m.gpus == 0 then return "" end
	if m.typed then return (" Gres=gpu:a:%d,gpu:b:%d"):format(m.gpus // 2, m.gpus // 2) end
	return " Gres=gpu:" .. m.gpus
end

-- How jobs are treated on an island.
local function manners(i)
	if i % 5 == 2 then return " LLN=YES" end
	if i % 5 == 3 then return " OverSubscribe=FORCE:" .. 2 + i % 3 end
	return i % 10 == 4 and " OverSubscribe=YES:3" or ""
end

-- (the cores that CoreSpecCount sets aside select only knows from slurmd)
local function machine(port, spec)
	for i = 1, islands do
		local m = island(i)
		local set_aside = spec == "spec" and i % 5 == 0 and " CpuSpecList=0" or ""
		for half = 0, 1 do
			local names = ("%sn[%d-%d]"):format(m.name, half * 3 + 1, half * 3 + 3)
			print(("NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d State=CLOUD CPUs=%d Sockets=%d " ..
				"CoresPerSocket=%d ThreadsPerCore=%d RealMemory=%d TmpDisk=1000 Feature=all,%s Weight=%d%s%s"):format(names,
				names, port, m.cpus, m.sockets, m.cores, m.threads, m.memory, half == 0 and "west" or "east", random(1, 2),
				gres_of(m), set_aside))
		end
		print(("PartitionName=%s Nodes=%sn[1-%d] MaxTime=7-0 State=DOWN%s"):format(m.name, m.name, NODES,
			spec == "spec" and manners(i) or ""))
	end
end

-- ---------------------------------------------------------------------------- jobs

-- (Before 23.02 sbatch refuses a list of node counts, before 25.05 alternative licences.)
local COUNTS = { "1,3", "2,5", "1,2,4", "2-6:2", "1-2,5" }

local function shape(m)
	local n = random(1, NODES)
	return one_of {
		function() return { "-N" .. n } end,
		function() return { "-N" .. n, "--exclusive" } end,
		function() return { "-n" .. random(1, m.cpus * 2) } end,
		function() return { "-n" .. random(1, 8), "-c" .. random(1, math.min(m.cpus, 4)) } end,
		function() return { "-N" .. n, "-n" .. n * random(1, math.max(m.cpus // 2, 1)) } end,
		function() return { ("-N%d-%d"):format(random(1, n), n) } end,
		function() return { ("-N%d-%d"):format(random(1, n), n), "-n" .. random(n, n * 3) } end,
		function() return { "-N" .. n, "--ntasks-per-node=" .. random(1, m.cpus) } end,
		function() return { "-N" .. one_of(COUNTS) } end,
		function() return { "-N" .. one_of(COUNTS), "-n" .. random(6, 18) } end,
	} ()
end

local EXTRAS = {
	function(m) return "--mem=" .. random(1, m.memory) end,
	function(m) return "--mem-per-cpu=" .. random(1, m.memory // m.cpus * 3 // 2) end,
	function() return "--mem=0" end,
	function(m) return "--gres=gpu:" .. random(1, m.gpus) end,
	function(m) return "--gpus=" .. random(1, m.gpus * 3) end,
	function(m) return "--gpus-per-node=" .. random(1, m.gpus) end,
	function(m) return "--gpus-per-task=" .. random(1, m.gpus) end,
	function(m) return "--gres=gpu:" .. one_of { "a:", "b:" } .. random(1, m.gpus) end,
	function(m) return "--gpus=" .. random(1, m.gpus * 2) .. " --mem-per-gpu=" .. random(1, m.memory // 4) end,
	function(m) return "--gpus=" .. random(1, m.gpus * 2) .. " --cpus-per-gpu=" .. random(1, 3) end,
	function() return "--constraint=" .. one_of { "west", "east", "all&east", "west|east", "[west|east]" } end,
	function() return "--constraint=[west*" .. random(1, 2) .. "&east*" .. random(1, 2) .. "]" end,
	function() return "--ntasks-per-core=1" end,
	function() return "--threads-per-core=1" end,
	function(m) return "--ntasks-per-socket=" .. random(1, m.cores) end,
	function() return "--sockets-per-node=" .. random(1, 2) end,
	function(m) return "--cores-per-socket=" .. random(1, m.cores) end,
	function(m) return "--mincpus=" .. random(1, m.cpus) end,
	function() return "--contiguous" end,
	function() return "--spread-job" end,
	function() return "--use-min-nodes" end,
	function() return "--overcommit" end,
	function() return "--exclusive=user" end,
	function() return "--distribution=" .. one_of { "block", "cyclic", "plane=2" } end,
	function() return "--tmp=" .. random(1, 1000) end,
	function() return "--licenses=" .. one_of { "lic:1", "few:1|lic:1", "lic:1|few:1" } end,
	function() return "--core-spec=1" end,
	function(m) return ("--exclude=%sn%d"):format(m.name, random(1, NODES)) end,
	function(m) return ("--nodelist=%sn%d"):format(m.name, random(1, NODES)) end,
	function() return "--time-min=" .. random(1, 10) end,
	function() return "--deadline=now+" .. random(20, 100) .. "minutes" end,
	function() return "--array=0-" .. random(0, 1) end,
}

local function needs_gpus(text) return text:find("gpu", 1, true) end

-- A machine to try on what an option speaks of.
local ONE = { memory = 8, cpus = 1, sockets = 1, cores = 1, gpus = 1, name = "" }

-- *from*: what each of its extras is one of.
local function request(m, extras, from)
	local o = shape(m)
	local text
	if not chance(5) then o[#o + 1] = "--time=" .. random(10, 300) end
	for i = 1, extras do
		repeat
			local f = one_of(from and from[i] or EXTRAS)
			text = (m.gpus > 0 or not needs_gpus(f(ONE))) and f(m)
		until text and (m.typed or not text:find "gpu:[ab]")
		o[#o + 1] = text
	end
	return table.concat(o, " ")
end

local function say(m, ...) print(("sbatch --partition=%s %s"):format(m.name, table.concat({ ... }, " "))) end

local kinds = {}

function kinds.idle(m)
	local what = random(1, 10)
	if what == 1 then		-- components of one job
		print(("sbatch --partition=%s --time=30 %s : --partition=%s --time=30 %s"):format(m.name, "-N" .. random(1, 3),
			m.name, "-n" .. random(1, m.cpus)))
	elseif what == 2 then		-- a reservation that is there, and its jobs
		print(("scontrol create reservation=r%s StartTime=now Duration=10:00:00 Users=root Nodes=%sn[1-3]%s"):format(m.name,
			m.name, one_of { "", " Flags=MAINT", " Flags=FLEX", " Flags=MAGNETIC" }))
		say(m, "--reservation=r" .. m.name, "--time=30", "-N" .. random(1, 3))
	elseif what == 3 then		-- one that begins in an hour: in front of it or beside it
		print(("scontrol create reservation=r%s StartTime=now+60minutes Duration=10:00:00 Users=root " ..
			"Nodes=%sn[1-3]"):format(m.name, m.name))
		say(m, one_of { "--time=40", "--time=100" }, "-N" .. random(1, NODES))
	else
		say(m, request(m, random(0, 3)))
	end
end

-- The first takes nodes, the second has to wait for it, the third ends before that.
function kinds.head(m)
	local taken = random(2, NODES - 1)
	local time = random(60, 120)
	say(m, "-N" .. taken, "--exclusive", "--time=" .. time)
	say(m, ("-N%d --exclusive --time=60"):format(NODES - taken + 1))
	say(m, "-N1 -n1 --time=" .. random(5, 40))
end

function kinds.load(m, most)
	for j = 1, most do
		if j > 1 and chance(10) then
			say(m, "-n1 --time=20 --dependency=after:LAST")
		else
			say(m, request(m, random(0, 2)))
		end
	end
end

local function jobs(most)
	for i = 1, islands do
		local m = island(i)
		kinds[m.kind](m, most)
	end
end

-- ----------------------------------------------------------------------------- mix

-- Leaf switches of an island, of two or three nodes.
local function switches()
	local names = {}
	for i = 1, islands do
		local m, leaf = island(i), random(2, 3)
		for first = 1, NODES, leaf do
			print(("SwitchName=%ss%d Nodes=%sn[%d-%d]"):format(m.name, first, m.name, first, first + leaf - 1))
		end
		print(("SwitchName=%s Switches=%ss[%s]"):format(m.name, m.name, leaf == 2 and "1,3,5" or "1,4"))
		names[i] = m.name
	end
	print("SwitchName=root Switches=" .. table.concat(names, ","))
end

local FLAGS = { "", ",MAINT", ",FLEX", ",MAGNETIC", ",OVERLAP" }
local function tasks_per_socket(m, nodes)
	local k = random(1, m.cores)
	local n = random(1, k * m.sockets)
	return ("--nodes=%d --ntasks=%d --ntasks-per-node=%d --ntasks-per-socket=%d"):format(nodes, n * nodes, n, k)
end

-- With each GPU of a node.
local function company(m, gpus)
	local cpus, memory = random(1, math.max(m.cpus // m.gpus, 1)), random(1, m.memory // m.gpus)
	return one_of { "--cpus-per-gpu=" .. cpus, "--mem-per-gpu=" .. memory,
		("--cpus-per-gpu=%d --mem-per-gpu=%d"):format(cpus, memory) } .. " " .. gpus
end

-- Some of its nodes, each as often as it is to have tasks.
local function hosts_of(m)
	local hosts = {}
	for i = 1, random(1, 3) do
		for _ = 1, random(1, math.max(m.cpus // 2, 1)) do hosts[#hosts + 1] = ("%sn%d"):format(m.name, i * 2) end
	end
	return table.concat(hosts, ",")
end

local MORE = {
	function(m) return company(m, "--gpus-per-node=" .. random(1, m.gpus)) end,
	function(m) return company(m, "--gres=gpu:" .. random(1, m.gpus)) end,
	function(m) return company(m, ("--ntasks=%d --gpus-per-task=%d"):format(random(1, 2), random(1, m.gpus))) end,
	function(m) return company(m, "--nodes=1 --gpus=" .. random(1, m.gpus)) end,
	function(m) return tasks_per_socket(m, 1) end,
	function(m) return tasks_per_socket(m, 2) end,
	function(m) return ("--nodes=1 --extra-node-info=%d:%d"):format(random(1, m.sockets), random(1, m.cores)) end,
	function() return "--switches=" .. random(1, 2) end,
	function() return "--prefer=" .. one_of { "west", "east" } end,
	function() return "--oversubscribe" end,
	function(m) return "--exclusive --ntasks-per-socket=" .. random(1, m.cores) end,
	function(m) return ("--exclusive --extra-node-info=%d:%d"):format(random(1, m.sockets), random(1, m.cores)) end,
	function() return "--core-spec=" .. random(0, 3) end,
	function() return "--thread-spec=" .. random(1, 3) end,
	function(m) return "--distribution=arbitrary --nodelist=" .. hosts_of(m) end,
	function(m) return "--gpus-per-socket=" .. random(1, m.gpus) .. " --sockets-per-node=1" end,
	function(m)
		return ("--exclusive --gpus-per-socket=%d --sockets-per-node=%d"):format(random(1, m.gpus), random(1, 2))
	end,
	function(m) return "--gres=gpu:" .. random(1, m.gpus) .. " --gres-flags=enforce-binding" end,
	function(m) return "--gpus-per-task=1 --ntasks=" .. random(1, m.gpus * 3) end,
	function(m) return ("--gpus-per-task=1 --ntasks=%d --gres-flags=enforce-binding"):format(random(1, m.gpus)) end,
	function(m) return "--ntasks-per-gpu=" .. random(1, 2) .. " --gpus=" .. random(1, m.gpus * 2) end,
	function(m) return ("--ntasks-per-gpu=%d --gpus-per-node=%d"):format(random(1, 2), random(1, m.gpus)) end,
	function(m)
		return ("--ntasks-per-gpu=%d --nodes=%d --gpus-per-node=%d"):format(random(1, 2), random(2, 3), random(1, m.gpus))
	end,
}

-- What Slurm itself does wrong is not asked for: memory with each GPU of the job, of which nodes have less;
-- --mincpus beside GPUs, -O, -c, cyclic distribution and tasks per node, which it does not give; tasks per node beside
-- -O, which from 25.11 on it never starts; --spread-job beside GPUs, which ends slurmctld 24.11.7; more nodes of one of
-- two features than have it, which --test-only of 25.11 finds for a job with GPUs, and select does not; tasks beside
-- counts of features, which --test-only of 24.11 finds nodes for, and select does not, where such a job is native;
-- those beside tasks of a node and CPUs with GPUs of tasks, which end slurmctld 24.11.7; and GPUs with types, which it
-- does not take back on nodes without slurmd when a job has gone.
local function without_faults(m, text)
	if text:find "%-%-gpus=" and not text:find "%-%-nodes=1 " then text = text:gsub("%-%-mem%-per%-gpu=%d+", "") end
	if needs_gpus(text) or text:find "overcommit" or text:find "%-c%d" or text:find "cyclic" or
		text:find "%-%-ntasks%-per%-node" then
		text = text:gsub("%-%-mincpus=%d+", "")
	end
	if text:find "overcommit" then text = text:gsub("%-%-ntasks%-per%-node=%d+", "") end
	if text:find "%*%d" then text = text:gsub("%-%-ntasks%-per%-socket=%d+", "") end
	if text:find "%*%d" and text:find "%-%-cpus%-per%-gpu" then text = text:gsub("%-%-ntasks%-per%-node=%d+", "") end
	if text:find "%-N[456] " then text = text:gsub("%[west|east%]", "west|east") end
	if needs_gpus(text) then text = text:gsub("%-%-spread%-job", "") end
	if text:find "arbitrary" then	-- how many nodes and tasks the list says
		text = (" " .. text):gsub(" %-[Nn]%d%S*", ""):gsub("%-%-nodes=%S+", ""):gsub("%-%-ntasks=%S+", "")
			:gsub("%-%-constraint=%S+%*%S+", "")
	end
	if not m.typed then return text end
	return (text:gsub("%-%-%S*gpu%S*", ""):gsub("%-%-gres%-flags%S*", ""))
end

-- What says each word: { id, what says it }.
local function draws(list)
	local words, all = dofile(arg[0]:gsub("[^/]*$", "words.lua"))(list), {}
	for _, id in ipairs(words.ids) do
		local from = {}
		for _, f in ipairs(EXTRAS) do
			if words.says(id, f(ONE)) then from[#from + 1] = f end
		end
		if #from > 0 then all[#all + 1] = { id = id, from = from, gpus = needs_gpus(from[1](ONE)) } end
	end
	return all
end

-- Two words of the list that the machine can have, those that were asked for least.
local asked_for = {}
local function cell(m, all)
	local least
	for _ = 1, 8 do
		local a, b = one_of(all), one_of(all)
		local key = a.id < b.id and a.id .. " " .. b.id or b.id .. " " .. a.id
		local n = a ~= b and not (m.gpus == 0 and (a.gpus or b.gpus)) and (asked_for[key] or 0)
		if n and (not least or n < least.n) then least = { n = n, key = key, from = { a.from, b.from } } end
	end
	if least then asked_for[least.key] = least.n + 1 end
	return least and least.from
end

-- On one island in three something is reserved, and one job in three may use it.
local function mix(most, tasks, list)
	table.move(MORE, 1, #MORE, #EXTRAS + 1, EXTRAS)
	local all = draws(list)
	for i = 1, islands do
		local m, reserved = island(i), chance(33)
		if reserved then
			print(("scontrol create reservation=r%s StartTime=now%s Duration=10:00:00 Users=root Nodes=%sn[1-%d] Flags=" ..
				"IGNORE_JOBS%s"):format(m.name, one_of { "", "", "+60minutes" }, m.name, random(1, 4), one_of(FLAGS)))
		end
		for job = 1, most do
			local from = job % 2 == 0 and cell(m, all)
			say(m, ("--array=1-%d"):format(tasks), reserved and chance(33) and "--reservation=r" .. m.name or "",
				(without_faults(m, request(m, from and 2 or random(0, 3), from)):gsub("%-%-array=%S+", "")))
		end
	end
end

-- ------------------------------------------------------------------------- compare

local RUNS = { RUNNING = true, CONFIGURING = true }

local function hosts(list)
	local n = 0
	for _, ranges in (list .. ","):gmatch("([^%[,]+)(%[?[%d,%-]*%]?),") do
		if ranges == "" then n = n + 1 end
		for a, b in ranges:gmatch("(%d+)%-?(%d*)") do n = n + (b ~= "" and b or a) - a + 1 end
	end
	return n
end

-- What a job has: what the options decide of it, and nothing that is a matter of which nodes.
local function facts(line)
	local f = { state = line:match(" JobState=(%S+)"), reason = line:match(" Reason=(%S+)"),
		limit = line:match(" TimeLimit=(%S+)"), partition = line:match(" Partition=(%S+)"),
		start = line:match(" StartTime=(%S+)"), finish = line:match(" EndTime=(%S+)") }
	f.runs = RUNS[f.state] or false
	if not f.runs then return f end
	f.nodes, f.cpus = tonumber(line:match(" NumNodes=(%d+)")), tonumber(line:match(" NumCPUs=(%d+)"))
	f.gpus, f.memory = 0, 0
	for list, memory, gres in line:gmatch(" Nodes=(%S+) CPU_IDs=%S+ Mem=(%d+) GRES=(%S*)") do
		f.memory = f.memory + hosts(list) * tonumber(memory)
		for n in gres:gmatch("gpu[:%a]*:(%d+)") do f.gpus = f.gpus + hosts(list) * tonumber(n) end
	end
	return f
end

-- [job] = facts; [job] = true of those that select placed otherwise than planned.
local function read(file)
	local all, elsewhere = {}, {}
	for line in io.lines(file) do
		elsewhere[line:match("^elsewhere (%d+)") or ""] = true
		local id, task = line:match("^JobId=(%d+)"), line:match(" ArrayTaskId=(%d+) ")
		if task then id = line:match(" ArrayJobId=(%d+)") .. "_" .. task end
		if id then all[id] = facts(line) end
	end
	return all, elsewhere
end

-- [option] = { field = true }: the table "Where a shape differs".
local function intended(doc)
	local table_of, inside = {}, false
	for line in io.lines(doc) do
		if line:find("^## ") then inside = line == "## Where a shape differs" end
		local option, field, verdict = line:match("^| `(%-[%w%-=&|%[%]*]+)` | (%l+) | (%l+)")
		if inside and option then
			assert(verdict == "better" or verdict == "other", doc .. ": " .. line .. ": better or other expected")
			table_of[option .. " " .. field] = true
		end
	end
	return table_of
end

local function is_intended(known, options, field)
	for option in options:gmatch("%-%-?[%w%-]+") do
		option = option:match("^%-%a") or option
		if known[option .. " " .. field] then return true end
	end
end

local function seconds(text)
	local y, mo, d, h, mi, s = text:match("(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)")
	return y and os.time { year = y, month = mo, day = d, hour = h, min = mi, sec = s }
end

local count = { jobs = 0, alike = 0, intended = 0, wrong = 0, missing = 0, more = 0 }

local function differ(known, id, options, field, stock, ours)
	local fine = is_intended(known, options, field)
	count[fine and "intended" or "wrong"] = count[fine and "intended" or "wrong"] + 1
	print(("%s %s: %s: %s under stock, %s under sched/lua: %s"):format(fine and "intended" or "differs", id,
		field, tostring(stock), tostring(ours), options))
	return false
end

-- Of a range of nodes, select gives the fewest what all tasks need, and each further node a core besides.
local function spares(options, a, b)
	local tasks, cpus = options:match "%-n(%d+)", options:match "%-c(%d+)"
	return options:find "%-N%d+%-%d" and tasks and a.nodes == b.nodes and b.cpus < a.cpus and b.cpus >= tasks * (cpus or 1)
end

-- A job that found an idle machine.
local function compare_idle(known, id, options, a, b)
	local same = true
	if a.runs and not b.runs then
		count.missing = count.missing + 1
		same = differ(known, id, options, "start", a.state, b.state .. " " .. b.reason)
	elseif b.runs and not a.runs then
		count.more = count.more + 1
		print(("starts here alone %s: %s under stock: %s"):format(id, a.reason, options))
	elseif a.runs then
		local spare = spares(options, a, b)
		for _, field in ipairs { "nodes", "cpus", "gpus", "memory", "limit" } do
			local what = spare and (field == "cpus" or field == "memory") and "spare" or field
			if a[field] ~= b[field] then same = differ(known, id, options, what, a[field], b[field]) end
		end
	elseif a.reason ~= "None" and a.reason ~= b.reason then
		same = differ(known, id, options, "reason", a.reason, b.reason)
	end
	count.alike = count.alike + (same and 1 or 0)
end

local BOOTS <const> = tonumber(os.getenv "SL_BOOTS") or 0	-- seconds

-- Who runs is the same, and whoever waits does until the same time after the first has begun.  What stock has
-- not come to has no reason.
local function compare_head(known, id, options, a, b, first_a, first_b)
	if b.runs and not a.runs then	-- which a slow machine's backfill may not have come to
		count.more = count.more + 1
		return
	end
	if a.runs ~= b.runs or a.reason ~= "None" and a.reason ~= b.reason then
		return differ(known, id, options, "reason", a.state .. " " .. a.reason, b.state .. " " .. b.reason)
	end
	local ends_a, ends_b = seconds(first_a.finish), seconds(first_b.finish)
	local at_a, at_b = seconds(a.start), seconds(b.start)
	at_b = (at_b or 0) - BOOTS		-- the first one's nodes boot, which Slurm does not count
	if not a.runs and at_a and math.abs((at_a - ends_a) - (at_b - ends_b)) > 120 then
		return differ(known, id, options, "expected", at_a - ends_a, at_b - ends_b)
	end
	count.alike = count.alike + 1
end

-- Slurm's own words, whoever says them.
local WORDS = {}
for word in ("None Priority Resources Dependency Licenses JobArrayTaskLimit BeginTime Reservation DeadLine " ..
	"BadConstraints ReqNodeNotAvail PartitionConfig JobHeldUser PartitionNodeLimit"):gmatch("%S+") do
	WORDS[word] = true
end

local function compare(doc, options_file, stock_file, our_file)
	local known, stock = intended(doc), (read(stock_file))
	local ours, elsewhere = read(our_file)
	local first, started = {}, { 0, 0 }
	for line in io.lines(options_file) do
		local id, options = line:match("^(%d+) sbatch (.*)")
		local a, b = stock[id], ours[id]
		if elsewhere[id] then differ(known, id, options, "planned", "", "elsewhere") end
		if id and not (a and b) and stock[id .. "_0"] then a, b = stock[id .. "_0"], ours[id .. "_0"] end
		if a and b then
			count.jobs = count.jobs + 1
			local kind = ({ [0] = "idle", "idle", "head", "load" })[tonumber(a.partition:sub(2)) % 4]
			local where = a.partition
			if kind == "idle" then
				compare_idle(known, id, options, a, b)
			elseif kind == "head" then
				first[where] = first[where] or { a, b }
				compare_head(known, id, options, a, b, first[where][1], first[where][2])
			end
		elseif id then
			differ(known, id, options, "there", a and a.state, b and b.state)
		end
	end
	for id, b in pairs(ours) do
		if b.runs then started[2] = started[2] + 1 end
		if stock[id] and stock[id].runs then started[1] = started[1] + 1 end
		if not b.runs and not WORDS[b.reason:match "^[^,]+"] then
			count.wrong = count.wrong + 1
			print(("differs %s: '%s' is no reason of Slurm's"):format(id, b.reason))
		end
	end
	print(("parity: %d jobs, %d compared alike, %d differ as intended, %d otherwise; not started here %d, " ..
		"here alone %d; %d started under stock, %d under sched/lua"):format(count.jobs,
		count.alike, count.intended, count.wrong, count.missing, count.more, started[1], started[2]))
	os.exit(count.wrong == 0 and started[2] * 10 >= started[1] * 9)
end

if mode == "machine" then
	machine(tonumber(arg[4]), arg[5])
elseif mode == "jobs" then
	jobs(tonumber(arg[4] or 4))
elseif mode == "switches" then
	switches()
elseif mode == "mix" then
	mix(tonumber(arg[4]), tonumber(arg[5]), arg[6])
elseif mode == "compare" then
	compare(arg[2], arg[3], arg[4], arg[5])
else
	error("parity.lua: machine, jobs, switches, mix or compare expected")
end
