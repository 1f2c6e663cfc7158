-- SPDX-License-Identifier: MIT
--
-- sched.first_job - rank: users with nothing running go first, each with one job.
--
--   sched.weighted { { 1000, sched.first_job { } }, { 1, sched.ageing { per = "1d" } } }
--
-- A job has 1 if its user (account) has nothing running in the partitions of the list and the job
-- is the one of his that was submitted first, else 0.  A quota limits how much of the machine a
-- user has; this is about the order: many users who wait for their first job do not wait for one
-- user's tenth.  With most = "100 cpu-hours" only jobs that ask for no more than that go first, so
-- that large ones do not make everybody wait.

local amount = require "sched.amount"
local component = require "sched.component"

local M = {}

local definitions = {
	by = { default = "user", values = { "user", "account" } },
	scope = { default = "partitions", values = { "partitions", "cluster" } },
	most = { type = "string" },
}

-- The largest job that goes first: its unit and unit-seconds.
local function read_most(opt, fail)
	if not opt.most then
		return "node", math.huge
	end
	local amounts, why = amount.parse(opt.most)
	local unit, seconds = next(amounts or {})
	if not amounts or next(amounts, unit) then
		fail("most", "most: %s", why or "expected one amount")
	end
	return unit, seconds
end

--- sched.first_job { by =, scope = }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.first_job", t, definitions, fail)
	local unit, most = read_most(opt, fail)
	local part = { name = "first_job", doc = "users with nothing running go first" }

	function part.serve(partitions)
		return engine.held { by = opt.by, unit = unit, partitions = opt.scope == "partitions" and partitions or nil }
	end

	function part.rank(job, _, _, held)
		if not held:is_first(job) then
			return 0, -job.submit_time
		end
		local _, asked = held(job)
		return asked <= most and 1 or 0, -job.submit_time
	end

	function part.explain(job, _, _, held)
		local name, asked, has = held(job)
		if asked > most then
			return ("0: asks for %s, more than %s"):format(amount.number(asked), opt.most)
		elseif has > 0 then
			return ("0: %s %s has something running"):format(opt.by, name)
		elseif held:is_first(job) then
			return ("1: %s %s has nothing running, and this is the first job"):format(opt.by, name)
		end
		return ("0: %s %s has nothing running, but a job that was submitted before this one"):format(opt.by, name)
	end

	return part
end

return M
