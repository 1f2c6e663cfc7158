-- SPDX-License-Identifier: MIT
-- In partition debug each user has one job and 8 cores at a time; the others wait, and are told why.
local sched = require "sched"

return sched.site {
	partitions = { debug = { sched.limit { jobs = 1, cores = 8, by = "user" }, "easy" } },
}
