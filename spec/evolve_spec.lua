-- SPDX-License-Identifier: MIT
-- sched.evolve_tree, evolve_parse, evolve_language: expressions, their text, and what simplifying may not change.
local languages = require "sched.evolve_language"
local tree = require "sched.evolve_tree"

local rank, score = languages.rank, languages.score

local function text(expression, language)
	return languages.text(assert(languages.read(expression, language or rank)), language or rank)
end

local function refused(expression, why)
	local node, got = languages.read(expression, rank)
	assert.is_nil(node)
	assert.truthy(got:find(why, 1, true), got)
end

-- The value of a text, with fields by name.
local function value(expression, fields)
	local env = { math = math, divide = function(a, b) return b == 0 and 0 or a / b end }
	for name, v in pairs(fields) do
		env[name] = v
	end
	return assert(load("return " .. expression, "=expression", "t", env))()
end

-- Values that fields of a language may have.
local function random_fields(language)
	local fields = {}
	for _, name in ipairs(language.names) do
		local f = language.field[name]
		fields[name] = f.least + math.random() * (math.min(f.most, 10 ^ math.random(0, 5)) - f.least)
	end
	return fields
end

describe("an expression", function()
	it("is read from Lua's syntax and written in it", function()
		assert.equal("-cpus * limit / (1 + waited / 14400) ^ 2", text "-cpus*limit/(1+waited/14400)^2")
		assert.equal("waited - (cpus - gpus)", text "waited - (cpus - gpus)")
		assert.equal("waited - cpus - gpus", text "(waited - cpus) - gpus")
		assert.equal("math.max(cpus, math.min(held, 3))", text "max(cpus, math.min(held, 3))")
		assert.equal("(waited > 3600 and cpus or -limit)", text "3600 < waited and cpus or -limit")
		assert.equal("((waited > 3600 or cpus < gpus) and cpus or -limit)", text "(waited > 3600 or gpus > cpus) and cpus or -limit")
		assert.equal("math.sqrt(cpus)", text "cpus ^ 0.5")
	end)

	it("is refused with a reason if it is none", function()
		refused("", "expected more")
		refused("cpus +", "expected more")
		refused("cpus cpus", "'cpus': not expected there")
		refused("job.cpus", "'job.cpus': no field or function of this language")
		refused("os.exit()", "no field or function")
		refused("cpus < 3", "expected a number, got a condition")
		refused("cpus and 3 or 4", "expected a condition")
		refused("cpus < 3 and 4", "expected a number")
		refused("cpus < 3 and 4 and 5 or 6", "expected a condition")
		refused("log(1, 2)", "log: has 2 arguments")
		refused("min(1)", "min: has 1 arguments")
		refused("#cpus", "'#': not expected")
		refused(("("):rep(500), "too deep")
		refused(("cpus+"):rep(5000), "too long")
	end)

	it("has its constants folded, and no part that is without effect", function()
		assert.equal("cpus", text "cpus * 1 + 0 * limit")
		assert.equal("6", text "2 * 3")
		assert.equal("0", text "cpus - cpus")
		assert.equal("1", text "limit / limit")
		assert.equal("cpus", text "1 < 2 and cpus or limit")
		assert.equal("waited", text "max(waited, -3)")
		assert.equal("cpus", text "limit > 0.5 and cpus or gpus")
		assert.equal("(waited > 60 and cpus or gpus)", text "waited > 60 and (waited > 60 and cpus or held) or gpus")
		assert.equal("(cpus < gpus and cpus or held)", text "cpus < gpus and cpus or (cpus < gpus and 3 or held)")
	end)

	it("is guarded where it may leave its domain, and only there", function()
		assert.equal("divide(cpus, waited)", text "cpus / waited")
		assert.equal("cpus / limit", text "cpus / limit")
		assert.equal("cpus / (1 + waited)", text "cpus / (1 + waited)")
		assert.equal("0", text "1 / 0")
		assert.equal("math.log(math.max(waited, 1e-06))", text "log(waited)")
		assert.equal("math.log(limit)", text "log(limit)")
		assert.equal("math.sqrt(math.max(cpus - gpus, 0))", text "sqrt(cpus - gpus)")
		assert.equal("math.max(waited, 1e-06) ^ (-1)", text "waited ^ -1")
		assert.equal("fgd / cores", text("fgd / cores", score))
	end)

	it("means the same when it is simplified, and its text is read as itself", function()
		math.randomseed(20261127, 0)
		for _, language in ipairs { rank, score } do
			for _ = 1, 400 do
				local node = tree.random(language, math.random)
				local simple = tree.simplify(node, language)
				local written = tree.text(simple, language)
				assert.equal(written, text(written, language))
				assert.is_true(tree.size(simple) <= tree.size(node))
				local fields = random_fields(language)
				local a, b = value(tree.text(node, language), fields), value(written, fields)
				-- constants that were folded have three digits
				assert.is_true(a ~= a or b ~= b or math.abs(a) == math.huge
					or math.abs(a - b) <= 0.05 * math.max(math.abs(a), math.abs(b)) + 0.05, written)
			end
		end
	end)

	it("never divides by zero, and is never NaN unless it grew beyond all numbers", function()
		math.randomseed(7, 0)
		for _ = 1, 400 do
			local node = tree.simplify(tree.random(rank, math.random), rank)
			local fields = random_fields(rank)
			fields.waited, fields.gpus, fields.held, fields.queued, fields.idle, fields.backlog = 0, 0, 0, 0, 0, 0
			local v = value(tree.text(node, rank), fields)
			assert.is_true(v == v or tree.text(node, rank):find("%^") ~= nil, tree.text(node, rank))
		end
	end)

	it("is changed and crossed without changing what it came from", function()
		math.randomseed(3, 0)
		local a, b = tree.random(rank, math.random), tree.random(rank, math.random)
		local before_a, before_b = tree.text(a, rank), tree.text(b, rank)
		for _ = 1, 200 do
			assert.not_equal(before_a, tree.text(tree.mutate(a, rank, math.random), rank))
			tree.cross(a, b, math.random)
			assert.equal(before_a, tree.text(a, rank))
			assert.equal(before_b, tree.text(b, rank))
		end
	end)
end)

