-- SPDX-License-Identifier: MIT
--
-- sched.evolve - the search of schedlua evolve (lab/verbs/cmd_evolve.c): policies are expressions, bred by simulation.
--
-- Workloads are cut into windows.  The programs of a generation are simulated on a window of each workload, the best
-- third of them on three times as many, and so on, on every other window (successive halving).  Those that are left
-- join the elite, from which the next generation is bred: changed, crossed, new ones at random, and what the proposer
-- says.  In the end the best are judged on the windows between and on workloads that nobody has learned from.
--
-- The search is a function of its options and of what simulations and the proposer answered.  Those answers are
-- kept (sched.evolve_journal), so it repeats itself from them, byte for byte, up to where it was ended.

local journal = require "sched.evolve_journal"
local languages = require "sched.evolve_language"
local write = require "sched.evolve_write"

local M = {}

local KEPT <const> = 3		-- a third of the programs is kept at each step
local LEFT <const> = 6		-- at least, and so many are judged at most
local ELITE <const> = 16	-- from which the next generation is bred
local TRIES <const> = 30	-- to breed a program that was not there yet
local ASKED_IN_VAIN <const> = 5	-- a proposer that failed so often in a row is asked no more
local WITHIN <const> = ", and if the first job that does not fit is to get a reservation only if it can start within "
	.. "some seconds, the word within and one for these"
local MOST_BYTES <const> = 65536	-- of an answer

-- What is less is better.  A little is added to what may be 0, so that there is a ratio.
local losses = {
	bsld = function(f) return f.bsld + 1 end,
	wait = function(f) return f.wait + 1 end,
	longest = function(f) return f.longest + 1 end,
	utilization = function(f) return 1 / math.max(f.utilization, 1e-9) end,
	gpus = function(f) return 1 / math.max(f.gpu_utilization, 1e-9) end,
	fairness = function(f) return f.gini + 0.01 end,
	trial = function(f) return f.bsld + 1 end,
}

local function fail(format, ...)
	error({ why = format:format(...) }, 0)
end

-- -- windows --------------------------------------------------------------------

