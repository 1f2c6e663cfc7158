-- SPDX-License-Identifier: MIT
local s = require "spec.support"
local t = require "sched.test"

describe("the sandbox", function()
	local function missing(expression, hint)
		assert.matches(hint, s.refusal("local x = " .. expression))
	end

	it("has no way to files, processes and the clock", function()
		missing("io.open('/etc/passwd')", "there is no 'io' here: a policy reads no files")
		missing("os.execute('id')", "there is no 'os' here: time and randomness come through cluster.now")
		missing("os.time()", "there is no 'os' here")
		missing("dofile('/etc/passwd')", "there is no 'dofile' here")
		missing("loadfile('/etc/passwd')", "there is no 'loadfile' here")
		missing("package.loadlib('libc.so.6', 'system')", "there is no 'package' here")
	end)

	it("has no way to code that is not in a file of the set", function()
		missing("load('return 1')()", "there is no 'load' here")
		missing("loadstring('return 1')()", "there is no 'loadstring' here")
		missing("string.dump(print)", "attempt to call a nil value %(field 'dump'%)")
		assert.equal("nil", s.value("('x').dump"))
	end)

	it("has neither debug nor coroutines nor the collector", function()
		missing("debug.getregistry()", "there is no 'debug' here")
		missing("debug.sethook()", "there is no 'debug' here")
		missing("coroutine.create(print)", "there is no 'coroutine' here")
		missing("collectgarbage('stop')", "there is no 'collectgarbage' here")
	end)

	it("tells a misspelt global instead of reading nil", function()
		missing("clutser", "undefined variable 'clutser'")
		missing("_ENV.nothing", "undefined variable 'nothing'")
		missing("_G.nothing", "undefined variable 'nothing'")
	end)

	it("refuses finalizers and weak tables", function()
		assert.matches("'__gc' is refused", s.refusal("setmetatable({}, { __gc = function() end })"))
		assert.matches("'__gc' is refused", s.refusal("setmetatable({}, { __gc = true })"))
		assert.matches("'__mode' is refused", s.refusal("setmetatable({}, { __mode = 'k' })"))
	end)

	it("refuses a table that becomes weak after it got its metatable", function()
		local later = "local meta = {} local t = setmetatable({}, meta) "
		assert.matches("'__mode' is refused", s.refusal(later .. "meta.__mode = 'k'"))
		assert.matches("'__mode' is refused", s.refusal(later .. "rawset(meta, '__mode', 'v')"))
		assert.matches("'__mode' is refused", s.refusal("", "meta = {} kept = setmetatable({}, meta) meta.__mode = 'k'"))
		assert.matches("'__mode' is refused", s.late("meta.__mode = 'k'", nil,
			"local meta = {} local t = setmetatable({}, meta)"):errors()[1])
	end)

	it("locks the metatable of strings", function()
		assert.equal("false", s.value("getmetatable('')"))
		assert.matches("table expected", s.refusal("setmetatable('', {})"))
		assert.equal("xxx", s.value("('x'):rep(3)"))
	end)

	it("shares nothing that can be written", function()
		for _, library in ipairs { "string", "table", "math", "utf8", "slurm" } do
			assert.matches("'" .. library .. "' is read%-only", s.refusal(library .. ".x = 1"))
			assert.matches("rawset: this table is read%-only", s.refusal("rawset(" .. library .. ", 'x', 1)"))
			assert.matches("cannot change a protected metatable", s.refusal("setmetatable(" .. library .. ", {})"))
			assert.equal("false", s.value("getmetatable(" .. library .. ")"))
		end
		assert.matches("sched is read%-only", s.refusal("require('sched').site = 1"))
		assert.matches("'sched.options' is read%-only", s.refusal("require('sched.options').check = 1"))
	end)

	it("does not let a chunk see another chunk's globals", function()
		local policies = {
			source = [[
				leaked = "from the policy"
				local other = require "other"
				local M = { api = 1, name = "policy" }
				function M.decide() slurm.log_info("%s", other.look()) end
				return M]],
			texts = { other = "local M = {} function M.look() return rawget(_G, 'leaked') end return M" },
		}
		assert.same({ "info: nil" }, t.decide(policies, s.small):log())
	end)

	it("hides the engine from all but the project's own modules", function()
		missing("engine", "undefined variable 'engine'")
	end)

	it("accepts text only, no precompiled code", function()
		local bytecode = string.dump(function() return { api = 1, decide = print } end)
		local ok, why = t.check { source = bytecode:gsub("%z", "\1") }
		assert.is_nil(ok)
		assert.matches("%.lua:1: precompiled Lua, expected source text", why)
	end)

	it("takes a byte order mark for what it is", function()
		assert.is_table((t.check { source = "\xEF\xBB\xBFreturn { api = 1, decide = function() end }" }))
		local ok, why = t.check { source = "\xEF\xBB\xBFreturn {\n" }
		assert.is_nil(ok)
		assert.matches("%.lua:2: ", why)
		for _, mark in ipairs { "\xFF\xFE", "\xFE\xFF" } do
			ok, why = t.check { source = mark .. "r\0e\0" }
			assert.is_nil(ok)
			assert.matches("%.lua:1: text in UTF%-16, expected UTF%-8", why)
		end
		ok, why = t.check { source = "\xEF\xBB\xBF\27Lua" }
		assert.is_nil(ok)
		assert.matches("%.lua:1: precompiled Lua, expected source text", why)
	end)

	it("names the file that is nested too deeply", function()
		local ok, why = t.check { source = "return " .. ("{"):rep(5000) .. ("}"):rep(5000) }
		assert.is_nil(ok)
		assert.matches("%.lua:1: nested too deeply", why)
	end)

	it("gives jobs, nodes and the cluster read-only", function()
		assert.matches("a job is read%-only", s.refusal("for job in cluster:queue() do job.priority = 1 end"))
		assert.matches("a cluster is read%-only", s.refusal("cluster.now = 0"))
		assert.matches("a plan is read%-only", s.refusal("plan.head = nil"))
		assert.matches("a node is read%-only", s.refusal("cluster.nodes[1].cores = 100"))
		assert.matches("a list is read%-only", s.refusal("cluster.nodes[1] = nil"))
		assert.equal("false", s.value("getmetatable(cluster)"))
		assert.matches("table expected", s.refusal("rawset(cluster, 'now', 0)"))
		assert.matches("table expected", s.refusal("setmetatable(cluster, nil)"))
	end)

	it("has no methods that take another object for the cluster", function()
		assert.matches("expected cluster:queue%(...%), got cluster.queue", s.refusal("for job in cluster:queue() do cluster.queue(job) end"))
		assert.matches("job expected, got table", s.refusal("plan:start({})"))
		assert.matches("job expected, got node", s.refusal("plan:start(cluster.nodes[1])"))
		assert.matches("expected plan:start%(...%), got plan.start", s.refusal("plan.start(cluster, cluster)"))
	end)

	it("requires modules by name only", function()
		assert.matches("is no module name", s.refusal("require '/etc/passwd'"))
		assert.matches("is no module name", s.refusal("require '../easy'"))
		assert.matches("no module 'nowhere'; looked in", s.refusal("require 'nowhere'"))
		assert.matches("sched.%* is the project's own", s.refusal("require 'sched.nowhere'"))
	end)

	it("loads modules with the set, not in the middle of a cycle", function()
		local plan = s.late("require 'fcfs'")
		assert.matches("module 'fcfs' was not loaded with the policy set", plan:errors()[1])
	end)

	it("refuses modules that require each other in a circle", function()
		local figures, why = t.check { source = "require 'a' return {}", texts = {
			a = "require 'b' return {}", b = "require 'a' return {}" } }
		assert.is_nil(figures)
		assert.matches("module 'a' requires itself, directly or through others", why)
	end)

	it("starts every cycle from nothing", function()
		local policy = s.policy("n = (rawget(_G, 'n') or 0) + 1 slurm.log_info('%d', n)")
		assert.same({ "info: 1" }, t.decide(policy, s.small):log())
		assert.same({ "info: 1" }, t.decide(policy, s.small):log())
	end)
end)

