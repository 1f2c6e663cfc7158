-- SPDX-License-Identifier: MIT
--
-- The editor stubs and the manual name everything there is.
local s = require "spec.support"
local t = require "sched.test"

local function read(path)
	local file = assert(io.open(path))
	local text = file:read("a")
	file:close()
	return text
end

-- The lines that document one class, from its name to the next class: its fields, and those that may be nil.
local function fields_of(class)
	local text = read("lua/library/cluster.lua") .. "\n---@class end"
	local fields, optional = {}, {}
	for name, mark in text:match("%-%-%-@class sched%." .. class .. "\n(.-)%-%-%-@class"):gmatch("%-%-%-@field ([%w_]+)(%??)") do
		fields[name] = true
		optional[name] = mark == "?" or nil
	end
	return fields, optional
end

local function same_fields(class, expression)
	local c = t.cluster { nodes = "1x1c1g", pending = { { id = 1 } } }
	local real = {}
	for _, name in ipairs(s.lines("for name in pairs(" .. expression .. ") do slurm.log_info(name) end", c)) do
		real[name] = true
	end
	local documented, optional = fields_of(class)	-- fields that are nil do not show in pairs()
	for name in pairs(real) do
		assert(documented[name], class .. "." .. name .. " is not in lua/library/cluster.lua")
	end
	for name in pairs(documented) do
		assert(real[name] or optional[name], class .. "." .. name .. " does not exist")
	end
end

describe("the editor stubs", function()
	it("know every field of a job, a node, a partition and the cluster, and no other", function()
		same_fields("job", "cluster:job(1)")
		same_fields("node", "cluster.nodes[1]")
		same_fields("partition", "cluster.partitions[1]")
		same_fields("cluster", "cluster")
		same_fields("totals", "cluster.totals")
	end)

	it("mark as optional what is nil where nobody has set it", function()
		local classes = { JOB = "job", NODE = "node", PARTITION = "partition", JOB_GRES = "job_gres", SHAPE = "shape",
			RESERVATION = "reservation" }
		local columns = 0
		for name, list in read("engine/bind/unsaid.c"):gmatch('{ SL_T_([A-Z_]+), (.-) },') do
			local _, optional = fields_of(classes[name])
			for column in list:gsub('"', " "):gmatch("[a-z_]+") do
				assert(optional[column] or name == "RESERVATION", name .. "." .. column .. " is not marked with ? in lua/library/cluster.lua")
				columns = columns + 1
			end
		end
		assert(columns > 40)
	end)

	it("know the plan's methods", function()
		local text = read("lua/library/plan.lua")
		for name in text:gmatch("function plan:([%w_]+)") do
			assert.equal("function", s.value("type(plan." .. name .. ")"))
		end
		for name in read("engine/bind/plan.c"):match("plan_methods%[%] = (%b{})"):gmatch('{ "([%w_]+)"') do
			assert.matches("function plan:" .. name .. "%(", text)
		end
	end)

	it("know the module sched.period", function()
		local names, real = {}, {}
		for name in read("lua/library/period.lua"):gmatch("function period%.([%w_]+)") do
			names[name] = true
		end
		for name in pairs(require "sched.period") do
			real[name] = true
		end
		assert.same(real, names)
	end)

	it("know the log functions", function()
		for name in read("lua/library/sandbox.lua"):gmatch("function slurm%.([%w_]+)") do
			assert.equal("function", s.value("type(slurm." .. name .. ")"))
		end
	end)
end)

describe("the manual of policies", function()
	local manual = read("doc/policy-api.md")

	it("names every method and computed field", function()
		for name in read("lua/library/plan.lua"):gmatch("function plan:([%w_]+)") do
			assert(manual:find("plan:" .. name, 1, true), "plan:" .. name .. " is not in doc/policy-api.md")
		end
		for name in read("lua/library/cluster.lua"):gmatch("function cluster:([%w_]+)") do
			assert(manual:find("cluster:" .. name, 1, true), "cluster:" .. name .. " is not in doc/policy-api.md")
		end
		for name in read("lua/library/test.lua"):gmatch("function test%.([%w_]+)") do
			assert(manual:find("t." .. name, 1, true), "t." .. name .. " is not in doc/policy-api.md")
		end
	end)

	it("holds policies and specs that run", function()
		local n = 0
		for text in manual:gmatch("```lua\n(%-%- mine%.lua.-)```") do
			n = n + 1
			assert.is_nil((select(2, t.check { source = text, name = "mine" })))
		end
		assert.is_true(n >= 2)
	end)
end)

describe("the words of reasons", function()
	local words, count = {}, 0
	for word in read("engine/image/plan_image.c"):match("whys%[SL_WHYS%] = (%b{})"):gmatch('"([%w_]+)"') do
		words[word], count = word ~= "none" or nil, count + 1
	end

	-- The words in the first column of the table whose head begins so.
	local function table_of(page, head)
		local told = {}
		for row in read(page):match("\n| " .. head .. "[^\n]*\n|%-[^\n]*\n(.-)\n\n"):gmatch("[^\n]+") do
			for word in row:match("^| ([^|]*) |"):gmatch("`([^`]*)`") do
				told[word] = true
			end
		end
		return told
	end

	it("are those that the manual explains", function()
		assert.equal(18, count)
		assert.same(words, table_of("doc/operating.md", "`explain`"))
	end)

	it("have examples, and are listed for policies", function()
		for word in pairs(table_of("doc/requests.md", "reason ")) do
			assert.is_true(words[word], word .. " in doc/requests.md is no word of a reason")
		end
		local listed = {}
		for word in read("doc/policy-api.md"):match("\nWords of reasons: ([^\n]*)"):gmatch("`([^`]*)`") do
			listed[word] = true
		end
		assert.same(words, listed)
	end)
end)
