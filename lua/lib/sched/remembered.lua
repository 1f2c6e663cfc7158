-- SPDX-License-Identifier: MIT
--
-- sched.remembered - what policies remember, for specs: tables { [group] = { [key] = value } } and
-- the rows of a snapshot or a plan, whose values are text (engine/image/value.h).
--
-- Runs in the interpreter of the specs.

local M = {}

local words = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat "
	.. "return then true until while"):gmatch("%a+") do
	words[word] = true
end

local function quoted(s)
	return '"' .. s:gsub('[^\x20-\x7e]', function(c) return ("\0x%02x"):format(c:byte()) end)
		:gsub('["\\]', "\\%0"):gsub("\0", "\\") .. '"'
end

local function number(v)
	if math.type(v) == "integer" then
		return v == math.mininteger and "0x8000000000000000" or ("%d"):format(v)
	elseif v ~= v then
		error("not-a-number is nothing to remember", 0)
	elseif v == math.huge or v == -math.huge then
		return v > 0 and "1e999" or "-1e999"
	end
	local text
	for digits = 15, 17 do
		text = ("%." .. digits .. "g"):format(v)
		if tonumber(text) == v then
			break
		end
	end
	return text:find("[.e]") and text or text .. ".0"
end

local function key_text(key)
	if type(key) ~= "string" then
		return "[" .. number(key) .. "]="
	elseif key:find("^[%a_][%w_]*$") and not words[key] then
		return key .. "="
	end
	return "[" .. quoted(key) .. "]="
end

local text

local function table_text(t, depth)
	local parts, keys = {}, {}
	if depth > 16 then
		error("tables in tables more than 16 deep, or in themselves", 0)
	end
	while rawget(t, #parts + 1) ~= nil do
		parts[#parts + 1] = text(t[#parts + 1], depth)
	end
	for key in next, t do
		if math.type(key) ~= "integer" and type(key) ~= "string" then
			error(("a key of type %s; expected integers and strings"):format(type(key)), 0)
		elseif type(key) == "string" or key < 1 or key > #parts then
			keys[#keys + 1] = key
		end
	end
	table.sort(keys, function(a, b)
		if type(a) ~= type(b) then
			return type(a) == "number"
		end
		return a < b
	end)
	for _, key in ipairs(keys) do
		parts[#parts + 1] = key_text(key) .. text(t[key], depth)
	end
	return "{" .. table.concat(parts, ",") .. "}"
end

function text(value, depth)
	if type(value) == "table" then
		return table_text(value, depth + 1)
	elseif type(value) == "string" then
		return quoted(value)
	elseif type(value) == "number" then
		return number(value)
	elseif type(value) == "boolean" then
		return tostring(value)
	end
	error(("expected booleans, numbers, strings and tables of them, got a %s"):format(type(value)), 0)
end

--- The text of a plain value.
function M.text(value)
	return text(value, 0)
end

--- The rows of { [group] = { [key] = value } }, in their order.
function M.rows(groups)
	local rows = {}
	for group, values in pairs(groups) do
		if type(values) ~= "table" then
			error(("%s: expected a table { KEY = value }, got %s"):format(group, type(values)), 0)
		end
		for key, value in pairs(values) do
			local ok, what = pcall(M.text, value)
			if not ok then
				error(("%s.%s: %s"):format(group, key, what), 0)
			end
			rows[#rows + 1] = { group = group, key = key, value = what }
		end
	end
	table.sort(rows, function(a, b)
		if a.group ~= b.group then
			return a.group < b.group
		end
		return a.key < b.key
	end)
	return rows
end

--- { [group] = { [key] = value } } of rows.
function M.groups(rows)
	local groups = {}
	for _, row in ipairs(rows) do
		groups[row.group] = groups[row.group] or {}
		groups[row.group][row.key] = assert(load("return " .. row.value, "remembered", "t", {}))()
	end
	return groups
end

return M
