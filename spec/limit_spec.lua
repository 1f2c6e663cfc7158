-- SPDX-License-Identifier: MIT
local s = require "spec.support"
local t = require "sched.test"

-- Generous, because these specs also run with sanitizers on a busy machine; every one of the
-- loops below would otherwise never end.
local soon = { budget = 0.4 }

describe("a policy that loops for ever", function()
	local function ends(body, before)
		local plan = s.late(body, soon, before)
		assert.is_true(plan:truncated())
		assert.matches("time budget of 400 ms is used up", plan:errors()[1])
		assert.matches("policy.lua:1: ", plan:errors()[1], 1, true)
	end

	it("is ended", function()
		ends("while true do end")
	end)

	it("is ended even when it uses pcall", function()
		ends("while true do pcall(function() while true do end end) end")
	end)

	it("is ended even when its error handler loops too", function()
		ends("xpcall(function() while true do end end, function() while true do end end)")
	end)

	it("is ended inside a comparison", function()
		ends("local o = setmetatable({}, { __lt = function() while true do end end }) local x = o < o")
	end)

	it("is ended inside an index", function()
		ends("local o = setmetatable({}, { __index = function() while true do end end }) local x = o.x")
	end)

	it("is ended inside the comparator of a sort", function()
		ends("table.sort({ 2, 1 }, function() while true do end end)")
	end)

	it("is ended inside the callback of gsub", function()
		ends("('x'):gsub('.', function() while true do end end)")
	end)

	it("is ended inside a pattern that backtracks without bound", function()
		ends("('a'):rep(30000):find(('a*'):rep(40) .. 'b')")
	end)

	it("is ended inside an endless tail call", function()
		ends("f()", "local function f() return f() end")
	end)

	it("is ended inside a close handler", function()
		ends("local t <close> = setmetatable({}, { __close = function() while true do end end }) while true do end")
	end)

	it("is ended inside a table that claims to be endless", function()
		ends([[table.concat(setmetatable({}, { __index = function() return "" end }), "", 1, math.maxinteger)]])
		ends("table.insert(setmetatable({}, { __len = function() return math.maxinteger - 1 end }), 1, 0)")
		ends("table.move({}, 1, math.maxinteger - 1, 2)")
	end)

	it("is ended inside a list of nodes that names more than there can be", function()
		local names = 'cluster:nodes { name = "n[0-999999999999999999]" }'
		assert.matches("time budget of %d+ ms is used up", s.refusal(names, nil, soon))
	end)

	it("is ended inside the text of its error", function()
		ends("error(setmetatable({}, { __tostring = function() while true do end end }))")
	end)

	it("is ended inside rank and admit", function()
		ends("for job in cluster:queue() do end",
			"function M.rank(_, c) while c.name ~= 'probe' do end return 1 end")
		ends("for job in cluster:queue() do end",
			"function M.admit(_, c) while c.name ~= 'probe' do end return true end")
	end)

	it("keeps what it has booked so far", function()
		local plan = s.late("for job in cluster:queue() do plan:start(job) break end while true do end", soon)
		assert.same({ 2 }, plan:started())
		assert.is_true(plan:truncated())
		assert.equal("budget", plan:pending(3))
	end)

	it("says where it was", function()
		local plan = t.decide({ source = [[
local M = { api = 1 }
local function spin()
	while true do end -- line 3
end
function M.decide(cluster)
	if cluster.name ~= "probe" then spin() end
end
return M]], name = "spinner" }, s.small, { budget = 0.4, may_fail = true })
		assert.matches("^spinner.lua:3: time budget", plan:errors()[1])
		assert.matches("in upvalue 'spin'", plan:trace())
	end)

	it("is refused when it loops while it is loaded or probed", function()
		local figures, why = t.check({ source = "while true do end" }, soon)
		assert.is_nil(figures)
		assert.matches("^policy.lua:1: time budget of 400 ms is used up", why)
		assert.matches("time budget", s.refusal("while true do end", nil, soon))
	end)
end)

