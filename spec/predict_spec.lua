-- SPDX-License-Identifier: MIT
-- sched.predict, and the policy that goes by it.
local s = require "spec.support"
local t = require "sched.test"

local function past(user, runtimes, more)
	local list = {}
	for i, runtime in ipairs(runtimes) do	-- the newest first
		local run = { user = user, runtime = runtime, time_limit = "1h", cpus = 1, ended_ago = i * 7200 }
		for key, value in pairs(more or {}) do
			run[key] = value
		end
		list[i] = run
	end
	return list
end

local function cluster(history, job)
	job = job or {}
	job.id, job.user, job.tasks = 1, job.user or "anna", job.tasks or 1
	job.time_limit = job.time_limit or "1h"
	return t.cluster { nodes = "4x8c", history = history, pending = { job } }
end

-- A set whose policy has this decide(), and a predictor of the site's own where there is a text of one.
local function set_of(body, own)
	local before = 'local predict = require "sched.predict"' .. (own and ' local own = require "own" assert(own)' or "")
	local policy = s.policy(s.unprobed .. body, before)
	return s.site('local sched = require "sched" return sched.site { default = { "asks" } }',
		{ asks = policy.source, own = own })
end

local function told(name, what, c, own)
	local set = set_of(([[
		local p = predict.open("%s", cluster, plan)
		for job in cluster:queue() do
			local value = %s
			slurm.log_info("%%s", type(value) == "number" and value + 0.0 or value)
		end]]):format(name, what), own)
	local lines = t.decide(set, c):log()
	for i, line in ipairs(lines) do
		lines[i] = line:gsub("^info: ", "")
	end
	return table.concat(lines, "\n")
end

