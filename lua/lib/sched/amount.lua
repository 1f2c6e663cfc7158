-- SPDX-License-Identifier: MIT
--
-- sched.amount - amounts of machine time as people write them: "81920 cpu-hours",
-- "2.5M core-hours", "500 gpu-hours", "40 node-days", "unlimited".

local M = {}

local unit_of = { cpu = "cpu", core = "cpu", gpu = "gpu", node = "node" }
local seconds_of = { second = 1, minute = 60, hour = 3600, day = 86400 }
local factor_of = { [""] = 1, k = 1e3, K = 1e3, M = 1e6, G = 1e9 }

M.most = 1e15		-- unit-seconds: 30 million cores for a year

local expected = 'expected something like "81920 cpu-hours", "500 gpu-hours" or "40 node-days"'

-- One amount: its unit and unit-seconds; or nil and why.
local function one(text)
	local number, factor, unit, time = text:match("^%s*([%d._]+)%s*([kKMG]?)%s+(%a+)[%s%-]+(%a+)%s*$")
	if text:match("^%s*%-") then
		return nil, ("'%s' is negative; %s"):format(text, expected)
	end
	local value = number and tonumber((number:gsub("_", "")))
	unit, time = unit_of[unit], time and seconds_of[time:gsub("s$", "")]
	if not value or not unit or not time then
		return nil, ("'%s' is no amount; %s"):format(text, expected)
	end
	local seconds = value * factor_of[factor] * time
	if seconds > M.most then
		return nil, ("'%s' is more than any machine has; %s"):format(text, expected)
	end
	return unit, math.floor(seconds + 0.5)
end

--- { [unit] = seconds } from "81920 cpu-hours, 500 gpu-hours"; math.huge for "unlimited", which
--- is all units ("cpu", "gpu", "node") if none is named: "unlimited gpu-hours".  nil and why.
function M.parse(text)
	if type(text) ~= "string" then
		return nil, ("%s is no amount; %s"):format(tostring(text), expected)
	end
	local amounts = {}
	for item in (text .. ","):gmatch("([^,]*),") do
		local free = item:match("^%s*unlimited%s*(.-)%s*$")
		local unit, seconds
		if free == "" then
			amounts.cpu, amounts.gpu, amounts.node = math.huge, math.huge, math.huge
		else
			unit, seconds = one(free and "1 " .. free or item)
			if not unit then
				return nil, seconds
			elseif amounts[unit] and amounts[unit] ~= math.huge then
				return nil, ("'%s' names %s-hours twice"):format(text, unit)
			end
			amounts[unit] = free and math.huge or seconds
		end
	end
	return amounts
end

--- "81920 cpu-hours" from seconds.
function M.text(seconds, unit)
	return M.number(seconds) .. " " .. unit .. "-hours"
end

--- The hours alone: whole, or with one digit where there are few.
function M.number(seconds)
	local hours = seconds / 3600
	if hours == math.huge then
		return "unlimited"
	elseif hours >= 100 or hours == math.floor(hours) then
		return ("%.0f"):format(hours)
	end
	return ("%.1f"):format(hours)
end

return M
