-- SPDX-License-Identifier: MIT
local site = require "spec.support".site
local t = require "sched.test"

local function body(text)
	return 'local sched = require "sched"\nreturn sched.site {\n' .. text .. "\n}\n"
end

-- The policies that come with the project.
local function options_of_easy()
	local names = {}
	for name in pairs(dofile("lua/policies/easy.lua").options) do
		names[#names + 1] = name
	end
	table.sort(names)
	return table.concat(names, ", ")
end

local function bundled()
	local names = {}
	for path in io.popen("ls lua/policies/*.lua"):lines() do
		names[#names + 1] = path:match("([%w_]+)%.lua$")
	end
	return table.concat(names, ", ")
end

local function accepted(text, policies)
	local figures, why = t.check(site(body(text), policies))
	assert.is_nil(why)
	return figures
end

local function refused(text, message, policies)
	local figures, why = t.check(site(text, policies))
	assert.is_nil(figures)
	assert.equal(message, why)
end

local function refused_body(text, message, policies)
	refused(body(text), message, policies)
end

local function matches(text, pattern, policies)
	local figures, why = t.check(site(body(text), policies))
	assert.is_nil(figures)
	assert.matches(pattern, why)
end

local ranked = [[
	local M = { api = 1, name = "ranked" }
	M.options = { sign = { default = 1, min = -1, max = 1 }, max_wait = { default = "1h", type = "duration" } }
	function M.rank(job, cluster, opt) return opt.sign * job.id end
	return M]]
local nobody = [[
	local M = { api = 1, name = "nobody" }
	function M.admit(job) return job.user ~= "bob", "no bobs" end
	return M]]

describe("a site file", function()
	it("says interval, budget and policies", function()
		assert.same({ interval = 3, budget = 2, policy = "easy", files = {} },
			(function(f) f.files = {} return f end)(accepted('interval = 3, budget = 2.0, default = { "easy" }')))
	end)

	it("is checked as a whole: what is written to it afterwards is refused", function()
		refused('local sched = require "sched"\nlocal site = sched.site {}\nsite.interval = 5\nreturn site\n',
			"site.lua:3: a site is read-only: write interval inside of sched.site { ... }")
	end)

	it("says what is wrong with the stages of a component", function()
		matches("default = { { stages = { { run = 5 } } } }", "stages: expected a list of { run = function }, got table")
		matches("default = { { stages = 7 } }", "stages: expected a list of { run = function }, got 7")
	end)

	it("may say nothing at all: easy for all", function()
		assert.equal("easy", accepted("").policy)
	end)

	it("names a policy by a word or a list, with options", function()
		assert.equal("fcfs", accepted('default = "fcfs"').policy)
		assert.equal("site: ranked, easy",
			accepted('default = { "ranked", "easy", window = 5, sign = -1 }', { ranked = ranked }).policy)
		assert.equal("site: easy, fcfs",
			accepted('default = { "easy" }, partitions = { debug = "fcfs", ["a, b"] = { "easy" } }').policy)
	end)

	it("takes policies as tables, as library functions make them", function()
		assert.equal("site: quota, easy", accepted(
			'default = { { name = "quota", admit = function() return true end }, "easy" }').policy)
		assert.equal("site: easy, fcfs", accepted(
			'default = { require "easy" }, partitions = { a = { "fcfs" } }').policy)
	end)

	it("keeps options with one policy in a nested list", function()
		accepted('default = { { "ranked", sign = -1 }, { "easy", window = 7 } }', { ranked = ranked })
	end)

	it("knows an option from a function of policies that has its name", function()
		assert.equal("critical", accepted('default = { "critical", place = "tight" }').policy)
	end)

	it("takes durations as text where an option is one", function()
		accepted('default = { "ranked", max_wait = "12h" }', { ranked = ranked })
	end)

	it("tells the files of the set, for watching them", function()
		local files = table.concat(accepted('default = "conservative"').files, "\n") .. "\n"
		assert.matches("/lua/lib/sched/init.lua\n", files)
		assert.matches("/lua/policies/conservative.lua\n", files)
	end)
end)

describe("a site file is refused", function()
	it("with a syntax error, at its line", function()
		refused('return {\n\tdefault = { "easy"\n', "site.lua:3: '}' expected (to close '{' at line 2) near <eof>")
	end)

	it("when it returns no site", function()
		refused("return { default = 'easy' }",
			"site.lua:1: returned a table, expected what sched.site { ... } returns")
		refused("local x = 1", "site.lua:1: returned nothing (is 'return' missing?), expected what sched.site { ... } returns")
		refused("return 5", "site.lua:1: returned a number, expected what sched.site { ... } returns")
	end)

	it("when it raises", function()
		matches('default = error("mine")', "^site.lua:3: mine$")
	end)

	it("with an unknown key, at the key's line", function()
		refused_body("\tinterval = 3,\n\tbugdet = 2,",
			"site.lua:4: unknown key \"bugdet\" of sched.site; did you mean 'budget'? " ..
			"known: budget, default, forecasts, holidays, interval, on_failure, partitions, time_zone, tuned, wake_after, when")
	end)

	it("with figures out of range or of another type", function()
		refused_body('interval = 0', "site.lua:3: interval = 0; expected 0.1 to 86400 seconds between two cycles")
		refused_body('interval = "3s"',
			"site.lua:3: interval = \"3s\"; expected 0.1 to 86400 seconds between two cycles")
		refused_body('budget = 1e9',
			"site.lua:3: budget = 1000000000.0; expected 0.01 to 3600 seconds that a cycle may take to decide")
		refused_body('budget = 0/0',
			"site.lua:3: budget = " .. tostring(0 / 0) .. "; expected 0.01 to 3600 seconds that a cycle may take to decide")
	end)

	it("with an unknown policy, at the line that names it, with those known", function()
		refused_body('default = { "easy" },\npartitions = {\n  gpu = { "eazy" },\n}',
			"site.lua:5: unknown policy 'eazy'; did you mean 'easy'? known: " .. bundled())
		matches('default = { "../easy" }', "^site.lua:3: unknown policy '../easy'")
	end)

	it("with an unknown option, at the line that gives it, with those known", function()
		refused_body('default = { "easy" },\npartitions = {\n  gpu = { "easy",\n  windw = 5 },\n}',
			"site.lua:6: unknown option 'windw' of policy 'easy'; did you mean 'window'? known: " .. options_of_easy())
	end)

	it("with an option out of range or of another type", function()
		refused_body('default = { "easy",\n  window = -1 }',
			"site.lua:4: option 'window' of policy 'easy': -1 is out of range, expected 0 to 100000")
		refused_body('default = { "easy", window = "all" }',
			"site.lua:3: option 'window' of policy 'easy': \"all\" is no integer")
		refused_body('default = { "ranked", max_wait = "soon" }',
			"site.lua:3: option 'max_wait' of policy 'ranked': \"soon\" is no duration; " ..
			"expected seconds, or text such as \"90m\" or \"1-12:00:00\"", { ranked = ranked })
	end)

	it("with an option that two policies of the list know", function()
		matches('default = { "fcfs2", "easy", window = 5 }',
			"^site.lua:3: option 'window' is one of both 'fcfs2' and 'easy'; write",
			{ fcfs2 = "return { api = 1, name = 'fcfs2', options = { window = { default = 1 } }, rank = function() return 1 end }" })
	end)

	it("with what was tuned for a policy that it has not, or to what its options do not allow", function()
		refused_body('tuned = { easi = { window = 5 } }, default = "easy"',
			"site.lua:3: tuned: the site has no policy 'easi'; did you mean 'easy'? known: easy")
		matches('default = "easy", tuned = { easy = { window = "all" } }', "option 'window' of policy 'easy': \"all\" is no integer")
		matches('tuned = { easy = 5 }', "tuned: easy = 5; expected POLICY = { OPTION = VALUE, ... }")
		matches('tuned = 5', "tuned = 5; expected { POLICY")
	end)

	it("with two policies that decide or rank", function()
		refused_body('default = { "easy", "fcfs" }',
			"site.lua:3: two policies with decide: 'easy' and 'fcfs'; a set of partitions takes one")
		refused_body('default = { "ranked", { name = "other", rank = function() return 1 end } }',
			"site.lua:3: two policies with rank: 'ranked' and 'other'; a set of partitions takes one",
			{ ranked = ranked })
	end)

	it("with a partition in two sets", function()
		refused_body('partitions = {\n  ["a,b"] = "easy",\n  b = "fcfs",\n}', "site.lua:4: partition 'b' is in two sets")
	end)

	it("with lists that are none", function()
		refused_body('default = 5',
			"site.lua:3: 5 instead of policies; expected a name or a list such as { \"easy\", window = 100 }")
		refused_body('default = {}', "site.lua:3: a list without a policy; expected a name such as \"easy\"")
		refused_body('default = { "easy", 5 }', "site.lua:3: 5 in a list of policies; " ..
			"expected a policy's name or a table with admit, allow or rank")
		refused_body('partitions = { "easy" }',
			"site.lua:3: partitions: 1 is no partition's name; expected { NAME = { \"easy\" } }")
		refused_body('partitions = 5', "site.lua:3: partitions = 5; expected { NAME = { \"easy\" }, ... }")
		matches('default = { [2] = "easy" }', "a list of policies has a gap")
	end)

	it("with a function of sched that does not exist", function()
		matches('default = { sched.quotta { } }', "^site.lua:3: sched has no function 'quotta'; did you mean 'quota'%? " ..
			"known: ageing, api, borrow, consolidate, duration, fair_share, file, first_job, forecasts, gpu_share, layers, limit, place, " ..
			"preempt, quota, score, site, weighted, when")
	end)
end)

describe("a policy is refused", function()
	local function policy(text, message)
		local figures, why = t.check { source = text, name = "mine" }
		assert.is_nil(figures)
		assert.equal(message, why)
	end

	it("with a syntax error, at its line in its file", function()
		policy("local M = {}\nM.x = = 5", "mine.lua:2: unexpected symbol near '='")
	end)

	it("when it returns no policy", function()
		policy("return 5", "mine.lua:1: policy 'mine' returned 5, expected a table with admit, allow, rank, place, score, prepare or decide")
		policy("local x", "mine.lua:1: module 'mine' returns nothing, expected a table")
		policy("return { api = 1 }", "mine.lua:1: policy 'mine' has none of admit, allow, rank, place, score, prepare and decide")
	end)

	it("for another contract", function()
		policy("return {\n  decide = function() end }", "mine.lua:1: policy 'mine': api is nil, this engine serves api = 1")
		policy("return {\n  api = 2, decide = function() end }",
			"mine.lua:2: policy 'mine': api is 2, this engine serves api = 1")
	end)

	it("with something else than a function", function()
		policy("return { api = 1,\n\n  decide = 5 }", "mine.lua:3: policy 'mine': decide: expected a function, got 5")
	end)

	it("with options that are ill defined, at their line", function()
		policy("return { api = 1, decide = function() end,\noptions = {\n  a = { default = 0, min = 1 } } }",
			"mine.lua:3: policy 'mine': option 'a': default: 0 is out of range, expected 1 or more")
	end)

	it("that fails when probed on a canned cluster", function()
		policy("local M = { api = 1 }\nfunction M.decide(c)\n  c.nodes[1].cors()\nend\nreturn M",
			"mine.lua:3: a node has no field 'cors'; did you mean 'cores'? (while probed on a canned cluster)")
	end)

	it("whose rank is no number", function()
		policy("return { api = 1, rank = function(job) return job.name end }",
			"mine.lua:1: policy 'mine': rank returned \"probe\" for job 3, expected a number (while probed on a canned cluster)")
		policy("return { api = 1, rank = function(job) return 0 / 0 end }",
			"mine.lua:1: policy 'mine': rank returned not-a-number (0/0) for job 3, expected a number (while probed on a canned cluster)")
	end)
end)

describe("a policy alone", function()
	it("takes options as text", function()
		local c = t.cluster { nodes = "1x1c", running = { { exclusive = true, ends_in = 60 } },
			pending = { {}, {}, {} } }
		assert.equal(2, t.decide("easy,window=2", c):examined())
	end)

	it("is refused with bad ones", function()
		local _, why = t.check "easy,windw=2"
		assert.equal("policy easy,windw=2: unknown option 'windw' of policy 'easy'; did you mean 'window'? known: "
			.. options_of_easy(), why)
		_, why = t.check "easy,window"
		assert.equal("policy easy,window: 'window' is no option; expected NAME=VALUE", why)
		_, why = t.check "easy,fcfs"
		assert.equal("policy easy,fcfs: 'fcfs' is no option; expected NAME=VALUE; policies to compare stand beside each other: " ..
			'"easy fcfs"', why)
		_, why = t.check "eazy"
		assert.equal("policy eazy: unknown policy 'eazy'; did you mean 'easy'? known: " .. bundled(), why)
		_, why = t.check "nowhere/mine.lua"
		assert.matches("nowhere: No such file or directory", why)
	end)
end)

describe("a set of policies", function()
	local c = t.cluster { nodes = "1x4c", pending = {
		{ id = 1, tasks = 2, user = "bob" }, { id = 2, tasks = 2 }, { id = 3, tasks = 2 }, { id = 4, tasks = 2 } } }

	it("goes by rank, the largest first", function()
		local plan = t.decide(site(body('default = { "ranked", "easy" }'), { ranked = ranked }), c)
		assert.same({ 4, 3 }, plan:started())
		assert.equal("ranked+easy", plan:start(4).by)
		assert.same({ 1, 2 }, t.decide(site(body('default = { "ranked", sign = -1, "easy" }'),
			{ ranked = ranked }), c):started())
	end)

	it("goes by priority, submission and id where ranks are equal", function()
		local equal = "return { api = 1, rank = function() return 0 end }"
		local d = t.cluster { nodes = "1x4c", pending = {
			{ id = 4, priority = 5, submit_time = 20 }, { id = 3, priority = 5, submit_time = 20 },
			{ id = 2, priority = 5, submit_time = 10 }, { id = 1, priority = 9, submit_time = 30 } } }
		assert.same({ 1, 2, 3, 4 }, t.decide({ source = equal }, d):started())
	end)

	it("looks at no job that is not admitted, and tells its user why", function()
		local plan = t.decide(site(body('default = { "nobody", "fcfs" }'), { nobody = nobody }), c)
		assert.same({ 2, 3 }, plan:started())
		assert.same({ "policy", "no bobs" }, { plan:pending(1) })
	end)

	it("admits a job only if all agree", function()
		local plan = t.decide(site(body([[default = {
			{ name = "a", admit = function(job) return job.id ~= 2, "not two" end },
			{ name = "b", admit = function(job) return job.id ~= 3 end },
			"nobody", "easy" }]]), { nobody = nobody }), c)
		assert.same({ 4 }, plan:started())
		assert.same({ "policy", "not two" }, { plan:pending(2) })
		assert.same({ "policy", "not admitted by policy a+b+nobody+easy, which gives no reason" }, { plan:pending(3) })
	end)

	it("ranks only those that are admitted", function()
		local plan = t.decide(site(body([[default = { "nobody",
			{ name = "r", rank = function(job) assert(job.user ~= "bob") return job.id end } }]]), { nobody = nobody }), c)
		assert.same({ 4, 3 }, plan:started())
	end)

	it("asks admit only about jobs within the window", function()
		local plan = t.decide(site(body([[default = {
			{ name = "a", admit = function(job) slurm.log_info("%d", job.id) return true end }, "easy", window = 2 }]])), c)
		assert.same({ "info: 1", "info: 2" }, plan:log())
	end)
end)

describe("sets of partitions", function()
	local two = {
		nodes = "4x4c",
		partitions = { low = { nodes = "n[1-4]" }, high = { nodes = "n[1-4]", priority_tier = 10 } },
		pending = { { id = 1, partition = "low", nodes = 4, exclusive = true, priority = 9 },
			{ id = 2, partition = "high", nodes = 1, exclusive = true, priority = 1 } },
	}

	it("decide in the order of PriorityTier and share a timeline", function()
		local plan = t.decide(site(body('default = "easy", partitions = { high = "fcfs" }')), t.cluster(two))
		assert.same({ 2 }, plan:started())
		assert.equal("fcfs", plan:start(2).by)
		assert.equal("easy", plan:reservation(1).by)
	end)

	it("go on when one of them fails", function()
		local plan = t.decide(site(body('default = "easy", partitions = { high = "broken" }'),
			{ broken = "return { api = 1, decide = function(c) if c.name ~= 'probe' then error('broken') end end }" }),
			t.cluster(two), { may_fail = true })
		assert.same({ 1 }, plan:started())
		assert.matches("broken.lua:1: broken", plan:errors()[1])
	end)

	it("that name a partition that does not exist take nothing", function()
		local plan = t.decide(site(body('default = "easy", partitions = { hihg = "fcfs" }')), t.cluster(two))
		assert.equal("easy", plan:start(2).by)
		assert.same({ "debug: site: no partition 'hihg' in this cluster" }, plan:log())
	end)

	it("are known to a part's serve() by the names of their partitions, in the cluster's order", function()
		local plan = t.decide(site([[
			local sched = require "sched"
			local part = { name = "part", serve = function(partitions) slurm.log_info("%s", table.concat(partitions, " ")) end,
				admit = function() return true end }
			return sched.site { default = "easy", partitions = { ["m, z, a"] = { part, "easy" } } }
			]]), t.cluster { nodes = "2x4c",
			partitions = { z = { nodes = "n1" }, other = { nodes = "n2" }, m = { nodes = "n1" }, a = { nodes = "n1" } } })
		assert.same({ "info: a m z" }, plan:log())
	end)

	it("that share no nodes do not wait for each other's head", function()
		-- job 1 waits in a; job 3 must not be left without a reservation behind job 4 in b
		local c = t.cluster { nodes = "4x4c",
			partitions = { a = { nodes = "n[1-2]" }, b = { nodes = "n[3-4]" } },
			running = { { id = 10, partition = "a", nodes = 1, exclusive = true, ends_in = "1h" },
				{ id = 11, partition = "b", nodes = 1, exclusive = true, ends_in = "1h" } },
			pending = { { id = 1, partition = "a", nodes = 2, time_limit = "1h" },
				{ id = 3, partition = "b", nodes = 2, exclusive = true, time_limit = "1h" },
				{ id = 4, partition = "b", nodes = 1, time_limit = "2h", tasks = 4 } } }
		local plan = t.decide("easy", c)
		assert.same({}, plan:started())
		assert.equal(3600, plan:reservation(1).in_s)
		assert.equal(3600, plan:reservation(3).in_s)
		assert.same({ "priority", "would delay job 3" }, { plan:pending(4) })
	end)

	it("are seen whole by a policy that says so", function()
		local whole = [[
			local M = { api = 1, split = false }
			function M.decide(cluster) for job in cluster:queue() do slurm.log_info("%s", job.partition) end
				slurm.log_info("end") end
			return M]]
		local c = t.cluster { nodes = "2x1c", partitions = { a = { nodes = "n1" }, b = { nodes = "n2" } },
			pending = { { partition = "a" }, { partition = "b" } } }
		assert.same({ "info: a", "info: b", "info: end" }, t.decide({ source = whole }, c):log())
		assert.same({ "info: a", "info: end", "info: b", "info: end" },
			t.decide({ source = (whole:gsub(", split = false", "")) }, c):log())
	end)
end)
