-- SPDX-License-Identifier: MIT
local duration = require "sched.duration"
local locate = require "sched.locate"
local options = require "sched.options"
local suggest = require "sched.suggest"

describe("a duration", function()
	it("is a number of seconds", function()
		assert.equal(90, duration.seconds(90))
		assert.equal("integer", math.type(duration.seconds(90.0)))
		assert.equal(0.5, duration.seconds(0.5))
	end)

	it("is written with units", function()
		assert.equal(5400, duration.seconds("1h30m"))
		assert.equal(5400, duration.seconds("1.5h"))
		assert.equal(172800, duration.seconds("2d"))
		assert.equal(604800 + 1, duration.seconds("1w 1s"))
	end)

	it("is written in Slurm's forms", function()
		assert.equal(5400, duration.seconds("90"))
		assert.equal(90, duration.seconds("1:30"))
		assert.equal(3723, duration.seconds("1:02:03"))
		assert.equal(86400 + 7200, duration.seconds("1-2"))
		assert.equal(172800 + 1800, duration.seconds("2-00:30"))
		assert.equal(172800 + 5, duration.seconds("2-00:00:05"))
		assert.equal(math.huge, duration.seconds("UNLIMITED"))
	end)

	it("is nothing else", function()
		for _, bad in ipairs { "", "soon", "1x", "1:2:3:4", "-5", "1-", -1, true, {}, "h", 0 / 0 } do
			local seconds, why = duration.seconds(bad)
			assert.is_nil(seconds)
			assert.matches("is no duration", why)
		end
	end)
end)

describe("a misspelt name", function()
	it("is told the nearest one", function()
		assert.equal("window", suggest.nearest("windwo", { "window", "reserved" }))
		assert.equal("easy", suggest.nearest("eazy", { easy = 1, fcfs = 1, conservative = 1 }))
		assert.is_nil(suggest.nearest("auction", { "easy", "fcfs" }))
	end)

	it("is told all names", function()
		assert.equal("; did you mean 'easy'? known: easy, fcfs", suggest.hint("eays", { "fcfs", "easy" }))
		assert.equal("; known: easy, fcfs", suggest.hint("backfill", { "fcfs", "easy" }))
		assert.equal("; there are none", suggest.hint("x", {}))
	end)
end)

describe("the line of a message", function()
	local text = table.concat({
		"-- easy is mentioned here", "return sched.site {", "\tdefault = { 'easy' },",
		"\tpartitions = {", "\t\tgpu = { \"easy\", windw = 5 },", "\t},", "}",
	}, "\n")

	it("is where the word stands, from the call on and not in a comment", function()
		local at = locate.locator("site.lua", 2, text)
		assert.equal("site.lua:3", at("easy"))
		assert.equal("site.lua:5", at("partitions", "gpu", "easy"))
		assert.equal("site.lua:5", at("partitions", "gpu", "windw"))
	end)

	it("is that of the call where the word stands nowhere", function()
		assert.equal("site.lua:2", locate.locator("site.lua", 2, text)("auction"))
		assert.equal("site.lua:2", locate.locator("site.lua", 2, nil)("easy"))
	end)

	it("is not that of a longer word", function()
		assert.is_nil(locate.line_of("easyness uneasy easy_1", "easy", 1))
	end)
end)

describe("options", function()
	local function fail(name, message)
		error(tostring(name) .. ": " .. message, 0)
	end
	local policy = {
		name = "p",
		options = {
			window = { default = 500, min = 1, max = 1000 },
			share = { default = 0.5, min = 0 },
			wait = { default = "1h", type = "duration", max = "2d" },
			order = { default = "fifo", values = { "fifo", "lifo" } },
			strict = { default = false },
		},
	}

	it("have their defaults, durations in seconds", function()
		assert.same({ window = 500, share = 0.5, wait = 3600, order = "fifo", strict = false },
			options.resolve(policy, {}, fail))
	end)

	it("are taken as given within their range", function()
		local values = options.resolve(policy, { window = 1000.0, wait = "1-00:00:00", order = "lifo", strict = true }, fail)
		assert.equal("integer", math.type(values.window))
		assert.equal(86400, values.wait)
		assert.equal("lifo", values.order)
		assert.is_true(values.strict)
	end)

	local function refused(given, message)
		local ok, why = pcall(options.resolve, policy, given, fail)
		assert.is_false(ok)
		assert.equal(message, why)
	end

	it("are refused with what was expected", function()
		refused({ window = 0 }, "window: option 'window' of policy 'p': 0 is out of range, expected 1 to 1000")
		refused({ window = 1.5 }, "window: option 'window' of policy 'p': 1.5 is no integer")
		refused({ window = "5" }, "window: option 'window' of policy 'p': \"5\" is no integer")
		refused({ share = -1 }, "share: option 'share' of policy 'p': -1 is out of range, expected 0 or more")
		refused({ share = true }, "share: option 'share' of policy 'p': true is no number")
		refused({ wait = "3d" }, "wait: option 'wait' of policy 'p': 259200 is out of range, expected 172800 or less")
		refused({ wait = "soon" }, "wait: option 'wait' of policy 'p': \"soon\" is no duration; " ..
			"expected seconds, or text such as \"90m\" or \"1-12:00:00\"")
		refused({ order = "random" }, "order: option 'order' of policy 'p': \"random\" is not one of fifo, lifo")
		refused({ strict = 1 }, "strict: option 'strict' of policy 'p': 1 is neither true nor false")
		refused({ windw = 5 }, "windw: unknown option 'windw' of policy 'p'; did you mean 'window'? " ..
			"known: order, share, strict, wait, window")
	end)

	local function ill_defined(definitions, message)
		local ok, why = pcall(options.check_definitions, definitions, fail)
		assert.is_false(ok)
		assert.equal(message, why)
	end

	it("are well defined", function()
		ill_defined({ a = { min = 1 } }, "a: option 'a' has no default")
		ill_defined({ a = { default = 1, mni = 1 } }, "a: option 'a': unknown key 'mni'; did you mean 'min'? " ..
			"known: default, doc, max, min, tune, type, values")
		ill_defined({ a = { default = 0, min = 1 } },
			"a: option 'a': default: 0 is out of range, expected 1 or more")
		ill_defined({ a = 5 }, "a: option 'a': expected a table { default = ... }, got 5")
		ill_defined({ a = { default = print } }, "a: option 'a': a default cannot be a function")
		ill_defined({ a = { default = 1, type = "int" } }, "a: option 'a': unknown type \"int\"; " ..
			"known: boolean, duration, function, integer, number, string, table")
	end)
end)
