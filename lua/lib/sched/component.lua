-- SPDX-License-Identifier: MIT
--
-- sched.component - what the library's own parts of a policy list have in common: reading
-- the table they are made from, with messages that name the line.
--
--   local fail = component.locate(path, line)
--   local opt = component.read("sched.ageing", t, definitions, fail)

local locate = require "sched.locate"
local options = require "sched.options"
local suggest = require "sched.suggest"

local M = {}

--- A function fail(word, format, ...) that raises about a word of the call at path:line.
function M.locate(path, line)
	local at = locate.locator(path, line, engine.source(path))
	return function(word, format, ...)
		error(("%s: %s"):format(at(word), format:format(...)), 0)
	end
end

--- The values of a call such as sched.ageing { per = "1d" }, checked against definitions as of
--- sched.options, which here need no default: then the value is nil where none is given.
function M.read(name, t, definitions, fail)
	local values = {}
	if t == nil then
		t = {}
	elseif type(t) ~= "table" then
		fail(nil, "%s(%s); expected %s { ... }", name, tostring(t), name)
	end
	for key in pairs(t) do
		if not definitions[key] then
			fail(key, "unknown option '%s' of %s%s", tostring(key), name, suggest.hint(key, definitions))
		end
	end
	for key, def in pairs(definitions) do
		local value, why = t[key]
		if value == nil then
			value = def.default
		end
		if value ~= nil then
			value, why = options.check(value, def)
			if value == nil then
				fail(key, "option '%s' of %s: %s", key, name, why)
			end
		end
		values[key] = value
	end
	return values
end

return M