local function words(text)
	local list = {}
	for word in (text or ""):gmatch("%S+") do
		list[#list + 1] = word
	end
	return list
end

-- *count* windows, equally far apart, which do not overlap.
local function cut(self, workload, jobs, count, judges)
	for i = 0, count - 1 do
		local skip = count > 1 and i * (jobs - self.opt.window) // (count - 1) or 0
		local w = { workload = workload, skip = skip, first = self.opt.window, judges = judges or i % 2 == 1 }
		w.id = ("%s %d %d"):format(workload, w.skip, w.first)
		local list = w.judges and self.judging or self.learning
		list[#list + 1] = w
	end
end

local function jobs_of(self, workload)
	local jobs, why = self.host.jobs(workload)
	return jobs or fail("%s", why)
end

-- Of --trial: windows have numbers, from 1 on.
local function number_windows(self, workloads)
	for _, workload in ipairs(workloads) do
		for i = 1, self.opt.windows do
			local list = i % 2 == 0 and self.judging or self.learning
			list[#list + 1] = { workload = workload, skip = i, first = 0, judges = i % 2 == 0,
				id = ("%s %d"):format(workload, i) }
		end
	end
end

local function cut_windows(self, workloads)
	local opt = self.opt
	if opt.trial then
		return number_windows(self, workloads)
	end
	for _, workload in ipairs(workloads) do
		local jobs = jobs_of(self, workload)
		local count = math.min(opt.windows, jobs // opt.window)
		if count < 2 then
			fail("%s: %d jobs make %d windows of %d jobs; needed are 2, one to learn from and one to judge (--window)",
				workload, jobs, count, opt.window)
		end
		cut(self, workload, jobs, count)
	end
	for _, workload in ipairs(words(opt.judge)) do
		local jobs = jobs_of(self, workload)
		cut(self, workload, jobs, math.max(1, math.min(opt.windows, jobs // opt.window)), true)
	end
end

local function order_windows(self)
	-- the first window of each workload, the second of each, ...; workloads in an order of the seed
	local of, order = {}, {}
	for _, w in ipairs(self.learning) do
		if not of[w.workload] then
			of[w.workload] = {}
			order[#order + 1] = w.workload
		end
		table.insert(of[w.workload], w)
	end
	local list = {}
	for _, workload in ipairs(order) do
		for i = #of[workload], 2, -1 do
			local k = self.random(i)
			of[workload][i], of[workload][k] = of[workload][k], of[workload][i]
		end
	end
	for i = 1, self.opt.windows do
		for _, workload in ipairs(order) do
			list[#list + 1] = of[workload][i]
		end
	end
	self.learning, self.workloads = list, #order
end

-- -- programs -------------------------------------------------------------------------

-- A policy by its name, which is there already.
local function present(self, name)
	local content = name:match("%.lua$") and io.open(name)
	local text = content and content:read("a") or ""
	if content then
		content:close()
	end
	if self.opt.trial and text == "" then
		fail("%s: expected the file of a policy, for --trial", name)
	end
	return { policy = name, text = text, key = name .. "\n" .. text, size = 0, origin = "present" }
end

-- A program of a tree.  nil: it is too long, or constants in it have grown beyond all numbers.
local function program_of(self, node, origin)
	node = languages.simplify(node, self.language)
	local text, size = languages.text(node, self.language), languages.size(node)
	if size > self.opt.length or text:find("math.huge", 1, true) or text:find("0 / 0", 1, true) then
		return nil
	end
	local policy = languages.policy(node, self.language, self.opt.name)
	return { tree = node, expression = text, text = policy, key = policy, size = size, origin = origin }
end

-- A policy as the proposer has written it: it is judged as any other, but nothing is bred from it.
local function opaque(text, origin)
	local size = 0
	for _ in text:gsub("%-%-[^\n]*", ""):gmatch("[%w_]+") do
		size = size + 1
	end
	return { text = text, key = text, size = size, origin = origin, expression = "a policy of its own" }
end

local function is_new(self, program)
	return program and not self.seen[program.key]
end

local function add(self, list, program)
	self.seen[program.key] = true
	list[#list + 1] = program
end

-- -- simulating -------------------------------------------------------------------------

local function key_of(self, program, window)
	return self.host.digest(table.concat({ program.key, window.id, self.how }, "\n"))
end

local function result_of(self, program, window)
	return self.journal.result[key_of(self, program, window)]
end

-- Which part of the search is this?  nil: all.
local function part_of(opt)
	if not opt.part then
		return nil, nil
	end
	local part, parts = opt.part:match("^(%d+)/(%d+)$")
	part, parts = tonumber(part), tonumber(parts)
	if not parts or part >= parts or parts > 100000 then
		fail("--part=%s: expected I/N, I from 0 to N - 1", opt.part)
	end
	return part, parts
end

local function stop(self, missing)
	error({ stopped = true, missing = missing, simulated = self.simulated }, 0)
end

-- In the place of simulations: a command of the user's judges each, one after the other.
local function try(self, requests, ended)
	for i, r in ipairs(requests) do
		local command = ("%s '%s' %d"):format(self.opt.trial, r.workload:gsub("'", "'\\''"), r.skip)
		local text, why = self.host.ask(command, r.text, self.opt.cpu, MOST_BYTES)
		if self.host.stopped() then
			return false
		end
		local value = text and tonumber((text:match("^%s*(%S*)%s*$")))
		local figures = { error = why or not (value and value - value == 0) and "printed no number" or nil }
		for _, name in ipairs(self.journal.figures) do
			figures[name] = name == "bsld" and value or 0.0
		end
		ended(i, figures)
	end
	return true
end

-- Simulate what is missing of these programs on these windows.
local function simulate(self, programs, windows)
	local requests, keys, asked, n, missing = {}, {}, {}, 0, 0
	for _, w in ipairs(windows) do
		for _, p in ipairs(programs) do
			local key = key_of(self, p, w)
			n = n + 1	-- the same in all parts, whatever is there already
			if not self.journal.result[key] and not asked[key] then
				asked[key] = true
				if self.parts and n % self.parts ~= self.part then
					missing = missing + 1
				else
					keys[#keys + 1] = key
					requests[#requests + 1] = { workload = w.workload, skip = w.skip, first = w.first,
						policy = not self.opt.trial and p.policy or nil,
						text = (self.opt.trial or not p.policy) and p.text or nil }
				end
			end
		end
	end
	if #requests > 0 then
		local function ended(i, figures)
			self.journal:keep(keys[i], figures)
			self.simulated = self.simulated + 1
		end
		local done, why
		if self.opt.trial then
			done = try(self, requests, ended)
		else
			done, why = self.host.simulate(requests, ended)
		end
		if why then
			fail("%s", why)
		elseif not done then
			stop(self)
		end
	end
	if missing > 0 then
		stop(self, missing)
	end
end

-- Why a program has no score: it failed, or left jobs behind.
local function lost(figures)
	return figures.error or figures.unfinished > 0 and "leaves jobs that never start" or nil
end

-- The mean, over windows, of the logarithm of the objective divided by the baseline's: so a busy window counts no
-- more than a quiet one.  What the largest slowdown exceeds, and the length, are added.
local function score(self, program, windows)
	local sum, above, loss = 0, 0, self.loss
	for _, w in ipairs(windows) do
		local f = result_of(self, program, w)
		if lost(f) then
			program.lost = lost(f)
			return math.huge
		end
		sum = sum + math.log(loss(f) / loss(result_of(self, self.baseline, w)))
		above = above + math.max(0, math.log((f.largest + 1) / (result_of(self, self.bound, w).largest + 1)))
	end
	return (sum + self.opt.guard * above) / #windows + self.opt.parsimony * program.size
end

local function sort(programs)
	table.sort(programs, function(a, b)
		if a.score ~= b.score then
			return a.score < b.score
		elseif a.size ~= b.size then
			return a.size < b.size
		end
		return a.key < b.key
	end)
end

local function first_of(list, n)
	return table.move(list, 1, math.min(n, #list), 1, {})
end

-- Without those that have lost.
local function alive(programs)
	local list = {}
	for _, p in ipairs(programs) do
		if p.score < math.huge then
			list[#list + 1] = p
		end
	end
	return list
end

-- The first line of an error, without the place in the text and without numbers: the same for many programs.
local function reason(why)
	return (why:match("^[^\n]*"):gsub("^.*:%d+: ", ""):gsub("%-?%d[%d.e+-]*", "N"))
end

-- Successive halving: those that are left, with a score of all windows to learn from.
local function halve(self, programs)
	local used = math.min(self.workloads, #self.learning)
	while #programs > 0 do
		local windows = first_of(self.learning, used)
		simulate(self, programs, windows)
		for _, p in ipairs(programs) do
			p.score = score(self, p, windows)
			if p.score == math.huge then
				local why = reason(p.lost)
				self.losers = self.losers + 1
				self.reasons[why] = (self.reasons[why] or 0) + 1
			end
		end
		programs = alive(programs)
		sort(programs)
		if used == #self.learning then
			break
		end
		programs = first_of(programs, math.max(LEFT, (#programs + KEPT - 1) // KEPT))
		used = math.min(KEPT * used, #self.learning)
	end
	return programs
end

-- The best, and all that nothing shorter is as good as.
local function select_elite(programs)
	sort(programs)
	local elite, least = {}, math.huge
	for i, p in ipairs(programs) do
		local is_short = p.size < least
		least = math.min(least, p.size)
		if i <= ELITE or is_short then
			elite[#elite + 1] = p
		end
	end
	return elite
end

-- -- breeding ------------------------------------------------------------------------

local function parent(self)
	local best
	for _ = 1, 3 do
		local p = self.parents[self.random(#self.parents)]
		if not best or p.score < best.score then
			best = p
		end
	end
	return best.tree
end

local function bred(self, generation)
	local x, random = self.random(), self.random
	if x < 0.12 or #self.parents == 0 then
		return program_of(self, languages.random(self.language, random), ("generation %d, at random"):format(generation))
	elseif x < 0.4 then
		return program_of(self, languages.cross(parent(self), parent(self), random),
			("generation %d, crossed"):format(generation))
	end
	local node = languages.mutate(parent(self), self.language, random)
	if x > 0.8 then
		node = languages.mutate(node, self.language, random)
	end
	return program_of(self, node, ("generation %d, changed"):format(generation))
end

-- -- the proposer -----------------------------------------------------------------------

local function known_programs(self)
	local list = {}
	for i, p in ipairs(first_of(self.elite, 8)) do
		list[i] = { expression = p.expression, policy = p.text, score = p.score, size = p.size, origin = p.origin }
	end
	return list
end

local function question(self, generation, number)
	local fields = {}
	for i, name in ipairs(self.language.names) do
		fields[i] = { name = name, doc = self.language.field[name].doc }
	end
	return write.json {
		task = ("Print one expression for %s (the largest goes first)%s, or a Lua policy for sched/lua."):format(
			self.language.name, self.language.may_reserve_within and WITHIN or ""),
		operators = "+ - * / ^ min max log sqrt, conditions as in: waited > 3600 and cpus or -limit",
		fields = fields, objective = self.opt.objective, baseline = self.opt.baseline, generation = generation,
		number = number, score = "less is better; the logarithm of the objective in parts of the baseline's",
		programs = known_programs(self),
	}
end

-- What language models put around a program is left out.
local function without_fence(text)
	return (text:match("```%w*\n(.-)```") or text):gsub("^%s+", ""):gsub("%s+$", "")
end

-- A proposer is no part of the search: whatever it does counts, and is all that it does.
local function read_answer(self, answer, origin)
	local count = self.proposer
	count.asked = count.asked + 1
	local program, why
	if not answer.text then
		why = answer.why
	elseif not answer.text:find("%S") then
		why = "printed nothing"
	else
		local text = without_fence(answer.text)
		local node = languages.read(text, self.language)
		program = node and program_of(self, node, origin) or not node and opaque(text, origin)
		why = not program and "printed a program that is too long"
	end
	if why then
		count.failed[why] = (count.failed[why] or 0) + 1
		count.failures, count.in_a_row = count.failures + 1, count.in_a_row + 1
	else
		count.in_a_row = 0
	end
	return program
end

local function ask(self, generation, number)
	local text = question(self, generation, number)
	local key = self.host.digest(text .. self.opt.proposer .. self.opt.seed)
	if not self.journal.answer[key] then
		if self.part and self.part ~= 0 then
			stop(self, 1)	-- the first part asks
		end
		local answer, why = self.host.ask(self.opt.proposer, text, self.opt.patience, MOST_BYTES)
		if self.host.stopped() then
			stop(self)
		end
		self.journal:keep_answer(key, answer, why)
	end
	return read_answer(self, self.journal.answer[key], ("generation %d, proposed"):format(generation))
end

local function proposed(self, generation)
	local list = {}
	for number = 1, self.opt.proposer and self.opt.proposals or 0 do
		if self.proposer.in_a_row >= ASKED_IN_VAIN then
			break
		end
		local program = ask(self, generation, number)
		if is_new(self, program) then
			add(self, list, program)
		end
	end
	return list
end

-- -- the search ---------------------------------------------------------------------------

local function say(self, format, ...)
	if not self.opt.quiet then
		io.stderr:write("schedlua: ", format:format(...), "\n")
	end
end

-- The programs of a generation, at most as many as there are to be.
local function programs_of(self, generation)
	local list = {}
	if generation == 1 then
		for i, text in ipairs(self.language.seeds) do
			local program = program_of(self, assert(languages.read(text, self.language)), ("known, number %d"):format(i))
			if is_new(self, program) then
				add(self, list, program)
			end
		end
	end
	table.move(proposed(self, generation), 1, self.opt.proposals, #list + 1, list)
	for _ = 1, TRIES * self.opt.population do
		if #list >= self.opt.population then
			break
		end
		local program = bred(self, generation)
		if is_new(self, program) then
			add(self, list, program)
		end
	end
	return list
end

local function with_tree(programs)
	local list = {}
	for _, p in ipairs(programs) do
		if p.tree then
			list[#list + 1] = p
		end
	end
	return list
end

-- The baseline and the bound do not lose: without their figures there is nothing to compare with.
local function simulate_present(self, windows)
	simulate(self, { self.baseline, self.bound }, windows)
	for _, w in ipairs(windows) do
		for _, p in ipairs { self.baseline, self.bound } do
			local f = result_of(self, p, w)
			if f.error then
				fail("%s: %s", p.policy, f.error)
			end
		end
	end
end

local function search(self)
	simulate_present(self, self.learning)
	for generation = 1, self.opt.generations do
		local programs = programs_of(self, generation)
		local left = halve(self, programs)
		self.tried = self.tried + #programs
		table.move(left, 1, #left, #self.elite + 1, self.elite)
		self.elite = select_elite(self.elite)
		self.parents = with_tree(self.elite)
		local best = self.elite[1]
		say(self, "generation %d: %d programs; the best %s", generation, #programs,
			best and ("%.4f, %d long: %s"):format(best.score, best.size, best.expression) or "none: all have lost")
	end
	if #self.elite == 0 then
		fail("no program came through: %d of them failed or left jobs behind", self.losers)
	end
	local finalists = first_of(self.elite, LEFT)
	simulate_present(self, self.judging)
	simulate(self, finalists, self.judging)
	return finalists
end

-- All that a simulation depends on beside its policy and its window.
local function how(opt)
	local text = {}
	for _, name in ipairs { "machine", "estimate", "from", "to", "unlimited", "tiers", "procs", "seed", "overrun",
		"outstay", "requested-procs", "strict", "path", "interval", "latency", "each-end", "arrivals-first", "cpu",
		"trial" } do
		text[#text + 1] = ("%s=%s"):format(name, tostring(opt[name]))
	end
	return table.concat(text, "|")
end

local function new(host, opt)
	if opt.trial then
		opt.objective = "trial"
	end
	local language = (opt.search == "rank" or opt.search == "score") and languages[opt.search] or
		fail("--search=%s: expected rank or score", opt.search)
	if not opt.name:find("^[%a_][%w_]*$") then
		fail("--name=%s: expected the name of a Lua module: letters, digits and _", opt.name)
	end
	local self = {
		host = host, opt = opt, language = language, how = how(opt), learning = {}, judging = {}, seen = {}, elite = {},
		parents = {}, simulated = 0, losers = 0, reasons = {}, tried = 0,
		proposer = { asked = 0, failures = 0, in_a_row = 0, failed = {} },
		loss = losses[opt.objective] or
			fail("--objective=%s: expected bsld, wait, longest, utilization, gpus or fairness", opt.objective),
		random = function(n)
			if n then
				return math.random(n)
			end
			return math.random()
		end,
	}
	math.randomseed(opt.seed, 0)
	self.part, self.parts = part_of(opt)
	self.baseline = present(self, opt.baseline)
	self.bound = opt.trial and self.baseline or present(self, opt.bound)
	return self
end

local function tell_stop(self, why)
	if why.missing then
		say(self, "part %s is done (%d simulations); %d of this step are missing", self.opt.part, self.simulated,
			why.missing)
		return true
	end
	say(self, "stopped after %d simulations; %s", self.simulated,
		self.opt.state and "the same command goes on from there" or "with --state they would not be lost")
	return false
end

--- The whole of schedlua evolve: true if it went well; raises { why = } for what is wrong with its input.
function M.run(host, opt, workloads)
	local self = new(host, opt)
	cut_windows(self, workloads)
	order_windows(self)
	self.journal = journal.open(host, opt.state, self.part)
	say(self, "%d windows to learn from, %d to judge; %d generations of %d programs", #self.learning, #self.judging,
		opt.generations, opt.population)
	local ok, finalists = xpcall(search, function(e)
		return type(e) == "table" and e or { why = debug.traceback(e) }
	end, self)
	if not ok and finalists.stopped then
		return tell_stop(self, finalists)
	elseif not ok then
		error(finalists, 0)
	end
	return write.results(self, finalists, { result_of = result_of, lost = lost })
end

return M
