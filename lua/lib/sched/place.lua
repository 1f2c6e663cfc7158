-- SPDX-License-Identifier: MIT
--
-- sched.place - by which score jobs get their nodes.
--
--   sched.place { "fgd" }				a place by name (doc/placement.md)
--   sched.place { "fgd", least = 50, price = 2 }	rather wait than have a score below 50; a minute lowers that by 2
--   sched.place { "blocks", segment = 18 }		whole segments of 18 nodes, each in one block; or a function of the job
--   sched.place { function(job, class, cluster) return -class.left_gpus end }	a score of the site's own
--
-- { "easy", place = "fgd" } is { sched.place { "fgd" }, "easy" }.

local component = require "sched.component"

local M = {}

local definitions = {
	least = { type = "number", min = 0, max = 100 },
	price = { default = 1, type = "number", min = 0 },
	segment = { type = "integer", min = 1 },
}

local function waited(job, cluster)
	local since = job.eligible_time
	if since <= 0 then
		since = job.submit_time
	end
	return since > 0 and math.max(0, cluster.now - since) or 0
end

--- sched.place { NAME or FUNCTION, least =, price = }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local how, rest = type(t) == "table" and t[1] or nil, {}
	if type(how) ~= "string" and type(how) ~= "function" then
		fail("place", "sched.place: expected { NAME or FUNCTION, least =, price = }, got %s", type(t) == "table" and
			"a table that begins with " .. type(how) or type(t))
	end
	local segment_of = type(t.segment) == "function" and t.segment or nil
	for key, value in pairs(t) do
		if key ~= 1 and value ~= segment_of then
			rest[key] = value
		end
	end
	local opt = component.read("sched.place", rest, definitions, fail)
	local wrong = type(how) == "string" and engine.check_place(how, opt.least ~= nil)
	if wrong or opt.least and type(how) ~= "string" then
		fail("place", "sched.place: %s", wrong or "least: expected only beside a name, a score of its own returns false")
	end
	if (opt.segment or segment_of) and opt.least then
		fail("place", "sched.place: expected segment or least, not both")
	end
	local said = { place = how, segment = opt.segment }
	local part = { name = "place", doc = "by which score jobs get their nodes" }
	function part.place(job, cluster)
		if segment_of then
			return { place = how, segment = segment_of(job) }
		end
		if opt.least then
			return { place = how, least = math.max(0, opt.least - opt.price * waited(job, cluster) / 60) }
		end
		return said
	end
	return part
end

return M