describe("what could differ from run to run", function()
	it("is not in pairs: a list with holes is traversed to its end", function()
		assert.same({ "22 30" }, s.lines [[
			local holes, n, last = {}, 0, 0
			for i = 1, 30 do if i % 4 ~= 1 then holes[i] = true end end
			for i in pairs(holes) do n, last = n + 1, i end
			print(n .. " " .. last)
		]])
	end)

	it("is not in pairs: keys come in order", function()
		assert.same({ "1 a", "2 b", "3.5 c", "x d", "y e", "true f" }, s.lines([[
			local tab = { "a", "b", [3.5] = "c", y = "e", x = "d", [true] = "f" }
			for k, v in pairs(tab) do slurm.log_info("%s %s", k, v) end]]))
	end)

	it("is not in next: it finds the first key and the one after", function()
		assert.same({ "a", "b", "c", "nil" }, s.lines([[
			local tab, k = { c = 1, a = 1, b = 1 }, nil
			repeat k = next(tab, k) slurm.log_info("%s", k) until not k]]))
		assert.equal("nil", s.value("next({})"))
	end)

	it("is not in the order of jobs and nodes as keys", function()
		assert.same({ "job 2", "job 3", "node n1", "node n2" }, s.lines([==[
			local set = {}
			set[cluster.nodes[2]] = true
			set[cluster.nodes[1]] = true
			for job in cluster:queue() do set[job] = true end
			for object in pairs(set) do slurm.log_info("%s", object) end]==]))
	end)

	it("is refused as a key that is traversed, where there is no order", function()
		assert.matches("a key of type table has no order", s.refusal("for k in pairs({ [{}] = 1 }) do end"))
		assert.matches("a key of type function has no order", s.refusal("next({ [print] = 1 })"))
		-- but it may be a key
		assert.equal("5", s.value("map[key]", nil, "local key = {} local map = { [key] = 5 }"))
	end)

	it("is not in the order of equal elements that are sorted", function()
		assert.equal("true", s.value("stable()", nil, [[
			local function stable()
				local list = {}
				for i = 1, 1000 do list[i] = { key = i % 7, i = i } end
				table.sort(list, function(a, b) return a.key < b.key end)
				for i = 2, 1000 do
					local a, b = list[i - 1], list[i]
					if a.key > b.key or a.key == b.key and a.i > b.i then return false end
				end
				return true
			end]]))
	end)

	it("is not in texts: no address is shown", function()
		assert.equal("table", s.value("tostring({})"))
		assert.equal("function", s.value("tostring(print)"))
		assert.equal("table function", s.value("string.format('%s %s', {}, print)"))
		assert.matches("'%%p' is refused", s.refusal("string.format('%p', {})"))
	end)

	it("is not in the texts of what the engine hands out", function()
		assert.equal("cluster", s.value("tostring(cluster)"))
		assert.equal("cluster plan list", s.value("string.format('%s %s %s', cluster, plan, cluster.nodes)"))
		assert.equal("node n1", s.value("tostring(cluster.nodes[1])"))
		assert.matches("policy.lua:1: cluster", s.refusal("error('cluster' .. tostring(cluster):sub(8))"))
		assert.equal("cluster", s.late("error(cluster)"):errors()[1]:match("%a+$"))
	end)

	it("is not in random numbers", function()
		assert.matches("there is no 'math.random' here", s.refusal("math.random()"))
		local function draw(seed)
			return s.lines("for _ = 1, 3 do slurm.log_info('%d', cluster:random(1000000)) end",
				t.cluster { nodes = "1x1c", seed = seed })
		end
		assert.same(draw(1), draw(1))
		assert.not_same(draw(1), draw(2))
	end)
end)

