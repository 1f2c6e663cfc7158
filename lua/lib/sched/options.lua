-- SPDX-License-Identifier: MIT
--
-- sched.options - the options of a policy: one table says name, type, range, default and
-- what it means; what a site gives is checked against it when the site is loaded.
--
--   M.options = {
--     window = { default = 500, min = 1, max = 100000, doc = "pending jobs examined" },
--     max_wait = { default = "24h", type = "duration", doc = "..." },
--     order = { default = "fifo", values = { "fifo", "lifo" }, doc = "..." },
--   }
--
-- tune = { 100, 500, 2000 }: the values that schedlua tune tries; tune = true: all that there are,
-- of a boolean or of one with values.

local duration = require "sched.duration"
local suggest = require "sched.suggest"

local M = {}

local definition_keys = { default = true, min = true, max = true, type = true, values = true, tune = true, doc = true }
local types = { integer = true, number = true, string = true, boolean = true, duration = true, table = true,
	["function"] = true }

local function shown(value)
	return type(value) == "string" and ('"%s"'):format(value) or tostring(value)
end

local function type_of(def)
	return def.type or math.type(def.default) == "integer" and "integer" or type(def.default)
end

local function in_range(value, def)
	if def.min and value < def.min or def.max and value > def.max then
		if def.min and def.max then
			return nil, ("%s is out of range, expected %s to %s"):format(shown(value), shown(def.min), shown(def.max))
		elseif def.min then
			return nil, ("%s is out of range, expected %s or more"):format(shown(value), shown(def.min))
		end
		return nil, ("%s is out of range, expected %s or less"):format(shown(value), shown(def.max))
	end
	return value
end

local convert = {}

function convert.integer(value, def)
	local integer = type(value) == "number" and math.tointeger(value)
	if not integer then
		return nil, ("%s is no integer"):format(shown(value))
	end
	return in_range(integer, def)
end

function convert.number(value, def)
	if type(value) ~= "number" or value ~= value then
		return nil, ("%s is no number"):format(shown(value))
	end
	return in_range(value, def)
end

function convert.duration(value, def)
	local seconds, why = duration.seconds(value)
	if not seconds then
		return nil, why
	end
	return in_range(seconds, { min = duration.seconds(def.min), max = duration.seconds(def.max) })
end

function convert.string(value)
	if type(value) ~= "string" then
		return nil, ("%s is no string"):format(shown(value))
	end
	return value
end

function convert.boolean(value)
	if type(value) ~= "boolean" then
		return nil, ("%s is neither true nor false"):format(shown(value))
	end
	return value
end

function convert.table(value)
	if type(value) ~= "table" then
		return nil, ("%s is no table"):format(shown(value))
	end
	return value
end

-- who asks looks at it himself (sched.limit)
function convert.any(value)
	return value
end

-- false: none
convert["function"] = function(value)
	if type(value) ~= "function" and value ~= false then
		return nil, ("%s is no function"):format(shown(value))
	end
	return value
end

--- The value as the policy gets it; or nil and what is wrong and was expected.
function M.check(value, def)
	local kind = type_of(def)
	local result, why = convert[kind](value, def)
	if result == nil then
		return nil, why
	end
	if def.values then
		for _, allowed in ipairs(def.values) do
			if result == allowed then
				return result
			end
		end
		return nil, ("%s is not one of %s"):format(shown(value), table.concat(def.values, ", "))
	end
	return result
end

--- The values to try of an option, as the policy gets them; nil where it declares none, with what
--- is wrong with those that it declares.
function M.to_try(def)
	local given, list = def.tune, {}
	if given == true then
		given = type_of(def) == "boolean" and { false, true } or def.values
	end
	if given == nil then
		return nil, def.tune and "true, and it has no values" or nil
	elseif type(given) ~= "table" then
		return nil, ("expected a list or true, got %s"):format(shown(given))
	end
	for i, value in ipairs(given) do
		local checked, why = M.check(value, def)
		if checked == nil then
			return nil, why
		end
		list[i] = checked
	end
	return list
end

local function check_definition(name, def, fail)
	if type(name) ~= "string" then
		fail(name, ("an option's name is a string, got %s"):format(shown(name)))
	elseif type(def) ~= "table" then
		fail(name, ("option '%s': expected a table { default = ... }, got %s"):format(name, shown(def)))
	end
	for key in pairs(def) do
		if not definition_keys[key] then
			fail(name, ("option '%s': unknown key '%s'%s"):format(name, tostring(key), suggest.hint(key, definition_keys)))
		end
	end
	if def.default == nil then
		fail(name, ("option '%s' has no default"):format(name))
	elseif def.type ~= nil and not types[def.type] then
		fail(name, ("option '%s': unknown type %s%s"):format(name, shown(def.type), suggest.hint(def.type, types)))
	elseif not types[type_of(def)] or type(def.default) == "function" then
		fail(name, ("option '%s': a default cannot be a %s"):format(name, type(def.default)))
	end
	local _, why = M.check(def.default, def)
	if why then
		fail(name, ("option '%s': default: %s"):format(name, why))
	end
end

--- Check a policy's own table of options.  fail(name, message) does not return.
function M.check_definitions(options, fail)
	if type(options) ~= "table" then
		fail("options", ("options: expected a table, got %s"):format(shown(options)))
	end
	for name, def in pairs(options) do
		check_definition(name, def, fail)
	end
end

--- Values for all options of a policy: those given, checked, and defaults for the rest.
--- fail(name, message) does not return.
function M.resolve(policy, given, fail)
	local defs = policy.options or {}
	local values = {}
	for name in pairs(given) do
		if not defs[name] then
			fail(name, ("unknown option '%s' of policy '%s'%s"):format(tostring(name), policy.name,
				suggest.hint(name, defs)))
		end
	end
	setmetatable(values, { __index = function(_, name)
		error(("policy '%s' declares no option '%s'%s"):format(policy.name, tostring(name), suggest.hint(name, defs)), 2)
	end })
	for name, def in pairs(defs) do
		local value = given[name]
		if value == nil then
			value = def.default
		end
		local checked, why = M.check(value, def)
		if checked == nil then
			fail(name, ("option '%s' of policy '%s': %s"):format(name, policy.name, why))
		end
		values[name] = checked
	end
	return values
end

return M
