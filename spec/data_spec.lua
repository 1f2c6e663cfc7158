-- SPDX-License-Identifier: MIT
--
-- Plain files that are edited while the scheduler runs: on disk, one policy set, several cycles.
local core = require "sched_core"
local t = require "sched.test"

local dir

local function write(name, text)
	local file = assert(io.open(dir .. "/" .. name .. ".new", "w"))
	assert(file:write(text))
	file:close()
	-- as editors do: what is there is always whole
	assert(os.rename(dir .. "/" .. name .. ".new", dir .. "/" .. name))
end

local function load(text)
	write("site.lua", 'local sched = require "sched"\n' .. text)
	return assert(core.load { site = dir .. "/site.lua" })
end

local c = t.cluster { nodes = "1x8c", pending = { { id = 2, user = "bob", tasks = 2, time_limit = "10h" },
	{ id = 3, user = "carol", tasks = 3, time_limit = "10h" } } }

-- Ids started, and lines logged, in one cycle.
local function cycle(set)
	local plan, why = core.decide(set, c.snapshot)
	local ids, lines = {}, {}
	assert.is_nil(why)
	for i, row in ipairs(plan.starts) do
		ids[i] = row.job
	end
	for i, row in ipairs(plan.log) do
		lines[i] = row.text:gsub("^" .. dir:gsub("%p", "%%%0") .. "/", "")
	end
	return ids, lines
end

describe("a plain file", function()
	local list = 'return sched.site { default = { sched.quota { per_user = "10 cpu-hours", limits = "limits.conf" }, "easy" } }'

	before_each(function()
		dir = os.tmpname()
		os.remove(dir)
		assert(os.execute("mkdir " .. dir))
	end)

	after_each(function()
		os.execute("rm -r " .. dir)
	end)

	it("that is edited holds from the next cycle on, with no reload", function()
		write("limits.conf", "# none\n")
		local set = load(list)
		assert.same({}, (cycle(set)))
		write("limits.conf", "user bob 20 cpu-hours\n")
		assert.same({ 2 }, (cycle(set)))
		write("limits.conf", "user bob 20 cpu-hours\nuser carol unlimited\n")
		assert.same({ 2, 3 }, (cycle(set)))
		write("limits.conf", "user carol unlimited\n")
		assert.same({ 3 }, (cycle(set)))
	end)

	it("that is not good leaves what it said before in force, and says the line once", function()
		write("limits.conf", "user bob 20 cpu-hours\n")
		local set = load(list)
		local function kept(text, line)
			write("limits.conf", text)
			local ids, lines = cycle(set)
			assert.same({ 2 }, ids)
			assert.same({ line .. "; what it said before stays in force" }, lines)
			assert.same({ { 2 }, {} }, { cycle(set) })
		end
		kept("user bob 20 cpu-hours\nuser carol -1 cpu-hours\n", "limits.conf:2: user carol: '-1 cpu-hours' is negative; " ..
			'expected something like "81920 cpu-hours", "500 gpu-hours" or "40 node-days"')
		kept("", "limits.conf: is empty, as while it is being written; a file with nothing to say has a comment")
		kept("user carol unlimited\nuser bob 2", "limits.conf:2: the line has no end, as while it is being written; expected a newline")
		kept("user carol unlimited\0\n", "limits.conf: has a byte 0 in it, expected text")
		kept("# " .. ("x"):rep(1 << 20) .. "\n", "limits.conf: larger than 1024 KiB")
		kept("user " .. ("x"):rep(300) .. " 5 cpu-hours\n",
			"limits.conf:1: a name of 300 bytes, expected at most 256: " .. ("x"):rep(40) .. "...")
		-- and when it is good again it holds
		write("limits.conf", "user carol unlimited\n")
		assert.same({ { 3 }, {} }, { cycle(set) })
	end)

	it("that is removed leaves what it said before in force", function()
		write("limits.conf", "user bob 20 cpu-hours\n")
		local set = load(list)
		os.remove(dir .. "/limits.conf")
		assert.same({ { 2 }, { "limits.conf: No such file or directory; what it said before stays in force" } }, { cycle(set) })
		assert.same({ { 2 }, {} }, { cycle(set) })
		write("limits.conf", "user carol unlimited\n")
		assert.same({ { 3 }, {} }, { cycle(set) })
	end)

	it("has its warnings logged once: of what comes again the last line holds", function()
		write("limits.conf", "user bob 5 cpu-hours\nuser carol 1 cpu-hours\nuser bob 20 cpu-hours\n")
		local set = load(list)
		assert.same({ { 2 }, { "limits.conf:3: user bob again, first in line 1; this line holds" } }, { cycle(set) })
		assert.same({ { 2 }, {} }, { cycle(set) })
	end)

	it("is parsed once for each change and not once for each cycle", function()
		write("numbers", "a 1\n")
		local set = load([[
			local f = sched.file("numbers", function(text)
				slurm.log_info("parsed")
				return { a = tonumber(text:match("%d+")), b = 0.5, c = true, d = "text" }
			end)
			return sched.site { default = { { name = "x", rank = function() return 0 end,
				admit = function(job, cluster)
					slurm.log_info("%s %s %s %s %s", f:get("a"), f:get("b"), f:get("c"), f:get("d"), f:get("e"))
					return false
				end } } }]])
		local lines = { "1 0.5 true text nil", "1 0.5 true text nil" }
		assert.same(lines, select(2, cycle(set)))
		assert.same(lines, select(2, cycle(set)))
		write("numbers", "a 2\n")
		assert.same({ "parsed", "2 0.5 true text nil", "2 0.5 true text nil" }, select(2, cycle(set)))
		assert.same({ "2 0.5 true text nil", "2 0.5 true text nil" }, select(2, cycle(set)))
	end)

	it("needs a parser that returns a flat table", function()
		write("numbers", "a 1\n")
		local function bad(parser)
			write("site.lua", 'local sched = require "sched"\nsched.file("numbers", ' .. parser .. ")\nreturn sched.site { }\n")
			return (select(2, core.load { site = dir .. "/site.lua" }):gsub("^.*/", ""))
		end
		assert.equal("site.lua:2: the parser returned nil, expected a table", bad "function() end")
		assert.equal("site.lua:2: the parser's table has a table in it; expected numbers, strings and booleans",
			bad "function() return { a = { } } end")
		assert.equal("site.lua:2: the parser's table has a key of type number, expected strings", bad "function() return { 1 } end")
		assert.matches("^site.lua:2: sched.file%(\"numbers\", 5%); expected a function that parses its text", bad "5")
	end)

	it("comes through the same door as policies", function()
		write("limits.conf", "user bob 20 cpu-hours\n")
		write("site.lua", 'local sched = require "sched"\n' .. list)
		os.execute("chmod 666 " .. dir .. "/limits.conf")
		local uid = io.popen("id -u"):read("n")
		local set, why = core.load { site = dir .. "/site.lua", check_trust = true, trusted_uid = uid }
		assert.is_nil(set)
		assert.matches("limits.conf: writable by everybody", why)
	end)
end)
