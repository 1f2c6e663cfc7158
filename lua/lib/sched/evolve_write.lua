-- SPDX-License-Identifier: MIT
--
-- sched.evolve_write - what comes of a search: a table, and the policy with its spec and its evidence.

local languages = require "sched.evolve_language"
local tree = require "sched.evolve_tree"

local M = {}

-- -- JSON ---------------------------------------------------------------------------

--- A value as JSON; keys in order.
function M.json(v)
	if type(v) == "table" then
		local list, keys = {}, {}
		if v[1] ~= nil or next(v) == nil then
			for i, item in ipairs(v) do
				list[i] = M.json(item)
			end
			return "[" .. table.concat(list, ", ") .. "]"
		end
		for key in pairs(v) do
			keys[#keys + 1] = key
		end
		table.sort(keys)
		for i, key in ipairs(keys) do
			list[i] = ('"%s": %s'):format(key, M.json(v[key]))
		end
		return "{" .. table.concat(list, ", ") .. "}"
	elseif type(v) == "string" then
		return '"' .. v:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
	end
	return type(v) == "number" and ("%.10g"):format(v) or tostring(v)
end

-- -- figures --------------------------------------------------------------------------

-- Mean and half of its 95 % interval; nil for the latter of fewer than two.
local function mean(self, list)
	local sum, squares = 0, 0
	for _, x in ipairs(list) do
		sum = sum + x
	end
	local m = sum / #list
	for _, x in ipairs(list) do
		squares = squares + (x - m) ^ 2
	end
	return m, #list > 1 and self.host.student95(#list - 1) * math.sqrt(squares / (#list - 1) / #list) or nil
end

local function most(list)
	return math.max(table.unpack(list))
end

-- What a figure is in the tables: of the objective, as a person reads it.
local shown = {
	bsld = { "bsld", "mean bounded slowdown", "%.2f" }, wait = { "wait", "mean wait, s", "%.0f" },
	longest = { "longest", "longest wait, s", "%.0f" },
	utilization = { "utilization", "utilization", "%.4f", true },
	gpus = { "gpu_utilization", "utilization of GPUs", "%.4f", true },
	fairness = { "gini", "Gini of users' waits", "%.3f" },
	trial = { "bsld", "what --trial printed", "%.3f" },
}

local function base(path)
	return (path:gsub("^.*/", ""))
end

-- The figures of a program on windows, as a list; nil and why there are none.
local function figures(self, reader, program, windows, name)
	local list = {}
	for i, w in ipairs(windows) do
		local f = reader.result_of(self, program, w)
		local why = reader.lost(f)
		if why and program.origin ~= "present" then
			return nil, why
		end
		list[i] = f[name]
	end
	return list
end

-- Lists of windows by workload, in the order in which they were named.
local function by_workload(windows)
	local list, of = {}, {}
	for _, w in ipairs(windows) do
		if not of[w.workload] then
			of[w.workload] = {}
			list[#list + 1] = { name = base(w.workload), windows = of[w.workload] }
		end
		table.insert(of[w.workload], w)
	end
	return list
end

-- Did it win on a window?
local function is_less(self, a, b)
	if shown[self.opt.objective][4] then
		return a > b
	end
	return a < b
end

local function row_of(self, reader, program, part)
	local figure = shown[self.opt.objective]
	local mine = assert(figures(self, reader, program, part.windows, figure[1]))
	local theirs = assert(figures(self, reader, self.baseline, part.windows, figure[1]))
	local bound = assert(figures(self, reader, self.bound, part.windows, figure[1]))
	local differences, won = {}, 0
	for i, x in ipairs(mine) do
		differences[i] = x - theirs[i]
		won = won + (is_less(self, x, theirs[i]) and 1 or 0)
	end
	local d, half = mean(self, differences)
	local function text(x)
		return figure[3]:format(x)
	end
	local function largest(p)
		return ("%.0f"):format(most(assert(figures(self, reader, p, part.windows, "largest"))))
	end
	local m, t = mean(self, mine), mean(self, theirs)
	return { part.name, #part.windows, text(mean(self, bound)), text(t), text(m), ("%+.1f %%"):format(100 * (m / t - 1)),
		text(d) .. (half and " ± " .. text(half) or ""), ("%d of %d"):format(won, #mine), largest(self.bound),
		largest(self.baseline), largest(program) }
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

-- Of one program: a row for each workload, and one of all windows.
local function evidence(self, reader, program)
	local figure = shown[self.opt.objective]
	local bound, baseline = base(self.bound.policy), base(self.baseline.policy)
	local rows = { { "workload", "windows", bound, baseline, self.opt.name, "change", "difference ± 95 %", "better on",
		"largest, " .. bound, "largest, " .. baseline, "largest, " .. self.opt.name } }
	for _, part in ipairs(by_workload(self.judging)) do
		rows[#rows + 1] = row_of(self, reader, program, part)
	end
	rows[#rows + 1] = row_of(self, reader, program, { name = "**all**", windows = self.judging })
	if self.opt.trial then
		for _, row in ipairs(rows) do	-- nothing is known of jobs
			row[9], row[10], row[11] = nil, nil, nil
		end
		return ("%s, on trials that the search has not seen.\n\n"):format(figure[2]:gsub("^%l", string.upper))
			.. markdown(rows)
	end
	return ("%s, the mean of windows of %d jobs that the search has not seen; *difference* is to %s, window by window; "
		.. "*largest* is the largest bounded slowdown of a job.\n\n"):format(
			figure[2]:gsub("^%l", string.upper), self.opt.window, baseline) .. markdown(rows)
end

-- Where it lost: the windows on which the baseline is better, the worst first.
local function losses(self, reader, program)
	local figure, list = shown[self.opt.objective], {}
	for _, w in ipairs(self.judging) do
		local a = reader.result_of(self, program, w)[figure[1]]
		local b = reader.result_of(self, self.baseline, w)[figure[1]]
		if is_less(self, b, a) then
			list[#list + 1] = { ratio = math.abs(math.log((a + 1e-9) / (b + 1e-9))), id = w.id,
				row = { base(w.workload), ("%d to %d"):format(w.skip + 1, w.skip + w.first), figure[3]:format(b),
					figure[3]:format(a) } }
		end
	end
	if #list == 0 then
		return ("On no window was %s better.\n"):format(base(self.baseline.policy))
	end
	table.sort(list, function(a, b)
		if a.ratio ~= b.ratio then
			return a.ratio > b.ratio
		end
		return a.id < b.id
	end)
	local rows = { { "workload", "jobs", base(self.baseline.policy), self.opt.name } }
	for i = 1, math.min(10, #list) do
		rows[i + 1] = list[i].row
	end
	return ("%s was better on %d of %d windows%s:\n\n"):format(base(self.baseline.policy), #list, #self.judging,
		#list > 10 and ", most of all on these" or "") .. markdown(rows)
end

local function finalists_table(self, reader, finalists)
	local figure = shown[self.opt.objective]
	local rows = { { "", "learned", "judged", "largest", "length", "origin", "expression" } }
	for i, p in ipairs(finalists) do
		local list, why = figures(self, reader, p, self.judging, figure[1])
		local largest = list and most(assert(figures(self, reader, p, self.judging, "largest")))
		rows[i + 1] = { i, ("%.4f"):format(p.score), list and figure[3]:format(mean(self, list)) or why:match("^[^\n]*"),
			largest and ("%.0f"):format(largest) or "-", p.size, p.origin, "`" .. p.expression .. "`" }
	end
	return ("The best %d programs. *learned*: the logarithm of the objective in parts of the baseline's on the windows to "
		.. "learn from, with the costs of length and of the largest slowdown; *judged*: the mean on the others.\n\n"):format(
			#finalists) .. markdown(rows)
end

-- ": took too long (3), exit status 1 (2)"
local function counted(reasons)
	local list = {}
	for why, n in pairs(reasons) do
		list[#list + 1] = ("%s (%d)"):format(why, n)
	end
	table.sort(list)
	return #list > 0 and ": " .. table.concat(list, ", ") or ""
end

local function counts_text(self)
	local text = ("\n%d programs were tried; %d lost before the end of their windows%s.\n"):format(self.tried, self.losers,
		counted(self.reasons))
	local p = self.proposer
	return self.opt.proposer and text .. ("\nThe proposer was asked %d times, %d of them in vain%s.\n"):format(p.asked,
		p.failures, counted(p.failed)) or text
end

-- -- the policy and its spec ------------------------------------------------------------

local function head(self)
	local names = {}
	for _, part in ipairs(by_workload(self.learning)) do
		names[#names + 1] = part.name
	end
	return ("-- %s.lua - found by schedlua evolve (seed %d) on %s.\n"
		.. "-- %s.md says what it won and where it lost.\n\n"):format(self.opt.name, self.opt.seed,
			table.concat(names, ", "), self.opt.name)
end

-- Jobs of a spec on an idle machine of 64 cores: all fit, and nothing is known of their users.
local JOBS <const> = {
	{ cpus = 1, limit = 60, waited = 30 }, { cpus = 1, limit = 86400, waited = 3600 },
	{ cpus = 16, limit = 3600, waited = 7200 }, { cpus = 32, limit = 600, waited = 90000 },
	{ cpus = 4, limit = 7200, waited = 400000 },
}

-- The order in which a rank starts them, by its own expression.
local function order_of(program, language)
	local backlog = 0
	for _, job in ipairs(JOBS) do
		backlog = backlog + job.cpus * job.limit / 64
	end
	local names = "cpus, limit, typical, mean, waited, gpus, queued, idle, held, backlog"
	local value = assert(load("local function divide(a, b) return b == 0 and 0 or a / b end\n"
		.. ("local %s = ...\nreturn %s"):format(names, tree.text(program.tree[1], language))))
	local list = {}
	for i, job in ipairs(JOBS) do
		list[i] = { id = i, waited = job.waited,
			value = value(job.cpus, job.limit, job.limit, job.limit, job.waited, 0, #JOBS, 1, 0, backlog) }
	end
	table.sort(list, function(a, b)
		if a.value ~= b.value then
			return a.value > b.value
		end
		return a.waited > b.waited
	end)
	for i, row in ipairs(list) do
		list[i] = row.id
	end
	return table.concat(list, ", ")
end

local function rank_spec(program, language)
	local jobs = {}
	for i, job in ipairs(JOBS) do
		jobs[i] = ("\t\t\t{ id = %d, tasks = %d, time_limit = %d, submitted_ago = %d },\n"):format(i, job.cpus, job.limit,
			job.waited)
	end
	return ([[
	it("starts jobs that all fit in the order of its expression", function()
		local plan = t.decide(policy, t.cluster { nodes = "1x64c", pending = {
%s		} })
		assert.same({ %s }, plan:started())
	end)

]]):format(table.concat(jobs), order_of(program, language))
end

local SPEC <const> = [[
local t = require "sched.test"

local policy = debug.getinfo(1, "S").source:match("^@(.*/)[^/]*$") or "./"
policy = policy .. "%s.lua"

describe("%s", function()
	it("is a policy that the sandbox takes", function()
		assert.truthy(t.check(policy))
	end)

%s	it("leaves no job behind", function()
		local s = t.simulate(policy, "synthetic:jobs=150", { machine = "%s" })
		assert.equal(0, s.metrics.unfinished)
	end)
end)
]]

local function spec(self, program)
	local is_rank = self.opt.search == "rank"
	return SPEC:format(self.opt.name, self.opt.name, is_rank and program.tree and rank_spec(program, self.language) or "",
		is_rank and "32x8c" or "32x8c2g")
end

local function put(path, text)
	local file, why = io.open(path, "w")
	local ok = file and file:write(text)
	if file and not file:close() or not ok then
		error({ why = ("%s: %s"):format(path, why or "cannot be written") }, 0)
	end
end

--- Print what came of a search, and write it.  reader has evolve's result_of and lost.
function M.results(self, finalists, reader)
	local best
	for _, p in ipairs(finalists) do
		best = best or figures(self, reader, p, self.judging, "bsld") and p
	end
	local text = finalists_table(self, reader, finalists) .. counts_text(self)
	if best then
		text = evidence(self, reader, best) .. "\n" .. losses(self, reader, best) .. "\n" .. text
	end
	io.write(text)
	local directory = self.opt.output
	if directory and best then
		local files, why = self.host.files(directory, ".lua")
		if not files then
			error({ why = why }, 0)
		end
		local path = directory .. "/" .. self.opt.name
		put(path .. ".lua", best.tree and languages.policy(best.tree, self.language, self.opt.name, head(self)) or best.text)
		put(path .. "_spec.lua", spec(self, best))
		put(path .. ".md", ("# %s\n\n%s"):format(self.opt.name, text))
		print(("\n%s.lua, its spec and its evidence are written: try it with schedlua check and compare."):format(path))
	end
	return best ~= nil
end

return M
