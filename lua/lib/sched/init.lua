-- SPDX-License-Identifier: MIT
--
-- sched - what site files and policies require.
--
--   local sched = require "sched"
--   return sched.site { default = { "easy" } }

local data_file = require "sched.data_file"
local duration = require "sched.duration"
local site = require "sched.site"
local suggest = require "sched.suggest"

local M = {}

--- Versions of the policy contract that this engine serves.
M.api = 1

--- Declare a site: see doc/policy-api.md, "The site file".
M.site = engine.with_caller(site.site)

--- Seconds from "1-12:00:00", "90m" or a number; nil and the reason for anything else.
M.duration = duration.seconds

--- A plain file beside the site file, re-read when it changes; parse(text, path, warn) returns
--- a flat table.  See doc/policy-api.md, "Files that are edited".
M.file = engine.with_caller(data_file.open)

-- What lists of a site file are made of: loaded when a site uses it.
for _, name in ipairs { "ageing", "borrow", "consolidate", "fair_share", "first_job", "forecasts", "gpu_share",
	"layers", "limit", "place", "preempt", "quota", "score", "weighted", "when" } do
	M[name] = engine.with_caller(function(path, line, ...)
		return require("sched." .. name).make(path, line, ...)
	end)
end

return setmetatable({}, {
	__index = function(_, name)
		local value = rawget(M, name)
		if value == nil then
			error(("sched has no function '%s'%s"):format(tostring(name), suggest.hint(name, M)), 2)
		end
		return value
	end,
	__newindex = function()
		error("sched is read-only", 2)
	end,
	__metatable = false,
})
