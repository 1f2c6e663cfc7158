-- SPDX-License-Identifier: MIT
--
-- sched.first_job - rank: users with nothing running go first, each with one job.
--
--   sched.weighted { { 1000, sched.first_job { } }, { 1, sched.ageing { per = "1d" } } }
--
-- A job has 1 if its user (account) has nothing running in the partitions of the list and the job
-- is the one of his that was submitted first, else 0.  A quota limits how much of the machine a
-- user has; this is about the order: many users who wait for their first job do not wait for one
-- user's tenth.

local component = require "sched.component"

local M = {}

local definitions = {
	by = { default = "user", values = { "user", "account" } },
	scope = { default = "partitions", values = { "partitions", "cluster" } },
}

--- sched.first_job { by =, scope = }, with the place of the call.
function M.make(path, line, t)
	local opt = component.read("sched.first_job", t, definitions, component.locate(path, line))
	local part = { name = "first_job", doc = "users with nothing running go first" }

	function part.serve(rows)
		return engine.held { by = opt.by, unit = "node", rows = opt.scope == "partitions" and rows or nil }
	end

	function part.rank(job, _, _, held)
		return held:is_first(job) and 1 or 0, -job.submit_time
	end

	function part.explain(job, _, _, held)
		local name, _, has = held(job)
		if has > 0 then
			return ("0: %s %s has something running"):format(opt.by, name)
		elseif held:is_first(job) then
			return ("1: %s %s has nothing running, and this is the first job"):format(opt.by, name)
		end
		return ("0: %s %s has nothing running, but a job that was submitted before this one"):format(opt.by, name)
	end

	return part
end

return M
