-- SPDX-License-Identifier: MIT
local job_submit = require "sched.job_submit"

local function script(body, opt)
	return job_submit.load({ text = "function slurm_job_submit(job, parts, uid)\n" .. body .. "\nend" }, opt)
end

describe("sched.job_submit", function()
	it("gives a script Slurm's values where the user says nothing", function()
		local s = script [[
			assert(job.time_limit == slurm.NO_VAL and job.min_nodes == slurm.NO_VAL and job.cpus_per_task == slurm.NO_VAL16)
			assert(job.pn_min_memory == slurm.NO_VAL64 and job.shared == slurm.NO_VAL16 and job.partition == nil)
			assert(job.user_name == "ada" and job.user_id == 1234 and uid == 1234)
			return slurm.SUCCESS ]]
		assert.is_nil(s:submit({ user = "ada", user_id = 1234 }).failure)
	end)

	it("shows numbers as Slurm does, as floats", function()
		local r = script([[ slurm.log_user("%s", tostring(job.min_nodes)) return 0 ]]):submit { min_nodes = 2 }
		assert.equal(_VERSION < "Lua 5.3" and "2" or "2.0", r.message)
	end)

	it("takes what the script changes, texts as numbers too", function()
		local r = script([[ job.qos = "long"; job.time_limit = "90"; job.comment = "" return slurm.SUCCESS ]])
			:submit { time_limit = 30, comment = "x" }
		assert.equal("long", r.job.qos)
		assert.equal(90, r.job.time_limit)
		assert.is_nil(r.job.comment)
	end)

	it("tells fields that the release does not know, and those that are not to be set", function()
		local body = [[ job.nodez = 1; job.user_name = "bob"; local x = job.segment_size return 0 ]]
		assert.same({ "nodez", "user_name", "segment_size" }, script(body, { slurm = "24.11" }):submit({}).unknown)
		assert.same({ "nodez", "user_name" }, script(body, { slurm = "26.05" }):submit({}).unknown)
	end)

	it("refuses unknown fields of a spec", function()
		local s = script "return 0"
		assert.error_matches(function() s:submit { nodes = 3 } end, "unknown field 'nodes' of a job")
		assert.error_matches(function() script("return 0", { slurm = "21.08" }) end, "expected one of 22.05")
	end)

	it("accepts a job that the script fails for up to 25.11, as slurmctld does, and refuses it from 26.05 on", function()
		local old = script("error 'boom'", { slurm = "25.11" }):submit {}
		assert.is_true(old.accepted)
		assert.matches("boom", old.failure)
		assert.is_false(script("error 'boom'", { slurm = "26.05" }):submit({}).accepted)
	end)

	it("takes a return value that is no number for success", function()
		assert.is_true(script("return nil"):submit({}).accepted)
		assert.equal("ESLURM_ACCESS_DENIED", script("return slurm.ESLURM_ACCESS_DENIED"):submit({}).error)
	end)

	it("has partitions with Slurm's fields", function()
		local s = script([[ for name, p in pairs(parts) do slurm.log_user("%s %d %d", name, p.max_time, p.flag_default) end return 0 ]],
			{ partitions = { gpu = { max_time = 60 } }, default_partition = "gpu" })
		assert.equal("gpu 60 1", s:submit({}).message)
		assert.error_matches(function() script("return 0", { partitions = { gpu = { maxtime = 1 } } }) end, "unknown field 'maxtime'")
	end)

	it("lets a script reach no file and no command but those of the spec", function()
		local r = script([[
			assert(not io.open("/etc/passwd") and not pcall(io.popen, "id") and not pcall(os.execute, "id"))
			assert(os.getenv("HOME") == nil and os.getenv("X") == "y" and not pcall(require, "posix"))
			for line in io.lines("/etc/slurm/users.txt") do slurm.log_user("%s", line) end
			return 0 ]], { env = { X = "y" }, files = { ["/etc/slurm/users.txt"] = "ada\nbob\n" } }):submit {}
		assert.is_nil(r.failure)
		assert.equal("ada\nbob", r.message)
	end)

	it("keeps globals of scripts apart", function()
		script "leak = 1 return 0":submit {}
		assert.is_nil(rawget(_G, "leak"))
		assert.is_nil(rawget(_G, "slurm"))
	end)

	it("runs cli_filter.lua, too", function()
		local s = job_submit.load { text = [[
			function slurm_cli_setup_defaults(options, early) options["cpus-per-task"] = "2" return slurm.SUCCESS end
			function slurm_cli_pre_submit(options, offset)
				if options.type == "srun" and not options.time then slurm.log_user("no time") return slurm.ERROR end
				return slurm.SUCCESS
			end ]] }
		assert.same({ ["cpus-per-task"] = "2" }, s:cli_setup_defaults({}).changed)
		assert.is_true(s:cli_pre_submit({ type = "srun", time = "10" }).accepted)
		assert.equal("no time", s:cli_pre_submit({ type = "srun" }).message)
	end)
end)
