-- SPDX-License-Identifier: MIT
-- busted examples/job_submit/job_submit_spec.lua
local job_submit = require "sched.job_submit"

describe("job_submit.lua", function()
	local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
	local script = job_submit.load(here .. "job_submit.lua", { partitions = { gpu = { max_time = 1440 } } })

	it("wants a time limit, and says so to the user", function()
		local r = script:submit { user = "ada" }
		assert.is_false(r.accepted)
		assert.equal("ESLURM_MISSING_TIME_LIMIT", r.error)
		assert.equal("Please say how long it takes: --time=H:MM:SS", r.message)
	end)

	it("sends jobs with GPUs to partition gpu", function()
		local r = script:submit { user = "ada", time_limit = 120, tres_per_node = "gres:gpu:2" }
		assert.is_true(r.accepted)
		assert.same({ partition = "gpu" }, r.changed)
	end)

	it("refuses what is too long for the partition", function()
		local r = script:submit { time_limit = 2000, partition = "gpu" }
		assert.equal("ESLURM_INVALID_TIME_LIMIT", r.error)
		assert.equal("Partition gpu has jobs of at most 1440 minutes", r.message)
	end)

	it("names no field that Slurm does not know", function()
		assert.same({}, script:submit({ time_limit = 30 }).unknown)
	end)
end)
