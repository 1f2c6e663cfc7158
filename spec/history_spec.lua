-- SPDX-License-Identifier: MIT
-- cluster.history: what policies know of runs that have ended.
local t = require "sched.test"

local support = require "spec.support"

local function logged(body, c)
	return table.concat(support.lines("local h = cluster.history " .. body, c), "\n")
end

local past = {
	{ user = "anna", account = "chem", name = "vasp", runtime = 100, time_limit = "1h", cpus = 8, ended_ago = "3h" },
	{ user = "anna", account = "chem", name = "vasp", runtime = 200, time_limit = "1h", cpus = 8, ended_ago = "2h",
		state = "TIMEOUT" },
	{ user = "anna", account = "bio", name = "blast", runtime = 600, time_limit = "4h", cpus = 1, ended_ago = "1h",
		nodes = 2 },
	{ user = "bert", account = "chem", name = "vasp", runtime = 7, cpus = 64, ended_ago = "1h" },
}

local function cluster(history)
	return t.cluster { nodes = "1x8c", history = history or past, pending = { { id = 1, user = "anna" } } }
end

describe("cluster.history", function()
	it("tells the runs of a user, the newest first", function()
		assert.equal("blast 600 14400.0 1 2 COMPLETED\nvasp 200 3600.0 8 0 TIMEOUT", (logged([[
			for _, r in ipairs(h:runs { user = "anna", last = 2 }) do
				slurm.log_info("%s %d %s %d %d %s", r.name, r.runtime, tostring(r.time_limit + 0.0), r.cpus, r.nodes, r.state)
			end]], cluster())))
	end)

	it("narrows down by account, name, size and walltime", function()
		assert.equal("2 1 1 1 0", logged([[slurm.log_info("%d %d %d %d %d",
			#h:runs { user = "anna", name = "vasp" }, #h:runs { user = "anna", account = "bio" },
			#h:runs { account = "chem", cpus = { 9, 100 } }, #h:runs { user = "anna", time_limit = { 3601, math.huge } },
			#h:runs { user = "carl" })]], cluster()))
	end)

	it("tells what had ended by an earlier time", function()
		assert.equal("200,100 100 0 1", logged([[
			local function at(ago) return h:runtimes { user = "anna", ended_by = cluster.now - ago } end
			slurm.log_info("%s %s %d %d", table.concat(at(7200), ","), table.concat(at(7201), ","), #at(4 * 3600),
				h:summary { user = "anna", ended_by = cluster.now - 7201 }.runs)]], cluster()))
		assert.has_error(function() logged([[h:runs { user = "anna", ended_by = cluster.now + 1 }]], cluster()) end)
	end)

	it("has means, quantiles and the share that completed", function()
		assert.equal("400.0 2\n3 300.0 600 100 0.67 200,600\n0 nil\nnil 0", logged([[
			slurm.log_info("%s %d", tostring(select(1, h:mean { user = "anna" })), (select(2, h:mean { user = "anna" })))
			local s = h:summary { user = "anna", quantiles = { 0.5, 1 } }
			slurm.log_info("%d %s %d %d %.2f %s", s.runs, tostring(s.mean), s.max, s.min, s.completed,
				table.concat(s.quantiles, ","))
			s = h:summary { user = "nobody" }
			slurm.log_info("%d %s", s.runs, tostring(s.mean))
			local mean, runs = h:mean { user = "nobody" }
			slurm.log_info("%s %d", tostring(mean), runs)]], cluster()))
	end)

	it("knows runs of no time at all, and no walltime where none is known", function()
		assert.equal("0.0 nil", logged([[slurm.log_info("%s %s", tostring((h:mean { user = "zero" })),
			tostring(h:runs { user = "zero" }[1].time_limit))]], cluster { { user = "zero", runtime = 0 } }))
	end)

	it("refuses questions that it does not understand", function()
		local function why(arguments)
			return logged("local ok, why = pcall(h.runs, h, " .. arguments .. ") slurm.log_info('%s', tostring(why))",
				cluster()):gsub("^.-: ", "", 0)
		end
		assert.matches("user and account are missing", why "{ name = 'vasp' }")
		assert.matches("unknown key 'users'", why "{ users = 'anna' }")
		assert.matches("last: expected an integer from 1 to 512, got 0", why "{ user = 'anna', last = 0 }")
		assert.matches("cpus: expected { LEAST, MOST }", why "{ user = 'anna', cpus = { 3, 1 } }")
		assert.matches("user: expected a string, got table", why "{ user = {} }")
		assert.matches("cpus: expected { LEAST, MOST }", why "{ user = 'anna', cpus = { 0/0, 1 } }")
	end)

	it("has in a simulation what had ended by then", function()
		local jobs = {}
		for i = 1, 5 do
			jobs[i] = { id = i, user = "anna", tasks = 8, runtime = 100 * i, time_limit = "1h", submit = 2000 * i }
		end
		local result = t.simulate(support.policy(support.unprobed .. [[
			for job in cluster:queue() do	-- one job at a time, one after the other
				local runs = cluster.history:runs { user = job.user }
				local last = runs[1]
				assert(#runs == job.id - 1, "how many are known")
				assert(not last or last.end_time <= cluster.now and last.job == job.id - 1, "the last one")
				plan:start(job)
			end]]), { nodes = "1x8c", jobs = jobs })
		assert.equal(5, #result.jobs)
	end)

	it("keeps no names that are none", function()
		assert.error_matches(function() logged('h:runs { user = ("x"):rep(256) }', cluster()) end,
			"user and account: expected at most 255 bytes")
	end)
end)
