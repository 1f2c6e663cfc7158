-- SPDX-License-Identifier: MIT
--
-- cluster.usage: what was used, is used and is asked for.
local s = require "spec.support"
local t = require "sched.test"

local now = 1700000000		-- 2023-11-14 22:13:20 UTC
local midnight = 1699920000	-- of that day

local function cluster(extra)
	local c = { nodes = "4x8c2g", now = now, usage = {
		{ user = "anna", account = "chem", cpu = "10h", node = "1h", start_time = midnight, lasted = "2h", ended_ago = "1h" },
		{ user = "anna", account = "phys", cpu = 3600, start_time = midnight - 1800, end_time = midnight + 1800 },
		{ user = "bob", account = "phys", cpu = 100, gpu = 50, start_time = midnight - 7, end_time = midnight + 3,
			state = "FAILED" },
		{ user = "bob", account = "phys", cpu = -40, partition = "elsewhere", start_time = now - 86400,
			end_time = now - 86400 },
	} }
	for key, value in pairs(extra or {}) do
		c[key] = value
	end
	return t.cluster(c)
end

-- "anna=1 bob=2" of an expression
local function totals(expression, c)
	return s.lines(([[
		local list = {}
		for name, seconds in pairs(%s) do
			list[#list + 1] = name .. "=" .. (math.type(seconds) == "float" and ("%%.3f"):format(seconds) or seconds)
		end
		slurm.log_info(table.concat(list, " "))]]):format(expression), c or cluster())[1]
end

describe("cluster.usage:past", function()
	it("adds up by user and by account", function()
		assert.equal("anna=39600 bob=60", totals [[cluster.usage:past { by = "user", unit = "cpu" }]])
		assert.equal("chem=36000 phys=3660", totals [[cluster.usage:past { by = "account", unit = "cpu" }]])
		assert.equal("bob=50", totals [[cluster.usage:past { by = "user", unit = "gpu" }]])
		assert.equal("anna=3600", totals [[cluster.usage:past { by = "user", unit = "node" }]])
	end)

	it("cuts a run where the interval begins and ends, and the parts add up", function()
		-- anna: 1800 s of the run across midnight; bob: 100 * 7 / 10 - 40 = 30 before, 30 after
		local since = ("since = %d"):format(midnight)
		local until_ = ("until_ = %d"):format(midnight)
		assert.equal("anna=1800 bob=30", totals([[cluster.usage:past { by = "user", unit = "cpu", ]] .. until_ .. "}"))
		assert.equal("anna=37800 bob=30", totals([[cluster.usage:past { by = "user", unit = "cpu", ]] .. since .. "}"))
	end)

	it("knows partitions, and states that do not count", function()
		assert.equal("bob=-40", totals [[cluster.usage:past { by = "user", unit = "cpu", partition = "elsewhere" }]])
		assert.equal("anna=39600 bob=-40",
			totals [[cluster.usage:past { by = "user", unit = "cpu", without = { "FAILED" } }]])
	end)

	it("is nothing for an interval that is empty or runs backward", function()
		assert.equal("", totals [[cluster.usage:past { by = "user", unit = "cpu", since = 5, until_ = 5 }]])
		assert.equal("", totals [[cluster.usage:past { by = "user", unit = "cpu", since = math.huge }]])
	end)

	it("refuses what it does not understand, at the policy's line", function()
		local function refusal(expression)
			return s.late("local x = cluster.usage:past " .. expression):errors()[1]
		end
		assert.matches("unit = \"cpu\", \"gpu\" or \"node\" is missing", refusal [[{ by = "user" }]])
		assert.matches("by: expected \"user\" or \"account\", got \"qos\"", refusal [[{ by = "qos", unit = "cpu" }]])
		assert.matches("unknown argument 'until'", refusal [[{ by = "user", unit = "cpu", ["until"] = 5 }]])
		assert.matches("no job ends as 'BORED'", refusal [[{ by = "user", unit = "cpu", without = { "BORED" } }]])
		assert.matches("since: expected a time", refusal [[{ by = "user", unit = "cpu", since = "monday" }]])
	end)
end)

describe("cluster.usage:decayed", function()
	it("halves what is one half-life old", function()
		local c = t.cluster { nodes = "1x1c", now = now, usage = {
			{ user = "anna", cpu = 800, ended_ago = "2-00:00:00" }, { user = "bob", cpu = 800 } } }
		assert.equal("anna=200.000 bob=800.000",
			totals([[cluster.usage:decayed { by = "user", unit = "cpu", half_life = 86400 }]], c))
	end)
end)

describe("cluster.usage of jobs that run and wait", function()
	local c = cluster {
		partitions = { main = {}, other = {} },
		running = {
			{ id = 1, user = "anna", nodes = 2, cores = 4, started_ago = "1h", time_limit = "2h", gres = "gpu:1" },
			{ id = 2, user = "bob", nodes = 1, cores = 1, started_ago = 100, time_limit = math.huge },
			{ id = 3, user = "carl", nodes = 1, cores = 2, started_ago = 500, time_limit = 1000, suspended = true,
				suspend_time = now - 300, pre_suspend_s = 200 },
		},
		pending = {
			{ id = 4, user = "anna", nodes = 2, tasks = 16, time_limit = "1h", gpus_per_node = 1, partition = "main,other" },
			{ id = 5, user = "bob", nodes = 1, time_limit = 10, array = 7 },
		},
	}

	it("running: what they hold for their walltime", function()
		assert.equal("anna=57600 bob=inf carl=2000", totals([[cluster.usage:running { by = "user", unit = "cpu" }]], c))
		assert.equal("anna=14400", totals([[cluster.usage:running { by = "user", unit = "gpu" }]], c))
		assert.equal("anna=14400 bob=inf carl=1000", totals([[cluster.usage:running { by = "user", unit = "node" }]], c))
		assert.equal("", totals([[cluster.usage:running { by = "user", unit = "cpu", partition = "other" }]], c))
	end)

	it("used: the time they ran, not that they slept", function()
		assert.equal("anna=28800 bob=100 carl=400", totals([[cluster.usage:used { by = "user", unit = "cpu" }]], c))
	end)

	it("used: of a job that was resized, the time since then", function()
		local resized = cluster { running = { { id = 1, user = "anna", nodes = 1, cores = 4, started_ago = "1h", time_limit = "2h",
			resize_time = now - 600 } } }
		assert.equal("anna=2400", totals([[cluster.usage:used { by = "user", unit = "cpu" }]], resized))
		assert.equal("anna=28800", totals([[cluster.usage:running { by = "user", unit = "cpu" }]], resized))
	end)

	it("queued: each job once, an array with all its tasks", function()
		assert.equal("anna=57600 bob=70", totals([[cluster.usage:queued { by = "user", unit = "cpu" }]], c))
		assert.equal("anna=7200", totals([[cluster.usage:queued { by = "user", unit = "gpu" }]], c))
		assert.equal("anna=7200", totals([[cluster.usage:queued { by = "user", unit = "node", partition = "other" }]], c))
	end)

	it("stale is nil where nothing is out of date", function()
		assert.equal("nil", s.value("tostring(cluster.usage.stale)"))
	end)
end)

describe("an answer of cluster.usage", function()
	it("cannot be changed, because others that ask the same get the same table", function()
		for _, question in ipairs { [[past { by = "user", unit = "cpu" }]], [[running { by = "user", unit = "cpu" }]],
			[[decayed { by = "user", unit = "cpu", half_life = 60 }]], [[used { by = "user", unit = "cpu" }]],
			[[queued { by = "user", unit = "cpu" }]] } do
			for _, change in ipairs { "answer.bob = -1", "rawset(answer, 'bob', -1)", "table.insert(answer, 1)",
				"setmetatable(answer, nil)" } do
				local errors = s.late("local answer = cluster.usage:" .. question .. " " .. change):errors()
				assert.truthy((errors[1] or ""):find("read-only", 1, true) or errors[1]:find("protected", 1, true), question .. change)
			end
		end
		assert.same({ "true" }, s.lines([[
			local question = { by = "user", unit = "cpu" }
			slurm.log_info(tostring(cluster.usage:past(question) == cluster.usage:past(question)))]], cluster()))
	end)

	it("shows all that reads what is in it, so that none takes it for empty", function()
		assert.same({ "anna 39600 bob 60 nil", "60 nil", "0 0", "nil", "anna=39600 bob=60" }, s.lines([[
			local answer = cluster.usage:past { by = "user", unit = "cpu" }
			local first, most = next(answer)
			local second, least = next(answer, first)
			slurm.log_info("%s %d %s %d %s", first, most, second, least, next(answer, second))
			slurm.log_info("%s %s", rawget(answer, "bob"), rawget(answer, "carl"))
			slurm.log_info("%d %d", #answer, rawlen(answer))
			slurm.log_info("%s", next(cluster.usage:past { by = "user", unit = "cpu", since = 5, until_ = 5 }))
			local list = {}
			for name, seconds in next, answer do list[#list + 1] = name .. "=" .. seconds end
			slurm.log_info(table.concat(list, " "))]], cluster()))
	end)

	it("can be remembered", function()
		local plan = t.decide(s.policy(s.unprobed ..
			[[plan:remember("used", cluster.usage:past { by = "user", unit = "cpu" })]]), cluster())
		assert.same({}, plan:errors())
		local _, memory = next(plan:remembered())
		assert.same({ anna = 39600, bob = 60 }, memory.used)
	end)
end)
