-- SPDX-License-Identifier: MIT
--
-- doc/cookbook.md has the files of examples/cookbook, as they are.
local t = require "sched.test"

local function read(path)
	local file = assert(io.open(path))
	local text = file:read("a")
	file:close()
	return text
end

local function names()
	local list, all = io.popen("ls examples/cookbook/*.lua"), {}
	for path in list:lines() do
		all[#all + 1] = path:match("([%w_]+)%.lua$")
	end
	list:close()
	return all
end

describe("doc/cookbook.md", function()
	local page, dist = read("doc/cookbook.md"), read("doc/doc.am")

	it("has each file of examples/cookbook as it is, below its first line, and no other code", function()
		local blocks, number = {}, 0
		for name, block in page:gmatch("\n### ([%w_]+)\n\n```lua\n(.-)```\n") do
			blocks[name], number = block, number + 1
		end
		for _, name in ipairs(names()) do
			assert.equal("-- SPDX-License-Identifier: MIT\n" .. (blocks[name] or ""), read("examples/cookbook/" .. name .. ".lua"))
		end
		assert.equal(#names(), number)
		assert.equal(number, (select(2, page:gsub("```lua\n", ""))))
	end)

	it("names each in its table, once, and all are installed", function()
		local files = read("README.md")
		assert(files:find("(doc/cookbook.md)", 1, true))
		for _, name in ipairs(names()) do
			assert.equal(1, (select(2, page:gsub("| %[" .. name .. "%]%(#" .. name .. "%) |", ""))), name)
			assert(dist:find("examples/cookbook/" .. name .. ".lua", 1, true), name .. ".lua is not in doc/doc.am")
		end
	end)

	it("has short entries that load, and each has a spec", function()
		local list, specs = io.popen("ls spec/cookbook_*_spec.lua"), ""
		for path in list:lines() do
			specs = specs .. (path == "spec/cookbook_page_spec.lua" and "" or read(path))
		end
		list:close()
		for _, name in ipairs(names()) do
			local path = "examples/cookbook/" .. name .. ".lua"
			assert(select(2, read(path):gsub("\n", "")) <= 26, path .. " is long")
			assert.is_nil((select(2, t.check { site = path })), path)
			assert(specs:find('site "' .. name .. '"', 1, true) or specs:find('"' .. path .. '"', 1, true), name .. " has no spec")
		end
	end)

	it("has entries that go from cycle to cycle, until all jobs have run", function()
		local jobs = {}
		for id = 1, 12 do
			jobs[id] = { id = id, nodes = id % 4 == 0 and 4 or 1, runtime = 600 * id, time_limit = "3h", submit = 60 * id,
				user = id % 2 == 0 and "ada" or "bob", account = id % 3 == 0 and "lhc" or "genome" }
		end
		for _, name in ipairs(names()) do
			local s = t.simulate({ site = "examples/cookbook/" .. name .. ".lua" }, { nodes = { { count = 3, cores = 2 },
				{ count = 3, cores = 2, weight = 100 } }, partitions = { debug = { nodes = "n[1-6]" } }, jobs = jobs,
				now = "2026-07-09T09:00 Europe/Berlin" })
			assert.equal(12, #s:started(), name)
		end
	end)

	it("has one decide alone", function()
		for _, name in ipairs(names()) do
			assert.equal(name == "short_backfill", read("examples/cookbook/" .. name .. ".lua"):find("decide", 1, true) ~= nil, name)
		end
	end)
end)
