-- SPDX-License-Identifier: MIT
local sched = require "sched"
return sched.site { interval = 1, default = { "shortest_first" } }