describe("how far away a reservation may be", function()
	it("is a second expression", function()
		assert.equal("-cpus within 7200", text "-cpus within 3600 + 3600")
		assert.equal("-cpus within (waited > 10 and 5 or limit)", text "-cpus within waited > 10 and 5 or limit")
		refused("-cpus within", "expected more")
		refused("within 3", "expected more")
		refused("cpus within 3 within 4", "'within'")
		assert.is_nil(languages.read("fgd within 3", score))
	end)

	it("decides who gets one", function()
		local t = require "sched.test"
		local c = t.cluster { nodes = "2x8c", running = { { id = 1, nodes = 1, exclusive = true, ends_in = "2h" } },
			pending = { { id = 2, nodes = 2, exclusive = true, time_limit = "1h" }, { id = 3, tasks = 8, time_limit = "3h" } } }
		local function decide(expression)
			return t.decide({ source = languages.policy(assert(languages.read(expression, rank)), rank, "found") }, c)
		end
		assert.same({ 2 }, decide("-limit within 7200"):reserved())
		assert.same({}, decide("-limit within 7200"):started())
		assert.same({}, decide("-limit within 7000"):reserved())
		assert.same({ 3 }, decide("-limit within 7000"):started())
		assert.same({ 2 }, decide("-limit"):reserved())
	end)
end)

describe("a policy of an expression", function()
	local t = require "sched.test"

	it("is taken by the sandbox, for every field there is", function()
		for _, language in ipairs { rank, score } do
			for _, name in ipairs(language.names) do
				local source = languages.policy(assert(languages.read(name, language)), language, "found")
				assert.truthy(t.check { source = source })
			end
		end
	end)

	it("has its fields as the language says", function()
		local c = t.cluster { nodes = "1x64c", pending = { { id = 1, tasks = 2, time_limit = 600, submitted_ago = 60 },
			{ id = 2, tasks = 4, time_limit = 60, submitted_ago = 30 } } }
		local function first(expression)
			return t.decide({ source = languages.policy(assert(languages.read(expression, rank)), rank, "found") }, c):started()[1]
		end
		assert.equal(2, first "cpus")
		assert.equal(1, first "limit")
		assert.equal(1, first "waited")
		assert.equal(1, first "typical + mean")
		-- (2 x 600 + 4 x 60) / 64 s are queued; all is idle, nothing held
		assert.equal(2, first "backlog > 22.4 and backlog < 22.6 and idle > 0.99 and held < 1 and queued > 1.5 and gpus < 1 and cpus or -cpus")
	end)
end)
