-- SPDX-License-Identifier: MIT
-- What a policy remembers from one cycle to the next.

local s = require "spec.support"
local t = require "sched.test"

-- The small cluster, with what is remembered.
local function cluster(remembered)
	return t.cluster { nodes = "2x4c1g", running = { { id = 1, nodes = 1, exclusive = true, ends_in = "1h" } },
		pending = { { id = 2, nodes = 1 }, { id = 3, nodes = 2 } }, remembered = remembered }
end

-- Let decide() be this text and run it in as many cycles; the last plan.
local function cycles(body, n, before)
	local plan
	for _ = 1, n do
		plan = t.decide(s.policy(s.unprobed .. body, before), cluster(plan and plan:remembered()))
	end
	return plan
end

-- What comes back of a value, written by tostring() or by code.
local function back(value, show)
	local plan = cycles(([[
		local v = cluster:recall("v")
		if v == nil then assert(plan:remember("v", %s)) else print((%s)) end
	]]):format(value, show), 2)
	return (plan:log()[1]:gsub("^info: ", ""))
end

local deep = ("{"):rep(15) .. ("}"):rep(15)

describe("a policy", function()
	it("remembers a value from one cycle to the next, until another one or nil", function()
		local plan = cycles("plan:remember('n', (cluster:recall('n') or 0) + 1)", 5)
		assert.same({ main = { n = 5 } }, plan:remembered())
		local c = cluster(plan:remembered())
		assert.same({ main = { n = 5 } }, t.decide("easy", c) and t.decide(s.policy(""), c):remembered())
		assert.same({}, t.decide(s.policy("plan:remember('n', nil)"), c):remembered())
	end)

	it("recalls what it has remembered in the same cycle", function()
		assert.same({ "nil", "1", "nil" }, s.lines([[
			print(cluster:recall("x"))
			plan:remember("x", 1) print(cluster:recall("x"))
			plan:remember("x", nil) print(cluster:recall("x"))
		]]))
	end)

	it("gets back what it gave, integers as integers and numbers to the last bit", function()
		assert.equal("true", back("true", "v"))
		assert.equal("false", back("false", "v"))
		assert.equal("integer -9223372036854775808", back("math.mininteger", "math.type(v) .. ' ' .. v"))
		assert.equal("float 3.0", back("3.0", "math.type(v) .. ' ' .. v"))
		assert.equal("true", back("0.1 + 0.2", "v == 0.1 + 0.2 and v ~= 0.3"))
		assert.equal("true", back("5e-324", "v == 5e-324"))
		assert.equal("true", back("-1e308", "v == -1e308"))
		assert.equal("true", back("-math.huge", "v == -math.huge"))
		assert.equal("-inf", back("-0.0", "1 / v"))
		assert.equal("true", back("'a\\0\\255\\n\"\\\\x'", "v == 'a\\0\\255\\n\"\\\\x'"))
		assert.equal("1 2 nil 4", back("{ 1, 2, nil, 4 }", "('%d %d %s %d'):format(v[1], v[2], v[3], v[4])"))
		assert.equal("x 1 y z", back("{ [-5] = 'x', a = { b = { 1 } }, ['end'] = 'y', ['a b'] = 'z' }",
			"('%s %d %s %s'):format(v[-5], v.a.b[1], v['end'], v['a b'])"))
		assert.equal("table", back(deep, "type(v)"))
	end)

	it("gets a copy, and gives one", function()
		assert.same({ "1", "1" }, s.lines([[
			local v = { 1 }
			plan:remember("v", v)
			v[1] = 2
			print(cluster:recall("v")[1])
			cluster:recall("v")[1] = 3
			print(cluster:recall("v")[1])
		]]))
	end)

	it("makes the same bytes of equal values, in whatever order they were made", function()
		local a = s.policy("local v = {} for i = 1, 50 do v['k' .. i] = i v[i * 3] = true end plan:remember('v', v)")
		local b = s.policy("local v = {} for i = 50, 1, -1 do v[i * 3] = true v['k' .. i] = i end plan:remember('v', v)")
		assert.equal(t.decide(a, s.small).raw.remembered[1].value, t.decide(b, s.small).raw.remembered[1].value)
	end)

	it("gets back any plain value, which has one text only", function()
		local seed = math.tointeger(tonumber(os.getenv "SL_SEED")) or 1
		math.randomseed(seed)
		local function random(depth)
			local kind = math.random(depth < 4 and 9 or 7)
			if kind == 1 then
				return math.random(2) == 1
			elseif kind <= 3 then
				return math.random(3) == 1 and math.random(0) or math.random(-9, 9)
			elseif kind == 4 then
				return (math.random() - 0.5) * 10.0 ^ math.random(-300, 300)
			elseif kind <= 7 then
				local bytes = {}
				for i = 1, math.random(0, 5) do bytes[i] = string.char(math.random(0, 255)) end
				return table.concat(bytes)
			end
			local v = {}
			for _ = 1, math.random(0, 6) do
				local key = ({ #v + 1, math.random(-5, 20), ("kwe"):sub(1, math.random(3)), random(9) })[math.random(4)]
				if math.type(key) == "integer" or type(key) == "string" then
					v[key] = random(depth + 1)
				end
			end
			return v
		end
		local remembered = require "sched.remembered"
		local values, body = {}, {}
		for i = 1, 200 do
			values[i] = remembered.text(random(0))
			body[i] = ("plan:remember('%03d', %s)"):format(i, values[i])
		end
		-- two programs write it: the specs' one and the engine's
		local plan = t.decide(s.policy(s.unprobed .. table.concat(body, " ")), s.small)
		for i, row in ipairs(plan.raw.remembered) do
			assert.equal(values[i], row.value, "SL_SEED=" .. seed)
		end
		-- and what is read is written the same again
		plan = t.decide(s.policy("for i = 1, 200 do local k = ('%03d'):format(i) plan:remember(k, cluster:recall(k)) end"),
			cluster(plan:remembered()))
		assert.equal(200, #plan.raw.remembered)
		for i, row in ipairs(plan.raw.remembered) do
			assert.equal(values[i], row.value, "SL_SEED=" .. seed)
		end
	end)

	it("is told what it cannot remember", function()
		local function refusal(value)
			return s.refusal("plan:remember('v', " .. value .. ")")
		end
		assert.matches("got a function", refusal("print"), 1, true)
		assert.matches("got a userdata", refusal("{ plan }"), 1, true)
		assert.matches("not-a-number is nothing to remember", refusal("0/0"), 1, true)
		assert.matches("a key of type boolean; expected integers and strings", refusal("{ [true] = 1 }"), 1, true)
		assert.matches("a key of type number; expected integers and strings", refusal("{ [0.5] = 1 }"), 1, true)
		assert.matches("a table with a metatable is no plain value", refusal("setmetatable({}, {})"), 1, true)
		assert.matches("more than 16 deep, or in themselves", refusal("(function() local v = {} v[1] = v return v end)()"), 1, true)
		assert.matches("more than 16 deep", refusal("{{" .. deep .. "}}"), 1, true)
		assert.matches("expected 1 to 64 printable characters", s.refusal("plan:remember('', 1)"), 1, true)
		assert.matches("expected 1 to 64 printable characters", s.refusal("plan:remember(('k'):rep(65), 1)"), 1, true)
		assert.matches("expected printable characters", s.refusal("plan:remember('a\\0', 1)"), 1, true)
		assert.matches("value expected", s.refusal("plan:remember('v')"), 1, true)
	end)

	it("is told when it remembers too much, and keeps what it had", function()
		assert.same({ "nil\tthe value of 'v' comes to more than 256 KiB", "1",
			"nil\tthe value of 'v' comes to more than 256 KiB", "nil\tthe value of 'v' comes to more than 256 KiB",
			"nil\twith the value of 'w5' more than 1024 KiB would be remembered in all", "nil\t'k254' would be more than 256 keys" },
			s.lines([[
			local function try(...) local ok, why = plan:remember(...) if not ok then print(ok, why) end return ok end
			plan:remember("v", 1)
			try("v", ("x"):rep(262143))
			print(cluster:recall("v"))
			try("v", ("\0"):rep(70000))
			local many = {}
			for i = 1, 60000 do many["k" .. i] = true end
			try("v", many)
			for i = 1, 5 do try("w" .. i, ("x"):rep(262000 - 100)) end
			for i = 1, 3 do plan:remember("w" .. i, i) end
			plan:remember("w4", nil)
			plan:remember("v", nil)
			for i = 1, 256 do if not try("k" .. i, i) then break end end
		]]))
	end)

	it("knows nothing of what other partitions' policies remember", function()
		local site = { site = "site.lua", texts = { ["site.lua"] = [[
			return require("sched").site { default = "one", partitions = { b = "two" } }]],
			one = [[return { api = 1, decide = function(cluster, plan)
				print("one", cluster:recall("v")) plan:remember("v", "of " .. (cluster:recall("v") or "one")) end }]],
			two = [[return { api = 1, decide = function(cluster, plan)
				print("two", cluster:recall("v")) end }]] } }
		local function decide(remembered)
			return t.decide(site, t.cluster { nodes = "4x1c", partitions = { a = { nodes = "n1" }, b = { nodes = "n2" },
				c = { nodes = "n[3-4]" } }, remembered = remembered })
		end
		local plan = decide()
		assert.same({ a = { v = "of one" }, c = { v = "of one" } }, plan:remembered())
		plan = decide { a = { v = "A" }, b = { v = "B" }, gone = { v = "G" } }
		assert.same({ "info: one\tA", "info: two\tB", "info: one\tnil" }, plan:log())
		assert.same({ a = { v = "of A" }, b = { v = "B" }, c = { v = "of one" }, gone = { v = "G" } }, plan:remembered())
	end)

	it("that fails begins anew, and the others do not", function()
		local site = { site = "site.lua", texts = { ["site.lua"] = [[return require("sched").site { default = "one" }]],
			one = [[return { api = 1, decide = function(cluster, plan)
				plan:remember("seen", true)
				if cluster:recall("v") == "poison" then error("poisoned") end end }]] } }
		local c = t.cluster { nodes = "2x1c", partitions = { a = { nodes = "n1" }, b = { nodes = "n2" } },
			remembered = { a = { v = "poison" }, b = { v = "good" } } }
		local plan = t.decide(site, c, { may_fail = true })
		assert.matches("poisoned", plan:errors()[1])
		assert.same({ b = { seen = true, v = "good" } }, plan:remembered())
	end)

	it("that the budget ends keeps what it had remembered by then", function()
		local plan = t.decide(s.policy(s.unprobed .. "plan:remember('a', 2) while true do end"),
			cluster { main = { a = 1, b = 1 } }, { may_fail = true, budget = 0.05 })
		assert.is_true(plan:truncated())
		assert.same({ main = { a = 2, b = 1 } }, plan:remembered())
	end)

	it("remembers in a simulation, too", function()
		local sim = t.simulate(s.policy([[
			local n = (cluster:recall("n") or 0) + 1
			plan:remember("n", n)
			for job in cluster:queue() do if n >= 3 then plan:start(job) end end
		]]), { nodes = "1x1c", jobs = { { id = 1, runtime = 60 }, { id = 2, runtime = 60, submit = 100 },
			{ id = 3, runtime = 60, submit = 200 } } })
		assert.equal(200, sim:job(1).start_s)
	end)

	it("recalls in rank and admit, and remembers in decide only", function()
		local policy = { source = [[return { api = 1,
			rank = function(job, cluster) return (cluster:recall("first") == job.id) and 1 or 0 end,
			decide = function(cluster, plan) for job in cluster:queue() do print(job.id) end end }]] }
		assert.same({ "info: 3", "info: 2" }, t.decide(policy, cluster { main = { first = 3 } }):log())
	end)
end)

describe("a snapshot", function()
	it("is refused when what is remembered is not as it should be", function()
		local function refused(rows)
			local model = { meta = { now = 1 }, nodes = {}, remembered = rows }
			local snapshot, why = require("sched_core").snapshot(require("sched.builder").json(model), "test")
			assert.is_nil(snapshot)
			return why
		end
		local function value(text)
			return refused { { group = "main", key = "v", value = text } }
		end
		assert.equal("snapshot: remembered[0].value: byte 3: expected a value", value("{1,}"))
		assert.equal("snapshot: remembered[0].value: byte 0: expected a value", value(""))
		assert.equal("snapshot: remembered[0].value: byte 1: expected the end", value("1 "))
		assert.equal("snapshot: remembered[0].value: byte 0: expected a value", value("007"))
		assert.equal("snapshot: remembered[0].value: byte 0: expected a value", value("9223372036854775808"))
		assert.equal("snapshot: remembered[0].value: byte 0: expected a value", value("1e5"))
		assert.equal("snapshot: remembered[0].value: byte 0: expected a value", value("os.exit()") and value("nil"))
		assert.equal("snapshot: remembered[0].value: byte 5: expected a key that comes after the one before", value("{a=1,a=2}"))
		assert.equal("snapshot: remembered[0].value: byte 5: expected a key that comes after the one before", value("{b=1,a=2}"))
		assert.equal("snapshot: remembered[0].value: byte 2: expected a key that comes after the one before", value("{[1]=1}"))
		assert.equal("snapshot: remembered[0].value: byte 5: expected a key", value("{a=1,2}"))
		assert.equal("snapshot: remembered[0].value: byte 2: expected the bare name as key", value('{["a"]=1}'))
		assert.equal("snapshot: remembered[0].value: byte 0: expected a value", value('"\\x41"'))
		assert.equal("snapshot: remembered[0].value: byte 0: expected a value", value('"open'))
		assert.matches("more than 16 deep", value(("{"):rep(5000)))
		assert.equal("snapshot: remembered[0].key: expected 1 to 64 printable characters",
			refused { { group = "main", key = "", value = "1" } })
		assert.equal("snapshot: remembered[1]: expected rising order of set, group and key",
			refused { { group = "b", key = "v", value = "1" }, { group = "a", key = "v", value = "1" } })
		assert.equal("snapshot: remembered[1]: expected rising order of set, group and key",
			refused { { group = "a", key = "v", value = "1" }, { group = "a", key = "v", value = "1" } })
	end)

	it("of another policy set tells nothing", function()
		local policy = s.policy("print(cluster:recall('v')) plan:remember('v', 1)")
		local plan = t.decide(policy, s.small)
		local set = plan.raw.remembered[1].set
		assert.equal(16, #set)
		assert.equal(set, t.decide(policy, s.small).raw.remembered[1].set)
		local other = s.policy("print(cluster:recall('v'))  plan:remember('v', 1)")
		assert.not_equal(set, t.decide(other, s.small).raw.remembered[1].set)
		local model = { meta = { now = 1 }, nodes = { { name = "n1" } }, partitions = { { name = "main", nodes = "n1" } },
			remembered = { { set = set, group = "main", key = "v", value = "7" } } }
		local c = { snapshot = assert(require("sched_core").snapshot(require("sched.builder").json(model), "test")) }
		assert.same({ "info: 7" }, t.decide(policy, c):log())
		plan = t.decide(other, c)
		assert.same({ "info: nil" }, plan:log())
		assert.equal(1, #plan.raw.remembered)
	end)
end)
