-- SPDX-License-Identifier: MIT
--
-- The site of the attack suite: what a site file and the parts of a list can do.

local hostile = require "chunk"
local sched = require "sched"

hostile.at("site")

hostile.file = sched.file("data.conf", function(_, _, warn)
	hostile.warn = warn
	hostile.at("parse")
	warn("seen")
	return { some = 1, text = "x" }
end)

local part = { name = "part", api = 1 }

function part.serve(_, cluster)
	hostile.begin(cluster)
	hostile.at("serve", cluster)
	return {}
end

function part.admit(job, cluster)
	hostile.at("admit", cluster, nil, job)
	return hostile.answer(true)
end

function part.allow(job, cluster)
	hostile.at("allow", cluster, nil, job)
	return hostile.answer(hostile.below(4) == 0 and "later" or true)
end

function part.place(job, cluster)
	hostile.at("place", cluster, nil, job)
	return hostile.answer(hostile.below(2) == 0 and { place = "score" } or { place = "fgd" })
end

function part.score(job, class, cluster)
	hostile.class(class)
	hostile.at("score", cluster, nil, job)
	return hostile.answer(hostile.below(4) > 0 and class.free_cores)
end

function part.explain(job, cluster)
	hostile.at("explain", cluster, nil, job)
	return "explained"
end

return sched.site { default = { part, "policy" } }