describe("a policy that eats memory", function()
	local function ends(body)
		local plan = s.late(body, { memory = 16, budget = 30 })
		assert.is_false(plan:truncated())
		assert.matches("^policy [^:]+: memory limit of 16 MiB is used up$", plan:errors()[1])
	end

	it("is ended with a clean error", function()
		ends("local t = {} for i = 1, math.huge do t[i] = i end")
		ends("local s = 'x' while true do s = s .. s end")
		ends("local s = {} for i = 1, math.huge do s = { s } end")
	end)

	it("is ended even when it uses pcall", function()
		ends("while true do pcall(function() local t = {} for i = 1, math.huge do t[i] = { i } end end) end")
	end)

	it("is refused when it eats it while it is loaded", function()
		local figures, why = t.check({ source = "local t = {} for i = 1, math.huge do t[i] = i end" }, { memory = 16 })
		assert.is_nil(figures)
		assert.equal("memory limit of 16 MiB is used up", why)
	end)

	it("keeps what it has booked so far", function()
		local plan = s.late("for job in cluster:queue() do plan:start(job) break end " ..
			"local t = {} for i = 1, math.huge do t[i] = i end", { memory = 16 })
		assert.same({ 2 }, plan:started())
	end)

	it("cannot ask for a string that is larger than all memory", function()
		assert.matches("resulting string too large", s.refusal("local x = ('x'):rep(1 << 50)"))
	end)
end)

describe("a policy that recurses without end", function()
	it("is ended with a clean error", function()
		assert.matches("stack overflow", s.refusal("local function f() return 1 + f() end f()"))
		assert.matches("stack overflow", s.refusal(
			"local o = setmetatable({}, {}) getmetatable(o).__index = function(o, k) return o[k] end local x = o.x"))
		assert.matches("stack overflow", s.refusal(
			"local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()"))
		assert.matches("stack overflow %(more than 100000 calls", s.refusal(
			"local n = 0 local function f() n = n + 1 if n > 780000 then while true do end end f() end f()"))
	end)

	it("is ended in time where it waits deep inside", function()
		local plan = s.late("f(90000)", soon, "local function f(n) if n > 0 then f(n - 1) return end while true do end end")
		assert.is_true(plan:truncated())
		assert.matches("... (more than 1000 calls)", plan:trace(), 1, true)
	end)
end)

describe("a policy that fails", function()
	it("leaves what it has booked so far, and says where and how it came to it", function()
		local plan = s.late("for job in cluster:queue() do plan:start(job) break end local x = nil + 1")
		assert.same({ 2 }, plan:started())
		assert.matches("^policy.lua:1: attempt to perform arithmetic on a nil value", plan:errors()[1])
		assert.matches("stack traceback", plan:trace())
		assert.is_false(plan:truncated())
	end)

	it("may raise anything", function()
		assert.equal("policy.lua:1: error() with a table, expected a text", s.late("error({})"):errors()[1])
		assert.equal("5", s.late("error(5)"):errors()[1])
		assert.equal("policy.lua:1: error() with a nil, expected a text", s.late("error()"):errors()[1])
		assert.equal("mine", s.late("error(setmetatable({}, { __tostring = function() return 'mine' end }))"):errors()[1])
		assert.matches("", s.late("error(setmetatable({}, { __tostring = function() error('no') end }))"):errors()[1])
	end)

	it("cannot eat memory through the plan either", function()
		local plan = s.late("slurm.log_info(('x'):rep(1 << 20)) plan:refuse(cluster:job(2), ('\xc3\xa4'):rep(1 << 20)) " ..
			"plan:notify(cluster:job(1), ('x'):rep(1 << 20)) while true do plan:resume(cluster:job(1)) end",
			{ budget = 30 })
		assert.matches("more than 16 actions for job 1 in a cycle", plan:errors()[1])
		assert.equal(#"info: " + 1023, #plan:log()[1])
		assert.is_true(#select(2, plan:pending(2)) < 1024)
		assert.equal(1023, #plan:actions()[1].text)
	end)

	it("cannot fill a disk with its log", function()
		local plan = s.late("for i = 1, 100000 do slurm.log_info('%d', i) end")
		assert.equal(1000, #plan:log())
		assert.equal("info: further lines of this cycle are dropped", plan:log()[1000])
	end)
end)