describe("sched.predict", function()
	local anna = past("anna", { 100, 300, 1000 })

	it("says the walltime where nothing is predicted, or nothing is known", function()
		assert.equal("3600.0", told("limit", "p:mean(job)", cluster(anna)))
		for _, name in ipairs { "last_two", "similar", "quantile", "linear" } do
			assert.equal("3600.0", told(name, "p:mean(job)", cluster(anna, { user = "new" })))
		end
	end)

	it("stays within 1 second and the walltime", function()
		assert.equal("1.0", told("last_two", "p:mean(job)", cluster(past("anna", { 0, 0 }))))
		assert.equal("3600.0", told("last_two", "p:mean(job)", cluster(past("anna", { 90000 }))))
		assert.equal("200.0", told("last_two", "p:mean(job)", cluster(anna, { time_limit = 1e9 // 1 | 0 })))
	end)

	it("takes a user whose name has changed at his word, and knows him again by his runs under the new one", function()
		for _, name in ipairs { "last_two", "similar", "quantile", "linear" } do
			assert.equal("3600.0", told(name, "p:mean(job)", cluster(anna, { user = "anna.b" })))
		end
		local renamed = past("anna.b", { 60, 60 })
		table.move(anna, 1, #anna, #renamed + 1, renamed)
		assert.equal("60.0", told("last_two", "p:mean(job)", cluster(renamed, { user = "anna.b" })))
	end)

	it("tells users apart where all walltimes are the same", function()
		local all = past("anna", { 100, 100 })
		table.move(past("bert", { 3000, 3000 }), 1, 2, 3, all)
		for _, name in ipairs { "last_two", "similar", "quantile" } do
			assert.equal("100.0", told(name, "p:mean(job)", cluster(all)))
			assert.equal("3000.0", told(name, "p:mean(job)", cluster(all, { user = "bert" })))
		end
	end)

	it("makes numbers of runs of no time, whatever they all are", function()
		for _, name in ipairs { "last_two", "similar", "quantile", "linear" } do
			local mean = tonumber(told(name, "p:mean(job)", cluster(past("anna", { 0, 0, 0, 0, 0, 0 }))))
			assert(mean >= 1 and mean < 3600, name)
			local typical = tonumber(told(name, "p:typical(job)", cluster(past("anna", { 0, 0, 0, 0, 0, 0 }))))
			assert(typical == typical and typical >= 0 and typical < 3600, name)
		end
	end)

	it("takes the user's last two, or those of the same walltime", function()
		local mixed = past("anna", { 100, 300 })
		mixed[3] = { user = "anna", runtime = 5000, time_limit = "2h", cpus = 1, ended_ago = "1d" }
		assert.equal("200.0", told("last_two", "p:mean(job)", cluster(mixed, { time_limit = "2h" })))
		assert.equal("5000.0", told("similar", "p:mean(job)", cluster(mixed, { time_limit = "2h" })))
		assert.equal("200.0", told("similar", "p:mean(job)", cluster(mixed, { time_limit = "3h" })))
	end)

	it("takes runs of about the size before those of the same walltime", function()
		local mixed = past("anna", { 100, 100 })
		for _, run in ipairs(past("anna", { 3000, 3000 }, { cpus = 8, time_limit = "2h", ended_ago = "3d" })) do
			mixed[#mixed + 1] = run
		end
		assert.equal("3000.0", told("similar", "p:mean(job)", cluster(mixed, { tasks = 16 })))
		assert.equal("100.0", told("similar", "p:mean(job)", cluster(mixed, { tasks = 2 })))
		assert.equal("3600.0", told("similar", "p:mean(job)", cluster(mixed, { tasks = 32 })))
	end)

	it("has quantiles of like runs", function()
		local runs = past("anna", { 10, 20, 30, 40, 50 }, { name = "vasp" })
		for _, run in ipairs(past("anna", { 900, 900, 900, 900, 900 }, { cpus = 32 })) do
			runs[#runs + 1] = run
		end
		local c = cluster(runs, { name = "vasp" })
		assert.equal("30.0", told("quantile", "p:quantile(job, 0.5)", c))
		assert.equal("50.0", told("quantile", "p:quantile(job, 1)", c))
		assert.equal("10.0", told("quantile", "p:quantile(job, 0)", c))
		assert.equal("900.0", told("quantile", "p:quantile(job, 0.1)", cluster(runs, { tasks = 30 })))
	end)

	it("is corrected when a job outlives it", function()
		local c = cluster(past("anna", { 100, 300 }))
		assert.equal("200.0", told("last_two", "p:outlived(job, 10)", c))
		assert.equal("300.0", told("last_two", "p:outlived(job, 250)", c))
		assert.equal("500.0", told("last_two", "p:outlived(job, 300)", c))
		assert.equal("1100.0", told("last_two", "p:outlived(job, 500)", c))
		assert.equal("3600.0", told("last_two", "p:outlived(job, 3500)", c))
	end)

	it("learns which part of their walltime a user's jobs use", function()
		local runs = {}
		for i = 1, 60 do	-- a quarter of it, whatever it is
			local limit = 3600 * (1 + i % 5)
			runs[i] = { user = "anna", runtime = limit // 4, time_limit = limit, cpus = 1, ended_ago = i * 7200 }
		end
		local mean = tonumber(told("linear", "p:mean(job)", cluster(runs, { time_limit = "5h" })))
		assert.is_true(math.abs(mean - 4500) < 1000, "predicted " .. mean)
	end)

	it("is wrong rather above than below where both are possible", function()
		local runs = {}
		for i = 1, 60 do
			runs[i] = { user = "anna", runtime = i % 2 == 0 and 360 or 3240, time_limit = "1h", cpus = 1, ended_ago = i * 7200 }
		end
		assert.is_true(tonumber(told("linear", "p:mean(job)", cluster(runs))) > 1800)
	end)

	-- The past of a user whose real jobs of 8 cores ran for 3000 s, with what he did before each, the newest first.
	local function cheating(before, real)
		local runs, age = {}, 3600
		local function add(run)
			runs[#runs + 1] = { user = "anna", runtime = run.runtime, cpus = run.cpus or 8, time_limit = run.time_limit or "1h",
				ended_ago = age }
			age = age + run.runtime + 600
		end
		for i = 1, 30 do
			for _, run in ipairs(before(i)) do
				add(run)
			end
			add(real and real(i) or { runtime = 3000 })
		end
		return cluster(runs, { tasks = 8 })
	end

	local function expected_of(c)
		return tonumber(told("similar", "p:typical(job)", c))
	end

	describe("with a user who wants to look short", function()
		local honest = expected_of(cheating(function() return {} end))

		it("does not look at decoys of one core", function()
			assert.equal(honest, expected_of(cheating(function()
				return { { runtime = 1, cpus = 1 }, { runtime = 1, cpus = 1 } }
			end)))
		end)

		it("stretches what twins of the same size, which ended at once, make it expect", function()
			assert.is_true(expected_of(cheating(function()
				return { { runtime = 1 }, { runtime = 1 } }
			end)) > 2900)
		end)

		-- by five, since a fifth of his work was deceived for; the four others pay that
		it("leaves one who deceives for every fifth job a fifth of its runtime, and takes the others at their walltime", function()
			local function twins(of)
				return function(i)
					return i % 5 == of and { { runtime = 1 }, { runtime = 1 } } or {}
				end
			end
			assert.is_true(expected_of(cheating(twins(1))) > 3000 / 5 - 50)
			assert.equal(3600, expected_of(cheating(twins(4))))
		end)

		it("takes one who never asks for the same walltime twice by his jobs' size", function()
			assert.equal(honest, expected_of(cheating(function(i)
				return { { runtime = 1, cpus = 1, time_limit = 3600 + 60 * i } }
			end, function(i)
				return { runtime = 3000, time_limit = 3600 + 60 * i }
			end)))
		end)

		it("believes an honest one: what he has used is what was expected", function()
			assert.is_true(honest >= 3000 and honest < 3100)	-- walltimes have a little weight
			assert.equal(honest, expected_of(cheating(function() return {} end)))
		end)

		it("forgives in the end", function()
			local runs = {}
			for i = 1, 60 do
				runs[i] = { user = "anna", runtime = 3000, cpus = 8, time_limit = "1h", ended_ago = i * 7200,
					expected = i > 40 and 1 or nil }
			end
			assert.equal(honest, expected_of(cluster(runs, { tasks = 8 })))
		end)
	end)

	describe("with a predictor of the site's own", function()
		local function own(body)
			return "return { name = 'own', doc = 'own', sample = function(job, cluster) " .. body .. " end }"
		end

		it("takes what it says", function()
			assert.equal("1200.0", told("own", "p:mean(job)", cluster({}), own "return { 600, 1800 }"))
			assert.equal("60.0", told("own", "p:mean(job)", cluster({}), own "return 60"))
		end)

		it("uses the walltime where it gives no number, and says so", function()
			for body, why in pairs { ["return 0/0"] = "gave %-?nan", ["return nil"] = "gave a nil", ["return { 'x' }"] = "gave x",
				["return {}"] = false, ["error('no idea')"] = "no idea", ["return -5"] = "gave %-5" } do
				local text = told("own", "p:mean(job)", cluster({}), own(body))
				assert.matches("3600.0$", text)
				if why then
					assert.matches("predictor own: .*" .. why .. ".*walltimes are used instead", text)
				end
			end
		end)

		it("says it once, not in each cycle", function()
			local set = set_of("local p = predict.open('own', cluster, plan) for job in cluster:queue() do p:mean(job) end",
				own "return 0/0")
			local first = t.decide(set, cluster({}))
			assert.equal(1, #first:log())
			local again = t.cluster { nodes = "4x8c", pending = { { id = 1 } }, remembered = first:remembered() }
			assert.equal(0, #t.decide(set, again):log())
		end)

		it("does without one that used up the time of a cycle", function()
			local set = set_of([[
				local p = predict.open('own', cluster, plan)
				for job in cluster:queue() do p:mean(job) plan:start(job) end]], own "while true do end")
			local first = t.decide(set, cluster({}), { budget = 0.2, may_fail = true })
			assert.same({}, first:started())
			local again = t.cluster { nodes = "4x8c", pending = { { id = 1, time_limit = "1h" } }, remembered = first:remembered() }
			local second = t.decide(set, again, { budget = 5 })
			assert.same({ 1 }, second:started())
			assert.matches("used up the time of a cycle", table.concat(second:log(), "\n"))
		end)

		it("refuses one that is none, and one that is not there", function()
			local function refusal(name, text)
				return select(2, pcall(t.decide, set_of(("predict.open('%s', cluster, plan)"):format(name), text), cluster({})))
			end
			assert.matches("predictor 'own': it has no function sample", refusal("own", "return {}"))
			assert.matches("predictor 'missing'", refusal("missing"))
		end)
	end)
end)

describe("cluster.history:order", function()
	local function queue()
		local history, pending = past("anna", { 100, 300 }), {}
		for _, run in ipairs(past("berta", { 5, 3000 }, { cpus = 2, time_limit = "2h" })) do
			history[#history + 1] = run
		end
		for i = 1, 24 do
			pending[i] = { id = i, user = ({ "anna", "berta", "cecil" })[i % 3 + 1], tasks = i % 4 + 1,
				time_limit = ({ "1h", "2h", "30s", "infinite" })[i % 4 + 1], submitted_ago = i * 1801 }
		end
		return t.cluster { nodes = "4x8c", history = history, pending = pending }
	end

	-- Lines "id key overdue" of the engine's order and of the same in Lua.
	local function both(predictor, options)
		return t.decide(set_of(([[
			local p, by, rows, now = predict.open("%s", cluster, plan), { %s }, {}, cluster.now
			for job in cluster:queue() do
				local waited = math.max(0, now - math.max(job.submit_time, job.eligible_time))
				rows[#rows + 1] = { id = job.id, place = #rows, key = job.cpus ^ by.size * p:typical(job) ^ by.length /
					(1 + waited / by.patience) ^ by.ageing }
			end
			table.sort(rows, function(a, b) if a.key ~= b.key then return a.key < b.key end return a.place < b.place end)
			local i = 0
			for job, key, overdue in cluster.history:order(cluster:queue(), p:to_order(by)) do
				i = i + 1
				if by.slowdown then
					slurm.log_info("%%d %%.17g", job.id, overdue)
				elseif job.id ~= rows[i].id or key ~= rows[i].key then
					slurm.log_info("%%d: %%.17g, not %%d: %%.17g", job.id, key, rows[i].id, rows[i].key)
				end
			end
			assert(by.slowdown or i == #rows)]]):format(predictor, options)), queue()):log()
	end

	it("is that of the same formula in Lua, to the last bit", function()
		for _, predictor in ipairs { "limit", "similar", "last_two", "quantile" } do
			assert.same({}, both(predictor, "size = 1.2, length = 1.7, patience = 14400, ageing = 2.4"))
			assert.same({}, both(predictor, "size = 2, length = 2, patience = 60, ageing = 2"))
			assert.same({}, both(predictor, "size = 0, length = 0, patience = 1, ageing = 0"))
		end
	end)

	it("has those alone whose wait is long for the shortest runtime that is likely", function()
		local lines = both("similar", "size = 0, length = 0, patience = 1, ageing = 0, slowdown = 300, slowdown_wait = 36000")
		assert.is_true(#lines > 0 and #lines < 24)
		for _, line in ipairs(lines) do
			local id, overdue = line:match("(%d+) (%S+)$")
			-- waited 1801 s a job; the shortest is 10 to 76 seconds
			assert.is_true(tonumber(overdue) <= id * 1801 - 36000 and tonumber(overdue) >= 0)
		end
	end)

	it("puts those first that have been overdue for longest, whatever their key", function()
		local last = math.huge
		for _, line in ipairs(both("similar", "size = 1, length = 1, patience = 14400, ageing = 1, slowdown = 300, slowdown_wait = 3600")) do
			local overdue = tonumber(line:match("%d+ (%S+)$"))
			assert.is_true(overdue <= last)
			last = overdue
		end
		assert.is_true(last < math.huge)
	end)

	it("raises at what it does not know, and takes only a queue", function()
		local function wrong(text)
			return function() t.decide(set_of("cluster.history:order(" .. text .. ")"), queue()) end
		end
		assert.error_matches(wrong("cluster:queue(), { predictor = 'limit', sise = 1 }"), "unknown key 'sise'")
		assert.error_matches(wrong("cluster:queue(), { size = 1 }"), "predictor: expected")
		assert.error_matches(wrong("cluster:queue(), { predictor = 'limit', size = '1' }"), "size: expected a number")
		assert.error_matches(wrong("cluster:queue(), { typical = function() end }"), "expected a number")
		assert.error_matches(wrong("function() end, { predictor = 'limit' }"), "cluster:queue")
	end)

	it("raises at what is not a number, which has no place in an order", function()
		local function wrong(options)
			return function() t.decide(set_of("cluster.history:order(cluster:queue(), { " .. options .. " })"), queue()) end
		end
		local nan = "function() return 0 / 0 end"
		assert.error_matches(wrong("typical = " .. nan), "order: typical: expected a number, got NaN")
		assert.error_matches(wrong("slowdown = 0, typical = function() return 1 end, stretch = " .. nan),
			"order: stretch: expected a number, got NaN")
		assert.error_matches(wrong("typical = function() return -1 end, length = 0.5"), "order: the key of job %d+: expected a number, got NaN")
		assert.error_matches(wrong("predictor = 'limit', size = 0 / 0"), "order: the key of job %d+: expected a number, got NaN")
	end)

	it("may be left to plan:start_rest, from where the policy is", function()
		local plan = t.decide(set_of([[
			local order = cluster.history:order(cluster:queue(), { predictor = "limit", open = true })
			order()
			slurm.log_info("%d", plan:start_rest(order))
			assert(order() == nil)]]), t.cluster { nodes = "1x4c", pending = {
				{ id = 1, tasks = 1, time_limit = "1h" }, { id = 2, tasks = 1, time_limit = "2h" },
				{ id = 3, tasks = 1, array = 2, time_limit = "3h" }, { id = 4, tasks = 2, time_limit = "4h" } } })
		assert.same({ "info: 3" }, plan:log())
	end)
end)

describe("predictive", function()
	local history = { { user = "short", runtime = 60, time_limit = "2h", cpus = 8, ended_ago = "1h" },
		{ user = "long", runtime = 7000, time_limit = "2h", cpus = 8, ended_ago = "1h" } }

	local function full(pending, more)
		local spec = { nodes = "2x8c", history = history, pending = pending,
			running = { { id = 1, nodes = 1, exclusive = true, ends_in = "1h" } } }
		for key, value in pairs(more or {}) do
			spec[key] = value
		end
		return t.cluster(spec)
	end

	it("starts first what is expected to be over soon", function()
		local pending = { { id = 2, user = "long", tasks = 8, time_limit = "2h" }, { id = 3, user = "short", tasks = 8, time_limit = "2h" } }
		assert.same({ 3 }, t.decide("predictive", full(pending)):started())
		assert.same({ 2 }, t.decide("predictive,predictor=limit", full(pending)):started())
	end)

	it("moves up who waits", function()
		local pending = { { id = 2, user = "long", tasks = 8, time_limit = "2h", submitted_ago = "12h" },
			{ id = 3, user = "short", tasks = 8, time_limit = "2h" } }
		assert.same({ 3 }, t.decide("predictive", full(pending)):started())
		assert.same({ 2 }, t.decide("predictive,ageing=10", full(pending)):started())
		pending[1].submitted_ago = "101h"	-- and at last goes first whatever is expected of it
		assert.same({ 2 }, t.decide("predictive", full(pending)):started())
	end)

	it("reserves for the first that does not fit, within the horizon", function()
		local pending = { { id = 2, user = "short", tasks = 16, time_limit = "2h" }, { id = 3, user = "long", tasks = 8, time_limit = "2h" } }
		local plan = t.decide("predictive", full(pending))
		assert.equal(3600, plan:reservation(2).in_s)
		assert.same({}, plan:started())		-- by its walltime it would delay that one
		plan = t.decide("predictive,horizon=30m", full(pending))
		assert.is_nil(plan:reservation(2))
		assert.same({ 3 }, plan:started())
	end)

	it("reserves before the order for who has waited for very many times what his jobs may need", function()
		local pending = { { id = 2, user = "short", tasks = 16, time_limit = "2h", submitted_ago = "55h" },
			{ id = 3, user = "short", tasks = 8, time_limit = "2h", submitted_ago = "56h" },
			{ id = 4, user = "long", tasks = 16, time_limit = "2h", submitted_ago = "55h" } }
		local plan = t.decide("predictive,horizon=0,slowdown=3000", full(pending))	-- 60 s x 3000 are 50 hours
		assert.same({ 3 }, plan:started())
		assert.equal(7200, plan:reservation(2).in_s)
		assert.is_nil(plan:reservation(4))
		assert.equal(7200, t.decide("predictive,horizon=0", full(pending)):reservation(2).in_s)	-- it is the default
		assert.is_nil(t.decide("predictive,horizon=0,slowdown=0", full(pending)):reservation(2))
		assert.is_nil(t.decide("predictive,horizon=0,slowdown=4000", full(pending)):reservation(2))
		assert.is_nil(t.decide("predictive,horizon=0,slowdown_horizon=0,slowdown=3450", full(pending)):reservation(2))
	end)

	it("keeps it for the one that has been overdue for longest, also when a smaller one has become overdue", function()
		local pending = { { id = 2, user = "short", tasks = 16, time_limit = "2h", submitted_ago = "60h" },
			{ id = 3, user = "short", tasks = 8, time_limit = "2h", submitted_ago = "59h" } }
		local plan = t.decide("predictive,horizon=0,slowdown=3000", full(pending))
		assert.same({}, plan:started())
		assert.equal(3600, plan:reservation(2).in_s)
		assert.is_nil(plan:reservation(3))
	end)

	it("gives nobody a place or a reservation for jobs that do nothing", function()
		local pending = { { id = 2, user = "long", tasks = 8, time_limit = "2h", submitted_ago = "55h" },
			{ id = 3, user = "honest", tasks = 8, time_limit = "2h", submitted_ago = "55h" },
			{ id = 4, user = "long", tasks = 16, time_limit = "2h", submitted_ago = "55h" } }
		local function started(decoy)
			local runs = {}
			for i = 1, 10 do
				local time = i * 10800
				runs[#runs + 1] = { user = "honest", runtime = 6000, time_limit = "2h", cpus = 8, ended_ago = time }
				runs[#runs + 1] = { user = "long", runtime = 7000, time_limit = "2h", cpus = 8, ended_ago = time }
				for k = 1, decoy and 2 or 0 do
					runs[#runs + 1] = { user = "long", runtime = 1, time_limit = "2h", cpus = decoy, ended_ago = time - 1000 + k }
				end
			end
			local plan = t.decide("predictive,horizon=0,slowdown=3000", full(pending, { history = runs }))
			assert.is_nil(plan:reservation(4))
			return plan:started()
		end
		for _, decoy in ipairs { false, 1, 4, 8 } do
			assert.same({ 3 }, started(decoy))
		end
	end)

	describe("with one whose work ran for longer than expected, by much", function()
		-- His runs of 8 cores: a day of tests that end at once, then one of hours, and so on.
		local function jumpy(job)
			local runs = {}
			for i = 1, 10 do
				local time = i * 10800
				runs[#runs + 1] = { user = "jumpy", runtime = 7000, time_limit = "2h", cpus = 8, ended_ago = time }
				runs[#runs + 1] = { user = "jumpy", runtime = 1, time_limit = "2h", cpus = 8, ended_ago = time - 500 }
				runs[#runs + 1] = { user = "jumpy", runtime = 1, time_limit = "2h", cpus = 8, ended_ago = time - 1000 }
			end
			for i = 1, 100 do	-- of the others' runs one in a hundred
				runs[#runs + 1] = { user = "other" .. i, runtime = i == 1 and 1 or 7000, time_limit = "2h", cpus = 8,
					ended_ago = i * 3600 }
			end
			job.id, job.user, job.time_limit = 2, "jumpy", "2h"
			return t.decide("predictive,horizon=0", full({ job }, { history = runs })):reservation(2)
		end

		it("still bounds what he waits, as it does for all where now and then a job ends at once", function()
			assert.equal(3600, jumpy { tasks = 16, submitted_ago = "70h" }.in_s)
		end)

		it("does not believe that he may be short", function()
			assert.is_nil(jumpy { tasks = 16, submitted_ago = "30h" })
		end)
	end)

	it("goes by all runs of a user for how short a job may be of a size that he never had", function()
		local function reservation(runtime)
			local runs = { { user = "narrow", runtime = runtime, time_limit = "2h", cpus = 1, ended_ago = 9000 } }
			local pending = { { id = 2, user = "narrow", tasks = 16, time_limit = "2h", submitted_ago = "30h" } }
			return t.decide("predictive,horizon=0", full(pending, { history = runs })):reservation(2)
		end
		assert.equal(3600, reservation(5).in_s)
		assert.is_nil(reservation(7000))
	end)

	it("starts all tasks of an array that fit, and alternatives", function()
		local plan = t.decide("predictive", t.cluster { nodes = "2x8c", pending = { { id = 5, array = 3, tasks = 4 } } })
		assert.equal(3, #plan:started())
		plan = t.decide("predictive", t.cluster { nodes = "1x8c", pending = { { id = 5, nodes = 2, comment = "sched: -N1" } } })
		assert.same({ 5 }, plan:started())
	end)

	it("says which runs it went by, so that it can be decided again from these alone", function()
		local pending = { { id = 2, user = "long", tasks = 8, time_limit = "2h" }, { id = 3, user = "short", tasks = 8, time_limit = "2h" } }
		local rows = t.decide("predictive", full(pending)).raw.history
		assert.equal(2, #rows)
		local long = rows[1].user == "long" and rows[1] or rows[2]
		assert.equal("long", long.user)
		assert.equal(7000, long.runtime)
		assert.same({}, t.decide("predictive,predictor=limit", full(pending)).raw.history)
	end)
end)
