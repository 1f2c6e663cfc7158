-- SPDX-License-Identifier: MIT
--
-- sched.duration - times as people write them, in seconds.
--
-- Slurm's forms "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours",
-- "days-hours:minutes", "days-hours:minutes:seconds" and "UNLIMITED"; and numbers with
-- units, "1h30m", "2d", "45s".  A number is seconds; "90", being Slurm's form, is minutes.

local M = {}

local unit = { s = 1, m = 60, h = 3600, d = 86400, w = 604800 }

local function with_units(text)
	local rest, seconds = text, 0
	while rest ~= "" do
		local number, name, tail = rest:match("^(%d+%.?%d*)%s*([smhdw])%s*(.*)$")
		if not number then
			return nil
		end
		seconds = seconds + tonumber(number) * unit[name]
		rest = tail
	end
	return seconds
end

local function slurm_form(text)
	local days, rest = text:match("^(%d+)%-(.+)$")
	local part = {}
	for number in ((rest or text) .. ":"):gmatch("(%d*):") do
		part[#part + 1] = tonumber(number)
	end
	if not (rest or text):match("^[%d:]+$") or #part == 0 or #part > 3 then
		return nil
	end
	if days then
		return tonumber(days) * 86400 + part[1] * 3600 + (part[2] or 0) * 60 + (part[3] or 0)
	elseif #part == 1 then
		return part[1] * 60
	elseif #part == 2 then
		return part[1] * 60 + part[2]
	end
	return part[1] * 3600 + part[2] * 60 + part[3]
end

--- Seconds: an integer, or math.huge for "unlimited".  nil and the reason otherwise.
function M.seconds(value)
	if math.type(value) == "integer" and value >= 0 then
		return value
	elseif type(value) == "number" and value >= 0 and value == value then
		return math.tointeger(value) or value
	elseif type(value) == "string" then
		local text = value:lower():match("^%s*(.-)%s*$")
		if text == "unlimited" or text == "infinite" then
			return math.huge
		end
		local seconds = text ~= "" and (with_units(text) or slurm_form(text))
		if seconds then
			return math.tointeger(seconds) or seconds
		end
	end
	local shown = type(value) == "string" and ('"%s"'):format(value) or tostring(value)
	return nil, shown .. ' is no duration; expected seconds, or text such as "90m" or "1-12:00:00"'
end

--- "2d 3h", from seconds: the two largest units that it has.
function M.text(seconds)
	local parts = {}
	if seconds == math.huge then
		return "unlimited"
	end
	seconds = math.floor(seconds)
	for _, u in ipairs { { "d", 86400 }, { "h", 3600 }, { "m", 60 }, { "s", 1 } } do
		local n = seconds // u[2]
		if n > 0 and #parts < 2 then
			parts[#parts + 1] = ("%d%s"):format(n, u[1])
		end
		seconds = seconds % u[2]
	end
	return #parts > 0 and table.concat(parts, " ") or "0s"
end

return M