describe("random numbers of the cluster", function()
	it("are within what was asked for", function()
		assert.equal("true", s.value("ok(cluster)", nil, [[
			local function ok(cluster)
				local seen = {}
				for _ = 1, 2000 do
					local a, b, c = cluster:random(), cluster:random(6), cluster:random(-3, 3)
					if a < 0 or a >= 1 or b < 1 or b > 6 or c < -3 or c > 3 then return false end
					if math.type(b) ~= "integer" then return false end
					seen[b] = true
				end
				cluster:random(math.mininteger, math.maxinteger)
				return #seen == 6
			end]]))
	end)

	it("are refused for an empty interval", function()
		assert.matches("interval is empty", s.refusal("cluster:random(0)"))
		assert.matches("interval is empty", s.refusal("cluster:random(2, 1)"))
	end)
end)

describe("the libraries of policies", function()
	it("match patterns as Lua does", function()
		assert.equal("gpu:a100:2", s.value("('--gres=gpu:a100:2 x'):match('%-%-gres=(%S+)')"))
		assert.equal("6", s.value("(('n[1-4]'):find(']', 1, true))"))
		assert.equal("aa bb", s.value("(('a b'):gsub('%a', '%0%0'))"))
		assert.equal("key=value;", s.value("(('key = value'):gsub('(%w+)%s*=%s*(%w+)', '%1=%2;'))"))
		assert.same({ "a", "b", "c" }, s.lines("for w in ('a,b,,c'):gmatch('[^,]+') do slurm.log_info(w) end"))
	end)

	it("format as Lua does", function()
		local expected = string.format("%5d|%-5s|%05.1f|%x|%q|%c|%g|%%|%i", 42, "ab", 3.14159, 255, "a\nb", 65, 1e20, 7)
		assert.equal(expected, s.value(
			[[string.format("%5d|%-5s|%05.1f|%x|%q|%c|%g|%%|%i", 42, "ab", 3.14159, 255, "a\nb", 65, 1e20, 7)]]))
		assert.matches("bad argument #2 to 'format' %(no value%)", s.refusal("string.format('%d')"))
		assert.matches("^[^:]+:%d+: bad argument #3 to 'format' %(number expected, got string%)",
			s.refusal("string.format('%d %d', 1, 'x')"))
		assert.matches("^[^:]+:%d+: bad argument #2 to 'format' %(string contains zeros%)",
			s.refusal("string.format('%5s', 'a\\0b')"))
		assert.matches("value has no literal form", s.refusal("string.format('%q', {})"))
		assert.equal(string.format("%q %q %q", 0.1, math.mininteger, "\0\r"),
			s.value([[string.format("%q %q %q", 0.1, math.mininteger, "\0\r")]]))
		assert.equal("3", s.value([[#string.format("%s", "a\0b")]]))
		assert.matches("^[^:]+:%d+: invalid conversion '%%y' to 'format'", s.refusal("string.format('%y', 1)"))
		assert.matches("number has no integer representation", s.refusal("string.format('%d', 1.5)"))
	end)

	it("move, insert, remove, concat and unpack as Lua does", function()
		assert.equal("1,9,2,3 3 9 1,9,2", s.value([[(function()
			local list = { 1, 2, 3 }
			table.insert(list, 2, 9)
			local a = table.concat(list, ",")
			local b = table.remove(list)
			local _, c = table.unpack(list, 1, 2)
			return a .. " " .. b .. " " .. c .. " " .. table.concat(table.move(list, 1, 3, 1, {}), ",")
		end)()]]))
		assert.matches("position out of bounds", s.refusal("table.insert({}, 5, 1)"))
		assert.matches("too many results to unpack", s.refusal("table.unpack({}, 1, 1e8)"))
	end)

	it("sort by < or by a function, and refuse what cannot be compared", function()
		assert.same({ "1 2 3 5 8", "8 5 3 2 1" }, s.lines([[
			local list = { 5, 3, 8, 1, 2 }
			table.sort(list)
			slurm.log_info(table.concat(list, " "))
			table.sort(list, function(a, b) return a > b end)
			slurm.log_info(table.concat(list, " "))]]))
		assert.matches("attempt to compare", s.refusal("table.sort({ 1, 'x' })"))
	end)

	it("catch errors, but for those of limits", function()
		assert.same({ "false caught" }, s.lines("local ok, e = pcall(error, 'caught') slurm.log_info('%s %s', ok, e)"))
	end)
end)
